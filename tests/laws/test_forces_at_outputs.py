"""Joint forces at outputs: order 2 with every integrator, exact at t = 0, equal from memory, file and resumed file.

The reference solves the equations of motion at the states of a run of order 8 (`discretization.constraint_forces`), which
itself
is compared with closed forms.
"""

from functools import cache, partial

import h5py
import numpy as np
import pytest

from discretization.constraint_forces import instant_multipliers
from discretization.time.em_family import EM_FAMILY, EmIntegrator
from rodsim import (
    Adaptive,
    Box,
    Material,
    Model,
    Result,
    Section,
    audit,
    equilibrium,
    modes,
    signals,
    simulate,
)
from rodsim.linear import mode_shapes
from rodsim.reporting.joints import joint_loads
from rodsim.results import native_format
from rodsim.results.output_multipliers import HALVINGS
from tests.support.results_sample import without_digests

pytestmark = pytest.mark.filterwarnings("ignore::rodsim.warnings.InitialVelocityWarning")
HALVES = EmIntegrator(2, fractions=(0.5, 0.5))
T_END, COARSE = 0.4, 10  # s, and the number of compared outputs after t = 0
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
    """Reference multipliers (COARSE + 1, m) of the chain."""
    result = simulate(chain(), T_END, T_END / 80, "em8-ggl", output_every=8)
    system, none = result.layout.system, np.zeros((0, 3))
    states = [result.state(k) for k in range(result.n_outputs)]
    return np.array([instant_multipliers(system, state, none, None, 0.0, 1.0) for state in states])


