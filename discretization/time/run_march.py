"""The march of `em` for eight runs of a model at once, side by side in lanes: each run to the bit what it is alone."""

from __future__ import annotations

from discretization.assembly.run_elements import (
    begin_elements_of_runs,
    elements_of_runs,
    put_end_strains_of_runs,
)
from discretization.assembly.run_frames import (
    begin_frames,
    clear_runs,
    commit_runs,
    correct_ends_of_runs,
    inertia_of_runs,
    move_runs,
    uncorrect_runs,
)
from discretization.assembly.run_joints import (
    account_runs,
    add_joints,
    add_loads_of_runs,
    begin_joints,
    correct_joints,
    raise_noise,
)
from discretization.assembly.run_lanes import load3_at, store3_at
from discretization.assembly.workspace import AT_NOISE
from discretization.linear.run_blocks import factor_runs, solve_runs
from discretization.time.em import FACTORISATIONS, ITERATIONS, MOST_ITERATIONS, SOLVES, STEPS
from discretization.time.newton import _NEGLIGIBLE, _REUSE, _SAFE, MAX_TURN, STALLED
from rigid.compilation.decorators import flat_kernel, inner_kernel, released_kernel
from rigid.kinematics.rotations import inverse_tangent
from rigid.lanes import WIDTH, larger, load, store, where_less
from rigid.linear_algebra import apply, plus

# what a run of the group is at in a step
OUT, DONE, FRESH, AGAIN, RESTS = range(5)


@inner_kernel
def some_go_on(own):
    """Whether a run has not left."""
    left = 0.0
    for run in range(WIDTH):
        left += own.left[run]
    return left < WIDTH


