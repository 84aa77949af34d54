"""Predict where Newton's method of `em` starts: extrapolate accelerations and multipliers of the last steps to the next one.

With D_j the divided differences of what is known at the middles t_1, t_2 ... of the last steps, the latest first, a polynomial
through k of them is

    x(t) = D_0 + (t - t_1) D_1 + ... + (t - t_1) ... (t - t_{k-1}) D_{k-1}                                       (1)

which misses x at t by about (t - t_1) ... (t - t_k) D_k (Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I,
III.5). The predictor uses the k, at most six, with the smallest estimated error of the accelerations: six if the motion is
smooth, one if stiff modes oscillate or something starts suddenly.
D_0 is `acc` of `State.memory`; for multipliers it is `State.lam`. The memory stores `differences` after `acc`, and then `nodes`:
the largest numbers in D_1 to D_6, and the times t_1 to t_6, s from the end of the last step on.

Multipliers need no prediction if joint forces follow from the motion (`discretization.trees.elimination`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discretization.assembly.mean_velocities import weights_of
from discretization.assembly.workspace import copy
from discretization.memory import DIFFERENCES, MEANS, NODES, WIDTH
from discretization.state_shapes import Sizes
from rigid.compilation.decorators import inner_kernel, small_kernel
from rigid.lane_arrays import room
from rigid.lanes import WIDTH as LANES
from rigid.lanes import choose, largest, load, most, store
from rigid.references import by_reference
from rigid.system import Floats

UNKNOWN = 1e300
NONE = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0


@by_reference
class Foreseen(NamedTuple):
    """Predicted values of the next step, and scratch arrays; for eight runs each number is one per lane."""

    rates: Floats  # (6 n,) predicted accelerations
    lam: Floats  # (m,) predicted multipliers
    before: Floats  # (m,) multipliers of the last step
    terms: Floats  # (6,) scratch
    velocities: Floats  # (6 n,) (v, spatial angular velocity) of some frames in substeps, else (0,)
    weights: Floats  # (k, 8) weights of `mean_velocities`; (0, 8) if steps are not composed


def foreseen_of(sizes: Sizes, fractions: Floats) -> Foreseen:
    """Allocate the arrays of one run; `fractions`: substep lengths of a composition whose mean velocities are remembered."""
    m, n = sizes.multipliers, WIDTH * sizes.frames
    weights = weights_of(fractions) if sizes.memory.means else np.zeros((0, MEANS))
    return Foreseen(
        np.zeros(n), np.zeros(m), np.zeros(m), np.zeros(6), np.zeros(n * (len(weights) > 0)), weights
    )


def foreseen_of_runs(sizes: Sizes) -> Foreseen:
    """Allocate the arrays of eight runs in SIMD lanes."""
    m = sizes.multipliers
    return Foreseen(room(WIDTH * sizes.frames), room(m), room(m), room(6), room(0), np.zeros((0, MEANS)))


@small_kernel
def _seen_from(t, node):
    """Return the time of a node measured from t, s; 0 if there is no such node."""
    return node - t if node != 0.0 else 0.0


@small_kernel
def distances(nodes, h):
    """Return the times from the known nodes to the middle of a step that begins now, s; 0 for missing nodes."""
    t = 0.5 * h
    return (
        -_seen_from(t, nodes[0]), -_seen_from(t, nodes[1]), -_seen_from(t, nodes[2]),
        -_seen_from(t, nodes[3]), -_seen_from(t, nodes[4]), -_seen_from(t, nodes[5]),
    )  # fmt: skip


@small_kernel
def moved_on(nodes, h):
    """Return the nodes after a step of length h, its middle first, measured from its end, s."""
    return (
        -0.5 * h, _seen_from(h, nodes[0]), _seen_from(h, nodes[1]),
        _seen_from(h, nodes[2]), _seen_from(h, nodes[3]), _seen_from(h, nodes[4]),
    )  # fmt: skip


@small_kernel
def over(x):
    """Return 1/x, or 0 if x is 0."""
    return 1.0 / x if x != 0.0 else 0.0


@small_kernel
def factors(sizes, distance):
    """Return the factors of D_1 ... D_5 in (1) for the k with the smallest estimated error.

    `sizes`: the largest numbers in D_1 ... D_6. `distance`: the times returned by `distances`, s.
    """
    one = distance[0]
    two = one * distance[1]
    three = two * distance[2]
    four = three * distance[3]
    five = four * distance[4]
    six = five * distance[5]
    best, least = 1, sizes[0] * abs(one)
    if two != 0.0 and sizes[1] * abs(two) < least:
        best, least = 2, sizes[1] * abs(two)
    if three != 0.0 and sizes[2] * abs(three) < least:
        best, least = 3, sizes[2] * abs(three)
    if four != 0.0 and sizes[3] * abs(four) < least:
        best, least = 4, sizes[3] * abs(four)
    if five != 0.0 and sizes[4] * abs(five) < least:
        best, least = 5, sizes[4] * abs(five)
    if six != 0.0 and sizes[5] * abs(six) < least:
        best = 6
    return (
        one if best > 1 else 0.0, two if best > 2 else 0.0, three if best > 3 else 0.0,
        four if best > 4 else 0.0, five if best > 5 else 0.0,
    )  # fmt: skip


@small_kernel
def known(size, by):
    """Return the size of a difference, or UNKNOWN (larger than any size) if its node does not exist (`by` is 0)."""
    return size if by != 0.0 else UNKNOWN


@small_kernel
def at_next(D0, D, by):
    """Evaluate the polynomial (1) with the factors `by`."""
    return D0 + by[0] * D[0] + by[1] * D[1] + by[2] * D[2] + by[3] * D[3] + by[4] * D[4]


@small_kernel
def renewed(x, D0, D, by):
    """Return D_1 ... D_6 after x is added as the newest value; `by`: reciprocal distances from the nodes to that of x, 1/s."""
    one = (x - D0) * by[0]
    two = (one - D[0]) * by[1]
    three = (two - D[1]) * by[2]
    four = (three - D[2]) * by[3]
    five = (four - D[3]) * by[4]
    return one, two, three, four, five, (five - D[4]) * by[5]


@small_kernel
def differences_at(memory, i, count):
    """Load D_1 ... D_5 of eight numbers, or of one number of eight runs."""
    return (
        load(memory, i), load(memory, i + count), load(memory, i + 2 * count),
        load(memory, i + 3 * count), load(memory, i + 4 * count),
    )  # fmt: skip


@small_kernel
def put_differences(D, memory, i, count):
    """Store D_1 ... D_5 of eight numbers, or of one number of eight runs."""
    store(D[0], memory, i)
    store(D[1], memory, i + count)
    store(D[2], memory, i + 2 * count)
    store(D[3], memory, i + 3 * count)
    store(D[4], memory, i + 4 * count)


@small_kernel
def _few_at(memory, i, count):
    """Load D_1 ... D_5 of one number."""
    return (
        memory[i], memory[i + count], memory[i + 2 * count], memory[i + 3 * count], memory[i + 4 * count]
    )  # fmt: skip


@small_kernel
def all_larger(e, D):
    """Return the larger of e_j and |D_j| for each of the six differences."""
    return (
        most(e[0], abs(D[0])), most(e[1], abs(D[1])), most(e[2], abs(D[2])),
        most(e[3], abs(D[3])), most(e[4], abs(D[4])), most(e[5], abs(D[5])),
    )  # fmt: skip


@small_kernel
def largest_of_each(e):
    """Return the largest lane of each of the six numbers."""
    return (
        largest(e[0]), largest(e[1]), largest(e[2]), largest(e[3]), largest(e[4]), largest(e[5])
    )  # fmt: skip


@inner_kernel
def _foresee(D0, memory, first, count, by, found):
    """Evaluate (1) for all numbers of D0, whose differences begin at offset `first` of the memory; write them to `found`."""
    n = D0.shape[0]
    if n < LANES:
        for i in range(n):
            found[i] = at_next(D0[i], _few_at(memory, first + i, count), by)
        return
    for i in range(0, n - LANES + 1, LANES):
        store(at_next(load(D0, i), differences_at(memory, first + i, count), by), found, i)
    if n % LANES > 0:
        i = n - LANES
        store(at_next(load(D0, i), differences_at(memory, first + i, count), by), found, i)


@inner_kernel
def _renew(now, D0, memory, first, count, by):
    """Update the stored differences with the newest values `now`, which follow the values D0."""
    n = now.shape[0]
    if n < LANES:
        _renew_few(now, D0, memory, first, count, by, NONE)
        return
    for i in range(0, n - LANES + 1, LANES):
        D = renewed(load(now, i), load(D0, i), differences_at(memory, first + i, count), by)
        put_differences(D, memory, first + i, count)
    left = n % LANES
    if left > 0:  # the last eight numbers, the first k of which are already updated
        i, k = n - LANES, LANES - left
        old = differences_at(memory, first + i, count)
        D = renewed(load(now, i), load(D0, i), old, by)
        new = (
            choose(D[0], old[0], k, LANES), choose(D[1], old[1], k, LANES), choose(D[2], old[2], k, LANES),
            choose(D[3], old[3], k, LANES), choose(D[4], old[4], k, LANES),
        )  # fmt: skip
        put_differences(new, memory, first + i, count)


@inner_kernel
def _renew_few(now, D0, memory, first, count, by, e):
    """Update the stored differences one number at a time; return the larger of e and the sizes of D_1 ... D_6."""
    for i in range(now.shape[0]):
        at = first + i
        D = renewed(now[i], D0[i], _few_at(memory, at, count), by)
        memory[at], memory[at + count], memory[at + 2 * count] = D[0], D[1], D[2]
        memory[at + 3 * count], memory[at + 4 * count] = D[3], D[4]
        e = all_larger(e, D)
    return e


@small_kernel
def _nodes(memory, at):
    """Return the six stored node times, s from the end of the last step."""
    return (
        memory[at + 6], memory[at + 7], memory[at + 8], memory[at + 9], memory[at + 10], memory[at + 11]
    )  # fmt: skip


@small_kernel
def _sizes(memory, at):
    """Return the stored largest numbers in D_1 ... D_6."""
    return memory[at], memory[at + 1], memory[at + 2], memory[at + 3], memory[at + 4], memory[at + 5]


@small_kernel
def factors_of(memory, h):
    """Return the factors of D_1 ... D_5 in (1) for the next step, of length h."""
    at = memory.shape[0] - NODES
    return factors(_sizes(memory, at), distances(_nodes(memory, at), h))


@small_kernel
def over_distances_of(memory, h):
    """Return the reciprocal distances from the nodes to the middle of a step of length h that is not yet stored, 1/s."""
    distance = distances(_nodes(memory, memory.shape[0] - NODES), h)
    return (
        over(distance[0]), over(distance[1]), over(distance[2]),
        over(distance[3]), over(distance[4]), over(distance[5]),
    )  # fmt: skip


@inner_kernel
def put_nodes(memory, h, by, e):
    """Store the node of a step of length h and the sizes of the differences.

    `by`: result of `over_distances_of`. `e`: the largest numbers in D_1 ... D_6.
    """
    at = memory.shape[0] - NODES
    nodes = moved_on(_nodes(memory, at), h)
    memory[at], memory[at + 1] = known(e[0], by[0]), known(e[1], by[1])
    memory[at + 2], memory[at + 3] = known(e[2], by[2]), known(e[3], by[3])
    memory[at + 4], memory[at + 5] = known(e[4], by[4]), known(e[5], by[5])
    memory[at + 6], memory[at + 7], memory[at + 8] = nodes[0], nodes[1], nodes[2]
    memory[at + 9], memory[at + 10], memory[at + 11] = nodes[3], nodes[4], nodes[5]


@small_kernel
def differences_of(memory, n):
    """Return how many numbers have stored differences: n accelerations and, if stored, the multipliers.

    Return 0 if no differences are stored.
    """
    return max(0, (memory.shape[0] - NODES - n) // DIFFERENCES)


@small_kernel
def of_means(foreseen):
    """Return whether mean velocities of substeps are predicted instead of accelerations."""
    return foreseen.weights.shape[0] > 0


@inner_kernel
def extrapolate(alone, memory, lam, h, foreseen):
    """Predict accelerations of the frames `alone` and the multipliers at the middle of the next step by (1).

    If no differences are stored, the accelerations of the last step are used. Return the factors of D_1 ... D_5, which other code
    needs to predict the remaining frames.
    """
    rates = foreseen.rates
    n = rates.shape[0]
    count = differences_of(memory, n)
    if count == 0:
        copy(memory[:n], rates)
        return 0.0, 0.0, 0.0, 0.0, 0.0
    by = factors_of(memory, h)
    for f in alone:
        i = WIDTH * f
        _foresee(memory[i : i + WIDTH], memory, n + i, count, by, rates[i : i + WIDTH])
    if count > n:
        copy(lam, foreseen.before)
        _foresee(lam, memory, 2 * n, count, by, foreseen.lam)
    return by


@small_kernel
def foretells_forces(memory, foreseen):
    """Return whether `foreseen.lam` holds predicted multipliers of the next step."""
    return memory.shape[0] - NODES > (1 + DIFFERENCES) * foreseen.rates.shape[0]


@inner_kernel
def over_distances(memory, h, foreseen):
    """Return the reciprocal distances of `over_distances_of`, 1/s, or zeros if no differences are stored."""
    if differences_of(memory, foreseen.rates.shape[0]) == 0:
        return NONE
    return over_distances_of(memory, h)


@inner_kernel
def remember(alone, memory, lam, h, foreseen, by, e):
    """Store the accelerations of a step for the frames `alone`, its multipliers, their differences and the nodes.

    The accelerations of these frames are read from `foreseen.rates`. `by`: result of `over_distances`. `e`: the largest numbers
    in the differences of the other frames, which other code has already stored.
    """
    rates = foreseen.rates
    n = rates.shape[0]
    count = differences_of(memory, n)
    for f in alone:
        i = WIDTH * f
        if count > 0:
            e = _renew_few(rates[i : i + WIDTH], memory[i : i + WIDTH], memory, n + i, count, by, e)
        copy(rates[i : i + WIDTH], memory[i : i + WIDTH])
    if count == 0:
        return
    if count > n:
        _renew(lam, foreseen.before, memory, 2 * n, count, by)
    put_nodes(memory, h, by, e)


@small_kernel
def _nodes_of(memory, at, run):
    """Return the six stored node times of one of eight runs, s."""
    return (
        memory[at + 6, run], memory[at + 7, run], memory[at + 8, run],
        memory[at + 9, run], memory[at + 10, run], memory[at + 11, run],
    )  # fmt: skip


@inner_kernel
def _foresee_runs(D0, n, memory, first, count, by, found):
    """Evaluate (1) for n numbers of eight runs; write them to `found`."""
    for i in range(n):
        D = differences_at(memory, (first + i) * LANES, count * LANES)
        store(at_next(load(D0, i * LANES), D, by), found, i * LANES)


@inner_kernel
def _renew_runs(now, D0, memory, first, count, by):
    """Update the stored differences of eight runs; return the sizes of D_1 ... D_6, lane by lane."""
    none = 0.0 * by[0]
    e = none, none, none, none, none, none
    for i in range(now.shape[0]):
        at = (first + i) * LANES
        D = renewed(load(now, i * LANES), load(D0, i * LANES), differences_at(memory, at, count * LANES), by)
        put_differences(D, memory, at, count * LANES)
        e = all_larger(e, D)
    return e


@small_kernel
def _lanes_of(terms):
    """Load six numbers of eight runs."""
    return (
        load(terms, 0), load(terms, LANES), load(terms, 2 * LANES),
        load(terms, 3 * LANES), load(terms, 4 * LANES), load(terms, 5 * LANES),
    )  # fmt: skip


@inner_kernel
def factors_of_runs(memory, h, terms):
    """Return the factors of D_1 ... D_5 in (1) for eight runs; `terms` (6,) of lanes: scratch."""
    at = memory.shape[0] - NODES
    for run in range(LANES):
        by = factors(_sizes(memory[:, run], at), distances(_nodes_of(memory, at, run), h))
        terms[0, run], terms[1, run], terms[2, run], terms[3, run], terms[4, run] = by
    return _lanes_of(terms)[:5]


@inner_kernel
def over_distances_of_runs(memory, h, terms):
    """Return the reciprocal node distances of eight runs, also written to `terms`, and store the node of the step."""
    at = memory.shape[0] - NODES
    for run in range(LANES):
        nodes = _nodes_of(memory, at, run)
        distance, moved = distances(nodes, h), moved_on(nodes, h)
        for k in range(6):
            terms[k, run], memory[at + 6 + k, run] = over(distance[k]), moved[k]
    return _lanes_of(terms)


@inner_kernel
def put_sizes_of_runs(memory, e, terms):
    """Store the sizes `e` of the differences of eight runs; `terms`: as written by `over_distances_of_runs`."""
    at = memory.shape[0] - NODES
    for k in range(6):
        store(e[k], memory, (at + k) * LANES)
    for run in range(LANES):
        for k in range(6):
            memory[at + k, run] = known(memory[at + k, run], terms[k, run])


@inner_kernel
def extrapolate_runs(memory, lam, h, foreseen):
    """Predict accelerations and multipliers of eight runs that all store differences.

    Each run gets bit-identical results to those of `extrapolate` for a single run.
    """
    rates, at = foreseen.rates, memory.shape[0] - NODES
    n, m = rates.shape[0], lam.shape[0]
    count = (at - n) // DIFFERENCES
    by = factors_of_runs(memory, h, foreseen.terms)
    _foresee_runs(memory, n, memory, n, count, by, rates)
    if count > n:
        for i in range(m):
            store(load(lam, i * LANES), foreseen.before, i * LANES)
        _foresee_runs(lam, m, memory, 2 * n, count, by, foreseen.lam)


@inner_kernel
def remember_runs(memory, lam, h, foreseen):
    """Store accelerations, multipliers, differences and nodes of a step of eight runs, as `remember` does for one run."""
    rates, terms, at = foreseen.rates, foreseen.terms, memory.shape[0] - NODES
    n = rates.shape[0]
    count = (at - n) // DIFFERENCES
    by = over_distances_of_runs(memory, h, terms)
    e = _renew_runs(rates, memory, memory, n, count, by)
    for i in range(n):
        store(load(rates, i * LANES), memory, i * LANES)
    if count > n:
        _renew_runs(lam, foreseen.before, memory, 2 * n, count, by)
    put_sizes_of_runs(memory, e, terms)
