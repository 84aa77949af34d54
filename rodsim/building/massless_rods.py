"""Reject rods without mass in simulations, unless each of their nodes is held by a part with mass.

At rest, and in small motions, the stiffness of such a rod determines its shape; in a time step it does not. A step of `em`
determines only the mean force on a node, which is zero if the node has no inertia. The forces at the ends of steps then
alternate without decay. Eliminating the inner nodes would need the energy of the rod as a function of its
ends, minimal over all shapes between, and its discrete derivative. If the rod may buckle this energy has several values.

A node that is welded to a body moves with it, and the mass of the body is all that the step needs.
"""

from __future__ import annotations

import numpy as np

from discretization.components import components
from rigid.errors import ModelError, PartName
from rigid.joints import JOINTS, holds_all
from rodsim.building.build import Built


def rods_without_mass(built: Built) -> list[str]:
    """Return the names of rods that have nodes without mass which no part with mass holds."""
    frames, layout = built.system.frames, built.layout
    bare = frames.mass == 0.0
    if not bare.any():
        return []
    welds = [
        joint.frames
        for joint in layout.joints
        if joint.kind in JOINTS and holds_all(joint.kind) and joint.frames
    ]
    part = components(np.array(welds, np.int64).reshape(-1, 2).T, len(bare))
    held = np.isin(part, part[~bare])
    return [rod.name for rod in layout.rods if np.any(bare[rod.frames] & ~held[rod.frames])]


def check_mass(built: Built, what: str) -> None:
    """Raise ModelError if the model has a rod without mass; `what`: name of the computation that needs mass."""
    names = rods_without_mass(built)
    if names:
        raise ModelError(
            f"rod '{names[0]}': has no mass (mass_per_length = 0), which {what} needs: a step knows only the mean of the forces "
            "on a node without mass, and the ends of steps would ring; weld a body to each of its nodes, with no more elements "
            "than that, or give it a small mass; a bushing of stiffness C/L is one element without mass; `equilibrium` and "
            "`modes` take the rod as it is",
            about=[PartName("rod", names[0])],
        )
