"""Describe which part of a model is near a limit of its kinematics, for messages of failed steps."""

from __future__ import annotations

from rigid.system import State
from rodsim.building.build import Built
from rodsim.building.rotation_limits import describe_largest_rotation
from rodsim.building.tangent_limits import describe_lost_tangent


def describe_limit(built: Built, h: float, state: State, folded: bool = False) -> str:
    """Describe the span of a tendon that loses its tangent, or else the largest relative rotation; "" if both are far away.

    h: step, s. folded: whether a rotation is known to have passed pi.
    """
    lost = "" if folded else describe_lost_tangent(built.layout, state, h)
    return lost or describe_largest_rotation(built, state, folded)
