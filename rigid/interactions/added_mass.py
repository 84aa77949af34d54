"""Inertia of the fluid around a frame: added mass, a symmetric matrix M in the axes of the frame.

With the velocity V of the frame's origin relative to the fluid, and the angular velocity W, both in the axes of the frame, the
fluid has the kinetic energy T = (V, W) . M (V, W)/2, the momentum P = R dT/dV and the angular momentum R dT/dW about the origin.
Over a step with Rbar = (R0 + R1)/2, the Cayley vector psi and the velocity u of the fluid, V and W are internal variables with

    dr - h u = h Rbar (V0 + V1)/2,   R0^T psi = h (W0 + W1)/2                                           (1)
    force (P1 - P0)/h,   torque (R1 dT/dW1 - R0 dT/dW0)/h + Rbar (V0 + V1)/2 x (P0 + P1)/2              (2)

against the frame. Energy, momentum and angular momentum of body and fluid are conserved exactly if the fluid rests
(docs/theory/fluids.md). In a fluid that moves, what (2) takes is the gain of T and the work u . (P1 - P0). A torque w x P acts as
the duals V_k P on the directors, V_k the components of w = Rbar V.

There are two sizes: all of M, or the part of V alone, (3, 3), and two kinds each: in a fluid at rest, whose one frame is that of
M, and in a flow, whose first frame is the ground.
"""

from __future__ import annotations

from typing import Any

from rigid.compilation.decorators import inline_kernel
from rigid.interactions.flow_fields import current, flow, flow_and_slopes
from rigid.interactions.kinds import ADDED_MASSES as REAL_LOOP
from rigid.interactions.kinds import (
    Condensed,
    InternalStateEquations,
    Kind,
    dissipation,
    dual_function,
    frame,
    no_bend,
    store,
    tangent_function,
    value_function,
)
from rigid.interactions.loads import on_directors
from rigid.interactions.pressure import nothing
from rigid.kinematics.poses import ZERO, add_duals, direction, mean_pose
from rigid.kinematics.rotations import inverse_tangent
from rigid.linear_algebra import (
    apply,
    average,
    cross,
    dot,
    hat,
    hat_times,
    matrix_average,
    matrix_minus,
    matrix_plus,
    matrix_times,
    minus,
    plus,
    product,
    real,
    store_block,
    times,
    trace,
    transpose,
    transposed_product,
    twice_axial,
)

NONE = (0.0, 0.0, 0.0)


@inline_kernel
def _block(X, size, i, j):
    """Return the 3 x 3 block of M at (i, j), row by row."""
    a = size * i + j
    b, c = a + size, a + 2 * size
    return X[a], X[a + 1], X[a + 2], X[b], X[b + 1], X[b + 2], X[c], X[c + 1], X[c + 2]


@inline_kernel
def _momenta(V, W, X, size):
    """Return dT/dV and dT/dW."""
    p, pi = apply(_block(X, size, 0, 0), V), times(0.0, V)
    if size == 6:
        p = plus(p, apply(_block(X, size, 0, 3), W))
        pi = plus(apply(_block(X, size, 3, 0), V), apply(_block(X, size, 3, 3), W))
    return p, pi


@inline_kernel
def _inverse(m):
    """Return the rows of the inverse of the mean rotation."""
    a, b, c = cross(m[2], m[3]), cross(m[3], m[1]), cross(m[1], m[2])
    scale = 1.0 / dot(m[1], a)
    return times(scale, a), times(scale, b), times(scale, c)


@inline_kernel
def _rotation(a, b):
    """Return R0^T psi of two poses."""
    trace = dot(a[1], b[1]) + dot(a[2], b[2]) + dot(a[3], b[3])
    axial = (
        dot(a[3], b[2]) - dot(a[2], b[3]),
        dot(a[1], b[3]) - dot(a[3], b[1]),
        dot(a[2], b[1]) - dot(a[1], b[2]),
    )
    return times(2.0 / (1.0 + trace), axial)


@inline_kernel
def _place(y0, y1):
    """Return the mean place of frame 1, from the origin of frame 0."""
    return minus(average(frame(y0, 1)[0], frame(y1, 1)[0]), average(frame(y0, 0)[0], frame(y1, 0)[0]))


