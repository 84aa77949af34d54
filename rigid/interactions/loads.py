"""Forces and moments on a frame whose values come from outside: a signal at the middle of each step.

The numbers are the point of application (3), body-fixed, from the frame's origin; and the value (3), in inertial axes, or, for a
following load, in the axes of the frame. With the mean directors dbar_k of a step the force is

    F = value   or   sum value_k dbar_k                                                                 (1)

on the point, whose work is F . (p1 - p0). A moment m, of the same two types, is not work-conjugate to positions of directors.
Of the duals with the torque m this one is used, which is m/2 x d_k if both ends of the step are equal:

    f_k = w x dbar_k,   (tr(B) I - B) w = m,   B = sum dbar_k dbar_k^T                                  (2)

Its work along a Cayley vector psi is m . psi. A chart lets the torque do work along the chart's rotations (`Kind.torque`).
"""

from typing import Any

from rigid.compilation.decorators import inline_kernel
from rigid.interactions.kinds import Kind, dual_function, frame, no_bend, store, vector
from rigid.interactions.pressure import nothing
from rigid.kinematics.poses import ZERO, direction, mean_pose, on_point
from rigid.linear_algebra import cross, dot, times

POINT, VALUE = 0, 3  # offsets among the numbers
# numbers of the loops of loads in `em`, after those of springs: dead force, dead moment, following force, following moment
FORCES, MOMENTS, FOLLOWING_FORCES, FOLLOWING_MOMENTS = 3, 4, 5, 6


@inline_kernel
def on_directors(m, y):
    """Return the dual of (2) at the directors of the pose y."""
    _, d1, d2, d3 = y
    xx = d1[0] * d1[0] + d2[0] * d2[0] + d3[0] * d3[0]
    yy = d1[1] * d1[1] + d2[1] * d2[1] + d3[1] * d3[1]
    zz = d1[2] * d1[2] + d2[2] * d2[2] + d3[2] * d3[2]
    xy = d1[0] * d1[1] + d2[0] * d2[1] + d3[0] * d3[1]
    xz = d1[0] * d1[2] + d2[0] * d2[2] + d3[0] * d3[2]
    yz = d1[1] * d1[2] + d2[1] * d2[2] + d3[1] * d3[2]
    # cofactors of tr(B) I - B
    a, b, c = yy + zz, xx + zz, xx + yy
    first = (b * c - yz * yz, xy * c + xz * yz, xy * yz + b * xz)
    second = (first[1], a * c - xz * xz, a * yz + xy * xz)
    third = (first[2], second[2], a * b - xy * xy)
    determinant = a * first[0] - xy * first[1] - xz * first[2]
    w = dot(first, m) / determinant, dot(second, m) / determinant, dot(third, m) / determinant
    return ZERO, cross(w, d1), cross(w, d2), cross(w, d3)


@dual_function
def force_dual(y0, y1, X, lam, out):
    """Write minus the force, with components in inertial axes."""
    store(on_point(times(-lam[0], vector(X, VALUE)), vector(X, POINT)), out, 0)


@dual_function
def following_force_dual(y0, y1, X, lam, out):
    """Write minus the force (1) along the mean directors."""
    F = direction(mean_pose(frame(y0, 0), frame(y1, 0)), vector(X, VALUE))
    store(on_point(times(-lam[0], F), vector(X, POINT)), out, 0)


@dual_function
def moment_dual(y0, y1, X, lam, out):
    """Write minus the dual (2) of the moment, with components in inertial axes."""
    store(on_directors(times(-lam[0], vector(X, VALUE)), mean_pose(frame(y0, 0), frame(y1, 0))), out, 0)


@dual_function
def following_moment_dual(y0, y1, X, lam, out):
    """Write minus the dual (2) of the moment along the mean directors."""
    y = mean_pose(frame(y0, 0), frame(y1, 0))
    store(on_directors(times(-lam[0], direction(y, vector(X, VALUE))), y), out, 0)


def _load(name: str, dual: Any, loop: int, torque: bool) -> Kind:
    """Return the kind of a load; `loop`: number of its loop in `em`; `torque`: True for a moment."""
    return Kind(name, 1, 0, nothing, dual, no_bend, works=True, signal=VALUE, torque=torque, loop=loop)


LOADS = (
    _load("applied force", force_dual, FORCES, False)._replace(constant=True),
    _load("applied moment", moment_dual, MOMENTS, True),
    _load("following force", following_force_dual, FOLLOWING_FORCES, False),
    _load("following moment", following_moment_dual, FOLLOWING_MOMENTS, True),
)  # the index of a dead load is its number in `rigid.system.Loads.kind`; that of a following load is larger by 2
DEAD = LOADS[:2]  # dead loads: their values have components in inertial axes
# a dead force whose point is the centre of the displaced fluid
BUOYANCY = DEAD[0]._replace(name="buoyancy")
# a dead force on a node, its part of a force that moves along a rod
MOVING_FORCE = DEAD[0]._replace(name="moving force")
