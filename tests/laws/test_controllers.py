"""Laws of sampled controllers: discrete equations, work, repeated and resumed steps, all solvers.

An oscillator of mass M on a spring k, whose force u is held from one sample to the next, is stepped by `em` as

    x1 - x0 = h (v0 + v1)/2,   M (v1 - v0) = h (u - k (x0 + x1)/2)                                       (1)
"""

import warnings

import numba
import numpy as np
import pytest
import scipy

from rodsim import (
    Adaptive,
    Box,
    ConvergenceError,
    Model,
    ModelError,
    Result,
    Sphere,
    audit,
    buckling,
    controllers,
    equilibrium,
    measures,
    modes,
    signals,
    simulate,
    simulate_many,
    steady_rotation,
)
from rodsim.linear import ForceInput, MotionOutput, state_space
from rodsim.warnings import StepWarning

MASS, STIFFNESS, DT = 2.0, 50.0, 0.01
KP, KD = 20.0, 3.0


def oscillator(law, inputs=("x", "x.rate"), **settings):
    """Return a mass on a slide and a spring, released 0.1 m from rest and driven by a controller."""
    model = Model("oscillator")
    mass = model.add_body("mass", Box(0.1, 0.1, 0.1, mass=MASS), position=(0.1, 0, 0))
    model.add_joint("slide", "prismatic", "ground", mass, at=(0, 0, 0), axis=(1, 0, 0))
    model.add_spring("spring", "ground@-1,0,0", mass, stiffness=STIFFNESS, length=1.0)
    model.add_sensor("x", measures.coordinate(mass, axis=(1, 0, 0)))
    controller = model.add_controller("c", law, list(inputs), **settings)
    model.add_force("force", mass, controller.output().along((1, 0, 0)))
    return model


def double_pendulum(law, inputs=("phi", "phi.rate"), axis=(0, 0, 1), **settings):
    """Return two bars on hinges under gravity, the first one driven by a controller."""
    model = Model("arms", gravity=(0, -9.81, 0))
    upper = model.add_body("upper", Box(1.0, 0.1, 0.1, mass=2.0), position=(0.5, 0, 0))
    model.add_joint("shoulder", "revolute", "ground", upper, at=(0, 0, 0), axis=axis)
    lower = model.add_body("lower", Box(1.0, 0.1, 0.1, mass=1.0), position=(1.5, 0, 0))
    model.add_joint("elbow", "revolute", upper, lower, at=(1, 0, 0), axis=(0, 0, 1))
    model.add_sensor("phi", measures.angle("ground", upper, axis=axis))
    controller = model.add_controller("c", law, list(inputs), **settings)
    model.add_moment("motor", upper, controller.output().along(axis))
    return model


def pd(t, h, measured, memory, outputs):
    """Write a proportional and derivative force."""
    outputs[0] = -KP * measured[0] - KD * measured[1]


def integrating(t, h, measured, memory, outputs):
    """Write proportional, derivative and integral control of the angle 0.5; memory: the integral."""
    memory[0] += h * (0.5 - measured[0])
    outputs[0] = 20.0 * (0.5 - measured[0]) - 2.0 * measured[1] + 5.0 * memory[0]


LAWS = {
    "python": pd,
    "numba": numba.njit(pd),
    "state feedback": controllers.StateFeedback([[KP, KD]]),
    "pid": controllers.PID(kp=KP, kd=KD),
}


def discrete(n, samples=1, delay=0):
    """Return x (n + 1,) by equation (1), with a sample in every `samples` steps, applied `delay` samples later."""
    A0 = np.array([[1.0, 0.5 * DT], [-0.5 * DT * STIFFNESS / MASS, 1.0]])
    A1 = np.array([[1.0, -0.5 * DT], [0.5 * DT * STIFFNESS / MASS, 1.0]])
    z, x, forces = np.array([0.1, 0.0]), [0.1], [0.0] * delay
    for k in range(n):
        if k % samples == 0:
            forces.append(-KP * z[0] - KD * z[1])
        z = np.linalg.solve(A1, A0 @ z + np.array([0.0, DT / MASS]) * forces[len(forces) - 1 - delay])
        x.append(z[0])
    return np.array(x)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("solver", ["auto", "general"])
