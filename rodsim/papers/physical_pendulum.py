"""Study of a physical pendulum fixed at its end face by three constraints, by mG(k) and BG(k): 001 sec. 5.2."""

from __future__ import annotations

from functools import cache

import numpy as np

from discretization.time.bubnov import GlobalSolution, solve_global
from discretization.time.integrate import Trajectory, integrate
from discretization.time.quadrature import gauss
from rigid.inertia import Box
from rigid.mechanics.mechanical_system import MechanicalSystem
from rigid.system import Floats
from rodsim.model import Model
from rodsim.papers.claims import Convergence, Line, Study, drift, largest, listed, momentum_constraints, sweep

NAME = "physical-pendulum"
H = 0.1
T_END = 10.0
T_ORDERS = 5.0  # end time of the convergence study of mG(k)
T_GLOBAL = 2.0  # end time of the convergence study of BG(k)
CHARTS = ("quaternion", "director")
DEGREES = (1, 2, 3)
POINTS = (1, 2, 3, 4, 5)
MASS, GRAVITY = 100.0, 9.81  # mass rho l b h
LENGTH = 10.0  # the other edges are 1
SIZE = MASS * GRAVITY * LENGTH / 2.0  # energy of the fall to the hanging position
N_EXTERNAL = 3

# Exact angle from the hanging position by time, by elliptic functions, to all digits.
EXACT = {
    0.5: 1.3875230685084256,
    1.0: 0.84971439156516378,
    2.0: -0.76324647581857370,
    5.0: 0.67304496169635757,
    10.0: -1.0836971007665720,
}


@cache
def physical_pendulum(chart: str = "quaternion") -> MechanicalSystem:
    """Return the box, released at rest with its length along the 2-axis, in r and q with M4 of 001 (56), or in directors.

    The middle of its face, X = (0, -l/2, 0), stays at the origin: 001 (67).
    """
    model = Model("physical pendulum", gravity=(0.0, 0.0, -GRAVITY))
    box = model.add_body("box", Box(1.0, LENGTH, 1.0, mass=MASS), position=(0.0, LENGTH / 2.0, 0.0))
    model.add_joint("face", "spherical", box, model.ground, at=(0.0, 0.0, 0.0))
    return model.mechanical_system("director" if chart == "director" else "quaternion-alpha")


@cache
def march(
    chart: str, k: int = 1, points: int | None = None, h: float = H, t_end: float = T_END
) -> Trajectory:
    """Integrate the pendulum by mG(k) with `points` Gauss points per step (default 2k)."""
    return integrate(physical_pendulum(chart), "mG", h, t_end, k=k, gauss=2 * k if points is None else points)


@cache
def _guess(chart: str, h: float, t_end: float) -> tuple[Floats, Floats]:
    """Compute the initial guess (q, p) of BG(k), a motion integrated by mG(2)."""
    run = integrate(physical_pendulum(chart), "mG", h, t_end, k=2)
    return run.q, run.p


@cache
def solve(chart: str, k: int, elements: int, t_end: float) -> GlobalSolution:
    """Solve for the whole motion by BG(k) with continuous multipliers, starting Newton's method from a motion by mG(2)."""
    system, h = physical_pendulum(chart), t_end / elements
    return solve_global(system, h, t_end, k=k, guess=_guess(chart, h / k, t_end))


def angle(run: Trajectory) -> Floats:
    """Return the angle from the hanging position (N + 1,)."""
    theta: Floats = np.arctan2(run.q[:, 1], -run.q[:, 2])
    return theta


def angle_error(run: Trajectory, t: float) -> float:
    """Return the error of the angle at time `t`, a key of `EXACT`."""
    return abs(float(angle(run)[int(np.argmin(np.abs(run.t - t)))]) - EXACT[t])


@cache
def angle_errors(name: str, chart: str, k: int, t: float) -> Convergence:
    """Return the errors of the angle at `t` by the steps of mG(k) or the element lengths of BG(k)."""
    lengths = (0.1, 0.05) if name == "BG" else (0.2, 0.1, 0.05) if k == 3 else (0.1, 0.05, 0.025)

    def error(h: float) -> float:
        """Return the error with elements or steps of length h."""
        run = solve(chart, k, round(t / h), t) if name == "BG" else march(chart, k, h=h, t_end=t)
        return angle_error(run, t)

    return sweep([t / round(t / h) for h in lengths], error)


def energy_drift(run: Trajectory) -> float:
    """Return the drift of the Hamiltonian, which is zero at the start, relative to m g l/2."""
    return drift(run.hamiltonian()) / SIZE


def constraints(run: Trajectory) -> tuple[Floats, Floats]:
    """Return the internal (N + 1, m - 3) and external (N + 1, 3) constraints at the nodes."""
    g = np.array([run.system.constraints(q) for q in run.q])
    return g[:, :-N_EXTERNAL], g[:, -N_EXTERNAL:]


