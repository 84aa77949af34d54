"""Laws of forces on measures and of numbers that vary in time: exact work, closed forms, all solvers, files.

A force u that is constant in a step does the work u (m1 - m0) on its measure m. A spring whose numbers vary is a fixed spring and
such a force; rest strains of a rod that vary are a stress.
"""

import numpy as np
import pytest
import scipy

from rodsim import (
    Adaptive,
    Box,
    Cylinder,
    Model,
    ModelError,
    Newton,
    Result,
    ResultError,
    Section,
    Sphere,
    audit,
    controllers,
    equilibrium,
    measures,
    modes,
    signals,
    simulate,
)
from rodsim.linear import ForceInput, MotionOutput, VaryingInput, frequency_response, state_space

DT = 0.01
SOFT = Section.from_stiffness(
    EA=60.0, GA=40.0, GJ=3.0, EI=(2.0, 4.0), mass_per_length=1.5, inertia_per_length=(0.4, 0.2, 0.3)
)
STRAINS = {"Gamma1": 0.02, "Gamma2": 0.01, "Gamma3": -0.01, "K1": 0.3, "K2": 0.2, "K3": 1.0}
ELEMENTS = ["se3", "midpoint", "lagrange(1)", "lagrange(3)", "relative(2)", "relative(4)", "cayley(2)"]
MEASURES = {
    "distance": measures.distance("ground@0.2,1,0.3", "arm@0.5,0.1,0"),
    "strain": measures.strain("ground@0.2,1,0.3", "arm@0.5,0.1,0", length=0.7),
    "displacement": measures.displacement("arm", "fore@0.4,0.2,0.1", axis=(0.3, 1.0, 0.2)),
    "coordinate": measures.coordinate("fore@0.4,0.2,0.1", axis=(0.3, 1.0, 0.2)),
    "cosine": measures.cosine("arm", (1, 0, 0), "fore", (0.6, 0.8, 0)),
    "angle": measures.angle("arm", "fore", axis=(0, 0, 1)),
}


def force(t):
    """Return the forces on measures of these tests."""
    return 2.0 + 3.0 * np.sin(5.0 * t)


def arms(measure=None, value="2 + 3*sin(5*t)"):
    """Return two bars on hinges under gravity, one axis oblique, with a force on a measure and a sensor of its measure."""
    model = Model("arms", gravity=(0, -9.81, 1.0))
    arm = model.add_body("arm", Box(1.0, 0.1, 0.1, mass=2.0), position=(0.5, 0, 0))
    model.add_joint("shoulder", "spherical", "ground", arm, at=(0, 0, 0))
    fore = model.add_body("fore", Box(1.0, 0.1, 0.1, mass=1.0), position=(1.5, 0, 0))
    model.add_joint("elbow", "revolute", arm, fore, at=(1, 0, 0), axis=(0, 0, 1))
    if measure is not None:
        model.add_sensor("m", measure)
        model.add_measure_force("pull", measure, value)
    return model


@pytest.mark.parametrize("word", MEASURES)
@pytest.mark.parametrize("solver", ["auto", "general"])
def test_work_of_a_measure_force_is_its_force_times_the_change_of_its_measure(word, solver):
    result = simulate(arms(MEASURES[word]), 0.5, DT, solver=solver, output_every=1, progress=False)
    change = np.diff(result.sensor("m").value)
    work = force(result.t[:-1] + DT / 2) * change
    assert np.abs(work).max() > 1e-3
    assert np.diff(result.work) == pytest.approx(work, abs=1e-13)
    assert np.diff(result.energy["total"]) == pytest.approx(work, abs=1e-13)
    assert ("solver" in result.description["run"]) == (solver == "auto")


PATHS = {
    "space": [(0, 0, 0), (1, 0.2, 0.1)],
    "plane": [(0, 0, 0), (1, 0, 0)],
    "oblique plane": [(0, 0, 0), (0.6, 0.8, 0)],
}


@pytest.mark.parametrize("integrator", ["em", "em4"])
@pytest.mark.parametrize("path", PATHS)
def test_work_of_actuations_has_the_same_bits_wherever_a_run_is_divided(path, integrator):
    """Fast solvers add the work of a step when the next one begins; outputs and the ends of their loops must not show it."""
    model = Model("rod")
    rod = model.add_rod("rod", PATHS[path], SOFT, 9)
    model.add_joint("clamp", "clamp", rod.start)
    for strain, value in {"K3": "2*sin(9*t)", "Gamma1": "0.02*cos(7*t)"}.items():
        model.add_actuation(strain, rod, strain, value)
    whole, divided, general = (
        simulate(model, 0.4, DT, integrator, output_every=every, solver=solver, progress=False)
        for every, solver in ((40, "auto"), (5, "auto"), (5, "general"))
    )
    assert abs(whole.work[-1]) > 1e-2
    assert whole.work[-1] == divided.work[-1]
    assert divided.work == pytest.approx(general.work, abs=1e-12)
    gain = divided.energy["total"] - divided.energy["total"][0]
    assert gain == pytest.approx(divided.work, abs=1e-12)
    model.add_sensor("x", measures.coordinate(rod.end, axis=(1, 0, 0)))
    model.add_controller("idle", controllers.Formula("x"), ["x"])  # it reads the state after each step
    sampled = simulate(model, 0.4, DT, integrator, output_every=40, progress=False)
    assert sampled.work[-1] == whole.work[-1]


