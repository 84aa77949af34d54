"""Common kernels of the marches of eight runs of a model at once in SIMD lanes; each run is bit-identical to the run alone."""

from __future__ import annotations

from discretization.time.em import FACTORISATIONS, ITERATIONS, MOST_ITERATIONS, SOLVES, STEPS
from discretization.time.newton import MAX_ROTATION
from rigid.compilation.decorators import always_inline_kernel, internal_kernel
from rigid.kinematics.rotations import inverse_tangent
from rigid.lane_vectors import load3_at, store3_at
from rigid.lanes import WIDTH, load, store, where_less
from rigid.linear_algebra import apply, plus

# phase of a run in a step: finished or left; Newton iteration with new tangents; with the tangents of the last one
OUT, FRESH, AGAIN = range(3)


@internal_kernel
def any_run_active(batch):
    """Return whether any run has not left the march."""
    inactive = 0.0
    for run in range(WIDTH):
        inactive += batch.left[run]
    return inactive < WIDTH


@always_inline_kernel
def _store(x, stored, part):
    for i in range(x.size // WIDTH):
        store(load(x, i * WIDTH), stored, part * x.size + i * WIDTH)


@internal_kernel
def end_step(batch, stored, counts, part, steps):
    """Count the step of all runs that have not left; store the states of all runs at the end of each part of `steps` steps."""
    ended = False
    for run in range(WIDTH):
        if batch.left[run] == 0.0:
            count = counts[run, part]
            count[SOLVES] += 1
            count[ITERATIONS] += batch.iteration[run]
            count[MOST_ITERATIONS] = max(count[MOST_ITERATIONS], batch.iteration[run])
            count[FACTORISATIONS] += batch.factored[run]
            count[STEPS] += 1
            ended = ended or count[STEPS] == steps
    if ended:
        state = batch.state
        _store(state.r, stored.r, part)
        _store(state.quat, stored.quat, part)
        _store(state.v, stored.v, part)
        _store(state.Omega, stored.Omega, part)
        _store(state.lam, stored.lam, part)
        _store(state.memory, stored.memory, part)
        _store(state.totals, stored.totals, part)


@always_inline_kernel
def select_vector(takes, x, y):
    """Return vector x for the runs that `takes` selects, y for the others."""
    return (
        where_less(0.5, takes, x[0], y[0]),
        where_less(0.5, takes, x[1], y[1]),
        where_less(0.5, takes, x[2], y[2]),
    )


@internal_kernel
def correct_runs(batch):
    """Add the corrections in batch.rhs for the runs that batch.takes selects.

    A run with a frame that is rotated too far leaves the march.
    """
    takes, inactive = load(batch.takes, 0), load(batch.left, 0)
    far = 0.0 * takes
    for f in range(batch.block.shape[0]):
        if batch.block[f] >= 0:
            at = batch.place[f]
            eta = load3_at(batch.rhs, at + 3)
            rotation = eta[0] * eta[0] + eta[1] * eta[1] + eta[2] * eta[2]
            far = where_less(far, rotation, rotation, far)
            moved, psi = load3_at(batch.dr, 3 * f), load3_at(batch.psi, 3 * f)
            store3_at(select_vector(takes, plus(load3_at(batch.rhs, at), moved), moved), batch.dr, 3 * f)
            store3_at(
                select_vector(takes, plus(apply(inverse_tangent(psi), eta), psi), psi), batch.psi, 3 * f
            )
    leaves = where_less(MAX_ROTATION * MAX_ROTATION, far, takes, 0.0)
    store(where_less(0.5, leaves, 1.0, inactive), batch.left, 0)


@internal_kernel
def is_at_rest(batch, run):
    """Return whether nothing moves in this step of a run."""
    for f in range(batch.dr.shape[0]):
        for i in range(3):
            if batch.dr[f, i, run] != 0.0 or batch.psi[f, i, run] != 0.0:
                return False
    return True
