"""Discrete derivative of the hidden constraint gam . dg/dt of one interaction (velocity level), in the invariants of its frames.

With the first frame a of an interaction as its basis, the poses and rates of its frames k are

    Y_k = (Ra^T (r_k - r_a), B_k),   B_k = Ra^T R_k,   Y_a = (0, I)                                       (1)
    Z_k = (Ra^T (v_k - v_a), B_k hat(Omega_k)),        Z_a = (0, hat(Omega_a))                            (2)

and A = gam . dg/dt = dual(Y; gam) . Z does not change with a common rigid motion. Constraints are at most quadratic in
poses. Hence A is bilinear in Y and Z, and these again in directors, differences of r and v, and Omega. By the product rule
(x y)1 - (x y)0 = xbar (y1 - y0) + ybar (x1 - x0) exactly

    A1 - A0 = sum of D_v . dv + D_Omega . dOmega + duals . (poses1 - poses0)                              (3)

with means of B, Y, Z at the two ends. A constraint that is more than quadratic provides the derivatives of A to Y and Z
(`Kind.hidden`), or they are those of the means, with the remainder added along the change of Y (`Kind.steep`),

    H + (A1 - A0 - H . dY - F . dZ) dY/(dY . dY)                                                          (4)

This is `rigid.interactions.hidden_constraints` (2) for every kind of interaction; Cayley steps and charts use it.
"""

from __future__ import annotations

from rigid.compilation.decorators import inline_kernel, internal_kernel
from rigid.interactions.kinds import COMPLEX_STEP, add_dual, dual_at, frame, hidden_at, store
from rigid.kinematics.chart_frames import (
    DUAL,
    END,
    FRAMES_END,
    FRAMES_START,
    MOVING_END,
    MOVING_START,
    ON_FRAMES,
    ON_MOVING,
    POSES_END,
    POSES_START,
    RATES_END,
    RATES_START,
    ROWS,
    START,
)
from rigid.kinematics.poses import ZERO, direction, mean_pose
from rigid.linear_algebra import average, cross, dot, minus, plus, times

AXES = ((1 + 0j, 0j, 0j), (0j, 1 + 0j, 0j), (0j, 0j, 1 + 0j))
_STILL = 1e-24  # bound of dY . dY below which (4) would add only rounding errors


@inline_kernel
def in_directors(y, x):
    """Return R^T x, the components of x in the directors of the pose y."""
    return dot(y[1], x), dot(y[2], x), dot(y[3], x)


@inline_kernel
def relative_pose(a, k):
    """Return (1): the pose k in the directors of the pose a."""
    d = minus(k[0], a[0])
    return in_directors(a, d), in_directors(a, k[1]), in_directors(a, k[2]), in_directors(a, k[3])


@inline_kernel
def director_rates(y, Omega):
    """Return the columns of R hat(Omega)."""
    return (
        direction(y, cross(Omega, AXES[0])),
        direction(y, cross(Omega, AXES[1])),
        direction(y, cross(Omega, AXES[2])),
    )


@inline_kernel
def _put_relative_end(S, k, poses, moving, Y, Z):
    """Write (1) and (2) of frame k at one end; poses, moving, Y, Z: indices in the scratch S."""
    a, y = frame(S[poses], 0), frame(S[poses], k)
    u0, u = frame(S[moving], 0), frame(S[moving], k)
    relative = relative_pose(a, y)
    if k == 0:
        relative = (ZERO, AXES[0], AXES[1], AXES[2])
    spin = director_rates(relative, u[1])
    store(relative, S[Y], k)
    store((in_directors(a, minus(u[0], u0[0])), spin[0], spin[1], spin[2]), S[Z], k)


@internal_kernel
def put_relative(S, arity):
    """Write (1) and (2) at both ends of the step, and their means, into START and END of the scratch."""
    for k in range(arity):
        _put_relative_end(S, k, FRAMES_START, MOVING_START, POSES_START, RATES_START)
        _put_relative_end(S, k, FRAMES_END, MOVING_END, POSES_END, RATES_END)
        store(mean_pose(frame(S[POSES_START], k), frame(S[POSES_END], k)), S[START], k)
        store(mean_pose(frame(S[RATES_START], k), frame(S[RATES_END], k)), S[END], k)


@inline_kernel
def torque_of_rates(F, y):
    """Return D_Omega = sum e_m x R^T f_m of a dual F of the rates R hat(Omega)."""
    return plus(
        cross(AXES[0], in_directors(y, F[1])),
        plus(cross(AXES[1], in_directors(y, F[2])), cross(AXES[2], in_directors(y, F[3]))),
    )


