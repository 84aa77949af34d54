"""Forces of joints at outputs: order 2 with every integrator, exact at t = 0, the same from memory, file and resumed file.

The reference solves the equations of motion at the states of a run of order 8 (`discretization.constraint_forces`), which itself
is compared with closed forms.
"""

from functools import cache

import h5py
import numpy as np
import pytest

from discretization.constraint_forces import instant_multipliers
from discretization.time.em_names import KIN
from rodsim import Box, Model, Result, audit, equilibrium, simulate
from rodsim.reporting.joints import carried
from rodsim.results import native
from rodsim.results.output_multipliers import HALVINGS
from tests.support.results_sample import without_digests

pytestmark = pytest.mark.filterwarnings("ignore::rodsim.InitialVelocityWarning")
T_END, COARSE = 0.4, 10  # s, and outputs after t = 0 that are compared
G = 9.81


@cache
def chain():
    """Two tumbling bodies on a ball joint and an oblique hinge."""
    model = Model("chain", gravity=(1, -2, -9))
    a = model.add_body("a", Box(1, 0.3, 0.2, density=100), (0.5, 0, 0), angular_velocity=(1, 0.5, 2))
    b = model.add_body("b", Box(0.8, 0.2, 0.4, density=120), (1.4, 0, 0), angular_velocity=(-1, 1.5, 1))
    model.add_joint("one", "spherical", model.ground, a, at=(0, 0, 0))
    model.add_joint("two", "revolute", a, b, at=(1, 0, 0), axis=(0.2, 1, 0.3))
    return model


def every_multiplier(result):
    return np.hstack([result.joint(name).multipliers for name in result.joints])


@cache
def exact():
    """(COARSE + 1, m) of the chain."""
    result = simulate(chain(), T_END, T_END / 80, "em8-ggl", output_every=8)
    system, none = result.layout.system, np.zeros((0, 3))
    states = [result.state(k) for k in range(result.n_outputs)]
    return np.array([instant_multipliers(system, state, none, None, 0.0, 1.0) for state in states])


