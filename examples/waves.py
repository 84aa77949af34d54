"""Waves along a rod: frequencies of the elements compared with the exact ones.

A straight, round steel bar of radius 1 cm has a mean node distance of 1 cm. Waves along it, of stretch, twist, bending and
shear (Timoshenko's lower and upper branch), have exact frequencies omega(k); the frequencies of a rod of elements follow from
its matrices. Long waves agree; the shortest that the nodes resolve, with two nodes per wavelength (k = pi/distance), is slower
by 36 % (2/pi of its frequency) along a rod of `se3` elements with lumped masses.

The picture shows four branches, exact in grey. The branches of `se3` deviate smoothly. Elements of order p follow the exact
ones further, and have a gap at each wavelength of which a multiple of the half is the length of an element: between the
frequencies of the two standing waves.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rodsim import Material, Section
from rodsim.waves import BRANCHES, Cell, exact_wave

SECTION = Section.circular(0.01, Material(E=2.1e11, nu=0.3, density=7850.0))
BETWEEN = 0.01  # m between nodes, in the mean
SHOWN = (("se3", "lumped"), ("se3", "mean"), ("relative(2)", "lumped"), ("relative(4)", "lumped"))


def curves(element: str, mass: str, points: int = 60) -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Return, by branch, k over the largest that the nodes resolve, exact frequencies, and those of the elements, rad/s."""
    from discretization.space.rod_elements import order_of

    cell = Cell(SECTION, element, mass, BETWEEN * order_of(element))
    x = np.linspace(1 / points, 1, points)
    k = x * np.pi / BETWEEN
    return {
        branch: (
            x,
            np.array([exact_wave(SECTION, wave_number, branch).omega for wave_number in k]),
            np.array([cell.wave(wave_number, branch).omega for wave_number in k]),
        )
        for branch in BRANCHES
    }


def picture(path: Path, points: int = 60) -> Path:
    """Draw four branches, exact and of the elements SHOWN."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 7.5), layout="constrained", dpi=130)
    panels = figure.subplots(2, 2)
    for (element, mass), color in zip(SHOWN, ("#e07a3f", "#c9a227", "#1f6f8b", "#5b8c5a"), strict=True):
        for (branch, (x, exact, computed)), ax in zip(
            curves(element, mass, points).items(), panels.flat, strict=True
        ):
            if (element, mass) == SHOWN[0]:
                ax.plot(x, exact / 2e3 / np.pi, color="#999999", linewidth=4, label="exact")
                ax.set_title(branch)
            ax.plot(x, computed / 2e3 / np.pi, color=color, linewidth=1.3, label=f"{element}, {mass}")
    for ax in panels.flat:
        ax.set_xlabel("distance of nodes over half a wave length")
        ax.set_ylabel("frequency (kHz)")
        ax.grid(True, color="#dddddd", linewidth=0.6)
        ax.spines[["top", "right"]].set_visible(False)
    panels[0, 0].legend(frameon=False, fontsize="small")
    figure.savefig(path)
    return path


if __name__ == "__main__":
    print(f"wrote {picture(Path('waves.png'))}")
