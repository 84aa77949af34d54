"""Rods without mass: at rest, and in small motions, their stiffness alone says how they bend; in a step of a motion it does not.

A step of `em` knows the mean of the forces on a node, which is zero where nothing has inertia: what it adds at the end of
one step it takes away at the end of the next, for ever. To take the inner nodes out one would need the energy of the rod
by its ends, least over all shapes between, and its discrete derivative: where the rod may buckle it has several values.
"""

from __future__ import annotations

import numpy as np

from rigid.errors import ModelError, PartName
from rodsim.building.build import Built


def rods_without_mass(built: Built) -> list[str]:
    """Names of rods with nodes that have none."""
    frames = built.system.frames
    return [rod.name for rod in built.layout.rods if np.any(frames.mass[rod.frames] == 0.0)]


def check_mass(built: Built, what: str) -> None:
    """Raise ModelError where `what` is asked of a model with a rod without mass."""
    names = rods_without_mass(built)
    if names:
        raise ModelError(
            f"rod '{names[0]}': has no mass (mass_per_length = 0), which {what} needs: a step knows only the mean of the forces "
            "on a node without mass, and the ends of steps would ring; `equilibrium` and `modes` take it as it is, for a motion "
            "join the rod's ends by a bushing of stiffness C/L, which is one element without mass, or by a spring, or give "
            "it a small mass",
            about=[PartName("rod", names[0])],
        )
