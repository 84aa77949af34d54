"""Kinds of a script with inputs: values that come from outside in each step, and forces that do work."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

import rodsim
from rodsim import (
    Box,
    Model,
    ModelError,
    Result,
    audit,
    controllers,
    equilibrium,
    measures,
    modes,
    signals,
    simulate,
    simulate_many,
)
from rodsim.interactions import angle, displacement, distance, minus, norm, push, push_angle, times
from tests.support.driven_kinds import COIL, MUSCLE, PROPELLER, driven

L, R, K = 0.05, 1.0, 0.05  # H, ohm, N m/A
T_END = 0.2
# schemes that evaluate forces between the ends of a step do the exact work
EXACT = ("em", "em-ggl", "GGL-EM")
SCHEMES = ("EML", "EML-kappa", "MPH")


def rotor(U=2.0, spring=0.0):
    """A disc on a hinge along an oblique axis, with a motor."""
    model = Model("rotor")
    disc = model.add_body("disc", Box(0.1, 0.1, 0.02, density=1000.0), (0.3, 0, 0), AXES)
    model.add_joint("hinge", "revolute", "ground", disc, at=(0.3, 0, 0), axis=AXIS)
    if spring:
        model.add_spring("coil", "ground", disc, spring, along="rotation", axis=AXIS)
    U = U(model) if U is output else U
    model.add_interaction("motor", COIL, "ground@0,0,0", disc, axis=AXIS, U=U, L=L, R=R, K=K, i=0.0)
    return model


AXIS = (0.0, 0.6, 0.8)
AXES = (0.9486832980505138, -0.31622776601683794, 0.0, 0.0)  # its third axis is AXIS
INERTIA = 0.1**4 * 0.02 * 1000.0 / 6.0


def exact(T, U=2.0):
    """Current, A, and speed, rad/s, at a constant voltage."""
    A = np.array([[-R / L, -K / L], [K / INERTIA, 0.0]])
    return np.linalg.solve(A, (scipy.linalg.expm(A * T) - np.eye(2)) @ [U / L, 0.0])


def speed(result):
    return result.state().Omega[1] @ [0, 0, 1.0]


def current(result):
    return result.interaction("motor").state("i")[-1]


def test_motor_has_order_two_against_the_matrix_exponential():
    errors = []
    for h in (0.01, 0.005, 0.0025):
        result = simulate(rotor(), T_END, h, progress=False)
        errors.append(np.array([current(result), speed(result)]) - exact(T_END))
    errors = np.abs(errors)
    assert errors[-1].max() < 2e-3
    assert errors[:-1] / errors[1:] == pytest.approx(4.0, rel=0.05)


@pytest.mark.parametrize("integrator", EXACT)
def test_electrical_work_is_mechanical_work_heat_and_magnetic_energy(integrator):
    h = 0.005
    result = simulate(rotor("2*sin(30*t)"), T_END, h, integrator, output_every=1, progress=False)
    i = result.states(slice(None)).internal[:, 0]
    mean = 0.5 * (i[1:] + i[:-1])
    U = 2.0 * np.sin(30.0 * (result.t[1:] - 0.5 * h))  # inputs are those at the middle of a step
    electrical, heat = h * np.cumsum(U * mean), h * np.cumsum(R * mean**2)
    energy = result.energy["total"]
    assert energy[0] == 0.0
    assert energy == pytest.approx(result.energy["kinetic"] + 0.5 * L * i**2, abs=1e-14)
    assert energy[1:] == pytest.approx(electrical - heat, abs=1e-13)
    assert result.work[1:] == pytest.approx(electrical - heat, abs=1e-13)
    assert np.abs(electrical).max() > 0.1
    assert audit(result).ok


@pytest.mark.parametrize("integrator", SCHEMES)
def test_motor_in_other_schemes(integrator):
    one, other = (simulate(rotor(), T_END, 0.005, name, progress=False) for name in ("em", integrator))
    assert speed(one) == pytest.approx(speed(other), rel=3e-4)
    assert audit(other).ok


@pytest.mark.parametrize("make", [rotor, driven])
def test_solvers_agree(make):
    one, other = (
        simulate(make(), 0.1, 0.005, solver=solver, progress=False).state() for solver in ("general", "auto")
    )
    for field in ("r", "quat", "v", "Omega", "internal"):
        assert getattr(one, field) == pytest.approx(getattr(other, field), abs=1e-12)


def output(model):
    model.add_sensor("phi", measures.angle("ground", "disc", AXIS))
    law = controllers.Formula("1.5 + 0*phi")
    return model.add_controller("constant", law, ["phi"]).output()


@pytest.mark.parametrize("solver", ["general", "auto"])
@pytest.mark.parametrize("value", ["1.5 + 0*t", signals.Constant(1.5), lambda t: 1.5, output])
def test_ways_to_give_an_input_agree(value, solver):
    results = [simulate(rotor(U), T_END, 0.01, solver=solver, progress=False) for U in (1.5, value)]
    assert speed(results[0]) == pytest.approx(speed(results[1]), abs=1e-12)


@pytest.mark.parametrize("integrator", ["em", "GGL-EM"])
def test_sensor_as_input_is_held_in_each_step(integrator):
    """The voltage is the angle of a driven hinge at the start of each step."""
    model = Model("sensed")
    wheel = model.add_body("wheel", Box(0.1, 0.1, 0.1, mass=1.0), (0, 0, 1), angular_velocity=(0, 0, 3.0))
    model.add_joint("axle", "revolute", "ground", wheel, at=(0, 0, 1), axis=(0, 0, 1))
    disc = model.add_body("disc", Box(0.1, 0.1, 0.02, mass=1e6), (0.3, 0, 0))
    model.add_joint("hinge", "revolute", "ground", disc, at=(0.3, 0, 0), axis=(0, 0, 1))
    phi = model.add_sensor("phi", measures.angle("ground", wheel, (0, 0, 1)))
    model.add_interaction("motor", COIL, "ground@0,0,0", disc, axis=(0, 0, 1), U=phi, L=L, R=R, K=K, i=0.0)
    h = 0.01
    result = simulate(model, T_END, h, integrator, output_every=1, progress=False)
    i = 0.0
    for U in result.sensor("phi").value[:-1]:
        i = ((L / h - 0.5 * R) * i + U) / (L / h + 0.5 * R)
    assert i > 0.4
    assert current(result) == pytest.approx(i, abs=1e-7)
    assert "motor.U" in model.controllers


def test_inputs_of_one_interaction_follow_several_sources():
    @rodsim.interaction("three inputs", frames=1, inputs=("x", "y", "z"), free=False)
    class Three:
        def step_dual(y0, y1, h, X, out):
            push(out, 0, (-X[0] + 0j, -X[1] + 0j, -X[2] + 0j))

        def rate_dual(y, z, X, out):
            push(out, 0, (-X[0] + 0j, -X[1] + 0j, -X[2] + 0j))

    def body(*inputs):
        model = Model("three")
        box = model.add_body("box", Box(0.1, 0.1, 0.1, mass=2.0), (0, 0, 0))
        model.add_sensor("x", measures.coordinate(box, (1, 0, 0)))
        law = controllers.Formula(["0*x + 3", "0*x - 2"])
        c = model.add_controller("c", law, ["x"], outputs=["one", "two"])
        x, y, z = (c.output(value) if isinstance(value, str) else value for value in inputs)
        model.add_interaction("push", Three, box, x=x, y=y, z=z)
        return simulate(model, 1.0, 0.1, progress=False).body("box").r[-1]

    expected = 0.25 * np.array([3.0, 5.0, -2.0])
    assert body("one", 5.0, "two") == pytest.approx(expected, abs=1e-13)
    assert body(3.0, 5.0, -2.0) == pytest.approx(expected, abs=1e-13)


def test_resumed_run_is_identical(tmp_path):
    whole, parts = tmp_path / "whole.vtkhdf", tmp_path / "parts.vtkhdf"
    simulate(driven(), 0.2, 0.01, output=whole, output_every=1, progress=False)
    simulate(driven(), 0.1, 0.01, output=parts, output_every=1, progress=False)
    simulate(driven(), 0.2, 0.01, output=parts, output_every=1, resume=True, progress=False)
    one, other = (Result.load(path).state() for path in (whole, parts))
    assert all(np.array_equal(x, y) for x, y in zip(one, other, strict=True))
    assert one.internal.any()
    assert audit(Result.load(parts)).ok


def test_eigenvalues_and_equilibrium_of_a_motor_on_a_spring():
    k = 0.2
    A = np.array([[-R / L, -K / L, 0.0], [K / INERTIA, 0.0, -k / INERTIA], [0.0, 1.0, 0.0]])
    rest = equilibrium(rotor(2.0, spring=k))
    state = rest.state()
    assert current(rest) == pytest.approx(2.0 / R, abs=1e-12)
    assert 2.0 * np.arccos(abs(np.dot(state.quat[1], AXES))) == pytest.approx(2.0 / R * K / k, abs=1e-9)
    values = modes(rotor(2.0, spring=k), 10, state).values
    expected = [s for s in np.linalg.eigvals(A) if s.imag >= 0.0]
    assert all(np.abs(values - s).min() < 1e-9 * abs(s) for s in expected)
    held = simulate(rotor(2.0, spring=k), 0.1, 0.01, start=rest, progress=False)
    assert held.state().quat == pytest.approx(state.quat, abs=1e-14)


def test_prepared_runs_follow_inputs_in_threads():
    prepared = rotor("2*sin(30*t)").prepare(t_end=0.1, dt=0.01)
    changes = [{"gravity": (0, 0, -1.0 * k)} for k in range(4)]
    for change, result in zip(changes, simulate_many(prepared, changes, threads=2), strict=True):
        assert np.array_equal(result.state().internal, prepared.run(change).state().internal)


def boat(thrust=3.0, spring=0.0):
    model = Model("boat")
    hull = model.add_body(
        "hull", Box(0.1, 0.1, 0.02, density=1000.0), (0, 0, 0), angular_velocity=(0, 0, 0.5)
    )
    model.add_interaction("propeller", PROPELLER, hull, k=2.0, c=0.3, thrust=thrust)
    if spring:
        model.add_bushing("line", "ground@0,0,0", hull, spring)
    return model


@pytest.mark.parametrize("integrator", ["em", "em-ggl", "GGL-EM"])
@pytest.mark.parametrize("solver", ["general", "auto"])
def test_force_that_does_work_has_its_work_counted(integrator, solver):
    if solver == "general" and integrator == "GGL-EM":
        pytest.skip("this scheme has one solver")
    result = simulate(boat(), 0.5, 0.01, integrator, solver=solver, output_every=1, progress=False)
    assert result.energy["total"] - result.energy["total"][0] == pytest.approx(result.work, abs=1e-13)
    assert result.work[-1] > 0.1
    assert audit(result).ok


def test_steady_speed_of_a_propeller():
    model = Model("boat")
    hull = model.add_body("hull", Box(0.1, 0.1, 0.02, density=1000.0), (0, 0, 0))
    model.add_interaction("propeller", PROPELLER, hull, k=2.0, c=0.3, thrust=3.0)
    result = simulate(model, 5.0, 0.01, progress=False)
    v = (-0.3 + np.sqrt(0.3**2 + 4 * 2.0 * 3.0)) / 4.0  # 2 v^2 + 0.3 v = 3
    assert result.body("hull").v[-1] == pytest.approx([v, 0, 0], abs=1e-12)


def test_equilibrium_and_modes_of_a_propeller_on_a_line():
    rest = equilibrium(boat(3.0, spring=20.0))
    assert rest.state().r[1] == pytest.approx([0.15, 0, 0], abs=1e-12)
    values = modes(boat(3.0, spring=20.0), 3, rest.state()).values
    exact = np.roots([0.2, 0.3, 20.0])  # drag that grows with the square has no slope at rest
    assert np.abs(values - exact[exact.imag > 0]).max() < 1e-9


def test_energy_with_an_input_counts_as_work():
    """A muscle whose rest length varies does the work k (l - rest) dl on a mass."""
    model = Model("muscle")
    mass = model.add_body("mass", Box(0.1, 0.1, 0.1, mass=2.0), (0, 0, -1.0))
    model.add_interaction("muscle", MUSCLE, "ground@0,0,0", mass, k=50.0, rest="1 - 0.3*sin(4*t)")
    result = simulate(model, 1.0, 0.005, output_every=1, progress=False)
    assert audit(result).ok
    assert result.energy["total"] == pytest.approx(result.work, abs=1e-13)
    length = -result.body("mass").r[:, 2]
    rest = 1.0 - 0.3 * np.sin(4.0 * (result.t[1:] - 0.0025))
    work = np.cumsum(50.0 * (rest - 0.5 * (length[1:] + length[:-1])) * np.diff(length))
    assert result.work[1:] == pytest.approx(work, abs=1e-12)


@pytest.mark.parametrize("solver", ["general", "auto"])
def test_forces_on_measures_conserve_momenta(solver):
    model = Model("free")
    bodies = [
        model.add_body(
            f"{k}", Box(0.3, 0.2, 0.1, mass=1.0 + k), (0.1 * k, k, 0), angular_velocity=(0.3, 0.2 * k, 0.5)
        )
        for k in range(2)
    ]
    about = {"axis": (0.48, 0.6, 0.64)}
    model.add_interaction("motor", COIL, *bodies, U="sin(9*t)", L=L, R=R, K=K, i=1.0, **about)
    model.add_interaction("measures", "three measures", *bodies, k=2.0, **about)
    result = simulate(model, 0.5, 0.01, solver=solver, output_every=1, progress=False)
    assert np.ptp(result.angular_momentum, axis=0).max() < 1e-14
    assert np.ptp(result.linear_momentum, axis=0).max() < 1e-14
    assert result.energy["total"] - result.energy["total"][0] == pytest.approx(result.work, abs=1e-13)


def test_changes_of_measures_are_those_of_their_values():
    """Also when the angle passes half a turn, where its value jumps."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        y0, y1 = (np.zeros((2, 4, 3), complex) for _ in range(2))
        for y in (y0, y1):
            y[:, 0] = rng.normal(size=(2, 3))
            for k in range(2):
                y[k, 1:] = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        for measure in (distance, displacement):
            start, end, change = measure(y0, y1, 0, 1)
            assert measure(y0, y0, 0, 1)[0] == start
            assert measure(y1, y1, 0, 1)[0] == end
            assert end - start == pytest.approx(change, abs=1e-14)
    before = after = 0.0
    for step in range(9):
        y0, y1 = (turned(0.9 * k) for k in (step, step + 1))
        start, end, change = angle(y0, y1, 0, 1)
        assert change.real == pytest.approx(0.9, abs=1e-14)
        assert end - start == pytest.approx(change, abs=1e-14)
        after += change.real
    assert after - before == pytest.approx(8.1, abs=1e-13)