@pytest.mark.parametrize("integrator", ["em4", "em-ggl", "em-d(0.8)", "EML", "EM-G", "mG(2)", "GL-SPARK(2)"])
def test_every_family_accepts_measure_forces_and_its_audit_counts_their_work(integrator):
    model = arms(MEASURES["angle"])
    model.add_measure_force("push", MEASURES["distance"], signals.Sine(2.0, 1.5))
    model.add_spring("coil", "ground@0,1,0", "fore", 30.0, length="0.8 + 0.2*sin(4*t)")
    model.add_spring("twist", "arm", "fore", "2 + sin(3*t)", along="rotation", axis=(0, 0, 1), angle=0.2)
    result = simulate(model, 0.4, 0.005, integrator, output_every=2, progress=False)
    assert audit(result).ok
    reference = simulate(model, 0.4, 0.002, "em8", progress=False)
    assert result.body("fore").r[-1] == pytest.approx(reference.body("fore").r[-1], abs=5e-3)


def test_measure_force_between_free_bodies_conserves_momenta():
    model = Model("free")
    a = model.add_body("a", Box(0.3, 0.2, 0.1, density=100.0), angular_velocity=(1, 2, 0))
    b = model.add_body("b", Box(0.2, 0.3, 0.1, density=100.0), position=(0.9, 0.1, 0.2))
    model.add_measure_force("push", measures.distance(a.at((0.1, 0, 0)), b.at((0, 0.1, 0))), "4*sin(9*t)")
    model.add_measure_force("shift", measures.displacement(a, b.at((0, 0.1, 0)), axis=(1, 1, 0)), 2.0)
    model.add_measure_force("bend", measures.cosine(a, (1, 0, 0), b, (0, 1, 0)), 0.3)
    model.add_measure_force("turn", measures.angle(a, b, axis=(0, 0, 1)), -0.2)
    result = simulate(model, 0.3, DT, output_every=1, progress=False)
    for momentum in (result.linear_momentum, result.angular_momentum):
        assert momentum == pytest.approx(np.tile(momentum[0], (len(momentum), 1)), abs=1e-12)


def test_equal_measure_forces_joint_forces_and_loads_give_equal_motions():
    """A moment on the angle of a hinge is a joint force, a force on a coordinate is one at a point."""
    ends = []
    for k in range(2):
        model = arms()
        if k == 0:
            model.add_measure_force("motor", MEASURES["angle"], "2 + 3*sin(5*t)")
            model.add_measure_force("lift", measures.coordinate("fore", axis=(0, 1, 0)), 4.0)
        else:
            model.add_joint_force("motor", "elbow", "2 + 3*sin(5*t)")
            model.add_force("lift", "fore", (0.0, 4.0, 0.0))
        ends.append(simulate(model, 0.4, 0.002, "em6", progress=False).state().r)
    assert ends[0] == pytest.approx(ends[1], abs=1e-9)


def test_angle_is_counted_through_revolutions():
    model = Model("wheel")
    wheel = model.add_body("wheel", Box(0.2, 0.2, 0.05, mass=1.0), angular_velocity=(0, 0, 9.0))
    model.add_joint("axle", "revolute", "ground", wheel, at=(0, 0, 0), axis=(0, 0, 1))
    angle = measures.angle("ground", wheel, axis=(0, 0, 1))
    model.add_sensor("angle", angle)
    model.add_measure_force("motor", angle, 0.003)
    model.add_spring("spring", "ground", wheel, "0.001*t", along="rotation", axis=(0, 0, 1), angle=0.4)
    result = simulate(model, 2.0, DT, output_every=1, progress=False)
    angle, middle = result.sensor("angle").value, result.t[:-1] + DT / 2
    assert angle[-1] > 4 * np.pi
    mean = 0.5 * (angle[1:] + angle[:-1]) - 0.4
    work = (0.003 - 0.001 * middle * mean) * np.diff(angle)
    assert np.diff(result.work) == pytest.approx(work, abs=1e-13)


# --- springs whose numbers vary

MASS, STIFFNESS = 2.0, 50.0


def oscillator(**spring):
    """Return a mass on a slide and a spring to (-1, 0, 0), 0.1 m from the origin."""
    model = Model("oscillator")
    mass = model.add_body("mass", Box(0.1, 0.1, 0.1, mass=MASS), position=(0.1, 0, 0))
    model.add_joint("slide", "prismatic", "ground", mass, at=(0, 0, 0), axis=(1, 0, 0))
    model.add_spring("spring", "ground@-1,0,0", mass, **({"stiffness": STIFFNESS, "length": 1.0} | spring))
    return model


@pytest.mark.parametrize(
    "length", ["1 + 0.2*sin(3*t)", lambda t: 1 + 0.2 * np.sin(3 * t)], ids=["text", "function"]
)
def test_spring_with_a_rest_length_that_oscillates_follows_the_closed_form(length):
    """m x'' = -k (x - a sin(w t))."""
    result = simulate(oscillator(length=length), 2.0, 0.01, "em8", output_every=1, progress=False)
    w0, w, a = np.sqrt(STIFFNESS / MASS), 3.0, 0.2
    forced = a * w0**2 / (w0**2 - w**2)
    x = 0.1 * np.cos(w0 * result.t) + forced * (np.sin(w * result.t) - w / w0 * np.sin(w0 * result.t))
    assert result.body("mass").r[:, 0] == pytest.approx(x, abs=1e-9)


