"""Discrete derivatives of hidden constraints gam . dg/dt of frames in quaternions, in the invariants of each interaction.

With the first frame a of an interaction as its basis, the poses and rates of its frames k are

    Y_k = (Ra^T (r_k - r_a), B_k),   B_k = Ra^T R_k,   Y_a = (0, I)                                       (1)
    Z_k = (Ra^T (v_k - v_a), B_k hat(Omega_k)),        Z_a = (0, hat(Omega_a))                            (2)

and A = gam . dg/dt = dual(Y; gam) . Z does not change with a common rigid motion. Constraints are at most quadratic in
poses, hence A is bilinear in Y and Z (one that is not, a screw, brings its own discrete derivative, `Kind.hidden`), and these
again in directors, differences of r and v, and Omega: by the product rule (x y)1 - (x y)0 = xbar (y1 - y0) + ybar (x1 - x0)
exactly

    A1 - A0 = sum of D_v . dv + D_Omega . dOmega + duals . (poses1 - poses0)                              (3)

with means of B, Y, Z at the two ends. It is `hidden_constraints` (5) for every kind of interaction. In quaternions

    v = p_r/m,   Omega = J^-1 G(q) p/2                                                                    (4)

which is the Omega of W(q) p where |q| = 1 and q . p = 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from rigid.chart_frames import (
    DUAL,
    END,
    POSES_END,
    POSES_START,
    RATES_END,
    RATES_START,
    ROWS,
    START,
    load_at,
)
from rigid.chart_inertia import inertia_of, inverse3
from rigid.chart_interactions import put_poses, put_rates
from rigid.compilation import inner_kernel, small_kernel
from rigid.interactions.kinds import dual_at, frame, hidden_at, store
from rigid.linear_algebra import apply, average, cross, dot, minus, plus, times
from rigid.poses import ZERO, add_mean_pulled, add_pulled, direction, load_quat, mean_pose, pose
from rigid.quaternion_maps import G, G_transposed, add_quat, quat_mean


class Ends(NamedTuple):
    """Coordinates and momenta at both ends of a step."""

    q0: Any
    p0: Any
    q1: Any
    p1: Any


class Parts(NamedTuple):
    """A derivative: in q and p through G(q) p and q . p, and duals of the poses, pulled back."""

    q: Any
    p: Any
    poses: Any


AXES = ((1 + 0j, 0j, 0j), (0j, 1 + 0j, 0j), (0j, 0j, 1 + 0j))


@inner_kernel
def rates_of(q, p, D, f):
    """(4): v and Omega of frame f."""
    at, to = D.frames.each[f].position, D.frames.each[f].orientation
    v, Omega = ZERO, ZERO
    if at >= 0:
        v = times(1.0 / D.frames.each[f].mass, load_at(p, at))
    if to >= 0:
        Omega = apply(inverse3(inertia_of(D, f)), times(0.5, G(load_quat(q, to), load_quat(p, to))))
    return v, Omega


@small_kernel
def in_directors(y, x):
    """R^T x."""
    return dot(y[1], x), dot(y[2], x), dot(y[3], x)


@small_kernel
def relative_pose(a, k):
    """(1)."""
    d = minus(k[0], a[0])
    return in_directors(a, d), in_directors(a, k[1]), in_directors(a, k[2]), in_directors(a, k[3])


@small_kernel
def spun(y, Omega):
    """The columns of R hat(Omega)."""
    return (
        direction(y, cross(Omega, AXES[0])),
        direction(y, cross(Omega, AXES[1])),
        direction(y, cross(Omega, AXES[2])),
    )


@small_kernel
def put_ends(S, k, y0, z0, y1, z1):
    """Pose and rate of frame k at both ends, and their means."""
    store(y0, S[POSES_START], k)
    store(z0, S[RATES_START], k)
    store(y1, S[POSES_END], k)
    store(z1, S[RATES_END], k)
    store(mean_pose(y0, y1), S[START], k)
    store(mean_pose(z0, z1), S[END], k)


@inner_kernel
def put_relative(ends, D, own, arity):
    """(1) and (2) at both ends of the step, and their means, into START and END of the scratch."""
    q0, p0, q1, p1 = ends
    S, base = D.scratch, own.frames[0]
    a0, a1 = pose(q0, D.frames, base), pose(q1, D.frames, base)
    va0, Omega0 = rates_of(q0, p0, D, base)
    va1, Omega1 = rates_of(q1, p1, D, base)
    rest = (ZERO, AXES[0], AXES[1], AXES[2])
    z0, z1 = spun(rest, Omega0), spun(rest, Omega1)
    put_ends(S, 0, rest, (ZERO, z0[0], z0[1], z0[2]), rest, (ZERO, z1[0], z1[1], z1[2]))
    for k in range(1, arity):
        f = own.frames[k]
        y0, y1 = relative_pose(a0, pose(q0, D.frames, f)), relative_pose(a1, pose(q1, D.frames, f))
        v0, w0 = rates_of(q0, p0, D, f)
        v1, w1 = rates_of(q1, p1, D, f)
        z0, z1 = spun(y0, w0), spun(y1, w1)
        u0, u1 = in_directors(a0, minus(v0, va0)), in_directors(a1, minus(v1, va1))
        put_ends(S, k, y0, (u0, z0[0], z0[1], z0[2]), y1, (u1, z1[0], z1[1], z1[2]))


@inner_kernel
def torque_of_rates(F, y):
    """D_Omega = sum e_m x R^T f_m of a dual F of the rates R hat(Omega)."""
    return plus(
        cross(AXES[0], in_directors(y, F[1])),
        plus(cross(AXES[1], in_directors(y, F[2])), cross(AXES[2], in_directors(y, F[3]))),
    )


@inner_kernel
def add_by_momenta(D_v, D_Omega, ends, D, f, out):
    """out += D_v and D_Omega of frame f, brought to q and p by (4)."""
    at, to = D.frames.each[f].position, D.frames.each[f].orientation
    if at >= 0:
        for i in range(3):
            out.p[at + i] += D_v[i] / D.frames.each[f].mass
    if to >= 0:
        spin = times(0.5, apply(inverse3(inertia_of(D, f)), D_Omega))
        q = quat_mean(load_quat(ends.q0, to), load_quat(ends.q1, to))
        p = quat_mean(load_quat(ends.p0, to), load_quat(ends.p1, to))
        add_quat(1.0, G_transposed(q, spin), to, out.p)
        add_quat(-1.0, G_transposed(p, spin), to, out.q)


@inner_kernel
def put_own(kind, numbers, lam, S):
    """What the kind itself says: its derivatives to poses and to rates, into ROWS and DUAL."""
    hidden = hidden_at(kind.hidden)
    poses_start, poses_end = S[POSES_START], S[POSES_END]
    hidden(poses_start, S[RATES_START], poses_end, S[RATES_END], numbers, lam, S[ROWS], S[DUAL])


@inner_kernel
def add_hidden_of(kind, e, ends, gam, D, out):
    """out += (3) of interaction e."""
    q0, p0, q1, p1 = ends
    I, S = D.interacting, D.scratch
    own = I.each[e]
    numbers, lam = I.numbers[own.first : own.last], gam[own.row : own.row + kind.rows]
    put_relative(ends, D, own, kind.arity)
    if kind.hidden == 0:
        dual, bend = dual_at(kind.dual), dual_at(kind.bend)
        dual(S[START], S[START], numbers, lam, S[DUAL])
        bend(S[START], S[END], numbers, lam, S[ROWS])
    else:
        put_own(kind, numbers, lam, S)
    base = own.frames[0]
    a0, a1 = pose(q0, D.frames, base), pose(q1, D.frames, base)
    va0, _ = rates_of(q0, p0, D, base)
    va1, _ = rates_of(q1, p1, D, base)
    a = mean_pose(a0, a1)
    on_a, on_va = (ZERO, ZERO, ZERO, ZERO), ZERO
    for k in range(1, kind.arity):
        f = own.frames[k]
        y0, y1 = pose(q0, D.frames, f), pose(q1, D.frames, f)
        v0, w0 = rates_of(q0, p0, D, f)
        v1, w1 = rates_of(q1, p1, D, f)
        y, w = mean_pose(y0, y1), average(w0, w1)
        F, H = frame(S[DUAL], k), frame(S[ROWS], k)
        # F acts on B (Omega x e_m): on column j of B with the component j of Omega x e_m
        C1 = plus(H[1], minus(times(w[1], F[3]), times(w[2], F[2])))
        C2 = plus(H[2], minus(times(w[2], F[1]), times(w[0], F[3])))
        C3 = plus(H[3], minus(times(w[0], F[2]), times(w[1], F[1])))
        force, D_v = direction(a, H[0]), direction(a, F[0])
        d, dv = minus(y[0], a[0]), minus(average(v0, v1), average(va0, va1))
        on_k = (force, direction(a, C1), direction(a, C2), direction(a, C3))
        on_a = (
            minus(on_a[0], force),
            plus(on_a[1], turned_with(0, H[0], F[0], C1, C2, C3, d, dv, y)),
            plus(on_a[2], turned_with(1, H[0], F[0], C1, C2, C3, d, dv, y)),
            plus(on_a[3], turned_with(2, H[0], F[0], C1, C2, C3, d, dv, y)),
        )
        on_va = minus(on_va, D_v)
        D_Omega = torque_of_rates(F, frame(S[START], k))
        add_by_momenta(D_v, D_Omega, ends, D, f, out)
        add_mean_pulled(on_k, q0, q1, D.frames, f, out.poses)
    D_Omega = torque_of_rates(frame(S[DUAL], 0), frame(S[START], 0))
    add_by_momenta(on_va, D_Omega, ends, D, base, out)
    add_mean_pulled(on_a, q0, q1, D.frames, base, out.poses)


@inner_kernel
def turned_with(i, H, F, C1, C2, C3, d, dv, y):
    """Dual of director i of frame a, by which all components are taken."""
    place = plus(times(H[i], d), times(F[i], dv))
    return plus(place, plus(times(C1[i], y[1]), plus(times(C2[i], y[2]), times(C3[i], y[3]))))


@inner_kernel
def add_discrete_hidden(ends, gam, D, out):
    """out += discrete derivatives of gam . dg/dt of all joints, and of gam q . p for the unit lengths."""
    row = 0
    for f in range(D.frames.each.size):
        to = D.frames.each[f].orientation
        if to >= 0:
            add_quat(gam[row], quat_mean(load_quat(ends.p0, to), load_quat(ends.p1, to)), to, out.q)
            add_quat(gam[row], quat_mean(load_quat(ends.q0, to), load_quat(ends.q1, to)), to, out.p)
            row += 1
    I = D.interacting
    for which in range(I.kinds.size):
        kind = I.kinds[which]
        for e in range(kind.first, kind.last if kind.rows > 0 else 0):
            add_hidden_of(kind, e, ends, gam, D, out)


@inner_kernel
def copy_bilinear(gam, D, out):
    """out = gam, zero for constraints that bring their own discrete derivative; whether there are any."""
    found = False
    for row in range(D.m):
        out[row] = gam[row]
    I = D.interacting
    for which in range(I.kinds.size):
        kind = I.kinds[which]
        for e in range(kind.first, kind.last if kind.hidden != 0 else kind.first):
            for k in range(kind.rows):
                out[I.each[e].row + k] = 0.0
                found = True
    return found


@inner_kernel
def add_own_in_directors(q0, v0, q1, v1, gam, D, out_q, out_v):
    """out_q, out_v += discrete derivatives, to coordinates and their rates, of gam . dg/dt of constraints that bring their own.

    Of directors, in which poses are linear.
    """
    I, S = D.interacting, D.scratch
    for which in range(I.kinds.size):
        kind = I.kinds[which]
        for e in range(kind.first, kind.last if kind.hidden != 0 else kind.first):
            own = I.each[e]
            put_poses(q0, D, own, kind.arity, S[POSES_START])
            put_rates(q0, v0, D, own, kind.arity, S[RATES_START])
            put_poses(q1, D, own, kind.arity, S[POSES_END])
            put_rates(q1, v1, D, own, kind.arity, S[RATES_END])
            put_own(kind, I.numbers[own.first : own.last], gam[own.row : own.row + kind.rows], S)
            for k in range(kind.arity):
                add_pulled(frame(S[ROWS], k), q1, D.frames, own.frames[k], 1.0, out_q)
                add_pulled(frame(S[DUAL], k), q1, D.frames, own.frames[k], 1.0, out_v)