def turned(phi):
    y = np.zeros((2, 4, 3), complex)
    y[:, 1:] = np.eye(3)
    y[1, 1], y[1, 2] = (np.cos(phi), np.sin(phi), 0), (-np.sin(phi), np.cos(phi), 0)
    return y


class _Rod:
    """-k times the way: a force that grows with the distance from nowhere."""

    def step_dual(y0, y1, h, X, out):
        push(out, 0, times(-X[0] / h, minus(y1[0, 0], y0[0, 0])))

    def rate_dual(y, z, X, out):
        push(out, 0, times(-X[0], z[0, 0]))


class _Quadratic:
    def step_dual(y0, y1, h, X, out):
        v = times(1.0 / h, minus(y1[0, 0], y0[0, 0]))
        push(out, 0, times(X[0] * norm(v), v))

    def rate_dual(y, z, X, out):
        push(out, 0, times(X[0] * norm(z[0, 0]), z[0, 0]))


class _OneEnd:
    def step_dual(y0, y1, h, X, out):
        push(out, 0, times(X[0], y1[0, 1]))

    def rate_dual(y, z, X, out):
        push(out, 0, times(X[0], y[0, 1]))


class _Unbalanced:
    """A motor that turns only one of two bodies."""

    def evolve(y0, y1, x0, x1, h, X, out):
        out[0] = (x1[0] - x0[0]) / h - X[1]

    def step_dual(y0, y1, x0, x1, h, X, out):
        push_angle(out, y0, y1, 0, 1, 0.5 * (x0[0] + x1[0]))
        out[0] = 0.0


