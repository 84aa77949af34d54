"""Equations of a step of `em` in the plane, as in `discretization.assembly.step_equations`: two forces and a moment per frame.

    2 m (dr/h - v0) + h f + impulses = 0,   2 J (psi/h - omega0) + h tau + torques of impulses = 0           (1)

psi = 2 tan(angle/2) of the rotation in the step. Corrections of rotations are angles e: psi changes by (1 + psi^2/4) e.
"""

from discretization.assembly.predictor import predicted_number
from discretization.assembly.workspace import EPS, norm
from discretization.integrator_memory import WIDTH as IN_SPACE
from discretization.planar.arrays import (
    AOM,
    AWAY,
    AX,
    AY,
    C0,
    C1,
    D11,
    D12,
    D13,
    D21,
    D22,
    D23,
    D31,
    D32,
    D33,
    DX,
    DY,
    HINGE,
    IN_PLANE,
    N1,
    N2,
    OM,
    PSI,
    R1,
    R2,
    R3,
    RX,
    RY,
    S0,
    S1,
    VX,
    VY,
    W0,
    Z0,
)
from discretization.planar.element_lanes import add_elements, begin_elements
from discretization.planar.joints import (
    add_joints,
    at_both_ends,
    begin_hinges,
    begin_joints,
    constraint_forces_from_state,
    constraint_forces_to_state,
    end_rotation,
    evaluate_hinge,
)
from discretization.planar.springs import add_springs, begin_springs
from rigid.compilation.decorators import inline_kernel, internal_kernel
from rigid.lanes import most, root
from rigid.linear_algebra import cross, dot, times
from rigid.structural_zero import ZERO


@inline_kernel
def along(basis, i, x):
    """Return the component of a vector along direction i of the basis."""
    return basis[i, 0] * x[0] + basis[i, 1] * x[1] + basis[i, 2] * x[2]


@inline_kernel
def set_start_rotation(frame):
    """Compute cosine and sine of the angle at the start from those of half of it."""
    w, z = frame[W0], frame[Z0]
    frame[C0], frame[S0] = 1.0 - 2.0 * z * z, 2.0 * w * z


@internal_kernel
def load_state_in_plane(tables, state, work):
    """Copy the components of a state in the plane into the work arrays."""
    basis = tables.basis
    for s in range(work.frames.shape[0]):
        frame, f, half = work.frames[s], tables.frame[s], tables.half[s]
        q, r = state.quat[f], state.r[f]
        frame[W0] = half[0] * q[0] + half[1] * q[1] + half[2] * q[2] + half[3] * q[3]
        frame[Z0] = half[4] * q[0] + half[5] * q[1] + half[6] * q[2] + half[7] * q[3]
        set_start_rotation(frame)
        frame[RX], frame[RY] = along(basis, 0, r), along(basis, 1, r)
        if s == work.hinges.shape[0]:  # the ground has no rates
            frame[C1], frame[S1] = frame[C0], frame[S0]
            break
        n, v, spin, at = tables.normal[s], state.v[f], state.Omega[f], 6 * f
        acc = state.memory[at : at + 6]
        frame[VX], frame[VY] = along(basis, 0, v), along(basis, 1, v)
        frame[OM] = n[0] * spin[0] + n[1] * spin[1] + n[2] * spin[2]
        frame[AX], frame[AY] = along(basis, 0, acc), along(basis, 1, acc)
        frame[AOM] = basis[2, 0] * acc[3] + basis[2, 1] * acc[4] + basis[2, 2] * acc[5]
    constraint_forces_from_state(tables, state.lam, work.pull)


