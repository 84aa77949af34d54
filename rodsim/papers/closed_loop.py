"""Study of four bars in a loop of four spherical joints, set in motion by a force and a moment: 000 sec. 5.5."""

from __future__ import annotations

from functools import cache

import numpy as np

from discretization.time.integrate import Trajectory, integrate
from rigid import signals
from rigid.inertia import Box
from rigid.mechanics.mechanical_system import MechanicalSystem
from rigid.system import Floats
from rodsim.components.argument_types import ChartName
from rodsim.model import Model
from rodsim.papers.claims import Line, Study, drift, halved, largest, listed, named, sweep, sweep_runs
from rodsim.papers.free_body import alternating
from rodsim.papers.scheme_properties import momenta

NAME = "closed-loop"
H = 0.1
T_END = 10.0
LOAD_END = 1.0
SCHEMES = ("EML", "EML-kappa")

CENTRES = np.array([[5.0, 0.0, 0.0], [0.0, 5.0, 0.0], [-5.0, 0.0, 0.0], [0.0, -5.0, 0.0]])
F_M = 100.0
AREA = 0.5 * F_M * LOAD_END  # integral of f, a triangle of height f_m
IMPULSE = np.array([8.0 * AREA, 0.0, 0.0])  # impulse of the force 8 f e1
# impulse of the moment 6 f e1; the centre of bar 1 stays on the 1-axis, so the force has no moment about the origin
ANGULAR_IMPULSE = np.array([6.0 * AREA, 0.0, 0.0])

# Exact motion, to 1e-10, by extrapolation in minimal coordinates; `accurate` reproduces these values independently.
KINETIC = 2096.167842267  # kinetic energy after t = 1
# (4, 3) centres of the bars at t = 2
EXACT = np.array(
    [
        [19.2210678126, 0.0, 0.0],
        [15.0, 3.17220302592, 2.78469772882],
        [10.7789321874, 0.0, 0.0],
        [15.0, -3.17220302592, -2.78469772882],
    ]
)


def loop_model() -> Model:
    """Return the loop of 000 (122)-(128): bars 10 x 1 x 1, density 1, 1 and 3 along y, 2 and 4 along x; joints at the corners.

    The loads on bar 1 are 000 (127) with f_m = 100.
    """
    model = Model("closed loop")
    shapes = [Box(1.0, 10.0, 1.0, mass=10.0), Box(10.0, 1.0, 1.0, mass=10.0)] * 2
    bars = [
        model.add_body(f"bar {k + 1}", shape, position=centre)
        for k, (shape, centre) in enumerate(zip(shapes, CENTRES, strict=True))
    ]
    for k, corner in enumerate([(5, 5, 0), (-5, 5, 0), (-5, -5, 0), (5, -5, 0)]):
        model.add_joint(f"corner {k + 1}", "spherical", bars[k], bars[(k + 1) % 4], at=corner)
    push = signals.Triangle(peak=F_M, t_peak=LOAD_END / 2, t_end=LOAD_END)
    model.add_force("push", bars[0].at((0, 0, 0)), push.along((8.0, 0.0, 0.0)))
    model.add_moment("turn", bars[0].at((0, 0, 0)), push.along((6.0, 0.0, 0.0)))
    return model


@cache
def closed_loop(chart: ChartName = "quaternion") -> MechanicalSystem:
    """Return the loop in a chart; in quaternions its mass is singular."""
    return loop_model().mechanical_system(chart)


@cache
def accurate(h: float) -> Trajectory:
    """Integrate the loop to t = 2 by GL-SPARK(3), which has order 6 if steps end at the kinks of the load."""
    return integrate(closed_loop("quaternion-gamma"), "GL-SPARK", h, 2.0, s=3)


@cache
def run(name: str, h: float = H, t_end: float = T_END) -> Trajectory:
    """Integrate the example by the scheme called `name`."""
    return integrate(closed_loop(), name, h, t_end)


def centres(run: Trajectory) -> Floats:
    """Return the centres of the bars (N + 1, 4, 3)."""
    offsets = run.system.info["places"].position
    return np.stack([run.q[:, at : at + 3] for at in offsets[offsets >= 0]], axis=1)


def after_load(run: Trajectory) -> int:
    """Return the index of the first state after the load has ended."""
    return round(LOAD_END / run.h)


def angular_drift(run: Trajectory) -> Floats:
    """Return |L - L(1)| for t >= 1."""
    _, L = momenta(run)
    k = after_load(run)
    departure: Floats = np.linalg.norm(L[k:] - L[k], axis=1)
    return departure