@pytest.mark.parametrize(
    ("described", "options", "message"),
    [
        (_Rod, {}, "declare works=True if the interaction drives the motion"),
        (_Quadratic, {}, "rate_dual is linear in z.*declare linear=False"),
        (_OneEnd, {"works": True}, r"step_dual\(y1, y0, -h\) = step_dual\(y0, y1, h\)"),
        (_Unbalanced, {"frames": 2, "states": ("x",), "inputs": ("u",), "free": True}, "sum of its"),
        (_Rod, {"inputs": ("a", "b", "c", "d")}, "has 4 inputs; there may be 3"),
        (_Rod, {"inputs": ("k",)}, "'k' is a number or a state, and an input"),
        (_Rod, {"inputs": ("axis",)}, "'axis' cannot name a number"),
        (_Rod, {"works": "yes"}, "works"),
    ],
)
def test_laws_of_forces_that_do_work_are_checked(described, options, message):
    options = {"frames": 1, "numbers": ("k",), "free": False} | options
    with pytest.raises(ModelError, match=message):
        rodsim.interaction("checked", **options)(described)


@pytest.mark.parametrize("described", [_Rod, _Quadratic])
def test_declared_forces_are_accepted(described):
    options = {"works": True} if described is _Rod else {"linear": False}
    rodsim.interaction("declared", 1, ("k",), free=False, **options)(described)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_checks_do_not_depend_on_the_size_of_a_kind(scale):
    """An exponential law that changes by e within 1e-4 of the length of the sample."""

    class Stiff:
        def step_dual(y0, y1, h, X, out):
            change = distance(y0, y1, 0, 1)[2]
            l = 0.5 * (distance(y0, y1, 0, 1)[0] + distance(y0, y1, 0, 1)[1])
            force = X[0] * change / h * np.exp(np.cos(1e4 * l / X[1]))
            push_distance_of(out, y0, y1, force)

        def rate_dual(y, z, X, out):
            d, w = minus(y[1, 0], y[0, 0]), minus(z[1, 0], z[0, 0])
            l = norm(d)
            rate = (d[0] * w[0] + d[1] * w[1] + d[2] * w[2]) / l
            push_distance_of(out, y, y, X[0] * rate * np.exp(np.cos(1e4 * l / X[1])))

    rodsim.interaction("stiff", 2, ("c", "l"), length=scale, sample={"c": 1.0 / scale, "l": scale})(Stiff)


