"""Open chains of hinges in a plane: rest, unsolvable steps, and convergence of corrections."""

import numpy as np
import pytest

from discretization.assembly.workspace import EPS
from discretization.planar.arrays import MPSI
from discretization.time.planar_newton import is_chain_converged, largest_rotation
from rigid.errors import ConvergenceError
from rodsim import Box, Model, simulate
from tests.support.open_chains import branched, stepper_of


def hanging():
    """Bars that hang down."""
    model = Model("hanging", gravity=(0.0, 0.0, -9.81))
    support = model.ground.at((0.0, 0.0, 0.0))
    for k in range(4):
        bar = model.add_body(f"bar {k}", Box(0.1, 0.1, 1.0, density=1000.0), (0.0, 0.0, -0.5 - k))
        model.add_joint(f"joint {k}", "revolute", support, bar.at((0.0, 0.0, 0.5)), axis=(0.0, 1.0, 0.0))
        support = bar.at((0.0, 0.0, -0.5))
    return model


def test_hanging_equilibrium_stays_bitwise_constant():
    built = hanging().build()
    stepper = stepper_of(built)
    start = stepper.start(built.state)
    end, _ = stepper.advance(start, 0, 100)
    assert np.array_equal(end.r, start.r)
    assert np.array_equal(end.quat, start.quat)
    assert not end.v.any()
    assert not end.Omega.any()


def test_newton_reports_excessive_loads():
    """The bodies already move when the force starts."""
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
def test_newton_error_is_small_compared_with_the_rotation(order, h, n):
    """A door swings: errors of hundreds of substeps that rotate it by a thousandth do not accumulate.

    With an absolute tolerance of 5e-18 rad they reach 6e-13.
    """
    model = Model("door", gravity=(0.0, 0.0, -9.81))
    box = model.add_body("box", Box(10.0, 1.0, 1.0, density=10.0), position=(5.0, 0.0, 0.0))
    model.add_joint("hinge", "revolute", model.ground, box, at=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
    result = simulate(model, n * h, h, f"em{order}", output_every=n, progress=False)
    energy = result.energy
    assert abs(energy["total"][-1] - energy["total"][0]) < 5e-14 * energy["kinetic"][-1]


def stops_at(error, rotation, solved):
    """Whether Newton's method stops at this expected remaining error, rad, after a correction of 1e-12 rad."""
    size = 1e-12
    return is_chain_converged(size, size * np.sqrt(size / error), 1, solved, False, rotation)


@pytest.mark.parametrize("rotation", [1e-3, 0.3])
def test_newton_error_scales_with_the_rotation_of_a_step(rotation):
    """The tolerance is a tenth of its round-off, or a hundredth of the residual tolerance if that is larger."""
    assert stops_at(1e-17 * rotation, rotation, 4.0)
    assert not stops_at(3e-17 * rotation, rotation, 4.0)
    assert stops_at(0.9 * 0.01 * 1000.0 * EPS * rotation, rotation, 1000.0)
    assert not stops_at(1.1 * 0.01 * 1000.0 * EPS * rotation, rotation, 1000.0)


@pytest.mark.parametrize("body", range(4))
def test_newton_detects_nan_corrections_of_every_body(body):
    built = branched().build()
    stepper = stepper_of(built)
    stepper.advance(stepper.start(built.state), 0, 2)
    work = stepper._work
    assert largest_rotation(work) == np.abs(work.frames[: len(work.hinges), MPSI]).max()
    work.frames[body, MPSI] = np.nan
    assert np.isnan(largest_rotation(work))


def falling(side, bars=3):
    """Bars on hinges that all fall to one side."""
    model, previous = Model("falling", gravity=(0.0, 0.0, -9.81)), None
    for k in range(bars):
        bar = model.add_body(f"bar {k}", Box(1.0, 0.1, 0.1, density=1000.0), (side * (0.5 + k), 0.0, 0.0))
        joint = model.ground if previous is None else previous, bar
        model.add_joint(f"joint {k}", "revolute", *joint, at=(side * k, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
        previous = bar
    return model.build()


def test_mirrored_motion_takes_equal_iterations():
    counts = []
    for side in (1.0, -1.0):
        built = falling(side)
        stepper = stepper_of(built, 0.02)
        end, report = stepper.advance(stepper.start(built.state), 0, 30)
        assert (np.sign(end.Omega[1, 1]), report.solves) == (side, 30)
        counts.append(report.iterations)
    assert counts[0] == counts[1] > 15


def test_a_short_step_from_rest_takes_one_iteration():
    """No rotation is predicted at rest, so the tolerance is relative to `MIN_ROTATION`."""
    built = falling(1.0)
    stepper = stepper_of(built, 1e-4)
    end, report = stepper.advance(stepper.start(built.state), 0, 1)
    assert report.iterations == 1
    assert end.v[1, 2] < -1e-4
