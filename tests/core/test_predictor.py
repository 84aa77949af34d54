"""The predictor of Newton's method: mean velocities of steps, extrapolated by weights that are exact for
compositions.
"""

import numpy as np
import pytest
import scipy.linalg

from discretization.assembly.predictor import (
    KNOWN,
    MISSED,
    MISSED_BY_LAST,
    count_known_means,
    factors_of,
    predicted_number,
    store_mean,
    update_record,
    weights_at,
    weights_of,
)
from discretization.planar.symmetry_input import Symmetry
from discretization.solver_selection import select_stepper
from discretization.state_measures import energies
from discretization.time.composition import FRACTIONS, halve_substeps
from rodsim import simulate
from tests.support.mechanisms import branched, differences, hinges, swung, without_older_history

FRAMES = 2
COUNT = 6 * FRAMES
MEANS = weights_of(np.ones(1)).shape[1]
RECORD = 4  # numbers of LENGTH, KNOWN, MISSED, MISSED_BY_LAST
COMPOSITIONS = [
    *(halve_substeps(FRACTIONS[order]) for order in (4, 6, 8)),
    FRACTIONS[4],
    FRACTIONS[6],
    np.ones(1),
]


def predict(memory, weights, substeps, k, velocities, means):
    known, n, stage = count_known_means(weights, memory, substeps, k), means.shape[0], k % substeps.shape[0]
    factors = factors_of(memory, known, weights_at(weights, known, stage))
    for i in range(n):
        means[i] = predicted_number(memory, n + i, n, velocities[i], memory[i], substeps[stage], factors)
    return known


def remember(memory, weights, substeps, k, means):
    known, n, stage = count_known_means(weights, memory, substeps, k), means.shape[0], k % substeps.shape[0]
    w, errors = weights_at(weights, known, stage), (0.0, 0.0)
    for i in range(n):
        errors = store_mean(memory, n + i, n, means[i], w, errors)
    update_record(memory, substeps[stage], known, errors)


class March:
    """Substeps with given mean velocities; velocities at their ends alternate about these."""

    def __init__(self, fractions):
        self.fractions, self.weights = fractions, weights_of(fractions)
        self.memory = np.zeros((1 + MEANS) * COUNT + RECORD)
        self.velocities = np.ones(COUNT)

    def substep(self, mean, h, k):
        """Return the predicted mean velocity, and the number of known means."""
        substeps, means = h * self.fractions, np.zeros(COUNT)
        known = predict(self.memory, self.weights, substeps, k, self.velocities, means)
        length = substeps[k % len(substeps)]
        self.memory[:COUNT] = 2 / length * (mean - self.velocities)
        self.velocities += length * self.memory[:COUNT]
        remember(self.memory, self.weights, substeps, k, mean)
        return means, known

    @property
    def record(self):
        return self.memory[-RECORD:]


def terms(fractions, steps, h):
    """1, t, t^2, t^3 at the middles of substeps and g^2, over some steps."""
    g = np.tile(fractions, steps)
    t = h * (np.cumsum(g) - g / 2)
    return np.stack([np.ones_like(t), t, t**2, t**3, g**2])


def exact_terms(fractions, stage):
    """The number of leading terms for which the weights of this substep are exact."""
    k, steps = len(fractions), 2 + MEANS // len(fractions)
    g = np.tile(fractions, steps + 1)
    t = np.cumsum(g) - g / 2
    i = k * steps + stage
    before = i - 1 - np.arange(MEANS)
    t = t - t[i]
    A = np.stack([np.ones_like(t), t, t**2, t**3, g**2])
    w = weights_of(fractions)[MEANS + stage]
    errors = np.abs(A[:, before] @ w - A[:, i])
    return int(np.argmax(np.append(errors > 1e-9, True)))


