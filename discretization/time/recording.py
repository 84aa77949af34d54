"""The compiled march with every so many states kept: what stands between two outputs is no Python."""

from __future__ import annotations

from discretization.time.em import march
from rigid.compilation import allocating_kernel


@allocating_kernel
def march_and_keep(
    system, numbering, hidden, state, work, before, substeps, load_values, max_iterations, kept, counts
):
    """`march` in as many equal parts as `counts` has rows; the state after each is put into `kept`, a state with an axis
    in front.

    load_values: of all steps; counts: (parts, N_COUNTS), those of `march` for each. Returns the first status that is
    not 0; what was kept before is right.
    """
    share = load_values.shape[0] // counts.shape[0]
    for k in range(counts.shape[0]):
        values = load_values[k * share : (k + 1) * share]
        status = march(
            system, numbering, hidden, state, work, before, substeps, values, max_iterations, counts[k]
        )
        if status != 0:
            return status
        kept.r[k] = state.r
        kept.quat[k] = state.quat
        kept.v[k] = state.v
        kept.Omega[k] = state.Omega
        kept.lam[k] = state.lam
        kept.angle[k] = state.angle
        kept.acc[k] = state.acc
        kept.totals[k] = state.totals
    return 0