@pytest.mark.parametrize("solver", ["auto", "general"])
def test_spring_along_an_axis_with_a_length_that_oscillates_follows_the_closed_form(solver, tmp_path):
    """m y'' = -k (y - a sin(w t)) along an axis that the mass also leaves; a controller holds the same values."""
    w0, w, a = np.sqrt(STIFFNESS / MASS), 3.0, 0.2

    def model(length):
        model = Model("along")
        mass = model.add_body(
            "mass", Box(0.1, 0.1, 0.1, mass=MASS), position=(0.3, 0.1, 0), velocity=(0.4, 0, 0.2)
        )
        model.add_spring(
            "s", "ground@0,0,0", mass, STIFFNESS, length=length, along="axis", axis=(0, 1, 0), damping=0.0
        )
        return model

    result = simulate(model("0.2*sin(3*t)"), 2.0, 0.01, "em8", solver=solver, output_every=1, progress=False)
    forced = a * w0**2 / (w0**2 - w**2)
    y = 0.1 * np.cos(w0 * result.t) + forced * (np.sin(w * result.t) - w / w0 * np.sin(w0 * result.t))
    exact = np.column_stack([0.3 + 0.4 * result.t, y, 0.2 * result.t])
    assert result.body("mass").r == pytest.approx(exact, abs=1e-9)
    gain = result.energy["total"] - result.energy["total"][0]
    assert gain == pytest.approx(result.work, abs=1e-11)
    path = tmp_path / "along.yaml"
    model("0.2*sin(3*t)").save(path)
    again = simulate(Model.load(path), 2.0, 0.01, "em8", solver=solver, output_every=1, progress=False)
    assert np.array_equal(again.body("mass").r, result.body("mass").r)
    for value in (1.7, -0.4):  # the output of a controller is held; the fixed spring has the length at t = 0
        held = model(None)
        held.add_sensor("y", measures.coordinate("mass", axis=(0, 1, 0)))
        controller = held.add_controller("c", controllers.Formula(f"{value} + 0*y"), ["y"])
        del held.others["s"]
        held.add_spring(
            "s", "ground@0,0,0", "mass", STIFFNESS, length=controller.output(), along="axis", axis=(0, 1, 0)
        )
        one, other = (simulate(m, 0.5, 0.01, progress=False).state() for m in (held, model(value)))
        assert one.r == pytest.approx(other.r, abs=1e-12)


def test_spring_with_a_stiffness_that_oscillates_follows_mathieus_equation():
    model = oscillator(stiffness="50*(1 + 0.4*cos(10*t))")
    result = simulate(model, 2.0, 0.01, "em8", output_every=1, progress=False)

    def rates(t, y):
        return [y[1], -50.0 * (1 + 0.4 * np.cos(10 * t)) / MASS * y[0]]

    exact = scipy.integrate.solve_ivp(rates, (0, 2), [0.1, 0.0], rtol=1e-12, atol=1e-13, t_eval=result.t)
    assert result.body("mass").r[:, 0] == pytest.approx(exact.y[0], abs=1e-9)
    assert np.abs(exact.y[0]).max() > 0.15


@pytest.mark.parametrize("solver", ["auto", "general"])
def test_spring_whose_stiffness_and_length_vary_follows_its_equation(solver):
    """m x'' = -k(t) (1 + x - l(t)); the fixed spring is that of t = 0, and the rest is work, exactly."""
    model = oscillator(stiffness="50*(1 + 0.4*cos(10*t))", length="1.05 + 0.2*sin(3*t)")
    result = simulate(model, 2.0, 0.01, "em8", solver=solver, output_every=1, progress=False)

    def rates(t, y):
        k = 50.0 * (1 + 0.4 * np.cos(10 * t))
        return [y[1], -k * (y[0] - 0.05 - 0.2 * np.sin(3 * t)) / MASS]

    exact = scipy.integrate.solve_ivp(rates, (0, 2), [0.1, 0.0], rtol=1e-12, atol=1e-13, t_eval=result.t)
    assert result.body("mass").r[:, 0] == pytest.approx(exact.y[0], abs=1e-9)
    gain = result.energy["total"] - result.energy["total"][0]
    assert gain == pytest.approx(result.work, abs=1e-11)
    assert np.abs(result.work).max() > 1.0
    elastic = 0.5 * 70.0 * (result.body("mass").r[:, 0] - 0.05) ** 2
    kinetic = 0.5 * MASS * result.body("mass").v[:, 0] ** 2
    assert result.energy["total"] == pytest.approx(elastic + kinetic, abs=1e-11)


def test_torsion_spring_with_an_angle_and_a_stiffness_that_vary_follows_its_equation():
    """J a'' = -k (a - angle), where k, the angle, or both vary in time."""
    J = 0.1
    for numbers, function in (
        ({"stiffness": 3.0, "angle": "0.5*sin(4*t)"}, lambda t, a: -3.0 * (a - 0.5 * np.sin(4 * t))),
        ({"stiffness": "3 + 2*sin(4*t)", "angle": 0.5}, lambda t, a: -(3 + 2 * np.sin(4 * t)) * (a - 0.5)),
        (
            {"stiffness": "3 + 2*sin(4*t)", "angle": "0.2 + 0.5*sin(7*t)"},
            lambda t, a: -(3 + 2 * np.sin(4 * t)) * (a - 0.2 - 0.5 * np.sin(7 * t)),
        ),
    ):
        model = Model("wheel")
        wheel = model.add_body("wheel", Cylinder(np.sqrt(2 * J), 0.1, mass=1.0))
        model.add_joint("axle", "revolute", "ground", wheel, at=(0, 0, 0), axis=(0, 0, 1))
        model.add_spring("spring", "ground", wheel, along="rotation", axis=(0, 0, 1), **numbers)
        model.add_sensor("angle", measures.angle("ground", wheel, axis=(0, 0, 1)))
        result = simulate(model, 2.0, 0.01, "em8", output_every=1, progress=False)
        exact = scipy.integrate.solve_ivp(
            lambda t, y, of=function: [y[1], of(t, y[0]) / J],
            (0, 2),
            [0, 0],
            rtol=1e-12,
            atol=1e-13,
            t_eval=result.t,
        )
        assert result.sensor("angle").value == pytest.approx(exact.y[0], abs=1e-8)


