"""Where Newton's method begins in substeps of compositions: with mean velocities that are foretold from those of eight before.

At the ends of substeps velocities alternate by what joints do not allow, and accelerations with them; their means over substeps
do not. With m_0, m_1 ... of the last ones, the latest first, that of the next one is

    m = sum_j w_j m_j                                                                                   (1)

A step of order 2 and length g h ends off the motion by c (g h)^3 (Hairer, Lubich, Wanner, Geometric Numerical Integration, II.4):
at the middle of a substep its mean velocity is that of the motion and h^2 g^2 times what is smooth, h^3 s times what is smooth,
where s sums g^3 up to there, and more of higher order. (1) is exact for

    1, t, t^2, t^3 at the middles and g^2                                                               (2)

or, where eight substeps cannot tell all of these apart, for the first of 1, t ... that they can; of such w those are taken that
miss t^4, 3 s and 3 t g^2 least, and are not large themselves. They are numbers of the composition alone: of the substeps of its
first step, which know fewer means, and of those of all steps that follow (`weights_of`). A step of another length begins anew.
Where (1) missed the last mean by more than the one before that would have, the next one begins with the last: steps are too long
for (2).

`State.memory` has, behind accelerations, eight means in a ring and what they are of: the length of the last substep, how many
there are, where the latest stands, and by how much (1) and the one before it missed it.
"""

from __future__ import annotations

import functools

import numpy as np

from discretization.memory import MEANS, WIDTH
from rigid.compilation.decorators import inner_kernel, small_kernel
from rigid.system import Floats

LENGTH, KNOWN, LATEST, MISSED, MISSED_BY_LAST, OF_SUBSTEP = range(6)
_LARGEST = 60.0  # sum of |w|: by so much rounding grows
_EXACT = 1e-7  # what is told apart
_SIZE = 0.01  # of w beside what they miss


def weights_of(fractions: Floats) -> Floats:
    """w (8 + k, 8) of a composition with k substeps: of its first eight substeps, and of each one with eight before it; nobody
    changes them.
    """
    return _weights_of(tuple(np.asarray(fractions).tolist()))


