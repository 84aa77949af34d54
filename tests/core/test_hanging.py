"""Bodies that all hang on hinges in their plane: impulses of the foretold motion, rest, and what cannot be solved."""

import numpy as np
import pytest

from discretization.assembly.mean_velocities import NO_MEANS
from discretization.planar.arrays import R1, R2
from discretization.planar.foretelling import foretell
from discretization.planar.hanging import begin_hanging
from discretization.planar.step import add_loads, put_bodies, take_state
from rigid.compilation.decorators import kernel
from rigid.errors import ConvergenceError
from rodsim import Box, Model, simulate
from tests.support.hanging import branched, stepper_of


@kernel
def begun(tables, work, state, h, values):
    take_state(tables, state, work)
    begin_hanging(tables, work, h, values, foretell(state, work, NO_MEANS, h))
    put_bodies(tables, work, h, False)
    add_loads(tables, work, h, values, False)


@pytest.mark.parametrize("following", [False, True])
def test_impulses_begin_as_those_that_hold_the_foretold_motion(following):
    """Nothing is left of the equations of forces; of one that turns with its body as much as this turns it in the step."""
    built, h = branched(following).build(), 0.01
    stepper = stepper_of(built, h)
    state, _ = stepper.advance(stepper.start(built.state), 0, 20)
    work = stepper._work
    begun(stepper.tables, work, state, h, stepper.values_of(np.array([20 * h]))[0])
    left, impulses = np.abs(work.frames[:-1, (R1, R2)]), np.abs(work.lam)
    turn = 0.5 * h * np.abs(state.Omega[3, 1])
    assert impulses.max() > 0.1
    assert left.max() < (1.2 * np.hypot(30.0, 12.0) * h * turn if following else 1e-14)


def hanging():
    """Bars that hang down."""
    model = Model("hanging", gravity=(0.0, 0.0, -9.81))
    held = model.ground.at((0.0, 0.0, 0.0))
    for k in range(4):
        bar = model.add_body(f"bar {k}", Box(0.1, 0.1, 1.0, density=1000.0), (0.0, 0.0, -0.5 - k))
        model.add_joint(f"joint {k}", "revolute", held, bar.at((0.0, 0.0, 0.5)), axis=(0.0, 1.0, 0.0))
        held = bar.at((0.0, 0.0, -0.5))
    return model


def test_what_hangs_at_rest_stays_there_to_the_bit():
    built = hanging().build()
    stepper = stepper_of(built)
    begin = stepper.start(built.state)
    end, _ = stepper.advance(begin, 0, 100)
    assert np.array_equal(end.r, begin.r)
    assert np.array_equal(end.quat, begin.quat)
    assert not end.v.any()
    assert not end.Omega.any()


def test_what_begins_at_rest_falls():
    """Where the first step is foretold to go nowhere."""
    built = branched(size=0.0).build()
    stepper = stepper_of(built)
    end, report = stepper.advance(stepper.start(built.state), 0, 1)
    assert np.abs(end.v).max() > 0.01
    assert report.iterations > 0


def test_loads_that_are_far_too_large_are_said():
    """Of bodies that move, when the force begins."""
    built, h = branched().build(), 0.01
    stepper, values = stepper_of(built, h), built.load_values
    state, _ = stepper.advance(stepper.start(built.state), 0, 5)
    stepper._load_values = lambda times: 3e306 * values(times)
    with (
        np.errstate(all="ignore"),
        pytest.raises(ConvergenceError, match="the residual is not a finite number"),
    ):
        stepper.advance(state, 5, 1)


@pytest.mark.parametrize(("order", "h", "n"), [(6, 0.02, 50), (6, 5e-3, 200), (8, 5e-3, 200)])
def test_what_is_left_of_a_step_is_small_beside_what_it_turns(order, h, n):
    """A door swings: in hundreds of substeps that turn it by a thousandth, nothing adds up. With 5e-18 rad as nothing: 6e-13."""
    model = Model("door", gravity=(0.0, 0.0, -9.81))
    box = model.add_body("box", Box(10.0, 1.0, 1.0, density=10.0), position=(5.0, 0.0, 0.0))
    model.add_joint("hinge", "revolute", model.ground, box, at=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
    result = simulate(model, n * h, h, f"em{order}", output_every=n, progress=False)
    energy = result.energy
    assert abs(energy["total"][-1] - energy["total"][0]) < 5e-14 * energy["kinetic"][-1]