@flat_kernel
def _keep(x, kept, part):
    for i in range(x.size // WIDTH):
        store(load(x, i * WIDTH), kept, part * x.size + i * WIDTH)


@inner_kernel
def end_step(own, kept, counts, part, share):
    """Count the step of all that have not left; keep the states of all where a part of so many steps is done."""
    ended = False
    for run in range(WIDTH):
        if own.left[run] == 0.0:
            count = counts[run, part]
            count[SOLVES] += 1
            count[ITERATIONS] += own.iteration[run]
            count[MOST_ITERATIONS] = max(count[MOST_ITERATIONS], own.iteration[run])
            count[FACTORISATIONS] += own.factored[run]
            count[STEPS] += 1
            ended = ended or count[STEPS] == share
    if ended:
        state = own.state
        _keep(state.r, kept.r, part)
        _keep(state.quat, kept.quat, part)
        _keep(state.v, kept.v, part)
        _keep(state.Omega, kept.Omega, part)
        _keep(state.lam, kept.lam, part)
        _keep(state.memory, kept.memory, part)
        _keep(state.totals, kept.totals, part)


@inner_kernel
def levels_of_runs(own, size):
    """Largest residuals in units of their round-off levels into own.level; runs where one is not finite leave."""
    worst, gone = 0.0 * load(own.left, 0), load(own.left, 0)
    for i in range(size):
        at = i * WIDTH
        r = load(own.residual, at)
        ratio = larger(r, r) / (load(own.noise, at) + 1e-300)
        gone = where_less(ratio, 1e300, gone, 1.0)
        worst = where_less(worst, ratio, ratio, worst)
    store(worst, own.level, 0)
    store(gone, own.left, 0)


@flat_kernel
def either(takes, x, y):
    """Vector x of the runs that `takes` says, y of the others."""
    return (
        where_less(0.5, takes, x[0], y[0]),
        where_less(0.5, takes, x[1], y[1]),
        where_less(0.5, takes, x[2], y[2]),
    )


@inner_kernel
def correct_runs(own):
    """Corrections in own.rhs, of the runs that own.takes says; runs that a frame turns too far in leave."""
    takes, gone = load(own.takes, 0), load(own.left, 0)
    far = 0.0 * takes
    for f in range(own.block.shape[0]):
        if own.block[f] >= 0:
            at = own.place[f]
            eta = load3_at(own.rhs, at + 3)
            turn = eta[0] * eta[0] + eta[1] * eta[1] + eta[2] * eta[2]
            far = where_less(far, turn, turn, far)
            moved, psi = load3_at(own.dr, 3 * f), load3_at(own.psi, 3 * f)
            store3_at(either(takes, plus(load3_at(own.rhs, at), moved), moved), own.dr, 3 * f)
            store3_at(either(takes, plus(apply(inverse_tangent(psi), eta), psi), psi), own.psi, 3 * f)
    beyond = where_less(MAX_TURN * MAX_TURN, far, takes, 0.0)
    store(where_less(0.5, beyond, 1.0, gone), own.left, 0)


@inner_kernel
def decide(solved, own, run, max_iterations):
    """What a run does next with its residual."""
    iteration, level, before = own.iteration[run], own.level[run], own.before[run]
    if level <= (AT_NOISE if iteration == 0 else solved):  # as in `discretization.time.newton`
        if level <= _NEGLIGIBLE:
            return RESTS
        return DONE
    stalled = iteration > 2 and level > STALLED * before
    if stalled and own.fresh[run] and level <= _SAFE:
        return RESTS
    if iteration == max_iterations:
        own.left[run] = 1.0
        return OUT
    if iteration == 0 or level > _REUSE * before:
        return FRESH
    return AGAIN


@inner_kernel
def rests(own, run):
    """Whether nothing moves in this step."""
    for f in range(own.dr.shape[0]):
        for i in range(3):
            if own.dr[f, i, run] != 0.0 or own.psi[f, i, run] != 0.0:
                return False
    return True


@inner_kernel
def newton_runs(solved, own, h, max_iterations):
    """Solve the step of all runs that have not left; own.last receives their last corrections."""
    size = own.size
    for run in range(WIDTH):
        own.at[run] = FRESH if own.left[run] == 0.0 else OUT
        own.looked[run], own.iteration[run], own.fresh[run], own.before[run] = 0, 0, 0, 1e300
        own.factored[run] = 0
    move_runs(own)
    tangent = True
    while True:
        clear_runs(own, tangent)
        inertia_of_runs(own, h, tangent)
        elements_of_runs(own, h, tangent)
        add_joints(own, tangent)
        add_loads_of_runs(own, h, tangent)
        some = False
        for run in range(WIDTH):
            noisy = own.at[run] >= FRESH and own.looked[run] == 0 and own.iteration[run] < 2
            own.takes[run], some = noisy, some or noisy
        if some:
            raise_noise(own)
        levels_of_runs(own, size)
        again, fresh = False, False
        for run in range(WIDTH):
            own.takes[run] = 0.0
            if own.left[run] != 0.0:
                own.at[run] = OUT
            if own.at[run] < FRESH:
                continue
            if own.looked[run] == 0:
                own.at[run], own.looked[run] = decide(solved, own, run, max_iterations), 1
                if own.at[run] == DONE and own.iteration[run] == 0:
                    if rests(own, run):
                        own.at[run] = RESTS
                    else:
                        own.factored[run] += 1
            if own.at[run] == RESTS:
                for i in range(size):
                    own.last[i, run] = 0.0
                own.at[run] = OUT
            again = again or own.at[run] == AGAIN or own.at[run] == DONE
            fresh = fresh or own.at[run] == FRESH
        if not again and not fresh:
            return
        if not tangent and not again:
            tangent = True
            continue
        if tangent:
            factor_runs(own.own, own.below, own.beside, own.left)
        for i in range(size):
            store(-load(own.residual, i * WIDTH), own.rhs, i * WIDTH)
        solve_runs(own.own, own.below, own.beside, own.rhs)
        for run in range(WIDTH):
            at = own.at[run]
            if tangent and own.left[run] != 0.0:
                own.at[run] = OUT
                continue
            if at == DONE:
                for i in range(size):
                    own.last[i, run] = own.rhs[i, run]
                own.at[run] = OUT
            elif at == AGAIN or (at == FRESH and tangent):
                own.takes[run] = 1.0
                own.fresh[run] = at == FRESH
                own.factored[run] += at == FRESH
                own.before[run] = own.level[run]
                own.looked[run] = 0
                own.iteration[run] += 1
                own.at[run] = FRESH
        correct_joints(own)
        correct_runs(own)
        move_runs(own)
        tangent = False


@released_kernel
def march_runs(own, solved, h, values, max_iterations, kept, counts):
    """Steps of length h of eight runs from own.state until the last one of `values`, or as far as each comes with the others.

    solved: residual/noise that counts as solved; values (steps, loads, 3, 8); kept: states with an axis in front and one behind;
    counts (8, parts, N_COUNTS), zeros. own.left: on entry those that do not go along.
    """
    share = values.shape[0] // counts.shape[1]
    for k in range(values.shape[0]):
        if not some_go_on(own):
            return
        for l in range(values.shape[1]):
            store3_at(load3_at(values, 3 * (k * values.shape[1] + l)), own.loads.value, 3 * l)
        begin_frames(own, h)
        begin_elements_of_runs(own, h)
        begin_joints(own, h)
        newton_runs(solved, own, h, max_iterations)
        if own.viscous:
            correct_ends_of_runs(own)
            put_end_strains_of_runs(own)
        account_runs(own, h)
        if own.viscous:
            uncorrect_runs(own)
        commit_runs(own, h)
        end_step(own, kept, counts, k // share, share)
