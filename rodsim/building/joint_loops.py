"""Describe loops of joints: the path that a joint closes, and axes in it that are slightly misaligned."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from rigid.joints import JOINTS
from rigid.system import Floats
from rigid.vectors import cross
from rodsim.components.joints import JointComponent
from rodsim.components.model_parts import part_of

ALIGNED = 1e-11  # rad: deviations from parallel or perpendicular below this are round-off
INTENDED = 1e-2  # rad: deviations above this are intended
_MAX_NAMES = 12  # largest number of joints in a message


class Link(NamedTuple):
    """Hold the names of a joint and of the two parts that it joins."""

    joint: str
    a: str
    b: str


class Loop(NamedTuple):
    """Hold the joints of a loop in order, the closing one last, and the parts before, between and after them."""

    joints: tuple[str, ...]
    parts: tuple[str, ...]

    def __str__(self) -> str:
        joints = _abbreviated([f"'{name}'" for name in self.joints])
        if len(self.joints) == 1:
            return f"the loop of joint {joints[0]} ({self.parts[0]} with itself)"
        return f"the loop of joints {', '.join(joints)} ({' - '.join(_abbreviated(self.parts))})"


def _abbreviated(names: Sequence[str]) -> list[str]:
    """Keep both ends of a long list of names, with "..." between."""
    if len(names) <= _MAX_NAMES:
        return list(names)
    return [*names[: _MAX_NAMES // 2], "...", *names[-_MAX_NAMES // 2 :]]


def links_of(joints: Iterable[JointComponent]) -> list[Link]:
    """Return the links of the joints of a model."""
    return [Link(entry.name, part_of(entry.a).name, part_of(entry.b).name) for entry in joints]


def loop_closed_by(links: Iterable[Link], joint: str) -> Loop | None:
    """Find the shortest path through other joints from one part of `joint` to its other part; None if there is none."""
    link_of_joint, neighbours = None, dict[str, list[tuple[str, str]]]()
    for link in links:
        if link.joint == joint:
            link_of_joint = link
            continue
        neighbours.setdefault(link.a, []).append((link.joint, link.b))
        neighbours.setdefault(link.b, []).append((link.joint, link.a))
    if link_of_joint is None:
        return None
    predecessor: dict[
        str, tuple[str, str]
    ] = {}  # part -> the part before it on the path, and the joint between
    queue, visited = deque([link_of_joint.b]), {link_of_joint.b}
    while queue and link_of_joint.a not in visited:
        here = queue.popleft()
        for name, neighbour in neighbours.get(here, ()):
            if neighbour not in visited:
                visited.add(neighbour)
                predecessor[neighbour] = here, name
                queue.append(neighbour)
    if link_of_joint.a not in visited:
        return None
    joints, parts = [joint], [link_of_joint.b, link_of_joint.a]
    while parts[-1] != link_of_joint.b:
        before, name = predecessor[parts[-1]]
        joints.append(name)
        parts.append(before)
    return Loop(tuple(reversed(joints)), tuple(reversed(parts)))


class AxisMisalignment(NamedTuple):
    """Hold two axes of a loop that are nearly, but not exactly, parallel or perpendicular."""

    joints: tuple[str, str]  # names
    angle: float  # rad, deviation
    square: bool  # True: nearly perpendicular; False: nearly parallel

    def __str__(self) -> str:
        a, b = self.joints
        relation = "a right angle" if self.square else "parallel"
        return f"the axes of '{a}' and '{b}' are {np.degrees(self.angle):.3g} degrees off {relation}"


def find_misalignment(joints: Sequence[JointComponent]) -> AxisMisalignment | None:
    """Return the largest unintended misalignment of the axes of these joints; None if there is none.

    With such axes a loop jams, or its equations become inconsistent as it moves.
    """
    axes = [
        (entry.name, entry.axis)
        for entry in joints
        if entry.axis is not None and not JOINTS[entry.kind].second_axis
    ]
    misalignments = [_misalignment(*pair) for pair in itertools.combinations(axes, 2)]
    return max(
        (misalignment for misalignment in misalignments if ALIGNED < misalignment.angle < INTENDED),
        key=lambda misalignment: misalignment.angle,
        default=None,
    )


def _misalignment(one: tuple[str, Floats], other: tuple[str, Floats]) -> AxisMisalignment:
    """Return the deviation of two unit axes from parallel or perpendicular, the closer of the two."""
    sine = float(np.linalg.norm(cross(one[1], other[1])))
    cosine = float(one[1] @ other[1])
    square = abs(cosine) < sine
    return AxisMisalignment(
        (one[0], other[0]), float(np.arcsin(min(abs(cosine) if square else sine, 1.0))), square
    )
