"""Where Newton's method begins: polynomials are foretold as they are, what starts at once is as it was."""

import numpy as np
import pytest

from discretization.assembly.extrapolation import (
    NONE,
    extrapolate,
    foreseen_of,
    over_distances,
    remember,
)
from discretization.assembly.mean_velocities import LATEST, MISSED, MISSED_BY_LAST
from discretization.memory import MEANS, Memory
from discretization.own_variables import OwnVariables
from discretization.planar.symmetry import Symmetry
from discretization.shortcuts import em_stepper
from discretization.state_measures import energies
from discretization.state_shapes import Sizes
from rigid.compilation.decorators import kernel
from rodsim import simulate
from tests.support.mechanisms import branched, differences, hinges, looped, of_last_step, swung

FRAMES = 3
ALONE = np.arange(FRAMES)


@kernel
def foretell(memory, lam, h, foreseen):
    extrapolate(ALONE, memory, lam, h, foreseen)


@kernel
def learn(memory, lam, h, foreseen):
    by = over_distances(memory, h, foreseen)
    remember(ALONE, memory, lam, h, foreseen, by, NONE)


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


def five():
    return branched(("revolute", "spherical", "universal", "weld", "revolute"))


def nine():
    """Eight bodies that go in lanes, and one beside them."""
    return branched(("revolute",) * 9)


def foretelling(model, planar, order, h, **more):
    """A stepper of a tree, in space or in its plane."""
    built = model.build()
    symmetry = Symmetry(built.state, built.load_directions) if planar else None
    stepper = em_stepper(built.system, h, order, built.load_values, symmetry=symmetry, **more)
    assert (stepper.solver == "planar") == planar
    memory = stepper.sizes.memory
    assert (memory.earlier if order == 2 else memory.means) > 0 or not more.get("earlier", True)
    return stepper, stepper.start(built.state)


@pytest.mark.parametrize(
    ("make", "planar", "order", "h", "steps", "fewer"),
    [
        # of short steps: with all kinds of joints, of hinges alone, of loops
        (branched, False, 2, 1e-3, 60, 0.3),
        (lambda: branched(("revolute",) * 5), False, 2, 1e-3, 60, 0.3),
        (looped, False, 2, 1e-3, 60, 0.3),
        (five, False, 4, 0.1, 10, 0.02),
        (five, False, 6, 0.1, 10, 0.02),
        (nine, False, 6, 0.1, 25, 0.05),
        (hinges, True, 2, 2e-3, 200, 0.6),
        (hinges, True, 2, 0.01, 60, 0.3),
        (hinges, True, 4, 0.025, 80, 0.4),
        (hinges, True, 6, 0.05, 40, 0.15),
    ],
)
def test_steps_begin_where_those_before_lead_and_take_fewer_iterations_to_the_same_states(
    make, planar, order, h, steps, fewer
):
    """Than from the last step alone."""
    counts, ends = [], []
    for earlier in (True, False):
        stepper, begin = foretelling(make(), planar, order, h, earlier=earlier)
        end, report = stepper.advance(begin, 0, steps)
        counts.append(report.iterations / report.solves)
        ends.append(of_last_step(end))
    assert counts[0] < counts[1] - fewer
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
def test_energy_does_not_drift_where_the_first_correction_is_the_last(make, planar, lengths):
    """In 8000 steps of each length by no more than those with two corrections: what positions round off is in the equations."""
    worst = []
    for h in lengths:
        stepper, state = foretelling(make(), planar, 2, h)
        total, moving, off, count = energies(stepper.system, state).total, 0.0, 0.0, 0
        for k in range(20):
            state, report = stepper.advance(state, 400 * k, 400)
            now, count = energies(stepper.system, state), count + report.iterations
            moving, off = max(moving, now.kinetic), max(off, abs(now.total - total))
        worst.append(off / moving)
        assert count < 8000 * (0.5 if planar else 1.5)
    assert sum(worst) < (1e-13 if planar else 1.2e-13)


@pytest.mark.parametrize("make", [hinges, nine])
@pytest.mark.parametrize("order", [4, 6])
def test_runs_that_are_divided_have_the_same_bits(make, order):
    stepper, begin = foretelling(make(), make is hinges, order, 0.02)
    whole, _ = stepper.advance(begin, 0, 7)
    first, _ = stepper.advance(begin, 0, 3)
    again, _ = foretelling(make(), make is hinges, order, 0.02)[0].advance(first, 3, 4)
    for one, other in zip(whole, again, strict=True):
        assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("make", [hinges, nine])
@pytest.mark.parametrize("order", [4, 6])
def test_what_foretold_wrongly_does_not_again(make, order):
    """Means of which all but the last are nonsense, by which the last one was missed."""
    stepper, begin = foretelling(make(), make is hinges, order, 0.02)
    begun, _ = stepper.advance(begin, 0, 5)
    parts = stepper.sizes.memory.parts(begun.memory)
    latest = int(parts["substep"][LATEST])
    parts["means"][np.arange(MEANS) != latest] += 1e4
    parts["substep"][MISSED], parts["substep"][MISSED_BY_LAST] = 1.0, 0.5
    end, report = stepper.advance(begun, 5, 1)
    assert (report.halvings, report.most_iterations <= 4, report.solves >= MEANS) == (0, True, True)
    assert stepper.sizes.memory.parts(end.memory)["substep"][MISSED] < 10.0  # all eight are new


def test_results_that_go_on_remember_means(tmp_path):
    whole = simulate(swung(), 0.4, 0.02, "em4", progress=False)
    simulate(swung(), 0.2, 0.02, "em4", output=tmp_path / "half.vtkhdf", progress=False)
    more = simulate(swung(), 0.4, 0.02, "em4", output=tmp_path / "half.vtkhdf", resume=True, progress=False)
    for one, other in zip(whole.state(-1), more.state(-1), strict=True):
        assert one.tobytes() == other.tobytes()
