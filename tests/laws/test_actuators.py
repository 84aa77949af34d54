"""Actuators: motors, cylinders, linear systems and equations as texts, on joints and measures."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from scipy.integrate import solve_ivp

from rodsim import (
    Box,
    Model,
    ModelError,
    Result,
    actuators,
    audit,
    controllers,
    equilibrium,
    measures,
    modes,
    signals,
    simulate,
)
from tests.support.driven_kinds import actuated

OIL = {"volume": 1e-4, "rod_volume": 1.2e-4, "bulk_modulus": 1.6e9, "valve": 1e-7, "supply": 2e7}
CYLINDER = actuators.HydraulicCylinder(area=1e-3, rod_area=8e-4, tank=2e5, **OIL)
AXIS = (0.0, 0.6, 0.8)


def wheel(law, on="hinge", **options):
    """A body on a hinge along an oblique axis, with an actuator."""
    model = Model("wheel")
    disc = model.add_body("disc", Box(0.1, 0.1, 0.1, mass=6.0), (0.3, 0, 0))
    model.add_joint("hinge", "revolute", "ground", disc, at=(0.3, 0, 0), axis=AXIS)
    model.add_actuator("actuator", law, on, **options)
    return model


INERTIA = 0.01  # kg m^2, of the disc about any axis


def slider(law, on="rail", mass=100.0, spring=0.0, **options):
    """A mass on a rail along an oblique axis, with an actuator."""
    model = Model("slider")
    block = model.add_body("block", Box(0.1, 0.1, 0.1, mass=mass), (0.0, 0.6, 0.8))
    model.add_joint("rail", "prismatic", "ground", block, at=(0, 0, 0), axis=AXIS)
    if spring:
        model.add_spring("spring", "ground@0,0,0", block, spring, 1.0)
    on = measures.distance("ground@0,0,0", block) if on == "distance" else on
    model.add_actuator("actuator", law, on, **options)
    return model


def way(result):
    """Displacement of the block along the rail, m."""
    return result.body("block").r @ AXIS - 1.0


def test_motor_equals_the_equations_of_its_text_and_the_matrix_exponential():
    R, L, K, gear, U, T = 1.0, 0.05, 0.05, 3.0, 2.0, 0.2
    law = actuators.DCMotor(resistance=R, inductance=L, constant=K, gear=gear)
    A = np.array([[-R / L, -gear * K / L], [gear * K / INERTIA, 0.0]])
    exact = np.linalg.solve(A, (scipy.linalg.expm(A * T) - np.eye(2)) @ [U / L, 0.0])
    errors = []
    for h in (0.01, 0.005, 0.0025):
        result = simulate(wheel(law, U=U), T, h, output_every=1, progress=False)
        i, rate = result.interaction("actuator").state("i"), result.body("disc").omega[-1] @ AXIS
        errors.append(np.abs(np.array([i[-1], rate]) - exact).max())
        electrical, heat = (h * np.cumsum(x) for x in (U * mean(i), R * mean(i) ** 2))
        assert result.energy["total"][1:] == pytest.approx(electrical - heat, abs=1e-13)
        assert result.work[1:] == pytest.approx(electrical - heat, abs=1e-13)
        assert result.energy["total"] == pytest.approx(result.energy["kinetic"] + 0.5 * L * i**2, abs=1e-13)
    assert errors[-1] < 2e-3
    assert np.divide(errors[:-1], errors[1:]) == pytest.approx(4.0, rel=0.05)
    text = actuators.Equations(
        {"i": "(U - R*i - K*q_rate)/L"}, "K*i", "L*i**2/2", {"R": R, "L": L, "K": gear * K}
    )
    again = simulate(wheel(text, U=U), T, 0.0025, progress=False)
    assert np.array_equal(again.state().Omega, result.state().Omega)


def mean(x):
    return 0.5 * (x[1:] + x[:-1])


def cylinder_rates(t, y, valve):
    """Return the rates of way, speed and both pressures, written with numpy."""
    q, v, p1, p2 = y
    law, u = CYLINDER, valve(t)
    plus = 0.5 * (u + np.hypot(u, law.underlap))
    minus = u - plus

    def flow(opening, drop):
        return law.valve * opening * drop / (drop**2 + law.laminar**2) ** 0.25

    into = flow(plus, law.supply - p1) + flow(minus, p1 - law.tank)
    out = flow(plus, p2 - law.tank) + flow(minus, law.supply - p2)
    force = law.area * p1 - law.rod_area * p2
    return [
        v,
        force / 100.0,
        law.bulk_modulus * (into - law.area * v) / (law.volume + law.area * q),
        law.bulk_modulus * (law.rod_area * v - out) / (law.rod_volume - law.rod_area * q),
    ]


@pytest.mark.parametrize("on", ["rail", "distance"])
def test_cylinder_follows_a_refined_solution(on):
    start = {"p1": 8e6, "p2": 1e7}
    fine = solve_ivp(
        cylinder_rates,
        (0.0, 0.4),
        [0.0, 0.0, 8e6, 1e7],
        "Radau",
        args=(lambda t: 0.5 * np.sin(20.0 * t),),
        rtol=1e-11,
        atol=[1e-12, 1e-12, 1e-3, 1e-3],
    ).y[:, -1]
    errors = []
    for h in (1e-3, 5e-4, 2.5e-4):
        result = simulate(
            slider(CYLINDER, on, u="0.5*sin(20*t)", initial=start), 0.4, h, output_every=100, progress=False
        )
        history = result.interaction("actuator")
        at_end = way(result)[-1], history.state("p1")[-1], history.state("p2")[-1]
        errors.append(np.abs(at_end - fine[[0, 2, 3]]) / np.abs(fine[[0, 2, 3]]))
    assert np.max(errors[-1]) < 1e-4
    assert np.max(errors[-1]) < np.max(errors[0]) / 12.0
    assert fine[0] > 0.01
    assert history.states == ["p1", "p2"]
    with pytest.raises(ModelError, match=r"interaction 'actuator' has no state 'p3'\. Its states are p1, p2"):
        history.state("p3")


def test_closed_valve_holds_the_pressures_at_which_both_edges_leak_alike():
    law = CYLINDER
    rest = equilibrium(slider(law, spring=1e4, u=0.0, initial={"p1": 8e6, "p2": 1e7}))
    middle = 0.5 * (law.supply + law.tank)
    assert rest.interaction("actuator").state("p1")[-1] == pytest.approx(middle, rel=1e-9)
    assert rest.interaction("actuator").state("p2")[-1] == pytest.approx(middle, rel=1e-9)
    assert way(rest)[-1] == pytest.approx(middle * (law.area - law.rod_area) / 1e4, rel=1e-9)
    moving = simulate(slider(law, spring=1e4, u=0.0), 0.01, 1e-3, start=rest, progress=False)
    assert way(moving) == pytest.approx(way(rest)[-1], abs=1e-9)


def test_state_space_equals_its_matrix_exponential_and_its_eigenvalues():
    A, B = np.array([[-3.0, 1.0], [-2.0, -8.0]]), np.array([[1.0, 0.5, 2.0], [0.0, -0.3, 1.0]])
    C, D = np.array([2.0, -1.0]), np.array([-40.0, -0.5, 0.7])
    law, u, mass = actuators.StateSpace(A, B, C, D), 1.3, 2.0
    whole = np.zeros((4, 4))  # way, speed, states
    whole[0, 1] = 1.0
    whole[1] = np.concatenate([D[:2], C]) / mass
    whole[2:] = np.concatenate([B[:, :2], A], axis=1)
    constant = np.concatenate([[0.0, D[2] * u / mass], B[:, 2] * u])
    exact = np.linalg.solve(whole, (scipy.linalg.expm(whole) - np.eye(4)) @ constant)
    ends = []
    for h in (0.02, 0.01):
        result = simulate(slider(law, mass=mass, u1=u), 1.0, h, progress=False)
        history = result.interaction("actuator")
        ends.append([way(result)[-1], *(history.state(name)[-1] for name in ("x1", "x2"))])
    errors = np.abs(np.array(ends) - exact[[0, 2, 3]])
    assert errors[1].max() < 1e-4
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)
    values = modes(slider(law, mass=mass, u1=0.0), 4).values
    expected = [s for s in np.linalg.eigvals(whole) if s.imag >= 0.0]
    assert all(np.abs(values - s).min() < 1e-9 * abs(s) for s in expected)


def test_lag_follows_a_step_of_its_input():
    T, gain = 0.05, 20.0
    law = actuators.FirstOrderLag(time=T, gain=gain)
    result = simulate(slider(law, mass=2.0, u=1.0), 0.3, 0.001, output_every=1, progress=False)
    t, x = result.t, result.interaction("actuator").state()
    assert x == pytest.approx(gain * (1.0 - np.exp(-t / T)), abs=1e-3)
    velocity = gain / 2.0 * (t - T * (1.0 - np.exp(-t / T)))
    assert result.body("block").v @ AXIS == pytest.approx(velocity, abs=1e-4)


def test_force_of_an_actuator_acts_at_the_joint_and_keeps_momenta():
    model = Model("free")
    one = model.add_body("one", Box(0.3, 0.2, 0.1, mass=1.0), angular_velocity=(0.4, 0.2, 0.1))
    other = model.add_body("other", Box(0.2, 0.3, 0.4, mass=2.0), (0.5, 0.1, 0), velocity=(0.1, 0, 0))
    model.add_joint("rail", "cylindrical", one, other, at=(0.2, 0, 0), axis=(0.48, 0.6, 0.64))
    lag = actuators.FirstOrderLag(0.1, 2.0)
    model.add_actuator("push", lag, "rail", of="displacement", u="sin(3*t)")
    model.add_actuator("twist", lag, "rail", of="angle", u=0.2)
    for solver in ("general", "auto"):
        result = simulate(model, 1.0, 0.01, solver=solver, output_every=1, progress=False)
        assert np.ptp(result.angular_momentum, axis=0).max() < 1e-12
        assert np.ptp(result.linear_momentum, axis=0).max() < 1e-12
        assert result.energy["total"] - result.energy["total"][0] == pytest.approx(result.work, abs=1e-12)
        assert np.abs(result.work).max() > 0.01


def test_actuator_on_a_joint_equals_one_on_its_measure():
    law, axis = actuators.FirstOrderLag(0.1, 2.0), (0, 0.6, 0.8)
    by_joint = simulate(wheel(law, u=1.0), 0.3, 0.01, progress=False)
    by_measure = simulate(
        wheel(law, measures.angle("ground", "disc", axis), u=1.0), 0.3, 0.01, progress=False
    )
    assert by_joint.state().quat == pytest.approx(by_measure.state().quat, abs=1e-14)


@pytest.mark.parametrize("integrator", ["em", "em-ggl", "GGL-EM"])
def test_actuators_run_in_every_solver(integrator):
    results = [
        simulate(actuated(), 0.1, 0.01, integrator, solver=solver, output_every=1, progress=False)
        for solver in (("general", "auto") if integrator == "em" else ("auto",))
    ]
    for result in results:
        total = result.energy["total"]
        assert total - total[0] == pytest.approx(result.work, abs=1e-12 * np.abs(result.work).max() + 1e-12)
        assert audit(result).ok
    for field in ("r", "quat"):
        one, other = (getattr(result.state(), field) for result in (results[0], results[-1]))
        assert one == pytest.approx(other, abs=1e-12)


def test_file_is_read_resumed_and_audited_without_a_script(tmp_path):
    whole, parts = tmp_path / "whole.vtkhdf", tmp_path / "parts.vtkhdf"
    simulate(actuated(), 0.2, 0.01, output=whole, output_every=1, progress=False)
    simulate(actuated(), 0.1, 0.01, output=parts, output_every=1, progress=False)
    simulate(actuated(), 0.2, 0.01, output=parts, output_every=1, resume=True, progress=False)
    one, other = Result.load(whole), Result.load(parts)
    assert all(np.array_equal(x, y) for x, y in zip(one.state(), other.state(), strict=True))
    assert audit(other).ok
    assert other.interactions == ["motor", "brake", "cylinder", "link", "gland"]
    assert np.ptp(other.interaction("cylinder").state("p1")) > 1e3


def test_scene_of_actuators_makes_the_same_run(tmp_path):
    model = actuated()
    model.save(tmp_path / "model.yaml")
    again = Model.load(tmp_path / "model.yaml")
    one, other = (simulate(m, 0.05, 0.01, progress=False).state() for m in (model, again))
    assert all(np.array_equal(x, y) for x, y in zip(one, other, strict=True))


def test_sampled_controller_drives_a_motor_to_its_target():
    model = wheel(actuators.DCMotor(0.5, 0.01, 0.2), U=signals.Output("pid", "u"))
    phi = model.add_sensor("phi", measures.angle("ground", "disc", AXIS))
    law = controllers.PID(kp=20.0, kd=1.0, target=0.5, low=-12.0, high=12.0)
    model.add_controller("pid", law, [phi, phi.rate], period=0.01)
    result = simulate(model, 3.0, 0.005, progress=False)
    assert result.sensor("phi").value[-1] == pytest.approx(0.5, abs=1e-3)


LAG = actuators.FirstOrderLag(0.1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: actuators.DCMotor(1.0, 0.0, 0.1), "DCMotor: inductance"),
        (lambda: actuators.Equations({}, "x"), "give the rate of each state as a text"),
        (lambda: actuators.Equations({"x": 3.0}, "x"), "3.0 is not a text"),
        (lambda: actuators.Equations({"x": "x +"}, "x"), "cannot be read"),
        (lambda: actuators.Equations({"x": "-x"}, "x", parameters={"T": 1.0}), "'T' is not in the texts"),
        (lambda: actuators.StateSpace([[1.0]], [[1.0]], [1.0]), "StateSpace: A, B, C, D have shapes"),
        (lambda: actuators.HydraulicCylinder(1.0, 1.0, **OIL | {"tank": 3e7}), "is not below supply"),
        (lambda: wheel(LAG), "give u=, an input of its law"),
        (lambda: wheel(LAG, u=1.0, v=2.0), "'v' is not an input of its law, which has u"),
        (lambda: wheel(LAG, u=1.0, initial={"y": 1.0}), "'y' is not a state of its law, which has x"),
        (lambda: wheel("motor", u=1.0), "is not the law of an actuator"),
        (lambda: wheel(LAG, "rail", u=1.0), "'rail' is not a joint of this model"),
        (
            lambda: wheel(LAG, measures.cosine("ground", (1, 0, 0), "disc", (1, 0, 0)), u=1.0),
            "cannot act on a cosine",
        ),
        (
            lambda: wheel(actuators.Equations({"x": "-x"}, "x", "x*u"), u=1.0),
            "may depend on states alone",
        ),
        (
            lambda: wheel(actuators.Equations({"x": "a + b + c + d"}, "x"), a=1, b=1, c=1, d=1),
            "has 4 inputs, a, b, c, d; there may be 3",
        ),
        (
            lambda: wheel(actuators.Equations({"q": "-q"}, "q")),
            "'q' cannot name a state",
        ),
    ],
)
def test_wrong_actuators_are_named(make, message):
    with pytest.raises(ModelError, match=message):
        make()


STEADY = {"u": 1.0, "initial": {"x": 2.0}}  # the lag is at rest


def pair(act, by_points=False):
    """Two free bodies on a cylindrical joint beside their centres, whose place is given or follows from one of its ends."""
    model = Model("pair")
    one = model.add_body("one", Box(0.3, 0.2, 0.1, mass=1.0), angular_velocity=(0.1, 0.2, 0.1))
    other = model.add_body(
        "other", Box(0.2, 0.3, 0.4, mass=2.0), (0.5, 0.1, 0), velocity=(-0.01, 0.05, -0.12)
    )
    axis = (0.48, 0.6, 0.64)
    if by_points:
        model.add_joint("rail", "cylindrical", one, other.at((-0.3, 0.2, 0.1)), axis=axis)
    else:
        model.add_joint("rail", "cylindrical", one, other, at=(0.2, 0.3, 0.1), axis=axis)
    act(model)
    return simulate(model, 0.5, 1e-3, progress=False).state()


@pytest.mark.parametrize("of", ["angle", "displacement"])
@pytest.mark.parametrize("by_points", [False, True])
def test_steady_force_equals_a_joint_force(of, by_points):
    law = actuators.FirstOrderLag(0.1, 2.0)
    one = pair(lambda model: model.add_actuator("push", law, "rail", of=of, **STEADY), by_points)
    other = pair(lambda model: model.add_joint_force("push", "rail", 2.0, of=of))
    assert one.r == pytest.approx(other.r, abs=5e-5)  # both are of order two
    assert one.quat == pytest.approx(other.quat, abs=5e-4)
    assert np.abs(one.r[1]).max() > 0.1


def test_coordinate_counts_from_its_value_at_the_start():
    law = actuators.Equations({"x": "-x"}, "-k*q", parameters={"k": 50.0})
    for measure in (
        measures.displacement("ground@0,0,0", "block", AXIS),
        measures.distance("ground@0,0,0", "block"),
    ):
        result = simulate(slider(law, measure), 0.1, 0.01, progress=False)
        assert way(result)[-1] == pytest.approx(0.0, abs=1e-15)
