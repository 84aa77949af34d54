"""Study of the mathematical pendulum in three dimensions, a point mass on the unit sphere: 002 sec. 6.1."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import sympy as sp

from discretization.time.integrate import Trajectory, integrate
from rigid.errors import ConvergenceError
from rigid.mechanics.mechanical_system import MechanicalSystem
from rigid.symbolic.systems import symbolic_system
from rigid.system import Floats
from rodsim.papers.claims import (
    Convergence,
    Line,
    Study,
    curves,
    drift,
    largest,
    named,
    scheme_velocity_constraints,
    sweep_runs,
)

NAME = "pendulum"
SCHEMES = ("VI-S", "VI-A", "VI-B", "GGL-EM")
H, T_END = 0.05, 10.0

# Exact motion at t = 2, by elliptic functions.
EXACT_T = 2.0
EXACT_Q = np.array([0.57925115720168228, 0.58824671673255091, -0.56429947468864967])
EXACT_P = np.array([0.42625034023332965, 2.1592367103600091, 2.6884127602501748])

# Results of the authors' program (metis) at t = 0.5, 5, 10: q, p, v, (lambda, gamma); v belongs to the step that follows.
PUBLISHED = {
    0.5: (
        (0.188991915879, 0.274180493446, -0.942924765157),
        (-4.13132481017, -0.702298161394, -1.03225992507),
        (-4.41473301238, -1.11345331777, -0.1087702776),
        (28.0872140489, 0.508388136472),
    ),
    5.0: (
        (-0.717369812148, 0.299022421733, -0.629258407906),
        (1.36879711853, -1.96453907787, -2.49400714353),
        (2.13241279815, -2.2828382395, -2.31468304629),
        (17.1678656055, 0.315652821317),
    ),
    10.0: (
        (-0.000275507553253, 0.627294238089, -0.778782294969),
        (-1.59545765021, 2.98137413082, 2.40200423991),
        None,
        (26.6865342838, 0.466183754417),
    ),
}


class Method(NamedTuple):
    """An integrator, the order expected of it, and the numbers of steps that show it."""

    label: str
    order: int
    steps: tuple[int, ...]

    @property
    def family(self) -> str:
        """Name without parameters."""
        return self.label.partition("(")[0]


_FINE, _MIDDLE, _COARSE = (1600, 3200, 6400, 12800), (200, 400, 800), (40, 80, 160)
THETA_METHODS = (
    Method("VI-S", 1, _FINE),
    Method("VI-A(0.5)", 2, _MIDDLE),
    Method("VI-B(1, 0.5)", 1, _FINE),
    Method("VI-B(1, 0.25)", 1, _FINE),
    Method("VI-B(0.25, 0.5)", 1, _FINE),
    Method("VI-B(0.5, 0.5)", 2, _MIDDLE),
    Method("GGL-EM", 2, _MIDDLE),
)
HIGH_ORDER = (
    Method("mG(1)", 2, _MIDDLE),
    Method("mG(2)", 4, _COARSE),
    Method("mG(3)", 6, _COARSE),
    Method("mG(4)", 8, (20, 40, 60)),
    Method("GL-SPARK(1)", 2, _MIDDLE),
    Method("GL-SPARK(2)", 4, _COARSE),
    Method("GL-SPARK(3)", 6, _COARSE),
    Method("GL-SPARK(4)", 8, (20, 30, 40)),
    Method("Lobatto-IIIA-B(2)", 2, _MIDDLE),
    Method("Lobatto-IIIA-B(3)", 4, _COARSE),
    Method("Lobatto-IIIA-B(4)", 6, _COARSE),
)


@cache
def pendulum() -> MechanicalSystem:
    """Return the pendulum with m = l = 1, g = 9.81: 002 (92)-(98)."""
    q = sp.symbols("q1:4")
    spin = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 0]])  # spin @ q = e3 x q
    return symbolic_system(
        "pendulum",
        q,
        q0=[1, 0, 0],
        v0=[0, 1, 0],
        M=np.eye(3),
        V=sp.Float(9.81) * q[2],
        g=[(sum(x**2 for x in q) - 1) / 2],
        symmetries={"J3": spin},
    )


def scheme_velocity_residual(run: Trajectory) -> Floats:
    """Return |G(q) v| with the velocity v of the scheme (N,), as in 002 (82e); `velocity_residual` uses M^-1 p instead."""
    return np.abs(scheme_velocity_constraints(run)).max(axis=1)


def oscillation(values: Floats) -> float:
    """Return the size of the part that alternates from step to step: the fourth difference over 16, small for a smooth curve."""
    return largest(np.diff(values, 4)) / 16.0


def distance_to_published(run: Trajectory) -> float:
    """Return the largest difference from the authors' program in q, p, v and the multipliers."""
    worst = 0.0
    for t, (q, p, v, multipliers) in PUBLISHED.items():
        k = round(t / run.h)
        rows = [(run.q[k], q), (run.p[k], p), (np.append(run.lam[k], run.gam[k]), multipliers)]
        if v is not None:
            rows.append((run.v[k + 1], v))
        worst = max(worst, *(largest(ours - np.array(published)) for ours, published in rows))
    return worst


