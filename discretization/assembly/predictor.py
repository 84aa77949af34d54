"""Predict where Newton's method of `em` starts: the mean velocity of the next step, from those of the last six.

At the ends of steps velocities alternate by a component that joints do not allow, and accelerations with them; their means over
steps do not. Let v be the velocity at the start of a step of length h, a the acceleration of the last step and m_0, m_1 ... the
mean velocities of the last steps, the latest first. The mean velocity of the step is predicted as

    m = c (v + h a/2) + sum_j w_j m_j                                                                   (1)

with c = 1 and w = 0 if no means are known: at the first step and after the step length has changed. Otherwise c = 0. Models with
rods, whose stiff modes oscillate, and trees with joint forces that are iterates have no history.

A substep of a composition, of length g h and order 2, has the error c (g h)^3 at its end (Hairer, Lubich, Wanner, Geometric
Numerical Integration, II.4). At its middle, its mean velocity is that of the motion, plus h^2 g^2 times a smooth function, plus
h^3 s times a smooth function, plus terms of higher order; s sums g^3 up to there. (1) is exact for

    1, t, t^2, t^3 at the middles and g^2                                                               (2)

or, if six substeps cannot distinguish all of these, for as many of the first, 1, t ..., as they can. Among these w, those are
chosen that have the least errors for t^4, 3 s and 3 t g^2, and are not large themselves. They depend on the composition alone:
one set for each of the first six substeps, which have fewer means, and one for each substep of all later steps (`weights_of`).
A step of order 2 is a composition of one substep.

If (1) predicted the last mean worse than the mean before it does, the next substep uses the last mean: steps are too long
for (2).

`State.memory` ends with the history: six means, the latest first, and their record: the length of the last substep, the number of
means, and the errors of (1) and of the mean before it for the latest mean.
"""

from __future__ import annotations

import functools

import numpy as np

from discretization.assembly.frame_formulas import predict_increments, round_displacement
from discretization.assembly.workspace import rotation_of
from discretization.integrator_memory import MEANS, RECORD, WIDTH
from rigid.compilation.decorators import inline_kernel, internal_kernel
from rigid.lanes import WIDTH as LANES
from rigid.lanes import load, most, store
from rigid.linear_algebra import apply, load3, store3
from rigid.system import Floats

LENGTH, KNOWN, MISSED, MISSED_BY_LAST = range(RECORD)
BY_ACCELERATION = 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0  # (c, w_0 ... w_5) if no means are known
BY_LAST_MEAN = 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0
_LARGEST = 60.0  # maximum sum of |w|, the factor by which round-off grows
_EXACT = 1e-7  # tolerance of the exactness conditions (2)
_SIZE = 0.01  # weight of the size of w compared with the errors they leave


def weights_of(fractions: Floats) -> Floats:
    """Return the weights w (6 + k, 6) of a composition with k substeps.

    The first six rows are those of its first six substeps, then follows one row per substep with six means before it. The array
    is cached and must not be modified.
    """
    return _weights_of(tuple(np.asarray(fractions).tolist()))