@inline_kernel
def _mean_velocities(y0, y1, X, rate, at, size):
    """Return the means of the relative velocity, of V and of W over a step; `at`: number of the frame."""
    a, b = frame(y0, at), frame(y1, at)
    w = times(rate, minus(b[0], a[0]))
    if at == 1:
        u, _ = flow(_place(y0, y1), X, size * size)
        w = minus(w, u)
    B = _inverse(mean_pose(a, b))
    V, W = (dot(B[0], w), dot(B[1], w), dot(B[2], w)), times(0.0, w)
    if size == 6:
        W = times(rate, _rotation(a, b))
    return w, V, W


@inline_kernel
def _stored(x, at, size):
    """Return V and W in x[at:]."""
    V = x[at], x[at + 1], x[at + 2]
    W = times(0.0, V)
    if size == 6:
        W = x[at + 3], x[at + 4], x[at + 5]
    return V, W


@inline_kernel
def _write(y0, y1, ends, X, settings, out):
    """Write the dual (2); `ends`: V and W at both ends and the mean of V; settings: 1/h, number of the frame, size."""
    (V0, W0), (V1, W1), Vbar = ends
    rate, at, size = settings
    a, b = frame(y0, at), frame(y1, at)
    (p0, pi0), (p1, pi1) = _momenta(V0, W0, X, size), _momenta(V1, W1, X, size)
    P0, P1 = direction(a, p0), direction(b, p1)
    P = average(P0, P1)
    dual = times(rate, minus(P1, P0)), times(Vbar[0], P), times(Vbar[1], P), times(Vbar[2], P)
    if size == 6:
        torque = times(rate, minus(direction(b, pi1), direction(a, pi0)))
        dual = add_duals(dual, on_directors(torque, mean_pose(a, b)))
    if at == 1:
        store((ZERO, ZERO, ZERO, ZERO), out, 0)
    store(dual, out, at)


@inline_kernel
def _columns(y, k):
    """Return the rotation matrix of frame k, row by row, in real numbers."""
    _, a, b, c = frame(y, k)
    return (
        a[0].real, b[0].real, c[0].real, a[1].real, b[1].real, c[1].real, a[2].real, b[2].real, c[2].real,
    )  # fmt: skip


@inline_kernel
def inverse_of_mean(R0, R1):
    """Return the inverse of the mean of two rotation matrices, row by row."""
    m = matrix_average(R0, R1)
    a, b, c = (m[0], m[3], m[6]), (m[1], m[4], m[7]), (m[2], m[5], m[8])
    u, v, z = _inverse((NONE, a, b, c))
    return u[0], u[1], u[2], v[0], v[1], v[2], z[0], z[1], z[2]


@inline_kernel
def mean_velocities_of_step(motion, R0, R1, size):
    """Return the means of V and W over a step; motion: that of `step_and_slopes`."""
    V, W = apply(inverse_of_mean(R0, R1), motion[1]), (0.0, 0.0, 0.0)
    if size == 6:
        C = transposed_product(R0, R1)
        W = times(2.0 * motion[0] / (1.0 + trace(C)), twice_axial(C))
    return V, W


