"""Study of two masses on nonlinear springs, in redundant coordinates with a singular mass: 000 sec. 5.1."""

from __future__ import annotations

from functools import cache

import numpy as np
import sympy as sp

from discretization.time.integrate import Trajectory, integrate
from rigid.mechanics.mechanical_system import MechanicalSystem
from rigid.symbolic.systems import PotentialTerm, symbolic_system
from rodsim.papers.claims import Line, Study, drift, halved, largest, sweep

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
    parts = [PotentialTerm(sp.Rational(k, 2) * (s**2 + s**4), s, x) for k, x in ((1, x1), (3, x2))]
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


def study() -> Study:
    """Check energy, constraint and order with a mass that has no inverse: 000 Figs. 1, 2."""
    result = Study(NAME, "Mass-spring system in redundant coordinates", "000 sec. 5.1")
    example = run()
    mass = example.system.mass(example.system.q0)
    rank = int(np.linalg.matrix_rank(mass))
    result.claim(
        "000 (108): EML integrates a system whose mass matrix is singular",
        f"rank {rank} of {len(mass)}; {len(example.t) - 1} steps, {example.iterations[1:].mean():.1f} iterations each",
        rank == 2 and bool(np.isfinite(example.q).all()),
    )
    kinetic, potential, energy = example.kinetic(), example.potential(), example.generalised_energy()
    exchanged = float(np.ptp(potential))
    result.claim(
        "000 Fig. 1: kinetic and potential energy are exchanged, their sum stays",
        f"V ranges over {exchanged:.3f} of E = 1, T + V changes by {drift(kinetic + potential):.1e}",
        exchanged > 0.5 and drift(kinetic + potential) < 1e-13,
    )
    increments = largest(np.diff(energy))
    result.claim(
        "000 Fig. 2: increments of the generalised energy are round-off",
        f"largest {increments:.1e}, drift to t = 10 {drift(energy):.1e}",
        increments < 1e-14 and drift(energy) < 1e-13,
    )
    constraint = example.position_residual()
    result.claim_below("000 Fig. 2: the constraint holds to round-off", {"|g|": constraint.max()}, 1e-14)
    gap, fibre = largest(energy - example.total_energy()), largest(example.p - example.v @ mass.T)
    result.claim(
        "000 prop. 4.6: with a constant mass p = M v, and generalised and total energy are the same",
        f"|p - M v| {fibre:.1e}, difference of the energies {gap:.1e}",
        fibre < 1e-13 and gap < 1e-13,
    )
    steps = halved(H, range(5))
    q = sweep(steps, lambda h: largest(run(h, 1.0).q[-1] - EXACT_Q))
    v = sweep(steps, lambda h: largest(run(h, 1.0).v[-1] - EXACT_V))
    result.claim_orders(
        "000 sec. 6: second-order accuracy",
        {"q": q.order, "v": v.order},
        2,
        f"orders {q.order:.3f} in q, {v.order:.3f} in v against the exact motion at t = 1",
    )
    t = example.t
    energies = {"T": kinetic, "V": potential, "E": energy}
    result.panel("Energy", "t", "energy", [Line(name, t, values) for name, values in energies.items()])
    result.panel("Constraint", "t", "g", [Line("", t, constraint)])
    result.panel("Increment of the generalised energy", "t", "E1 - E0", [Line("", t[1:], np.diff(energy))])
    result.panel("Error at t = 1", "h", "error", [q.line("q"), v.line("v")], "log")
    return result
