"""How much of a result a page holds: which outputs, which nodes, and in words how much that is.

The motion costs BYTES_A_PLACE numbers in single precision for every place (a node of a rod, a body) and output; nodes
are thinned first, evenly along their rods and with both ends, then outputs, evenly and with the first and the last.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discretization.interaction_table import springs_of
from rigid.system import Ints
from rodsim.results.layout import Layout

MOST_NODES = 320  # of all rods together; at least two a rod
MOST_FRAMES = 600  # the usual 500 outputs of a run are all there
MOST_MARKS = 300  # joints, springs
MOST_CURVE = 2000  # outputs in a curve
MOST_JOINT_VALUES = 400_000  # joints times outputs at which forces are worked out
MOTION_BYTES = 4_800_000  # in base64 a third more
POSE, FIELDS = 7, 13  # numbers a place: position and quaternion; strains, stresses and speed of a node


class Thinning(NamedTuple):
    """What is kept."""

    outputs: Ints  # of the motion
    curve: Ints  # outputs in curves
    joint_outputs: Ints  # at which forces of joints are worked out
    nodes: list[Ints]  # of every rod

    def words(self, layout: Layout, n_outputs: int) -> list[tuple[str, int, int]]:
        """(what, how many there are, how many are kept)."""
        rows = [("outputs, motion and strains", n_outputs, len(self.outputs))]
        rows += [("outputs, curves", n_outputs, len(self.curve))]
        what = [
            name
            for name, own in (("joints", layout.joints), ("contacts", layout.description.get("contacts")))
            if own
        ]
        if what:
            rows += [(f"outputs, forces of {' and '.join(what)}", n_outputs, len(self.joint_outputs))]
        rows += [
            (f"nodes of rod '{rod.name}'", len(rod.frames), len(kept))
            for rod, kept in zip(layout.rods, self.nodes, strict=True)
        ]
        return rows


def thinning(layout: Layout, n_outputs: int) -> Thinning:
    """What a page keeps of a result with this layout."""
    nodes = _nodes([len(rod.frames) for rod in layout.rods])
    n_nodes = sum(map(len, nodes))
    marks = 9 * min(MOST_MARKS, len(layout.joints)) + 6 * min(MOST_MARKS, _springs(layout))
    a_frame = 4 * (POSE * (n_nodes + len(layout.bodies)) + FIELDS * n_nodes + marks)
    frames = max(2, min(MOST_FRAMES, MOTION_BYTES // max(a_frame, 1)))
    of_joints = max(50, min(MOST_CURVE, MOST_JOINT_VALUES // max(1, len(layout.joints))))
    return Thinning(
        evenly(n_outputs, frames), evenly(n_outputs, MOST_CURVE), evenly(n_outputs, of_joints), nodes
    )


def evenly(n: int, most: int) -> Ints:
    """At most `most` of the numbers 0 to n - 1, with the first and the last."""
    if n <= most:
        return np.arange(n)
    return np.unique(np.round(np.linspace(0, n - 1, most)).astype(np.int64))


def _nodes(counts: list[int]) -> list[Ints]:
    total = sum(counts)
    if total <= MOST_NODES:
        return [np.arange(n) for n in counts]
    return [evenly(n, max(2, round(MOST_NODES * n / total))) for n in counts]


def _springs(layout: Layout) -> int:
    return 0 if layout.system is None else len(springs_of(layout.system.others).stiffness)
