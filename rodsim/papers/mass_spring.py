"""Study of two masses on nonlinear springs, in redundant coordinates with a singular mass: 000 sec. 5.1."""

from __future__ import annotations

from functools import cache

import numpy as np
import sympy as sp

from discretization.time.integrate import Trajectory, integrate
from rigid.mechanics.mechanical import MechanicalSystem
from rigid.symbolic.systems import Part, symbolic_system
from rigid.system import Floats
from rodsim.papers.claims import Line, Panel, Study, drift, observed_order

NAME = "mass-spring"
T_END = 10.0
H = 0.1

# Exact motion at t = 1, to all digits: (x1, q2, x2) and (x1', q2', x2').
EXACT_Q = np.array([0.669378507029757735, 1.76937850702975774, -0.216692348356659667])
EXACT_V = np.array([0.134849788518730129, 0.134849788518730129, 0.945574999616230456])


@cache
def mass_spring() -> MechanicalSystem:
    """Return the system of 000 (106)-(109): q = (x1, q2, x2), m = (2, 1), k = (1, 3), l10 = 1, w = 0.1.

    (109) prints k/4 in both springs; the paper's program, whose trajectory this system reproduces, has k/2.
    Each spring is a potential term in its elongation, so that its discrete derivative is the divided difference.
    """
    x1, q2, x2 = q = sp.symbols("x1 q2 x2")
    s = sp.Symbol("s")
    parts = [Part(sp.Rational(k, 2) * (s**2 + s**4), s, x) for k, x in ((1, x1), (3, x2))]
    return symbolic_system(
        "mass-spring system",
        q,
        q0=[0.0, 1.1, 0.0],
        v0=[1.0, 1.0, -1.0],
        M=[[2, 0, 0], [0, 1, 1], [0, 1, 1]],
        V=parts,
        g=[((q2 - x1) ** 2 - sp.Rational(11, 10) ** 2) / 2],
    )


@cache
def run(h: float = H, t_end: float = T_END) -> Trajectory:
    """Integrate the example by EML."""
    return integrate(mass_spring(), "EML", h, t_end)


@cache
def errors_at_1(h: float) -> tuple[float, float]:
    """Return the errors of q and v at t = 1."""
    end = run(h, 1.0)
    return float(np.abs(end.q[-1] - EXACT_Q).max()), float(np.abs(end.v[-1] - EXACT_V).max())


def orders(steps: list[float]) -> tuple[Floats, tuple[float, float]]:
    """Return the errors (steps, 2) of q and v at t = 1, and their observed orders."""
    errors = np.array([errors_at_1(h) for h in steps])
    return errors, (
        observed_order(steps, errors[:, 0].tolist()),
        observed_order(steps, errors[:, 1].tolist()),
    )


def study() -> Study:
    """Check energy, constraint and order with a mass that has no inverse: 000 Figs. 1, 2."""
    result = Study(NAME, "Mass-spring system in redundant coordinates", "000 sec. 5.1")
    example = run()
    mass = example.system.mass(example.system.q0)
    rank = int(np.linalg.matrix_rank(mass))
    result.claim(
        "000 (108)",
        "EML integrates a system whose mass matrix is singular",
        f"rank {rank} of {len(mass)}; {len(example.t) - 1} steps, {example.iterations[1:].mean():.1f} iterations each",
        rank == 2 and bool(np.isfinite(example.q).all()),
    )
    kinetic, potential = example.kinetic(), example.potential()
    exchanged = float(np.ptp(potential))
    result.claim(
        "000 Fig. 1",
        "kinetic and potential energy are exchanged, their sum stays",
        f"V ranges over {exchanged:.3f} of E = 1, T + V moves by {drift(kinetic + potential):.1e}",
        exchanged > 0.5 and drift(kinetic + potential) < 1e-13,
    )
    energy = example.generalised_energy()
    increments = np.abs(np.diff(energy))
    result.claim(
        "000 Fig. 2",
        "increments of the generalised energy are round-off",
        f"largest {increments.max():.1e}, drift to t = 10 {drift(energy):.1e}",
        increments.max() < 1e-14 and drift(energy) < 1e-13,
    )
    constraint = example.position_residual()
    result.claim(
        "000 Fig. 2",
        "the constraint holds to round-off",
        f"|g| {constraint.max():.1e}",
        constraint.max() < 1e-14,
    )
    gap = float(np.abs(energy - example.total_energy()).max())
    fibre = float(np.abs(example.p - example.v @ mass.T).max())
    result.claim(
        "000 prop. 4.6",
        "with a constant mass p = M v, and generalised and total energy are the same",
        f"|p - M v| {fibre:.1e}, difference of the energies {gap:.1e}",
        fibre < 1e-13 and gap < 1e-13,
    )
    steps = [H / 2**k for k in range(5)]
    errors, (order_q, order_v) = orders(steps)
    result.claim(
        "000 sec. 6",
        "second-order accuracy",
        f"orders {order_q:.3f} in q, {order_v:.3f} in v against the exact motion at t = 1",
        max(abs(order_q - 2), abs(order_v - 2)) < 0.1,
    )
    t = example.t
    result.panels += [
        Panel(
            "Energy",
            "t",
            "energy",
            [Line("T", t, kinetic), Line("V", t, potential), Line("E", t, energy)],
        ),
        Panel("Constraint", "t", "g", [Line("", t, constraint)]),
        Panel("Increment of the generalised energy", "t", "E1 - E0", [Line("", t[1:], np.diff(energy))]),
        Panel(
            "Error at t = 1",
            "h",
            "error",
            [
                Line(f"q ({order_q:.2f})", steps, errors[:, 0], "o-"),
                Line(f"v ({order_v:.2f})", steps, errors[:, 1], "o-"),
            ],
            "log",
        ),
    ]
    return result


if __name__ == "__main__":
    from rodsim.papers.claims_report import main

    main(NAME)