def study() -> Study:
    """Compare energy and momenta after the load, and positions, with exact integrals and positions: 000 Fig. 16."""
    result = Study(NAME, "Closed loop of four bars", "000 sec. 5.5")
    system = closed_loop()
    result.claim(
        "000 (122), (125): 28 coordinates and 16 constraints, with a singular mass",
        f"n = {system.n}, m = {system.m}, rank of the mass {np.linalg.matrix_rank(system.mass(system.q0))}",
        (system.n, system.m) == (28, 16),
    )
    runs = {name: run(name) for name in (*SCHEMES, "MPL")}
    k, t = after_load(runs["EML"]), runs["EML"].t
    energies = {name: runs[name].generalised_energy() for name in SCHEMES}
    for name, source in (("EML", "000 Fig. 16"), ("EML-kappa", "rodsim")):
        change, size = drift(energies[name][k:]), energies[name][k]
        result.claim(
            f"{source}: {name} conserves the generalised energy after the load has ended",
            f"drift {change:.1e} of {size:.1f}",
            change < 1e-13 * size,
        )
    lines = [Line(name, t, energy) for name, energy in energies.items()]
    result.panel("Generalised energy", "t", "E", lines)
    lines = [Line(f"L{axis}", t, momenta(runs["EML"])[1][:, i]) for i, axis in enumerate("123")]
    result.panel("Total angular momentum, EML", "t", "L", lines)
    path = centres(runs["EML-kappa"])
    path = path - path.mean(axis=1, keepdims=True)
    lines = [
        Line(f"bar {bar + 1}, {i + 1}-component", t, path[:, bar, i]) for bar, i in ((0, 0), (1, 1), (1, 2))
    ]
    result.panel("Centres of the bars from that of the loop, EML-kappa", "t", "m", lines)
    _angular_momentum(result, runs)
    gap = max(float(r.position_residual().max()) for r in runs.values())
    result.claim_below("000 (125): joints and quaternions hold to round-off", {"|g|": gap}, 1e-12, end=" m")
    errors = {f"{name} off by": largest(momenta(runs[name])[0][k:] - IMPULSE) for name in SCHEMES}
    result.claim(
        "rodsim: the linear momentum is the impulse of the force",
        named(errors, unit=" of 400"),
        max(errors.values()) < 1e-12 * 400,
    )
    _orders(result)
    _stability(result, runs)
    return result


def _angular_momentum(result: Study, runs: dict[str, Trajectory]) -> None:
    """Check conservation of the angular momentum, 000 Fig. 16, right; finer runs separate the error of the scheme's order."""
    drifts = {name: angular_drift(run).max() for name, run in runs.items()}
    finer = sweep(halved(H, range(1, 4)), lambda h: angular_drift(run("EML", h)).max())
    start = {name: momenta(runs[name])[1][after_load(runs[name])] for name in SCHEMES}
    result.claim(
        "000 Fig. 16: EML conserves the total angular momentum exactly after the load has ended",
        f"it changes by {drifts['EML']:.2g} of {np.linalg.norm(start['EML']):.1f} with h = {H}, by {listed(finer.errors)} "
        f"with h = {', '.join(map(str, finer.h))}: order {finer.order:.2f}",
        drifts["EML"] < 1e-12 * 300,
        reason="joints pull on quaternions by midpoint gradients, which belong to another rotation of the step than the "
        "one by which material points move: a violation of order 2. With the coarsest step the growing alternating "
        f"part of p - M v adds to it late in the run (MPL, without that growth: {drifts['MPL']:.1e}).",
    )
    moves = {"it changes by": drifts["EML-kappa"]}
    result.claim_below("rodsim: EML-kappa conserves it exactly", moves, 1e-12 * 300)
    deviations = {name: largest(start[name] - ANGULAR_IMPULSE) for name in SCHEMES}
    result.claim(
        "rodsim: L changes by the impulse of the moment, exactly with EML-kappa, to its order with EML",
        named({f"{name} off by": value for name, value in deviations.items()}, unit=" of 300"),
        deviations["EML-kappa"] < 1e-12 * 300 < deviations["EML"],
    )
    lines = [Line(name, r.t[after_load(r) :], angular_drift(r) + 1e-15) for name, r in runs.items()]
    result.panel(f"Change of the total angular momentum, h = {H}", "t", "|L - L(1)|", lines, "semilog")


def _orders(result: Study) -> None:
    """Check order 2 of positions and energy, at t = 2."""
    steps, lines = halved(H, range(5)), []
    for name in SCHEMES:
        sequence = {h: run(name, h, 2.0) for h in steps}
        errors = sweep_runs(sequence, lambda r: largest(centres(r)[-1] - EXACT))
        energy = sweep_runs(sequence, lambda r: abs(r.generalised_energy()[-1] - KINETIC)).order
        lines.append(errors.line(name))
        result.claim_orders(
            f"000 sec. 6: {name}: second-order accuracy",
            {"positions": errors.order, "energy": energy},
            2,
            f"order {errors.order:.3f} in the positions at t = 2 (error {errors.errors[0]:.1e} with h = {H}), "
            f"{energy:.3f} in the energy",
        )
    result.panel("Positions at t = 2", "h", "error", lines, "log")


def _stability(result: Study, runs: dict[str, Trajectory]) -> None:
    """Measure what the invariants do not show: p and M v drift apart."""
    k = after_load(runs["EML"])
    coarse = {name: drift(r.total_energy()[k:]) for name, r in runs.items()}
    fine = {name: drift(run(name, H / 2).total_energy()[2 * k :]) for name in SCHEMES}
    orders = {name: float(np.log2(coarse[name] / fine[name])) for name in SCHEMES}
    result.claim(
        "rodsim: EML and EML-kappa stay near the motion to t = 10: T, which the motion conserves, changes with order 2",
        f"T changes with h = {H} by {named(coarse, '.2g')} of {KINETIC:.0f}; with h = {H / 2} by {named(fine, '.2g')}: "
        f"orders {named(orders, '.2f')}",
        max(abs(order - 2.0) for order in orders.values()) < 0.1,
        reason="the part of p - M v that changes its sign with every step grows by orders of magnitude; p . v - T is "
        "indefinite and does not bound it. Smaller steps excite less of it.",
    )
    styles = {"EML-kappa": "--"}
    lines = [Line(name, r.t[1:-1], alternating(r), styles.get(name, "-")) for name, r in runs.items()]
    result.panel(f"Alternating part of p - M v, h = {H}", "t", "size", lines, "semilog")
