"""Select the outputs and nodes of a result that a page contains, and describe the selection.

The motion costs POSE numbers in single precision for each frame (node of a rod, body) and output, and FIELDS more for each node.
Nodes are thinned first, evenly along their rods and with both ends, then outputs, evenly and with the first and the last.
"""

from __future__ import annotations

from typing import NamedTuple

from discretization.interaction_table import springs_of
from rigid.system import Ints
from rodsim.results.layout import Layout
from rodsim.results.output_choice import evenly_spaced

MOST_NODES = 320  # largest number of nodes of all rods together; at least two per rod
MOST_FRAMES = 600  # largest number of outputs of the motion: the usual 500 outputs are all kept
MOST_MARKS = 300  # largest number of joints and of springs that are marked
MOST_CURVE = 2000  # largest number of outputs in a curve
MOST_JOINT_VALUES = 400_000  # limit of joints times outputs at which joint forces are computed
MOTION_BYTES = 4_800_000  # limit of the motion data, bytes; a third more in base64
POSE, FIELDS = 7, 13  # count of numbers per frame (position, quaternion) and node (strains, stresses, speed)


class Thinning(NamedTuple):
    """Selected outputs and nodes of a result."""

    outputs: Ints  # outputs at which the motion is shown
    curve: Ints  # outputs that curves contain
    joint_outputs: Ints  # outputs at which joint and contact forces are computed
    nodes: list[Ints]  # selected nodes of each rod

    def words(self, layout: Layout, n_outputs: int) -> list[tuple[str, int, int]]:
        """Return rows (name, number in the result, number kept)."""
        rows = [("outputs, motion and strains", n_outputs, len(self.outputs))]
        rows += [("outputs, curves", n_outputs, len(self.curve))]
        what = [
            name
            for name, items in (("joints", layout.joints), ("contacts", layout.description.get("contacts")))
            if items
        ]
        if what:
            rows += [(f"outputs, forces of {' and '.join(what)}", n_outputs, len(self.joint_outputs))]
        rows += [
            (f"nodes of rod '{rod.name}'", len(rod.frames), len(nodes))
            for rod, nodes in zip(layout.rods, self.nodes, strict=True)
        ]
        return rows


def thinning(layout: Layout, n_outputs: int) -> Thinning:
    """Return the selection for a result with this layout and number of outputs."""
    nodes = _nodes([len(rod.frames) for rod in layout.rods])
    n_nodes = sum(map(len, nodes))
    marks = 9 * min(MOST_MARKS, len(layout.joints)) + 6 * min(MOST_MARKS, _springs(layout))
    a_frame = 4 * (POSE * (n_nodes + len(layout.bodies)) + FIELDS * n_nodes + marks)
    frames = max(2, min(MOST_FRAMES, MOTION_BYTES // max(a_frame, 1)))
    n_joint_outputs = max(50, min(MOST_CURVE, MOST_JOINT_VALUES // max(1, len(layout.joints))))
    return Thinning(
        evenly_spaced(n_outputs, frames),
        evenly_spaced(n_outputs, MOST_CURVE),
        evenly_spaced(n_outputs, n_joint_outputs),
        nodes,
    )


def _nodes(counts: list[int]) -> list[Ints]:
    """Return the selected nodes of each rod; each rod gets its share of MOST_NODES, but at least two."""
    total = sum(counts)
    if total <= MOST_NODES:
        return [evenly_spaced(n, n) for n in counts]
    return [evenly_spaced(n, max(2, round(MOST_NODES * n / total))) for n in counts]


def _springs(layout: Layout) -> int:
    """Return the number of springs; 0 if the result has no system."""
    return 0 if layout.system is None else len(springs_of(layout.system.others).stiffness)
