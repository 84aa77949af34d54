"""Springs, torsion springs and their parallel dampers in the plane, by the closed forms of the spatial model.

A spring acts with f = h sigma dbar on the mean lever arms of its points, a torsion spring with the torque h tau. The rotation
of lever arms is added to the diagonal blocks of both frames, and so is the complete tangent of a spring between a frame and the
ground. The growth of the force between two moving frames is a column of `discretization.planar.low_rank_update`.
"""

import math

from discretization.assembly.workspace import EPS
from discretization.planar.arrays import D33, LEFT, MPSI, MX, MY, N1, N2, PSI, R3
from discretization.planar.elimination import add_lever_arm_stiffness
from discretization.planar.joints import (
    add_impulses,
    at_both_ends,
    points_at_both_ends,
    set_end_rotation,
    write_gradients,
)
from rigid.compilation.decorators import internal_kernel
from rigid.interactions.coincident_points import pull
from rigid.interactions.spring import force_of_step
from rigid.interactions.torsion_spring import TURN, torque_of_step
from rigid.linear_algebra import dot, outer, plus, plus_identity, times
from rigid.structural_zero import ZERO


@internal_kernel
def begin_springs(tables, state, work, h):
    """Store the angles at the start of the step and raise the round-off levels."""
    for q in range(tables.spring.shape[0]):
        roundoff = EPS * abs(h)
        if tables.counted[q] >= 0:
            work.measured[q] = state.internal[tables.counted[q]]
            roundoff *= 1.0 + abs(work.measured[q])
        for side in range(2):
            frame = work.frames[tables.spring[q, side]]
            frame[N1] += roundoff * tables.rounding[q, 0]
            frame[N2] += roundoff * tables.rounding[q, 1]


@internal_kernel
def _torque(tables, work, h, q):
    """Evaluate a torsion spring by `torque_of_step`.

    Returns the dissipation, the torque on a, its derivatives with respect to the angles of a and b, and cosine and sine (c, s)
    of the spring's angle at the end.
    """
    a, b = work.frames[tables.spring[q, 0]], work.frames[tables.spring[q, 1]]
    X, law = tables.arms[q], tables.law[q]
    (u0, u1, _), (w0, w1, _) = at_both_ends(a, X[0]), at_both_ends(a, X[1])
    b0, b1, _ = at_both_ends(b, X[2])
    step = torque_of_step((law[0], law[1], law[2]), h, work.measured[q], (u0, w0, b0), (u1, w1, b1))
    _, dissipated, torque, to_a, to_b = step
    return dissipated, torque[2], to_a[8], to_b[8], dot(u1, b1), dot(w1, b1)


@internal_kernel
def add_springs(tables, work, h, tangent):
    """Add residual and, if `tangent`, matrix of all springs and torsion springs."""
    for q in range(tables.spring.shape[0]):
        if tables.counted[q] >= 0:
            _add_torsion(tables, work, h, q, tangent)
        else:
            _add_spring(tables, work, h, q, tangent)


@internal_kernel
def _add_torsion(tables, work, h, q, tangent):
    """Add residual and, if `tangent`, matrix of torsion spring q."""
    a, b = work.frames[tables.spring[q, 0]], work.frames[tables.spring[q, 1]]
    _, torque, to_a, to_b, _, _ = _torque(tables, work, h, q)
    a[R3] += h * torque
    b[R3] -= h * torque
    if not tangent:
        return
    first = tables.column[q]
    if first < 0:
        a[D33] += h * to_a
        b[D33] -= h * to_b
        return
    row = work.columns[first]
    for i in range(LEFT + 1):
        row[i] = 0.0
    row[2], row[5], row[8], row[11] = h * to_a, h * to_b, 1.0, -1.0


@internal_kernel
def _add_spring(tables, work, h, q, tangent):
    """Add residual and, if `tangent`, matrix of spring q between points."""
    a, b, law = work.frames[tables.spring[q, 0]], work.frames[tables.spring[q, 1]], tables.law[q]
    d0, (xa, xb, d), (xa1, xb1, d1) = points_at_both_ends(a, b, tables.arms[q, 0], tables.arms[q, 1])
    sigma, slope, _ = force_of_step((law[0], law[1], law[2]), h, d0, d1)
    f = times(h * sigma, d)
    mean, end = (ZERO, ZERO, xa, xb, d), (ZERO, ZERO, xa1, xb1, d1)
    add_impulses(a, b, pull(f, mean))
    if not tangent:
        return
    work.measured[q] = math.sqrt(dot(d1, d1))
    a[D33] += 0.5 * dot(f, xa1)
    b[D33] -= 0.5 * dot(f, xb1)
    K = plus_identity(outer(times(h * slope, d), d1), 0.5 * h * sigma)  # derivative of f with respect to d1
    first = tables.column[q]
    if first < 0:  # one of the two frames is the ground
        add_lever_arm_stiffness(a, (K[0], K[1], K[3], K[4]), xa1[:2], xa[:2])
        add_lever_arm_stiffness(b, (K[0], K[1], K[3], K[4]), xb1[:2], xb[:2])
        return
    write_gradients(pull((K[0], K[1], ZERO), end), pull((1.0, 0.0, ZERO), mean), work.columns[first])
    write_gradients(pull((K[3], K[4], ZERO), end), pull((0.0, 1.0, ZERO), mean), work.columns[first + 1])
    work.columns[first, LEFT] = work.columns[first + 1, LEFT] = 0.0


@internal_kernel
def largest_relative_elongation(tables, work):
    """Return the largest relative change of a spring's length by the correction.

    Torsion springs and linear springs (rest length and damping 0) are omitted. The result is 1e300 if a length is 0.
    """
    largest = 0.0
    for q in range(tables.spring.shape[0]):
        if tables.counted[q] >= 0 or (tables.law[q, 2] == 0.0 and tables.law[q, 1] == 0.0):  # linear spring
            continue
        a, b, X = work.frames[tables.spring[q, 0]], work.frames[tables.spring[q, 1]], tables.arms[q]
        shift = abs(b[MX] - a[MX]) + abs(b[MY] - a[MY])
        shift += abs(a[MPSI]) * (abs(X[0, 0]) + abs(X[0, 1])) + abs(b[MPSI]) * (abs(X[1, 0]) + abs(X[1, 1]))
        largest = max(largest, shift / work.measured[q]) if work.measured[q] > 0.0 else 1e300
    return largest


@internal_kernel
def end_springs(tables, state, work, h):
    """Update the angles of torsion springs and record the dissipation, at the end of the step with its final correction."""
    if tables.spring.shape[0] == 0:
        return
    for s in range(work.hinges.shape[0]):
        frame = work.frames[s]
        set_end_rotation(frame, frame[PSI] + (1.0 + 0.25 * frame[PSI] * frame[PSI]) * frame[MPSI])
    for q in range(tables.spring.shape[0]):
        if tables.counted[q] >= 0:
            dissipated, _, _, _, c, s = _torque(tables, work, h, q)
            angle = math.atan2(s, c)
            state.internal[tables.counted[q]] = angle + TURN * round((work.measured[q] - angle) / TURN)
        else:
            law = tables.law[q]
            a, b = work.frames[tables.spring[q, 0]], work.frames[tables.spring[q, 1]]
            d0, _, (_, _, d1) = points_at_both_ends(a, b, tables.arms[q, 0], tables.arms[q, 1])
            d1 = plus(d1, (b[MX] - a[MX], b[MY] - a[MY], ZERO))
            _, _, dissipated = force_of_step((law[0], law[1], law[2]), h, d0, d1)
        state.totals[1] += dissipated