@inline_kernel
def step_and_slopes(motion, R0, R1, X, size, tangent):
    """Return force and torque (2), and their derivatives with respect to (dr, eta) at the end of the step, in real numbers.

    motion: 1/h, the mean relative velocity w and its derivative to dr; R0, R1: rotation matrices, row by row.

    dVbar = B (dw - hat(eta) R1 Vbar/2), dWbar = R0^T T^-1 eta/h, dP1 = eta x P1 + R1 dp1; B = Rbar^-1.
    """
    rate, w, of_r = motion
    B = inverse_of_mean(R0, R1)
    V, W = mean_velocities_of_step(motion, R0, R1, size)
    V0, W0 = _stored(X, X.shape[0] - size, size)
    V1, W1 = minus(times(2.0, V), V0), minus(times(2.0, W), W0)
    (p0, pi0), (p1, pi1) = _momenta(V0, W0, X, size), _momenta(V1, W1, X, size)
    P0, P1 = apply(R0, p0), apply(R1, p1)
    P, L1 = average(P0, P1), apply(R1, pi1)
    force = times(rate, minus(P1, P0))
    torque = plus(times(rate, minus(L1, apply(R0, pi0))), cross(w, P))
    none = matrix_times(0.0, B)
    if not tangent:
        return force, torque, none, none, none, none
    M = _block(X, size, 0, 0)
    # of V1 = 2 Vbar - V0 to dr and to eta
    V_r, V_eta = matrix_times(2.0, product(B, of_r)), product(B, hat(apply(R1, V)))
    RM = product(R1, M)
    P_r, P_eta = product(RM, V_r), product(RM, V_eta)
    torque_r, torque_eta = none, none
    if size == 6:
        psi = times(1.0 / rate, apply(R0, W))
        W_eta = matrix_times(2.0 * rate, product(transpose(R0), inverse_tangent(psi)))
        P_eta = matrix_plus(P_eta, product(R1, product(_block(X, size, 0, 3), W_eta)))
        C, J = _block(X, size, 3, 0), _block(X, size, 3, 3)
        torque_r = matrix_times(rate, product(R1, product(C, V_r)))
        of_pi = product(R1, matrix_plus(product(C, V_eta), product(J, W_eta)))
        torque_eta = matrix_times(rate, matrix_minus(of_pi, hat(L1)))
    P_eta = matrix_minus(P_eta, hat(P1))
    half = times(0.5, w)
    torque_r = matrix_plus(torque_r, matrix_minus(hat_times(half, P_r), hat_times(P, of_r)))
    torque_eta = matrix_plus(torque_eta, hat_times(half, P_eta))
    return force, torque, matrix_times(rate, P_r), matrix_times(rate, P_eta), torque_r, torque_eta


@inline_kernel
def relative_velocity(v, place, rate, X, flow_at):
    """Return v less the velocity of the fluid, and the derivative to dr, for real numbers; flow_at: 0 for a fluid at rest."""
    of_r = rate, 0.0, 0.0, 0.0, rate, 0.0, 0.0, 0.0, rate
    if flow_at > 0:
        u, _, du, _ = flow_and_slopes(place, X, flow_at)
        return minus(v, u), matrix_minus(of_r, matrix_times(0.5, du))
    return v, of_r


