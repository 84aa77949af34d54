"""Systems written by the user: expressions, classes, what is refused, and agreement with the compiled charts."""

from typing import ClassVar

import numpy as np
import pytest
import sympy as sp

from examples import double_pendulum
from rodsim import ModelError, Part, Symmetry, integrate, rotating_body, symbolic_system, system_of

X, Y = sp.symbols("x y")
U, W = sp.symbols("u w")


class Bead:
    """A unit mass on the paraboloid z = (x^2 + y^2)/2 under gravity, with friction-free motion and a push in time."""

    def T(self, q, v):
        return (v[0] ** 2 + v[1] ** 2 + v[2] ** 2) / 2

    def V(self, q):
        return 9.81 * q[2]

    def g(self, q):
        return [q[2] - (q[0] ** 2 + q[1] ** 2) / 2]

    symmetries: ClassVar = {"J3": np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])}


def bead():
    return system_of(Bead(), 3, [1.0, 0.0, 0.5], [0.0, 1.0, 0.0])


def test_a_class_is_traced_into_a_system():
    system = bead()
    q = np.array([0.3, -0.2, 0.7])
    assert (system.n, system.m, system.name) == (3, 1, "Bead")
    assert system.mass(q) == pytest.approx(np.eye(3))
    assert system.potential(q) == pytest.approx(9.81 * 0.7)
    assert system.constraints(q) == pytest.approx([0.7 - 0.065])
    assert system.jacobian(q) == pytest.approx(np.array([[-0.3, 0.2, 1.0]]))


@pytest.mark.parametrize("name", ["EML", "EMH", "EM-G", "GGL-EM"])
def test_energy_momentum_schemes_keep_both_of_a_users_system(name):
    run = integrate(bead(), name, 0.01, 2.0)
    energy, J3 = run.energy(), run.momentum(run.system.symmetries[0])
    assert np.abs(energy - energy[0]).max() < 1e-12
    assert np.abs(J3 - J3[0]).max() < 1e-13
    assert run.position_residual().max() < 1e-14


@pytest.mark.parametrize("name", ["VI-S", "VI-B(1, 0.5)", "GL-SPARK(2)", "Lobatto-IIIA-B(2)", "mG(1)"])
def test_other_schemes_keep_the_momentum_map_of_a_users_system(name):
    run = integrate(bead(), name, 0.01, 2.0)
    J3 = run.momentum(run.system.symmetries[0])
    assert np.abs(J3 - J3[0]).max() < 1e-13


def test_a_mass_that_depends_on_q_is_the_hessian_of_the_kinetic_energy():
    system = symbolic_system(
        "polar", (X, Y), [2.0, 0.0], [0.1, 1.0], T=(U**2 + X**2 * W**2) / 2, V=X**2 / 2, v=(U, W)
    )
    assert system.mass(np.array([3.0, 1.0])) == pytest.approx(np.diag([1.0, 9.0]))
    assert system.inverse_mass(np.array([3.0, 1.0])) == pytest.approx(np.diag([1.0, 1 / 9]))


def test_polar_and_cartesian_coordinates_give_the_same_orbit():
    polar = symbolic_system(
        "polar", (X, Y), [2.0, 0.0], [0.1, 1.0], T=(U**2 + X**2 * W**2) / 2, V=-1 / X, v=(U, W)
    )
    flat = symbolic_system("flat", (X, Y), [2.0, 0.0], [0.1, 2.0], M=sp.eye(2), V=-1 / sp.sqrt(X**2 + Y**2))
    for name in ("mG(3)", "GL-SPARK(3)", "EML(order=6)"):
        r, angle = integrate(polar, name, 0.01, 3.0).q[-1]
        x = integrate(flat, name, 0.01, 3.0).q[-1]
        assert x == pytest.approx([r * np.cos(angle), r * np.sin(angle)], abs=1e-10)


