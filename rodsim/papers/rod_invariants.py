"""Measure what every integrator conserves of rods: one in free flight, one hanging with a body at its end, one in a chain.

All three bend by large angles. The first and the last model are free, so that P and L are constant. The second hangs on a
spherical joint and conserves the angular momentum about the vertical through that joint.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple, cast

import numpy as np

from discretization.time.bubnov import solve_global
from discretization.time.em_names import em_integrator
from discretization.time.integrate import Trajectory, integrate
from discretization.time.integrators import parse
from discretization.time.promises import promises_of
from discretization.time.symplecticity import symplectic_defect
from rigid.inertia import Box
from rigid.mechanics.mechanical import SINGULAR_MASS, MechanicalSystem
from rigid.system import Floats
from rodsim.model import Model
from rodsim.papers.claims import observed_order
from rodsim.papers.joined_bodies import CHARTS, COLUMNS, relative_drift
from rodsim.parts.argument_types import ChartName, RodMass
from rodsim.parts.sections import Section
from rodsim.results.result import Result
from rodsim.simulation import simulate

H, STEPS, T_ORDER = 0.01, 16, 0.08
TIMED_ELEMENTS = 32


def spaghetti(n_elements: int = 4) -> Model:
    """Return a rod in free flight, released bent, that tumbles, bends and twists; its material is that of the flying spaghetti.

    Source: Simo, Vu-Quoc 1988. The moments of inertia differ from a flat section's, which has a singular mass in directors.
    """
    model = Model("spaghetti")
    section = Section.from_stiffness(
        EA=1e4, GA=1e4, GJ=500.0, EI=500.0, mass_per_length=1.0, inertia_per_length=(18.0, 11.0, 10.0)
    )
    model.add_rod(
        "rod",
        lambda s: (6.0 - 6.0 * s, 8.0 * s, 1.5 * np.sin(np.pi * s)),
        section,
        n_elements,
        stress_free=[(6, 0, 0), (0, 8, 0)],
        mass="lumped",
        velocity=lambda s: (3.0, 8.0 * (s - 0.4) ** 2, 6.0 * s - 9.0 * s * s),
        angular_velocity=(0.4, -0.3, -1.0),
    )
    return model


def _soft() -> Section:
    """Return the soft section of `pendulum` and `chain`."""
    return Section.from_stiffness(
        EA=3e3, GA=2e3, GJ=50, EI=(80, 60), mass_per_length=2.0, inertia_per_length=(0.5, 0.6, 0.7)
    )


def pendulum(n_elements: int = 3) -> Model:
    """Return a bent rod that swings about a spherical joint, with a body welded to its end."""
    model = Model("pendulum", gravity=(0, 0, -9.81))
    rod = model.add_rod(
        "rod",
        [(0, 0, 0), (0.8, 0.2, -0.4), (1.1, 0.9, -0.6)],
        _soft(),
        n_elements,
        mass="lumped",
        velocity=lambda s: (0.3 * s, -0.2 * s, 1.5 * s * s),
        angular_velocity=(0.2, 0.5, -1.0),
    )
    foot = model.add_body("foot", Box(0.3, 0.2, 0.1, density=100), position=(1.2, 1.0, -0.5))
    model.add_joint("root", "spherical", model.ground, rod.start, at=(0, 0, 0))
    model.add_joint("ankle", "weld", rod.end, foot)
    return model


def chain(n_elements: int = 3, mass: RodMass = "lumped") -> Model:
    """Return a free chain: bar, spherical joint, bent rod, revolute joint, bar; a spring ties the bars to each other."""
    model = Model("chain")
    ball = model.add_body("ball", Box(0.2, 0.3, 0.4, density=50), position=(-0.3, 0.1, 0.2))
    rod = model.add_rod(
        "rod",
        [(0, 0, 0), (0.7, 0.2, 0.1), (1.0, 0.9, 0)],
        _soft(),
        n_elements,
        mass=mass,
        velocity=lambda s: (0.3 * s, -0.2, 1.5 * s * s),
        angular_velocity=(0.2, 0.5, -1.0),
    )
    foot = model.add_body(
        "foot", Box(0.3, 0.2, 0.1, density=100), position=(1.1, 1.0, 0.1), angular_velocity=(1, 2, -1)
    )
    model.add_joint("hip", "spherical", rod.start, ball, at=(0, 0, 0))
    model.add_joint("ankle", "revolute", rod.end, foot, at=(1.0, 0.9, 0.0), axis=(0.2, 1, 0.3))
    model.add_spring("string", foot.at((0, 0.1, 0)), ball.at((0.1, 0, 0)), stiffness=40.0, length=1.0)
    return model


MODELS: dict[str, Callable[..., Model]] = {"spaghetti": spaghetti, "pendulum": pendulum, "chain": chain}

# integrator, chart ("cayley" is the chart of `em`), steps for the observed order
_FIRST, _SECOND = (1 / 800, 1 / 1600, 1 / 3200), (1 / 200, 1 / 400, 1 / 800)
_FOURTH, _SIXTH = (1 / 100, 1 / 150, 1 / 200), (1 / 75, 1 / 100, 1 / 150)
_FOURTH_COMPOSED, _SIXTH_COMPOSED = (1 / 200, 1 / 300, 1 / 400), (1 / 250, 1 / 375, 1 / 500)
ROWS: tuple[tuple[str, str, Sequence[float]], ...] = (
    ("em", "cayley", _SECOND),
    ("em4", "cayley", _FOURTH_COMPOSED),
    ("em6", "cayley", _SIXTH_COMPOSED),
    ("em-ggl", "cayley", _SECOND),
    ("em4-ggl", "cayley", _FOURTH_COMPOSED),
    ("em6-ggl", "cayley", _SIXTH_COMPOSED),
    ("EML", "singular", _SECOND),
    ("EML", "director", _SECOND),
    ("REML", "singular", _SECOND),
    ("Null-EML", "singular", _SECOND),
    ("EML-kappa", "singular", _SECOND),
    ("EML-kappa(order=4)", "singular", _FOURTH_COMPOSED),
    ("MPL", "singular", _SECOND),
    ("MPL", "director", _SECOND),
    ("MPH", "director", _SECOND),
    ("IMS", "gamma", _SECOND),
    ("EMH", "alpha", _SECOND),
    ("EMS", "gamma", _SECOND),
    ("EM-G", "director", _SECOND),
    ("VI-S", "director", _FIRST),
    ("VI-S", "gamma", _FIRST),
    ("VI-A(0.5)", "gamma", _SECOND),
    ("VI-B(1, 0.5)", "gamma", _FIRST),
    ("VI-B(0.5, 0.5)", "director", _SECOND),
    ("GGL-EM", "director", _SECOND),
    ("GGL-EM", "alpha", _SECOND),
    ("GGL-EM", "gamma", _SECOND),
    ("GGL-EM(order=4)", "alpha", _FOURTH_COMPOSED),
    ("mG(1)", "director", _SECOND),
    ("mG(1)", "gamma", _SECOND),
    ("mG(2, 2)", "director", _FOURTH),
    ("GL-SPARK(1)", "gamma", _SECOND),
    ("GL-SPARK(2)", "director", _FOURTH),
    ("GL-SPARK(2)", "gamma", _FOURTH),
    ("GL-SPARK(3)", "gamma", _SIXTH),
    ("Lobatto-IIIA-B(3)", "alpha", _FOURTH),
)
GLOBAL, _GLOBAL_STEPS = (1, 2), (1 / 200, 1 / 300, 1 / 400)  # degrees k of BG(k)
BEGIN, END = "<!-- rods: begin -->", "<!-- rods: end -->"


class RodProperties(NamedTuple):
    """One row of the table; energies relative to T at the start, momenta relative to their size, residuals absolute.

    nan: the quantity does not exist.
    """

    model: str
    integrator: str
    chart: str
    order: float  # observed order of the positions at `T_ORDER`
    hamiltonian: float  # T*(q, p) + V
    generalised: float  # p . v - T(q, v) + V
    linear: float  # linear momentum P
    angular: float  # angular momentum L, for the pendulum about the vertical
    symplectic: float
    position: float  # position residual |g(q)|
    momentum_constraint: float  # |G W p|
    velocity_constraint: float  # |G v| with the velocity v of the scheme
    iterations: float  # Newton iterations per step, for compositions per substep
    cost: float  # microseconds per element and step, with 32 elements


def promised(integrator: str, chart: str) -> frozenset[str]:
    """Return the names of the quantities that the integrator conserves for joined bodies and rods."""
    if integrator.startswith("BG"):
        return frozenset({"linear momentum"})
    return promises_of(integrator, chart)


def declared_order(integrator: str) -> int:
    """Return the declared order of the integrator."""
    own = em_integrator(integrator)
    return parse(integrator).order if own is None else own.order


@cache
def system(name: str, chart: str) -> MechanicalSystem:
    """Return one of the models in a chart of the table."""
    return MODELS[name]().mechanical_system(cast(ChartName, CHARTS.get(chart, chart)))


def positions(run: Trajectory | Result) -> Floats:
    """Return the positions (n,) of all nodes and centres of mass that move, at the end, m; all charts have them."""
    if isinstance(run, Trajectory):
        at = run.system.info["places"].position
        return np.concatenate([run.q[-1, k : k + 3] for k in at[at >= 0]])
    state = run.state(-1)
    moving = np.any(state.r != run.state(0).r, axis=1)
    return state.r[moving].ravel()


def velocities(run: Trajectory | Result) -> Floats:
    """Return the velocities (n,) of all nodes and centres of mass that move, at the end, m/s.

    They are computed from the momenta if the mass is regular; otherwise they are the velocities of the scheme.
    """
    if isinstance(run, Trajectory):
        model, at = run.system, run.system.info["places"].position
        own = run.scheme.singular_mass or model.has(SINGULAR_MASS)
        v = run.v[-1] if own else model.velocity(run.q[-1], run.p[-1])
        return np.concatenate([v[k : k + 3] for k in at[at >= 0]])
    state = run.state(-1)
    return state.v[np.any(state.r != run.state(0).r, axis=1)].ravel()


def run_of(name: str, integrator: str, chart: str, h: float, t_end: float) -> Trajectory | Result:
    """Run one of the models by an integrator: `simulate` for chart "cayley", else `integrate`."""
    if chart == "cayley":
        return simulate(MODELS[name](), t_end, h, integrator, output_every=1)
    return integrate(system(name, chart), parse(integrator), h, t_end)


@cache
def exact_end(name: str) -> tuple[Floats, Floats]:
    """Return positions, to 1e-13, and velocities at `T_ORDER`, by a scheme of order 6."""
    run = run_of(name, "em6-ggl", "cayley", T_ORDER / 160, T_ORDER)
    return positions(run), velocities(run)


def observed_orders(name: str, integrator: str, chart: str, steps: Sequence[float]) -> tuple[float, float]:
    """Return the observed orders of positions and velocities at `T_ORDER`."""
    runs = [run_of(name, integrator, chart, h, T_ORDER) for h in steps]
    of_r, of_v = (
        observed_order(steps, [float(np.abs(end(run) - exact).max()) for run in runs])
        for end, exact in zip((positions, velocities), exact_end(name), strict=True)
    )
    return of_r, of_v


def momentum_drifts(name: str, P: Floats, L: Floats) -> tuple[float, float]:
    """Return the drifts of P and L (N, 3), relative to their sizes; for the pendulum nan and that of L_z."""
    if name == "pendulum":
        P, L = np.full_like(P, np.nan), L[:, 2:]

    def drift(J: Floats) -> float:
        """Return the largest deviation of J (N, k) from its first row, relative to that row."""
        return float(np.abs(J - J[0]).max() / np.abs(J[0]).max())

    return drift(P), drift(L)


def _drifts(name: str, run: Trajectory) -> dict[str, float]:
    """Compute the drifts and residuals of a trajectory, by column of `RodProperties`."""
    model = run.system
    regular, size = not model.has(SINGULAR_MASS), float(run.kinetic()[0])
    P, L = (np.array([run.momentum(s) for s in model.symmetries if s.name[0] == letter]).T for letter in "PL")
    linear, angular = momentum_drifts(name, P, L)
    hidden = [model.rate(q, v) for q, v in zip(run.q[1:], run.v[1:], strict=True)]
    return {
        "hamiltonian": relative_drift(run.hamiltonian(), size) if regular else np.nan,
        "generalised": relative_drift(run.generalised_energy(), size),
        "linear": linear,
        "angular": angular,
        "position": float(run.position_residual().max()),
        "momentum_constraint": float(run.velocity_residual()[1:].max()) if regular else np.nan,
        "velocity_constraint": float(np.abs(hidden).max()),
    }


def _of_trajectory(name: str, integrator: str, chart: str) -> dict[str, float]:
    """Measure a model integrated by `integrate` in a chart, by column of `RodProperties`."""
    model, scheme = system(name, chart), parse(integrator)
    run = integrate(model, scheme, H, STEPS * H)
    return _drifts(name, run) | {
        "symplectic": symplectic_defect(model, scheme, H, steps=1, count=3),
        "iterations": float(run.iterations[1:].mean()) / len(scheme.fractions),
    }


def _of_result(name: str, integrator: str) -> dict[str, float]:
    """Measure a model simulated by an integrator of the `em` family, by column of `RodProperties`."""
    run = run_of(name, integrator, "cayley", H, STEPS * H)
    assert isinstance(run, Result)
    linear, angular = momentum_drifts(name, run.linear_momentum, run.angular_momentum)
    joined = len(run.joints) > 0
    rate = float(run.velocity_residual[1:].max()) if joined else np.nan
    return {
        "hamiltonian": relative_drift(run.energy["total"], float(run.energy["kinetic"][0])),
        "generalised": np.nan,
        "linear": linear,
        "angular": angular,
        "symplectic": np.nan,
        "position": float(run.constraint_residual.max()) if joined else np.nan,
        "momentum_constraint": rate,
        "velocity_constraint": rate,
        "iterations": float(run.newton_iterations[1:].mean()),
    }


def cost_of(name: str, integrator: str, chart: str) -> float:
    """Return microseconds per element and step with 32 elements.

    The difference of two runs excludes the cost of starting a run.
    """
    model, h = MODELS[name](TIMED_ELEMENTS), 0.1 * H
    more = 500 if chart == "cayley" else 10
    if chart == "cayley":

        def run(steps: int) -> None:
            simulate(model, steps * h, h, integrator, output_every=steps)
    else:
        built = model.mechanical_system(cast(ChartName, CHARTS.get(chart, chart)))

        def run(steps: int) -> None:
            integrate(built, parse(integrator), h, steps * h)

    seconds = np.full((2, 4), np.inf)
    for k in range(4):
        for which, steps in enumerate((1, 1 + more)):
            began = time.process_time()  # processor time of this process alone, whatever else runs
            run(steps)
            seconds[which, k] = time.process_time() - began
    return float(seconds[1].min() - seconds[0].min()) / (more * TIMED_ELEMENTS) * 1e6


def measure(name: str, integrator: str, chart: str, steps: Sequence[float] = ()) -> RodProperties:
    """Measure all properties of one integrator in one chart; order and cost only if `steps` for the order are given."""
    if chart == "cayley":
        found = _of_result(name, integrator)
    else:
        found = _of_trajectory(name, integrator, chart)
    order = observed_orders(name, integrator, chart, steps)[0] if steps else np.nan
    cost = cost_of(name, integrator, chart) if steps else np.nan
    return RodProperties(name, integrator, chart, order=order, cost=cost, **found)


def measure_global(name: str, k: int, steps: Sequence[float] = _GLOBAL_STEPS) -> RodProperties:
    """Measure BG(k) with continuous multipliers, which solves for all of [0, `T_ORDER`] at once; drifts at the smallest h."""
    model = system(name, "alpha")
    runs = [solve_global(model, h, T_ORDER, k=k) for h in steps]
    errors = [np.abs(positions(run) - exact_end(name)[0]).max() for run in runs]
    found = _drifts(name, runs[-1])
    order = observed_order(steps, errors) if len(steps) > 1 else np.nan
    return RodProperties(
        name, f"BG({k})", "alpha", order=order, symplectic=np.nan, iterations=np.nan, cost=np.nan, **found
    )


def table(rows: Sequence[RodProperties]) -> str:
    """Format the rows as Markdown tables, one per model; quantities that an integrator promises to conserve are set in bold."""
    head = "| integrator | chart | order | T* + V | p . v - T + V | P | L | two-form | g | G W p | G v | iterations | us |"
    lines = []
    for name in dict.fromkeys(row.model for row in rows):
        lines += [f"**{name}**", "", head, "|" + "---|" * 13]
        lines += [line(row) for row in rows if row.model == name]
        lines.append("")
    return "\n".join(lines[:-1])


def line(row: RodProperties) -> str:
    """Format one row of a table."""
    kept = promised(row.integrator, row.chart)
    cells = []
    for promise, column in COLUMNS.items():
        value = getattr(row, column)
        text = "" if np.isnan(value) else f"{value:.0e}"
        cells.append(f"**{text}**" if text and promise in kept else text)
    rest = (
        (row.velocity_constraint, ".0e"),
        (row.iterations, ".1f"),
        (row.cost, ".2g" if row.cost < 10 else ".0f"),
    )
    cells += ["" if np.isnan(value) else f"{value:{form}}" for value, form in rest]
    return f"| {row.integrator} | {row.chart} | {row.order:.2f} | {' | '.join(cells)} |"
