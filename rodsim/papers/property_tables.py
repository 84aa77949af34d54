"""Measure what every integrator conserves, its order and its cost, for a heavy top with nutation, joined bodies, and rods.

`python -m rodsim.papers.property_tables docs/evidence/integrators.md` writes the tables of that page. The name of a table (top,
joined, rods) after the page writes only that table.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from discretization.time.bubnov import solve_global
from discretization.time.integrate import Trajectory, integrate
from discretization.time.integrators import parse
from discretization.time.symplecticity import symplectic_defect
from rigid import quaternions
from rigid.charts.multibody import rotating_body
from rigid.mechanics.mechanical_system import MechanicalSystem
from rigid.symbolic.lagrange_top import lagrange_top
from rigid.system import Floats
from rodsim.papers import joined_bodies
from rodsim.papers import rod_invariants as rods
from rodsim.papers import scheme_properties as schemes
from rodsim.papers.claims import largest, relative_drift, scheme_velocity_constraints, sweep, sweep_runs

# Exact axis of the top (A = mgl = 1, C = 1/2, theta0 = pi/4, Omega0 = (0, 0.3, 5)) at t = 1, by elliptic functions.
AXIS = np.array([0.30736818246313608, -0.65020445518572365, 0.69480858289599775])
_START = quaternions.from_axis_angle((1.0, 0.0, 0.0), np.pi / 4)
INTEGRATORS = {
    "singular": ("EML", "REML", "Null-EML", "EML-kappa", "MPL", "EML(order=4)", "EML-kappa(order=6)"),
    "alpha": (
        *("MPH", "EMH", "VI-S", "VI-A(0.5)", "VI-B(1, 0.5)", "GGL-EM"),
        *("mG(1)", "mG(2)", "mG(3)", "mG(4)", "mG(2, 2)"),
    ),
    "gamma": (
        *("IMS", "EMS", "EMS(order=6)", "VI-A(order=4)"),
        *("GL-SPARK(1)", "GL-SPARK(2)", "GL-SPARK(3)", "GL-SPARK(2, order=6)"),
        *("Lobatto-IIIA-B(2)", "Lobatto-IIIA-B(3)", "Lobatto-IIIA-B(4)"),
    ),
    "director": (
        *("EM-G", "VI-S", "VI-A(0.5)", "VI-B(1, 0.5)", "VI-B(0.5, 0.5)", "VI-B(0.3, 0.4)"),
        *("GGL-EM", "GGL-EM(order=4)", "mG(1)", "mG(2)", "mG(2, 2)", "GL-SPARK(2)"),
    ),
    "axis": ("BS99",),
}
ROWS = schemes.rows(
    INTEGRATORS,
    {
        1: (1 / 256, 1 / 512, 1 / 1024),
        2: (1 / 64, 1 / 128, 1 / 256),
        4: (1 / 16, 1 / 32, 1 / 64),
        6: (1 / 24, 1 / 32, 1 / 48),
        8: (1 / 6, 1 / 8, 1 / 12),
        "EMS(order=6)": (1 / 16, 1 / 24, 1 / 32),
        "GL-SPARK(2, order=6)": (1 / 8, 1 / 12, 1 / 16),
    },
)


class Properties(NamedTuple):
    """One row of the table; drifts are relative, residuals absolute, over t = 2 with h = 0.02; nan: it does not apply."""

    integrator: str
    chart: str
    order: float
    energy: float
    momentum: float
    symplectic: float  # change of the two-form
    position: float  # position residual |g(q)|
    momentum_constraint: float  # |G W p|; |G v| for the singular mass
    velocity_constraint: float  # |G v| with the velocity v of the scheme
    singular: str  # "yes" if the mass may be singular
    cost: float  # microseconds per step


def top(chart: str) -> MechanicalSystem:
    """Return the heavy top in a chart: singular, alpha, gamma (quaternions), director, or axis (for BS99)."""
    J, Omega = np.array([1.0, 1.0, 0.5]), np.array([0.0, 0.3, 5.0])
    if chart == "axis":
        axis = quaternions.rotate(_START, [0.0, 0.0, 1.0])
        return lagrange_top(J[0], 1.0, axis, quaternions.rotate(_START, J * Omega))
    weights = [(np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, -1.0]))]
    if chart == "director":
        return rotating_body("top", J, Omega, _START, weights, chart="director")
    return rotating_body("top", J, Omega, _START, weights, inertia=chart)


def axis_of(run: Trajectory) -> Floats:
    """Return the computed axis d3 at the end."""
    q = run.q[-1]
    if run.system.n == 4:
        return quaternions.to_matrix(q)[:, 2]
    return q[-3:]


def axis_error(chart: str, integrator: str) -> Callable[[float], float]:
    """Return the function h -> error of the axis at t = 1."""
    return lambda h: float(np.linalg.norm(axis_of(integrate(top(chart), integrator, h, 1.0)) - AXIS))


def vertical_drift(run: Trajectory) -> float:
    """Return the relative drift of the angular momentum about the vertical."""
    return relative_drift(run.momentum(next(s for s in run.system.symmetries if s.name == "Lz")))


def measure(integrator: str, chart: str, steps: Sequence[float], timed: bool = True) -> Properties:
    """Measure all properties of one integrator in one chart; the cost only if `timed`."""
    scheme, system = parse(integrator), top(chart)
    run = integrate(system, scheme, 0.02, 2.0)
    return Properties(
        integrator,
        chart,
        order=sweep(steps, axis_error(chart, integrator)).order,
        energy=relative_drift(run.energy()),
        momentum=vertical_drift(run),
        symplectic=np.nan if chart == "axis" else symplectic_defect(system, scheme, 0.05),
        position=float(run.position_residual().max()),
        momentum_constraint=float(run.velocity_residual()[1:].max()) if system.m else 0.0,
        velocity_constraint=largest(scheme_velocity_constraints(run)) if system.m else 0.0,
        singular="yes" if scheme.singular_mass else "no",
        cost=schemes.microseconds(lambda n: integrate(system, scheme, 0.02, n * 0.02), 100, 5)
        if timed
        else np.nan,
    )


def measure_global(k: int, multipliers: str) -> Properties:
    """Measure order and drifts of BG(k), which has no steps, over [0, 1]."""
    runs = {
        h: solve_global(top("alpha"), h, 1.0, k=k, multipliers=multipliers) for h in (1 / 16, 1 / 24, 1 / 32)
    }
    run = runs[1 / 32]
    rate = float(run.velocity_residual().max())
    return Properties(
        f"BG({k}), {multipliers}",
        "alpha",
        order=sweep_runs(runs, lambda run: float(np.linalg.norm(axis_of(run) - AXIS))).order,
        energy=relative_drift(run.hamiltonian()),
        momentum=vertical_drift(run),
        symplectic=np.nan,
        position=float(run.position_residual().max()),
        momentum_constraint=rate,
        velocity_constraint=rate,
        singular="no",
        cost=np.nan,
    )


def table(rows: Sequence[Properties]) -> str:
    """Format the rows as a Markdown table; values at round-off are set in bold."""
    head = "| integrator | chart | order | energy | momentum | two-form | g | G W p | G v | singular M | us/step |"
    return "\n".join([head, "|" + "---|" * 11, *map(line, rows)])


def line(row: Properties) -> str:
    """Format one row of the table."""
    drifts = (row.energy, row.momentum, row.symplectic, row.position)
    values = (*drifts, row.momentum_constraint, row.velocity_constraint)
    cells = [schemes.cell(value, ".0e", bold=value < 1e-12) for value in values]
    cells += [row.singular, schemes.cell(row.cost, ".0f")]
    return f"| {row.integrator} | {row.chart} | {row.order:.2f} | {' | '.join(cells)} |"


def write_top(path: str) -> None:
    """Measure all integrators on the top, and write the table to a page."""
    rows = schemes.shown((measure(*row) for row in ROWS), line)
    pairs = ((k, multipliers) for k in (1, 2, 3) for multipliers in ("continuous", "discontinuous"))
    rows += schemes.shown((measure_global(*pair) for pair in pairs), line)
    schemes.write_between(path, "table", table(rows))


def write_joined(path: str) -> None:
    """Measure all integrators on joined bodies, and write the table to a page."""
    rows = schemes.shown((joined_bodies.measure(*row) for row in joined_bodies.ROWS), schemes.line)
    schemes.write_between(path, "joined", schemes.table(rows))


def write_rods(path: str) -> None:
    """Measure all integrators on the rod models, and write the tables to a page."""

    def line(row: schemes.Properties) -> str:
        """Format one row after the name of its model."""
        return f"{row.model} {schemes.line(row, timed=True)}"

    rows = []
    for model in rods.MODELS:
        rows += schemes.shown((rods.measure(model, *row) for row in rods.ROWS), line)
        rows += schemes.shown((rods.measure_global(model, k) for k in rods.GLOBAL), line)
    schemes.write_between(path, "rods", schemes.table(rows, timed=True))


TABLES = {"top": write_top, "joined": write_joined, "rods": write_rods}


def main(path: str, *names: str) -> None:
    """Measure the tables called `names` (default: all), and write them between their marks in a page."""
    for name in names or TABLES:
        TABLES[name](path)


if __name__ == "__main__":
    main(*sys.argv[1:])
