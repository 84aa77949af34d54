"""Study of the mathematical pendulum in three dimensions, a point mass on the unit sphere: 002 sec. 6.1."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import sympy as sp

from discretization.time.integrate import Trajectory, integrate
from rigid.errors import ConvergenceError
from rigid.mechanics.mechanical import MechanicalSystem
from rigid.symbolic.systems import symbolic_system
from rigid.system import Floats
from rodsim.papers.claims import Line, Panel, Study, drift, observed_order

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
    """An integrator with its parameters, the order expected of it, and the numbers of steps that show it."""

    label: str
    name: str
    parameters: Mapping[str, Any]
    order: int
    steps: tuple[int, ...]


_FINE, _MIDDLE, _COARSE = (1600, 3200, 6400, 12800), (200, 400, 800), (40, 80, 160)
THETA_METHODS = (
    Method("VI-S", "VI-S", {}, 1, _FINE),
    Method("VI-A(0.5)", "VI-A", {}, 2, _MIDDLE),
    Method("VI-B(1, 0.5)", "VI-B", {}, 1, _FINE),
    Method("VI-B(1, 0.25)", "VI-B", {"vartheta": 0.25}, 1, _FINE),
    Method("VI-B(0.25, 0.5)", "VI-B", {"theta": 0.25}, 1, _FINE),
    Method("VI-B(0.5, 0.5)", "VI-B", {"theta": 0.5}, 2, _MIDDLE),
    Method("GGL-EM", "GGL-EM", {}, 2, _MIDDLE),
)
HIGH_ORDER = (
    Method("mG(1)", "mG", {"k": 1}, 2, _MIDDLE),
    Method("mG(2)", "mG", {"k": 2}, 4, _COARSE),
    Method("mG(3)", "mG", {"k": 3}, 6, _COARSE),
    Method("mG(4)", "mG", {"k": 4}, 8, (20, 40, 60)),
    Method("GL-SPARK(1)", "GL-SPARK", {"s": 1}, 2, _MIDDLE),
    Method("GL-SPARK(2)", "GL-SPARK", {"s": 2}, 4, _COARSE),
    Method("GL-SPARK(3)", "GL-SPARK", {"s": 3}, 6, _COARSE),
    Method("GL-SPARK(4)", "GL-SPARK", {"s": 4}, 8, (20, 30, 40)),
    Method("Lobatto-IIIA-B(2)", "Lobatto-IIIA-B", {"s": 2}, 2, _MIDDLE),
    Method("Lobatto-IIIA-B(3)", "Lobatto-IIIA-B", {"s": 3}, 4, _COARSE),
    Method("Lobatto-IIIA-B(4)", "Lobatto-IIIA-B", {"s": 4}, 6, _COARSE),
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
    pairs = zip(run.q[1:], run.v[1:], strict=True)
    return np.array([np.abs(run.system.jacobian(q) @ v).max() for q, v in pairs])


def oscillation(values: Floats) -> float:
    """Return the size of the part that alternates from step to step: the fourth difference over 16, small for a smooth curve."""
    return float(np.abs(np.diff(values, 4)).max() / 16.0)


def distance_to_published(run: Trajectory) -> float:
    """Return the largest difference from the authors' program in q, p, v and the multipliers."""
    worst = 0.0
    for t, (q, p, v, multipliers) in PUBLISHED.items():
        k = round(t / run.h)
        rows = [(run.q[k], q), (run.p[k], p), (np.append(run.lam[k], run.gam[k]), multipliers)]
        if v is not None:
            rows.append((run.v[k + 1], v))
        worst = max(worst, *(float(np.abs(ours - np.array(theirs)).max()) for ours, theirs in rows))
    return worst


def exact_errors(method: Method) -> tuple[Floats, Floats, Floats]:
    """Return the step sizes and the errors of q and of p at t = 2."""
    return _exact_errors(method.name, tuple(method.parameters.items()), method.steps)


@cache
def _exact_errors(
    name: str, parameters: tuple[tuple[str, Any], ...], counts: tuple[int, ...]
) -> tuple[Floats, Floats, Floats]:
    """Compute the results of `exact_errors` from hashable arguments, so that they can be cached."""
    q, p = [], []
    for n in counts:
        run = integrate(pendulum(), name, EXACT_T / n, EXACT_T, **dict(parameters))
        q.append(np.abs(run.q[-1] - EXACT_Q).max())
        p.append(np.abs(run.p[-1] - EXACT_P).max())
    return EXACT_T / np.array(counts), np.array(q), np.array(p)


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
    distance = distance_to_published(runs["VI-S"])
    result.claim(
        "002 sec. 6.1, metis",
        "VI-S, h = 0.05: q, p, v, lambda, gamma of the authors' program at t = 0.5, 5, 10",
        f"largest difference {distance:.1e}",
        distance < 1e-7,
    )
    _parameters(result)
    _orders(result, THETA_METHODS, "002 sec. 4, 5", "Theta methods: q at t = 2")
    _orders(result, HIGH_ORDER, "001 sec. 3, 004 app. A", "Galerkin and SPARK: q at t = 2")
    return result