def test_sampled_oscillator_follows_its_discrete_equations(law, solver):
    result = simulate(oscillator(LAWS[law]), 1.0, DT, solver=solver, output_every=1, progress=False)
    assert result.body("mass").r[:, 0] == pytest.approx(discrete(100), abs=1e-13)


def test_eigenvalues_of_a_sampled_oscillator_are_those_of_the_discrete_map():
    result = simulate(oscillator(LAWS["pid"]), 2.0, DT, output_every=1, progress=False)
    state = np.stack([result.body("mass").r[:, 0], result.body("mass").v[:, 0]])
    transition = state[:, 1:] @ np.linalg.pinv(state[:, :-1])
    A0 = np.array([[1.0, 0.5 * DT], [-0.5 * DT * STIFFNESS / MASS - DT * KP / MASS, 1.0 - DT * KD / MASS]])
    A1 = np.array([[1.0, -0.5 * DT], [0.5 * DT * STIFFNESS / MASS, 1.0]])
    expected = np.linalg.eigvals(np.linalg.solve(A1, A0))
    assert np.sort_complex(np.linalg.eigvals(transition)) == pytest.approx(
        np.sort_complex(expected), abs=1e-10
    )


@pytest.mark.parametrize("samples", [1, 3, 7])
def test_outputs_are_held_between_samples(samples):
    model = oscillator(pd, period=samples * DT)
    result = simulate(model, 1.0, DT, output_every=1, progress=False)
    assert result.body("mass").r[:, 0] == pytest.approx(discrete(100, samples), abs=1e-13)
    outputs = result.controller("c").output()
    changes = np.flatnonzero(np.diff(outputs)) + 1
    assert outputs[0] == 0.0
    assert np.all(changes % samples == 1 % samples)  # an output holds the value of the step that ends there


def test_table_interpolates_its_input_and_is_constant_beyond_its_ends():
    x, y = [-0.2, 0.0, 0.1, 0.2], [0.3, -0.1, -0.4, 0.2]
    result = simulate(
        oscillator(controllers.Table(x, y), inputs=["x.rate"]), 1.0, DT, output_every=1, progress=False
    )
    rate, held = result.body("mass").v[:-1, 0], result.controller("c").output()[1:]
    assert rate.min() < x[0]
    assert rate.max() > x[-1]
    assert held == pytest.approx(np.interp(rate, x, y), abs=1e-13)


def test_table_with_two_columns_drives_two_outputs():
    model = oscillator(pd)
    table = controllers.Table([0.0, 0.2], [[1.0, 10.0], [3.0, 20.0]])
    model.add_controller("two", table, ["x"], outputs=["a", "b"])
    history = simulate(model, 0.02, DT, output_every=1, progress=False).controller("two")
    assert history.output("a")[1] == pytest.approx(2.0, abs=1e-14)
    assert history.output("b")[1] == pytest.approx(15.0, abs=1e-14)


def test_formula_with_an_unknown_function_is_rejected_when_it_is_written():
    with pytest.raises(
        ModelError, match=r"Formula: text = 'tanh\(x\)': 'tanh\(x\)' cannot stand in an expression"
    ):
        controllers.Formula("tanh(x)")


def test_bad_tables_are_rejected():
    with pytest.raises(ModelError, match=r"Table: x = .* must be two or more increasing values"):
        controllers.Table([0.0, 0.0], [1.0, 2.0])
    with pytest.raises(ModelError, match="Table: y"):
        controllers.Table([0.0, 1.0], [1.0, 2.0, 3.0])
    with pytest.raises(
        ModelError, match=r"controller 'c': Table reads one input and has 1 columns; got 2 inputs"
    ):
        oscillator(controllers.Table([0.0, 1.0], [1.0, 2.0]))


