"""Where Newton's method begins: polynomials are foretold as they are, what starts at once is as it was."""

import numpy as np
import pytest

from discretization.assembly.extrapolation import (
    NONE,
    distances,
    extrapolate,
    extrapolate_runs,
    factors,
    foreseen_of,
    foreseen_of_runs,
    moved_on,
    over_distances,
    remember,
    remember_runs,
)
from discretization.memory import Memory
from discretization.own_variables import OwnVariables
from discretization.planar.symmetry import Symmetry
from discretization.shortcuts import em_stepper
from discretization.state_measures import energies
from discretization.state_shapes import Sizes
from rigid.compilation.decorators import kernel
from rigid.lane_arrays import room
from rigid.lanes import WIDTH
from tests.support.mechanisms import branched, differences, hinges, looped, of_last_step

FRAMES = 3
ALONE = np.arange(FRAMES)


@kernel
def foretell(memory, lam, h, foreseen):
    extrapolate(ALONE, memory, lam, h, foreseen)


@kernel
def learn(memory, lam, h, foreseen):
    by = over_distances(memory, h, foreseen)
    remember(ALONE, memory, lam, h, foreseen, by, NONE)


@kernel
def foretell_runs(memory, lam, h, foreseen):
    extrapolate_runs(memory, lam, h, foreseen)


@kernel
def learn_runs(memory, lam, h, foreseen):
    remember_runs(memory, lam, h, foreseen)


def sizes(m, of_forces=True):
    """Of frames with so many multipliers."""
    memory = Memory(FRAMES, earlier=6 * FRAMES + of_forces * m)
    return Sizes(FRAMES, m, OwnVariables(0, 0, 0, 0, 0), memory)


def scratch(m):
    return foreseen_of(sizes(m), np.ones(1))


def stepped(rates, lam, steps, m, of_forces=True):
    """Foretold accelerations and multipliers of each step, of functions of its middle."""
    memory, now, foreseen, t = np.zeros(sizes(m, of_forces).memory.size), np.zeros(m), scratch(m), 0.0
    found = []
    for h in steps:
        foretell(memory, now, h, foreseen)
        found.append((foreseen.rates.copy(), foreseen.lam.copy()))
        foreseen.rates[:], now[:] = rates(t + h / 2), lam(t + h / 2)
        learn(memory, now, h, foreseen)
        t += h
    return found, memory


@pytest.mark.parametrize("degree", range(6))
@pytest.mark.parametrize("m", [0, 3, 11])
def test_polynomials_are_foretold_from_the_first_steps_that_tell(degree, m):
    """Of steps of any lengths, as soon as one more than the coefficients has shown that no more terms are needed."""
    random = np.random.default_rng(degree)
    steps = 0.1 * random.uniform(0.5, 2.0, 11)
    C, K = random.normal(size=(degree + 1, 6 * FRAMES)), random.normal(size=(degree + 1, m))
    powers = np.arange(degree + 1)

    def of(coefficients):
        return lambda t: (t**powers) @ coefficients

    found, _ = stepped(of(C), of(K), steps, m)
    ends = np.cumsum(steps)
    for k in range(degree + 2, len(steps)):
        t = ends[k] - steps[k] / 2
        assert np.allclose(found[k][0], of(C)(t), rtol=0, atol=1e-11)
        assert np.allclose(found[k][1], of(K)(t), rtol=0, atol=1e-11)


def test_terms_are_taken_up_to_the_first_that_is_least():
    """And of nodes that there are not none."""
    distance, all_terms = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6), (0.1, 0.02, 0.006, 0.0024, 0.0012)
    for k in range(6):
        sizes = [1.0] * 6
        sizes[k] = 1e-9
        assert factors(tuple(sizes), distance) == pytest.approx((*all_terms[:k], *[0.0] * (5 - k)))
    few = (0.1, 0.2, 0.0, 0.0, 0.0, 0.0)
    assert factors((1.0, 0.1, 0.0, 0.0, 0.0, 0.0), few) == pytest.approx((0.1, 0.0, 0.0, 0.0, 0.0))
    nodes = moved_on(moved_on((0.0, 0.0, 0.0, 0.0, 0.0, 0.0), 0.2), 0.4)
    assert nodes == pytest.approx((-0.2, -0.5, 0.0, 0.0, 0.0, 0.0))
    assert distances(nodes, 0.6) == pytest.approx((0.5, 0.8, 0.0, 0.0, 0.0, 0.0))


def test_what_rings_goes_on_as_it_was():
    found, _ = stepped(
        lambda t: np.full(6 * FRAMES, (-1.0) ** round(10.0 * t - 0.5)), np.zeros_like, [0.1] * 7, 0
    )
    for each, _ in found[1:]:
        assert abs(each).max() == 1.0


@pytest.mark.parametrize("h", [0.1, 1e-3, 1e-9])
def test_what_starts_at_once_is_not_blown_up(h):
    """Whatever the length of the next steps: a step that fails is taken in halves."""
    steps = [0.1] * 6 + [h] * 6
    found, _ = stepped(lambda t: np.full(6 * FRAMES, float(t > 0.5)), np.zeros_like, steps, 0)
    assert max(abs(each).max() for each, _ in found) < 4.0


def test_multipliers_stay_where_forces_follow_from_motions():
    found, memory = stepped(
        lambda t: np.full(6 * FRAMES, t), lambda t: np.full(5, 1.0 + t), [0.1] * 6, 5, of_forces=False
    )
    assert not any(each[1].any() for each in found)
    assert len(memory) == sizes(5, of_forces=False).memory.size
    assert np.allclose(found[-1][0], 0.55)


