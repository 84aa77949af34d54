"""A rubber cord is lowered onto a moving belt: the belt's speed decides whether it coils, meanders or stays straight.

The cord hangs from a nozzle that descends with the speed V, so that a length V of it reaches the belt per second. A belt of
the same speed carries it away straight. On a slower belt more cord than belt length arrives, and it forms meanders, on a slow
belt coils. Their size scales with the length at which bending balances weight, (EI/(rho A g))^(1/3).

Source: M. K. Jawed, F. Da, J. Joo, E. Grinspun, P. M. Reis, Coiling of elastic rods on rigid substrates, PNAS 111 (2014)
14663. The cord has no contact with itself here: where it would lie on itself it passes through.
"""

from __future__ import annotations

import numpy as np

from rigid.system import Floats
from rodsim import Material, Model, Result, Section, signals, simulate

G, RADIUS, LENGTH, FEED = 9.81, 0.003, 1.2, 0.25  # m/s^2, m, m, m/s
RUBBER = Material(E=1e6, nu=0.45, density=1000.0)
BENDING_LENGTH = (RUBBER.E * RADIUS**2 / (4.0 * RUBBER.density * G)) ** (1 / 3)  # m, (EI/(rho A g))^(1/3)


def model(belt: float = 0.2, n_elements: int = 40) -> Model:
    """Return the model; `belt`: speed of the belt over that of the nozzle.

    For half a second the lower end is pushed sideways, to determine the direction in which the cord falls.
    """
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
    """Simulate until most of the cord lies on the belt."""
    return simulate(model(belt, n_elements), t_end, dt, output_every=10, progress=progress)


def lying(result: Result, k: int = -1) -> Floats:
    """Return the positions (m, 2), m, of the nodes on the belt, without those that were pushed sideways at first."""
    r = result.rod("cord").r[k]
    up = np.flatnonzero(r[:, 2] > 1.5 * RADIUS)
    return np.asarray(r[3 : up[0] if len(up) else len(r), :2])


def turns(result: Result, k: int = -1) -> float:
    """Return the total rotation of the direction of the cord on the belt; rotations in opposite directions cancel."""
    d = np.diff(lying(result, k), axis=0)
    bends = np.arctan2(d[:-1, 0] * d[1:, 1] - d[:-1, 1] * d[1:, 0], np.sum(d[:-1] * d[1:], axis=1))
    return float(np.ptp(np.concatenate([[0.0], np.cumsum(bends)])) / (2.0 * np.pi))


def width(result: Result, k: int = -1) -> float:
    """Return the width of the pattern across the belt over the length at which bending balances weight."""
    return float(np.ptp(lying(result, k)[:, 1]) / BENDING_LENGTH)


if __name__ == "__main__":
    for ratio in (0.2, 0.6, 1.0):
        result = run(ratio)
        print(f"belt {ratio:.1f} V: {turns(result):.2f} turns, {width(result):.2f} lengths wide")
