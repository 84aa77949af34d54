"""Measure what every integrator conserves of joined bodies: a chain of three asymmetric bodies with joints off their axes.

The chain hangs from the ground by a spherical joint, with a second spherical joint, a revolute joint, a spring and oblique
gravity. It shows energies, constraints and the order. Free in space, without gravity and ground, it shows all momenta.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple, cast

import numpy as np

from discretization.time.integrate import Trajectory, integrate
from discretization.time.integrators import parse
from discretization.time.scheme import Scheme
from discretization.time.symplecticity import symplectic_defect
from rigid.inertia import Box
from rigid.mechanics.mechanical import MechanicalSystem
from rigid.system import Floats
from rodsim.model import Model
from rodsim.papers.claims import observed_order
from rodsim.parts.argument_types import ChartName

# chart in the table -> chart of a model
CHARTS = {"singular": "quaternion", "alpha": "quaternion-alpha", "gamma": "quaternion-gamma"}
H, STEPS = 0.02, 50

# integrator, chart; steps for the observed order
_SECOND, _FIRST = (1 / 200, 1 / 400, 1 / 800), (1 / 800, 1 / 1600, 1 / 3200)
_FOURTH, _SIXTH = (1 / 40, 1 / 60, 1 / 80), (1 / 20, 1 / 30, 1 / 40)
ROWS: tuple[tuple[str, str, Sequence[float]], ...] = (
    ("EML", "singular", _SECOND),
    ("EML", "director", _SECOND),
    ("REML", "singular", _SECOND),
    ("Null-EML", "singular", _SECOND),
    ("EML-kappa", "singular", _SECOND),
    ("MPL", "singular", _SECOND),
    ("MPL", "director", _SECOND),
    ("EML(order=4)", "singular", _FOURTH),
    ("EML-kappa(order=6)", "singular", _SIXTH),
    ("MPH", "alpha", _SECOND),
    ("MPH", "director", _SECOND),
    ("IMS", "gamma", _SECOND),
    ("EMH", "alpha", _SECOND),
    ("EMS", "gamma", _SECOND),
    ("EM-G", "director", _SECOND),
    ("EM-G(order=4)", "director", _FOURTH),
    ("VI-S", "director", _FIRST),
    ("VI-S", "gamma", _FIRST),
    ("VI-A(0.5)", "director", _SECOND),
    ("VI-A(0.5)", "gamma", _SECOND),
    ("VI-B(1, 0.5)", "director", _FIRST),
    ("VI-B(1, 0.5)", "gamma", _FIRST),
    ("VI-B(0.5, 0.5)", "director", _SECOND),
    ("VI-B(0.5, 0.5)", "gamma", _SECOND),
    ("GGL-EM", "director", _SECOND),
    ("GGL-EM", "alpha", _SECOND),
    ("GGL-EM(order=4)", "director", _FOURTH),
    ("mG(1)", "director", _SECOND),
    ("mG(1)", "gamma", _SECOND),
    ("mG(2)", "director", _FOURTH),
    ("mG(2)", "gamma", _FOURTH),
    ("mG(2, 2)", "director", _FOURTH),
    ("mG(2, 2)", "gamma", _FOURTH),
    ("GL-SPARK(1)", "gamma", _SECOND),
    ("GL-SPARK(2)", "director", _FOURTH),
    ("GL-SPARK(2)", "gamma", _FOURTH),
    ("GL-SPARK(3)", "gamma", _SIXTH),
    ("Lobatto-IIIA-B(2)", "director", _SECOND),
    ("Lobatto-IIIA-B(3)", "gamma", _FOURTH),
)


class JoinedProperties(NamedTuple):
    """One row of the table; drifts of energies and momenta relative to the sizes of their terms, residuals absolute."""

    integrator: str
    chart: str
    order: float  # observed order of the positions at t = 0.1
    hamiltonian: float  # T*(q, p) + V, nan if the mass is singular
    generalised: float  # p . v - T(q, v) + V
    linear: float  # linear momentum P of the free chain
    angular: float  # angular momentum L of the free chain
    symplectic: float
    position: float  # position residual |g(q)|
    momentum_constraint: float  # |G W p|, nan if the mass is singular
    velocity_constraint: float  # |G v| with the velocity v of the scheme
    iterations: float  # mean number of Newton iterations per step, for compositions per substep


# promise -> column
COLUMNS = {
    "energy": "hamiltonian",
    "generalised energy": "generalised",
    "linear momentum": "linear",
    "angular momentum": "angular",
    "symplectic": "symplectic",
    "position": "position",
    "velocity": "momentum_constraint",
}
BEGIN, END = "<!-- joined: begin -->", "<!-- joined: end -->"


def chain(free: bool = False) -> Model:
    """Return the chain.

    `free`: True for a chain that flies and rotates in space, without gravity and root joint; the spring then ties the first body,
    instead of the ground, to the third.
    """
    model = Model("free chain" if free else "chain", gravity=(0, 0, 0) if free else (1.5, -2.0, -9.0))
    shapes = (Box(1, 0.3, 0.2, density=20), Box(0.8, 0.2, 0.4, density=20), Box(0.6, 0.3, 0.15, density=30))
    turns = ((0.5, 1.0, 3.0), (1.0, -2.0, 0.5), (-1.0, 0.5, 2.0))
    first, second, third = (
        model.add_body(
            name,
            shape,
            position=(x, 0, 0),
            velocity=(0.3, 0, 1) if free and name == "first" else (0, 0, 0),
            angular_velocity=turn,
        )
        for name, shape, x, turn in zip(
            ("first", "second", "third"), shapes, (0.5, 1.4, 2.1), turns, strict=True
        )
    )
    if not free:
        model.add_joint("root", "spherical", a=model.ground, b=first, at=(0, 0.1, 0.05))
    model.add_joint("knee", "spherical", a=first, b=second, at=(1.0, 0.1, -0.05))
    model.add_joint("ankle", "revolute", a=second, b=third, at=(1.8, -0.08, 0.1), axis=(0.2, 1, 0.3))
    anchor = first.at((0, 0.1, 0.1)) if free else model.ground.at((1, 1, 1))
    model.add_spring("cord", anchor, third.at((0.3, 0.1, 0)), stiffness=40.0)
    return model


@cache
def system(chart: str, free: bool = False) -> MechanicalSystem:
    """Return the chain in a chart of the table: singular, alpha, gamma or director."""
    return chain(free).mechanical_system(cast(ChartName, CHARTS.get(chart, chart)))


def positions(run: Trajectory) -> Floats:
    """Return the centres of mass at the end, (9,), the coordinates that all charts have."""
    at = run.system.info["places"].position
    return np.concatenate([run.q[-1, k : k + 3] for k in at[at >= 0]])


@cache
def exact_positions() -> Floats:
    """Return the positions at t = 0.1, to 1e-13, by a scheme of order 6."""
    return positions(integrate(system("gamma"), "GL-SPARK(3)", 1 / 640, 0.1))


def relative_drift(values: Floats, size: float) -> float:
    """Return the largest departure from the first value, in units of `size`."""
    return float(np.abs(values - values[0]).max() / size)


def momentum_drifts(integrator: str, chart: str) -> tuple[float, float]:
    """Return the drifts of P and of L of the free chain, relative to their values."""
    run = integrate(system(chart, free=True), parse(integrator), H, STEPS * H)
    drifts = []
    for letter in "PL":
        J = np.array([run.momentum(s) for s in run.system.symmetries if s.name[0] == letter])
        drifts.append(float(np.abs(J.T - J[:, 0]).max() / np.abs(J[:, 0]).max()))
    return drifts[0], drifts[1]


def order_of_positions(integrator: str, chart: str, steps: Sequence[float]) -> float:
    """Return the order of the positions observed at t = 0.1."""
    hanging, scheme = system(chart), parse(integrator)
    errors = [np.abs(positions(integrate(hanging, scheme, h, 0.1)) - exact_positions()).max() for h in steps]
    return observed_order(steps, errors)


def promised(scheme: Scheme, chart: str) -> frozenset[str]:
    """Return the names of the quantities that the scheme conserves for joined bodies in a chart of the table."""
    return scheme.joined.directors if chart == "director" else scheme.joined.quaternions


def measure(integrator: str, chart: str, steps: Sequence[float] = ()) -> JoinedProperties:
    """Measure all properties of one integrator in one chart; the order only if `steps` for it are given."""
    scheme, hanging = parse(integrator), system(chart)
    run = integrate(hanging, scheme, H, STEPS * H)
    size = float(np.ptp(run.potential()))  # energy that potential and kinetic energy exchange
    regular = chart != "singular"
    hidden = [hanging.jacobian(q) @ v for q, v in zip(run.q[1:], run.v[1:], strict=True)]
    linear, angular = momentum_drifts(integrator, chart)
    return JoinedProperties(
        integrator,
        chart,
        order_of_positions(integrator, chart, steps) if steps else np.nan,
        relative_drift(run.hamiltonian(), size) if regular else np.nan,
        relative_drift(run.generalised_energy(), size),
        linear,
        angular,
        symplectic_defect(hanging, scheme, H),
        float(run.position_residual().max()),
        float(run.velocity_residual()[1:].max()) if regular else np.nan,
        float(np.abs(hidden).max()),
        float(run.iterations[1:].mean()) / len(scheme.fractions),
    )


def table(rows: Sequence[JoinedProperties]) -> str:
    """Format the rows as a Markdown table; quantities that a scheme promises to conserve are set in bold."""
    head = "| integrator | chart | order | T* + V | p . v - T + V | P | L | two-form | g | G W p | G v | iterations |"
    lines = [head, "|" + "---|" * 12]
    for row in rows:
        kept = promised(parse(row.integrator), row.chart)
        cells = []
        for promise, column in COLUMNS.items():
            value = getattr(row, column)
            text = "" if np.isnan(value) else f"{value:.0e}"
            cells.append(f"**{text}**" if text and promise in kept else text)
        cells.append(f"{row.velocity_constraint:.0e}")
        lines.append(
            f"| {row.integrator} | {row.chart} | {row.order:.2f} | {' | '.join(cells)} | {row.iterations:.1f} |"
        )
    return "\n".join(lines)
