"""A free rod, loaded at one end, tumbles through space: the flying spaghetti of Simo and Vu-Quoc (1988).

A straight rod of length 10 from (6, 0, 0) to (0, 8, 0) is loaded at its first end by a force f/10 e1 and a
moment (0, -f/2, -f). f is a triangle with the peak 200 at t = 2.5, zero from t = 5 on. EA = GA = 1e4,
GJ = EI = 500, A_rho = 1, J_rho = diag(20, 10, 10). After t = 5 the rod is free: energy, linear momentum
(50, 0, 0) and angular momentum are conserved.

Converged positions of the ends: t = 5 (19.213602, 1.6255553, -2.1272407) and (12.953001, 6.809428,
3.0287719).

The picture shows the rod, which flies to the right while it winds and unwinds.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rodsim import Model, Result, Section, signals, simulate

# Loaded and free end at t = 5 and t = 10, spectral elements, accurate to 2e-5.
CONVERGED = {
    5.0: np.array([[19.213602, 1.6255553, -2.1272407], [12.953001, 6.809428, 3.0287719]]),
    10.0: np.array([[42.832147, 3.6926775, -4.3862873], [38.31212, 5.1981688, 4.2515371]]),
}


def model(n_elements: int = 20) -> Model:
    """Return the rod and its load."""
    spaghetti = Model("flying spaghetti")
    section = Section.from_stiffness(
        EA=1e4,
        GA=1e4,
        GJ=500.0,
        EI=500.0,
        mass_per_length=1.0,
        inertia_per_length=(20.0, 10.0, 10.0),
        radius=0.15,
    )
    rod = spaghetti.add_rod("spaghetti", [(6, 0, 0), (0, 8, 0)], section, n_elements)
    f = signals.Triangle(peak=200.0, t_peak=2.5, t_end=5.0)
    spaghetti.add_force("pull", rod.start, f.along((0.1, 0.0, 0.0)))
    spaghetti.add_moment("twist", rod.start, f.along((0.0, -0.5, -1.0)))
    return spaghetti


def run(
    n_elements: int = 20,
    dt: float = 0.1,
    t_end: float = 105.0,
    output: Path | None = None,
    output_every: int = 5,
    progress: bool | None = None,
) -> Result:
    """Simulate the rod; by default 1000 steps after the end of the load."""
    return simulate(
        model(n_elements),
        t_end,
        dt,
        output=output,
        output_every=output_every,
        progress=progress,
        overwrite=True,
    )


def end_error(result: Result, t: float) -> float:
    """Return the largest distance of an end of the rod from its converged position at t = 5 or 10."""
    ends = result.rod("spaghetti").r[result.index_at(t)][[0, -1]]
    return float(np.linalg.norm(ends - CONVERGED[t], axis=1).max())


def convergence(pairs: list[tuple[int, float]]) -> list[tuple[int, float, float, float]]:
    """Return rows (elements, h, error at t = 5, error at t = 10)."""
    rows = []
    for n_elements, h in pairs:
        result = run(n_elements, h, 10.0, output_every=round(5.0 / h))
        rows.append((n_elements, h, end_error(result, 5.0), end_error(result, 10.0)))
    return rows


if __name__ == "__main__":
    print("elements      h   error at t = 5   at t = 10")
    for n, h, at5, at10 in convergence([(20, 0.1), (40, 0.05), (80, 0.025), (160, 0.0125), (320, 0.00625)]):
        print(f"{n:8d} {h:6g}   {at5:14.5f}   {at10:9.5f}")
