"""Measure what every integrator conserves of rods: one in free flight, one hanging with a body at its end, one in a chain.

All three bend by large angles. The first and the last model are free, so that P and L are constant. The second hangs on a
spherical joint and conserves the angular momentum about the vertical through that joint.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from discretization.time.bubnov import solve_global
from discretization.time.integrate import Trajectory, integrate
from discretization.time.integrators import parse
from discretization.time.symplecticity import symplectic_defect
from rigid.inertia import Box
from rigid.mechanics.mechanical_system import SINGULAR_MASS, MechanicalSystem
from rigid.system import Floats
from rodsim.components.argument_types import RodMass
from rodsim.components.sections import Section
from rodsim.model import Model
from rodsim.papers import scheme_properties
from rodsim.papers.claims import drift, largest, observed_order, sweep_runs
from rodsim.papers.scheme_properties import (
    Properties,
    energies_and_residuals,
    in_chart,
    microseconds,
    momenta,
    rows,
    vector_drift,
)
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

INTEGRATORS = {
    "cayley": ("em", "em4", "em6", "em-ggl", "em4-ggl", "em6-ggl"),  # the chart of `em`
    "singular": ("EML", "REML", "Null-EML", "EML-kappa", "EML-kappa(order=4)", "MPL"),
    "alpha": ("EMH", "GGL-EM", "GGL-EM(order=4)", "Lobatto-IIIA-B(3)"),
    "gamma": (
        *("IMS", "EMS", "VI-S", "VI-A(0.5)", "VI-B(1, 0.5)", "GGL-EM", "mG(1)"),
        *("GL-SPARK(1)", "GL-SPARK(2)", "GL-SPARK(3)"),
    ),
    "director": (
        *(
            "EML",
            "MPL",
            "MPH",
            "EM-G",
            "VI-S",
            "VI-B(0.5, 0.5)",
            "GGL-EM",
            "mG(1)",
            "mG(2, 2)",
            "GL-SPARK(2)",
        ),
    ),
}
_FOURTH_COMPOSED, _SIXTH_COMPOSED = (1 / 200, 1 / 300, 1 / 400), (1 / 250, 1 / 375, 1 / 500)
ROWS = rows(
    INTEGRATORS,
    {
        1: (1 / 800, 1 / 1600, 1 / 3200),
        2: (1 / 200, 1 / 400, 1 / 800),
        4: (1 / 100, 1 / 150, 1 / 200),
        6: (1 / 75, 1 / 100, 1 / 150),
        **dict.fromkeys(("em4", "em4-ggl", "EML-kappa(order=4)", "GGL-EM(order=4)"), _FOURTH_COMPOSED),
        **dict.fromkeys(("em6", "em6-ggl"), _SIXTH_COMPOSED),
    },
)
GLOBAL, _GLOBAL_STEPS = (1, 2), (1 / 200, 1 / 300, 1 / 400)  # degrees k of BG(k)


@cache
def system(name: str, chart: str) -> MechanicalSystem:
    """Return one of the models in a chart of the table."""
    return in_chart(MODELS[name](), chart)


def positions(run: Trajectory | Result) -> Floats:
    """Return the positions (n,) of all nodes and centres of mass that move, at the end, m; all charts have them."""
    if isinstance(run, Trajectory):
        return scheme_properties.positions(run)
    return run.state(-1).r[_moving(run)].ravel()


def velocities(run: Trajectory | Result) -> Floats:
    """Return the velocities (n,) of all nodes and centres of mass that move, at the end, m/s.

    They are computed from the momenta if the mass is regular; otherwise they are the velocities of the scheme.
    """
    if isinstance(run, Trajectory):
        model, at = run.system, run.system.info["places"].position
        from_scheme = run.scheme.singular_mass or model.has(SINGULAR_MASS)
        v = run.v[-1] if from_scheme else model.velocity(run.q[-1], run.p[-1])
        return np.concatenate([v[k : k + 3] for k in at[at >= 0]])
    return run.state(-1).v[_moving(run)].ravel()


def _moving(run: Result) -> np.ndarray:
    """Return which frames of a result move (n,), bool."""
    moving: np.ndarray = np.any(run.state(-1).r != run.state(0).r, axis=1)
    return moving


def run_of(name: str, integrator: str, chart: str, h: float, t_end: float) -> Trajectory | Result:
    """Run one of the models by an integrator: `simulate` for chart "cayley", else `integrate`."""
    if chart == "cayley":
        return simulate(MODELS[name](), t_end, h, integrator, output_every=1)
    return integrate(system(name, chart), integrator, h, t_end)


@cache
def exact_end(name: str) -> tuple[Floats, Floats]:
    """Return positions, to 1e-13, and velocities at `T_ORDER`, by a scheme of order 6."""
    run = run_of(name, "em6-ggl", "cayley", T_ORDER / 160, T_ORDER)
    return positions(run), velocities(run)


def observed_orders(name: str, integrator: str, chart: str, steps: Sequence[float]) -> tuple[float, float]:
    """Return the observed orders of positions and velocities at `T_ORDER`."""
    runs = {h: run_of(name, integrator, chart, h, T_ORDER) for h in steps}
    r, v = exact_end(name)
    return (
        sweep_runs(runs, lambda run: largest(positions(run) - r)).order,
        sweep_runs(runs, lambda run: largest(velocities(run) - v)).order,
    )


def momentum_drifts(name: str, P: Floats, L: Floats) -> dict[str, float]:
    """Return the drifts of P and L (N, 3), relative to their sizes, by column; for the pendulum nan and that of L_z."""
    if name == "pendulum":
        return {"linear": np.nan, "angular": vector_drift(L[:, 2:])}
    return {"linear": vector_drift(P), "angular": vector_drift(L)}


def _drifts(name: str, run: Trajectory) -> dict[str, float]:
    """Compute the drifts and residuals of a trajectory, by column of `Properties`."""
    return momentum_drifts(name, *momenta(run)) | energies_and_residuals(run, float(run.kinetic()[0]))


def _of_trajectory(name: str, integrator: str, chart: str) -> dict[str, float]:
    """Measure a model integrated by `integrate` in a chart, by column of `Properties`."""
    model, scheme = system(name, chart), parse(integrator)
    run = integrate(model, scheme, H, STEPS * H)
    return _drifts(name, run) | {
        "symplectic": symplectic_defect(model, scheme, H, steps=1, count=3),
        "iterations": float(run.iterations[1:].mean()) / len(scheme.fractions),
    }


def _of_result(name: str, integrator: str) -> dict[str, float]:
    """Measure a model simulated by an integrator of the `em` family, by column of `Properties`."""
    run = run_of(name, integrator, "cayley", H, STEPS * H)
    assert isinstance(run, Result)
    joined = len(run.joints) > 0
    rate = float(run.velocity_residual[1:].max()) if joined else np.nan
    return momentum_drifts(name, run.linear_momentum, run.angular_momentum) | {
        "hamiltonian": drift(run.energy["total"]) / float(run.energy["kinetic"][0]),
        "generalised": np.nan,
        "symplectic": np.nan,
        "position": float(run.constraint_residual.max()) if joined else np.nan,
        "momentum_constraint": rate,
        "velocity_constraint": rate,
        "iterations": float(run.newton_iterations[1:].mean()),
    }


def cost_of(name: str, integrator: str, chart: str) -> float:
    """Return microseconds per element and step with 32 elements."""
    model, h = MODELS[name](TIMED_ELEMENTS), 0.1 * H
    if chart == "cayley":
        cost = microseconds(lambda n: simulate(model, n * h, h, integrator, output_every=n), 500, 4)
    else:
        built = in_chart(model, chart)
        cost = microseconds(lambda n: integrate(built, integrator, h, n * h), 10, 4)
    return cost / TIMED_ELEMENTS


def measure(name: str, integrator: str, chart: str, steps: Sequence[float] = ()) -> Properties:
    """Measure all properties of one integrator in one chart; order and cost only if `steps` for the order are given.

    Energies are relative to the kinetic energy at the start, momenta to their size.
    """
    measured = _of_result(name, integrator) if chart == "cayley" else _of_trajectory(name, integrator, chart)
    order = observed_orders(name, integrator, chart, steps)[0] if steps else np.nan
    cost = cost_of(name, integrator, chart) if steps else np.nan
    return Properties(integrator, chart, name, order=order, cost=cost, **measured)


def measure_global(name: str, k: int, steps: Sequence[float] = _GLOBAL_STEPS) -> Properties:
    """Measure BG(k) with continuous multipliers, which solves for all of [0, `T_ORDER`] at once; drifts at the smallest h."""
    model = system(name, "alpha")
    runs = [solve_global(model, h, T_ORDER, k=k) for h in steps]
    errors = [largest(positions(run) - exact_end(name)[0]) for run in runs]
    return Properties(
        f"BG({k})",
        "alpha",
        name,
        order=observed_order(steps, errors) if len(steps) > 1 else np.nan,
        symplectic=np.nan,
        iterations=np.nan,
        **_drifts(name, runs[-1]),
    )
