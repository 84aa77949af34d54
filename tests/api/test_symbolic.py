"""Systems written by the user: expressions, classes, rejected input, and agreement with the compiled charts."""

from functools import cache
from typing import ClassVar

import numpy as np
import pytest
import sympy as sp

from examples import double_pendulum
from rodsim import ConvergenceError, ModelError
from rodsim.mechanics import (
    PotentialTerm,
    Symmetry,
    integrate,
    rotating_body,
    symbolic_system,
    system_from_object,
)

X, Y = sp.symbols("x y")
U, W = sp.symbols("u w")


class Bead:
    """A unit mass on the paraboloid z = (x^2 + y^2)/2 under gravity, without friction, with a time-dependent
    push.
    """

    def T(self, q, v):
        return (v[0] ** 2 + v[1] ** 2 + v[2] ** 2) / 2

    def V(self, q):
        return 9.81 * q[2]

    def g(self, q):
        return [q[2] - (q[0] ** 2 + q[1] ** 2) / 2]

    symmetries: ClassVar = {"J3": np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])}


def bead():
    return system_from_object(Bead(), 3, [1.0, 0.0, 0.5], [0.0, 1.0, 0.0])


def test_class_is_traced_to_a_system():
    system = bead()
    q = np.array([0.3, -0.2, 0.7])
    assert (system.n, system.m, system.name) == (3, 1, "Bead")
    assert system.mass(q) == pytest.approx(np.eye(3))
    assert system.potential(q) == pytest.approx(9.81 * 0.7)
    assert system.constraints(q) == pytest.approx([0.7 - 0.065])
    assert system.jacobian(q) == pytest.approx(np.array([[-0.3, 0.2, 1.0]]))


KEEP_ENERGY = ["EML", "EMH", "EM-G", "GGL-EM"]


@pytest.mark.parametrize(
    "name", [*KEEP_ENERGY, "VI-S", "VI-B(1, 0.5)", "GL-SPARK(2)", "Lobatto-IIIA-B(2)", "mG(1)"]
)
def test_schemes_conserve_the_momentum_map_and_em_the_energy_of_user_systems(name):
    run = integrate(bead(), name, 0.01, 2.0)
    energy, J3 = run.energy(), run.momentum(run.system.symmetries[0])
    assert np.abs(J3 - J3[0]).max() < 1e-13
    if name in KEEP_ENERGY:
        assert np.abs(energy - energy[0]).max() < 1e-12
        assert run.position_residual().max() < 1e-14


def polar(V):
    """A unit mass in the plane, in polar coordinates."""
    return symbolic_system("polar", (X, Y), [2, 0], [0.1, 1], T=(U**2 + X**2 * W**2) / 2, V=V, v=(U, W))


def test_a_mass_that_depends_on_q_is_the_hessian_of_the_kinetic_energy():
    system = polar(X**2 / 2)
    assert system.mass(np.array([3.0, 1.0])) == pytest.approx(np.diag([1.0, 9.0]))
    assert system.inverse_mass(np.array([3.0, 1.0])) == pytest.approx(np.diag([1.0, 1 / 9]))


def test_polar_and_cartesian_coordinates_give_the_same_orbit():
    flat = symbolic_system("flat", (X, Y), [2.0, 0.0], [0.1, 2.0], M=sp.eye(2), V=-1 / sp.sqrt(X**2 + Y**2))
    for name in ("mG(3)", "GL-SPARK(3)", "EML(order=6)"):
        r, angle = integrate(polar(-1 / X), name, 0.01, 3.0).q[-1]
        x = integrate(flat, name, 0.01, 3.0).q[-1]
        assert x == pytest.approx([r * np.cos(angle), r * np.sin(angle)], abs=1e-10)


def test_potentials_in_invariants_keep_their_symmetry():
    """A potential given as V(s), s = x.x: the discrete derivative is rotation invariant, at any step."""
    s = sp.Symbol("s")
    spring = PotentialTerm((sp.sqrt(s) - 1) ** 2 * 50, s, X**2 + Y**2)
    symmetries = {"J": np.array([[0.0, -1.0], [1.0, 0.0]])}
    system = symbolic_system(
        "spring", (X, Y), [1.2, 0], [0, 3.0], M=sp.eye(2), V=[spring], symmetries=symmetries
    )
    run = integrate(system, "EML", 0.1, 10.0)
    J, energy = run.momentum(system.symmetries[0]), run.energy()
    assert np.abs(J - J[0]).max() < 1e-12
    assert np.abs(energy - energy[0]).max() < 1e-12
    assert isinstance(system.symmetries[0], Symmetry)


