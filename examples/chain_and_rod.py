"""Compare a chain of rigid bars with a rod: both fall from the horizontal, with equal length and mass.

Both are pinned at the wall and start at rest. The chain has ten bars with spherical joints, square section
0.05 m, density 1000 kg/m^3; the rod is a thin rubber cord (E = 5e5 Pa). At first they fall alike; then the
cord, which resists bending and stretches, lags behind the whip of the chain. The energy of each is conserved
to round-off.

The picture shows both side by side at several times.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rodsim import Box, Material, Model, Result, Section, simulate

LENGTH, SIDE, DENSITY = 2.0, 0.05, 1000.0
BETWEEN = 0.8  # m between the two


def model(n_bars: int = 10, n_elements: int = 40) -> Model:
    """Return the model: the chain at y = 0, the rod at y = BETWEEN."""
    pair = Model("chain and rod", gravity=(0.0, 0.0, -9.81))
    bar_length = LENGTH / n_bars
    bar = Box(bar_length, SIDE, SIDE, density=DENSITY)
    last = pair.ground.at((0.0, 0.0, 0.0))
    for k in range(n_bars):
        body = pair.add_body(f"bar {k + 1}", bar, position=((k + 0.5) * bar_length, 0.0, 0.0))
        pair.add_joint(f"joint {k + 1}", "spherical", last, body.at((-bar_length / 2, 0.0, 0.0)))
        last = body.at((bar_length / 2, 0.0, 0.0))
    rubber = Material(E=5e5, nu=0.45, density=DENSITY)
    section = Section.rectangle(SIDE, SIDE, rubber)
    rod = pair.add_rod("cord", [(0.0, BETWEEN, 0.0), (LENGTH, BETWEEN, 0.0)], section, n_elements)
    pair.add_joint("pin", "spherical", pair.ground, rod.start)
    return pair


def run(
    dt: float = 2.5e-3,
    t_end: float = 3.0,
    output: Path | None = None,
    output_every: int = 8,
    progress: bool | None = None,
) -> Result:
    """Simulate the fall."""
    return simulate(
        model(), t_end, dt, output=output, output_every=output_every, progress=progress, overwrite=True
    )


def tips(result: Result) -> tuple[np.ndarray, np.ndarray]:
    """Return the paths (T, 3), m, of the free ends of chain and rod; that of the rod is shifted into the chain's plane."""
    last = result.body("bar 10")
    half = np.array([LENGTH / 20, 0.0, 0.0])
    from rigid import quaternions

    chain = last.r[:] + quaternions.rotate(last.quat[:], half)
    return chain, result.rod("cord").r[:, -1] - [0.0, BETWEEN, 0.0]


if __name__ == "__main__":
    fall = run()
    chain, cord = tips(fall)
    apart = np.linalg.norm(chain - cord, axis=1)
    for t in (0.2, 0.5, 1.0, 2.0, 3.0):
        i = fall.index_at(t)
        print(
            f"t = {t:3.1f}  chain tip z = {chain[i, 2]:7.3f}  cord tip z = {cord[i, 2]:7.3f}  apart {apart[i]:.3f}"
        )