@pytest.mark.parametrize("numbers", ["length", "stiffness"])
@pytest.mark.parametrize("solver", ["auto", "general"])
def test_spring_follows_a_controller_as_the_function_that_the_controller_computes(numbers, solver):
    """A controller that is sampled in each step holds the value of the start of the step."""
    start, scale = (1.0, 0.2) if numbers == "length" else (50.0, 20.0)

    def held(t):
        return start + scale * np.sin(3.0 * (np.floor(t / DT)) * DT)

    def law(t, h, measured, memory, outputs):
        outputs[0] = start + scale * np.sin(3.0 * t)

    ends = []
    for value in (held, None):
        model = oscillator(**({numbers: value} if value else {}))
        if value is None:
            model.add_sensor("x", measures.coordinate("mass", axis=(1, 0, 0)))
            controller = model.add_controller("c", law, ["x"])
            del model.springs["spring"]
            spring = {"stiffness": STIFFNESS, "length": 1.0} | {numbers: controller.output()}
            model.add_spring("spring", "ground@-1,0,0", "mass", **spring)
        ends.append(simulate(model, 1.0, DT, solver=solver, output_every=1, progress=False))
    assert ends[0].body("mass").r == pytest.approx(ends[1].body("mass").r, abs=1e-12)
    assert audit(ends[1]).ok


def test_constant_numbers_are_the_limit_of_varying_ones():
    """A spring whose length is constant, but given as a function, has the motion and the forces of the constant one."""
    for name, number in (("length", 1.3), ("stiffness", 70.0)):
        one, other = (oscillator(**{name: value}) for value in (number, lambda t, x=number: x))
        results = [simulate(m, 0.5, DT, output_every=1, progress=False) for m in (one, other)]
        assert results[0].body("mass").r == pytest.approx(results[1].body("mass").r, abs=1e-14)
        assert results[0].energy["total"] == pytest.approx(results[1].energy["total"], abs=1e-14)


def test_equilibrium_of_a_varying_spring_is_that_at_its_time():
    for name, text in (("length", "1 + 0.5*t"), ("stiffness", "50 + 20*t")):
        models = [oscillator(**{name: text}), oscillator(**{name: 1.5 if name == "length" else 70.0})]
        for model in models:
            model.add_force("push", "mass", (3.0, 0, 0))
        results = [equilibrium(model, load_time=1.0).state().r for model in models]
        assert results[0] == pytest.approx(results[1], abs=1e-12)


# --- rods


def clamped(element="se3", values=None, rest=None, mass="consistent", **settings):
    """Return a clamped rod of 4 elements whose rest strains are actuated, or built in."""
    model = Model("rod")
    built_in = {} if rest is None else {"rest_strains": rest}
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0.2, 0.1)], SOFT, 4, element=element, mass=mass, **built_in)
    model.add_joint("clamp", "clamp", rod.start)
    for strain, value in (values or {}).items():
        model.add_actuation(strain, rod, strain, value, **settings)
    return model


def test_numbers_that_vary_may_act_in_full_from_the_beginning():
    """Two springs of one stiffness hang a weight; the length of one, of which the weight hangs half, varies."""
    model = Model("pair", gravity=(0, 0, -9.81))
    ball = model.add_body("ball", Sphere(0.1, mass=2.0), position=(0, 0, -1))
    for name, length in (("fixed", 0.9), ("varying", "0.9 + 0.2*t")):
        model.add_spring(name, model.ground.at((0, 0, 0)), ball, stiffness=50.0, length=length)
    half, weight = 0.5, 2.0 * 9.81 / 100.0
    factors = Newton(factors=(half, 1.0))
    grown = equilibrium(model, load_time=1.0, method=factors).body("ball").r[-2:, 2]
    held = equilibrium(model, load_time=1.0, method=factors, constant=["varying"]).body("ball").r[-2:, 2]
    assert grown == pytest.approx([-(0.95 + half * weight), -(1.0 + weight)], abs=1e-12)
    assert held == pytest.approx([-(1.0 + half * weight), -(1.0 + weight)], abs=1e-12)
    with pytest.raises(ModelError, match="there is no load 'fixed'; the loads are varying, gravity"):
        equilibrium(model, load_time=1.0, constant=["fixed"])
    with pytest.raises(ModelError, match=r"'varying' has no single vector.*load_time="):
        equilibrium(model, loads={"varying": (0.1, 0.0, 0.0)})


@pytest.mark.parametrize("element", ELEMENTS)
def test_actuated_rod_moves_as_one_with_these_rest_strains(element):
    built = simulate(clamped(element, rest=[*STRAINS.values()]), 0.3, DT, output_every=1, progress=False)
    model = clamped(element, STRAINS)
    actuated = simulate(model, 0.3, DT, output_every=1, progress=False)
    assert np.abs(built.state().r - built.state(0).r).max() > 1e-2
    for name in ("r", "quat", "v", "Omega"):
        one, other = (getattr(result.state(), name) for result in (built, actuated))
        assert one == pytest.approx(other, abs=1e-12)
    gain = actuated.energy["total"] - actuated.energy["total"][0]
    assert gain == pytest.approx(actuated.work, abs=1e-13)
    assert np.abs(actuated.work).max() > 0.1
    assert audit(actuated).ok