def _invariants(result: Study, runs: Mapping[str, Trajectory]) -> None:
    """Check energy and angular momentum: 002 Figs. 7-11."""
    system = pendulum()
    energies = {name: drift(run.energy()) for name, run in runs.items()}
    result.claim(
        "002 Figs. 8, 9",
        "GGL-EM keeps the energy to round-off",
        f"|H - H(0)| {energies['GGL-EM']:.1e}",
        energies["GGL-EM"] < 1e-12,
    )
    symplectic = [name for name in SCHEMES if name != "GGL-EM"]
    tails = {}
    for name in symplectic:
        energy = integrate(system, name, H, 10 * T_END).energy()
        tails[name] = float(np.abs(energy[-200:] - energy[0]).max() / np.abs(energy[:201] - energy[0]).max())
    result.claim(
        "002 Fig. 8",
        "VI-S, VI-A and VI-B exhibit fluctuations of the energy that are typical of symplectic methods: bounded ones",
        "; ".join(
            f"{name} {energies[name]:.3f} to t = 10, {tails[name]:.2f} times that in [90, 100]"
            for name in tails
        ),
        all(energies[name] > 1e-3 and tails[name] < 1.1 for name in symplectic),
    )
    angular = {name: drift(run.momentum(system.symmetries[0])) for name, run in runs.items()}
    result.claim(
        "002 Figs. 10, 11",
        "all schemes keep the angular momentum about e3 to round-off",
        ", ".join(f"{name} {value:.1e}" for name, value in angular.items()),
        max(angular.values()) < 1e-12,
    )
    lines = [Line(name, run.t, run.energy() - run.energy()[0]) for name, run in runs.items()]
    result.panels.append(Panel("Energy", "t", "H - H(0)", lines))
    lines = [Line(name, run.t, run.momentum(system.symmetries[0]) - 1.0) for name, run in runs.items()]
    result.panels.append(Panel("Angular momentum about e3", "t", "J3 - J3(0)", lines))


def _constraints(result: Study, runs: Mapping[str, Trajectory]) -> None:
    """Check position and velocity constraints: 002 Figs. 12-15."""
    position = {name: float(run.position_residual().max()) for name, run in runs.items()}
    result.claim(
        "002 Figs. 12, 13",
        "VI-S, VI-B and GGL-EM keep the position constraint at the ends of the steps, VI-A violates it",
        "max |g|: " + ", ".join(f"{name} {value:.1e}" for name, value in position.items()),
        position["VI-A"] > 1e-4 and max(value for name, value in position.items() if name != "VI-A") < 1e-14,
    )
    momentum = {name: float(run.velocity_residual().max()) for name, run in runs.items()}
    velocity = {name: float(scheme_velocity_residual(run).max()) for name, run in runs.items()}
    result.claim(
        "002 Figs. 14, 15",
        "VI-S and GGL-EM keep the secondary constraint on momenta, VI-A violates it",
        "max |G M^-1 p|: " + ", ".join(f"{name} {momentum[name]:.1e}" for name in SCHEMES if name != "VI-B"),
        max(momentum["VI-S"], momentum["GGL-EM"]) < 1e-12 and momentum["VI-A"] > 1e-4,
    )
    result.claim(
        "002 (82e)",
        "VI-B keeps the secondary constraint with the velocity of the scheme",
        f"max |G v| {velocity['VI-B']:.1e}",
        velocity["VI-B"] < 1e-12,
    )
    halved = float(integrate(pendulum(), "VI-B", H / 2, T_END).velocity_residual().max())
    result.claim(
        "002 Fig. 14",
        "VI-B keeps the secondary constraint (94) on momenta",
        f"max |G M^-1 p| {momentum['VI-B']:.3f} with h = {H}, {halved:.3f} with h = {H / 2}",
        momentum["VI-B"] < 1e-12,
        reason="VI-B imposes G(q1) v = 0 (82e), and by (82b), (82c) its v is not M^-1 p1 but differs by "
        "O(h) forces. It keeps the constraint for v, and only to first order for p1.",
    )
    lines = [Line(name, run.t[1:], np.abs(run.position_residual()[1:]) + 1e-18) for name, run in runs.items()]
    result.panels.append(Panel("Position constraint", "t", "|g|", lines, "semilog"))
    lines = [Line(name, run.t[1:], run.velocity_residual()[1:] + 1e-18) for name, run in runs.items()]
    vib = runs["VI-B"]
    lines.append(Line("VI-B, with v", vib.t[1:], scheme_velocity_residual(vib) + 1e-18, "--"))
    result.panels.append(Panel("Constraint on momenta", "t", "|G M^-1 p|", lines, "semilog"))