def rates(run: Trajectory) -> tuple[Floats, Floats]:
    """Return the internal (N + 1, m - 3) and external (N + 1, 3) parts of the velocity constraints G W p at the nodes."""
    psi = momentum_constraints(run)
    return psi[:, :-N_EXTERNAL], psi[:, -N_EXTERNAL:]


def means(run: GlobalSolution) -> Floats:
    """Return the largest integral of N_J g over the interior nodes J, over h, of BG(1) for each constraint (m,): 001 (24)_2."""
    nodes, weights = gauss(2)
    system, steps = run.system, len(run.q) - 1
    mean = np.zeros((steps + 1, system.m))
    for e in range(steps):
        for xi, w in zip(nodes, weights, strict=True):
            g = w * system.constraints((1.0 - xi) * run.q[e] + xi * run.q[e + 1])
            mean[e] += (1.0 - xi) * g
            mean[e + 1] += xi * g
    return np.abs(mean[1:]).max(axis=0)  # q and p are given at the first node


def study() -> Study:
    """Check conservation of the Hamiltonian and of constraints, and orders against the exact motion: 001 Figs. 10-12."""
    result = Study(NAME, "Physical pendulum", "001 sec. 5.2")
    for chart, (n, m) in (("quaternion", (7, 4)), ("director", (12, 9))):
        system = physical_pendulum(chart)
        result.claim(
            f"001 sec. 5.2: {n} coordinates and {m} constraints in {chart}s, three of them external",
            f"n = {system.n}, m = {system.m}",
            (system.n, system.m) == (n, m),
        )
    _conservation(result)
    _constraints(result)
    _means(result)
    _orders(result)
    return result


def _conservation(result: Study) -> None:
    """Check conservation of the Hamiltonian for different numbers of Gauss points: 001 Fig. 10."""
    example, one = march("quaternion", 1, 4), march("quaternion", 1, 1)
    result.claim_below(
        "001 Fig. 10: mG(1) in quaternions with four Gauss points conserves the Hamiltonian",
        {"drift": energy_drift(example)},
        1e-14,
        end=f" m g l/2 to t = {T_END:g} with h = {H}",
    )
    drifts = {chart: [energy_drift(march(chart, 1, g)) for g in POINTS] for chart in CHARTS}
    result.claim(
        "rodsim: mG(1) conserves the Hamiltonian with two Gauss points and more in quaternions, with any number in directors",
        "drift with 1 to 5 points: " + "; ".join(f"{chart}s {listed(x)}" for chart, x in drifts.items()),
        max(drifts["quaternion"][1:] + drifts["director"]) < 1e-14 and drifts["quaternion"][0] > 1e-6,
    )
    enough = [energy_drift(march("quaternion", k, 2 * k)) for k in DEGREES]
    fewer = [energy_drift(march("quaternion", k, 2 * k - 1, 0.5, 10.0)) for k in DEGREES]
    result.claim(
        "rodsim: mG(k) in quaternions conserves the Hamiltonian with 2k points, not with 2k - 1",
        f"k = 1, 2, 3: drift with 2k points {listed(enough)}, with 2k - 1 (h = 0.5) {listed(fewer)}",
        max(enough) < 1e-13 and min(fewer) > 1e-11,
    )
    exact = Line("exact", list(EXACT), list(EXACT.values()), "ko")
    result.panel("Angle", "t", "theta", [Line(f"mG(1), h = {H}", example.t, angle(example)), exact])
    lines = [
        Line(f"{points} GP", run.t[1:], np.maximum(np.abs(run.hamiltonian()[1:]) / SIZE, 1e-18))
        for points, run in ((4, example), (1, one))
    ]
    result.panel("Hamiltonian, mG(1), quaternions", "t", "|H| / (m g l/2)", lines, "semilog")


def _constraints(result: Study) -> None:
    """Check the position and velocity constraints of mG(1): 001 Fig. 11."""
    for chart in CHARTS:
        run = march(chart, 1, 4)
        sizes = [largest(x) for x in (*constraints(run), *rates(run))]
        result.claim(
            f"001 Fig. 11: mG(1) in {chart}s satisfies internal and external constraints at the ends of the steps, "
            "and their rates",
            f"|g| {sizes[0]:.1e} and {sizes[1]:.1e}, |G W p| {sizes[2]:.1e} and {sizes[3]:.1e}",
            max(sizes) < 1e-13,
        )
    one = march("quaternion", 1, 1)
    inside, outside = map(largest, rates(one))
    position = max(map(largest, constraints(one)))
    result.claim(
        "rodsim: with one Gauss point in quaternions the external constraint is satisfied, its rate is not",
        f"|g| {position:.1e}, |G W p| internal {inside:.1e}, external {outside:.1e}",
        position < 1e-13 and outside > 1e-3,
    )
    run = march("quaternion", 1, 4)
    internal, external = constraints(run)
    lines = [Line("position", run.t, internal[:, 0]), Line("velocity", run.t, rates(run)[0][:, 0])]
    result.panel(f"Internal constraint, mG(1), h = {H}", "t", "g", lines)
    lines = [Line(f"component {i + 1}", run.t, external[:, i]) for i in range(N_EXTERNAL)]
    result.panel(f"External constraint, mG(1), h = {H}", "t", "g", lines)


