"""Laws of reflected inertia and inerters: equal masses, exact energy and momenta, refined and closed-form motions, modes."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from rodsim import Adaptive, Box, Model, ModelError, audit, equilibrium, measures, modes, simulate

J = 0.7
DIRECTIONS = {"plane": (0, 1, 0), "space": (0.48, 0.6, 0.64)}


def slider(mass=2.0, inertia=None, velocity=0.3):
    """A mass on a slide and a spring."""
    model = Model("slider", gravity=(0, 0, 0))
    body = model.add_body(
        "body", Box(0.1, 0.1, 0.1, mass=mass), position=(0.2, 0, 0), velocity=(velocity, 0, 0)
    )
    model.add_joint("slide", "prismatic", "ground", body, at=(0, 0, 0), axis=(1, 0, 0), inertia=inertia)
    model.add_spring("spring", "ground@-1,0,0", body, 50.0, length=1.0)
    return model


def pendulum(inertia=None, rate=1.0, axis=(0, 1, 0), bodies=1):
    """Bars on hinges, the first of them at rest horizontally with an angular velocity."""
    model = Model("pendulum", gravity=(0, 0, -9.81))
    before = model.ground
    for k in range(bodies):
        spin = np.multiply(axis, rate) if k == 0 and rate else None
        bar = model.add_body(
            f"bar{k}", Box(0.5, 0.1, 0.08, density=800), position=(k + 0.25, 0, 0), angular_velocity=spin
        )
        model.add_joint(f"hinge{k}", "revolute", before, bar, at=(k, 0, 0), axis=axis, inertia=inertia)
        before = bar
        model.add_body(f"stub{k}", Box(0.1, 0.1, 0.1, density=100), position=(k + 0.75, 0, 0))
        model.add_joint(f"weld{k}", "weld", bar, f"stub{k}", at=(k + 0.5, 0, 0))
    return model


@pytest.mark.parametrize("solver", ["auto", "general"])
@pytest.mark.parametrize("integrator", ["em", "em4", "em-ggl"])
def test_inertia_of_a_slide_acts_as_a_larger_mass(integrator, solver):
    with_inertia, heavy = (
        simulate(model, 1.0, 0.01, integrator, solver=solver, output_every=1, progress=False)
        for model in (slider(2.0, J), slider(2.0 + J))
    )
    assert with_inertia.body("body").r == pytest.approx(heavy.body("body").r, abs=2e-13)


@pytest.mark.parametrize("settings", [{}, {"integrator": "em-ggl"}, {"integrator": "em4", "dt": 0.05}])
def test_pendulum_with_a_rotor_follows_its_refined_equation(settings):
    """theta'' = m g c cos(theta)/(I + J)."""
    errors = []
    for part in (1, 2):
        model = Model("pendulum", gravity=(0, 0, -9.81))
        bar = model.add_body(
            "bar", Box(0.5, 0.1, 0.08, density=800), position=(0.25, 0, 0), angular_velocity=(0, 1, 0)
        )
        model.add_joint("hinge", "revolute", "ground", bar, at=(0, 0, 0), axis=(0, 1, 0), inertia=J)
        mass, about = bar.properties.mass, bar.properties.inertia[1, 1] + bar.properties.mass * 0.25**2
        exact = solve_ivp(
            lambda t, y, m=mass, I=about: [y[1], m * 9.81 * 0.25 * np.cos(y[0]) / (I + J)],
            (0, 1),
            [0, 1],
            rtol=1e-12,
            atol=1e-12,
        )
        arguments = {"dt": 0.01} | settings
        result = simulate(model, 1.0, **arguments | {"dt": arguments["dt"] / part}, progress=False)
        x, _, z = result.body("bar").r[-1]
        errors.append(abs(np.arctan2(-z, x) - exact.y[0, -1]))
    order = 4 if settings.get("integrator") == "em4" else 2
    assert errors[0] < 2e-4
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.3)


@pytest.mark.parametrize("axis", DIRECTIONS.values(), ids=DIRECTIONS)
@pytest.mark.parametrize("solver", ["auto", "general"])
def test_energy_of_a_chain_with_rotors_is_exact(axis, solver):
    result = simulate(
        pendulum(J, axis=axis, bodies=3), 1.0, 0.01, solver=solver, output_every=1, progress=False
    )
    energy = result.energy["total"]
    assert np.ptp(energy) < 1e-11 * np.abs(result.energy["kinetic"]).max()
    assert result.energy["spring"][0] == pytest.approx(
        0.5 * J, rel=1e-14
    )  # the rate of the first hinge is 1 rad/s
    assert audit(result).ok


@pytest.mark.parametrize("axis", DIRECTIONS.values(), ids=DIRECTIONS)
def test_chain_with_rotors_is_the_same_in_the_fast_and_the_general_solver(axis):
    fast, general = (
        simulate(pendulum(J, axis=axis, bodies=3), 1.0, 0.01, solver=solver, progress=False)
        for solver in ("auto", "general")
    )
    assert fast.description["run"]["solver"].startswith("tree")
    assert fast.state().r == pytest.approx(general.state().r, abs=1e-12)


def pair(measure):
    """Two free bodies with an inerter between them."""
    model = Model("pair")
    a = model.add_body("a", Box(0.3, 0.2, 0.1, mass=1.0), angular_velocity=(0.3, 2.0, 0.4))
    b = model.add_body("b", Box(0.2, 0.3, 0.1, mass=2.0), position=(1, 0.2, 0), velocity=(-0.5, 0.3, 0.2))
    model.add_inerter("inerter", measure(a, b), J)
    return model


MEASURES = {
    "distance": lambda a, b: measures.distance(a.at((0.1, 0.05, 0)), b.at((-0.1, 0, 0.02))),
    "displacement": lambda a, b: measures.displacement(
        a.at((0.1, 0.05, 0)), b.at((-0.1, 0, 0.02)), axis=(0.6, 0.8, 0)
    ),
    "angle": lambda a, b: measures.angle(a, b, axis=(0, 0.6, 0.8)),
}


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(
    "settings", [{}, {"integrator": "em-ggl"}, {"integrator": "em4-ggl"}], ids=["em", "em-ggl", "em4-ggl"]
)
def test_inerter_conserves_energy_and_momenta(measure, settings):
    result = simulate(pair(MEASURES[measure]), 0.5, 0.01, output_every=1, progress=False, **settings)
    for history in (result.energy["total"], result.linear_momentum, result.angular_momentum):
        assert np.abs(history - history[0]).max() < 1e-11
    rates = result.energy["spring"] / (0.5 * J)
    assert rates[0] > 0.01  # initial velocities set the rate


@pytest.mark.parametrize("measure", MEASURES)
def test_inerter_conserves_momenta_in_the_director_chart(measure):
    model = pair(MEASURES[measure])
    result = simulate(model, 0.5, 0.01, "EM-G", chart="director", output_every=1, progress=False)
    for history in (result.linear_momentum, result.angular_momentum):
        assert np.abs(history - history[0]).max() < 1e-11


@pytest.mark.parametrize("measure", MEASURES)
def test_energy_of_an_inerter_follows_the_rate_of_its_measure(measure):
    model = pair(MEASURES[measure])
    model.add_sensor("measure", MEASURES[measure](model.bodies["a"], model.bodies["b"]))
    result = simulate(model, 0.5, 0.001, "em-ggl", output_every=1, progress=False)
    sensor = result.sensor("measure")
    assert result.energy["spring"] == pytest.approx(0.5 * J * sensor.rate**2, abs=1e-4)
    assert result.energy["spring"][0] == pytest.approx(0.5 * J * sensor.rate[0] ** 2, rel=1e-13)


def test_frequency_of_two_masses_with_a_spring_and_an_inerter():
    """omega^2 = k/(m1 m2/(m1 + m2) + J)."""
    model = Model("two masses")
    a = model.add_body("a", Box(0.1, 0.1, 0.1, mass=1.0))
    b = model.add_body("b", Box(0.1, 0.1, 0.1, mass=3.0), position=(1, 0, 0))
    for name, body in (("a", a), ("b", b)):
        model.add_joint(name, "prismatic", "ground", body, at=(0, 0, 0), axis=(1, 0, 0))
    model.add_spring("spring", a, b, 60.0)
    model.add_inerter("inerter", measures.distance(a, b), J)
    values = modes(model, 2).values
    assert np.abs(values.imag).max() == pytest.approx(np.sqrt(60.0 / (0.75 + J)), rel=1e-9)


def test_frequency_of_a_body_with_a_rotor_and_a_bushing():
    """omega^2 = k/(I + J) about the axis of the hinge."""
    model = Model("rotor")
    body = model.add_body("body", Box(0.5, 0.1, 0.08, density=800))
    model.add_joint("hinge", "revolute", "ground", body, at=(0, 0, 0), axis=(0, 1, 0), inertia=J)
    model.add_spring("spring", "ground", body, 20.0, along="rotation", axis=(0, 1, 0))
    value = np.abs(modes(model, 1).values.imag).max()
    assert value == pytest.approx(np.sqrt(20.0 / (body.properties.inertia[1, 1] + J)), rel=1e-9)


def test_inerter_does_not_act_at_rest():
    with_inertia, without = (equilibrium(pendulum(inertia, None)).state() for inertia in (J, None))
    assert with_inertia.r == pytest.approx(without.r, abs=1e-10)


def test_rotor_turns_through_many_revolutions():
    result = simulate(pendulum(J, rate=60.0), 1.0, 0.005, output_every=1, progress=False)
    rate = np.sqrt(result.energy["spring"] / (0.5 * J))
    assert rate.min() > 50.0
    assert np.ptp(result.energy["total"]) < 1e-11 * result.energy["total"].max()


def test_adaptive_steps_accept_rotors():
    steps = simulate(pendulum(J, bodies=2), 0.4, 0.01, progress=False)
    adaptive = simulate(pendulum(J, bodies=2), 0.4, Adaptive(1e-6), progress=False)
    assert adaptive.state().r == pytest.approx(steps.state().r, abs=1e-3)
    assert audit(adaptive).ok


def test_new_run_from_a_state_begins_with_the_rates_of_its_velocities():
    first = simulate(pendulum(None, bodies=2), 0.3, 0.01, "em-ggl", progress=False)
    second = simulate(pendulum(J, bodies=2), 0.1, 0.01, "em-ggl", start=first, progress=False)
    spins = [first.body(f"bar{k}").omega[-1, 1] for k in range(2)]
    rates = [spins[0], spins[1] - spins[0]]
    assert second.energy["spring"][0] == pytest.approx(0.5 * J * np.sum(np.square(rates)), rel=1e-9)


def test_bad_inertias_are_rejected_by_name():
    model = Model("bad")
    body = model.add_body("body", Box(1, 1, 1, mass=1.0))
    for value in (0.0, -1.0, np.nan):
        with pytest.raises(ModelError, match="revolute joint 'h': inertia"):
            model.add_joint("h", "revolute", "ground", body, at=(0, 0, 0), axis=(0, 0, 1), inertia=value)
    with pytest.raises(
        ModelError, match=r"spherical joint 's': inertia = 1, .* Use a joint of kind .*revolute"
    ):
        model.add_joint("s", "spherical", "ground", body, at=(0, 0, 0), inertia=1.0)
    with pytest.raises(ModelError, match=r"inerter 'i': its measure is a cosine. Give a distance"):
        model.add_inerter("i", measures.cosine("ground", (1, 0, 0), body, (1, 0, 0)), 1.0)
    with pytest.raises(ModelError, match="inerter 'same': joins body 'body' to itself"):
        model.add_inerter("same", measures.distance(body, body.at((0.1, 0, 0))), 1.0)
