"""Measure what every integrator conserves, its order and its cost, for a heavy top with nutation, joined bodies, and rods.

`python -m rodsim.papers.properties docs/integrators.md` writes the tables in docs/integrators.md. The name of a table
(top, joined, rods) after the page writes only that table.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from discretization.time.bubnov import solve_global
from discretization.time.integrate import Trajectory, integrate
from discretization.time.integrators import parse
from discretization.time.symplecticity import symplectic_defect
from rigid import quaternions
from rigid.charts.multibody import rotating_body
from rigid.mechanics.mechanical import MechanicalSystem
from rigid.symbolic.lagrange_top import lagrange_top
from rigid.system import Floats
from rodsim.papers import joined_bodies
from rodsim.papers import rod_invariants as rods
from rodsim.papers.claims import observed_order

# Exact axis of the top (A = mgl = 1, C = 1/2, theta0 = pi/4, Omega0 = (0, 0.3, 5)) at t = 1, by elliptic functions.
AXIS = np.array([0.30736818246313608, -0.65020445518572365, 0.69480858289599775])
_START = quaternions.from_axis_angle((1.0, 0.0, 0.0), np.pi / 4)

# integrator, chart; steps for the observed order
_SECOND, _FIRST = (1 / 64, 1 / 128, 1 / 256), (1 / 256, 1 / 512, 1 / 1024)
_FOURTH, _SIXTH, _EIGHTH = (1 / 16, 1 / 32, 1 / 64), (1 / 24, 1 / 32, 1 / 48), (1 / 6, 1 / 8, 1 / 12)
ROWS: tuple[tuple[str, str, Sequence[float]], ...] = (
    ("EML", "singular", _SECOND),
    ("REML", "singular", _SECOND),
    ("Null-EML", "singular", _SECOND),
    ("EML-kappa", "singular", _SECOND),
    ("MPL", "singular", _SECOND),
    ("EML(order=4)", "singular", _FOURTH),
    ("EML-kappa(order=6)", "singular", _SIXTH),
    ("MPH", "alpha", _SECOND),
    ("IMS", "gamma", _SECOND),
    ("EMH", "alpha", _SECOND),
    ("EMS", "gamma", _SECOND),
    ("EMS(order=6)", "gamma", (1 / 16, 1 / 24, 1 / 32)),
    ("EM-G", "director", _SECOND),
    ("VI-S", "director", _FIRST),
    ("VI-S", "alpha", _FIRST),
    ("VI-A(0.5)", "director", _SECOND),
    ("VI-A(0.5)", "alpha", _SECOND),
    ("VI-B(1, 0.5)", "director", _FIRST),
    ("VI-B(1, 0.5)", "alpha", _FIRST),
    ("VI-B(0.5, 0.5)", "director", _SECOND),
    ("VI-B(0.3, 0.4)", "director", _FIRST),
    ("VI-A(order=4)", "gamma", _FOURTH),
    ("GGL-EM", "director", _SECOND),
    ("GGL-EM", "alpha", _SECOND),
    ("GGL-EM(order=4)", "director", _FOURTH),
    ("mG(1)", "alpha", _SECOND),
    ("mG(2)", "alpha", _FOURTH),
    ("mG(3)", "alpha", _SIXTH),
    ("mG(4)", "alpha", _EIGHTH),
    ("mG(1)", "director", _SECOND),
    ("mG(2)", "director", _FOURTH),
    ("mG(2, 2)", "alpha", _FOURTH),
    ("mG(2, 2)", "director", _FOURTH),
    ("GL-SPARK(1)", "gamma", _SECOND),
    ("GL-SPARK(2)", "gamma", _FOURTH),
    ("GL-SPARK(3)", "gamma", _SIXTH),
    ("GL-SPARK(2)", "director", _FOURTH),
    ("GL-SPARK(2, order=6)", "gamma", (1 / 8, 1 / 12, 1 / 16)),
    ("Lobatto-IIIA-B(2)", "gamma", _SECOND),
    ("Lobatto-IIIA-B(3)", "gamma", _FOURTH),
    ("Lobatto-IIIA-B(4)", "gamma", _SIXTH),
    ("BS99", "axis", _FIRST),
)


class Properties(NamedTuple):
    """One row of the table; drifts are relative, residuals absolute, over t = 2 with h = 0.02."""

    integrator: str
    chart: str
    order: float
    energy: float
    momentum: float
    symplectic: float  # change of the two-form, nan if it does not apply
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
    return lambda h: float(np.linalg.norm(axis_of(integrate(top(chart), parse(integrator), h, 1.0)) - AXIS))


def measure(integrator: str, chart: str, steps: Sequence[float], timed: bool = True) -> Properties:
    """Measure all properties of one integrator in one chart; the cost only if `timed`."""
    scheme, system = parse(integrator), top(chart)
    error = axis_error(chart, integrator)
    order = observed_order(steps, [error(h) for h in steps])
    run = integrate(system, scheme, 0.02, 2.0)
    energy = run.energy()
    vertical = next(s for s in system.symmetries if s.name == "Lz")
    L = run.momentum(vertical)
    hidden = (
        [system.jacobian(q) @ v for q, v in zip(run.q[1:], run.v[1:], strict=True)]
        if system.m
        else [np.zeros(1)]
    )
    cost = np.nan
    if timed:
        seconds = np.full((2, 5), np.inf)
        for which, steps_taken in enumerate((1, 101)):  # the difference excludes the cost of starting
            for k in range(5):
                began = time.process_time()
                integrate(system, scheme, 0.02, steps_taken * 0.02)
                seconds[which, k] = time.process_time() - began
        cost = float(seconds[1].min() - seconds[0].min()) / 100 * 1e6
    return Properties(
        integrator,
        chart,
        order,
        float(np.abs(energy - energy[0]).max() / abs(energy[0])),
        float(np.abs(L - L[0]).max() / abs(L[0])),
        np.nan if chart == "axis" else symplectic_defect(system, scheme, 0.05),
        float(run.position_residual().max()),
        float(run.velocity_residual()[1:].max()) if system.m else 0.0,
        float(np.abs(hidden).max()),
        "yes" if scheme.singular_mass else "no",
        cost,
    )


def measure_global(k: int, multipliers: str) -> Properties:
    """Measure order and drifts of BG(k), which has no steps, over [0, 1]."""
    system = top("alpha")
    errors, steps = [], [1 / 16, 1 / 24, 1 / 32]
    for h in steps:
        run = solve_global(system, h, 1.0, k=k, multipliers=multipliers)
        errors.append(float(np.linalg.norm(axis_of(run) - AXIS)))
    energy = run.hamiltonian()
    L = run.momentum(next(s for s in system.symmetries if s.name == "Lz"))
    return Properties(
        f"BG({k}), {multipliers}",
        "alpha",
        observed_order(steps, errors),
        float(np.abs(energy - energy[0]).max() / abs(energy[0])),
        float(np.abs(L - L[0]).max() / abs(L[0])),
        np.nan,
        float(run.position_residual().max()),
        float(run.velocity_residual().max()),
        float(run.velocity_residual().max()),
        "no",
        np.nan,
    )


def table(rows: Sequence[Properties]) -> str:
    """Format the rows as a Markdown table; values at round-off are set in bold."""
    head = "| integrator | chart | order | energy | momentum | two-form | g | G W p | G v | singular M | us/step |"
    lines = [head, "|" + "---|" * 11]

    def cell(value: float) -> str:
        """Format a value, in bold at round-off; empty for nan."""
        if np.isnan(value):
            return ""
        return f"**{value:.0e}**" if value < 1e-12 else f"{value:.0e}"

    for row in rows:
        drifts = (row.energy, row.momentum, row.symplectic, row.position)
        cells = [cell(x) for x in (*drifts, row.momentum_constraint, row.velocity_constraint)]
        cost = "" if np.isnan(row.cost) else f"{row.cost:.0f}"
        cells += [row.singular, cost]
        lines.append(f"| {row.integrator} | {row.chart} | {row.order:.2f} | {' | '.join(cells)} |")
    return "\n".join(lines)


BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"


def write_between(path: str, begin: str, end: str, lines: str) -> None:
    """Replace the text between two marks of a page by `lines`."""
    page = Path(path)
    before, rest = page.read_text().split(begin)
    _, after = rest.split(end)
    page.write_text(f"{before}{begin}\n\n{lines}\n\n{end}{after}")


def write_top(path: str) -> None:
    """Measure all integrators on the top, and write the table to a page."""
    rows = []
    for integrator, chart, steps in ROWS:
        rows.append(measure(integrator, chart, steps))
        print(table(rows[-1:]).splitlines()[-1], flush=True)
    for k in (1, 2, 3):
        for multipliers in ("continuous", "discontinuous"):
            rows.append(measure_global(k, multipliers))
            print(table(rows[-1:]).splitlines()[-1], flush=True)
    write_between(path, BEGIN, END, table(rows))


def write_joined(path: str) -> None:
    """Measure all integrators on joined bodies, and write the table to a page."""
    rows = []
    for row in joined_bodies.ROWS:
        rows.append(joined_bodies.measure(*row))
        print(joined_bodies.table(rows[-1:]).splitlines()[-1], flush=True)
    write_between(path, joined_bodies.BEGIN, joined_bodies.END, joined_bodies.table(rows))


def write_rods(path: str) -> None:
    """Measure all integrators on the rod models, and write the tables to a page."""
    rows = []
    for model in rods.MODELS:
        for row in rods.ROWS:
            rows.append(rods.measure(model, *row))
            print(model, rods.line(rows[-1]), flush=True)
        for k in rods.GLOBAL:
            rows.append(rods.measure_global(model, k))
            print(model, rods.line(rows[-1]), flush=True)
    write_between(path, rods.BEGIN, rods.END, rods.table(rows))


TABLES = {"top": write_top, "joined": write_joined, "rods": write_rods}


def main(path: str, *names: str) -> None:
    """Measure the tables called `names` (default: all), and write them between their marks in a page."""
    for name in names or TABLES:
        TABLES[name](path)


if __name__ == "__main__":
    main(*sys.argv[1:])