@pytest.mark.parametrize("element", ELEMENTS)
def test_equilibrium_of_an_actuated_rod_is_that_with_these_rest_strains(element):
    built, actuated = (
        equilibrium(clamped(element, rest=[*STRAINS.values()])),
        equilibrium(clamped(element, STRAINS)),
    )
    assert built.state().r == pytest.approx(actuated.state().r, abs=1e-12)


def test_pneumatic_bending_of_a_cantilever_has_constant_curvature():
    """K3 = u bends a straight cantilever to an arc of radius 1/u, for any number of elements."""
    model = Model("finger")
    rod = model.add_rod("finger", [(0, 0, 0), (1, 0, 0)], SOFT, 3)
    model.add_joint("clamp", "clamp", rod.start)
    model.add_actuation("pressure", rod, "K3", 2.0)
    r, s = equilibrium(model).state().r[1:], np.linspace(0, 1, 4)
    arc = np.column_stack([np.sin(2 * s) / 2, (1 - np.cos(2 * s)) / 2, 0 * s])
    assert r == pytest.approx(arc, abs=1e-12)


@pytest.mark.parametrize("shape", [[(0, 1), (0.5, 0), (1, 2)], lambda s: 1 - 2 * s if s < 0.5 else 4 * s - 2])
def test_shape_along_the_rod_multiplies_the_strain(shape):
    def rest(s):
        return [0, 0, 0, 0, 0, 1 - 2 * s if s < 0.5 else 4 * s - 2]

    results = [
        equilibrium(model).state().r
        for model in (clamped(rest=rest), clamped(values={"K3": 1.0}, shape=shape))
    ]
    assert results[0] == pytest.approx(results[1], abs=1e-12)


def test_actuation_that_varies_does_the_work_of_its_stress():
    """W = sum over steps of u(t + h/2) L b . (change of the strains), here of K3 alone: b = EI3."""
    model = clamped(values={"K3": "2*sin(9*t)"})
    for solver in ("auto", "general"):
        result = simulate(model, 0.3, DT, solver=solver, output_every=1, progress=False)
        rod = result.rod("rod")
        change = np.diff(rod.K[:, :, 2], axis=0) @ np.full(4, rod.arclength[-1] / 4)
        work = 4.0 * 2.0 * np.sin(9.0 * (result.t[:-1] + DT / 2)) * change
        assert np.abs(work).max() > 1e-2
        assert np.diff(result.work) == pytest.approx(work, abs=1e-13)
        assert np.diff(result.energy["total"]) == pytest.approx(work, abs=1e-13)


@pytest.mark.parametrize("integrator", ["em4", "em-ggl", "em-d(0.8)", "EML", "EM-G"])
def test_every_family_accepts_actuations(integrator):
    model = clamped(values={"K3": "2*sin(9*t)", "Gamma1": 0.02}, mass="lumped")
    result = simulate(model, 0.2, 0.0025, integrator, output_every=4, progress=False)
    assert audit(result).ok
    reference = simulate(model, 0.2, 0.00125, "em4", progress=False)
    assert result.state().r == pytest.approx(reference.state().r, abs=3e-3)


def test_frames_off_the_centre_line_see_the_same_curve():
    """A section whose centre of mass is off its axis: the rest strains are those of the axis."""
    ends = []
    for built_in in (True, False):
        section = SOFT.with_centers(mass=(0.02, 0.01))
        model = Model("rod")
        rest = {"rest_strains": [0, 0, 0, 0, 0.5, 1.0]} if built_in else {}
        rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section, 4, **rest)
        model.add_joint("clamp", "clamp", rod.start)
        if not built_in:
            model.add_actuation("2", rod, "K2", 0.5)
            model.add_actuation("3", rod, "K3", 1.0)
        ends.append(equilibrium(model).state().r)
    assert ends[0] == pytest.approx(ends[1], abs=1e-12)


# --- pressure and gravity


def test_pressure_that_is_a_function_is_that_of_its_values():
    results = []
    for pressure in (3.0, lambda t: 3.0, "3 + 0*t"):
        model = Model("hose")
        rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], SOFT, 4)
        model.add_joint("clamp", "clamp", rod.start)
        model.add_pressure("water", rod, pressure, normal=(0, 0, 1))
        results.append(simulate(model, 0.2, DT, output_every=1, progress=False))
    for result in results[1:]:
        assert results[0].state().r == pytest.approx(result.state().r, abs=1e-12)
        assert results[0].work == pytest.approx(result.work, abs=1e-13)
        assert audit(result).ok


@pytest.mark.parametrize("solver", ["auto", "general"])
def test_gravity_that_varies_is_the_acceleration_of_a_free_body(solver):
    model = Model("quake", gravity=(0, 0, -9.81))
    body = model.add_body("body", Sphere(0.1, mass=3.0))
    model.add_gravity("quake", ["2*sin(4*t)", 0.0, "9.81*t"])
    result = simulate(model, 1.0, 0.01, "em6", solver=solver, progress=False)
    exact = [2 * (1 / 4 - np.sin(4) / 16), 0, -9.81 / 2 + 9.81 / 6]
    assert result.body("body").r[-1] == pytest.approx(exact, abs=1e-10)
    assert audit(result).ok
    assert body.name == "body"