def test_eight_runs_are_to_the_bit_the_runs_alone():
    m, random = 3, np.random.default_rng(2)
    own = sizes(m)
    memory, lam, foreseen = room(own.memory.size), room(m), foreseen_of_runs(own)
    alone = [(np.zeros(own.memory.size), np.zeros(m), scratch(m)) for _ in range(WIDTH)]
    for k in range(8):
        h = 0.1 + 0.01 * k
        foretell_runs(memory, lam, h, foreseen)
        for run, (each, its, of_run) in enumerate(alone):
            foretell(each, its, h, of_run)
            assert of_run.rates.tobytes() == foreseen.rates[:, run].tobytes()
            assert k == 0 or of_run.lam.tobytes() == foreseen.lam[:, run].tobytes()
            smooth = np.sin(0.1 * k + np.arange(6 * FRAMES)) if run % 2 else random.normal(size=6 * FRAMES)
            of_run.rates[:] = foreseen.rates[:, run] = smooth
            its[:] = lam[:, run] = random.normal(size=m)
            learn(each, its, h, of_run)
        learn_runs(memory, lam, h, foreseen)
        for run, (each, *_) in enumerate(alone):
            assert each.tobytes() == memory[:, run].tobytes()


@pytest.mark.parametrize("make", [branched, lambda: branched(("revolute",) * 5), looped])
def test_trees_take_fewer_iterations_to_the_same_states(make):
    """Of short steps: with all kinds of joints, of hinges alone, of loops."""
    built = make().build()
    counts, ends = [], []
    for earlier in (True, False):
        stepper = em_stepper(built.system, 1e-3, 2, built.load_values, earlier=earlier)
        assert (stepper.sizes.memory.earlier > 0) == earlier
        end, report = stepper.advance(built.state, 0, 60)
        counts.append(report.iterations / report.solves)
        ends.append(of_last_step(end))
    assert counts[0] <= 1.1
    assert counts[1] >= 1.4
    # forces of 600 N follow from changes of momenta in 1e-3 s
    assert not {name: size for name, size in differences(*ends).items() if name != "lam" or size > 3e-5}


@pytest.mark.parametrize("order", [4, 6])
def test_compositions_of_trees_take_fewer_iterations(order):
    built = branched(("revolute", "spherical", "universal", "weld", "revolute")).build()
    counts, ends = [], []
    for earlier in (True, False):
        stepper = em_stepper(built.system, 0.1, order, built.load_values, earlier=earlier)
        end, report = stepper.advance(built.state, 0, 10)
        counts.append(report.iterations / report.solves)
        ends.append(of_last_step(end))
    assert counts[0] < counts[1] - 0.02
    assert not {name: size for name, size in differences(*ends).items() if name != "lam"}


def test_energy_does_not_drift_where_the_first_correction_is_the_last():
    """In 24,000 steps by no more than those with two corrections: what positions round off is in the equations."""
    worst = []
    for h in (8e-4, 9e-4, 1.3e-3):
        built = branched(("revolute",) * 5).build()
        stepper = em_stepper(built.system, h, 2, built.load_values)
        state, total, moving, off = built.state, energies(built.system, built.state).total, 0.0, 0.0
        for k in range(20):
            state, _ = stepper.advance(state, 400 * k, 400)
            now = energies(built.system, state)
            moving, off = max(moving, now.kinetic), max(off, abs(now.total - total))
        worst.append(off / moving)
    assert sum(worst) < 1.2e-13


def planar(built, h, order=2, **more):
    symmetry = Symmetry(built.state, built.load_directions)
    stepper = em_stepper(built.system, h, order, built.load_values, symmetry=symmetry, **more)
    assert stepper.solver == "planar"
    return stepper


@pytest.mark.parametrize(
    ("order", "h", "n", "fewer"),
    [(2, 2e-3, 200, 0.6), (2, 0.01, 60, 0.3), (4, 0.025, 80, 0.4), (6, 0.05, 40, 0.15)],
)
def test_planar_hinges_take_fewer_iterations_to_the_same_states(order, h, n, fewer):
    """Than from the last step alone; to states as in space, which remember so many numbers."""
    built = hinges().build()
    counts, ends = [], []
    for stepper in (planar(built, h, order), planar(built, h, order, earlier=False)):
        end, report = stepper.advance(stepper.start(built.state), 0, n)
        counts.append(report.iterations / report.solves)
        ends.append(end)
        memory = stepper.sizes.memory
        assert memory.earlier + memory.means == (0 if counts[1:] else 16)
        assert not (memory.means if order == 2 else memory.earlier)
    assert counts[0] < counts[1] - fewer
    space = em_stepper(built.system, h, order, built.load_values, shortcut=False)
    end, _ = space.advance(space.start(built.state), 0, n)
    for one in ends:
        assert np.abs(one.r - end.r).max() < 1e-13
        assert np.abs(one.quat - end.quat).max() < 1e-13


def test_energy_of_planar_hinges_does_not_drift_where_the_first_correction_is_the_last():
    """In 8000 steps of each length by no more than those with two corrections."""
    worst, corrections = [], []
    for h in (6e-4, 7e-4, 8e-4, 9e-4):
        built = hinges().build()
        stepper = planar(built, h)
        state, total = stepper.start(built.state), energies(built.system, built.state).total
        moving, off, count = 0.0, 0.0, 0
        for k in range(20):
            state, report = stepper.advance(state, 400 * k, 400)
            now = energies(built.system, state)
            moving, off, count = (
                max(moving, now.kinetic),
                max(off, abs(now.total - total)),
                count + report.iterations,
            )
        worst.append(off / moving)
        corrections.append(count / 8000)
    assert max(corrections) < 0.5
    assert sum(worst) < 1e-13
