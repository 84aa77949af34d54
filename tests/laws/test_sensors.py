"""Sensors of forces, energies and states; noise and delay of sensors.

A quantity that a controller reads in a run is the column that the result has at the same state. Joint forces are means over the
step that has ended. With a delay of m samples of period T, and normal numbers g_k of standard deviation s,

    reading_k = value(t_k) + s g_k,    measured(t_k) = reading_(k - m),    reading_(-1) = reading_(-2) ... = reading_0     (1)
"""

import dataclasses
import time

import numpy as np
import pytest

import rodsim
from rodsim import (
    Adaptive,
    Box,
    ConvergenceError,
    Material,
    Model,
    ModelError,
    Result,
    Section,
    Sphere,
    audit,
    controllers,
    equilibrium,
    measures,
    simulate,
    simulate_many,
)
from rodsim.interactions import average, minus, norm, push, times
from rodsim.results import JointHistory, ResultError

DT = 0.005
RUBBER = Material(E=2e6, nu=0.45, density=1100.0)
SECTION = Section.circular(0.02, RUBBER)


class Recorder:
    """A law that records what it measures by the time, and writes a function of it."""

    def __init__(self, output=lambda t, y: 0.0):
        self.output, self.samples = output, {}

    def __call__(self, t, h, measured, memory, outputs):
        self.samples.setdefault(round(t, 9), []).append(measured.copy())
        outputs[0] = self.output(t, measured)

    def table(self, t):
        """Return what was measured (T, i) at the times t, the last time that each step was taken."""
        return np.array([self.samples[round(x, 9)][-1] for x in t])

    def nearest(self, t, columns):
        """Return what was measured (T, i) at the times t, of several solutions that nearest to the columns (T, i)."""
        samples = [np.array(self.samples[round(x, 9)]) for x in t]
        sizes = np.abs(columns).max(axis=0)
        return np.array(
            [
                rows[np.argmin(np.abs((rows - wanted) / sizes).max(axis=1))]
                for rows, wanted in zip(samples, columns, strict=True)
            ]
        )


def crane(names=(), law=None, **settings):
    """Return a rod with a ball at its end, which hangs from a hinged arm and swings against a block with friction."""
    model = Model("crane", gravity=(0.3, -9.81, 0.2))
    arm = model.add_body("arm", Box(0.4, 0.05, 0.05, mass=1.0), position=(-0.2, 0, 0))
    model.add_joint("hinge", "revolute", "ground", arm, at=(-0.4, 0, 0), axis=(0, 0, 1))
    model.add_drive("crank", "hinge", "0.3*sin(4*t)")
    rod = model.add_rod("rod", [(0, 0, 0), (0, -0.5, 0)], SECTION, 4)
    model.add_joint("grip", "weld", arm, rod.start)
    ball = model.add_body("ball", Sphere(0.1, mass=0.5), position=(0, -0.5, 0))
    model.add_joint("hook", "weld", rod.end, ball)
    block = model.add_body("block", Sphere(0.1, mass=1.0), position=(0.01, -0.695, 0.03))
    model.add_bushing("mount", "ground", block, 500.0, at=(0.01, -0.695, 0.03))
    skins = [model.add_sphere(f"skin of {part.name}", part, 0.1) for part in (ball, block)]
    # a near contact before it: bristles are numbered by the list of near pairs that a state stores
    guard = model.add_sphere("guard", block.at((0.12, 0.09, 0)), 0.01)
    model.add_contact("near", skins[0], guard, stiffness=2e3, **settings)
    model.add_contact("touch", *skins, stiffness=2e3, **settings)
    for name, measure in QUANTITIES.items():
        model.add_sensor(name, measure)
    model.add_sensor("x", measures.coordinate(ball, (1, 0, 0)))
    if law is not None:
        controller = model.add_controller("c", law, list(names))
        model.add_force("push", ball, controller.output().along((0, 0, 1)))
    return model


