"""Reject rods without mass in simulations.

At rest, and in small motions, the stiffness of such a rod determines its shape; in a time step it does not. A step of `em`
determines only the mean force on a node, which is zero if the node has no inertia. The forces at the ends of steps then
alternate without decay. Eliminating the inner nodes would need the energy of the rod as a function of its
ends, minimal over all shapes between, and its discrete derivative. If the rod may buckle this energy has several values.
"""

from __future__ import annotations

import numpy as np

from rigid.errors import ModelError, PartName
from rodsim.building.build import Built


def rods_without_mass(built: Built) -> list[str]:
    """Return the names of rods that have nodes without mass."""
    frames = built.system.frames
    return [rod.name for rod in built.layout.rods if np.any(frames.mass[rod.frames] == 0.0)]


def check_mass(built: Built, what: str) -> None:
    """Raise ModelError if the model has a rod without mass; `what`: name of the computation that needs mass."""
    names = rods_without_mass(built)
    if names:
        raise ModelError(
            f"rod '{names[0]}': has no mass (mass_per_length = 0), which {what} needs: a step knows only the mean of the forces "
            "on a node without mass, and the ends of steps would ring; `equilibrium` and `modes` take it as it is, for a motion "
            "join the rod's ends by a bushing of stiffness C/L, which is one element without mass, or by a spring, or give "
            "it a small mass",
            about=[PartName("rod", names[0])],
        )