def test_delay_of_one_sample_is_a_memory():
    def delayed(t, h, measured, memory, outputs):
        outputs[0] = memory[0]
        memory[0] = -KP * measured[0] - KD * measured[1]

    result = simulate(oscillator(delayed, memory=(0.0,)), 1.0, DT, output_every=1, progress=False)
    assert result.body("mass").r[:, 0] == pytest.approx(discrete(100, delay=1), abs=1e-13)


@pytest.mark.parametrize("axis", [(0, 0, 1), (0, 0.6, 0.8)], ids=["plane", "space"])
@pytest.mark.parametrize("every", [1, 40])
@pytest.mark.parametrize("integrator", ["em", "em4"])
def test_fast_solvers_and_the_general_solver_agree(axis, integrator, every):
    results = [
        simulate(
            double_pendulum(integrating, axis=axis, memory=(0.0,)),
            1.0,
            0.005,
            integrator,
            solver=solver,
            output_every=every,
            progress=False,
        )
        for solver in ("auto", "general")
    ]
    assert "solver" in results[0].description["run"]
    assert "solver" not in results[1].description["run"]
    one, other = (result.body("lower").r for result in results)
    assert one == pytest.approx(other, abs=1e-12)


@pytest.mark.parametrize(
    "integrator", ["em", "em4", "em8", "em-ggl", "em-d(0.8)", "GGL-EM", "EML", "MPL", "mG(2)", "GL-SPARK(2)"]
)
def test_every_family_samples_and_its_audit_counts_the_work(integrator):
    model = double_pendulum(controllers.PID(kp=20.0, ki=5.0, kd=2.0, target=0.5), period=0.02)
    result = simulate(model, 0.6, 0.005, integrator, output_every=2, progress=False)
    verdict = audit(result)
    assert verdict.ok, verdict
    reference = simulate(model, 0.6, 0.005 / 4, "em8", progress=False)
    assert result.body("lower").r[-1] == pytest.approx(reference.body("lower").r[-1], abs=3e-3)


@pytest.mark.parametrize("order", [2, 4])
def test_held_outputs_do_not_lower_the_order_of_a_composition(order):
    model = double_pendulum(controllers.StateFeedback([[20.0, 2.0]], [0.5, 0.0]), period=0.1)
    name = "em" if order == 2 else f"em{order}"
    ends = [simulate(model, 0.4, h, name, progress=False).body("lower").r[-1] for h in (0.02, 0.01)]
    reference = simulate(model, 0.4, 0.0025, "em8", progress=False).body("lower").r[-1]
    errors = [float(np.linalg.norm(end - reference)) for end in ends]
    assert np.log2(errors[0] / errors[1]) > order - 0.4


def test_work_of_a_controller_is_the_gain_of_energy():
    for solver in ("auto", "general"):
        result = simulate(
            double_pendulum(integrating, memory=(0.0,)), 1.0, 0.005, solver=solver, progress=False
        )
        gain = result.energy["total"] - result.energy["total"][0]
        assert np.abs(result.work).max() > 1.0
        assert gain == pytest.approx(result.work, abs=1e-11)


@pytest.mark.parametrize("law", ["python", "numba", "pid"])
def test_resumed_run_is_bit_identical(law, tmp_path):
    chosen = {
        "python": integrating,
        "numba": numba.njit(integrating),
        "pid": controllers.PID(20.0, 5.0, 2.0, 0.5),
    }
    memory = {} if law == "pid" else {"memory": (0.0,)}
    model = double_pendulum(chosen[law], period=0.015, **memory)
    uninterrupted, parts = tmp_path / "whole.vtkhdf", tmp_path / "parts.vtkhdf"
    simulate(model, 0.6, 0.005, output=uninterrupted, output_every=5, progress=False)
    simulate(model, 0.25, 0.005, output=parts, output_every=5, progress=False)
    simulate(model, 0.6, 0.005, output=parts, output_every=5, resume=True, progress=False)
    one, other = (Result.load(path).state() for path in (uninterrupted, parts))
    assert all(np.array_equal(x, y) for x, y in zip(one, other, strict=True))