QUANTITIES = {
    "tension": measures.section_force("rod@0.3", "N1"),
    "shear": measures.section_force("rod.end", "N3"),
    "bending": measures.section_force("rod.start", "M2"),
    "pull": measures.joint_force("hook", "force", axis=(0, 2, 0)),
    "twist": measures.joint_force("grip", "moment", axis=(0.6, 0, 0.8)),
    "bearing": measures.joint_force("hinge", "force"),
    "torque": measures.joint_force("crank", "moment"),
    "normal": measures.contact_force("touch"),
    "lift": measures.contact_force("touch", axis=(0.6, 0.8, 0)),
    "total": measures.energy(),
    "elastic": measures.energy("elastic"),
    "motion": measures.energy("kinetic", "ball"),
    "strain": measures.energy("elastic", "rod"),
}


def columns(result):
    """Return the columns of `QUANTITIES` as a result has them."""
    rod, touch = result.rod("rod"), result.contact("touch")
    return {
        "tension": rod.along("N", 0.3)[:, 0, 0],
        "shear": rod.along("N", 1.0)[:, 0, 2],
        "bending": rod.along("M", 0.0)[:, 0, 1],
        "normal": touch.normal_force,
        "lift": touch.force @ (0.6, 0.8, 0.0),
        "total": result.energy["total"],
        "elastic": result.energy["elastic"],
        "strain": result.energy["elastic"],
        "motion": 0.5 * 0.5 * np.sum(result.body("ball").v ** 2, axis=1)
        + 0.5 * 0.4 * 0.5 * 0.1**2 * np.sum(result.body("ball").omega ** 2, axis=1),
    }


RUNS = {
    "em": {},
    "friction": {"contact": {"friction": 0.4, "restitution": 0.8}},
    "em4": {"integrator": "em4"},
    "em-d": {"integrator": "em-d(0.8)"},
    "EML": {"integrator": "EML"},
    "adaptive": {"dt": Adaptive(error=1e-4, output_dt=0.02), "contact": {"friction": 0.4}, "period": 0.02},
}


@pytest.mark.parametrize("run", RUNS)
def test_what_a_controller_reads_is_the_column_of_the_result(run):
    settings = {"integrator": "em", "dt": DT, "contact": {}, "period": None} | RUNS[run]
    law = Recorder(lambda t, y: 0.1 * np.sin(y[0]) + 1e-3 * y[7])
    model = crane(**settings["contact"])
    controller = model.add_controller("c", law, [*QUANTITIES, "x"], period=settings["period"])
    model.add_force("push", "ball", controller.output().along((0, 0, 1)))
    every = {} if run == "adaptive" else {"output_every": 1}
    result = simulate(model, 0.2, settings["dt"], settings["integrator"], **every, progress=False)
    expected = np.stack([result.sensor(name).value[:-1] for name in [*QUANTITIES, "x"]], axis=1)
    assert np.abs(expected).max(axis=0).min() > 0.0
    # adaptive steps compare two solutions, which both take samples
    measured = law.nearest(result.t[:-1], expected) if run == "adaptive" else law.table(result.t[:-1])
    for k, name in enumerate(QUANTITIES):
        scale = np.abs(expected[:, k]).max()
        assert measured[:, k] == pytest.approx(expected[:, k], abs=1e-12 * scale), name
    for name, column in columns(result).items():
        assert result.sensor(name).value == pytest.approx(column, abs=1e-12 * np.abs(column).max()), name
    assert (result.contact("touch").normal_force > 0.0).any()
    verdict = audit(result)
    assert verdict.ok, verdict.text()


def test_joint_forces_are_those_of_the_step_that_has_ended():
    result = simulate(crane(), 0.2, DT, output_every=1, progress=False)
    history = result.joint("hook")
    force, late = result.sensor("pull").value, slice(3, -1)  # the contact closes in the first steps
    assert force[0] == 0.0
    assert np.abs(0.5 * (force[3:-1] + force[4:]) - history.force[late, 1]).max() < 1e-9 * np.abs(force).max()
    torque, bearing = result.sensor("torque").value, result.sensor("bearing").value
    moment, along = (
        result.joint("crank").moment_in("joint")[:, 2],
        result.joint("hinge").force_in("joint")[:, 2],
    )
    for steps, mean in ((torque, moment), (bearing, along)):
        assert np.abs(0.5 * (steps[3:-1] + steps[4:]) - mean[late]).max() < 1e-9 * np.abs(steps).max()


