"""Discrete derivatives of hidden constraints gam . dg/dt of frames in quaternions, in the invariants of each interaction.

With the first frame a of an interaction as its basis, the poses and rates of its frames k are

    Y_k = (Ra^T (r_k - r_a), B_k),   B_k = Ra^T R_k,   Y_a = (0, I)                                       (1)
    Z_k = (Ra^T (v_k - v_a), B_k hat(Omega_k)),        Z_a = (0, hat(Omega_a))                            (2)

and A = gam . dg/dt = dual(Y; gam) . Z does not change with a common rigid motion. Constraints are at most quadratic in
poses, hence A is bilinear in Y and Z, and these again in directors, differences of r and v, and Omega: by the product rule
(x y)1 - (x y)0 = xbar (y1 - y0) + ybar (x1 - x0) exactly

    A1 - A0 = sum of D_v . dv + D_Omega . dOmega + duals . (poses1 - poses0)                              (3)

with means of B, Y, Z at the two ends. It is `hidden_constraints` (5) for every kind of interaction. In quaternions

    v = p_r/m,   Omega = J^-1 G(q) p/2                                                                    (4)

which is the Omega of W(q) p where |q| = 1 and q . p = 0.
"""

from rigid.chart_frames import DUAL, END, ROWS, START, load_at
from rigid.chart_inertia import inertia_of, inverse3
from rigid.compilation import small_kernel
from rigid.interactions.kinds import dual_at, frame, store
from rigid.linear_algebra import apply, average, cross, dot, minus, plus, times
from rigid.poses import ZERO, add_mean_pulled, load_quat, pose
from rigid.quaternion_maps import G, G_transposed, add_quat, quat_mean

AXES = ((1 + 0j, 0j, 0j), (0j, 1 + 0j, 0j), (0j, 0j, 1 + 0j))


@small_kernel
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
def combined(x, y):
    """sum x_i d_i of the directors of y."""
    return plus(times(x[0], y[1]), plus(times(x[1], y[2]), times(x[2], y[3])))


@small_kernel
def relative_pose(a, k):
    """(1)."""
    d = minus(k[0], a[0])
    return in_directors(a, d), in_directors(a, k[1]), in_directors(a, k[2]), in_directors(a, k[3])


@small_kernel
def spun(y, Omega):
    """The columns of R hat(Omega)."""
    return (
        combined(cross(Omega, AXES[0]), y),
        combined(cross(Omega, AXES[1]), y),
        combined(cross(Omega, AXES[2]), y),
    )


@small_kernel
def mean_of(x, y):
    """Mean of two poses, rates or duals."""
    return average(x[0], y[0]), average(x[1], y[1]), average(x[2], y[2]), average(x[3], y[3])


@small_kernel
def put_relative(q0, p0, q1, p1, D, own, arity):
    """Means of (1) and (2) over the step, into START and END of the scratch."""
    S, base = D.scratch, own.frames[0]
    a0, a1 = pose(q0, D.frames, base), pose(q1, D.frames, base)
    va0, Omega0 = rates_of(q0, p0, D, base)
    va1, Omega1 = rates_of(q1, p1, D, base)
    rest = (ZERO, AXES[0], AXES[1], AXES[2])
    z = spun(rest, average(Omega0, Omega1))
    store(rest, S[START], 0)
    store((ZERO, z[0], z[1], z[2]), S[END], 0)
    for k in range(1, arity):
        f = own.frames[k]
        y0, y1 = relative_pose(a0, pose(q0, D.frames, f)), relative_pose(a1, pose(q1, D.frames, f))
        v0, w0 = rates_of(q0, p0, D, f)
        v1, w1 = rates_of(q1, p1, D, f)
        z0, z1 = spun(y0, w0), spun(y1, w1)
        u0, u1 = in_directors(a0, minus(v0, va0)), in_directors(a1, minus(v1, va1))
        store(mean_of(y0, y1), S[START], k)
        store(mean_of((u0, z0[0], z0[1], z0[2]), (u1, z1[0], z1[1], z1[2])), S[END], k)


@small_kernel
def torque_of_rates(F, y):
    """D_Omega = sum e_m x R^T f_m of a dual F of the rates R hat(Omega)."""
    return plus(
        cross(AXES[0], in_directors(y, F[1])),
        plus(cross(AXES[1], in_directors(y, F[2])), cross(AXES[2], in_directors(y, F[3]))),
    )


@small_kernel
def add_by_momenta(D_v, D_Omega, weight, q0, p0, q1, p1, D, f, out_q, out_p):
    """out += weight times D_v and D_Omega of frame f, brought to q and p by (4)."""
    at, to = D.frames.each[f].position, D.frames.each[f].orientation
    if at >= 0:
        for i in range(3):
            out_p[at + i] += weight / D.frames.each[f].mass * D_v[i]
    if to >= 0:
        spin = times(0.5 * weight, apply(inverse3(inertia_of(D, f)), D_Omega))
        q, p = (
            quat_mean(load_quat(q0, to), load_quat(q1, to)),
            quat_mean(load_quat(p0, to), load_quat(p1, to)),
        )
        add_quat(1.0, G_transposed(q, spin), to, out_p)
        add_quat(-1.0, G_transposed(p, spin), to, out_q)


