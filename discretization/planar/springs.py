"""Springs, torsion springs and their parallel dampers in the plane, by the closed forms of the spatial model.

A spring acts with f = h sigma dbar on the mean lever arms of its points, a torsion spring with the torque h tau. The rotation
of lever arms is added to the diagonal blocks of both frames, and so is the complete tangent of a spring between a frame and the
ground. The growth of the force between two moving frames is a column of `discretization.planar.low_rank_update`.
"""

import math

from discretization.assembly.workspace import EPS
from discretization.planar.arrays import (
    C0,
    C1,
    D33,
    DX,
    DY,
    LEFT,
    MPSI,
    MX,
    MY,
    N1,
    N2,
    PSI,
    R1,
    R2,
    R3,
    RX,
    RY,
    S0,
    S1,
)
from discretization.planar.elimination import add_lever_arm_stiffness
from discretization.planar.joints import levers, set_end_rotation
from rigid.compilation.decorators import inline_kernel, internal_kernel
from rigid.interactions.spring import force_of_step
from rigid.interactions.torsion_spring import TURN, torque_of_step


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


@inline_kernel
def _at_start(frame, X):
    """Return the vector X of a frame, rotated to the start of the step."""
    return frame[C0] * X[0] - frame[S0] * X[1], frame[S0] * X[0] + frame[C0] * X[1], 0.0


@inline_kernel
def _at_end(frame, X):
    """Return the vector X of a frame, rotated to the end of the step."""
    return frame[C1] * X[0] - frame[S1] * X[1], frame[S1] * X[0] + frame[C1] * X[1], 0.0


@internal_kernel
def _torque(tables, work, h, q):
    """Evaluate a torsion spring by `torque_of_step`.

    Returns the dissipation, the torque on a, its derivatives with respect to the angles of a and b, and cosine and sine (c, s)
    of the spring's angle at the end.
    """
    a, b = work.frames[tables.spring[q, 0]], work.frames[tables.spring[q, 1]]
    X, law = tables.arms[q], tables.law[q]
    start = _at_start(a, X[0]), _at_start(a, X[1]), _at_start(b, X[2])
    end = _at_end(a, X[0]), _at_end(a, X[1]), _at_end(b, X[2])
    _, dissipated, torque, to_a, to_b = torque_of_step(
        (law[0], law[1], law[2]), h, work.measured[q], start, end
    )
    c = end[0][0] * end[2][0] + end[0][1] * end[2][1]
    s = end[1][0] * end[2][0] + end[1][1] * end[2][1]
    return dissipated, torque[2], to_a[8], to_b[8], c, s


@internal_kernel
def _distances(tables, work, q, last):
    """Return d0 and d1 (m) of a spring between points; `last`: True to include the final correction of the step in d1."""
    a, b = work.frames[tables.spring[q, 0]], work.frames[tables.spring[q, 1]]
    X, ex, ey = tables.arms[q], b[RX] - a[RX], b[RY] - a[RY]
    a0, b0, a1, b1 = _at_start(a, X[0]), _at_start(b, X[1]), _at_end(a, X[0]), _at_end(b, X[1])
    d0 = ex + (b0[0] - a0[0]), ey + (b0[1] - a0[1]), 0.0
    dx, dy = b[DX] - a[DX], b[DY] - a[DY]
    if last:
        dx, dy = dx + (b[MX] - a[MX]), dy + (b[MY] - a[MY])
    return d0, (ex + dx + (b1[0] - a1[0]), ey + dy + (b1[1] - a1[1]), 0.0)


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
    ax1, ay1, ax, ay = levers(a, tables.arms[q, 0, 0], tables.arms[q, 0, 1])
    bx1, by1, bx, by = levers(b, tables.arms[q, 1, 0], tables.arms[q, 1, 1])
    d0, d1 = _distances(tables, work, q, False)
    sigma, slope, _ = force_of_step((law[0], law[1], law[2]), h, d0, d1)
    dx, dy = 0.5 * (d0[0] + d1[0]), 0.5 * (d0[1] + d1[1])
    fx, fy = h * sigma * dx, h * sigma * dy
    a[R1] -= fx
    a[R2] -= fy
    a[R3] -= ax * fy - ay * fx
    b[R1] += fx
    b[R2] += fy
    b[R3] += bx * fy - by * fx
    if not tangent:
        return
    work.measured[q] = math.sqrt(d1[0] * d1[0] + d1[1] * d1[1])
    a[D33] += 0.5 * (fx * ax1 + fy * ay1)
    b[D33] -= 0.5 * (fx * bx1 + fy * by1)
    # derivative of f with respect to d1
    k11, k12 = h * (0.5 * sigma + slope * dx * d1[0]), h * slope * dx * d1[1]
    k21, k22 = h * slope * dy * d1[0], h * (0.5 * sigma + slope * dy * d1[1])
    first = tables.column[q]
    if first < 0:  # one of the two frames is the ground
        add_lever_arm_stiffness(a, (k11, k12, k21, k22), (ax1, ay1), (ax, ay))
        add_lever_arm_stiffness(b, (k11, k12, k21, k22), (bx1, by1), (bx, by))
        return
    for i in range(2):
        row = work.columns[first + i]
        kx, ky, x, y = (k11, k12, 1.0, 0.0) if i == 0 else (k21, k22, 0.0, 1.0)
        row[0], row[1], row[2] = -kx, -ky, kx * ay1 - ky * ax1
        row[3], row[4], row[5] = kx, ky, ky * bx1 - kx * by1
        row[6], row[7], row[8] = -x, -y, x * ay - y * ax
        row[9], row[10], row[11] = x, y, y * bx - x * by
        row[LEFT] = 0.0


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
            d0, d1 = _distances(tables, work, q, True)
            _, _, dissipated = force_of_step((law[0], law[1], law[2]), h, d0, d1)
        state.totals[1] += dissipated