def test_time_dependent_forces_are_evaluated_at_the_scheme_nodes():
    """x'' = -x + sin 3t, exactly: x = (3 sin t - sin 3t)/8."""
    t = sp.Symbol("t")
    system = symbolic_system("driven", [X], [0.0], [0.0], M=[[1]], V=X**2 / 2, forces=[sp.sin(3 * t)], t=t)
    exact = (3 * np.sin(1) - np.sin(3)) / 8
    for name, order, bound in (("EML", 2, 1e-3), ("mG(2)", 4, 1e-7), ("GL-SPARK(3)", 6, 1e-11)):
        errors = [integrate(system, name, h, 1.0).q[-1, 0] - exact for h in (0.05, 0.025)]
        assert abs(errors[1]) < bound
        assert np.log2(abs(errors[0] / errors[1])) == pytest.approx(order, abs=0.1)


def test_symbolic_body_moves_like_the_compiled_one():
    """The free body in quaternions with singular mass M = 4 G^T J G, G = G(q)."""
    J, Omega = np.array([1.0, 2.0, 2.5]), np.array([1.0, 0.5, 0.7])
    q = sp.symbols("q0:4")
    G = sp.Matrix([[-q[1], q[0], q[3], -q[2]], [-q[2], -q[3], q[0], q[1]], [-q[3], q[2], -q[1], q[0]]])
    compiled = rotating_body("body", J, Omega)
    M, g = 4 * G.T * sp.diag(*J.tolist()) * G, [(sum(x**2 for x in q) - 1) / 2]
    symbolic = symbolic_system("body in sympy", q, compiled.q0, compiled.v0, M=M, g=g)
    assert symbolic.mass(compiled.q0) == pytest.approx(compiled.mass(compiled.q0))
    runs = [integrate(system, "EML(order=6)", 0.02, 1.0) for system in (symbolic, compiled)]
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-11


def pendulum(q, v=(U, W), t=None):
    """A double pendulum with a potential in an invariant, a constraint or a force, under any names."""
    T = v[0] ** 2 + v[1] ** 2 / 2 + v[0] * v[1] * sp.cos(q[0] - q[1])
    g = [q[0] ** 2 + 2 * q[0] * q[1] - 3]
    s = sp.Symbol("s")
    V = [PotentialTerm(sp.exp(s), s, q[0] ** 2 + q[1]), PotentialTerm(s**3 - sp.cos(1), s, q[0] * q[1])]
    forces = [sp.sin(q[0]) * (t or 1), q[0] * q[1]]
    return symbolic_system("renamed", q, [1.0, 1.0], [0.3, -0.6], T=T, V=V, g=g, forces=forces, v=v, t=t)


CLASHES = [
    "a1 a2", "b0 a0", "x x_end", "l1 l0", "l1 y", "start0 end0", "slope0 common0", "common1 common0", "e0 q0",
    "q1 q0", "lambda q", "D out", "cmath math", "real s", r"\phi_1 \dot{x}", "def class", "_Positive signal",
    "a1 t", "s t",
]  # fmt: skip


@cache
def plain_motion():
    return integrate(pendulum((X, Y), t=sp.Symbol("t")), "GGL-EM", 0.01, 0.1).q


@pytest.mark.parametrize("names", CLASHES)
def test_the_motion_does_not_depend_on_the_names_of_the_coordinates(names):
    q = [sp.Symbol(x) for x in names.split()]
    t = sp.Symbol("q[0]")
    system = pendulum(q, t=t)
    assert system.names == tuple(str(x) for x in q)
    q_history = integrate(system, "GGL-EM", 0.01, 0.1).q
    assert np.abs(q_history - plain_motion()).max() < 1e-13
    assert np.abs(q_history[-1] - q_history[0]).max() > 1e-3


def test_the_motion_does_not_depend_on_the_names_of_velocities():
    system = pendulum((X, Y), sp.symbols("a1 q0"))
    assert system.mass(system.q0) == pytest.approx(np.array([[2.0, 1.0], [1.0, 1.0]]))


LEAVING = {
    "-sqrt(x)": -sp.sqrt(X),
    "x^(4/3)": X ** sp.Rational(4, 3) / 10,
    "x^1.3": X**1.3 / 10,
    "x^y": X**Y / 10,
    "sqrt(1 - x^2)": sp.sqrt(1 - X**2),
    "acos": sp.acos(X) / 10,
    "asin": sp.asin(X) / 10,
    "log": -sp.log(X) / 100 + 8 * X,
    "atanh": sp.atanh(X) / 100,
}