def test_parts_in_invariants_keep_their_symmetry():
    """A potential given as V(s), s = x.x: the discrete derivative is rotation invariant, at any step."""
    s = sp.Symbol("s")
    spring = Part((sp.sqrt(s) - 1) ** 2 * 50, s, X**2 + Y**2)
    turn = {"J": np.array([[0.0, -1.0], [1.0, 0.0]])}
    system = symbolic_system(
        "spring", (X, Y), [1.2, 0.0], [0.0, 3.0], M=sp.eye(2), V=[spring], symmetries=turn
    )
    run = integrate(system, "EML", 0.1, 10.0)
    J, energy = run.momentum(system.symmetries[0]), run.energy()
    assert np.abs(J - J[0]).max() < 1e-12
    assert np.abs(energy - energy[0]).max() < 1e-12
    assert isinstance(system.symmetries[0], Symmetry)


def test_forces_of_time_are_read_at_the_nodes_of_the_scheme():
    """x'' = -x + sin 3t, exactly: x = (3 sin t - sin 3t)/8."""
    t = sp.Symbol("t")
    system = symbolic_system("driven", [X], [0.0], [0.0], M=[[1]], V=X**2 / 2, forces=[sp.sin(3 * t)], t=t)
    for name, order, bound in (("EML", 2, 1e-3), ("mG(2)", 4, 1e-7), ("GL-SPARK(3)", 6, 1e-11)):
        errors = [
            integrate(system, name, h, 1.0).q[-1, 0] - (3 * np.sin(1) - np.sin(3)) / 8 for h in (0.05, 0.025)
        ]
        assert abs(errors[1]) < bound
        assert np.log2(abs(errors[0] / errors[1])) == pytest.approx(order, abs=0.1)


def test_a_body_written_in_sympy_moves_as_the_compiled_one():
    """The free body in quaternions with singular mass M = 4 G^T J G, G = G(q)."""
    J, Omega = np.array([1.0, 2.0, 2.5]), np.array([1.0, 0.5, 0.7])
    q = sp.symbols("q0:4")
    G = sp.Matrix([[-q[1], q[0], q[3], -q[2]], [-q[2], -q[3], q[0], q[1]], [-q[3], q[2], -q[1], q[0]]])
    compiled = rotating_body("body", J, Omega)
    own = symbolic_system(
        "body in sympy",
        q,
        compiled.q0,
        compiled.v0,
        M=4 * G.T * sp.diag(*J.tolist()) * G,
        g=[(sum(x**2 for x in q) - 1) / 2],
    )
    assert own.mass(compiled.q0) == pytest.approx(compiled.mass(compiled.q0))
    runs = [integrate(system, "EML(order=6)", 0.02, 1.0) for system in (own, compiled)]
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-11


def make(**more):
    return symbolic_system("s", (X, Y), [1.0, 2.0], [0.0, 0.0], **({"M": sp.eye(2)} | more))


REFUSED = {
    "give T or M, one of them": lambda: make(T=U**2),
    "T needs the velocity symbols": lambda: make(M=None, T=U**2),
    "not a quadratic form of the velocities": lambda: make(M=None, T=U**3 + W**2, v=(U, W)),
    "M is not a symmetric 2 x 2 matrix": lambda: make(M=[[1, 2], [0, 1]]),
    r"V contains \['k'\]; substitute numbers": lambda: make(V=sp.Symbol("k") * X),
    "not analytic; use": lambda: make(V=sp.Abs(X)),
    "contains Piecewise": lambda: make(V=sp.Piecewise((X, X > 0), (0, True))),
    "1 forces for 2 coordinates": lambda: make(forces=[X]),
    "is not quadratic in the coordinates": lambda: make(V=[(X, X, X**3)]),
    "give Xi": lambda: make(symmetries={"J": np.zeros(2)}),
    r"give initial coordinates": lambda: make(g=[X + Y]),
    r"give a method T\(q, v\) or M\(q\)": lambda: system_of(object(), 1, [0.0], [0.0]),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_cannot_be_a_system_is_refused(message):
    with pytest.raises(ModelError, match=message):
        REFUSED[message]()


def test_double_pendulum_runs_with_every_integrator_that_fits(capsys):
    double_pendulum.main()
    lines = capsys.readouterr().out.splitlines()
    refused = {line.split()[0] for line in lines if "energy" not in line}
    assert refused == {"Null-EML", "EML-kappa", "BS99"}
    ends = {line.split()[0]: line.split("angles")[1] for line in lines if "energy" in line}
    assert ends["mG(3)"] == ends["GL-SPARK(3)"] == ends["EML(order=6)"]