def errors(integrator, steps, every, **options):
    """Largest relative error at each output, (COARSE + 1,)."""
    result = simulate(chain(), T_END, T_END / steps, integrator, output_every=every, **options)
    values = every_multiplier(result)[:: steps // COARSE // every]
    return (np.abs(values - exact()) / np.abs(exact()).max(axis=0)).max(axis=1)


NAMES = [name.replace("(rho)", "(0.8)") for name in EM_FAMILY] + ["EML", "EMH(order=4)"]


@pytest.mark.parametrize("every", [1, 2])
@pytest.mark.parametrize("integrator", NAMES)
def test_forces_at_outputs_have_order_2_with_every_integrator(integrator, every):
    coarse, fine = (errors(integrator, n, every) for n in (20, 40))
    assert coarse[0] < 1e-9  # round-off of finite differences
    assert np.log2(coarse[1:-1].max() / fine[1:-1].max()) == pytest.approx(2.0, abs=0.15)
    assert fine[1:-1].max() < 7e-3


def test_multipliers_at_step_ends_are_the_forces_at_outputs():
    result = simulate(chain(), T_END, T_END / 20, "mG(2)", output_every=2)
    for name in result.joints:
        joint = result.joint(name)
        assert np.array_equal(joint.multipliers[1:], joint.step_multipliers[1:])
    assert result.layout.n_after == 0
    assert errors("mG(2)", 20, 1)[0] < 1e-9
    assert errors("mG(2)", 20, 1).max() < 1e-2  # means of two of them differ by 0.07


def test_forces_of_adaptive_steps_beat_means_over_steps():
    result = simulate(chain(), T_END, Adaptive(1e-4, output_dt=T_END / COARSE), integrator="em")
    size = np.abs(exact()).max(axis=0)
    stored = np.hstack([result.joint(name).step_multipliers for name in result.joints])
    at_outputs = (np.abs(every_multiplier(result) - exact()) / size).max()
    assert at_outputs < 0.2 * (np.abs(stored - exact())[1:] / size).max()


def test_forces_of_halved_steps_have_order_2(monkeypatch):
    monkeypatch.setitem(EM_FAMILY, "halves", lambda text: HALVES if text == "halves" else None)
    coarse, fine = (errors("halves", n, 1) for n in (20, 40))
    assert np.log2(coarse[1:-1].max() / fine[1:-1].max()) == pytest.approx(2.0, abs=0.15)


def pendulum(rate=3.0, kinds=("h",)):
    """A box of 2 kg and 1 m on hinges about y, level, rotating."""
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


def model_with_later_loads():
    """A damped spring between two parts, and a force and a moment that change later."""
    model = pendulum()
    body = model.bodies["box"]
    hung = model.add_body("hung", Box(0.1, 0.1, 0.1, mass=1.0), (1, 0, -1), velocity=(0, 0, 0))
    model.add_spring("rope", body.at((0.5, 0, 0)), hung, stiffness=30.0, length=0.6, damping=2.0)
    model.add_force("push", body.at((0.5, 0, 0)), lambda t: (0, 0, 3 + 100 * t))
    model.add_force("more", body.at((0.5, 0, 0)), (0, 0, 1))
    model.add_moment("twist", body, lambda t: (0, 5 + 100 * t, 0))
    return model


def motored():
    model = pendulum(rate=0.0)
    model.gravity[:] = 0.0
    model.add_drive("h motor", "h", lambda t: 0.7 * t**2)
    return model


def pendulum_on_driven_frame(first):
    """A pendulum on a frame that moves from the start or begins to move at t = 0: the rate of its function uses earlier times,
    too.
    """
    model = Model("lift", gravity=(0, 0, -G))
    lift = model.add_driven("lift", displacement=lambda t: (0, 0, 3 * max(t, first) ** 2))
    body = model.add_body("load", Box(0.1, 0.1, 0.1, mass=5.0))
    model.add_joint("hook", "weld", lift, body, at=(0, 0, 0))
    return model


TURNING, AT_TIP = 2.0 * G * 0.5 / INERTIA, 4.0 - (30.0 * 0.4 - 2.0 * 3.0)  # the tip approaches at 3 m/s
PARTS_WITH_LATER_LOADS = (2.0 * G * 0.5 - AT_TIP + 5.0) / INERTIA
STARTS = [  # rates are differences, also of functions of time
    (pendulum, "h", "force", (-2.0 * 0.5 * 3.0**2, 0.0, 2.0 * (G - 0.5 * TURNING)), 1e-10),
    (
        model_with_later_loads,
        "h",
        "force",
        (-2.0 * 0.5 * 3.0**2, 0.0, 2.0 * (G - 0.5 * PARTS_WITH_LATER_LOADS) - AT_TIP),
        1e-9,
    ),
    (motored, "h motor", "moment", (0.0, 1.4 * INERTIA, 0.0), 1e-5 * 1.4 * INERTIA),
    (
        partial(pendulum_on_driven_frame, -1.0),
        "hook",
        "force",
        (0.0, 0.0, 5.0 * (G + 6.0)),
        1e-5 * 5.0 * (G + 6.0),
    ),
    (
        partial(pendulum_on_driven_frame, 0.0),
        "hook",
        "force",
        (0.0, 0.0, 5.0 * (G + 6.0)),
        0.02 * 5.0 * (G + 6.0),
    ),
]


@pytest.mark.parametrize(("make", "name", "what", "expected", "close"), STARTS)
def test_initial_force_satisfies_the_equations_of_motion(make, name, what, expected, close):
    joint = simulate(make(), 0.02, 0.01).joint(name)
    assert getattr(joint, what)[0] == pytest.approx(expected, abs=close)
    assert not np.any(joint.step_multipliers[0])


def with_friction(model):
    """A contact with friction that never acts."""
    tip = model.add_sphere("tip", model.bodies["box"].at((0.5, 0, 0)), 0.05)
    floor = model.add_plane("floor", model.ground.at((0, 0, -3)), (0, 0, 1))
    model.add_contact("stop", tip, floor, stiffness=1e4, friction=0.3)


def with_relaxing_rod(model):
    section = Section.circular(0.05, Material(E=1e7, nu=0.3, density=1000.0)).with_relaxation(0.1, 0.5)
    model.add_rod("rod", [(5, 0, 0), (6, 0, 0)], section, 2)


@pytest.mark.parametrize("every", [1, 2])
@pytest.mark.parametrize("add", [with_friction, with_relaxing_rod])
def test_initial_force_is_the_first_step_mean_for_parts_with_history(add, every):
    model = pendulum()
    add(model)
    first = simulate(model, 0.02, 0.01).joint("h").step_multipliers[1]
    multiplier = simulate(model, 0.02, 0.01, output_every=every).joint("h").multipliers[0]
    assert multiplier == pytest.approx(first, rel=1e-12)


@pytest.mark.filterwarnings("ignore::rodsim.warnings.RedundantJointsWarning")
def test_initial_force_of_redundant_joints_has_minimum_norm():
    result = simulate(pendulum(kinds=("one", "two")), 0.02, 0.01)
    one, two = (result.joint(name).multipliers[0] for name in result.joints)
    alone = simulate(pendulum(), 0.02, 0.01).joint("h").force[0]
    assert result.joint("one").force[0] + result.joint("two").force[0] == pytest.approx(alone, abs=1e-9)
    assert one[[0, 2]] == pytest.approx(
        two[[0, 2]], abs=1e-9
    )  # equal shares of the force that any distribution would carry


@pytest.mark.parametrize("integrator", ["em", "em6"])
def test_forces_from_memory_file_and_resumed_file_are_the_same(tmp_path, integrator):
    options = {"dt": T_END / 20, "integrator": integrator, "output_every": 4}
    memory = every_multiplier(simulate(chain(), T_END, **options))
    uninterrupted = simulate(chain(), T_END, output=tmp_path / "whole.vtkhdf", **options)
    simulate(chain(), T_END * 0.6, output=tmp_path / "parts.vtkhdf", **options)
    resumed = simulate(chain(), T_END, output=tmp_path / "parts.vtkhdf", resume=True, **options)
    for result in (uninterrupted, resumed):
        assert np.array_equal(every_multiplier(Result.load(result.path)), memory)
        assert not result.find_damage()
    assert audit(resumed).ok


def test_files_without_the_step_after_outputs_give_means_over_steps(tmp_path):
    path = tmp_path / "a.vtkhdf"
    simulate(chain(), T_END, T_END / 20, output=path, output_every=4)
    with h5py.File(path, "r+") as file:
        del (
            file[native_format.ROOT]["layout"].attrs["n_after"],
            file[native_format.ROOT]["layout"][native_format.LAM_START],
        )
        del file[native_format.ROOT][native_format.LAM_AFTER]
        without_digests(file)  # of the value that was just removed
    joint = Result.load(path).joint("two")
    assert np.array_equal(joint.multipliers, joint.step_multipliers)


@pytest.mark.parametrize(
    ("options", "one_sided"),
    [({"dt": T_END / 20}, [6, 7]), ({"dt": T_END / 40, "output_every": 2}, [7]),
     ({"error": 1e-3, "output_dt": T_END / 20}, [])],
)  # fmt: skip
def test_forces_next_to_a_halved_step_are_one_sided(options, one_sided):
    """With adaptive steps that column counts steps that were repeated and shortened."""
    result = simulate(chain(), T_END, **options)
    joint = result.joint("two")
    stored, smooth = joint.step_multipliers, joint.multipliers
    result._source.read(native_format.AUDIT)[7, HALVINGS] = 1.0
    multipliers = result.joint("two").multipliers
    assert np.array_equal(multipliers[one_sided], stored[one_sided])
    two_sided = np.setdiff1d(np.arange(len(multipliers)), one_sided)
    assert np.array_equal(multipliers[two_sided], smooth[two_sided])


def pendulum_and_stop():
    """A pendulum that falls on a stop, and a contact that never acts."""
    model = pendulum(rate=0.0)
    tip = model.add_sphere("tip", model.bodies["box"].at((0.5, 0, 0)), 0.05)
    for name, z in (("stop", -0.15), ("far", -3.0)):
        floor = model.add_plane(name, model.ground.at((0, 0, z)), (0, 0, 1))
        model.add_contact(name, tip, floor, stiffness=1e4)
    return model


@pytest.mark.filterwarnings("ignore::rodsim.warnings.ModelCheckWarning")
def test_forces_next_to_a_closing_contact_are_one_sided():
    """Forces belong to the earlier side at isolated outputs, and at the end of a run in whose last step the contact closes."""
    result = simulate(pendulum_and_stop(), 0.15, 0.01)
    closed = int(np.argmax(result.contact("stop").gap < 0.0))  # the output at the end of that step
    stored, multipliers = result.joint("h").step_multipliers, result.joint("h").multipliers
    assert 5 < closed < 14
    means = 0.5 * (stored[1:-1] + stored[2:])
    assert np.array_equal(multipliers[closed - 1], stored[closed - 1])
    assert np.array_equal(multipliers[closed], stored[closed + 1])
    assert np.array_equal(multipliers[1 : closed - 1], means[: closed - 2])
    apart = simulate(pendulum_and_stop(), 0.15, 0.01, output_every=closed - 1).joint("h").multipliers
    assert apart[1] == pytest.approx(stored[closed - 1], rel=1e-9)
    joint = simulate(pendulum_and_stop(), 0.01 * closed, 0.01).joint("h")
    assert np.array_equal(joint.multipliers[-1], joint.step_multipliers[-1])


@pytest.mark.parametrize(("every", "one_sided"), [(1, [4, 5]), (4, [1])])
def test_forces_next_to_a_load_corner_are_one_sided(every, one_sided):
    """The corner is at 0.044 s, inside the step that ends at 0.05 s."""
    model = pendulum(rate=0.0)
    push = signals.Table([0, 0.044, 0.0441], [0, 0, 50]).along((0, 0, 1))
    model.add_force("push", model.bodies["box"].at((0.5, 0, 0)), push)
    joint = simulate(model, 0.12, 0.01, output_every=every).joint("h")
    stored, multipliers = joint.step_multipliers, joint.multipliers
    outputs = np.arange(1, len(stored) - 1)
    assert outputs[np.all(multipliers[1:-1] == stored[1:-1], axis=1)].tolist() == one_sided


def test_final_force_is_that_of_the_last_step_if_the_load_ends():
    def push(t):
        if t > 0.04:
            raise ValueError("measured up to 0.04 s")
        return 0, 0, 10 * t

    model = pendulum()
    model.add_force("push", model.bodies["box"].at((0.5, 0, 0)), push)
    joint = simulate(model, 0.04, 0.01, output_every=2).joint("h")
    assert np.array_equal(joint.multipliers[-1], joint.step_multipliers[-1])
    assert not np.array_equal(joint.multipliers[1], joint.step_multipliers[1])


def test_reports_of_selected_outputs_have_their_forces():
    result = simulate(chain(), T_END, T_END / 20)
    outputs = np.array([0, 5, 13])
    for joint in joint_loads(result, outputs):
        force = np.linalg.norm(result.joint(joint.name).force, axis=1)
        assert np.array_equal(joint.force, force[outputs])


def test_equilibrium_forces_are_stored_unchanged():
    model = Model("hung", gravity=(0, 0, -G))
    body = model.add_body("box", Box(1, 0.3, 0.2, mass=2.0), (0.5, 0, 0))
    model.add_joint("h", "weld", model.ground, body, at=(0, 0, 0))
    path = equilibrium(model)
    joint = path.joint("h")
    assert np.array_equal(joint.multipliers, joint.step_multipliers)
    assert joint.force[-1] == pytest.approx((0, 0, 2 * G), abs=1e-9)


def test_mode_shape_forces_are_stored_unchanged(tmp_path):
    model = pendulum(rate=0.0)
    model.gravity[:] = 0.0
    model.add_spring("rope", model.bodies["box"].at((0.5, 0, 0)), model.ground.at((1, 0, 1)), 30.0)
    for output in (None, tmp_path / "modes.vtkhdf"):
        joint = mode_shapes(modes(model, 1), output).joint("h")
        assert np.array_equal(joint.multipliers, joint.step_multipliers)