@cache
def thrown(V):
    """A unit mass that moves towards the end of the domain of V."""
    return symbolic_system("s", (X, Y), [0.5, 0.0], [-50.0, 0.0], M=sp.eye(2), V=LEAVING[V])


@pytest.mark.parametrize("name", ["EML", "mG(1)", "VI-S"])
@pytest.mark.parametrize("V", LEAVING)
def test_leaving_the_domain_of_a_potential_ends_the_run(V, name):
    """The mass moves towards the end of the domain, in steps short enough that a node lies beyond it."""
    with pytest.raises(ConvergenceError, match="the residual is not a finite number"):
        integrate(thrown(V), name, 0.003, 0.3)


def test_energy_is_conserved_inside_the_domain_of_a_root():
    system = symbolic_system("s", X, [0.5], [0.0], M=[[1]], V=-sp.sqrt(X) + X ** sp.Rational(4, 3))
    energy = integrate(system, "EML", 0.01, 5.0).energy()
    assert np.abs(energy - energy[0]).max() < 1e-12


REWRITTEN = {
    "cot": sp.cot, "sec": sp.sec, "csc": sp.csc, "coth": sp.coth, "sech": sp.sech, "csch": sp.csch,
    "acot": sp.acot, "atanh": sp.atanh, "asech": sp.asech, "acsch": sp.acsch, "asinh": sp.asinh,
    "acosh(2x)": lambda x: sp.acosh(2 * x + 1), "acoth(2x)": lambda x: sp.acoth(2 * x + 1),
    "asec(2x)": lambda x: sp.asec(2 * x + 1), "acsc(2x)": lambda x: sp.acsc(2 * x + 1),
    "constants": lambda x: sp.E * x + sp.GoldenRatio + sp.Catalan * sp.EulerGamma * x**2 + sp.sqrt(sp.pi) * x,
    "powers": lambda x: x**-7 + x ** sp.Rational(-5, 2) + 2**x + sp.pi**x + x**x + x**1.7,
    "roots": lambda x: sp.cbrt(x) + sp.root(x, 4) + sp.log(x, 10) + sp.sin(1) * sp.tan(x) + sp.exp(-x),
}  # fmt: skip


@pytest.mark.parametrize("name", REWRITTEN)
def test_compiled_values_and_derivatives_equal_sympy(name):
    V = REWRITTEN[name](X)
    system = symbolic_system("s", X, [0.6], [0.0], M=[[1]], V=V)
    assert system.potential(np.array([0.6])) == pytest.approx(float(V.subs(X, 0.6)), rel=1e-13)
    assert system.gradient(np.array([0.6])) == pytest.approx([float(V.diff(X).subs(X, 0.6))], rel=1e-13)


def test_one_coordinate_may_be_given_as_a_symbol():
    for q, v in ((X, U), ([X], [U])):
        system = symbolic_system("one", q, [1.0], [0.0], T=U**2 / 2, V=X**2 / 2, v=v)
        assert integrate(system, "mG(3)", 0.1, 1.0).q[-1, 0] == pytest.approx(np.cos(1.0), abs=1e-9)


def test_time_independent_forces_equal_those_of_a_potential():
    loads = symbolic_system("s", (X, Y), [1.0, 0.0], [0.0, 0.5], M=sp.eye(2), forces=[-X, -Y])
    conservative = symbolic_system("s", (X, Y), [1.0, 0.0], [0.0, 0.5], M=sp.eye(2), V=(X**2 + Y**2) / 2)
    ends = [integrate(system, "EML", 0.01, 1.0).q[-1] for system in (loads, conservative)]
    assert ends[0] == pytest.approx(ends[1], abs=1e-13)
    assert not loads.has_signal


def test_constant_singular_mass_is_accepted_with_a_constraint():
    """y has no mass and follows x: V = x^2 where y = x, so x'' = -2 x."""
    system = symbolic_system(
        "s", (X, Y), [1.0, 1.0], [0.0, 0.0], M=sp.diag(1, 0), V=X**2 / 2 + X * Y - Y**2 / 2, g=[Y - X]
    )
    end = integrate(system, "EML(order=6)", 0.01, 1.0).q[-1]
    assert end == pytest.approx([np.cos(np.sqrt(2.0))] * 2, abs=1e-10)
    with pytest.raises(ModelError, match="needs a regular mass"):
        integrate(system, "VI-S", 0.01, 1.0)


