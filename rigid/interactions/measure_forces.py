"""Generalised forces on measures: u(t) does the work u dm along a scalar measure m of two frames.

With u constant in a step, the dual is minus u times the discrete derivative of the measure (`rigid.interactions.measures`):

    dual . (y1 - y0) = -u (m(y1) - m(y0))                                                               (1)

exactly, so that the work of the step is u (m1 - m0). Measures and their numbers X; u is the sum of the three external values that
come next:

    distance, displacement, cosine, angle    as in `measures`
    stretch      (l - L)^2/2                 X_a, X_b, L: a change of the stiffness of a spring is -u
    twist        (alpha - alpha_0)^2/2       U_a, W_a, U_b, alpha_0; alpha is counted, its branch is the last number       (2)

The discrete derivative of a square is the mean times that of its root. A strain is a distance over a length, so that its force is
one on the distance.
"""

from __future__ import annotations

import math
from typing import Any

from rigid.compilation.decorators import inline_kernel
from rigid.interactions import measures
from rigid.interactions.kinds import Kind, dual_function, no_bend, tangent_function, value_function
from rigid.interactions.point_on_plane import real_factors, write_tangent_of_product
from rigid.interactions.pressure import nothing
from rigid.interactions.torsion_spring import (
    angle_of,
    change_of_angle,
    real_directions,
    rotated_pair,
    rotation_over_step,
    spread,
    start_and_change,
    torque_of_moment,
    write_couple,
)
from rigid.linear_algebra import dot

DISTANCE, DISPLACEMENT, COSINE, ANGLE = (
    measures.WIDTHS[word] for word in ("distance", "displacement", "cosine", "angle")
)  # offsets of the numbers from outside
STRETCH, TWIST = DISTANCE + 1, 10
DISTANCE_FORCES = 8  # number of the loop of forces on distances in `em`, after that of actuations
BRANCH = TWIST + 3  # offset of the angle at the start of the step


@inline_kernel
def force_of(X, at):
    """Return u, the sum of the three numbers from outside at X[at:]."""
    return X[at] + X[at + 1] + X[at + 2]


@inline_kernel
def central_force_of_step(u, d0, d1):
    """Return sigma = -u/lbar and (d sigma/d l1)/l1: the dual of a force u on the distance is sigma dbar on b."""
    first, last = math.sqrt(dot(d0, d0)), math.sqrt(dot(d1, d1))
    length = 0.5 * (first + last)
    if length == 0.0:  # the force has no direction
        return 0.0, 0.0
    return -u / length, 0.5 * u / (length * length * last) if last > 0.0 else 0.0


@dual_function
def distance_dual(y0, y1, X, lam, out):
    """Write the dual (1) of a force on the distance."""
    measures.clear_duals(out, 2)
    measures.add_distance(y0, y1, 0, 1, X, 0, -lam[0] * force_of(X, DISTANCE), out)


@dual_function
def displacement_dual(y0, y1, X, lam, out):
    """Write the dual (1) of a force on the displacement along an axis."""
    measures.clear_duals(out, 2)
    measures.add_displacement(y0, y1, 0, 1, X, 0, -lam[0] * force_of(X, DISPLACEMENT), out)


@dual_function
def cosine_dual(y0, y1, X, lam, out):
    """Write the dual (1) of a force on the cosine."""
    measures.clear_duals(out, 2)
    measures.add_cosine(y0, y1, 0, 1, X, 0, -lam[0] * force_of(X, COSINE), out)


@dual_function
def angle_dual(y0, y1, X, lam, out):
    """Write the dual (1) of a moment about an axis."""
    measures.clear_duals(out, 2)
    measures.add_angle(y0, y1, 0, 1, X, 0, -lam[0] * force_of(X, ANGLE), out)


@dual_function
def stretch_dual(y0, y1, X, lam, out):
    """Write the dual (1) of the measure stretch (2)."""
    measures.clear_duals(out, 2)
    mean = 0.5 * (measures.distance(y0, 0, 1, X, 0) + measures.distance(y1, 0, 1, X, 0)) - X[DISTANCE]
    measures.add_distance(y0, y1, 0, 1, X, 0, -lam[0] * force_of(X, STRETCH) * mean, out)


@dual_function
def twist_dual(y0, y1, X, lam, out):
    """Write the dual (1) of the measure twist (2)."""
    delta, ratio, c0, s0, middle = rotation_over_step(rotated_pair(y0, X), rotated_pair(y1, X))
    mean = angle_of(c0, s0, X[BRANCH]) + 0.5 * delta - X[9]
    spread(-lam[0] * force_of(X, TWIST) * mean * ratio, middle, X, out)


@tangent_function
def displacement_tangent(y0, y1, X, lam, out, K):
    """Write the tangent of a force on the displacement along an axis."""
    force = -lam[0].real * force_of(X, DISPLACEMENT)
    write_tangent_of_product(force, 0.0, real_factors(y0, X), real_factors(y1, X), K)


@tangent_function
def angle_tangent(y0, y1, X, lam, out, K):
    """Write the torques of a moment about an axis, and their derivatives."""
    start, end = real_directions(y0, X), real_directions(y1, X)
    moment, delta = -lam[0].real * force_of(X, ANGLE), change_of_angle(start, end)
    torque, to_a, to_b = torque_of_moment(moment, 0.0, delta, start, end)
    write_couple(K, torque, to_a, to_b)


@tangent_function
def twist_tangent(y0, y1, X, lam, out, K):
    """Write the torques of a force on the measure twist (2), and their derivatives."""
    start, end, force = real_directions(y0, X), real_directions(y1, X), -lam[0].real * force_of(X, TWIST)
    alpha, delta = start_and_change(start, end, X[BRANCH])
    moment = force * (alpha + 0.5 * delta - X[9])
    torque, to_a, to_b = torque_of_moment(moment, 0.5 * force, delta, start, end)
    write_couple(K, torque, to_a, to_b)


@value_function
def unwrapped_angle(y, X, out):
    """Write the angle nearest to the branch."""
    c, s, _, _, _ = rotated_pair(y, X)
    out[0] = angle_of(c, s, X[BRANCH])


def _measure_force(name: str, dual: Any, signal: int, **fields: Any) -> Kind:
    """Return the kind of a force on a measure of two frames; fields: others of `Kind`."""
    return Kind(name, 2, 0, nothing, dual, no_bend, works=True, signal=signal, potential=True, **fields)


MEASURE_FORCES = {
    "distance": _measure_force("force on a distance", distance_dual, DISTANCE, loop=DISTANCE_FORCES),
    "displacement": _measure_force(
        "force on a displacement", displacement_dual, DISPLACEMENT, tangent=displacement_tangent
    ),
    "cosine": _measure_force("force on a cosine", cosine_dual, COSINE),
    "angle": _measure_force("moment on an angle", angle_dual, ANGLE, couple=True, tangent=angle_tangent),
    "stretch": _measure_force("force on a squared stretch", stretch_dual, STRETCH),
    "twist": _measure_force(
        "moment on a squared twist",
        twist_dual,
        TWIST,
        n_internal=1,
        count=unwrapped_angle,
        couple=True,
        tangent=twist_tangent,
    ),
}  # by measure, in the order of their numbers in files
