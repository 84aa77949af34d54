"""Predict where Newton's method starts in substeps of compositions: mean velocities, extrapolated from the last eight.

At the ends of substeps velocities alternate by a component that joints do not allow, and accelerations with them; their means
over substeps do not. With m_0, m_1 ... the last means, the latest first, the mean of the next substep is

    m = sum_j w_j m_j                                                                                   (1)

A step of order 2 and length g h ends off the motion by c (g h)^3 (Hairer, Lubich, Wanner, Geometric Numerical Integration, II.4):
at the middle of a substep its mean velocity is that of the motion and h^2 g^2 times a smooth function, h^3 s times a smooth
function, where s sums g^3 up to there, and terms of higher order. (1) is exact for

    1, t, t^2, t^3 at the middles and g^2                                                               (2)

or, if eight substeps cannot distinguish all of these, for as many of the first, 1, t ..., as they can. Among these w the ones are
chosen that miss t^4, 3 s and 3 t g^2 least, and are not large themselves. They depend on the composition alone: one set for each
of the first eight substeps, which have fewer means, and one for each substep of all later steps (`weights_of`). If the step
length changes, the record of means starts again.
If the last mean was missed by (1) more than by simply using the mean before it, the next substep uses the last mean: steps are
too long for (2).

`State.memory` stores, after the accelerations, eight means in a ring buffer and their description: the length of the last
substep, the number of means, the slot of the latest, and the errors of (1) and of the mean before it for the latest mean.
"""

from __future__ import annotations

import functools

import numpy as np

from discretization.memory import MEANS, WIDTH
from rigid.compilation.decorators import inner_kernel, small_kernel
from rigid.system import Floats

LENGTH, KNOWN, LATEST, MISSED, MISSED_BY_LAST, OF_SUBSTEP = range(6)
_LARGEST = 60.0  # maximum sum of |w|, the factor by which round-off grows
_EXACT = 1e-7  # tolerance of the exactness conditions (2)
_SIZE = 0.01  # weight of the size of w compared with the errors they leave


def weights_of(fractions: Floats) -> Floats:
    """Return the weights w (8 + k, 8) of a composition with k substeps.

    The first eight rows are those of its first eight substeps, then follows one row per substep with eight means before it. The
    array is cached and must not be modified.
    """
    return _weights_of(tuple(np.asarray(fractions).tolist()))


@functools.lru_cache(maxsize=16)
def _weights_of(fractions: tuple[float, ...]) -> Floats:
    """Compute the weights of a composition with these substep fractions."""
    k = len(fractions)
    whole = -(-MEANS // k) * k  # substeps of the first whole steps that contain eight means
    g = np.tile(fractions, whole // k + 1)
    middle, summed = np.cumsum(g) - 0.5 * g, np.cumsum(g**3) - 0.5 * g**3
    own = np.concatenate([np.arange(MEANS), whole + np.arange(k)])
    return np.stack([_best(g, middle, summed, i, min(i, MEANS)) for i in own])


def _best(g: Floats, middle: Floats, summed: Floats, i: int, count: int) -> Floats:
    """Return the weights w (8,) of substep i with `count` means before it."""
    found = np.zeros(MEANS)
    if count == 0:
        return found
    own = i - np.arange(count + 1)  # this substep, and those before it
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
    """Return the number of means known in substep k of a run, and their weights; the number is -1 if means are not recorded."""
    if weights.shape[0] == 0:
        return NO_MEANS
    known = known_means(memory, substeps, k)
    return known, weights_at(weights, known, k % substeps.shape[0])


@small_kernel
def known_means(memory, substeps, k):
    """Return the number of means known for substep k of a run; 0 if the step length has changed."""
    at, n = memory.shape[0] - OF_SUBSTEP, substeps.shape[0]
    if k % n == 0 and memory[at + LENGTH] != substeps[n - 1]:
        return 0
    return int(memory[at + KNOWN])


@small_kernel
def latest_of(memory):
    """Return the slot of the latest mean in the ring buffer."""
    return int(memory[memory.shape[0] - OF_SUBSTEP + LATEST])


@small_kernel
def too_long(memory):
    """Return whether (1) missed the last mean by more than the mean before it did."""
    at = memory.shape[0] - OF_SUBSTEP
    return memory[at + MISSED] > memory[at + MISSED_BY_LAST]


@small_kernel
def weights_at(weights, known, stage):
    """Return w of a substep with this number of known means; `stage`: index of the substep in its step."""
    w = weights[known if known < MEANS else MEANS + stage]
    return w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7]


@small_kernel
def place_of(latest, j):
    """Return the slot of m_j in the ring buffer."""
    return (latest + j) % MEANS


@small_kernel
def mean_of(w, m):
    """Evaluate (1) for eight numbers, or for eight lanes of numbers."""
    first = w[0] * m[0] + w[1] * m[1] + w[2] * m[2] + w[3] * m[3]
    return first + (w[4] * m[4] + w[5] * m[5] + w[6] * m[6] + w[7] * m[7])


@small_kernel
def put_substep(memory, h, known, missed):
    """Update the description of the means for one more mean, of a substep of length h.

    It is stored in the slot before that of the latest. `missed`: errors of (1), if there were means, and of the previous mean.
    """
    at = memory.shape[0] - OF_SUBSTEP
    memory[at + LENGTH], memory[at + KNOWN] = h, min(known + 1, MEANS)
    memory[at + LATEST] = place_of(latest_of(memory), MEANS - 1)
    memory[at + MISSED], memory[at + MISSED_BY_LAST] = missed[0] if known > 0 else 0.0, missed[1]


@small_kernel
def _means_at(memory, i, n, latest):
    """Return m_0 ... m_7 of one number; n: distance in the memory from one mean to the next."""
    return (
        memory[i + n * place_of(latest, 0)], memory[i + n * place_of(latest, 1)],
        memory[i + n * place_of(latest, 2)], memory[i + n * place_of(latest, 3)],
        memory[i + n * place_of(latest, 4)], memory[i + n * place_of(latest, 5)],
        memory[i + n * place_of(latest, 6)], memory[i + n * place_of(latest, 7)],
    )  # fmt: skip


@inner_kernel
def foretell_means(alone, memory, h, known, w, rates, velocities):
    """Predict the accelerations of the next substep for the frames `alone`, from their velocities at its start.

    If no mean is known, the accelerations of the last substep are used.
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
    """Store means and accelerations of a substep for the frames `alone`, from their velocities at its end.

    `missed`: errors of other frames, as in `put_substep`. Return the largest errors of all frames.
    """
    n, latest = rates.shape[0], latest_of(memory)
    new = n * place_of(latest, MEANS - 1)
    for f in alone:
        for i in range(WIDTH * f, WIDTH * (f + 1)):
            now, m = velocities[i] - 0.5 * h * rates[i], _means_at(memory, n + i, n, latest)
            missed = max(missed[0], abs(now - mean_of(w, m))), max(missed[1], abs(now - m[0]))
            memory[n + i + new], memory[i] = now, rates[i]
    return missed