def push_distance_of(out, y0, y1, force):
    from_a, to_a = minus(y0[1, 0], y0[0, 0]), minus(y1[1, 0], y1[0, 0])
    s = force / (norm(from_a) + norm(to_a))
    f = times(s, (from_a[0] + to_a[0], from_a[1] + to_a[1], from_a[2] + to_a[2]))
    push(out, 1, f)
    push(out, 0, times(-1.0, f))


def test_wrong_inputs_are_named():
    model = rotor()
    disc = model.bodies["disc"]
    numbers = {"L": L, "R": R, "K": K, "i": 0.0}
    with pytest.raises(
        ModelError, match="interaction 'm': give U=, an input of 'coil': a number, a function"
    ):
        model.add_interaction("m", COIL, "ground@0,0,0", disc, **numbers)
    with pytest.raises(ModelError, match=r"interaction 'm': U = .* has a direction"):
        model.add_interaction(
            "m", COIL, "ground@0,0,0", disc, U=signals.Constant(1.0).along((0, 0, 1)), **numbers
        )
    phi = model.add_sensor("phi", measures.angle("ground", disc, AXIS))
    with pytest.raises(ModelError, match="'Q' is not a number of 'coil'"):
        model.add_interaction("m", COIL, "ground@0,0,0", disc, U=phi, Q=1.0, **numbers)
    assert not model.controllers  # nothing is left of the failed entry
    other = rotor(signals.Output("missing", "u"))
    with pytest.raises(ModelError, match="follows output 'u' of controller 'missing'"):
        other.build()
    with pytest.raises(ModelError, match="'motor' follows a controller, whose output is known in a run only"):
        equilibrium(rotor(output))


def test_corners_of_inputs_end_steps():
    table = signals.Table([0.0, 0.033, 0.0331, 1.0], [0.0, 0.0, 1.0, 1.0])
    result = simulate(rotor(table), 0.1, 0.01, output_every=1, progress=False)
    assert result.states(slice(None)).internal[:4, 0] == pytest.approx(0.0, abs=1e-15)
    fine = simulate(rotor(table), 0.1, 0.0005, progress=False)
    assert current(result) == pytest.approx(current(fine), rel=1e-2)
