"""Frames of eight runs side by side (`discretization.assembly.run_lanes`): start and end of a step of `em`, inertia."""

from __future__ import annotations

from discretization.assembly.frame_formulas import (
    accelerations,
    balance,
    changes,
    predicted,
    rounding,
    spin_at_end,
    tangent_over_angle,
    to_a_place,
    turned_steadily,
    turning_inertia,
)
from discretization.assembly.frame_lanes import MOST_TURNED
from discretization.assembly.run_lanes import (
    BLOCK,
    add3_at,
    add_part,
    load3_at,
    load4_at,
    load9_at,
    store3_at,
    store9_at,
)
from discretization.linear.block_band import SIZE
from rigid.compilation.decorators import flat_kernel, inner_kernel
from rigid.kinematics.rotations import cayley_turn, inverse_tangent, rotation_matrix
from rigid.lanes import WIDTH, load, root, store, where_less
from rigid.linear_algebra import apply, apply_transposed, dot, minus, plus, product, times


@inner_kernel
def begin_frames(own, h):
    """Rotations, noise levels and extents of runs, and their predictions."""
    gravity = load3_at(own.gravity, 0)
    weight = root(dot(gravity, gravity))
    extent = 0.0 * weight
    for i in range(own.noise.shape[0]):
        store(0.0 * weight, own.noise, i * WIDTH)
    for f in range(own.block.shape[0]):
        R0, r, v, Omega = (
            rotation_matrix(load4_at(own.q0, 4 * f)),
            load3_at(own.r0, 3 * f),
            load3_at(own.v0, 3 * f),
            load3_at(own.Omega0, 3 * f),
        )
        store9_at(R0, own.R0, 9 * f)
        far = root(dot(r, r))
        extent = where_less(extent, far, far, extent)
        if own.block[f] < 0:
            continue
        at, mass, J = own.place[f], load(own.mass, f * WIDTH), load9_at(own.inertia, 9 * f)
        force, moment = rounding(mass, J, v, apply(J, Omega), weight, h)
        store3_at((force, force, force), own.noise, at)
        store3_at((moment, moment, moment), own.noise, at + 3)
        predict_frame(own, f, R0, False, h)
    store(extent, own.extent, 0)


@inner_kernel
def predict_frame(own, f, R0, placed, h):
    """The motion of a frame with its accelerations; placed: as of `predict_frames`."""
    v, Omega = load3_at(own.v0, 3 * f), load3_at(own.Omega0, 3 * f)
    a, alpha = load3_at(own.rate, 6 * f), load3_at(own.rate, 6 * f + 3)
    if placed:
        dr, psi = predicted(R0, v, Omega, a, alpha, h)
        dr = to_a_place(load3_at(own.r0, 3 * f), dr)
    else:
        dr, turn, z = turned_steadily(R0, v, Omega, a, alpha, h)
        psi = times(where_less(z, MOST_TURNED, tangent_over_angle(z), 1.0), turn)
    store3_at(dr, own.dr, 3 * f)
    store3_at(psi, own.psi, 3 * f)


@flat_kernel
def _store4_at(q, x, k):
    at = k * WIDTH
    store(q[0], x, at)
    store(q[1], x, at + WIDTH)
    store(q[2], x, at + 2 * WIDTH)
    store(q[3], x, at + 3 * WIDTH)


@inner_kernel
def move_runs(own):
    """r1, q1, R1 of the increments."""
    for f in range(own.block.shape[0]):
        store3_at(plus(load3_at(own.r0, 3 * f), load3_at(own.dr, 3 * f)), own.r1, 3 * f)
        q = cayley_turn(load3_at(own.psi, 3 * f), load4_at(own.q0, 4 * f))
        _store4_at(q, own.q1, 4 * f)
        store9_at(rotation_matrix(q), own.R1, 9 * f)