@internal_kernel
def store_state_in_plane(tables, state, work):
    """Write the planar components back into the state that they were taken from.

    They are written as a difference, because the state may have components out of the plane.
    """
    basis = tables.basis
    e, g, n = basis[0], basis[1], basis[2]
    for s in range(work.hinges.shape[0]):
        frame, f, half, normal = work.frames[s], tables.frame[s], tables.half[s], tables.normal[s]
        r, v, spin, at = state.r[f], state.v[f], state.Omega[f], 6 * f
        x, y, vx, vy = along(basis, 0, r), along(basis, 1, r), along(basis, 0, v), along(basis, 1, v)
        om = normal[0] * spin[0] + normal[1] * spin[1] + normal[2] * spin[2]
        for i in range(3):
            r[i] = (r[i] - (e[i] * x + g[i] * y)) + (e[i] * frame[RX] + g[i] * frame[RY])
            v[i] = (v[i] - (e[i] * vx + g[i] * vy)) + (e[i] * frame[VX] + g[i] * frame[VY])
            spin[i] = (spin[i] - normal[i] * om) + normal[i] * frame[OM]
            state.memory[at + i] = e[i] * frame[AX] + g[i] * frame[AY]
            state.memory[at + 3 + i] = n[i] * frame[AOM]
        for i in range(4):
            state.quat[f, i] = half[i] * frame[W0] + half[4 + i] * frame[Z0]
    constraint_forces_to_state(tables, state.lam, work.pull)


@inline_kernel
def length(x, y):
    """Return the length of a vector in the plane."""
    return root(x * x + y * y)


@internal_kernel
def begin_bodies(state, work, h, by, history):
    """Set the initial increments of Newton's method by (1) of `discretization.assembly.predictor`, whose factors are `by`.

    history: False if no means are stored.
    """
    memory, first, frames = state.memory, IN_SPACE * state.r.shape[0], work.hinges.shape[0]
    n = IN_PLANE * frames if history else 0
    for s in range(frames):
        frame, i = work.frames[s], first + IN_PLANE * s
        frame[DX] = h * predicted_number(memory, i, n, frame[VX], frame[AX], h, by)
        frame[DY] = h * predicted_number(memory, i + 1, n, frame[VY], frame[AY], h, by)
        # psi: the angle h times the angular velocity would differ by its third power over 12
        frame[PSI] = h * predicted_number(memory, i + 2, n, frame[OM], frame[AOM], h, by)


@internal_kernel
def begin_roundoff(tables, work, h):
    """Compute the round-off levels of the residuals of bodies; return the extent of the model, m."""
    extent = 0.0
    gravity = abs(h) * length(tables.gravity[0], tables.gravity[1])
    for s in range(work.frames.shape[0]):
        frame = work.frames[s]
        distance = root(frame[RX] * frame[RX] + frame[RY] * frame[RY] + tables.offset * tables.offset)
        frame[AWAY] = distance
        if s == work.hinges.shape[0]:
            break
        extent = most(extent, distance)
        force = EPS * tables.mass[s] * (4.0 * length(frame[VX], frame[VY]) + gravity)
        frame[N1] = force
        frame[N2] = 2.0 * EPS * tables.inertia[s] * abs(frame[OM]) + force * tables.gyration[s]
    return extent


@internal_kernel
def begin_step(tables, state, work, h, by, history):
    """Compute the quantities that all iterations of a step share, its initial increments and round-off levels.

    by, history: as in `begin_bodies`.
    """
    begin_bodies(state, work, h, by, history)
    extent = begin_roundoff(tables, work, h)
    begin_elements(tables, state, work, h)
    begin_joints(tables, work, h, extent)
    begin_hinges(tables, work)
    begin_springs(tables, state, work, h)


@internal_kernel
def raise_load_roundoff(tables, work, h, values):
    """Raise the round-off levels by the rounding of the loads."""
    for l in range(tables.load.shape[0]):
        frame, value = work.frames[tables.on[l]], values[tables.load[l]]
        size = EPS * abs(h) * norm(value)
        if tables.moment[l] == 0:
            frame[N1] += size
            size *= length(tables.at[l, 0], tables.at[l, 1])
        frame[N2] += size


