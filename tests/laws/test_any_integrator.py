"""Bodies and joints under every integrator selected by name: the same motion in every chart."""

import numpy as np
import pytest

from rodsim import Box, ConvergenceError, Model, ModelError, audit, simulate
from rodsim.mechanics import integrate
from tests.support.mechanisms import arms

H, T_END = 0.01, 0.2
CHARTS = ("quaternion", "quaternion-alpha", "quaternion-gamma", "director")
RUNS = [
    *[(name, "quaternion") for name in ("EML", "REML", "Null-EML", "EML-kappa", "MPL")],
    *[
        (name, chart)
        for name in ("EMH", "MPH", "GGL-EM")
        for chart in ("quaternion-alpha", "quaternion-gamma")
    ],
    *[(name, "director") for name in ("EM-G", "GGL-EM", "VI-B(0.5, 0.5)", "EML", "MPL")],
    ("mG(2)", "quaternion-alpha"),
    ("GL-SPARK(2)", "quaternion-gamma"),
    ("Lobatto-IIIA-B(3)", "quaternion-alpha"),
    ("EML(order=4)", "quaternion"),
]
FOURTH = ("mG(2)", "GL-SPARK(2)", "Lobatto-IIIA-B(3)", "EML(order=4)")


def end_state(result):
    """Positions and velocities of the bars at the end."""
    return np.array(
        [[getattr(result.body(n), field)[-1] for field in ("r", "v")] for n in ("first", "second")]
    )


@pytest.fixture(scope="module")
def exact():
    """Reference accurate to 1e-8: `em`, whose error is a series in h^2, extrapolated once."""
    fine, coarse = (end_state(simulate(arms(), T_END, H / n, output_every=100)) for n in (16, 8))
    return fine + (fine - coarse) / 3.0


@pytest.mark.parametrize(("integrator", "chart"), RUNS)
def test_every_integrator_and_chart_gives_the_motion(integrator, chart, exact):
    result = simulate(arms(), T_END, H, integrator, chart=chart)
    bound = 1e-7 if integrator in FOURTH else 5e-4
    assert np.abs(end_state(result) - exact).max() < bound


@pytest.mark.parametrize(("integrator", "chart"), RUNS)
def test_hanging_bodies_stay_at_rest(integrator, chart):
    """Zero momenta do not prevent Newton's method from stopping."""
    model = Model("rest", gravity=(0, 0, -9.81))
    down = (np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0)
    bar = model.add_body("bar", Box(1, 0.1, 0.1, density=100), position=(0, 0, -0.5), orientation=down)
    model.add_joint("pin", "spherical", a=model.ground, b=bar, at=(0, 0, 0))
    history = simulate(model, T_END, H, integrator, chart=chart).body("bar")
    assert np.abs(history.r[-1] - history.r[0]).max() < 1e-15
    assert np.abs(history.v).max() < 1e-12


def test_director_chart_quaternions_follow_the_rotating_body():
    """The sign does not jump between outputs, even if a body rotates by more than one turn."""
    model = Model("spin")
    body = model.add_body("top", Box(1, 2, 3, density=1), angular_velocity=(0, 0, 20))
    quat = simulate(model, 1.0, 0.01, "EM-G", output_every=5).body(body.name).quat
    assert np.einsum("ij,ij->i", quat[1:], quat[:-1]).min() > 0.8


def wheel_on_torsion_spring():
    """A body on a hinge that spins against a soft torsion spring."""
    model = Model("clock")
    wheel = model.add_body("wheel", Box(1, 1, 1, density=1), angular_velocity=(0, 0, 5))
    model.add_joint("hinge", "revolute", a=model.ground, b=wheel, at=(0, 0, 0), axis=(0, 0, 1))
    model.add_spring("coil", model.ground, wheel, 0.1, along="rotation", axis=(0, 0, 1))
    return model


@pytest.mark.parametrize(
    ("integrator", "chart", "balance"),
    [("EML", "quaternion", 2e-8), ("EM-G", "director", 5e-9), ("EMH", "quaternion-alpha", 1e-13)],
)
def test_torsion_springs_accumulate_any_number_of_turns(integrator, chart, balance):
    """The angle passes one turn, as with `em`, and the energy does not jump."""
    exact = simulate(wheel_on_torsion_spring(), 4.0, 0.0025, "em", output_every=100)
    result = simulate(wheel_on_torsion_spring(), 4.0, 0.01, integrator, chart=chart, output_every=25)
    assert exact.state(-1).internal[0] == pytest.approx(result.state(-1).internal[0], abs=3e-3)
    assert max(exact.state(k).internal[0] for k in range(exact.n_outputs)) > 2 * np.pi
    assert audit(result).energy_balance < balance


def test_system_reports_overwound_torsion_spring():
    with pytest.raises(ConvergenceError, match=r"wound by more than half a turn after t = 0\.65") as failure:
        integrate(wheel_on_torsion_spring().mechanical_system("director"), "EM-G", 0.01, 4.0)
    assert failure.value.trajectory.t[-1] == pytest.approx(0.65)


REFUSED = {
    f"chart 'euler' is not known; choose one of {', '.join(CHARTS)}": lambda: simulate(
        arms(), T_END, H, "EML", chart="euler"
    ),
    "has its own chart": lambda: simulate(arms(), T_END, H, "em", chart="director"),
    "needs a regular mass": lambda: simulate(arms(), T_END, H, "GGL-EM", chart="quaternion"),
    "choose one of em, em4, em6, em8, em-ggl, em4-ggl, em6-ggl, em8-ggl, em-d": lambda: simulate(
        arms(), T_END, H, "RK4"
    ),
}


@pytest.mark.parametrize("message", REFUSED)
def test_invalid_arguments_are_rejected_before_writing(message):
    with pytest.raises(ModelError, match=message):
        REFUSED[message]()


@pytest.mark.parametrize("chart", CHARTS)
def test_model_converts_to_a_mechanical_system_in_every_chart(chart):
    """Compare the energy in every chart and the motion with `simulate`."""
    system = arms().mechanical_system(chart)
    p = system.momentum(system.q0, system.v0)
    energy = p @ system.v0 / 2 + system.potential(system.q0)
    assert energy == pytest.approx(simulate(arms(), H, H).energy["total"][0], rel=1e-12)
    name = "EML" if chart == "quaternion" else "GGL-EM"
    run = integrate(system, name, H, T_END)
    result = simulate(arms(), T_END, H, name, chart=chart, output_every=20)
    assert np.array_equal(result.state(-1).memory[: system.n], run.q[-1])