def _means(result: Study) -> None:
    """Check the constraints of BG(1), pointwise and on average: 001 Fig. 12."""
    steps = (0.1, 0.05, 0.025)
    runs = {h: solve("quaternion", 1, round(T_ORDERS / h), T_ORDERS) for h in steps}
    inside, outside = (
        sweep(steps, lambda h, which: largest(constraints(runs[h])[which]), which) for which in (0, 1)
    )
    averaged = max(float(means(run).max()) for run in runs.values())
    result.claim(
        "001 Fig. 12: BG(1) satisfies the constraints in the mean, not at the nodes",
        f"largest integral of N_J g over an interior node's elements, over h: {averaged:.1e}; "
        f"|g| at the nodes internal {inside.errors[0]:.1e}, external {outside.errors[0]:.1e} with h = {H}",
        averaged < 1e-12 and min(*inside.errors, *outside.errors) > 1e-8,
    )
    result.claim_orders(
        "001 Fig. 12: smaller steps improve them",
        {"internal": inside.order, "external": outside.order},
        2,
        f"|g| with h = {listed(steps, 'g')}: internal {listed(inside.errors)} (order {inside.order:.2f}), "
        f"external {listed(outside.errors)} (order {outside.order:.2f})",
    )
    in_directors, joint = map(largest, constraints(solve("director", 1, round(T_ORDERS / H), T_ORDERS)))
    result.claim(
        "rodsim: in directors the external constraint is linear, and BG(1) satisfies it at the nodes, too",
        f"|g| external {joint:.1e}, internal {in_directors:.1e} with h = {H}",
        joint < 1e-12 and in_directors > 1e-8,
    )
    lines = [Line(f"h = {h:g}", run.t, constraints(run)[0][:, 0]) for h, run in runs.items()]
    result.panel("Internal constraint, BG(1)", "t", "g", lines)
    lines = [
        Line(f"h = {h:g}", run.t, np.linalg.norm(constraints(run)[1], axis=1)) for h, run in runs.items()
    ]
    result.panel("External constraint, BG(1)", "t", "|g|", lines)


def _orders(result: Study) -> None:
    """Check the orders of mG(k) and BG(k) against the exact angle."""
    times, lines = {"mG": T_ORDERS, "BG": T_GLOBAL}, dict[str, list[Line]](mG=[], BG=[])
    for chart, style in (("quaternion", "s--"), ("director", "o-")):
        orders = {}
        for name, t in times.items():
            errors_by_degree = {k: angle_errors(name, chart, k, t) for k in DEGREES}
            lines[name] += [
                errors.line(f"{name}({k}), {chart}s", style) for k, errors in errors_by_degree.items()
            ]
            orders[name] = [errors.order for errors in errors_by_degree.values()]
        result.claim(
            f"001 sec. 5.1: mG(k) in {chart}s has order 2k with external constraints, too",
            f"orders {listed(orders['mG'], '.2f')} for k = 1, 2, 3 against the exact angle at t = {T_ORDERS:g}",
            max(abs(x - 2 * k) for x, k in zip(orders["mG"], DEGREES, strict=True)) < 0.1,
        )
        result.claim(
            f"rodsim: BG(k) in {chart}s has the orders 2, 2, 4 for k = 1, 2, 3",
            f"orders {listed(orders['BG'], '.2f')} against the exact angle at t = {T_GLOBAL:g}",
            max(abs(x - y) for x, y in zip(orders["BG"], (2, 2, 4), strict=True)) < 0.2,
        )
    fine = {chart: march(chart, 3, h=0.025) for chart in CHARTS}
    worst = {chart: [angle_error(run, t) for t in EXACT] for chart, run in fine.items()}
    result.claim(
        "rodsim: mG(3) is at the exact angle to 1e-10",
        "; ".join(f"{chart}s {listed(values)}" for chart, values in worst.items())
        + f" at t = {listed(EXACT, 'g')} (h = 0.025)",
        max(map(max, worst.values())) < 1e-10,
    )
    for name, t in times.items():
        result.panel(f"{name}(k), t = {t:g}", "h", "error of the angle", lines[name], "log")