@functools.lru_cache(maxsize=16)
def _weights_of(fractions: tuple[float, ...]) -> Floats:
    """Compute the weights of a composition with these substep fractions."""
    k = len(fractions)
    first = -(-MEANS // k) * k  # substeps of the first whole steps that contain six means
    g = np.tile(fractions, first // k + 1)
    middle, summed = np.cumsum(g) - 0.5 * g, np.cumsum(g**3) - 0.5 * g**3
    substeps = np.concatenate([np.arange(MEANS), first + np.arange(k)])
    return np.stack([_best_weights(g, middle, summed, i, min(i, MEANS)) for i in substeps])


def _best_weights(g: Floats, middle: Floats, summed: Floats, i: int, count: int) -> Floats:
    """Return the weights w (6,) of substep i with `count` means before it."""
    weights = np.zeros(MEANS)
    if count == 0:
        return weights
    indices = i - np.arange(count + 1)  # this substep, and those before it
    t = middle[indices] - middle[i]
    exact = np.stack([np.ones_like(t), t, t**2, t**3, g[indices] ** 2])
    least = np.stack([t**4, 3.0 * summed[indices], 3.0 * t * g[indices] ** 2])
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
    weights[:count] = w
    return weights


@inline_kernel
def count_known_means(weights, memory, substeps, k):
    """Return the number of means known in substep k of a run; 0 if the step length has changed or none are stored."""
    at, n = memory.shape[0] - RECORD, substeps.shape[0]
    if weights.shape[0] == 0 or (k % n == 0 and memory[at + LENGTH] != substeps[n - 1]):
        return 0
    return int(memory[at + KNOWN])


@inline_kernel
def weights_at(weights, known, stage):
    """Return w of a substep with this number of known means; `stage`: index of the substep in its step."""
    if weights.shape[0] == 0:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    w = weights[known if known < MEANS else MEANS + stage]
    return w[0], w[1], w[2], w[3], w[4], w[5]


@inline_kernel
def factors_of(memory, known, w):
    """Return the factors (c, w_0 ... w_5) of (1) for a substep with the weights w."""
    at = memory.shape[0] - RECORD
    if known == 0:
        return BY_ACCELERATION
    if memory[at + MISSED] > memory[at + MISSED_BY_LAST]:
        return BY_LAST_MEAN
    return 0.0, w[0], w[1], w[2], w[3], w[4], w[5]


@inline_kernel
def update_record(memory, h, known, errors):
    """Update the record for one more mean, of a substep of length h; `errors`: errors of (1) and of the previous mean for it."""
    at = memory.shape[0] - RECORD
    memory[at + LENGTH], memory[at + KNOWN] = h, min(known + 1, MEANS)
    memory[at + MISSED], memory[at + MISSED_BY_LAST] = errors[0] if known > 0 else 0.0, errors[1]


@inline_kernel
def mean_of(w, m):
    """Return sum_j w_j m_j of one number, or of lanes of numbers."""
    return (w[0] * m[0] + w[1] * m[1] + w[2] * m[2]) + (w[3] * m[3] + w[4] * m[4] + w[5] * m[5])


@inline_kernel
def means_at(memory, i, n):
    """Return m_0 ... m_5 of one number; n: distance in the memory from one mean to the next."""
    return (
        memory[i], memory[i + n], memory[i + 2 * n], memory[i + 3 * n], memory[i + 4 * n], memory[i + 5 * n]
    )  # fmt: skip


@inline_kernel
def predicted_number(memory, i, n, v, a, h, by):
    """Return the mean velocity of the next step by (1), of one number; `memory`, i, n: as in `means_at`, n = 0: no history."""
    x = by[0] * (v + 0.5 * h * a)
    if n > 0:
        x = x + mean_of(by[1:], means_at(memory, i, n))
    return x


@inline_kernel
def predicted_vector(memory, i, n, v, a, h, by):
    """Return the mean velocity of the next step by (1), of three consecutive numbers."""
    return (
        predicted_number(memory, i, n, v[0], a[0], h, by),
        predicted_number(memory, i + 1, n, v[1], a[1], h, by),
        predicted_number(memory, i + 2, n, v[2], a[2], h, by),
    )


@inline_kernel
def store_mean(memory, i, n, velocity, w, errors):
    """Add the mean velocity `velocity` of a step to the history of one number.

    w: the weights of this step. Return the maxima of `errors` and of the errors of sum_j w_j m_j and of m_0 as predictions.
    """
    m = means_at(memory, i, n)
    memory[i], memory[i + n], memory[i + 2 * n] = velocity, m[0], m[1]
    memory[i + 3 * n], memory[i + 4 * n], memory[i + 5 * n] = m[2], m[3], m[4]
    return most(errors[0], abs(velocity - mean_of(w, m))), most(errors[1], abs(velocity - m[0]))


@inline_kernel
def store_mean_vector(memory, i, n, v, a, h, w, errors):
    """Add the mean velocity of a step to the history of three consecutive numbers, from v and a at its end; see
    `store_mean`.
    """
    half = 0.5 * h
    errors = store_mean(memory, i, n, v[0] - half * a[0], w, errors)
    errors = store_mean(memory, i + 1, n, v[1] - half * a[1], w, errors)
    return store_mean(memory, i + 2, n, v[2] - half * a[2], w, errors)


@internal_kernel
def predict_scalar(state, work, h, by, history, rounded):
    """Predict dr and psi of the frames in the scalar path.

    by: the factors of (1); history: False if no means are stored; rounded: True to round dr so that r + dr is a representable
    position.
    """
    memory, first = state.memory, WIDTH * state.r.shape[0]
    n = first if history else 0
    for f in work.alone:
        at, w0 = WIDTH * f, apply(rotation_of(work.R0, f), load3(state.Omega[f]))
        mean = predicted_vector(memory, first + at, n, load3(state.v[f]), load3(memory[at:]), h, by)
        turning = predicted_vector(memory, first + at + 3, n, w0, load3(memory[at + 3 :]), h, by)
        dr, psi = predict_increments(w0, mean, turning, h)
        store3(psi, work.psi[f])
        store3(round_displacement(load3(state.r[f]), dr) if rounded else dr, work.dr[f])


@internal_kernel
def store_means_scalar(state, work, h, w, errors):
    """Add the means of a step that has ended to the history of the frames in the scalar path; see `store_mean`."""
    memory, n = state.memory, WIDTH * state.r.shape[0]
    for f in work.alone:
        at, w1 = WIDTH * f, apply(rotation_of(work.R1, f), load3(state.Omega[f]))
        errors = store_mean_vector(memory, n + at, n, load3(state.v[f]), load3(memory[at:]), h, w, errors)
        errors = store_mean_vector(memory, n + at + 3, n, w1, load3(memory[at + 3 :]), h, w, errors)
    return errors


@internal_kernel
def factors_of_runs(weights, memory, h, factors, known):
    """Return w and the factors of (1) of eight runs in SIMD lanes, with steps of length h.

    memory: (size, 8); factors: (13, 8) scratch; known: (8,) receives the number of known means of each run.
    """
    at = memory.shape[0] - RECORD
    for run in range(LANES):
        count = 0
        if weights.shape[0] > 0 and memory[at + LENGTH, run] == h:
            count = int(memory[at + KNOWN, run])
        w, known[run] = weights_at(weights, count, 0), count
        by = factors_of(memory[:, run], count, w)
        for i in range(MEANS):
            factors[i, run] = w[i]
        for i in range(1 + MEANS):
            factors[MEANS + i, run] = by[i]
    w = (
        load(factors, 0), load(factors, LANES), load(factors, 2 * LANES),
        load(factors, 3 * LANES), load(factors, 4 * LANES), load(factors, 5 * LANES),
    )  # fmt: skip
    by = (
        load(factors, 6 * LANES), load(factors, 7 * LANES), load(factors, 8 * LANES), load(factors, 9 * LANES),
        load(factors, 10 * LANES), load(factors, 11 * LANES), load(factors, 12 * LANES),
    )  # fmt: skip
    return w, by


@internal_kernel
def update_records_of_runs(memory, h, errors, factors, known):
    """Update the records of eight runs; `errors`: as in `update_record`, in lanes; factors, known: as in `factors_of_runs`."""
    store(errors[0], factors, 0)
    store(errors[1], factors, LANES)
    for run in range(LANES):
        update_record(memory[:, run], h, known[run], (factors[0, run], factors[1, run]))