@pytest.mark.parametrize("fractions", COMPOSITIONS)
def test_motions_of_compositions_are_predicted_exactly(fractions):
    """Exact for its terms once enough substeps are known; a constant from the second substep on."""
    random, h, steps = np.random.default_rng(3), 0.3, 2 + 2 * MEANS // len(fractions)
    columns, k0 = terms(fractions, steps, h), -(-MEANS // len(fractions)) * len(fractions)
    exact = [exact_terms(fractions, stage) for stage in range(len(fractions))]
    assert min(exact) >= 3
    assert np.mean(np.array(exact) == 5) > 0.7
    for count in range(1, 6):
        C = random.normal(size=(COUNT, count))
        march = March(fractions)
        for k in range(steps * len(fractions)):
            long = march.record[MISSED] > march.record[MISSED_BY_LAST]
            predicted, _ = march.substep(C @ columns[:count, k], h, k)
            error = np.abs(predicted - C @ columns[:count, k]).max()
            if count == 1 and k > 0:
                assert error < 1e-12
            if k >= k0 and exact[k % len(fractions)] >= count and not long:
                assert error < 1e-9


@pytest.mark.parametrize("fractions", COMPOSITIONS)
def test_weights_miss_the_next_terms_least_among_the_exact_ones(fractions):
    """Weights minimise the errors of t^4, 3 sum of cubes and 3 t g^2, with 1e-2 of the weights themselves.

    No change that leaves them exact makes this sum of squares smaller.
    """
    k = len(fractions)
    steps = 2 + MEANS // k
    g, i0 = np.tile(fractions, steps + 1), k * steps
    middle, summed = np.cumsum(g) - g / 2, np.cumsum(g**3) - g**3 / 2
    for stage in range(k):
        i = i0 + stage
        before = i - 1 - np.arange(MEANS)
        t = middle[before] - middle[i]
        A = np.stack([np.ones(MEANS), t, t**2, t**3, g[before] ** 2])
        w = weights_of(fractions)[MEANS + stage]
        B = np.stack([t**4, 3 * (summed[before] - summed[i]), 3 * t * g[before] ** 2])
        slope = B.T @ (B @ w) + 1e-4 * w
        free = scipy.linalg.null_space(A[: exact_terms(fractions, stage)], rcond=1e-9)
        assert np.abs(free.T @ slope).max(initial=0.0) < 1e-8 * max(1.0, np.abs(w).max())


def test_a_new_step_length_starts_a_new_history():
    """Prediction then uses the accelerations of the last substep."""
    fractions = COMPOSITIONS[0]
    march, n = March(fractions), len(fractions)
    counts = [march.substep(np.full(COUNT, 1.0 + k), 0.1, k)[1] for k in range(2 * n)]
    assert counts == [min(k, MEANS) for k in range(2 * n)]
    start, rates = march.velocities.copy(), march.memory[:COUNT].copy()
    predicted, known = march.substep(np.ones(COUNT), 0.2, 0)
    assert known == 0
    assert np.allclose(predicted, start + 0.5 * 0.2 * fractions[0] * rates, rtol=0, atol=1e-12)
    assert np.abs(predicted - 1.0).min() > 0.1
    assert march.record[KNOWN] == 1.0
    assert march.record[MISSED] == 0.0  # no prediction used means
    counts = [march.substep(np.ones(COUNT), 0.2, k)[1] for k in range(1, n)]
    assert counts == [min(k, MEANS) for k in range(1, n)]


@pytest.mark.parametrize("fractions", [COMPOSITIONS[0], COMPOSITIONS[-1]])
def test_the_last_mean_is_used_if_steps_are_too_long(fractions):
    """The last mean predicts a jump better; once means are smooth again, all are used as before."""
    random, n = np.random.default_rng(1), max(len(fractions), 2 * MEANS)
    march = March(fractions)
    rough = random.normal(size=(3 * n, COUNT))
    for k in range(3 * n):
        long = k > 0 and march.record[MISSED] > march.record[MISSED_BY_LAST]
        predicted, _ = march.substep(rough[k], 0.1, k)
        if long:
            assert np.allclose(predicted, rough[k - 1], rtol=0, atol=1e-12)
        if k > 0:
            error = np.abs(rough[k] - rough[k - 1]).max()
            assert march.record[MISSED_BY_LAST] == pytest.approx(error, rel=1e-9)
    assert march.record[MISSED] > march.record[MISSED_BY_LAST] > 0.0
    t = terms(fractions, 3 * n, 0.1)[1]
    for k in range(3 * n):
        predicted, _ = march.substep(np.full(COUNT, t[k]), 0.1, k)
    assert march.record[MISSED] < march.record[MISSED_BY_LAST]
    assert np.allclose(predicted, t[3 * n - 1], rtol=0, atol=1e-12)


def five():
    return branched(("revolute", "spherical", "universal", "weld", "revolute"))


def nine():
    """Eight bodies in SIMD lanes, and one more."""
    return branched(("revolute",) * 9)


def stepper_of(model, planar, order, h, **settings):
    """A stepper of a tree, in space or in its plane, and its first state."""
    built = model.build()
    symmetry = Symmetry(built.state, built.load_directions) if planar else None
    stepper = select_stepper(built.system, h, order, built.load_values, symmetry=symmetry, **settings)
    assert (stepper.solver == "planar") == planar
    assert (stepper.sizes.memory.history > 0) == settings.get("earlier", True)
    return stepper, stepper.start(built.state)


@pytest.mark.parametrize(
    ("make", "planar", "order", "h", "steps", "fewer"),
    [
        # short steps, hinges alone
        (lambda: branched(("revolute",) * 5), False, 2, 1e-3, 60, 0.3),
        (five, False, 4, 0.1, 10, 0.02),
        (five, False, 6, 0.1, 10, 0.02),
        (nine, False, 6, 0.1, 25, 0.05),
        (hinges, True, 2, 2e-3, 200, 0.6),
        (hinges, True, 2, 0.01, 60, 0.3),
        (hinges, True, 4, 0.025, 80, 0.4),
        (hinges, True, 6, 0.05, 40, 0.15),
    ],
)
def test_the_history_saves_iterations_and_leaves_states_unchanged(make, planar, order, h, steps, fewer):
    """Compared with the prediction from the last step alone."""
    counts, ends = [], []
    for earlier in (True, False):
        stepper, start = stepper_of(make(), planar, order, h, earlier=earlier)
        end, report = stepper.advance(start, 0, steps)
        counts.append(report.iterations / report.solves)
        ends.append(without_older_history(end))
    assert counts[0] < counts[1] - fewer, counts
    # forces of 600 N follow from changes of momenta in 1e-3 s
    assert not {name: size for name, size in differences(*ends).items() if name != "lam" or size > 3e-5}


@pytest.mark.parametrize(
    ("make", "planar", "lengths"),
    [
        (lambda: branched(("revolute",) * 5), False, (8e-4, 9e-4, 1.3e-3)),
        (hinges, True, (6e-4, 7e-4, 8e-4, 9e-4)),
    ],
    ids=["in space", "in a plane"],
)
def test_energy_does_not_drift_if_the_first_correction_is_the_last(make, planar, lengths):
    """In 8000 steps of each length the drift is no larger than with two corrections.

    The rounding of positions is part of the equations.
    """
    worst = []
    for h in lengths:
        stepper, state = stepper_of(make(), planar, 2, h)
        total, moving, drift, count = energies(stepper.system, state).total, 0.0, 0.0, 0
        for k in range(20):
            state, report = stepper.advance(state, 400 * k, 400)
            energy, count = energies(stepper.system, state), count + report.iterations
            moving, drift = max(moving, energy.kinetic), max(drift, abs(energy.total - total))
        worst.append(drift / moving)
        assert count < 8000 * (0.9 if planar else 1.5), count
    assert sum(worst) < (1e-13 if planar else 1.2e-13)


@pytest.mark.parametrize("make", [hinges, nine])
@pytest.mark.parametrize("order", [2, 4, 6])
def test_split_runs_are_bitwise_equal(make, order):
    stepper, start = stepper_of(make(), make is hinges, order, 0.02)
    uninterrupted, _ = stepper.advance(start, 0, 7)
    first, _ = stepper.advance(start, 0, 3)
    restarted, _ = stepper_of(make(), make is hinges, order, 0.02)[0].advance(first, 3, 4)
    for one, other in zip(uninterrupted, restarted, strict=True):
        assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("make", [hinges, nine])
@pytest.mark.parametrize("order", [2, 4, 6])
def test_a_wrong_history_is_not_used_twice(make, order):
    """All means but the last are wrong, and the record says that they missed the last step."""
    stepper, start = stepper_of(make(), make is hinges, order, 0.02)
    state, _ = stepper.advance(start, 0, 8)
    parts = stepper.sizes.memory.parts(state.memory)
    parts["history"][1:] += 1e4
    parts["record"][MISSED], parts["record"][MISSED_BY_LAST] = 1.0, 0.5
    end, report = stepper.advance(state, 8, 8)
    assert (report.halvings, report.most_iterations <= 4, report.solves > MEANS) == (0, True, True)
    assert stepper.sizes.memory.parts(end.memory)["record"][MISSED] < 10.0  # all six are new


@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("make", [hinges, nine])
def test_the_record_has_the_largest_errors_of_all_frames(make, order, side):
    """For frames in SIMD lanes and for others: an error in one number of the history is recorded with its size."""
    stepper, start = stepper_of(make(), make is hinges, order, 0.02)
    memory = stepper.sizes.memory
    state, _ = stepper.advance(start, 0, 8)
    moving = np.flatnonzero(np.abs(memory.parts(state.memory)["history"]).max(axis=0))
    for i in moving[:: max(1, len(moving) // 12)]:
        perturbed = state._replace(memory=state.memory.copy())
        memory.parts(perturbed.memory)["history"][0, i] += side
        end = stepper.end_of_first_substep(perturbed, 0.16, 0.02) or stepper.advance(perturbed, 8, 1)[0]
        assert memory.parts(end.memory)["record"][MISSED_BY_LAST] == pytest.approx(1.0, abs=0.3)


def test_resumed_results_continue_their_history(tmp_path):
    for scheme in ("em", "em4"):
        path = tmp_path / f"{scheme}.vtkhdf"
        uninterrupted = simulate(swung(), 0.4, 0.02, scheme, progress=False)
        simulate(swung(), 0.2, 0.02, scheme, output=path, progress=False)
        resumed = simulate(swung(), 0.4, 0.02, scheme, output=path, resume=True, progress=False)
        for one, other in zip(uninterrupted.state(-1), resumed.state(-1), strict=True):
            assert one.tobytes() == other.tobytes()