def test_mass_symmetric_to_round_off_is_accepted():
    A = np.array([[1.0, 0.1 + 0.2], [0.3, 1.0]])
    assert A[0, 1] != A[1, 0]
    assert make(M=A).mass(np.zeros(2)) == pytest.approx(A)


def test_quadratic_forms_with_decimals_are_recognised():
    T = (0.1 * U + 0.3 * W) ** 2 * sp.cos(X) + 0.7 * (U - 1.1 * W) ** 2
    assert make(M=None, T=T, v=(U, W)).mass(np.zeros(2))[0] == pytest.approx([1.42, -1.48])


def test_force_singular_at_t_0_is_evaluated_at_scheme_nodes_only():
    t = sp.Symbol("t")
    system = symbolic_system("s", X, [0.0], [0.0], M=[[1]], forces=[t ** sp.Rational(3, 2) + sp.log(t)], t=t)
    end = integrate(system, "mG(2)", 0.01, 1.0).q[-1, 0]
    assert end == pytest.approx(4 / 35 - 3 / 4, abs=1e-3)


def make(**options):
    return symbolic_system(
        **({"name": "s", "q": (X, Y), "q0": [1, 2], "v0": [0, 0], "M": sp.eye(2)} | options)
    )


class Numerical:
    def M(self, q):
        return [[1]]

    def V(self, q):
        return np.cos(q[0])