def test_halved_steps_and_substeps_do_not_sample_again():
    times = []

    def recording(t, h, measured, memory, outputs):
        times.append(t)
        outputs[0] = -KP * measured[0]

    simulate(oscillator(recording, period=0.05), 0.2, DT, "em4", output_every=1, progress=False)
    assert np.unique(times) == pytest.approx([0.0, 0.05, 0.1, 0.15], abs=1e-12)


def test_adaptive_steps_end_at_samples():
    model = double_pendulum(controllers.StateFeedback([[20.0, 2.0]], [0.5, 0.0]), period=0.07)
    result = simulate(model, 1.0, Adaptive(error=1e-6, output_dt=0.05), progress=False)
    assert audit(result).ok
    reference = simulate(model, 1.0, 0.0025, "em4", progress=False)
    assert result.body("lower").r[-1] == pytest.approx(reference.body("lower").r[-1], abs=2e-5)


def test_angles_are_counted_through_revolutions():
    model = Model("wheel")
    wheel = model.add_body("wheel", Box(0.2, 0.2, 0.05, mass=1.0), angular_velocity=(0, 0, 9.0))
    model.add_joint("axle", "revolute", "ground", wheel, at=(0, 0, 0), axis=(0, 0, 1))
    model.add_sensor("angle", measures.angle("ground", wheel, axis=(0, 0, 1)))
    seen = []

    def look(t, h, measured, memory, outputs):
        seen.append((t, measured[0]))
        outputs[0] = 0.0

    controller = model.add_controller("c", look, ["angle"], period=0.5)
    model.add_moment("motor", wheel, controller.output().along((0, 0, 1)))
    result = simulate(model, 3.0, 0.02, progress=False)
    times, angles = np.array(seen).T
    rate = result.sensor("angle").value[1] / result.t[1]
    assert angles == pytest.approx(rate * times, abs=1e-9)
    assert result.sensor("angle").value[-1] == pytest.approx(3.0 * rate, abs=1e-9)
    assert result.sensor("angle").value[-1] > 4 * np.pi
    assert result.sensor("angle").rate == pytest.approx(9.0, abs=1e-12)


SENSED = {
    "distance": measures.distance("upper@0.5,0.1,0", "ground@0.3,1,0.2"),
    "strain": measures.strain("upper@0.5,0.1,0", "ground@0.3,1,0.2", length=0.7),
    "displacement": measures.displacement("upper", "lower@0.4,0.2,0.1", axis=(0.3, 1.0, 0.2)),
    "coordinate": measures.coordinate("lower@0.4,0.2,0.1", axis=(0.3, 1.0, 0.2)),
    "cosine": measures.cosine("upper", (1, 0, 0), "lower", (0.6, 0.8, 0)),
    "angle": measures.angle("upper", "lower", axis=(0, 0, 1)),
}


@pytest.mark.parametrize("word", SENSED)
def test_rate_of_a_sensor_is_the_derivative_of_its_value(word):
    model = double_pendulum(controllers.PID(kp=0.0))
    model.add_sensor("seen", SENSED[word])
    history = simulate(model, 0.4, 1e-3, "em4", output_every=1, progress=False).sensor("seen")
    x, h = history.value, 1e-3
    central = (8.0 * (x[3:-1] - x[1:-3]) - (x[4:] - x[:-4])) / (12.0 * h)
    assert np.abs(central).max() > 0.1
    assert history.rate[2:-2] == pytest.approx(central, abs=1e-6)


