"""The compiled march with every so many states kept: what stands between two outputs is no Python."""

from __future__ import annotations

from discretization.assembly.workspace import copy
from discretization.time.em import Kernels, march
from rigid.compilation.decorators import inner_kernel, released_allocating_kernel


@inner_kernel
def keep(state, kept, k):
    """The state as row k."""
    for f in range(state.r.shape[0]):
        copy(state.r[f], kept.r[k, f])
        copy(state.quat[f], kept.quat[k, f])
        copy(state.v[f], kept.v[k, f])
        copy(state.Omega[f], kept.Omega[k, f])
    copy(state.lam, kept.lam[k])
    copy(state.own, kept.own[k])
    copy(state.memory, kept.memory[k])
    copy(state.totals, kept.totals[k])


@released_allocating_kernel
def march_and_keep(equations, rest, advancing, before, substeps, load_values, max_iterations, kept, counts):
    """`march` in as many equal parts as `counts` has rows; the state after each is put into `kept`, a state with an axis
    in front.

    equations, rest: of `Kernels`; before: a state for scratch; load_values: of all steps; counts: (parts, N_COUNTS), those of
    `march` for each. Returns the first status that is not 0; what was kept before is right.
    """
    share = load_values.shape[0] // counts.shape[0]
    kernels, hidden, plain = Kernels(equations, rest, advancing.beyond), advancing.hidden, advancing.plain
    for k in range(counts.shape[0]):
        values = load_values[k * share : (k + 1) * share]
        status = march(kernels, advancing, hidden, plain, before, substeps, values, max_iterations, counts[k])
        if status != 0:
            return status
        keep(advancing.state, kept, k)
    return 0
