"""Study of the steady precession of a heavy top about its tip, in unit quaternions, by four schemes: 000 sec. 5.4."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from discretization.time.integrate import Trajectory, integrate
from discretization.time.quadrature import gauss
from rigid import quaternions
from rigid.charts.multibody import rotating_body
from rigid.mechanics.mechanical_system import MechanicalSystem
from rigid.system import Floats
from rodsim.papers.claims import Line, Study, drift, halved, largest, named, sweep

NAME = "heavy-top"
H = 0.01
T_END = 2.0
RHO, HEIGHT, GRAVITY, THETA, PRECESSION = 2700.0, 0.1, 9.81, np.pi / 3, 10.0
RADIUS = HEIGHT / 2
LENGTH = 0.75 * HEIGHT  # distance from the tip to the centre of mass
MASS = RHO * np.pi * RADIUS**2 * HEIGHT / 3
INERTIAS = {"EML": "singular", "MPL": "singular", "EMH": "alpha", "MPH": "alpha"}


def moments() -> Floats:
    """Return the principal moments about the tip: 000 (113), moved by the parallel axis theorem.

    (114) prints m l^2 on the third axis; the distance lies along that axis and adds to the other two.
    """
    centre = MASS * np.array([3.0 / 80.0 * (4.0 * RADIUS**2 + HEIGHT**2)] * 2 + [0.3 * RADIUS**2])
    arm = np.array([0.0, 0.0, LENGTH])
    moved: Floats = centre + MASS * np.diag(arm @ arm * np.eye(3) - np.outer(arm, arm))
    return moved


def cone_moments() -> Floats:
    """Return the principal moments about the tip, by integration over the height of the cone (polynomials, hence exact)."""
    nodes, weights = gauss(3)
    z, slab = HEIGHT * nodes, RHO * np.pi * (RADIUS * nodes) ** 2 * HEIGHT * weights
    across = float(slab @ ((RADIUS * nodes) ** 2 / 4.0 + z**2))
    return np.array([across, across, float(slab @ (RADIUS * nodes) ** 2) / 2.0])


def spin_rate() -> float:
    """Return the spin rate omega_s of steady precession, 000 (118)."""
    J1, _, J3 = moments()
    steady = MASS * GRAVITY * LENGTH / (J3 * PRECESSION) + (J1 - J3) / J3 * PRECESSION * np.cos(THETA)
    return float(steady)


@cache
def heavy_top(inertia: str = "singular") -> MechanicalSystem:
    """Return the top of 000 (115)-(119): inclined by pi/3, precessing with 10 rad/s."""
    Omega = PRECESSION * np.array([0.0, np.sin(THETA), np.cos(THETA)]) + [0.0, 0.0, spin_rate()]
    quat = (np.cos(THETA / 2), np.sin(THETA / 2), 0.0, 0.0)
    weight = (np.array([0.0, 0.0, LENGTH]), np.array([0.0, 0.0, -MASS * GRAVITY]))
    return rotating_body("heavy top", moments(), Omega, np.array(quat), [weight], inertia=inertia)


@cache
def run(name: str, h: float = H, t_end: float = T_END) -> Trajectory:
    """Integrate the example by the scheme called `name`.

    Hamiltonian schemes use the mass of alpha = tr(J)/2, 000 (139), others the singular mass.
    """
    return integrate(heavy_top(INERTIAS.get(name, "singular")), name, h, t_end)


def centre(q: Floats) -> Floats:
    """Return the centre of mass (..., 3)."""
    return LENGTH * quaternions.rotate(q, [0.0, 0.0, 1.0])


def exact(t: ArrayLike) -> Floats:
    """Return the centre of mass (..., 3) of the exact motion, on a circle: 000 (120)."""
    angle = PRECESSION * np.asarray(t)
    height = np.full_like(angle, np.cos(THETA))
    return LENGTH * np.stack([np.sin(THETA) * np.sin(angle), -np.sin(THETA) * np.cos(angle), height], axis=-1)


@cache
def error(name: str, h: float) -> float:
    """Return the relative error of the centre of mass at t = 0.1: 000 (121)."""
    return float(np.linalg.norm(centre(run(name, h, 0.1).q[-1]) - exact(0.1))) / LENGTH


def study() -> Study:
    """Check energy, vertical momentum, path and convergence of EML, EMH, MPL, MPH: 000 Figs. 10-13."""
    result = Study(NAME, "Steady precession of a heavy top", "000 sec. 5.4")
    J1, _, J3 = cone_moments()
    J0, arm = MASS * 0.3 * RADIUS**2, MASS * LENGTH**2
    result.claim(
        "000 (114): about the tip J1 = J2 = J0, J3 = J0 + m l^2",
        f"in print J1 = {J0:.4e}, J3 = {J0 + arm:.4e}; integrated over the cone J1 = J2 = {J1:.4e}, J3 = {J3:.4e}",
        bool(np.allclose([J0, J0 + arm], [J1, J3], rtol=1e-12)),
        reason="the two are interchanged in print: the tip lies on the third axis, so m l^2 adds to the first two; then "
        f"omega_s = {spin_rate():.4f} as in 002.",
    )
    runs = {name: run(name) for name in INERTIAS}
    energies = {name: trajectory.generalised_energy() for name, trajectory in runs.items()}
    increments = {name: largest(np.diff(energy)) for name, energy in energies.items()}
    for name in ("EML", "EMH"):
        result.claim(
            f"000 Fig. 10: {name} conserves the energy",
            f"increments {increments[name]:.1e}, drift {drift(energies[name]):.1e} of {energies[name][0]:.3f}",
            increments[name] < 2e-14 and drift(energies[name]) < 1e-13,
        )
    midpoint = {
        name: f"increments {increments[name]:.1e}, drift {drift(energies[name]):.1e}"
        for name in ("MPL", "MPH")
    }
    result.claim(
        "000 Fig. 10: the midpoint rules do not",
        ", ".join(f"{name}: {text}" for name, text in midpoint.items()),
        min(increments[name] for name in midpoint) > 1e-6,
    )
    across, _, vertical = (drift(runs["EML"].momentum(s)) for s in runs["EML"].system.symmetries)
    result.claim(
        "000 Fig. 11: EML conserves the vertical component of the angular momentum, and only that",
        f"L3 changes by {vertical:.1e}, L1 by {across:.1e}",
        vertical < 1e-15 < across,
    )
    t = runs["EML"].t
    lines = [Line(name, t[1:], np.abs(np.diff(energy)) + 1e-17) for name, energy in energies.items()]
    result.panel("Energy", "t", "|E1 - E0|", lines, "semilog")
    momenta = [Line(s.name, t, runs["EML"].momentum(s)) for s in runs["EML"].system.symmetries]
    result.panel("Angular momentum, EML", "t", "L", momenta)
    _path(result, {name: run(name) for name in ("EML", "EMH", "EML-kappa")})
    _convergence(result)
    return result


def _path(result: Study, runs: dict[str, Trajectory]) -> None:
    """Compare the path of the centre of mass with 000 Fig. 12."""
    t, height = runs["EML"].t, LENGTH * np.cos(THETA)
    circle = exact(t)
    paths = {name: centre(run.q) for name, run in runs.items()}
    rms = {name: np.sqrt(np.mean((paths[name] - circle) ** 2, axis=0)) for name in ("EML", "EMH")}
    extreme = {name: path[np.abs(path[:, 2] - height).argmax(), 2] - height for name, path in paths.items()}
    across, upwards = (float(rms["EML"][k] / rms["EMH"][k]) for k in (0, 2))
    result.claim(
        "000 Fig. 12: EML and EMH do not differ visibly in the quality of the vertical component, "
        "while in the 1-component they do",
        f"error (r.m.s., h = {H}, t = {T_END:g}) of EML over that of EMH: {upwards:.2f} in the height (EML "
        f"{rms['EML'][2]:.2e}, EMH {rms['EMH'][2]:.2e} of {height:.4f}), {across:.2f} in the 1-component; largest in the "
        f"height {named(extreme, '+.2e')}",
        abs(np.log(upwards)) < abs(np.log(across)),
        reason="their errors in the height differ by a larger factor than those in the 1-component",
    )
    result.claim(
        "000 Fig. 12: EML is more accurate in its 1-component",
        f"error (r.m.s.) EML {rms['EML'][0]:.2e}, EMH {rms['EMH'][0]:.2e}",
        rms["EML"][0] < rms["EMH"][0],
    )
    for k, what in ((2, "Height"), (0, "1-component")):
        lines = [Line(name, t, path[:, k]) for name, path in paths.items()]
        lines.append(Line("exact", t, circle[:, k], "k--"))
        result.panel(f"{what} of the centre of mass", "t", "m", lines)


def _convergence(result: Study) -> None:
    """Check convergence as in 000 Fig. 13, and compare EML-kappa with the four schemes."""
    steps = halved(0.1, range(5, 10))
    curves = {name: sweep(steps, lambda h, name: error(name, h), name) for name in (*INERTIAS, "EML-kappa")}
    errors = {name: curve.errors for name, curve in curves.items()}
    orders = {name: curves[name].order for name in INERTIAS}
    result.claim_orders("000 Fig. 13: all four schemes converge with order 2", orders, 2)
    last = {name: errors[name][-1] for name in INERTIAS}
    hamiltonian = np.minimum(errors["EMH"], errors["MPH"])
    result.claim(
        "000 Fig. 13: Livens' schemes have lower errors than the Hamiltonian ones",
        f"{named(last, '.2e')} with h = {steps[-1]:.1e}",
        bool(np.all(np.maximum(errors["EML"], errors["MPL"]) < hamiltonian)),
    )
    result.claim(
        "000 Fig. 13: MPL has the lowest error of the four at every step",
        f"a factor {np.mean(errors['EML'] / errors['MPL']):.2f} below EML",
        all(bool(np.all(errors["MPL"] < errors[name])) for name in ("EML", "EMH", "MPH")),
    )
    kappa, factor = curves["EML-kappa"], float(np.mean(errors["EML"] / errors["EML-kappa"]))
    result.claim(
        "rodsim: EML-kappa, which rotates bodies by the Cayley map, is more accurate still",
        f"error {kappa.errors[-1]:.2e}, a factor {factor:.0f} below EML, order {kappa.order:.3f}",
        bool(np.all(kappa.errors < errors["MPL"])),
    )
    lines = [curve.line(name) for name, curve in curves.items()]
    result.panel("Centre of mass at t = 0.1", "h", "relative error", lines, "log")