def test_pid_follows_its_formula_and_stops_integrating_at_its_limits():
    law = controllers.PID(kp=30.0, ki=40.0, kd=2.0, target=0.01, low=-1.0, high=0.5)
    result = simulate(oscillator(law, ["x"]), 2.0, DT, output_every=1, progress=False)
    y, outputs, total, last = result.sensor("x").value, [0.0], 0.0, None
    for x in y[:-1]:
        e = 0.01 - x
        rate = 0.0 if last is None else (e - last) / DT
        u = 30.0 * e + 40.0 * (total + DT * e) + 2.0 * rate
        bounded = min(max(u, -1.0), 0.5)
        if u == bounded or (u - bounded) * e < 0.0:
            total += DT * e
        last = e
        outputs.append(bounded)
    held = result.controller("c").output()
    assert held == pytest.approx(outputs, abs=1e-12)
    assert held.max() == 0.5
    assert held.min() == -1.0


def cart(controlled=()):
    """Return a cart with an upright pole, 0.1 rad from the vertical if it is controlled by a law."""
    tilt = 0.1 if controlled else 0.0
    model = Model("cart", gravity=(0, -9.81, 0))
    base = model.add_body("base", Box(0.3, 0.1, 0.1, mass=1.0), position=(0, 0, 0))
    model.add_joint("rail", "prismatic", "ground", base, at=(0, 0, 0), axis=(1, 0, 0))
    center = (-0.4 * np.sin(tilt), 0.4 * np.cos(tilt), 0)
    quat = (np.cos(0.5 * tilt), 0, 0, np.sin(0.5 * tilt))
    pole = model.add_body("pole", Box(0.05, 0.8, 0.05, mass=0.3), center, quat)
    model.add_joint("hinge", "revolute", base, pole, at=(0, 0, 0), axis=(0, 0, 1))
    if controlled:
        model.add_sensor("x", measures.coordinate(base, axis=(1, 0, 0)))
        model.add_sensor("phi", measures.cosine("ground", (1, 0, 0), pole, (-np.sin(tilt), np.cos(tilt), 0)))
        push = model.add_controller("lqr", *controlled, period=0.01)
        model.add_force("push", base, push.output().along((1, 0, 0)))
    return model


def test_linear_quadratic_regulator_keeps_a_pole_upright():
    what = [("base", "position"), ("pole", "turn"), ("base", "velocity"), ("pole", "angular velocity")]
    axes = {"base": (1, 0, 0), "pole": (0, 0, 1)}
    outputs = [MotionOutput(part, axes[part], kind) for part, kind in what]
    system = state_space(cart(), [ForceInput("base", (1, 0, 0))], outputs)
    law = controllers.lqr(system, [1.0, 10.0, 0.1, 0.1], [0.1], period=0.01)
    closed = np.linalg.eigvals(system.A - system.B @ law.gains @ system.C)
    assert np.linalg.eigvals(system.A).real.max() > 1.0
    assert closed.real.max() < -0.5
    # the sensor of the pole is the cosine of its axis and the x axis, -phi for small angles
    gains = law.gains * [[1.0, -1.0, 1.0, -1.0]]
    result = simulate(
        cart((controllers.StateFeedback(gains), ["x", "phi", "x.rate", "phi.rate"])),
        8.0,
        0.005,
        progress=False,
    )
    assert audit(result).ok
    assert abs(result.sensor("phi").value[0]) > 0.09
    assert abs(result.sensor("phi").value[-1]) < 1e-3
    assert abs(result.sensor("x").value[-1]) < 1e-2


def test_regulator_needs_all_states_and_a_stabilisable_model():
    system = state_space(cart(), [ForceInput("base", (1, 0, 0))], [MotionOutput("base", (1, 0, 0))])
    with pytest.raises(ModelError, match="lqr: the 4 states do not follow from the 1 outputs"):
        controllers.lqr(system, [1.0], [1.0])
    unmoved = scipy.signal.StateSpace(np.diag([1.0, 2.0]), np.zeros((2, 1)), np.eye(2), np.zeros((2, 1)))
    with pytest.raises(ModelError, match="lqr: no stabilising feedback exists"):
        controllers.lqr(unmoved, [1.0, 1.0], [1.0])


