"""Describe the rod element or bushing that is rotated close to the limit pi of its rotation, for messages of failed steps."""

from __future__ import annotations

import numpy as np

from discretization.interaction_kinds import INTERACTIONS
from discretization.relative_rotations import RelativeRotation, largest_relative_rotations
from discretization.space.free_bushing import FREE_BUSHING
from rigid.system import State
from rodsim.building.build import Built

LARGE_ROTATION = 2.0  # rad: a rotation above this may be the cause of a failed step
RESOLVED_ROTATION = 0.5  # rad, rotation from one end of an element to the other that resolves a bend


def describe_largest_rotation(built: Built, state: State, folded: bool = False) -> str:
    """Describe the rod element or bushing that is rotated most, by how much, and the remedy; "" if all rotations are small.

    `folded`: True if it is known that a rotation passed pi; then the largest one is described regardless of its size.
    """
    turns = largest_relative_rotations(built.system, state)
    if not turns or (turns[0].angle < LARGE_ROTATION and not folded):
        return ""
    most = turns[0]
    return _describe_bushing(built, most) if most.table == "others" else _describe_element(built, most)


def _describe_element(built: Built, rotation: RelativeRotation) -> str:
    """Describe a rod element that is bent or twisted too much."""
    rod = next(rod for rod in built.layout.rods if rotation.frames[0] in rod.frames)
    low, high = sorted(int(np.flatnonzero(rod.frames == f)[0]) for f in rotation.frames)
    n = len(rod.elements)
    closing = rod.closed and high - low > n // 2  # the element that joins the ends of the rod
    start = high if closing else low
    return (
        f"element {start + 1} of {n} of rod '{rod.name}' (from {rod.arclength[start]:.4g} m on) is bent or twisted by "
        f"{rotation.angle:.3g} rad from one end to the other, and an element represents rotations "
        f"below pi only: give the rod about {int(np.ceil(n * rotation.angle / RESOLVED_ROTATION))} elements, "
        f"of which one would turn by {RESOLVED_ROTATION} rad here, more if it bends more sharply "
        "then, or more stiffness or damping"
    )


def _describe_bushing(built: Built, rotation: RelativeRotation) -> str:
    """Describe a bushing that is rotated too much."""
    name = built.interaction_names[rotation.row]
    if INTERACTIONS[built.system.others.kind[rotation.row]] is FREE_BUSHING:
        return (
            f"{name} is tilted by {rotation.angle:.3g} rad, and its free axis is defined for a tilt below pi only: "
            "reduce the tilt by more stiffness or a limit"
        )
    return (
        f"{name} is turned by {rotation.angle:.3g} rad, and a bushing that resists rotation about all axes represents "
        "rotations below pi only: let its stiffness about the axis of rotation be 0, which is then free through "
        "any number of turns, and add a torsion spring, which counts them"
    )