@internal_kernel
def put_discrete_derivative(kind, numbers, gam, S):
    """Write the derivatives by the kind's `hidden` function, to poses into ROWS, to rates into DUAL."""
    hidden = hidden_at(kind.hidden)
    poses_start, poses_end = S[POSES_START], S[POSES_END]
    hidden(poses_start, S[RATES_START], poses_end, S[RATES_END], numbers, gam, S[ROWS], S[DUAL])


@internal_kernel
def _work(S, dual, before, after, arity):
    """Return dual . (after - before), all three indices in the scratch S."""
    done = 0j
    for k in range(arity):
        for j in range(4):
            for i in range(3):
                done += S[dual, k, j, i] * (S[after, k, j, i] - S[before, k, j, i])
    return done


@internal_kernel
def _correct(kind, numbers, gam, S):
    """Add the remainder of (4) to ROWS; ON_FRAMES, whose content is computed later, serves as scratch."""
    arity, remainder, size = kind.arity, 0j, 0j
    for k in range(arity):
        for j in range(4):
            for i in range(3):
                change = S[POSES_END, k, j, i] - S[POSES_START, k, j, i]
                size += change * change
    if size.real <= _STILL:
        return
    dual = dual_at(kind.dual)
    for end in range(2):
        Y, Z = (POSES_END, RATES_END) if end == 1 else (POSES_START, RATES_START)
        dual(S[Y], S[Y], numbers, gam, S[ON_FRAMES])
        for k in range(arity):
            for j in range(4):
                for i in range(3):
                    remainder += (1.0 if end == 1 else -1.0) * S[ON_FRAMES, k, j, i] * S[Z, k, j, i]
    remainder -= _work(S, ROWS, POSES_START, POSES_END, arity) + _work(S, DUAL, RATES_START, RATES_END, arity)
    for k in range(arity):
        for j in range(4):
            for i in range(3):
                S[ROWS, k, j, i] += remainder / size * (S[POSES_END, k, j, i] - S[POSES_START, k, j, i])


@internal_kernel
def _bend_by_dual(kind, numbers, gam, S):
    """Write H of a kind without `bend` into ROWS: a complex step of its dual along the rates.

    This is possible in an `em` step, where all quantities are real.
    """
    for k in range(kind.arity):
        for j in range(4):
            for i in range(3):
                S[END, k, j, i] = S[START, k, j, i] + COMPLEX_STEP * 1j * S[END, k, j, i]
    dual = dual_at(kind.dual)
    dual(S[END], S[END], numbers, gam, S[ROWS])
    for k in range(kind.arity):
        for j in range(4):
            for i in range(3):
                S[ROWS, k, j, i] = S[ROWS, k, j, i].imag / COMPLEX_STEP


@internal_kernel
def put_discrete_rates(kind, numbers, gam, S):
    """Write the discrete derivative (3) from FRAMES and MOVING at both ends.

    The duals of the poses of every frame are written into ON_FRAMES of the scratch, (D_v, D_Omega, 0, 0) into ON_MOVING.
    """
    put_relative(S, kind.arity)
    if kind.hidden == 0:
        dual = dual_at(kind.dual)
        dual(S[START], S[START], numbers, gam, S[DUAL])
        if kind.bend != 0:
            bend = dual_at(kind.bend)
            bend(S[START], S[END], numbers, gam, S[ROWS])
        else:
            _bend_by_dual(kind, numbers, gam, S)
        if kind.steep != 0:
            _correct(kind, numbers, gam, S)
    else:
        put_discrete_derivative(kind, numbers, gam, S)
    a = mean_pose(frame(S[FRAMES_START], 0), frame(S[FRAMES_END], 0))
    va = average(frame(S[MOVING_START], 0)[0], frame(S[MOVING_END], 0)[0])
    on_a, on_va = (ZERO, ZERO, ZERO, ZERO), ZERO
    for k in range(1, kind.arity):
        y = mean_pose(frame(S[FRAMES_START], k), frame(S[FRAMES_END], k))
        u0, u1 = frame(S[MOVING_START], k), frame(S[MOVING_END], k)
        v, w = average(u0[0], u1[0]), average(u0[1], u1[1])
        F, H = frame(S[DUAL], k), frame(S[ROWS], k)
        # F acts on B (Omega x e_m), that is on column j of B with component j of Omega x e_m
        C1 = plus(H[1], minus(times(w[1], F[3]), times(w[2], F[2])))
        C2 = plus(H[2], minus(times(w[2], F[1]), times(w[0], F[3])))
        C3 = plus(H[3], minus(times(w[0], F[2]), times(w[1], F[1])))
        force, D_v = direction(a, H[0]), direction(a, F[0])
        d, dv = minus(y[0], a[0]), minus(v, va)
        on_a = (
            minus(on_a[0], force),
            plus(on_a[1], _turned_with(0, H[0], F[0], C1, C2, C3, d, dv, y)),
            plus(on_a[2], _turned_with(1, H[0], F[0], C1, C2, C3, d, dv, y)),
            plus(on_a[3], _turned_with(2, H[0], F[0], C1, C2, C3, d, dv, y)),
        )
        on_va = minus(on_va, D_v)
        store((force, direction(a, C1), direction(a, C2), direction(a, C3)), S[ON_FRAMES], k)
        store((D_v, torque_of_rates(F, frame(S[START], k)), ZERO, ZERO), S[ON_MOVING], k)
    D_Omega = torque_of_rates(frame(S[DUAL], 0), frame(S[START], 0))
    store(on_a, S[ON_FRAMES], 0)
    store((on_va, D_Omega, ZERO, ZERO), S[ON_MOVING], 0)