def _multipliers(result: Study, runs: Mapping[str, Trajectory]) -> None:
    """Check which multipliers oscillate: 002 Figs. 4, 5."""
    rough = {
        what: {name: oscillation(getattr(run, what)[1:, 0]) for name, run in runs.items()}
        for what in ("lam", "gam")
    }
    result.claim(
        "002 Figs. 4, 5",
        "VI-A and VI-B oscillate slightly in lambda and gamma, respectively",
        "alternating part of lambda, gamma: "
        + ", ".join(f"{name} {rough['lam'][name]:.2g}, {rough['gam'][name]:.2g}" for name in SCHEMES),
        rough["lam"]["VI-A"] > 10 * rough["lam"]["VI-S"] and rough["gam"]["VI-B"] > 10 * rough["gam"]["VI-S"],
        reason="The oscillations are there but shared out otherwise: VI-A alternates in both multipliers, VI-B in "
        "lambda, while gamma of VI-B is as smooth as that of VI-S.",
    )
    for what, title in (
        ("lam", "Multiplier of the position constraint"),
        ("gam", "Multiplier of the velocity constraint"),
    ):
        lines = [Line(name, run.t[1:81], getattr(run, what)[1:81, 0]) for name, run in runs.items()]
        result.panels.append(Panel(title, "t", "lambda" if what == "lam" else "gamma", lines))


def _parameters(result: Study) -> None:
    """Check the ranges of theta and vartheta that 002 sec. 4.3 allows."""
    thetas = (0.3, 0.7)
    growth = {theta: violation_growth(theta) for theta in thetas}
    fails = {theta: failure("VI-A", H / 10, theta=theta) for theta in thetas}
    result.claim(
        "002 sec. 4.3.1",
        "VI-A can be used for theta in (0, 1)",
        ", ".join(f"theta = {x}: violation grows {growth[x]:.3f} times a step, {fails[x]}" for x in thetas),
        not any(fails.values()),
        reason="(79d) maps a violation of g at one end to -(1 - theta)/theta times it at the other, and (79c) one of "
        "the momentum constraint to -theta/(1 - theta) times it: one of the two grows unless theta = 1/2.",
    )
    found = {theta: failure("VI-B", H / 10, theta=theta, vartheta=1.0) for theta in (0.0, 0.5, 1.0)}
    result.claim(
        "002 sec. 4.3.2",
        "VI-B can be used for vartheta in (0, 1], vartheta = 1 included",
        "vartheta = 1: " + ", ".join(f"theta = {x:g} {why}" for x, why in found.items()),
        not any(found.values()),
        reason="With (82b), (82c) reads M v = p0 + (1 - theta) h D1 L - h (1 - vartheta) G(q0)^T lambda - ...: "
        "with vartheta = 1 lambda acts neither on v nor on q1, and the equations are singular.",
    )


def _orders(result: Study, methods: tuple[Method, ...], source: str, title: str) -> None:
    """Check the observed order of each method, and draw the errors of q."""
    lines: list[Line] = []
    families = list(dict.fromkeys(method.name for method in methods))
    for method in methods:
        h, q, p = exact_errors(method)
        orders = observed_order(h, q), observed_order(h, p)
        # One colour per method; markers distinguish families if their errors are equal.
        style = f"C{len(lines) % 10}" + ("o-", "s--", "x:", "d-")[families.index(method.name)]
        lines.append(Line(f"{method.label} ({orders[0]:.2f})", h, q, style))
        result.claim(
            source,
            f"{method.label} has order {method.order}",
            f"orders {orders[0]:.2f} in q, {orders[1]:.2f} in p; error of q {q[-1]:.1e} with h = {h[-1]:.2e}",
            max(abs(order - method.order) for order in orders) < 0.1 and (method.order < 6 or q[-1] < 1e-10),
        )
    result.panels.append(Panel(title, "h", "max error", lines, "log"))


if __name__ == "__main__":
    from rodsim.papers.claims_report import main

    main(NAME)