def test_gravity_of_a_field_is_that_of_the_model():
    ends = []
    for constant in (True, False):
        model = Model("m", gravity=(0, 0, -9.81) if constant else (0, 0, 0))
        rod = model.add_rod("rod", [(0, 0, 0), (1, 0.2, 0.1)], SOFT, 4)
        model.add_joint("clamp", "clamp", rod.start)
        if not constant:
            model.add_gravity("g", (0, 0, -9.81))
        ends.append(simulate(model, 0.2, DT, progress=False).state().r)
    assert ends[0] == pytest.approx(ends[1], abs=1e-13)


def test_gravity_follows_a_controller():
    model = Model("lift")
    model.add_body("body", Sphere(0.1, mass=3.0))
    model.add_sensor("z", measures.coordinate("body", axis=(0, 0, 1)))
    up = model.add_controller("up", controllers.Formula("2 - z_rate"), ["z.rate"], period=DT)
    model.add_gravity("g", up.output().along((0, 0, 1)))
    result = simulate(model, 1.0, DT, output_every=1, progress=False)
    v = result.body("body").v[:, 2]
    assert np.diff(v) == pytest.approx(DT * (2 - v[:-1]), abs=1e-13)


# --- machines


def test_swing_is_pumped_by_a_controller():
    """A child that stands up at the bottom and bends the knees at the ends, by a spring whose length a controller sets."""
    amplitudes = []
    for gain in (0.0, 0.2):
        model = Model("swing", gravity=(0, -9.81, 0))
        seat = model.add_body("seat", Box(0.3, 2.0, 0.1, mass=5.0), (0.2, -1.0, 0))
        model.add_joint("pivot", "revolute", "ground", seat, at=(0.2, 0, 0), axis=(0, 0, 1))
        child = model.add_body("child", Box(0.2, 0.4, 0.2, mass=20.0), (0.2, -1.5, 0), velocity=(1.5, 0, 0))
        model.add_joint("slide", "prismatic", seat, child, at=(0.2, -1.5, 0), axis=(0, 1, 0))
        model.add_sensor("phi", measures.angle("ground", seat, axis=(0, 0, 1)))
        law = controllers.Formula(f"1.5 + {gain}*max(-1, min(1, 20*(phi**2 - 0.04)))")
        pump = model.add_controller("pump", law, ["phi"], period=0.01)
        model.add_spring("legs", "seat@0,1,0", child, stiffness=4000.0, length=pump.output(), damping=200.0)
        result = simulate(model, 6.0, 0.01, output_every=1, progress=False)
        assert audit(result).ok
        amplitudes.append(np.abs(result.sensor("phi").value[result.t > 4.0]).max())
    assert amplitudes[1] > 1.2 * amplitudes[0]


def test_cylinder_lifts_a_boom_to_its_target():
    """A hydraulic cylinder: force = pressure x area, the pressure by a controller of the angle."""
    model = Model("crane", gravity=(0, -9.81, 0))
    boom = model.add_body("boom", Box(2.0, 0.1, 0.1, mass=50.0), position=(1.0, 0, 0))
    model.add_joint("pivot", "revolute", "ground", boom, at=(0, 0, 0), axis=(0, 0, 1))
    stroke = measures.distance("ground@0.3,-1,0", boom.at((-0.2, 0, 0)))
    model.add_sensor("phi", measures.angle("ground", boom, axis=(0, 0, 1)))
    pid = controllers.PID(kp=6000.0, ki=9000.0, kd=1500.0, target=0.6)
    valve = model.add_controller("valve", pid, ["phi", "phi.rate"], period=0.01)
    model.add_measure_force("cylinder", stroke, valve.output())
    result = simulate(model, 6.0, 0.01, progress=False)
    assert audit(result).ok
    assert result.sensor("phi").value[-1] == pytest.approx(0.6, abs=1e-3)


def test_adaptive_steps_follow_an_actuation():
    model = clamped(values={"K3": signals.Ramp(2.0, 0.0, 0.1)})
    result = simulate(model, 0.2, Adaptive(error=1e-6, output_dt=0.05), progress=False)
    assert audit(result).ok
    reference = simulate(model, 0.2, 0.00125, "em4", progress=False)
    assert result.state().r == pytest.approx(reference.state().r, abs=2e-5)


# --- winches


def pendulum(value, **settings):
    """Return a ball on a rope, 1 m long, 0.6 m beside the vertical, whose length is driven."""
    model = Model("pendulum", gravity=(0, 0, -9.81))
    ball = model.add_body("ball", Sphere(0.01, mass=2.0), position=(0.6, 0, -0.8))
    model.add_joint("rope", "distance", "ground@0,0,0", ball.at((0, 0, 0)))
    model.add_drive("winch", "rope", value, **settings)
    model.add_sensor("length", measures.distance("ground@0,0,0", ball.at((0, 0, 0))))
    return model