@inner_kernel
def correct_ends_of_runs(own):
    """As of `discretization.time.em`."""
    count = own.block.shape[0]
    for f in range(count):
        dr, psi = load3_at(own.dr, 3 * f), load3_at(own.psi, 3 * f)
        store3_at(dr, own.solution, 3 * f)
        store3_at(psi, own.solution, 3 * (count + f))
        if own.block[f] >= 0:
            at = own.place[f]
            turn = apply(inverse_tangent(psi), load3_at(own.last, at + 3))
            store3_at(plus(dr, load3_at(own.last, at)), own.dr, 3 * f)
            store3_at(plus(psi, turn), own.psi, 3 * f)
    move_runs(own)


@inner_kernel
def uncorrect_runs(own):
    """dr and psi as they were solved for."""
    count = own.block.shape[0]
    for f in range(count):
        store3_at(load3_at(own.solution, 3 * f), own.dr, 3 * f)
        store3_at(load3_at(own.solution, 3 * (count + f)), own.psi, 3 * f)


@inner_kernel
def clear_runs(own, tangent):
    """Residual and, on demand, matrix."""
    none = 0.0 * load(own.gravity, 0)
    for i in range(own.residual.shape[0]):
        store(none, own.residual, i * WIDTH)
    if tangent:
        for k in range(own.cleared.shape[0]):
            for i in range(own.cleared[k], own.cleared[k] + BLOCK):
                store(none, own.matrix, i * WIDTH)


@inner_kernel
def inertia_of_runs(own, h, tangent):
    """As of `discretization.assembly.step_equations`."""
    gravity = load3_at(own.gravity, 0)
    for f in range(own.block.shape[0]):
        if own.block[f] < 0:
            continue
        at, mass, J = own.place[f], load(own.mass, f * WIDTH), load9_at(own.inertia, 9 * f)
        R0, R1, psi = load9_at(own.R0, 9 * f), load9_at(own.R1, 9 * f), load3_at(own.psi, 3 * f)
        v0, Omega0, dr = load3_at(own.v0, 3 * f), load3_at(own.Omega0, 3 * f), load3_at(own.dr, 3 * f)
        L1 = apply(R1, apply(J, spin_at_end(R0, Omega0, psi, h)))
        add3_at(balance(mass, v0, dr, gravity, h), own.residual, at)
        add3_at(minus(L1, apply(R0, apply(J, Omega0))), own.residual, at + 3)
        if tangent:
            base = own.block[f] * BLOCK
            for j in range(3):
                place = (base + j + j * SIZE) * WIDTH
                store(load(own.own, place) + 2.0 * mass / h, own.own, place)
            add_part(own.own, base, 3, 3, 1.0, turning_inertia(product(R1, J), R0, R1, psi, L1, h))


@inner_kernel
def commit_runs(own, h):
    """As of `discretization.time.em`, what becomes of runs that have left is not looked at."""
    for f in range(own.block.shape[0]):
        if own.block[f] < 0:
            continue
        at, R0, psi = own.place[f], load9_at(own.R0, 9 * f), load3_at(own.psi, 3 * f)
        more, turn = load3_at(own.last, at), apply(inverse_tangent(psi), load3_at(own.last, at + 3))
        rate, spin = times(1.0 / h, load3_at(own.dr, 3 * f)), times(1.0 / h, apply_transposed(R0, psi))
        faster, quicker = more, apply_transposed(R0, turn)
        v0, Omega0 = load3_at(own.v0, 3 * f), load3_at(own.Omega0, 3 * f)
        dv, dOmega = changes(rate, spin, v0, Omega0, faster, quicker, h)
        a, alpha = accelerations(R0, load9_at(own.R1, 9 * f), dv, dOmega, h)
        r1 = plus(load3_at(own.r0, 3 * f), plus(load3_at(own.dr, 3 * f), more))
        q1 = cayley_turn(plus(psi, turn), load4_at(own.q0, 4 * f))
        store3_at(a, own.rate, 6 * f)
        store3_at(alpha, own.rate, 6 * f + 3)
        store3_at(plus(v0, dv), own.v0, 3 * f)
        store3_at(plus(Omega0, dOmega), own.Omega0, 3 * f)
        store3_at(r1, own.r0, 3 * f)
        _store4_at(q1, own.q0, 4 * f)