MASS, GRAVITY = 2.0, 9.81


def cart(law, inputs=("weight",), gravity=-GRAVITY, **settings):
    """Return a cart on a level rail, pressed down by a controller that reads the force of the rail."""
    model = Model("cart", gravity=(0, gravity, 0))
    body = model.add_body("cart", Box(0.1, 0.1, 0.1, mass=MASS), velocity=(1.0, 0, 0))
    model.add_joint("rail", "prismatic", "ground", body, at=(0, 0, 0), axis=(1, 0, 0))
    model.add_sensor("weight", measures.joint_force("rail", "force", axis=(0, 1, 0)))
    controller = model.add_controller("c", law, list(inputs), **settings)
    model.add_force("press", body, controller.output().along((0, -1, 0)))
    return model


@pytest.mark.parametrize("solver", ["auto", "general"])
@pytest.mark.parametrize("gain", [0.5, 1.5])
def test_a_controller_of_a_joint_force_lags_by_one_step_and_makes_no_algebraic_loop(gain, solver):
    law = controllers.Formula(f"{gain}*weight")
    result = simulate(cart(law), 20 * DT, DT, output_every=1, solver=solver, progress=False)
    n = np.arange(21)
    expected = MASS * GRAVITY * (gain**n - 1.0) / (gain - 1.0)  # F_n = m g + gain F_(n-1), F_0 = 0
    assert result.sensor("weight").value == pytest.approx(expected, rel=1e-11, abs=1e-11)
    assert result.body("cart").r[-1] == pytest.approx([20 * DT, 0.0, 0.0], abs=1e-12)


@pytest.mark.parametrize("integrator", ["em", "em4", "em-ggl", "GGL-EM", "MPL", "mG(2)", "GL-SPARK(2)"])
def test_every_family_measures_joint_forces(integrator):
    law = Recorder(lambda t, y: 3.0)
    result = simulate(cart(law), 10 * DT, DT, integrator, output_every=1, progress=False)
    weight = result.sensor("weight").value
    assert weight == pytest.approx([0.0] + 10 * [MASS * GRAVITY + 3.0], abs=1e-8)
    assert law.table(result.t[:-1])[:, 0] == pytest.approx(weight[:-1], abs=1e-12)


def test_section_forces_of_a_hanging_rod_carry_the_weight_below():
    model = Model("line", gravity=(0, 0, -GRAVITY))
    rod = model.add_rod("line", [(0, 0, 0), (0, 0, -1)], SECTION, 8)
    model.add_joint("root", "clamp", rod.start)
    load = model.add_body("load", Box(0.1, 0.1, 0.1, mass=0.3), position=(0, 0, -1))
    model.add_joint("hook", "weld", rod.end, load)
    for s in (0.0, 0.5):
        model.add_sensor(f"N at {s}", measures.section_force(rod.at(s), "N1"))
    model.add_sensor("reaction", measures.joint_force("root", "force", axis=(0, 0, 1)))
    rest = equilibrium(model)
    mass = 1100.0 * np.pi * 0.02**2
    assert rest.sensor("N at 0.5").value[-1] == pytest.approx((0.3 + 0.5 * mass) * GRAVITY, rel=1e-9)
    assert rest.sensor("N at 0.0").value[-1] == pytest.approx((0.3 + mass) * GRAVITY, rel=1e-9)
    # a clamp holds its part a on the ground, on which its force acts
    assert rest.sensor("reaction").value[-1] == pytest.approx(-(0.3 + mass) * GRAVITY, rel=1e-9)