def test_formula_equals_the_function_of_its_text():
    text = f"-{KP}*x - {KD}*x_rate + 0.5*sin(3*t)"

    def function(t, h, measured, memory, outputs):
        outputs[0] = -KP * measured[0] - KD * measured[1] + 0.5 * np.sin(3.0 * t)

    one, other = (
        simulate(oscillator(law), 0.5, DT, progress=False).body("mass").r
        for law in (controllers.Formula(text), function)
    )
    assert one == pytest.approx(other, abs=1e-14)
    with pytest.raises(ModelError, match=r"Formula: text = '2 \* y'"):
        oscillator(controllers.Formula("2*y"))
    with pytest.raises(ModelError, match="Formula has 2 texts for 1 outputs"):
        oscillator(controllers.Formula(["x", "t"]))


@pytest.mark.parametrize("solver", ["auto", "general"])
def test_joint_moment_conserves_momenta_and_equals_two_moments(solver):
    """A motor between two free bodies, about an axis that moves with both."""

    def pair(act):
        model = Model("pair")
        one = model.add_body("one", Box(0.3, 0.2, 0.1, mass=1.0), angular_velocity=(0.4, 0.2, 0.1))
        other = model.add_body(
            "other", Box(0.2, 0.3, 0.4, mass=2.0), (0.5, 0.1, 0), velocity=(-0.01, 0.05, -0.12)
        )
        axis = (0.48, 0.6, 0.64)
        hinge = model.add_joint("hinge", "revolute", one, other, at=(0.2, 0, 0), axis=axis)
        act(model, hinge, one, other, np.array(axis))
        return simulate(model, 1.0, 0.01, solver=solver, progress=False)

    def by_joint(model, hinge, one, other, axis):
        model.add_joint_force("motor", hinge, "2*sin(3*t)")

    def by_moments(model, hinge, one, other, axis):
        motor = controllers.Formula("0*x + 1")  # an output that is one at all times
        model.add_sensor("x", measures.coordinate(one, (1, 0, 0)))
        model.add_controller("one", motor, ["x"])
        model.add_moment("on other", other, lambda t: 2.0 * np.sin(3.0 * t) * axis, following=True)
        model.add_moment("on one", one, lambda t: -2.0 * np.sin(3.0 * t) * axis, following=True)

    results = [pair(act) for act in (by_joint, by_moments)]
    for result in results:
        assert np.ptp(result.angular_momentum, axis=0).max() < 1e-12
        assert np.ptp(result.linear_momentum, axis=0).max() < 1e-12
        assert result.energy["total"] - result.energy["total"][0] == pytest.approx(result.work, abs=1e-12)
        assert np.abs(result.work).max() > 0.1
    one, other = (result.body("other").r for result in results)
    assert one == pytest.approx(other, abs=1e-12)


def test_joint_force_drives_a_slide_as_a_force_does():
    def slide(act):
        model = Model("slide", gravity=(0, 0, -9.81))
        cart = model.add_body("cart", Box(0.1, 0.1, 0.1, mass=2.0), position=(0, 0.2, 0))
        model.add_joint("rail", "prismatic", "ground", cart, at=(0, 0, 0), axis=(0.6, 0, 0.8))
        act(model)
        return simulate(model, 1.0, 0.01, progress=False).body("cart").r

    along = slide(lambda model: model.add_joint_force("motor", "rail", 30.0))
    plain = slide(lambda model: model.add_force("motor", "cart", (18.0, 0, 24.0)))
    assert along == pytest.approx(plain, abs=1e-13)
    exact = 0.5 * (30.0 - 2.0 * 9.81 * 0.8) / 2.0
    assert along[-1] == pytest.approx([0.6 * exact, 0.2, 0.8 * exact], abs=1e-12)


