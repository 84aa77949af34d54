"""`em-ggl`: the Cayley energy-momentum step with joints kept at position and velocity level.

    m vbar = m dr/h - D_v A,   J (Omega0 + Omega1)/2 = J R0^T psi/h - D_Omega A,   A = gam . g_v            (1)
    balance of momenta of `em`  + h D_r A, + h D_psi A                                                      (2)
    g(1) = 0,   g_v(1) = 0                                                                                  (3)

GGL's principle on frames: `discretization.hidden_assembly` has the equations, `rigid.hidden_constraints` g_v and D.

Order 2, symmetric, implicit. Conserves: all that `em` does, and G v = 0 at the ends of the steps. Energy: (1) and (2)
give the change of T + V as -gam . (g_v(1) - g_v(0)), which is zero; momenta: D of a common rigid motion is zero. The
velocities at the start must satisfy the joints. Nothing is reversed, so that compositions need no halves. Shared
("mean", "consistent") masses of rods are taken as they are.

Without joints it is `em`.
"""

from __future__ import annotations

import numpy as np

from discretization.assembly import (
    add_constraint_noise,
    add_load_noise,
    assemble,
    begin_step,
    move,
    rotation_of,
)
from discretization.hidden_assembly import (
    add_hidden,
    add_hidden_noise,
    begin_hidden_step,
    correct_hidden,
    velocities_after,
)
from discretization.time.em import (
    FACTORISATIONS,
    ITERATIONS,
    MOST_ITERATIONS,
    SOLVES,
    STEPS,
    account,
    copy_state,
    predict,
)
from discretization.time.newton import (
    AT_NOISE,
    CONVERGED,
    FOLDED,
    NOT_CONVERGED,
    NOT_FINITE,
    REUSE,
    SAFE,
    SINGULAR,
    correct,
    factor,
    matrix_is_finite,
    residual_over_noise,
    solve,
)
from rigid.compilation import allocating_kernel, kernel
from rigid.linear_algebra import apply, load3, minus, store3, times
from rigid.system import COINCIDENT

_STALLED = 0.9  # contraction that is none


@kernel
def _equations(system, numbering, hidden, state, work, h, load_values, tangent):
    """Residual and matrix of (1)-(3); 0 or the status of a failed element."""
    status = assemble(system, numbering, state, work, h, load_values, tangent)
    if status == 0:
        add_hidden(system, numbering, hidden, state, work, h, tangent)
    return status


@allocating_kernel
def newton_hidden(system, numbering, hidden, state, work, h, load_values, max_iterations, count):
    """`newton` for (1)-(3), from the present dr, psi, lam, W, gam."""
    move(system, state, work)
    fresh = False
    before = 1e300
    for iteration in range(max_iterations + 1):
        tangent = iteration == 0
        if _equations(system, numbering, hidden, state, work, h, load_values, tangent) != 0:
            return FOLDED
        if iteration < 2:
            add_constraint_noise(system, numbering, work)
            add_hidden_noise(system, numbering, hidden, work)
        level = residual_over_noise(numbering, work)
        if level < 0.0:
            return NOT_FINITE
        if level <= AT_NOISE:
            return CONVERGED
        # not as early as in `newton`: where frames turn far in a step corrections shrink by a factor only
        stalled = iteration > 2 and level > _STALLED * before
        if stalled and fresh and level <= SAFE:
            return CONVERGED
        if iteration == max_iterations:
            return NOT_CONVERGED
        if tangent or level > REUSE * before:
            if not tangent:
                _equations(system, numbering, hidden, state, work, h, load_values, True)
            if factor(numbering, work) != 0:
                return SINGULAR if matrix_is_finite(numbering, work) else NOT_FINITE
            count[1] += 1
            fresh = True
        else:
            fresh = False
        before = level
        for i in range(numbering.size):
            work.rhs[i] = -work.residual[i]
        solve(numbering, work)
        share = correct(system, numbering, work)
        correct_hidden(system, numbering, hidden, work, share)
        move(system, state, work)
        count[0] += 1
    return NOT_CONVERGED


@kernel
def _commit(system, numbering, hidden, state, work, h):
    """Take the end of the step over into the state: velocities (1), multipliers, accelerations."""
    for f in range(system.frames.mass.shape[0]):
        if system.frames.fixed[f] != 0:
            continue
        R0, R1 = rotation_of(work.R0, f), rotation_of(work.R1, f)
        v0, Omega0 = load3(state.v[f]), load3(state.Omega[f])
        v1, Omega1 = velocities_after(state, work, hidden, h, f)
        store3(times(1.0 / h, minus(v1, v0)), state.acc[f, 0:3])
        store3(times(1.0 / h, minus(apply(R1, Omega1), apply(R0, Omega0))), state.acc[f, 3:6])
        store3(v1, state.v[f])
        store3(Omega1, state.Omega[f])
        store3(load3(work.r1[f]), state.r[f])
        for i in range(4):
            state.quat[f, i] = work.q1[f, i]
    for c in range(system.constraints.kind.shape[0]):
        first = numbering.lam[c]
        for i in range(3 if system.constraints.kind[c] == COINCIDENT else 1):
            state.lam[first + i] = work.lam[first + i] * work.scale[c] / h


@allocating_kernel
def march_hidden(system, numbering, hidden, state, work, kept, substeps, load_values, max_iterations, counts):
    """`march` of `em`, for this step; hidden: its unknowns, for scratch."""
    count = np.zeros(2, dtype=np.int64)
    n_substeps = substeps.shape[0]
    counts[:] = 0
    for k in range(load_values.shape[0]):
        h = substeps[k % n_substeps]
        if n_substeps > 1 and k % n_substeps == 0:
            copy_state(state, kept)
        count[0] = 0
        begin_step(system, numbering, state, work, h)
        add_load_noise(system, numbering, work, h, load_values[k])
        begin_hidden_step(system, numbering, hidden, state, work, h)
        predict(system, numbering, state, work, h)
        status = newton_hidden(
            system, numbering, hidden, state, work, h, load_values[k], max_iterations, count
        )
        counts[SOLVES] += 1
        counts[ITERATIONS] += count[0]
        counts[MOST_ITERATIONS] = max(counts[MOST_ITERATIONS], count[0])
        counts[FACTORISATIONS] = count[1]
        if status != 0:
            if k % n_substeps != 0:
                copy_state(kept, state)
            return status
        if work.accounts:
            account(system, state, work, h, load_values[k])
        _commit(system, numbering, hidden, state, work, h)
        counts[STEPS] = (k + 1) // n_substeps
    return 0