REFUSED = {
    "give T or M, one of them": lambda: make(T=U**2),
    "T needs the velocity symbols": lambda: make(M=None, T=U**2),
    "not a quadratic form of the velocities": lambda: make(M=None, T=U**3 + W**2, v=(U, W)),
    r"T = u\*\*2 \+ w is not a quadratic form": lambda: make(M=None, T=U**2 + W, v=(U, W)),
    "M is not a symmetric 2 x 2 matrix": lambda: make(M=[[1, 2], [0, 1]]),
    "M is not a symmetric 2 x 2 matrix, but 3": lambda: make(M=3),
    r"M is not a symmetric 2 x 2 matrix, but \[1, 2\]": lambda: make(M=[1, 2]),
    "M is not a symmetric 2 x 2 matrix, but Matrix": lambda: make(M=sp.eye(3)),
    r"V contains \['k'\]; substitute numbers": lambda: make(V=sp.Symbol("k") * X),
    r"forces contains \['t'\]; substitute numbers.* or give t=": lambda: make(forces=[sp.Symbol("t"), 0]),
    r"V contains \['x'\]; these are other symbols": lambda: make(V=sp.Symbol("x", real=True)),
    "not analytic; use": lambda: make(V=sp.Abs(X)),
    "contains Piecewise": lambda: make(V=sp.Piecewise((X, X > 0), (0, True))),
    r"contains Max\(x, y\), which is not analytic": lambda: make(V=sp.Max(X, Y)),
    r"contains Min\(x, y\), which is not analytic": lambda: make(V=1 + X * sp.Min(X, Y)),
    r"contains sign\(x\), which is not analytic": lambda: make(forces=[sp.sign(X), 0]),
    r"contains Heaviside\(x\), which is not analytic": lambda: make(g=[sp.Heaviside(X)]),
    r"contains gamma\(x\), which is not supported": lambda: make(V=sp.gamma(X)),
    r"contains f\(x\), which is not supported": lambda: make(V=sp.Function("f")(X)),
    r"contains Derivative\(x, x\), which is not supported": lambda: make(V=sp.Derivative(X, X)),
    "V contains I, which is not a finite real number": lambda: make(V=sp.I * X),
    "V contains zoo, which is not a finite real": lambda: make(V=sp.Add(X, sp.zoo, evaluate=False)),
    "V contains oo, which is not a finite real": lambda: make(V=sp.Mul(X, sp.oo, evaluate=False)),
    "V contains nan, which is not a finite real": lambda: make(V=float("nan")),
    "M contains I, which is not a finite real": lambda: make(M=[[1, sp.I], [sp.I, 1]]),
    r"V contains sqrt\(1 - sqrt\(2\)\), which is not a finite real": lambda: make(
        V=X * sp.sqrt(1 - sp.sqrt(2))
    ),
    r"V contains sqrt\(x\).*not real and finite at q0 = \[-1": lambda: make(V=-sp.sqrt(X), q0=[-1, 0]),
    r"V contains x\*\*\(4/3\), which is not real": lambda: make(V=X ** sp.Rational(4, 3), q0=[-1, 0]),
    r"V contains log\(x\), which is not real": lambda: make(V=Y + sp.log(X), q0=[-1, 0]),
    r"g contains acos\(y\), which is not real": lambda: make(g=[sp.acos(Y)]),
    r"forces contains asin\(y\), which is not real": lambda: make(forces=[0, sp.asin(Y)]),
    r"M contains sqrt\(1 - y\*\*2\), which is not real": lambda: make(M=sp.eye(2) * sp.sqrt(1 - Y**2)),
    "V contains 1/x, which is not real and finite": lambda: make(V=1 / X, q0=[0, 0]),
    "the derivative of V is not finite at q0": lambda: make(V=sp.sqrt(X), q0=[0, 0]),
    "1 forces for 2 coordinates": lambda: make(forces=[X]),
    r"forces = x; give a list of expressions, \[x\] if": lambda: make(forces=X),
    r"g = x\*\*2 - 1; give a list of expressions": lambda: make(g=X**2 - 1),
    "g = 'x'; give a list of expressions": lambda: make(g="x"),
    r"g = \['x'\]|g = 'x' is not an expression": lambda: make(g=["x"]),
    "forces = None is not an expression": lambda: make(forces=[None, 0]),
    "V = 'x' is not an expression": lambda: make(V="x"),
    "V = None is not an expression": lambda: make(V=None),
    "V = x > 0 is not an expression": lambda: make(V=X > 0),
    r"V contains x; give an expression, or a list of Part": lambda: make(V=[X]),
    "depends on more than its invariant s": lambda: make(V=[(X * sp.Symbol("s"), sp.Symbol("s"), X**2)]),
    "T = 'u' is not an expression": lambda: make(M=None, T="u", v=(U, W)),
    r"q = 'x y'; give a list of sympy symbols": lambda: make(q="x y"),
    r"q = \[\]; give a list of sympy symbols": lambda: make(q=[]),
    r"q = 3; give a list of sympy symbols": lambda: make(q=3),
    r"q = \[x\(t\)\]; give a list of sympy symbols": lambda: make(q=[sp.Function("x")(sp.Symbol("t"))]),
    r"q contains \['x'\] more than once": lambda: make(q=(X, X)),
    r"v contains \['u'\] more than once": lambda: make(v=(U, U)),
    r"\['x'\] in more than one of q, v and t": lambda: make(v=(X, U)),
    "t = 't'; give the sympy symbol": lambda: make(t="t"),
    "q0 = 1.0; give a list of 2 finite numbers": lambda: make(q0=1.0),
    r"q0 = \[1.0\]; give a list of 2 finite numbers": lambda: make(q0=[1.0]),
    r"q0 = \[1.0, nan\]; give a list of 2": lambda: make(q0=[1.0, np.nan]),
    r"q0 = \[1.0, 1j\]; give a list of 2": lambda: make(q0=[1.0, 1j]),
    "v0 = 0; give a list of 2 finite numbers": lambda: make(v0=0),
    r"v0 = \[0, 0, 0\]; give a list of 2": lambda: make(v0=[0, 0, 0]),
    r"v0 = \[x, 0\]; give a list of 2": lambda: make(v0=[X, 0]),
    "is not quadratic in the coordinates": lambda: make(V=[(X, X, X**3)]),
    "give Xi": lambda: make(symmetries={"J": np.zeros(2)}),
    r"symmetry J: give Xi": lambda: make(symmetries={"J": "turn"}),
    "give a dictionary name -> Xi": lambda: make(symmetries=[np.eye(2)]),
    r"give initial coordinates": lambda: make(g=[X + Y]),
    r"give a method T\(q, v\) or M\(q\)": lambda: system_from_object(object(), 1, [0.0], [0.0]),
    r"V\(q\) failed with sympy symbols": lambda: system_from_object(Numerical(), 1, [0.0], [0.0]),
    "n = 0; give the number of coordinates": lambda: system_from_object(Bead(), 0, [], []),
}


@pytest.mark.parametrize("message", REFUSED)
def test_invalid_symbolic_systems_are_rejected(message):
    """The message has the name of the system, the given value and the remedy."""
    with pytest.raises(ModelError, match=rf"(?s)system '\w+'.*(?:{message})"):
        REFUSED[message]()


def test_double_pendulum_runs_with_every_suitable_integrator(capsys):
    double_pendulum.main()
    lines = capsys.readouterr().out.splitlines()
    refused = {line.split()[0] for line in lines if "energy" not in line}
    assert refused == {"Null-EML", "EML-kappa", "BS99"}
    ends = {line.split()[0]: line.split("angles")[1] for line in lines if "energy" in line}
    assert ends["mG(3)"] == ends["GL-SPARK(3)"] == ends["EML(order=6)"]
