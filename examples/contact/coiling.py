"""A rubber cord is let down onto a belt that runs: it lies down in coils, in meanders or straight, by the speed of the belt.

The cord hangs from a nozzle that comes down with the speed V, so that V of it reaches the belt a second. A belt that runs as fast
takes it away straight; a slower one has more cord than way, and the cord lies down in meanders, on a slow belt in coils. Their
size goes with the length at which bending resists weight, (EI/(rho A g))^(1/3).

Source: M. K. Jawed, F. Da, J. Joo, E. Grinspun, P. M. Reis, Coiling of elastic rods on rigid substrates, PNAS 111 (2014) 14663.
The cord does not feel itself here: where it would lie on itself it goes through.
"""

from __future__ import annotations

import numpy as np

from rigid.system import Floats
from rodsim import Material, Model, Result, Section, signals, simulate

G, RADIUS, LENGTH, FEED = 9.81, 0.003, 1.2, 0.25  # m/s^2, m, m, m/s
RUBBER = Material(E=1e6, nu=0.45, density=1000.0)
BENDING_LENGTH = (RUBBER.E * RADIUS**2 / (4.0 * RUBBER.density * G)) ** (1 / 3)  # m, (EI/(rho A g))^(1/3)


def model(belt: float = 0.2, n_elements: int = 40) -> Model:
    """belt: speed over that of the nozzle. For half a second the lower end is pushed aside, so that it knows where to fall."""
    made = Model("coiling", gravity=(0.0, 0.0, -G))
    foot, top = (0.0, 0.0, RADIUS + 0.002), (0.0, 0.0, RADIUS + 0.002 + LENGTH)
    cord = made.add_rod("cord", [foot, top], Section.circular(RADIUS, RUBBER), n_elements, up=(0, 1, 0))
    nozzle = made.add_driven("nozzle", top, displacement=signals.Steady(-FEED).along((0, 0, 1)))
    made.add_joint("held", "weld", nozzle, cord.end)
    runs = made.add_driven("belt", displacement=signals.Steady(FEED * belt).along((1, 0, 0)))
    face = made.add_plane("face", runs, (0, 0, 1))
    made.add_contact("lies", cord, face, stiffness=2e3, friction=0.6, damping=10.0, stations=2)
    made.add_mass_damping("air", cord, 2.0)
    made.add_force("aside", cord.start, lambda t: (0.0, 5e-3 if t < 0.5 else 0.0, 0.0))
    return made


def run(
    belt: float = 0.2,
    t_end: float = 4.0,
    dt: float = 5e-3,
    n_elements: int = 40,
    progress: bool | None = None,
) -> Result:
    """Simulate until most of the cord is down."""
    return simulate(model(belt, n_elements), t_end, dt, output_every=10, progress=progress)


def lying(result: Result, k: int = -1) -> Floats:
    """(m, 2) m, the nodes that lie on the belt, from the first that did; without those that were pushed aside at first."""
    r = result.rod("cord").r[k]
    up = np.flatnonzero(r[:, 2] > 1.5 * RADIUS)
    return np.asarray(r[3 : up[0] if len(up) else len(r), :2])


def turns(result: Result, k: int = -1) -> float:
    """By how much the direction of what lies turns round, the way there and the way back being different."""
    d = np.diff(lying(result, k), axis=0)
    bends = np.arctan2(d[:-1, 0] * d[1:, 1] - d[:-1, 1] * d[1:, 0], np.sum(d[:-1] * d[1:], axis=1))
    return float(np.ptp(np.concatenate([[0.0], np.cumsum(bends)])) / (2.0 * np.pi))


def width(result: Result, k: int = -1) -> float:
    """Of the pattern across the belt, over the length at which bending resists weight."""
    return float(np.ptp(lying(result, k)[:, 1]) / BENDING_LENGTH)


if __name__ == "__main__":
    for ratio in (0.2, 0.6, 1.0):
        found = run(ratio)
        print(f"belt {ratio:.1f} V: {turns(found):.2f} turns, {width(found):.2f} lengths wide")