@pytest.mark.parametrize("integrator", ["em", "em-ggl", "em6", "EML", "EM-G"])
def test_winch_drives_the_distance_and_does_its_work(integrator):
    result = simulate(pendulum("-0.3*t**2*exp(-t)"), 0.5, DT, integrator, output_every=1, progress=False)
    length = 1.0 - 0.3 * result.t**2 * np.exp(-result.t)
    assert result.sensor("length").value == pytest.approx(length, abs=1e-11)
    if integrator == "em-ggl":
        rate = -0.3 * (2.0 * result.t - result.t**2) * np.exp(-result.t)
        assert result.sensor("length").rate == pytest.approx(rate, abs=1e-11)
    gain = result.energy["total"] - result.energy["total"][0]
    assert gain == pytest.approx(result.work, abs=1e-11)
    assert result.drive_work("winch") == pytest.approx(result.work, abs=1e-11)
    assert np.abs(result.work).max() > 0.1
    assert result.joint("rope").force == pytest.approx(result.joint("winch").force, abs=1e-11)
    assert audit(result).ok


def test_parametric_pendulum_follows_its_equation():
    """phi'' = -(2 L' phi' + g sin phi)/L with L = 1 + 0.1 sin(w t), at twice the frequency of the pendulum."""
    w = float(2.0 * np.sqrt(9.81))
    result = simulate(pendulum(f"0.1*sin({w!r}*t)"), 4.0, 0.01, "em8", output_every=1, progress=False)

    def rates(t, y):
        length, rate = 1 + 0.1 * np.sin(w * t), 0.1 * w * np.cos(w * t)
        return [y[1], -(2 * rate * y[1] + 9.81 * np.sin(y[0])) / length]

    start = [np.arctan2(0.6, 0.8), 0.0]
    exact = scipy.integrate.solve_ivp(rates, (0, 4), start, rtol=1e-12, atol=1e-13, t_eval=result.t)
    ball = result.body("ball").r
    length = 1 + 0.1 * np.sin(w * result.t)
    assert ball[:, 0] == pytest.approx(length * np.sin(exact.y[0]), abs=1e-5)
    assert np.abs(exact.y[0]).max() > 0.8


def test_driving_force_is_that_of_the_coordinate():
    """A wheel that is spun up: J a; a slide: m a; a weight that is hoisted: -m (g + a), as the distance shrinks."""
    model = Model("driven", gravity=(0, 0, -9.81))
    wheel = model.add_body("wheel", Cylinder(0.3, 0.1, mass=2.0), position=(2, 0, 0))
    model.add_joint("axle", "revolute", "ground", wheel, at=(2, 0, 0), axis=(0, 0, 1))
    model.add_drive("motor", "axle", "1.5*t**2")
    slide = model.add_body("slide", Box(0.1, 0.1, 0.1, mass=3.0), position=(4, 0, 0))
    model.add_joint("rail", "prismatic", "ground", slide, at=(4, 0, 0), axis=(0, 0.6, 0.8))
    model.add_drive("screw", "rail", "0.5*t**2")
    weight = model.add_body("weight", Sphere(0.1, mass=2.0), position=(0, 0, -1))
    model.add_joint("rope", "distance", "ground@0,0,0", weight.at((0, 0, 0)))
    model.add_drive("winch", "rope", "-0.25*t**2")
    result = simulate(model, 0.5, DT, output_every=1, progress=False)
    for name, force in (
        ("motor", 0.5 * 2.0 * 0.3**2 * 3.0),
        ("screw", 3.0 * (1.0 + 0.8 * 9.81)),
        ("winch", -2.0 * (9.81 + 0.5)),
    ):
        history = result.joint(name)
        assert history.driving_force[1:-1] == pytest.approx(force, rel=2e-4)  # of order 2 in the step
        assert history.table()["driving_force"] == pytest.approx(history.driving_force)
    with pytest.raises(ResultError, match="revolute joint 'axle': is not a drive"):
        _ = result.joint("axle").driving_force


def test_drives_of_distances_reject_what_has_none():
    model = pendulum("-0.3*t**2")
    with pytest.raises(
        ModelError, match="drive 'other': drive 'winch' prescribes the distance of joint 'rope' already"
    ):
        model.add_drive("other", "rope", "t**2")
    with pytest.raises(ModelError, match="distance joint 'rope' has no coordinate to act on"):
        model.add_joint_force("push", "rope", 1.0)
    with pytest.raises(ModelError, match=r"drive 'winch': the distance at t = .* Keep it positive"):
        simulate(pendulum("-2*t**2"), 1.0, DT, progress=False)
    with pytest.raises(ModelError, match="it follows controller 'c'"):
        pendulum(signals.Output("c", "u"))


def test_modes_of_a_pendulum_on_a_winch_are_those_of_its_length():
    results = np.abs(modes(pendulum("0.0*t"), 8, equilibrium(pendulum("0.0*t"))).values)
    assert np.abs(results - np.sqrt(9.81)).min() < 1e-7


# --- linear models


def test_measure_force_is_an_input_of_a_linear_model():
    model = oscillator()
    model.add_measure_force("push", measures.coordinate("mass", axis=(1, 0, 0)), 0.0)
    output = [MotionOutput("mass", (1, 0, 0))]
    one = state_space(model, [ForceInput("mass", (1, 0, 0))], output)
    other = state_space(model, [VaryingInput("push")], output)
    for name in "ABCD":
        assert getattr(one, name) == pytest.approx(getattr(other, name), abs=1e-12)
    with pytest.raises(ModelError, match=r"input 0: 'pull' is not a measure force"):
        state_space(model, [VaryingInput("pull")], output)


def test_static_gain_of_an_actuation_is_the_change_of_its_equilibrium():
    model = clamped(values={"K3": 0.0})
    output = [MotionOutput("rod.end", (0, 1, 0))]
    gain = frequency_response(model, [VaryingInput("K3")], output, [1e-6])[0, 0, 0].real
    step = 1e-4
    moved = equilibrium(clamped(values={"K3": step})).state().r - equilibrium(model).state().r
    assert gain == pytest.approx(moved[-1, 1] / step, rel=1e-4)


