"""Compute changes of joint forces in small motions, linear in the changes of the multipliers and of the displacements.

A joint exerts -(G^T lam)_b on b. About a state with multipliers lam this changes by -G_b^T dlam, and by the rotation and motion
of G_b at constant lam:

    dF = -G_b^T dlam - d(G_b^T lam)/dx x,   dM = d tau - dx_b x F - x_b x dF                                 (1)

with x_b from the frame's origin to the joint's point on b. If b does not move, it is the opposite of the force on a. With
M x'' + D x' + K x + G^T dlam = B u, G x'' = 0 (`rodsim.small_motions.linear_equations`) dlam follows from x, x' and u alone:

    dlam = L (B u - D x' - K x),   [M G^T; G 0] [x''; dlam] = [B u - D x' - K x; 0]                          (2)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from discretization.drives import at_states, has_driven_parameters
from discretization.internal_variables import part
from discretization.linearisation import tangents
from discretization.linearisation.equations import Linearised
from discretization.redundancy import redundancy
from rigid import checks, quaternions
from rigid.errors import ModelError
from rigid.interactions.constraints import first_rows, groups_of
from rigid.system import Floats
from rodsim.components.joints import JointComponent
from rodsim.components.part_lookup import check_known
from rodsim.model import Model

JOINT = "joint"


class JointForceOutput(NamedTuple):
    """An output of a linear model: the force or moment that a joint exerts on its part b along a direction.

    Parameters
    ----------
    joint : JointComponent or str
        The joint, or its name.
    direction : array_like, shape (3,)
        World direction; its length does not matter.
    moment : bool, default False
        True if the output is the moment (N m) about the point of the joint on b, instead of the force (N).

    Examples
    --------
    >>> from rodsim.linear import JointForceOutput
    >>> JointForceOutput("pin", (0, 0, 1)).moment
    False
    """

    joint: JointComponent | str
    direction: ArrayLike
    moment: bool = False


class ReactionRow(NamedTuple):
    """Coefficients of (1) along a direction: `multiplier_coefficients` . dlam + `motion_coefficients` . x."""

    multiplier_coefficients: Floats  # (m,) coefficients of the multipliers
    motion_coefficients: Floats  # (size,) coefficients of the displacements


def reaction_row(model: Model, lin: Linearised, owner: str, reaction: JointForceOutput) -> ReactionRow:
    """Return the coefficients of the force or moment of a joint along a direction.

    Raises ModelError if there is no such joint, or the equations do not determine its force.
    """
    name = reaction.joint.name if isinstance(reaction.joint, JointComponent) else reaction.joint
    names = [constraints_of_joint for _, constraints_of_joint in model.constraint_names]
    check_known(owner, "joint", name, list(model.joints))
    direction = checks.direction(owner, "direction", reaction.direction)
    system, state = lin.system, lin.state
    redundant = redundancy(system, state)
    number = names.index(name)
    if redundant is not None and number in redundant.joints:
        raise ModelError(
            f"{owner}: joint '{name}' repeats what other joints fix already, so that its forces are not determined; "
            "leave it, or them, more motion"
        )
    constraints = system.constraints
    if has_driven_parameters(constraints):
        constraints, _ = at_states(constraints, state, part(system, state, "drive"))
    of_joint = np.flatnonzero(constraints.joint == number)
    rows = first_rows(constraints)[of_joint[0]] + np.arange(
        sum(int(g.kind.rows) * len(g.row) for g in groups_of(constraints.chosen(of_joint)))
    )
    constraints_of_joint = constraints.chosen(of_joint)
    a, b = (int(f) for f in constraints_of_joint.frames[0])
    moves = lin.place[b] >= 0
    frame, sign = (b, -1.0) if moves else (a, 1.0)
    at = lin.rows(frame)
    groups = groups_of(constraints_of_joint)
    lam = np.ascontiguousarray(lin.lam[rows])
    geometric = tangents.stiffness(groups, state, lam).matrix(lin.place).tocsr()[at].toarray()
    G = lin.G.tocsr()[rows].toarray()[:, at]  # (rows, 6)
    wrench = sign * tangents.forces(groups, state, lam)[frame]
    multiplier_coefficients, motion_coefficients = np.zeros((6, len(lin.lam))), sign * geometric
    multiplier_coefficients[:, rows] = sign * G.T
    point = state.r[b] + quaternions.rotate(state.quat[b], constraints_of_joint.Xb[0])
    arm = point - state.r[frame]
    pick = direction
    if not reaction.moment:
        return ReactionRow(pick @ multiplier_coefficients[:3], pick @ motion_coefficients[:3])
    # M = tau - arm x F; n . (arm x dF) = (n x arm) . dF, n . (d arm x F) = d arm . (F x n)
    about = np.cross(pick, arm)
    moved = np.cross(wrench[:3], pick)
    row = pick @ motion_coefficients[3:] - about @ motion_coefficients[:3]
    own_columns = np.zeros(6)
    if moves:  # d arm = rotation x arm
        own_columns[3:] = -np.cross(arm, moved)
    else:  # the point is fixed, the frame moves away from it
        own_columns[:3] = moved
    row[at] += own_columns
    return ReactionRow(pick @ multiplier_coefficients[3:] - about @ multiplier_coefficients[:3], row)
