"""Compare a chain of bars with a rope, and flexible bars with rigid ones.

As the number of links grows, a chain tends to a rope without bending stiffness. Both are released straight, tilted about their
upper end, and swing. With N links of length L/N the difference tends to be proportional to 1/N^2, because each link has the
rotational inertia m (L/N)^2/12, which the rope does not have. The chain of elastic bars tends to the rigid one as 1/E.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from examples.rigid_flexible.converging import Study, converge, show
from rodsim import Box, Comparison, Material, Model, Section, compare, simulate

LENGTH, SIDE, DENSITY, TILT = 1.0, 0.01, 1000.0, 0.5  # m, m, kg/m^3, rad from hanging
ALONG = np.array([np.sin(TILT), 0.0, -np.cos(TILT)])


def bars(E: float, n_bars: int = 2, n_elements: int = 4) -> Model:
    """Return a chain of elastic bars with spherical joints."""
    chain = Model("chain of bars", gravity=(0.0, 0.0, -9.81))
    section = Section.rectangle(SIDE, SIDE, Material(E=E, nu=0.3, density=DENSITY))
    last = None
    for k in range(n_bars):
        ends = [LENGTH * x / n_bars * ALONG for x in (k, k + 1)]
        bar = chain.add_rod(f"bar {k + 1}", ends, section, n_elements)
        chain.add_joint(f"joint {k + 1}", "spherical", chain.ground if last is None else last, bar.start)
        last = bar.end
    return chain


def rigid_chain(n_bars: int) -> Model:
    """Return the same chain of rigid boxes."""
    chain = Model("chain", gravity=(0.0, 0.0, -9.81))
    half = np.array([LENGTH / n_bars / 2, 0.0, 0.0])
    orientation = (np.cos((np.pi / 2 - TILT) / 2), 0.0, np.sin((np.pi / 2 - TILT) / 2), 0.0)
    last = chain.ground.at((0, 0, 0))
    for k in range(n_bars):
        shape = Box(LENGTH / n_bars, SIDE, SIDE, density=DENSITY)
        bar = chain.add_body(f"bar {k + 1}", shape, LENGTH * (k + 0.5) / n_bars * ALONG, orientation)
        chain.add_joint(f"joint {k + 1}", "spherical", last, bar.at(-half))
        last = bar.at(half)
    return chain


def rope(n_elements: int = 128) -> Model:
    """Return a rod with a very high axial and a negligible bending stiffness."""
    model = Model("rope", gravity=(0.0, 0.0, -9.81))
    mass = DENSITY * SIDE**2
    section = Section.from_stiffness(
        EA=1e5, GA=1e5, GJ=1e-7, EI=1e-7, mass_per_length=mass, inertia_per_length=mass * 1e-6
    )
    rod = model.add_rod("rope", [(0, 0, 0), LENGTH * ALONG], section, n_elements)
    model.add_joint("pin", "spherical", model.ground, rod.start)
    return model


def against_rope(n_bars: int, t_end: float = 0.4, dt: float = 2.5e-3, n_elements: int = 128) -> Comparison:
    """Return the positions of middle and tip of chain and rope."""
    half = LENGTH / n_bars / 2
    points = [f"rope@{x / 2:g}=bar {round(x * n_bars / 2)}@{half!r},0,0" for x in (1, 2)]
    return compare(
        simulate(rope(n_elements), t_end, dt),
        simulate(rigid_chain(n_bars), t_end, dt),
        points,
        names=("rope", f"chain of {n_bars}"),
    )


def study(stiffness: tuple[float, ...] = (1e8, 4e8, 1.6e9), t_end: float = 0.5, dt: float = 1e-3) -> Study:
    """Compare elastic with rigid bars."""
    return converge(bars, stiffness, t_end, dt)


if __name__ == "__main__":
    show("Chain of bars", study())
    for n in (8, 16, 32):
        comparison = against_rope(n)
        print(
            f"  {n:2d} bars and a rope are apart by "
            f"{max(row.rms / row.scale for row in comparison.rows if row.kind == 'point'):.2e}"
        )
    print(f"  picture: {comparison.plot(Path('out') / 'chain_and_rope.png')}")