def exact_errors(method: Method) -> tuple[Convergence, Convergence]:
    """Return the errors of q and of p at t = 2."""
    steps = (EXACT_T / n for n in method.steps)
    runs = {h: integrate(pendulum(), method.label, h, EXACT_T) for h in steps}
    q = sweep_runs(runs, lambda run: largest(run.q[-1] - EXACT_Q))
    return q, sweep_runs(runs, lambda run: largest(run.p[-1] - EXACT_P))


def violation_growth(theta: float) -> float:
    """Return the factor per step by which VI-A(theta) enlarges a violation of g (theta < 1/2) or of G M^-1 p (theta > 1/2)."""
    run = integrate(pendulum(), "VI-A", 1e-3, 0.012, theta=theta)
    residual = run.position_residual() if theta < 0.5 else run.velocity_residual()
    return float((residual[-1] / residual[4]) ** (1.0 / (len(residual) - 5)))


def failure(integrator: str, h: float, **parameters: Any) -> str:
    """Return why a run to t = 10 ends early; "" if it does not."""
    try:
        integrate(pendulum(), integrator, h, T_END, **parameters)
    except ConvergenceError as error:
        return "singular" if error.singular else "no convergence"
    return ""


def study() -> Study:
    """Check invariants, constraints and multipliers (002 Figs. 2-15), the authors' trajectory, and orders."""
    result = Study(NAME, "Mathematical pendulum in 3D", "002 sec. 6.1")
    runs = {name: integrate(pendulum(), name, H, T_END) for name in SCHEMES}
    _invariants(result, runs)
    _constraints(result, runs)
    _multipliers(result, runs)
    result.claim_below(
        "002 sec. 6.1, metis: VI-S, h = 0.05: q, p, v, lambda, gamma of the authors' program at t = 0.5, 5, 10",
        {"largest difference": distance_to_published(runs["VI-S"])},
        1e-7,
    )
    _parameters(result)
    _orders(result, THETA_METHODS, "002 sec. 4, 5", "Theta methods: q at t = 2")
    _orders(result, HIGH_ORDER, "001 sec. 3, 004 app. A", "Galerkin and SPARK: q at t = 2")
    return result


def _invariants(result: Study, runs: Mapping[str, Trajectory]) -> None:
    """Check energy and angular momentum: 002 Figs. 7-11."""
    (vertical,) = pendulum().symmetries
    energies = {name: drift(run.energy()) for name, run in runs.items()}
    result.claim_below(
        "002 Figs. 8, 9: GGL-EM conserves the energy to round-off", {"|H - H(0)|": energies["GGL-EM"]}, 1e-12
    )
    tails = {}
    for name in ("VI-S", "VI-A", "VI-B"):
        energy = integrate(pendulum(), name, H, 10 * T_END).energy()
        tails[name] = largest(energy[-200:] - energy[0]) / largest(energy[:201] - energy[0])
    result.claim(
        "002 Fig. 8: VI-S, VI-A and VI-B exhibit fluctuations of the energy that are typical of symplectic methods: "
        "bounded ones",
        "; ".join(
            f"{k} {energies[k]:.3f} to t = 10, {tail:.2f} times that in [90, 100]"
            for k, tail in tails.items()
        ),
        all(energies[name] > 1e-3 and tail < 1.1 for name, tail in tails.items()),
    )
    result.claim_below(
        "002 Figs. 10, 11: all schemes conserve the angular momentum about e3 to round-off",
        {name: drift(run.momentum(vertical)) for name, run in runs.items()},
        1e-12,
    )
    result.panel("Energy", "t", "H - H(0)", curves(runs, lambda run: run.energy() - run.energy()[0]))
    lines = curves(runs, lambda run: run.momentum(vertical) - 1.0)
    result.panel("Angular momentum about e3", "t", "J3 - J3(0)", lines)