def test_joint_force_needs_a_coordinate_and_a_scalar():
    model = double_pendulum(pd)
    model.add_joint(
        "pin",
        "spherical",
        "lower",
        model.add_body("end", Box(0.1, 0.1, 0.1, mass=1.0), (2.0, 0, 0)),
        at=(2, 0, 0),
    )
    with pytest.raises(
        ModelError, match="joint force 'f': spherical joint 'pin' has no coordinate to act on"
    ):
        model.add_joint_force("f", "pin", 1.0)
    with pytest.raises(ModelError, match=r"joint force 'f': value = .* has a direction, but is a scalar"):
        model.add_joint_force("f", "elbow", signals.Constant(1.0).along((0, 0, 1)))


def test_distributed_load_follows_a_controller():
    from rodsim import Section

    def rod(value):
        model = Model("rod")
        section = Section.from_stiffness(
            EA=1e4,
            GA=5e3,
            GJ=10.0,
            EI=(10.0, 10.0),
            mass_per_length=0.5,
            inertia_per_length=(2e-4, 1e-4, 1e-4),
        )
        cord = model.add_rod("cord", [(0, 0, 0), (1, 0, 0)], section, 6)
        model.add_joint("root", "weld", "ground", cord.start)
        model.add_sensor("tip", measures.coordinate(cord.end, axis=(0, 1, 0)))
        controller = model.add_controller("c", lambda t, h, y, x, u: u.fill(3.0), ["tip"])
        model.add_distributed_load(
            "load", cord, controller.output().along((0, 1, 0)) if value else (0, 3.0, 0)
        )
        return simulate(model, 0.1, 0.005, progress=False).rod("cord").r

    assert rod(True) == pytest.approx(rod(False), abs=1e-14)


def failing(t, h, measured, memory, outputs):
    """Raise an exception at 0.3 s."""
    if t > 0.295:
        raise ValueError("out of range")
    outputs[0] = 0.0


def not_finite(t, h, measured, memory, outputs):
    """Write nan at 0.3 s."""
    outputs[0] = np.nan if t > 0.295 else 0.0


@pytest.mark.parametrize("law", [failing, not_finite])
@pytest.mark.parametrize("integrator", ["em", "GGL-EM"])
def test_failing_controller_ends_the_run_and_keeps_it(law, integrator, tmp_path):
    file = tmp_path / "run.vtkhdf"
    reason = "raised ValueError: out of range" if law is failing else "returned a number that is not finite"
    message = rf"controller 'c' at t = 0\.3 s with inputs \[-?[\d.]+, -?[\d.]+\] {reason}"
    with pytest.raises(ConvergenceError, match=message) as caught:
        simulate(oscillator(law), 1.0, DT, integrator, output=file, output_every=1, progress=False)
    assert caught.value.t == pytest.approx(0.3)
    assert Result.load(file).t[-1] == pytest.approx(0.3)
    assert isinstance(caught.value.__cause__, ValueError) == (law is failing)


def test_hidden_memory_of_a_controller_is_refused():
    calls = []

    def forgetful(t, h, measured, memory, outputs):
        calls.append(t)
        outputs[0] = float(len(calls))

    with pytest.raises(
        ConvergenceError, match="controller 'c': its law gives other numbers when it is called again"
    ):
        simulate(oscillator(forgetful), 0.1, DT, progress=False)


@pytest.mark.parametrize(
    "analysis", [equilibrium, modes, buckling, lambda model: steady_rotation(model, (0, 0, 1.0))]
)
def test_analyses_without_time_refuse_a_load_that_follows_a_controller(analysis):
    with pytest.raises(
        ModelError, match="load 'force' follows a controller, whose output is known in a run only"
    ):
        analysis(oscillator(pd))


def test_drives_refuse_outputs():
    model = oscillator(pd)
    body = model.add_body("arm", Box(1.0, 0.1, 0.1, mass=1.0))
    hinge = model.add_joint("hinge", "revolute", model.ground, body, at=(0, 0, 0), axis=(0, 0, 1))
    output = next(iter(model.controllers.values())).output()
    with pytest.raises(ModelError, match=r"drive 'turns': it follows controller '.*', whose output jumps"):
        model.add_drive("turns", hinge, output)


