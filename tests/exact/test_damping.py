"""External damping and joint friction of models: closed forms and energy balance, in `em`, in the charts and
in scenes.
"""

import numpy as np
import pytest

from rodsim import Box, MassProperties, Material, Model, ModelError, Section, audit, simulate
from rodsim.scenes.model_from_scene import load
from tests.support.rods import INERTIA, free_rod

RATE = 1.5


def tumbling():
    model = Model("body")
    body = model.add_body(
        "body", MassProperties(2.0, INERTIA), velocity=(1.0, 2.0, -0.5), angular_velocity=(1.0, -2.0, 3.0)
    )
    model.add_mass_damping("air", body, RATE)
    return model


def test_damped_free_body_follows_the_closed_form():
    """m dv/dt = -rate m v, d(R J Omega)/dt = -rate R J Omega: both momenta decay as exp(-rate t), L with
    constant direction.
    """
    errors = []
    for h in (0.02, 0.01):
        result = simulate(tumbling(), 1.0, h, output_every=10, progress=False)
        P, L = (
            result.linear_momentum,
            result.angular_momentum - np.cross(result.body("body").center_of_mass, result.linear_momentum),
        )
        fall = np.exp(-RATE * result.t)[:, None]
        errors.append(max(np.abs(P - fall * P[0]).max(), np.abs(L - fall * L[0]).max()))
    assert errors[1] < 1e-3
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


def with_friction(kind):
    """Two jointed bodies in free flight, the first of which is also damped externally."""
    model = Model(kind)
    a = model.add_body("a", Box(0.4, 0.3, 0.2, density=100), velocity=(0.3, 0, 0), angular_velocity=(1, 2, 3))
    b = model.add_body("b", Box(0.2, 0.4, 0.3, density=80), position=(0.5, 0.1, 0))
    at = None if kind == "prismatic" else (0.3, 0, 0)
    point = a.at((0.2, 0, 0)) if kind == "prismatic" else a
    other = b.at_world((0.2, 0, 0)) if kind == "prismatic" else b
    axis = None if kind == "spherical" else (0.6, 0.0, 0.8)
    joint = model.add_joint("joint", kind, point, other, at=at, axis=axis)
    slides = kind == "prismatic"
    model.add_joint_damping("friction", joint, turning=0.0 if slides else 0.4, sliding=8.0 if slides else 0.0)
    return model


@pytest.mark.parametrize("integrator", ["em", "em-ggl"])
@pytest.mark.parametrize("kind", ["revolute", "spherical", "prismatic"])
def test_joint_friction_conserves_momenta_and_balances_energy(kind, integrator):
    result = simulate(with_friction(kind), 0.5, 0.01, integrator, progress=False)
    E, dissipated = result.audit_column("total"), result.audit_column("dissipation")
    assert np.abs(E + dissipated - E[0]).max() < 1e-12 * E[0]
    assert np.all(np.diff(dissipated) > 0.0)
    assert dissipated[-1] > 0.01 * E[0]
    for name in ("Px", "Py", "Pz", "Lx", "Ly", "Lz"):
        assert np.ptp(result.audit_column(name)) < 1e-11
    assert audit(result).ok


def test_damped_hinged_body_follows_the_closed_form():
    """J dw/dt = -c w about a fixed axis through the centre."""
    model = Model("wheel")
    wheel = model.add_body(
        "wheel", MassProperties(2.0, np.diag([0.3, 0.3, 0.5])), angular_velocity=(0, 0, 4.0)
    )
    hinge = model.add_joint("hinge", "revolute", model.ground, wheel, at=(0, 0, 0), axis=(0, 0, 1))
    model.add_joint_damping("bearing", hinge, turning=0.2)
    result = simulate(model, 1.0, 0.005, output_every=20, progress=False)
    w = result.angular_momentum[:, 2] / 0.5
    assert np.abs(w - 4.0 * np.exp(-0.4 * result.t)).max() < 1e-3
    assert np.ptp(result.audit_column("total") + result.dissipation) < 1e-12 * result.energy["total"][0]


@pytest.mark.parametrize("element", ["se3", "relative(2)"])
def test_damped_rod_balances_energy(element):
    model = free_rod(element)
    model.add_mass_damping("air", model.rods["rod"], RATE, rotation=0.5)
    result = simulate(model, 0.3, 0.01, progress=False)
    E, dissipated = result.audit_column("total"), result.audit_column("dissipation")
    assert np.abs(E + dissipated - E[0]).max() < 1e-12 * E[0]
    assert np.all(np.diff(dissipated) > 0.0)
    P = result.linear_momentum
    assert pytest.approx(np.exp(-RATE * result.t)[:, None] * P[0], abs=2e-3 * np.abs(P[0]).max()) == P
    assert audit(result).ok