@small_kernel
def add_hidden_of(kind, e, q0, p0, q1, p1, gam, weight, D, out_q, out_p, out_pose):
    """(3) of interaction e, times weight: what acts by Omega into out_q and out_p, duals of poses into out_pose."""
    I, S = D.interacting, D.scratch
    own = I.each[e]
    numbers, lam = I.numbers[own.first : own.last], gam[own.row : own.row + kind.rows]
    put_relative(q0, p0, q1, p1, D, own, kind.arity)
    dual, bend = dual_at(kind.dual), dual_at(kind.bend)
    dual(S[START], S[START], numbers, lam, S[DUAL])
    bend(S[START], S[END], numbers, lam, S[ROWS])
    base = own.frames[0]
    a0, a1 = pose(q0, D.frames, base), pose(q1, D.frames, base)
    va0, _ = rates_of(q0, p0, D, base)
    va1, _ = rates_of(q1, p1, D, base)
    a = mean_of(a0, a1)
    on_a, on_va = (ZERO, ZERO, ZERO, ZERO), ZERO
    for k in range(1, kind.arity):
        f = own.frames[k]
        y0, y1 = pose(q0, D.frames, f), pose(q1, D.frames, f)
        v0, w0 = rates_of(q0, p0, D, f)
        v1, w1 = rates_of(q1, p1, D, f)
        y, w = mean_of(y0, y1), average(w0, w1)
        F, H = frame(S[DUAL], k), frame(S[ROWS], k)
        # F acts on B (Omega x e_m): on column j of B with the component j of Omega x e_m, a row of -hat(Omega)
        C1 = plus(H[1], minus(times(w[1], F[3]), times(w[2], F[2])))
        C2 = plus(H[2], minus(times(w[2], F[1]), times(w[0], F[3])))
        C3 = plus(H[3], minus(times(w[0], F[2]), times(w[1], F[1])))
        force, D_v = combined(H[0], a), combined(F[0], a)
        d, dv = minus(y[0], a[0]), minus(average(v0, v1), average(va0, va1))
        on_k = (force, combined(C1, a), combined(C2, a), combined(C3, a))
        on_a = (
            minus(on_a[0], force),
            plus(on_a[1], turned_with(0, H[0], F[0], C1, C2, C3, d, dv, y)),
            plus(on_a[2], turned_with(1, H[0], F[0], C1, C2, C3, d, dv, y)),
            plus(on_a[3], turned_with(2, H[0], F[0], C1, C2, C3, d, dv, y)),
        )
        on_va = minus(on_va, D_v)
        D_Omega = torque_of_rates(F, frame(S[START], k))
        add_by_momenta(D_v, D_Omega, weight, q0, p0, q1, p1, D, f, out_q, out_p)
        add_mean_pulled(scaled(weight, on_k), q0, q1, D.frames, f, out_pose)
    D_Omega = torque_of_rates(frame(S[DUAL], 0), frame(S[START], 0))
    add_by_momenta(on_va, D_Omega, weight, q0, p0, q1, p1, D, base, out_q, out_p)
    add_mean_pulled(scaled(weight, on_a), q0, q1, D.frames, base, out_pose)


@small_kernel
def turned_with(i, H, F, C1, C2, C3, d, dv, y):
    """Dual of director i of frame a, by which all components are taken."""
    place = plus(times(H[i], d), times(F[i], dv))
    return plus(place, plus(times(C1[i], y[1]), plus(times(C2[i], y[2]), times(C3[i], y[3]))))


@small_kernel
def scaled(s, f):
    """s f of a dual."""
    return times(s, f[0]), times(s, f[1]), times(s, f[2]), times(s, f[3])


@small_kernel
def add_discrete_hidden(q0, p0, q1, p1, gam, weight, D, out_q, out_p, out_pose):
    """out += weight times the discrete derivatives of gam . dg/dt of all joints; q . p for the unit lengths.

    out_q and out_p: through q . p and G(q) p, whose discrete derivatives are midpoints; out_pose: through the poses,
    pulled back as those of g.
    """
    row = 0
    for f in range(D.frames.each.size):
        to = D.frames.each[f].orientation
        if to >= 0:
            factor = weight * gam[row]
            add_quat(factor, quat_mean(load_quat(p0, to), load_quat(p1, to)), to, out_q)
            add_quat(factor, quat_mean(load_quat(q0, to), load_quat(q1, to)), to, out_p)
            row += 1
    I = D.interacting
    for which in range(I.kinds.size):
        kind = I.kinds[which]
        for e in range(kind.first, kind.last if kind.rows > 0 else 0):
            add_hidden_of(kind, e, q0, p0, q1, p1, gam, weight, D, out_q, out_p, out_pose)