@rodsim.interaction("low-pass filter of a distance", frames=2, numbers=("T",), states={"q": 2, "x": 0})
class Filter:
    """Pass the distance through a filter of time T: T x' = l - x; q is two more filters, of half and twice T. No force."""

    def evolve(y0, y1, x0, x1, h, X, out):
        l0, l1 = norm(minus(y0[1, 0], y0[0, 0])), norm(minus(y1[1, 0], y1[0, 0]))
        for i, T in enumerate((0.5 * X[0], 2.0 * X[0], X[0])):
            out[i] = T * (x1[i] - x0[i]) / h - (0.5 * (l0 + l1) - 0.5 * (x0[i] + x1[i]))

    def step_dual(y0, y1, x0, x1, h, X, out):
        d0, d1 = minus(y0[1, 0], y0[0, 0]), minus(y1[1, 0], y1[0, 0])
        f = times(1e-6 * (x0[0] + x1[0]), average(d0, d1))
        push(out, 1, f)
        push(out, 0, times(-1.0, f))


@pytest.mark.parametrize("component", ["x", 0, 1])
def test_states_of_interactions_are_measured(component):
    model = Model("filtered")
    body = model.add_body("body", Box(0.1, 0.1, 0.1, mass=1.0), position=(1, 0, 0), velocity=(2.0, 0, 0))
    other = model.add_body("other", Box(0.1, 0.1, 0.1, mass=1.0), position=(0, 1, 0))
    model.add_interaction("before", Filter, "ground", other, T=0.1, q=[9.0, 9.0], x=9.0)
    filters = model.add_interaction("filter", Filter, "ground", body, T=0.1, q=[0.2, 0.4], x=0.3)
    state = measures.state(filters, "x") if component == "x" else measures.state("filter", "q", component)
    model.add_sensor("filtered", state)
    model.add_sensor("l", measures.distance("ground", body))
    law = Recorder(lambda t, y: 0.1)
    controller = model.add_controller("c", law, ["filtered"])
    model.add_force("push", body, controller.output().along((1, 0, 0)))
    result = simulate(model, 0.2, DT, output_every=1, progress=False)
    T, x = {"x": (0.1, 0.3), 0: (0.05, 0.2), 1: (0.2, 0.4)}[component]
    expected, distance = [x], result.sensor("l").value
    for mean in 0.5 * (distance[1:] + distance[:-1]):
        x = ((T / DT - 0.5) * x + mean) / (T / DT + 0.5)
        expected.append(x)
    value = result.sensor("filtered").value
    assert value == pytest.approx(expected, abs=1e-12)
    assert law.table(result.t[:-1])[:, 0] == pytest.approx(value[:-1], abs=0.0)


# --- noise and delay

STIFFNESS, KP, KD = 50.0, 20.0, 3.0


def oscillator(law, inputs=("x", "x.rate"), sensor=None, **settings):
    """Return a mass on a slide and a spring, released 0.1 m from rest and driven by a controller."""
    model = Model("oscillator")
    mass = model.add_body("mass", Box(0.1, 0.1, 0.1, mass=MASS), position=(0.1, 0, 0))
    model.add_joint("slide", "prismatic", "ground", mass, at=(0, 0, 0), axis=(1, 0, 0))
    model.add_spring("spring", "ground@-1,0,0", mass, stiffness=STIFFNESS, length=1.0)
    model.add_sensor("x", measures.coordinate(mass, axis=(1, 0, 0)), **(sensor or {}))
    controller = model.add_controller("c", law, list(inputs), **settings)
    model.add_force("force", mass, controller.output().along((1, 0, 0)))
    return model


PD = controllers.StateFeedback([[KP, KD]])