def _constraints(result: Study, runs: Mapping[str, Trajectory]) -> None:
    """Check position and velocity constraints: 002 Figs. 12-15."""
    position = {name: float(run.position_residual().max()) for name, run in runs.items()}
    result.claim(
        "002 Figs. 12, 13: VI-S, VI-B and GGL-EM satisfy the position constraint at the ends of the steps, VI-A violates it",
        f"max |g|: {named(position)}",
        position["VI-A"] > 1e-4 and max(value for name, value in position.items() if name != "VI-A") < 1e-14,
    )
    momentum = {name: float(run.velocity_residual().max()) for name, run in runs.items()}
    by_vi_b = momentum.pop("VI-B")
    result.claim(
        "002 Figs. 14, 15: VI-S and GGL-EM satisfy the secondary constraint on momenta, VI-A violates it",
        f"max |G M^-1 p|: {named(momentum)}",
        max(momentum["VI-S"], momentum["GGL-EM"]) < 1e-12 and momentum["VI-A"] > 1e-4,
    )
    vi_b = runs["VI-B"]
    result.claim_below(
        "002 (82e): VI-B satisfies the secondary constraint with the velocity of the scheme",
        {"max |G v|": float(scheme_velocity_residual(vi_b).max())},
        1e-12,
    )
    halved = float(integrate(pendulum(), "VI-B", H / 2, T_END).velocity_residual().max())
    result.claim(
        "002 Fig. 14: VI-B satisfies the secondary constraint (94) on momenta",
        f"max |G M^-1 p| {by_vi_b:.3f} with h = {H}, {halved:.3f} with h = {H / 2}",
        by_vi_b < 1e-12,
        reason="VI-B imposes G(q1) v = 0 (82e), and by (82b), (82c) its v is not M^-1 p1 but differs by "
        "O(h) forces. It satisfies the constraint for v, and only to first order for p1.",
    )
    lines = curves(runs, lambda run: np.abs(run.position_residual()) + 1e-18, slice(1, None))
    result.panel("Position constraint", "t", "|g|", lines, "semilog")
    lines = curves(runs, lambda run: run.velocity_residual() + 1e-18, slice(1, None))
    lines.append(Line("VI-B, with v", vi_b.t[1:], scheme_velocity_residual(vi_b) + 1e-18, "--"))
    result.panel("Constraint on momenta", "t", "|G M^-1 p|", lines, "semilog")


def _multipliers(result: Study, runs: Mapping[str, Trajectory]) -> None:
    """Check which multipliers oscillate: 002 Figs. 4, 5."""
    lam, gam = (
        {name: oscillation(getattr(run, what)[1:, 0]) for name, run in runs.items()}
        for what in ("lam", "gam")
    )
    result.claim(
        "002 Figs. 4, 5: VI-A and VI-B oscillate slightly in lambda and gamma, respectively",
        f"alternating part of lambda, gamma: {', '.join(f'{name} {lam[name]:.2g}, {gam[name]:.2g}' for name in runs)}",
        lam["VI-A"] > 10 * lam["VI-S"] and gam["VI-B"] > 10 * gam["VI-S"],
        reason="The oscillations are there but shared out otherwise: VI-A alternates in both multipliers, VI-B in "
        "lambda, while gamma of VI-B is as smooth as that of VI-S.",
    )
    part = slice(1, 81)
    lines = curves(runs, lambda run: run.lam[:, 0], part)
    result.panel("Multiplier of the position constraint", "t", "lambda", lines)
    lines = curves(runs, lambda run: run.gam[:, 0], part)
    result.panel("Multiplier of the velocity constraint", "t", "gamma", lines)


def _parameters(result: Study) -> None:
    """Check the ranges of theta and vartheta that 002 sec. 4.3 allows."""
    fails = {theta: failure("VI-A", H / 10, theta=theta) for theta in (0.3, 0.7)}
    growth = [
        f"theta = {x}: violation grows {violation_growth(x):.3f} times a step, {why}"
        for x, why in fails.items()
    ]
    result.claim(
        "002 sec. 4.3.1: VI-A can be used for theta in (0, 1)",
        ", ".join(growth),
        not any(fails.values()),
        reason="(79d) maps a violation of g at one end to -(1 - theta)/theta times it at the other, and (79c) one of "
        "the momentum constraint to -theta/(1 - theta) times it: one of the two grows unless theta = 1/2.",
    )
    failures = {theta: failure("VI-B", H / 10, theta=theta, vartheta=1.0) for theta in (0.0, 0.5, 1.0)}
    result.claim(
        "002 sec. 4.3.2: VI-B can be used for vartheta in (0, 1], vartheta = 1 included",
        "vartheta = 1: " + ", ".join(f"theta = {x:g} {why}" for x, why in failures.items()),
        not any(failures.values()),
        reason="With (82b), (82c) reads M v = p0 + (1 - theta) h D1 L - h (1 - vartheta) G(q0)^T lambda - ...: "
        "with vartheta = 1 lambda acts neither on v nor on q1, and the equations are singular.",
    )


def _orders(result: Study, methods: tuple[Method, ...], source: str, title: str) -> None:
    """Check the observed order of each method, and draw the errors of q."""
    lines: list[Line] = []
    families = list(dict.fromkeys(method.family for method in methods))
    for method in methods:
        q, p = exact_errors(method)
        # One colour per method; markers distinguish families if their errors are equal.
        style = f"C{len(lines) % 10}" + ("o-", "s--", "x:", "d-")[families.index(method.family)]
        lines.append(q.line(method.label, style))
        result.claim(
            f"{source}: {method.label} has order {method.order}",
            f"orders {q.order:.2f} in q, {p.order:.2f} in p; error of q {q.errors[-1]:.1e} with h = {q.h[-1]:.2e}",
            max(abs(errors.order - method.order) for errors in (q, p)) < 0.1
            and (method.order < 6 or q.errors[-1] < 1e-10),
        )
    result.panel(title, "h", "max error", lines, "log")