def _added_mass(name: str, size: int, at: int) -> Kind:
    """Return the kind of an added mass; size: of M; `at`: number of its frame, 1 in a flow, behind the ground."""
    flow_at = size * size

    @dual_function
    def step_dual(y0, y1, X, lam, out):
        """Write the dual (2) over a step, lam = 1/h."""
        V0, W0 = _stored(X, X.shape[0] - size, size)
        _, V, W = _mean_velocities(y0, y1, X, lam[0], at, size)
        ends = (V0, W0), (minus(times(2.0, V), V0), minus(times(2.0, W), W0)), V
        _write(y0, y1, ends, X, (lam[0], at, size), out)

    @dual_function
    def end_velocities(y0, y1, X, lam, out):
        """Write V and W at the end of the step (1)."""
        V0, W0 = _stored(X, X.shape[0] - size, size)
        _, V, W = _mean_velocities(y0, y1, X, lam[0], at, size)
        flat = out.reshape(out.size)
        for i in range(3):
            flat[i] = 2.0 * V[i] - V0[i]
            if size == 6:
                flat[3 + i] = 2.0 * W[i] - W0[i]

    @dual_function
    def initial(y, z, X, lam, out):
        """Write V and W of the poses y with the rates z."""
        a, b = frame(y, at), frame(z, at)
        w, flat = b[0], out.reshape(out.size)
        if at == 1:
            u, _ = flow(_place(y, y), X, flow_at)
            w = minus(w, u)
        for i in range(3):
            flat[i] = dot(a[1 + i], w) if i == 0 else (dot(a[2], w) if i == 1 else dot(a[3], w))
        if size == 6:
            flat[3], flat[4], flat[5] = dot(b[2], a[3]), dot(b[3], a[1]), dot(b[1], a[2])

    @value_function
    def stored_energy(y, X, out):
        """Write T."""
        V, W = _stored(X, X.shape[0] - size, size)
        p, pi = _momenta(V, W, X, size)
        out[0] = 0.5 * (dot(V, p) + dot(W, pi))

    @value_function
    def at_rest_velocities(y, X, out):
        """Write V and W of a frame at rest."""
        w = times(0.0, frame(y, at)[0])
        if at == 1:
            w = times(-1.0, current(_place(y, y), X, flow_at))
        out[0], out[1], out[2] = (
            dot(frame(y, at)[1], w),
            dot(frame(y, at)[2], w),
            dot(frame(y, at)[3], w),
        )
        if size == 6:
            out[3] = out[4] = out[5] = 0.0

    @dual_function
    def equations(y0, y1, X, lam, out):
        """Write the dual (2) over a step of length lam[0] with V and W in lam[1:], and the residuals of (1)."""
        ends = _stored(lam, 1, size), _stored(lam, 1 + size, size)
        _, V, W = _mean_velocities(y0, y1, X, 1.0 / lam[0], at, size)
        mean = average(ends[0][0], ends[1][0])
        _write(y0, y1, (ends[0], ends[1], mean), X, (1.0 / lam[0], at, size), out)
        flat = out.reshape(out.size)
        first = 12 * (at + 1)
        for i in range(3):
            flat[first + i] = mean[i] - V[i]
            if size == 6:
                flat[first + 3 + i] = 0.5 * (ends[0][1][i] + ends[1][1][i]) - W[i]

    @dual_function
    def force_at_rest(y0, y1, X, lam, out):
        """Write the torque of a frame at rest in a current."""
        m = mean_pose(frame(y0, at), frame(y1, at))
        w = times(-lam[0], current(_place(y0, y1), X, flow_at))
        V = dot(m[1], w), dot(m[2], w), dot(m[3], w)
        p, _ = _momenta(times(1.0 / lam[0], V), times(0.0, V), X, size)
        P = direction(m, p)
        store((ZERO, ZERO, ZERO, ZERO), out, 0)
        store((ZERO, times(V[0], P), times(V[1], P), times(V[2], P)), out, 1)

    @tangent_function
    def tangent(y0, y1, X, lam, out, K):
        """Write the tangent of `step_dual`."""
        rate, i = lam[0].real, 6 * at
        place, v = (0.0, 0.0, 0.0), times(rate, minus(real(frame(y1, at)[0]), real(frame(y0, at)[0])))
        if at == 1:
            place = real(_place(y0, y1))
        w, of_r = relative_velocity(v, place, rate, X, flow_at if at == 1 else 0)
        _, _, F_r, F_eta, T_r, T_eta = step_and_slopes(
            (rate, w, of_r), _columns(y0, at), _columns(y1, at), X, size, True
        )
        if at == 1:
            for k in range(12):
                for j in range(6):
                    K[k, j] = 0.0
            _, _, du, _ = flow_and_slopes(place, X, flow_at)
            _, _, F_0, _, T_0, _ = step_and_slopes(
                (rate, w, matrix_times(0.5, du)), _columns(y0, at), _columns(y1, at), X, size, True
            )
            store_block(transpose(F_0), K, 0, i)
            store_block(transpose(T_0), K, 0, i + 3)
            for k in range(3, 6):
                for j in range(6):
                    K[k, i + j] = 0.0
        store_block(transpose(F_r), K, i, i)
        store_block(transpose(T_r), K, i, i + 3)
        store_block(transpose(F_eta), K, i + 3, i)
        store_block(transpose(T_eta), K, i + 3, i + 3)

    facts: dict[str, Any] = {"works": True, "signal": flow_at} if at else {}
    resting = Kind(f"{name}, at rest", at + 1, 0, nothing, force_at_rest if at else no_bend, no_bend, **facts)
    states = InternalStateEquations(
        resting, at_rest_velocities, equations, conserves=not at, reverses=True, initial=initial
    )
    condensed = Condensed(update_internal=end_velocities, stored_energy=stored_energy)
    return dissipation(name, at + 1, step_dual, no_bend)._replace(
        n_internal=size,
        condensed=condensed,
        state_equations=states,
        tangent=tangent,
        inertial=True,
        real_loop=REAL_LOOP,
        **facts,
    )


# by size of the matrix and whether the fluid flows
ADDED_MASSES = {
    (3, False): _added_mass("translational added mass", 3, 0),
    (3, True): _added_mass("translational added mass in a flow", 3, 1),
    (6, False): _added_mass("rigid-body added mass", 6, 0),
    (6, True): _added_mass("rigid-body added mass in a flow", 6, 1),
}
