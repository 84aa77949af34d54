"""Directions of the nodes of strings for pictures: their frames do not rotate, but a drawn section is across the string."""

from __future__ import annotations

import numpy as np

from discretization.space.rod_elements import STRING
from rigid.quaternions import IDENTITY, multiply
from rigid.system import Floats, Ints, State
from rodsim.results.layout import Layout

_FOLDED = 1e-6  # 1 + cosine below which two directions count as opposite


def string_nodes(layout: Layout) -> list[tuple[Ints, bool]]:
    """Return the frames of each string, and whether it is closed."""
    rods = layout.description.get("rods", {})
    if not isinstance(rods, dict):  # their number, in the first files
        return []
    strings = [name for name, entry in rods.items() if entry.get("element") == STRING]
    return [(rod.frames, rod.closed) for rod in layout.rods if rod.name in strings]


def with_string_directions(layout: Layout, state: State) -> State:
    """Return a state in which the frames of strings have their first axis along the string, without twist."""
    strings = string_nodes(layout)
    if not strings:
        return state
    quat = state.quat.copy()
    for frames, closed in strings:
        quat[frames] = directions_along(state.r[frames], closed)
    return state._replace(quat=quat)


def directions_along(r: Floats, closed: bool) -> Floats:
    """Return quaternions (n, 4) of frames along nodes r (n, 3), m, each rotated as little as possible from the one before."""
    along = np.roll(r, -1, axis=0) - np.roll(r, 1, axis=0)
    if not closed:
        along[0], along[-1] = r[1] - r[0], r[-1] - r[-2]
    lengths = np.linalg.norm(along, axis=1, keepdims=True)
    tangents = along / np.where(lengths > 0.0, lengths, 1.0)
    quats, before = np.empty((len(r), 4)), np.array([1.0, 0.0, 0.0])
    quat = IDENTITY
    for k, tangent in enumerate(tangents):
        if lengths[k, 0] > 0.0:
            turn = np.append(1.0 + before @ tangent, np.cross(before, tangent))
            if turn[0] < _FOLDED:  # half a turn about any axis across it
                turn = np.append(0.0, np.cross(before, np.eye(3)[np.argmin(np.abs(before))]))
            quat = multiply(turn / np.linalg.norm(turn), quat)
            before = tangent
        quats[k] = quat
    return quats