def errors(integrator, steps, every, **more):
    """(COARSE + 1,) largest at each output, relative."""
    result = simulate(chain(), T_END, T_END / steps, integrator, output_every=every, **more)
    values = every_multiplier(result)[:: steps // COARSE // every]
    return (np.abs(values - exact()) / np.abs(exact()).max(axis=0)).max(axis=1)


NAMES = [name.replace("(rho)", "(0.8)") for name in KIN] + ["EML", "EMH(order=4)"]


@pytest.mark.parametrize("every", [1, 2])
@pytest.mark.parametrize("integrator", NAMES)
def test_forces_at_outputs_have_order_2_with_every_integrator(integrator, every):
    coarse, fine = (errors(integrator, n, every) for n in (20, 40))
    assert coarse[0] < 1e-9  # round-off of finite differences
    assert np.log2(coarse[1:-1].max() / fine[1:-1].max()) == pytest.approx(2.0, abs=0.15)
    assert fine[1:-1].max() < 7e-3


def test_forces_of_an_integrator_with_multipliers_at_the_ends_of_steps_are_those():
    result = simulate(chain(), T_END, T_END / 20, "mG(2)", output_every=2)
    for name in result.joints:
        joint = result.joint(name)
        assert np.array_equal(joint.multipliers[1:], joint.step_multipliers[1:])
    assert result.layout.n_after == 0
    assert errors("mG(2)", 20, 1)[0] < 1e-9
    assert errors("mG(2)", 20, 1).max() < 1e-2  # means of two of them are off by 0.07


def test_forces_of_chosen_steps_are_more_exact_than_means_over_steps():
    result = simulate(chain(), T_END, integrator="em", error=1e-4, output_dt=T_END / COARSE)
    size = np.abs(exact()).max(axis=0)
    stored = np.hstack([result.joint(name).step_multipliers for name in result.joints])
    at_outputs = (np.abs(every_multiplier(result) - exact()) / size).max()
    assert at_outputs < 0.2 * (np.abs(stored - exact())[1:] / size).max()


def pendulum(rate=3.0, kinds=("h",)):
    """A box of 2 kg and 1 m on hinges about y, level, turning."""
    model = Model("pendulum", gravity=(0, 0, -G))
    body = model.add_body(
        "box",
        Box(1, 0.3, 0.2, mass=2.0),
        (0.5, 0, 0),
        velocity=(0, 0, -rate / 2),
        angular_velocity=(0, rate, 0),
    )
    for k, name in enumerate(kinds):
        model.add_joint(
            name, "revolute", model.ground, body, at=(0, 0.1 * (2 * k + 1 - len(kinds)), 0), axis=(0, 1, 0)
        )
    return model


INERTIA = 2 / 12 * (1 + 0.2**2) + 2 * 0.25  # kg m^2, about the hinge


def test_force_at_the_start_is_that_of_the_equations_of_motion():
    joint = simulate(pendulum(), 0.02, 0.01).joint("h")
    turning = 2.0 * G * 0.5 / INERTIA
    expected = -2.0 * 0.5 * 3.0**2, 0.0, 2.0 * (G - 0.5 * turning)
    assert joint.force[0] == pytest.approx(expected, abs=1e-10)  # finite differences of rates of 3 rad/s
    assert np.array_equal(joint.step_multipliers[0], np.zeros(5))


@pytest.mark.filterwarnings("ignore::rodsim.RedundantJointsWarning")
def test_force_at_the_start_of_joints_that_repeat_each_other_is_the_smallest():
    result = simulate(pendulum(kinds=("one", "two")), 0.02, 0.01)
    one, two = (result.joint(name).multipliers[0] for name in result.joints)
    alone = simulate(pendulum(), 0.02, 0.01).joint("h").force[0]
    assert result.joint("one").force[0] + result.joint("two").force[0] == pytest.approx(alone, abs=1e-9)
    assert one[[0, 2]] == pytest.approx(two[[0, 2]], abs=1e-9)  # equal shares of what any shares would carry


def test_torque_of_a_drive_at_the_start_is_its_acceleration():
    model = pendulum(rate=0.0)
    model.gravity[:] = 0.0
    model.add_drive("motor", "h", lambda t: 0.7 * t**2)
    torque = simulate(model, 0.02, 0.01).joint("motor").moment[0, 1]
    assert torque == pytest.approx(1.4 * INERTIA, rel=1e-5)  # rates of a function are differences


def test_force_at_the_start_follows_a_frame_that_is_driven():
    model = Model("lift", gravity=(0, 0, -G))
    lift = model.add_driven("lift", displacement=lambda t: (0, 0, 3 * t**2))
    body = model.add_body("load", Box(0.1, 0.1, 0.1, mass=5.0))
    model.add_joint("hook", "weld", lift, body, at=(0, 0, 0))
    result = simulate(model, 0.02, 0.01)
    assert result.joint("hook").force[0, 2] == pytest.approx(5.0 * (G + 6.0), rel=1e-5)


@pytest.mark.parametrize("integrator", ["em", "em6"])
def test_forces_from_memory_file_and_resumed_file_are_the_same(tmp_path, integrator):
    given = {"dt": T_END / 20, "integrator": integrator, "output_every": 4}
    memory = every_multiplier(simulate(chain(), T_END, **given))
    whole = simulate(chain(), T_END, output=tmp_path / "whole.vtkhdf", **given)
    simulate(chain(), T_END * 0.6, output=tmp_path / "parts.vtkhdf", **given)
    resumed = simulate(chain(), T_END, output=tmp_path / "parts.vtkhdf", resume=True, **given)
    for result in (whole, resumed):
        assert np.array_equal(every_multiplier(Result.open(result.path)), memory)
        assert not result.changed()
    assert audit(resumed).ok


def test_files_without_the_step_after_outputs_have_means_over_steps(tmp_path):
    path = tmp_path / "a.vtkhdf"
    simulate(chain(), T_END, T_END / 20, output=path, output_every=4)
    with h5py.File(path, "r+") as file:
        del file[native.ROOT]["layout"].attrs["n_after"], file[native.ROOT]["layout"][native.START]
        del file[native.ROOT][native.AFTER]
        without_digests(file)  # of what has just been taken out
    joint = Result.open(path).joint("two")
    assert np.array_equal(joint.multipliers, joint.step_multipliers)


def test_forces_beside_a_halved_step_are_of_one_side():
    result = simulate(chain(), T_END, T_END / 20)
    joint = result.joint("two")
    stored, smooth = joint.step_multipliers, joint.multipliers
    result._source.read(native.AUDIT)[7, HALVINGS] = 1.0
    found = result.joint("two").multipliers
    assert np.array_equal(found[[6, 7]], stored[[6, 7]])
    kept = [0, 1, 2, 3, 4, 5, 8, 9, 10]
    assert np.array_equal(found[kept], smooth[kept])


def test_forces_beside_a_contact_that_closes_are_of_the_other_side():
    model = pendulum(rate=0.0)
    tip = model.add_sphere("tip", model.bodies["box"].at((0.5, 0, 0)), 0.05)
    floor = model.add_plane("floor", model.ground.at((0, 0, -0.15)), (0, 0, 1))
    model.add_contact("stop", tip, floor, stiffness=1e4)
    result = simulate(model, 0.15, 0.01)
    stored, found = result.joint("h").step_multipliers, result.joint("h").multipliers
    closed = int(np.argmax(result.contact("stop").gap < 0.0))  # with the step that ends at this output
    assert 5 < closed < 14
    means = 0.5 * (stored[1:-1] + stored[2:])
    assert np.array_equal(found[closed - 1], stored[closed - 1])
    assert np.array_equal(found[closed], stored[closed + 1])
    assert np.array_equal(found[1 : closed - 1], means[: closed - 2])


def test_reports_of_some_outputs_have_the_forces_of_those_outputs():
    result = simulate(chain(), T_END, T_END / 20)
    outputs = np.array([0, 5, 13])
    for joint in carried(result, outputs):
        force = np.linalg.norm(result.joint(joint.name).force, axis=1)
        assert np.array_equal(joint.force, force[outputs])


def test_forces_of_equilibria_are_stored_as_they_are():
    model = Model("hung", gravity=(0, 0, -G))
    body = model.add_body("box", Box(1, 0.3, 0.2, mass=2.0), (0.5, 0, 0))
    model.add_joint("h", "weld", model.ground, body, at=(0, 0, 0))
    path = equilibrium(model)
    joint = path.joint("h")
    assert np.array_equal(joint.multipliers, joint.step_multipliers)
    assert joint.force[-1] == pytest.approx((0, 0, 2 * G), abs=1e-9)