@pytest.mark.parametrize("solver", ["auto", "general"])
@pytest.mark.parametrize(("samples", "delay"), [(1, 1), (1, 4), (3, 2)])
def test_delayed_oscillator_follows_its_discrete_equations(samples, delay, solver):
    sensor = {"delay": samples * delay * DT}
    model = oscillator(PD, sensor=sensor, period=samples * DT)
    result = simulate(model, 1.0, DT, output_every=1, solver=solver, progress=False)
    A0 = np.array([[1.0, 0.5 * DT], [-0.5 * DT * STIFFNESS / MASS, 1.0]])
    A1 = np.array([[1.0, -0.5 * DT], [0.5 * DT * STIFFNESS / MASS, 1.0]])
    z, x, readings = np.array([0.1, 0.0]), [0.1], []
    for k in range(200):
        if k % samples == 0:
            readings.append(z)
        y = readings[max(0, len(readings) - 1 - delay)]
        z = np.linalg.solve(A1, A0 @ z + np.array([0.0, DT / MASS]) * (-KP * y[0] - KD * y[1]))
        x.append(z[0])
    assert result.body("mass").r[:, 0] == pytest.approx(x, abs=1e-13)
    value, reading = result.sensor("x").value, result.sensor("x").reading
    last = (np.arange(200) // samples - delay).clip(0) * samples
    assert reading[0] == 0.0
    assert reading[1:] == pytest.approx(value[last], abs=0.0)
    assert result.sensor("x").rate_reading[1:] == pytest.approx(result.sensor("x").rate[last], abs=0.0)


def noisy(seed=1, noise=(0.01, 0.2), t_end=1.0, name="x", **settings):
    """Return value and rate of the noise (n, 2) that a recording controller got in a run."""
    law = Recorder(lambda t, y: -KP * y[0])
    model = oscillator(law, sensor={"noise": noise, "seed": seed}, **settings.pop("model", {}))
    result = simulate(model, t_end, DT, output_every=1, progress=False, **settings)
    sensor = result.sensor("x")
    exact = np.stack([sensor.value, sensor.rate], axis=1)[:-1]
    readings = np.stack([sensor.reading, sensor.rate_reading], axis=1)[1:]
    assert np.array_equal(law.table(result.t[:-1]), readings)
    return readings - exact


def test_noise_is_white_and_normal_with_its_standard_deviations():
    noise = noisy(t_end=20.0) / (0.01, 0.2)
    n = len(noise)
    assert noise.mean(axis=0) == pytest.approx([0.0, 0.0], abs=4.0 / np.sqrt(n))
    assert noise.std(axis=0) == pytest.approx([1.0, 1.0], abs=4.0 / np.sqrt(2 * n))
    assert np.mean(noise[1:] * noise[:-1], axis=0) == pytest.approx([0.0, 0.0], abs=4.0 / np.sqrt(n))
    assert np.mean(noise[:, 0] * noise[:, 1]) == pytest.approx(0.0, abs=4.0 / np.sqrt(n))


def test_noise_depends_on_the_seed_and_not_on_the_run():
    whole = noisy()
    assert np.abs(whole - noisy(solver="general")).max() < 1e-12
    assert np.abs(whole[:, 0] - noisy(noise=(0.01, 0.0))[:, 0]).max() < 1e-12
    assert np.abs(whole - noisy(seed=2)).min() > 0.0


def test_noise_of_one_sensor_does_not_depend_on_others():
    def model(more):
        built = oscillator(Recorder(), inputs=("x",), sensor={"noise": 0.01}, period=2 * DT)
        if more:
            built.add_sensor("before", measures.coordinate("mass", (1, 0, 0)), noise=0.01)
            built.add_controller("fast", Recorder(), ["before"])
        return built

    one, other = (
        simulate(model(more), 0.2, DT, output_every=1, progress=False).sensor("x").reading
        for more in (False, True)
    )
    assert np.array_equal(one, other)
    both = simulate(model(True), 0.2, DT, output_every=1, progress=False)
    assert np.abs(both.sensor("before").reading[1:] - both.sensor("x").reading[1:]).min() > 0.0


@pytest.mark.parametrize("law", ["python", "formula"])
def test_resumed_run_with_noise_delay_and_forces_is_bit_identical(law, tmp_path):
    chosen = {
        "python": Recorder(lambda t, y: -y.sum()),
        "formula": controllers.Formula("-x - x_rate - 0.01*slide - 0.1*E"),
    }
    inputs, sensor = ["x", "x.rate", "slide", "E"], {"noise": (0.01, 0.1), "seed": 5, "delay": 9 * DT}
    model = oscillator(PD, sensor=sensor, period=3 * DT)
    model.add_sensor("slide", measures.joint_force("slide", "force", axis=(0, 1, 0)), noise=0.01)
    model.add_sensor("E", measures.energy(), delay=3 * DT)
    second = model.add_controller("second", chosen[law], inputs, period=3 * DT)
    model.add_force("push", "mass", second.output().along((1, 1, 0)))
    whole, parts = tmp_path / "whole.vtkhdf", tmp_path / "parts.vtkhdf"
    simulate(model, 0.5, DT, output=whole, output_every=5, progress=False)
    simulate(model, 0.25, DT, output=parts, output_every=5, progress=False)
    simulate(model, 0.5, DT, output=parts, output_every=5, resume=True, progress=False)
    one, other = (Result.load(path) for path in (whole, parts))
    assert all(np.array_equal(x, y) for x, y in zip(one.state(), other.state(), strict=True))
    first = simulate(model, 0.25, DT, progress=False)
    continued = simulate(model, 0.25, DT, start=first, progress=False)
    for name in ("x", "slide", "E"):
        assert continued.sensor(name).reading[-1] == pytest.approx(one.sensor(name).reading[-1], abs=1e-10)
    verdict = audit(one)
    assert verdict.ok, verdict.text()


def test_prepared_runs_measure_quantities_of_their_own_numbers():
    def climbing(gravity):
        model = cart(controllers.Formula("0*weight"), gravity=gravity)
        body = model.add_body("free", Box(0.1, 0.1, 0.1, mass=1.0), position=(0, 2, 0))
        model.add_sensor("E", measures.energy("gravity"))
        second = model.add_controller("second", controllers.Formula("0.1*E - 0.2*weight"), ["E", "weight"])
        model.add_force("push", body, second.output().along((1, 0, 0)))
        return model

    prepared = climbing(-9.0).prepare(t_end=0.1, dt=DT)
    gravities = [-9.0 + k for k in range(3)]
    changes = [{"gravity": (0, gravity, 0)} for gravity in gravities]
    many = simulate_many(prepared, changes, threads=2)
    for change, gravity, result in zip(changes, gravities, many, strict=True):
        expected = simulate(climbing(gravity), 0.1, DT, progress=False).body("free").r[-1]
        assert result.body("free").r[-1] == pytest.approx(expected, abs=1e-13)
        assert prepared.run(change).body("free").r[-1] == pytest.approx(expected, abs=1e-13)
    assert np.abs(many[0].body("free").r[-1] - many[1].body("free").r[-1])[0] > 1e-4


def test_runs_in_threads_evaluate_quantities_one_at_a_time(monkeypatch):
    inside, most, plain = [], [0], JointHistory.force

    def force(history):
        inside.append(1)
        most[0] = max(most[0], len(inside))
        time.sleep(0.003)
        inside.pop()
        return plain.fget(history)

    monkeypatch.setattr(JointHistory, "force", property(force))
    model = cart(controllers.Formula("0.1*weight"))
    model.add_rod("ballast", [(0, 1, 0), (1, 1, 0)], SECTION, 250)  # a march this long gives up its turn
    prepared = model.prepare(t_end=60 * DT, dt=DT, output_every=60)
    simulate_many(prepared, [{}, {"gravity": (0, -5.0, 0)}], threads=2)
    assert most == [1]


def test_restart_of_a_model_with_another_delay_begins_anew():
    sensor = [{"delay": k * DT} for k in (2, 3)]
    models = [oscillator(PD, sensor=x, period=DT) for x in sensor]
    first = simulate(models[0], 0.1, DT, progress=False)
    second = simulate(models[1], 0.1, DT, start=first, output_every=1, progress=False)
    sensor = second.sensor("x")
    assert sensor.value[0] == pytest.approx(first.sensor("x").value[-1], abs=1e-13)
    assert sensor.reading[:6] == pytest.approx([0.0, *[sensor.value[0]] * 4, sensor.value[1]], abs=0.0)
    same = simulate(models[0], 0.1, DT, start=first, output_every=1, progress=False).sensor("x")
    assert same.reading[0] == first.sensor("x").reading[-1] != 0.0


def test_layout_checks_the_states_that_sensors_measure():
    model = oscillator(PD)
    model.add_interaction("filter", Filter, "ground", "mass", T=0.1, q=[1.0, 1.0], x=1.0)
    model.add_sensor("state", measures.state("filter", "x"))
    layout = model.build().layout
    controls = layout.system.controls
    numbers = controls.numbers.copy()
    numbers[-1] += 1.0
    system = layout.system._replace(controls=controls._replace(numbers=numbers))
    with pytest.raises(ValueError, match="sensors measure states that it does not have"):
        dataclasses.replace(layout, system=system)


def test_error_in_a_quantity_ends_the_run_and_keeps_it(monkeypatch):
    law, plain = Recorder(), JointHistory.force

    def failing(history):
        if len(law.samples) > 5:
            raise ValueError("no force")
        return plain.fget(history)

    monkeypatch.setattr(JointHistory, "force", property(failing))
    with pytest.raises(
        ConvergenceError, match=r"the sensors at t = 0\.03 s raised ValueError: no force"
    ) as caught:
        simulate(cart(law), 0.1, DT, output_every=1, progress=False)
    assert caught.value.result.t[-1] == pytest.approx(0.03)
    assert isinstance(caught.value.__cause__, ValueError)


# --- refusals

REFUSED = {
    "rate of a force": (
        lambda m: m.add_controller("d", PD, ["force", "force.rate"]),
        r"controller 'd': joint force 'force' is measured by value alone, 'force\.rate' does not exist",
    ),
    "rate without noise": (
        lambda m: m.add_controller("d", PD, ["noisy", "noisy.rate"]),
        r"controller 'd': sensor 'noisy' has noise = 0\.1 of its value, and none is known of its rate",
    ),
    "noise of a rate": (
        lambda m: m.add_sensor("s", measures.energy(), noise=(0.1, 0.1)),
        r"sensor 's': noise = \(0\.1, 0\.1\) has a number for the rate",
    ),
    "three noises": (
        lambda m: m.add_sensor("s", measures.energy(), noise=(1, 1, 1)),
        "is not one or two numbers",
    ),
    "negative noise": (lambda m: m.add_sensor("s", measures.energy(), noise=-1.0), "sensor 's': noise = -1"),
    "seed": (lambda m: m.add_sensor("s", measures.energy(), seed=-1), "sensor 's': seed = -1 is too small"),
    "delay": (lambda m: m.add_sensor("s", measures.energy(), delay=-1.0), "sensor 's': delay = -1"),
    "component": (
        lambda m: measures.section_force("rod@0.5", "M4"),
        "component = 'M4' is not known; choose one of N1",
    ),
    "no rod": (
        lambda m: m.add_sensor("s", measures.section_force("mass", "N1")),
        r"sensor 's': .* is not a point of a rod",
    ),
    "no joint": (
        lambda m: m.add_sensor("s", measures.joint_force("hinge", "force")),
        "'hinge' is not among the joints and drives of this model: 'slide', 'ball'",
    ),
    "no axis": (
        lambda m: m.add_sensor("s", measures.joint_force("ball", "force")),
        "spherical joint 'ball' has no axis. Give a direction of the world",
    ),
    "no contact": (
        lambda m: m.add_sensor("s", measures.contact_force("floor")),
        "'floor' is not among the contacts of this model: none",
    ),
    "no energy": (lambda m: measures.energy("spring", "mass"), "kind = 'spring' is not known"),
    "ground": (lambda m: m.add_sensor("s", measures.energy("kinetic", "ground")), "<Ground> has no energy"),
    "no interaction": (
        lambda m: m.add_sensor("s", measures.state("motor", "i")),
        "'motor' is not among the interactions of this model: 'filter'",
    ),
    "no state": (
        lambda m: m.add_sensor("s", measures.state("filter", "T")),
        "'filter' has no state 'T'. Its states are: 'q', 'x'",
    ),
    "index": (
        lambda m: m.add_sensor("s", measures.state("filter", "q", 2)),
        "state 'q' of 'filter' has 2 numbers, got index = 2. Give an index from 0 to 1",
    ),
    "energy law": (
        lambda m: m.add_energy("e", "k*E", {"E": measures.energy()}, k=1.0),
        "energy 'e': measures =",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_sensor_is_refused_by_name(case):
    model = oscillator(PD)
    bob = model.add_body("bob", Box(0.1, 0.1, 0.1, mass=1.0), position=(2, 0, 0))
    model.add_joint("ball", "spherical", "ground", bob, at=(2, 0, 0))
    model.add_interaction("filter", Filter, "ground", bob.at((0.1, 0, 0)), T=0.1, q=[1.0, 1.0], x=1.0)
    model.add_sensor("force", measures.joint_force("slide", "force"))
    model.add_sensor("noisy", measures.coordinate("mass", (1, 0, 0)), noise=0.1)
    act, message = REFUSED[case]
    with pytest.raises(ModelError, match=message):
        act(model)


def test_contact_without_two_sides_has_a_normal_force_alone():
    model = crane()
    skins = [model.add_sphere(f"skin {k}", part, 0.05) for k, part in enumerate(("arm", "block"))]
    model.add_contact("all", skins, stiffness=1e3)
    model.add_sensor("all", measures.contact_force("all"))
    with pytest.raises(ModelError, match="the surfaces of contact 'all' have no two sides"):
        model.add_sensor("lifted", measures.contact_force("all", axis=(1, 0, 0)))


DELAYS = {
    "each step": (
        {"delay": 0.1},
        [None],
        "needs readings at a fixed period, and controller 'c' reads it in each step",
    ),
    "part": (
        {"delay": 0.03},
        [0.02],
        r"is not a multiple of the period = 0\.02 s .*\(1\.5 periods\)\. Use delay = 0\.04",
    ),
    "short": ({"delay": 0.004}, [0.02], r"is not a multiple of the period = 0\.02 s .* Use delay = 0\.02"),
    "two periods": (
        {"delay": 0.04},
        [0.02, 0.04],
        "controllers 'c' and 'd' read it at periods of 0.02 and 0.04 s",
    ),
}


@pytest.mark.parametrize("case", DELAYS)
def test_delay_has_to_be_a_multiple_of_one_period(case):
    sensor, periods, message = DELAYS[case]
    model = oscillator(PD, sensor=sensor, period=periods[0])
    for period in periods[1:]:
        model.add_controller("d", PD, ["x", "x.rate"], period=period)
    with pytest.raises(ModelError, match=message):
        model.build()


def test_results_refuse_rates_and_readings_that_do_not_exist():
    model = oscillator(PD)
    model.add_sensor("force", measures.joint_force("slide", "force"), noise=0.1)
    result = simulate(model, 0.02, DT, progress=False)
    with pytest.raises(ResultError, match="sensor 'force': a joint force has no rate"):
        _ = result.sensor("force").rate
    for name in ("force", "x"):
        with pytest.raises(ResultError, match=f"sensor '{name}': has no readings other than its value"):
            _ = result.sensor(name).reading
    with pytest.raises(ModelError, match="joint force 'force' is measured by value alone"):
        _ = model.sensors["force"].rate


def test_rigid_twin_leaves_out_sensors_of_its_rods():
    model = crane()
    model.add_controller("c", controllers.PID(kp=1.0), ["tension"])
    twin = model.as_rigid("rod")
    assert "tension" not in twin.sensors
    assert "strain" not in twin.sensors
    assert "total" in twin.sensors
    assert "c" not in twin.controllers


def test_scene_of_a_model_has_its_sensors(tmp_path):
    model = crane(["x", "tension"], controllers.Formula("0.1*x + 0.01*tension"))
    model.add_sensor("noisy", measures.joint_force("hook", "moment", (0, 0, 1)), noise=0.2, seed=7)
    model.add_sensor("late", measures.distance("ball", "block"), noise=(0.1, 0.2), delay=0.02)
    model.save(tmp_path / "crane.yaml")
    read = Model.load(tmp_path / "crane.yaml")
    assert list(read.sensors) == list(model.sensors)
    one, other = (simulate(x, 0.02, DT, progress=False) for x in (model, read))
    for name in model.sensors:
        assert one.sensor(name).value == pytest.approx(other.sensor(name).value, abs=0.0)
    assert read.sensors["noisy"].described() == model.sensors["noisy"].described()