def viscous_arm(element, gravity, curve=((0, 0, 0), (0.5, 0, 0))):
    """2 D/h is 40 C with h = 1 ms."""
    model = Model("arm", gravity=gravity)
    section = Section.circular(0.01, Material(E=5e6, nu=0.3, density=1000, damping_time=0.02))
    rod = model.add_rod("rod", list(curve), section, 6, element=element)
    model.add_joint("clamp", "clamp", rod.start)
    return model


@pytest.mark.parametrize(
    ("element", "gravity"),
    [("se3", (0.3, 1.0, -9.81)), ("se3", (0.0, 0.0, -9.81)), ("relative(2)", (0, 0, -9.81))],
)
def test_viscous_rod_needs_as_few_iterations_as_an_elastic_one(element, gravity):
    """Newton's method stops at round-off of the viscous forces, and losses are evaluated at the end of the
    step.

    The planar rod uses the planar solver.
    """
    result = simulate(viscous_arm(element, gravity), 0.4, 1e-3, output_every=20, progress=False)
    E, dissipated = result.audit_column("total"), result.audit_column("dissipation")
    assert result.newton_iterations[1:].mean() < 2.3  # 3.3 otherwise
    assert np.abs(E + dissipated - E[0]).max() < 1e-13 * dissipated[-1]


@pytest.mark.parametrize("element", ["se3", "relative(2)"])
def test_viscous_losses_include_the_last_newton_correction(element):
    """Without it the errors of energy and losses are ten times larger, 3e-14."""
    curve = (0, 0, 0), (0.25, 0.1, 0.1), (0.5, 0, 0.15)
    result = simulate(
        viscous_arm(element, (0.3, 5, -9.81), curve), 1.6, 4e-3, output_every=20, progress=False
    )
    E, dissipated = result.audit_column("total"), result.audit_column("dissipation")
    assert np.abs(E + dissipated - E[0]).max() < 2e-14 * dissipated[-1]


@pytest.mark.parametrize(("integrator", "chart"), [("EML-kappa", None), ("GGL-EM", "director")])
def test_charts_take_external_damping_and_friction(integrator, chart):
    def end(integrator, h, chart=None):
        model = with_friction("revolute")
        model.add_mass_damping("air", model.bodies["a"], RATE)
        result = simulate(model, 0.1, h, integrator, chart=chart, output_every=1, progress=False)
        return np.concatenate([result.body(x).center_of_mass[-1] for x in "ab"]), result

    exact = end("em", 0.0005)[0]
    final, run = end(integrator, 0.005, chart)
    assert np.abs(final - exact).max() < 2e-5
    assert np.all(np.diff(run.dissipation) > 0.0)


SCENE = """
bodies:
  - {name: disc, shape: {type: cylinder, radius: 0.1, height: 0.02, mass: 1.0}, angular_velocity: [0, 0, 3]}
joints:
  - {name: hinge, kind: revolute, a: ground, b: disc, at: [0, 0, 0], axis: [0, 0, 1]}
joint_dampings:
  - {name: bearing, joint: hinge, turning: 0.01}
mass_dampings:
  - {name: air, on: disc, rate: 0.5}
run: {t_end: 0.1, dt: 0.01}
"""


def test_scenes_have_damping_and_friction(tmp_path):
    path = tmp_path / "disc.yaml"
    path.write_text(SCENE)
    assert set(load(path).model.others) == {"bearing", "air"}
    path.write_text(SCENE.replace("on: disc", "on: disk"))
    with pytest.raises(Exception, match="there is no part 'disk'; did you mean 'disc'"):
        load(path)


@pytest.mark.parametrize(
    ("joint", "settings", "words"),
    [
        (
            "joint",
            {"sliding": 2.0},
            "sliding = 2, but the revolute joint 'joint' does not allow that motion",
        ),
        ("hip", {"turning": 2.0}, "'hip' is not a joint of this model"),
        ("joint", {}, "resists nothing; give turning= or sliding="),
    ],
)
def test_joints_that_cannot_be_damped_are_rejected_with_advice(joint, settings, words):
    with pytest.raises(ModelError, match=words):
        with_friction("revolute").add_joint_damping("more", joint, **settings)


def test_parts_that_cannot_be_damped_are_rejected_with_advice():
    model = with_friction("revolute")
    with pytest.raises(ModelError, match="is neither a body nor a rod"):
        model.add_mass_damping("more", model.ground, 1.0)
    with pytest.raises(ModelError, match="rate"):
        model.add_mass_damping("more", model.bodies["a"], -1.0)