def test_period_has_to_fit_the_step():
    with pytest.raises(
        ModelError, match=r"controller 'c': period = 0\.025 s is not a multiple of the step dt = 0\.01 s"
    ):
        simulate(oscillator(pd, period=0.025), 0.1, DT, progress=False)
    with pytest.raises(ModelError, match="controller 'c': is sampled in each step"):
        simulate(oscillator(pd), 0.1, Adaptive(error=1e-3, output_dt=0.05), progress=False)


def test_prepared_runs_and_threads_sample_alike():
    prepared = double_pendulum(integrating, memory=(0.0,)).prepare(t_end=0.3, dt=0.01)
    changes = [{"gravity": (0, -9.81, 0.5 * k)} for k in range(6)]
    many = simulate_many(prepared, changes, threads=2)
    for change, result in zip(changes, many, strict=True):
        assert np.array_equal(result.body("lower").r, prepared.run(change).body("lower").r)


@pytest.mark.parametrize("integrator", ["em", "EML"])
def test_controllers_and_bristles_of_contacts_are_stored_side_by_side(integrator, tmp_path):
    """A ball that a controller holds up rests on another one, both with friction that sticks."""
    model = Model("balls", gravity=(0, 0, -9.81))
    lower = model.add_body("lower", Sphere(0.1, mass=1.0), position=(0, 0, 0.1))
    upper = model.add_body("upper", Sphere(0.1, mass=1.0), position=(0.02, 0, 0.299))
    skins = [model.add_sphere(f"skin of {name}", name, 0.1) for name in ("lower", "upper")]
    friction = 0.0 if integrator == "EML" else 0.3
    model.add_plane("floor", "ground@0,0,0", (0, 0, 1))
    model.add_contact("on floor", skins, model.planes["floor"], stiffness=1e4, friction=friction)
    model.add_contact("between", *skins, stiffness=1e4, friction=friction)
    model.add_sensor("height", measures.coordinate(upper, (0, 0, 1)))
    model.add_sensor("angle", measures.angle(lower, upper, (0, 1, 0)))
    law = controllers.PID(kp=5.0, ki=1.0, kd=1.0, target=0.4)
    lift = model.add_controller("lift", law, ["height"], period=0.002)
    model.add_force("up", upper, lift.output().along((0, 0, 1)))
    whole, parts = tmp_path / "whole.vtkhdf", tmp_path / "parts.vtkhdf"
    result = simulate(model, 0.1, 0.001, integrator, output=whole, output_every=5, progress=False)
    assert audit(result).ok
    assert result.controller("lift").output()[-1] > 0.3
    simulate(model, 0.05, 0.001, integrator, output=parts, output_every=5, progress=False)
    simulate(model, 0.1, 0.001, integrator, output=parts, output_every=5, resume=True, progress=False)
    one, other = (Result.load(path).state() for path in (whole, parts))
    assert all(np.array_equal(x, y) for x, y in zip(one, other, strict=True))
    assert one.internal.any()


def test_restart_continues_memory_and_sampling():
    model = double_pendulum(integrating, memory=(0.0,), period=0.02)
    first = simulate(model, 0.41, 0.01, progress=False)  # ends between two samples
    second = simulate(model, 0.19, 0.01, start=first, output_every=1, progress=False)
    uninterrupted = simulate(model, 0.6, 0.01, output_every=1, progress=False)
    assert second.body("lower").r[-1] == pytest.approx(uninterrupted.body("lower").r[-1], abs=1e-10)


def test_load_of_a_controller_is_not_reported_as_missed():
    """A load that follows a controller has no value as a function of time, so that steps cannot have missed it."""
    model = double_pendulum(controllers.PID(kp=20.0, kd=2.0))
    model.add_joint_force("motor of the elbow", "elbow", signals.Output("c", "u"))
    with warnings.catch_warnings():
        warnings.simplefilter("error", StepWarning)
        simulate(model, 0.1, 0.005, progress=False)