@internal_kernel
def add_bodies(tables, work, h, tangent):
    """Compute residual and, if `tangent`, matrix of inertia, weight and hinges of kind HINGE at the present increments.

    The frames go from the roots to the leaves; their angles at the end of the step are written, too.
    """
    ground, gx, gy, rate = work.hinges.shape[0], h * tables.gravity[0], h * tables.gravity[1], 1.0 / h
    for s in range(ground - 1, -1, -1):
        frame, mass, J = work.frames[s], tables.mass[s], tables.inertia[s]
        q, dx, dy = frame[PSI], frame[DX], frame[DY]
        c1, s1, u = end_rotation(frame, q)
        frame[C1], frame[S1] = c1, s1
        fx, fy, torque, growth = 0.0 * q, 0.0 * q, 0.0 * q, 0.0 * q
        if tables.kind[s] == HINGE:
            next_, w, X = work.frames[tables.parent[s]], work.hinges[s], tables.lever[s]
            sign, lam = tables.sign[s], work.lam[tables.hinge[s]]
            pose = c1, s1, frame[RX], frame[RY], dx, dy
            fx, fy, torque, growth = evaluate_hinge(
                next_, w, X, (sign * lam[0], sign * lam[1]), pose, tangent
            )
        frame[R1] = (2.0 * mass * (dx * rate - frame[VX]) - mass * gx) + fx
        frame[R2] = (2.0 * mass * (dy * rate - frame[VY]) - mass * gy) + fy
        frame[R3] = 2.0 * J * (q * rate - frame[OM]) + torque
        if tangent:
            frame[D11] = frame[D22] = 2.0 * mass * rate
            frame[D33] = 2.0 * J * rate * (1.0 + u) + growth
            frame[D12] = frame[D21] = frame[D13] = frame[D23] = frame[D31] = frame[D32] = 0.0
    if tangent and tables.items.shape[0] + tables.beyond.shape[0] > 0:
        work.up[:] = 0.0
        work.down[:] = 0.0


@internal_kernel
def evaluate(tables, work, h, values, tangent):
    """Compute residual and, if `tangent`, matrix at the present increments; return 0, or 1 if an element rotated beyond pi."""
    add_bodies(tables, work, h, tangent)
    if add_elements(tables, work, h, tangent) != 0:
        return 1
    add_joints(tables, work, tangent)
    add_springs(tables, work, h, tangent)
    add_loads(tables, work, h, values, tangent)
    return 0


@internal_kernel
def add_loads(tables, work, h, values, tangent):
    """Add residual and, if `tangent`, matrix of all loads."""
    for l in range(tables.load.shape[0]):
        _add_load(tables, work, h, values, l, tangent)


@internal_kernel
def load_step(tables, work, values, l):
    """Return the mean force and torque of a load and their derivatives with respect to the angle at the end of the step.

    Six numbers: force (2), torque, derivative of the force (2), derivative of the torque.
    """
    s = tables.on[l]
    frame, value = work.frames[s], values[tables.load[l]]
    if tables.moment[l] != 0:
        n = tables.normal[s] if tables.following[l] != 0 else tables.basis[2]
        return 0.0, 0.0, n[0] * value[0] + n[1] * value[1] + n[2] * value[2], 0.0, 0.0, 0.0
    _, x1, x = at_both_ends(frame, tables.at[l])
    if tables.following[l] == 0:
        F = along(tables.basis, 0, value), along(tables.basis, 1, value), ZERO
        return F[0], F[1], cross(x, F)[2], 0.0, 0.0, -0.5 * dot(x1, F)
    _, F1, F = at_both_ends(frame, (along(tables.across[s], 0, value), along(tables.across[s], 1, value)))
    dF = times(0.5, cross((ZERO, ZERO, 1.0), F1))
    return F[0], F[1], cross(x, F)[2], dF[0], dF[1], cross(x, dF)[2] - 0.5 * dot(x1, F)


@internal_kernel
def _add_load(tables, work, h, values, l, tangent):
    """Add residual and, if `tangent`, matrix of load l."""
    frame = work.frames[tables.on[l]]
    fx, fy, torque, dx, dy, dt = load_step(tables, work, values, l)
    frame[R1] -= h * fx
    frame[R2] -= h * fy
    frame[R3] -= h * torque
    if tangent:
        frame[D13] -= h * dx
        frame[D23] -= h * dy
        frame[D33] -= h * dt