@inline_kernel
def _put_relative_rates(S, k, poses, moving, Y, Z):
    """Write pose and rate of frame k in the directors of the first frame, for arbitrary rates of poses."""
    a, y = frame(S[poses], 0), frame(S[poses], k)
    z0, z = frame(S[moving], 0), frame(S[moving], k)
    d = minus(z[0], z0[0])
    store(relative_pose(a, y), S[Y], k)
    store((in_directors(a, d), in_directors(a, z[1]), in_directors(a, z[2]), in_directors(a, z[3])), S[Z], k)


@internal_kernel
def put_discrete_rates_of_directors(kind, numbers, gam, S):
    """Write the discrete derivative (3) for a chart whose coordinates are directors.

    The rates of the poses are read from MOVING; their duals are written into ON_MOVING, those of the poses into ON_FRAMES.
    """
    for k in range(kind.arity):
        _put_relative_rates(S, k, FRAMES_START, MOVING_START, POSES_START, RATES_START)
        _put_relative_rates(S, k, FRAMES_END, MOVING_END, POSES_END, RATES_END)
        store(mean_pose(frame(S[POSES_START], k), frame(S[POSES_END], k)), S[START], k)
        store(mean_pose(frame(S[RATES_START], k), frame(S[RATES_END], k)), S[END], k)
    dual, bend = dual_at(kind.dual), dual_at(kind.bend)
    dual(S[START], S[START], numbers, gam, S[DUAL])
    bend(S[START], S[END], numbers, gam, S[ROWS])
    if kind.steep != 0:
        _correct(kind, numbers, gam, S)
    a = mean_pose(frame(S[FRAMES_START], 0), frame(S[FRAMES_END], 0))
    za = mean_pose(frame(S[MOVING_START], 0), frame(S[MOVING_END], 0))
    on_a = (ZERO, ZERO, ZERO, ZERO)
    rate_a = (ZERO, ZERO, ZERO, ZERO)
    for k in range(kind.arity):
        y = mean_pose(frame(S[FRAMES_START], k), frame(S[FRAMES_END], k))
        z = mean_pose(frame(S[MOVING_START], k), frame(S[MOVING_END], k))
        F, H = frame(S[DUAL], k), frame(S[ROWS], k)
        relative = minus(y[0], a[0]), y[1], y[2], y[3]
        speeds = minus(z[0], za[0]), z[1], z[2], z[3]
        on_rate = direction(a, F[0]), direction(a, F[1]), direction(a, F[2]), direction(a, F[3])
        on_pose = direction(a, H[0]), direction(a, H[1]), direction(a, H[2]), direction(a, H[3])
        on_a = (
            minus(on_a[0], on_pose[0]),
            plus(on_a[1], plus(_times_all(0, H, relative), _times_all(0, F, speeds))),
            plus(on_a[2], plus(_times_all(1, H, relative), _times_all(1, F, speeds))),
            plus(on_a[3], plus(_times_all(2, H, relative), _times_all(2, F, speeds))),
        )
        rate_a = minus(rate_a[0], on_rate[0]), rate_a[1], rate_a[2], rate_a[3]
        store(on_pose, S[ON_FRAMES], k)
        store(on_rate, S[ON_MOVING], k)
    add_dual(on_a, S[ON_FRAMES], 0)
    add_dual(rate_a, S[ON_MOVING], 0)


@inline_kernel
def _times_all(i, F, x):
    """Return the sum of F_j[i] x_j."""
    s = plus(times(F[0][i], x[0]), times(F[1][i], x[1]))
    return plus(s, plus(times(F[2][i], x[2]), times(F[3][i], x[3])))


@inline_kernel
def _turned_with(i, H, F, C1, C2, C3, d, dv, y):
    """Return the dual of director i of frame a, in whose directors all components are expressed."""
    place = plus(times(H[i], d), times(F[i], dv))
    return plus(place, plus(times(C1[i], y[1]), plus(times(C2[i], y[2]), times(C3[i], y[3]))))