def test_modes_of_a_rod_with_an_actuation_are_those_with_its_rest_strains():
    results = []
    for model in (clamped(rest=[0, 0, 0, 0, 0, 1.0]), clamped(values={"K3": 1.0})):
        results.append(modes(model, 4, equilibrium(model)).values)
    assert results[0] == pytest.approx(results[1], rel=1e-8)


# --- files, scenes, bad input


def varied():
    """Return a model with a measure force, a varying spring, an actuation and a pressure, all without functions of Python."""
    model = clamped(values={"K3": signals.Sine(2.0, 1.0)}, shape=[(0, 1), (1, 0)])
    model.add_pressure("water", "rod", "2*t", normal=(0, 0, 1))
    body = model.add_body("body", Box(0.3, 0.2, 0.1, density=100.0), position=(0, 0, -1))
    model.add_spring("coil", "ground@0,0,0", body, 30.0, length="1 + 0.1*sin(3*t)")
    model.add_spring("wire", "ground", body, "2 + t", along="rotation", axis=(0, 0, 1), angle=0.3)
    model.add_measure_force("push", measures.distance("rod.end", body), "2*sin(4*t)")
    return model


def test_file_has_the_values_of_what_varies(tmp_path):
    path = tmp_path / "varied.vtkhdf"
    uninterrupted = simulate(varied(), 0.2, DT, output_every=2, progress=False)
    simulate(varied(), 0.1, DT, output=path, output_every=2, progress=False)
    simulate(varied(), 0.2, DT, output=path, output_every=2, resume=True, progress=False)
    loaded = Result.load(path)
    assert all(np.array_equal(x, y) for x, y in zip(loaded.state(), uninterrupted.state(), strict=True))
    verdict = audit(loaded)
    assert verdict.ok
    assert verdict.step_recomputation.steps > 0


def test_scene_has_what_varies(tmp_path):
    model = varied()
    path = model.save(tmp_path / "varied.yaml")
    one, other = (simulate(m, 0.1, DT, progress=False).state() for m in (model, Model.load(path)))
    assert all(np.array_equal(x, y) for x, y in zip(one, other, strict=True))


def signal_of_controller(model):
    """Return the output of a controller that is added to a model."""
    sensor = model.add_sensor("height", measures.coordinate("arm", axis=(0, 1, 0)))
    return model.add_controller("c", controllers.PID(kp=1.0), [sensor]).output()


BAD = {
    "force": (lambda m: m.add_measure_force("a", MEASURES["angle"], (1, 2, 3)), "measure force 'a': force"),
    "direction": (
        lambda m: m.add_measure_force("a", MEASURES["angle"], signals.Constant(1.0).along((0, 0, 1))),
        "has a direction, but is a scalar",
    ),
    "measure": (lambda m: m.add_measure_force("a", "phi", 1.0), "expected a measure"),
    "both vary": (
        lambda m: m.add_spring("s", "ground@0,1,0", "arm", "1 + t", length=signal_of_controller(m)),
        "spring 's': both its stiffness and its value without force vary, and one of them follows a controller",
    ),
    "negative": (lambda m: m.add_spring("s", "ground@0,1,0", "arm", 1.0, length=-1.0), "length = -1"),
    "negative text": (lambda m: m.add_spring("s", "ground@0,1,0", "arm", "-2"), "stiffness = -2"),
    "along an axis": (
        lambda m: m.add_spring("s", "ground@0,1,0", "arm", "1 + t", along="axis", axis=(1, 0, 0)),
        "its stiffness cannot vary along an axis",
    ),
    "strain": (lambda m: m.add_actuation("a", "rod", "K4", 1.0), "strain = 'K4'"),
    "shape": (lambda m: m.add_actuation("a", "rod", "K3", 1.0, [(1, 0), (0, 1)]), "with increasing s"),
}


@pytest.mark.parametrize("fault", BAD)
def test_bad_input_is_named(fault):
    model = arms()
    model.add_rod("rod", [(0, 0, 5), (1, 0, 5)], SOFT, 2)
    add, message = BAD[fault]
    with pytest.raises(ModelError, match=message):
        add(model)


def test_unknown_output_and_value_that_is_not_finite_are_named():
    model = arms(MEASURES["angle"], signals.Output("c", "u"))
    with pytest.raises(ModelError, match="measure force 'pull': follows output 'u' of controller 'c'"):
        simulate(model, 0.1, DT, progress=False)
    model = arms(MEASURES["angle"], lambda t: np.nan)
    with pytest.raises(ModelError, match="pull': value at t = "):
        simulate(model, 0.1, DT, progress=False)


def test_actuator_on_one_part_and_actuation_of_a_nonlinear_rod_are_rejected():
    with pytest.raises(ModelError, match="measure force 'a': joins body 'arm' to itself"):
        arms().add_measure_force("a", measures.distance("arm@0.1,0,0", "arm@0.4,0,0"), 1.0)
    energy = "30*Gamma1**2 + Gamma1**4 + 20*Gamma2**2 + 20*Gamma3**2 + K1**2 + K2**2 + K3**2"
    rubber = SOFT.with_energy(energy)
    model = Model("rubber")
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], rubber, 2)
    model.add_actuation("a", rod, "K3", 1.0)
    with pytest.raises(ModelError, match="actuation 'a': the material of rod 'rod' is not linear"):
        simulate(model, 0.1, DT, progress=False)