@functools.lru_cache(maxsize=16)
def _weights_of(fractions: tuple[float, ...]) -> Floats:
    k = len(fractions)
    whole = -(-MEANS // k) * k  # substeps of the steps that hold eight
    g = np.tile(fractions, whole // k + 1)
    middle, summed = np.cumsum(g) - 0.5 * g, np.cumsum(g**3) - 0.5 * g**3
    own = np.concatenate([np.arange(MEANS), whole + np.arange(k)])
    return np.stack([_best(g, middle, summed, i, min(i, MEANS)) for i in own])


def _best(g: Floats, middle: Floats, summed: Floats, i: int, count: int) -> Floats:
    """w (8,) of substep i with so many before it."""
    found = np.zeros(MEANS)
    if count == 0:
        return found
    own = i - np.arange(count + 1)  # it, and those before
    t = middle[own] - middle[i]
    exact = np.stack([np.ones_like(t), t, t**2, t**3, g[own] ** 2])
    least = np.stack([t**4, 3.0 * summed[own], 3.0 * t * g[own] ** 2])
    for terms in range(len(exact), 0, -1):
        A, b = exact[:terms, 1:], exact[:terms, 0]
        size = np.maximum(np.abs(A).max(axis=1), 1e-300)
        left, values, right = np.linalg.svd(A / size[:, None])
        rank = int(np.sum(values > 1e-9 * values[0]))
        w = right[:rank].T @ ((left[:, :rank].T @ (b / size)) / values[:rank])
        if np.abs(A @ w - b).max() > _EXACT * size.max():
            continue
        free = right[rank:].T
        B, c = np.vstack([least[:, 1:], _SIZE * np.eye(count)]), np.append(least[:, 0], np.zeros(count))
        w += free @ np.linalg.lstsq(B @ free, c - B @ w, rcond=None)[0]
        if np.abs(w).sum() < _LARGEST:
            break
    found[:count] = w
    return found


NO_MEANS = -1, (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@small_kernel
def means_of(weights, memory, substeps, k):
    """How many means are known in substep k of a march, below 0: none are remembered; their weights."""
    if weights.shape[0] == 0:
        return NO_MEANS
    known = known_means(memory, substeps, k)
    return known, weights_at(weights, known, k % substeps.shape[0])


@small_kernel
def known_means(memory, substeps, k):
    """How many there are for substep k of a march; of steps of another length none."""
    at, n = memory.shape[0] - OF_SUBSTEP, substeps.shape[0]
    if k % n == 0 and memory[at + LENGTH] != substeps[n - 1]:
        return 0
    return int(memory[at + KNOWN])


@small_kernel
def latest_of(memory):
    """Where the latest stands among them."""
    return int(memory[memory.shape[0] - OF_SUBSTEP + LATEST])


@small_kernel
def too_long(memory):
    """Whether (1) missed the last mean by more than the one before that."""
    at = memory.shape[0] - OF_SUBSTEP
    return memory[at + MISSED] > memory[at + MISSED_BY_LAST]


@small_kernel
def weights_at(weights, known, stage):
    """w of a substep that knows so many means, at its place in the step."""
    w = weights[known if known < MEANS else MEANS + stage]
    return w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7]


@small_kernel
def place_of(latest, j):
    """Of m_j among them."""
    return (latest + j) % MEANS


@small_kernel
def mean_of(w, m):
    """(1) of eight numbers, or of eight lanes of numbers."""
    first = w[0] * m[0] + w[1] * m[1] + w[2] * m[2] + w[3] * m[3]
    return first + (w[4] * m[4] + w[5] * m[5] + w[6] * m[6] + w[7] * m[7])


@small_kernel
def put_substep(memory, h, known, missed):
    """What the means are of, with one more, of length h, which stands before the latest; missed: by how much (1), where there
    were means, and that one missed it.
    """
    at = memory.shape[0] - OF_SUBSTEP
    memory[at + LENGTH], memory[at + KNOWN] = h, min(known + 1, MEANS)
    memory[at + LATEST] = place_of(latest_of(memory), MEANS - 1)
    memory[at + MISSED], memory[at + MISSED_BY_LAST] = missed[0] if known > 0 else 0.0, missed[1]


@small_kernel
def _means_at(memory, i, n, latest):
    """m_0 ... m_7 of a number, from one mean to the next of which are n."""
    return (
        memory[i + n * place_of(latest, 0)], memory[i + n * place_of(latest, 1)],
        memory[i + n * place_of(latest, 2)], memory[i + n * place_of(latest, 3)],
        memory[i + n * place_of(latest, 4)], memory[i + n * place_of(latest, 5)],
        memory[i + n * place_of(latest, 6)], memory[i + n * place_of(latest, 7)],
    )  # fmt: skip


@inner_kernel
def foretell_means(alone, memory, h, known, w, rates, velocities):
    """Accelerations of the next substep, of some frames, from their velocities at its start: those of the last one where no mean
    is known.
    """
    n, latest, last = rates.shape[0], latest_of(memory), too_long(memory)
    for f in alone:
        for i in range(WIDTH * f, WIDTH * (f + 1)):
            rates[i] = memory[i]
            if known > 0:
                m = _means_at(memory, n + i, n, latest)
                rates[i] = 2.0 / h * ((m[0] if last else mean_of(w, m)) - velocities[i])


@inner_kernel
def remember_means(alone, memory, h, w, rates, velocities, missed):
    """Means and accelerations of a substep, of some frames, from velocities at its end; missed: as of `put_substep`, of others;
    of all.
    """
    n, latest = rates.shape[0], latest_of(memory)
    new = n * place_of(latest, MEANS - 1)
    for f in alone:
        for i in range(WIDTH * f, WIDTH * (f + 1)):
            now, m = velocities[i] - 0.5 * h * rates[i], _means_at(memory, n + i, n, latest)
            missed = max(missed[0], abs(now - mean_of(w, m))), max(missed[1], abs(now - m[0]))
            memory[n + i + new], memory[i] = now, rates[i]
    return missed
