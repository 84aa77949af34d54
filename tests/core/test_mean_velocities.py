"""Where substeps of compositions begin: means of those before, by weights that are exact for what compositions do."""

import numpy as np
import pytest
import scipy.linalg

from discretization.assembly.mean_velocities import (
    KNOWN,
    MISSED,
    MISSED_BY_LAST,
    OF_SUBSTEP,
    foretell_means,
    known_means,
    put_substep,
    remember_means,
    too_long,
    weights_at,
    weights_of,
)
from discretization.memory import MEANS, Memory
from discretization.time.composition import FRACTIONS, halved
from rigid.compilation.decorators import kernel

FRAMES = 2
ALONE = np.arange(FRAMES)
COMPOSITIONS = [*(halved(FRACTIONS[order]) for order in (4, 6, 8)), FRACTIONS[4], FRACTIONS[6]]


@kernel
def foretell(memory, weights, substeps, k, rates, velocities):
    known = known_means(memory, substeps, k)
    w = weights_at(weights, known, k % substeps.shape[0])
    foretell_means(ALONE, memory, substeps[k % substeps.shape[0]], known, w, rates, velocities)
    return known


@kernel
def learn(memory, weights, substeps, k, rates, velocities):
    h, known = substeps[k % substeps.shape[0]], known_means(memory, substeps, k)
    w = weights_at(weights, known, k % substeps.shape[0])
    missed = remember_means(ALONE, memory, h, w, rates, velocities, (0.0, 0.0))
    put_substep(memory, h, known, missed)


class March:
    """Substeps whose mean velocities are given; velocities at their ends alternate about these."""

    def __init__(self, fractions):
        self.fractions, self.weights = fractions, weights_of(fractions)
        self.memory = np.zeros(Memory(FRAMES, means=6 * FRAMES).size)
        self.velocities, self.rates = np.ones(6 * FRAMES), np.zeros(6 * FRAMES)

    def substep(self, mean, h, k):
        """What was foretold of a mean, by how many means."""
        substeps = h * self.fractions
        known = foretell(self.memory, self.weights, substeps, k, self.rates, self.velocities)
        own = substeps[k % len(substeps)]
        found = self.velocities + own / 2 * self.rates
        self.rates[:] = 2 / own * (mean - self.velocities)
        self.velocities += own * self.rates
        learn(self.memory, self.weights, substeps, k, self.rates, self.velocities)
        return found, known

    @property
    def header(self):
        return self.memory[-OF_SUBSTEP:]


def terms(fractions, steps, h):
    """1, t, t^2, t^3 at the middles of substeps and g^2, over some steps."""
    g = np.tile(fractions, steps)
    t = h * (np.cumsum(g) - g / 2)
    return np.stack([np.ones_like(t), t, t**2, t**3, g**2])


@pytest.mark.parametrize("fractions", COMPOSITIONS)
def test_what_compositions_do_is_foretold_exactly(fractions):
    """From the second step on, where the substeps before can tell it; a constant from the second substep on."""
    random, h, steps = np.random.default_rng(3), 0.3, 4
    own = terms(fractions, steps, h)
    for count in range(1, 6):
        C = random.normal(size=(6 * FRAMES, count))
        march, missed = March(fractions), []
        for k in range(steps * len(fractions)):
            found, _ = march.substep(C @ own[:count, k], h, k)
            missed.append(np.abs(found - C @ own[:count, k]).max())
        late = np.array(missed[max(MEANS, len(fractions)) :])
        assert np.mean(late < 1e-9) > (0.85 if count == 5 else 0.99)
        if count == 1:
            assert max(missed[1:]) < 1e-12


@pytest.mark.parametrize("fractions", COMPOSITIONS)
def test_of_weights_that_are_exact_those_are_taken_that_miss_least(fractions):
    """The quartic, three times the sum of cubes and three times t g^2, and a hundredth of themselves: nothing that leaves them
    exact makes this less.
    """
    k = len(fractions)
    steps = 2 + MEANS // k
    g, i0 = np.tile(fractions, steps + 1), k * steps
    middle, summed = np.cumsum(g) - g / 2, np.cumsum(g**3) - g**3 / 2
    least_of = []
    for stage in range(k):
        i = i0 + stage
        before = i - 1 - np.arange(MEANS)
        t = middle[before] - middle[i]
        A = np.stack([np.ones(MEANS), t, t**2, t**3, g[before] ** 2])
        w, b = weights_of(fractions)[MEANS + stage], np.array([1.0, 0.0, 0.0, 0.0, g[i] ** 2])
        count = 5 if np.abs(A @ w - b).max() < 1e-9 else 4
        assert np.allclose(A[:count] @ w, b[:count], rtol=0, atol=1e-9)
        B = np.stack([t**4, 3 * (summed[before] - summed[i]), 3 * t * g[before] ** 2])
        slope = B.T @ (B @ w) + 1e-4 * w
        free = scipy.linalg.null_space(A[:count], rcond=1e-9)
        assert np.abs(free.T @ slope).max() < 1e-9 * max(1.0, np.abs(w).max())
        least_of.append(count)
    assert np.mean(np.array(least_of) == 5) > 0.85


def test_steps_of_another_length_begin_anew():
    """With the accelerations of the last substep."""
    fractions = COMPOSITIONS[0]
    march, n = March(fractions), len(fractions)
    counts = [march.substep(np.full(6 * FRAMES, 1.0 + k), 0.1, k)[1] for k in range(2 * n)]
    assert counts == [min(k, MEANS) for k in range(2 * n)]
    begin, rates = march.velocities.copy(), march.rates.copy()
    found, known = march.substep(np.ones(6 * FRAMES), 0.2, 0)
    assert known == 0
    assert np.allclose(found, begin + 0.5 * 0.2 * fractions[0] * rates, rtol=0, atol=1e-12)
    assert np.abs(found - 1.0).min() > 0.1
    assert march.header[KNOWN] == 1.0
    assert march.header[MISSED] == 0.0  # nothing was foretold by means
    counts = [march.substep(np.ones(6 * FRAMES), 0.2, k)[1] for k in range(1, n)]
    assert counts == [min(k, MEANS) for k in range(1, n)]


def test_where_steps_are_too_long_the_last_mean_is_taken():
    """A mean that jumps is missed by more than by the last one; what is smooth again is foretold as before."""
    fractions, random = COMPOSITIONS[0], np.random.default_rng(1)
    march, n = March(fractions), len(fractions)
    rough = random.normal(size=(3 * n, 6 * FRAMES))
    for k in range(3 * n):
        last = rough[k - 1]
        long = k > 0 and too_long(march.memory)
        found, _ = march.substep(rough[k], 0.1, k)
        if long:
            assert np.allclose(found, last, rtol=0, atol=1e-12)
        if k > 0:
            assert march.header[MISSED_BY_LAST] == pytest.approx(np.abs(rough[k] - last).max(), rel=1e-9)
    assert march.header[MISSED] > march.header[MISSED_BY_LAST] > 0.0
    t = terms(fractions, 3, 0.1)[1]
    for k in range(3 * n):
        found, _ = march.substep(np.full(6 * FRAMES, t[k]), 0.1, k)
    assert not too_long(march.memory)
    assert np.allclose(found, t[-1], rtol=0, atol=1e-12)
