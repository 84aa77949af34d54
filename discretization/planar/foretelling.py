"""Where Newton's method begins in the plane, by (1) of `discretization.assembly.extrapolation` for three numbers a frame.

Of accelerations, or of mean velocities where substeps of a composition go to and fro. Differences of x, y and the turn stand
frame by frame, in the order of elimination, behind the accelerations in space: those of a step that follows another in the plane
are changed where they are.
"""

from discretization.assembly.extrapolation import (
    all_larger,
    at_next,
    both_means,
    factors_of,
    middle_of,
    over_distances_of,
    put_nodes,
    renewed,
)
from discretization.memory import WIDTH as IN_SPACE
from discretization.planar.arrays import AOM, AX, AY, IN_PLANE, OM, VX, VY
from rigid.compilation.decorators import inner_kernel, small_kernel
from rigid.lanes import WIDTH, largest, load, store


@small_kernel
def first_difference(memory, frames):
    """Where they begin, with so many frames in space; 0: none are remembered."""
    first = IN_SPACE * frames
    return first if memory.shape[0] > first else 0


@inner_kernel
def last_rates(work, t):
    """What (1) of `extrapolation` begins with: accelerations of the last step or, where t is not zero, its mean velocities."""
    for s in range(work.hinges.shape[0]):
        own, i = work.frames[s], IN_PLANE * s
        x, y, turn = own[AX], own[AY], own[AOM]
        if t != 0.0:
            x, y, turn = own[VX] + t * x, own[VY] + t * y, own[OM] + t * turn
        work.foretold[i], work.foretold[i + 1], work.foretold[i + 2] = x, y, turn


@inner_kernel
def foresee(x, memory, first, count, by):
    """The same at the middle of the next step, eight numbers at a time: count of them, differences from `first` on."""
    for i in range(0, count, WIDTH):
        j = first + i
        D = load(memory, j), load(memory, j + count), load(memory, j + 2 * count)
        store(at_next(load(x, i), D, by), x, i)


@small_kernel
def mean_velocities(own, s, foretold, t, half):
    """Of a frame in the next step; foretold: of all, `foresee`; half: of the step."""
    i = IN_PLANE * s
    x, y, turn = foretold[i], foretold[i + 1], foretold[i + 2]
    if t != 0.0:
        return x, y, turn
    return own[VX] + half * x, own[VY] + half * y, own[OM] + half * turn


@small_kernel
def put_rates(own, s, rates, work, t, means, h):
    """Accelerations of a step that has ended, of a frame, and what there are differences of: these and those before; or mean
    velocities.
    """
    before, i = (own[AX], own[AY], own[AOM]), IN_PLANE * s
    own[AX], own[AY], own[AOM] = rates
    if not means:
        x, y, turn = (rates[0], before[0]), (rates[1], before[1]), (rates[2], before[2])
    else:
        x = both_means(own[VX], rates[0], before[0], t, h)
        y = both_means(own[VY], rates[1], before[1], t, h)
        turn = both_means(own[OM], rates[2], before[2], t, h)
    work.latest[i], work.latest[i + 1], work.latest[i + 2] = x[0], y[0], turn[0]
    work.foretold[i], work.foretold[i + 1], work.foretold[i + 2] = x[1], y[1], turn[1]


@inner_kernel
def renew(now, before, memory, first, count, by):
    """Differences with `now` behind `before`, eight numbers at a time; the largest of each lane."""
    none = 0.0 * load(now, 0)
    e = none, none, none, none
    for i in range(0, count, WIDTH):
        j = first + i
        old = load(memory, j), load(memory, j + count), load(memory, j + 2 * count)
        D = renewed(load(now, i), load(before, i), old, by)
        store(D[0], memory, j)
        store(D[1], memory, j + count)
        store(D[2], memory, j + 2 * count)
        e = all_larger(e, D)
    return e


@inner_kernel
def foretell(state, work, means, h):
    """Rates of the next step into work.foretold; means: whether they are mean velocities. `middle_of` the last step, else 0."""
    memory, t = state.memory, 0.0
    first = first_difference(memory, state.r.shape[0])
    if first > 0 and means:
        t = middle_of(memory)
    last_rates(work, t)
    if first > 0:
        foresee(work.foretold, memory, first, work.foretold.shape[0], factors_of(memory, h, means))
    return t


@inner_kernel
def last_middle(state, means):
    """As `foretell` says."""
    return middle_of(state.memory) if means and first_difference(state.memory, state.r.shape[0]) > 0 else 0.0


@inner_kernel
def remember(state, work, means, h):
    """The differences with the step that has ended."""
    memory = state.memory
    first = first_difference(memory, state.r.shape[0])
    if first > 0:
        by = over_distances_of(memory, h, means)
        e = renew(work.latest, work.foretold, memory, first, work.foretold.shape[0], by)
        put_nodes(memory, h, means, by, (largest(e[0]), largest(e[1]), largest(e[2]), largest(e[3])))
