"""Three parallel yarns are twisted into a cord by a motor against a pull; they wind around each other as helices.

Their ends are hinged to two plates, so that no yarn is twisted itself; without contact they would stay straight, and cross on
the axis at half a turn. In contact along their whole length, they are helices of the radius R = 2 r/sqrt(3). The distance of
the ends of yarns of the length l that are rotated by theta is sqrt(l^2 - (R theta)^2). Apart from the part that bends the
yarns, the moment is that by which the pull P approaches: P R^2 theta/sqrt(l^2 - (R theta)^2).
"""

from __future__ import annotations

import numpy as np

from rigid.inertia import MassProperties
from rodsim import Model, Result, Section, signals, simulate

RADIUS, LENGTH, LINE = 2e-3, 0.15, 0.015  # m, m, kg/m
PULL, TURNS = 6.0, 2.0  # N, turns of the motor
REACH = 2.0 * RADIUS / np.sqrt(3.0)  # m, of their axes from that of the cord


def model(n_elements: int = 32, t_end: float = 0.4) -> Model:
    """Return the model; `n_elements`: number of elements of each yarn."""
    made = Model("bundle")
    section = Section.from_stiffness(
        EA=1e4,
        GA=4e3,
        GJ=1e-6,
        EI=1e-6,
        mass_per_length=LINE,
        inertia_per_length=LINE * RADIUS**2 / 4.0,
        damping_time=1e-3,
        radius=RADIUS,
    )
    rotation = signals.SmoothStep(2.0 * np.pi * TURNS, 0.0, t_end)
    motor = made.add_driven("motor", (LENGTH, 0, 0), turn=rotation, axis=(1, 0, 0))
    plate = made.add_body("plate", MassProperties(0.02, 1e-6 * np.eye(3)), (LENGTH, 0, 0))
    made.add_joint("turned", "prismatic", motor, plate, at=(LENGTH, 0, 0), axis=(1, 0, 0))
    yarns = []
    for k in range(3):
        y, z = REACH * np.cos(2.0 * np.pi * k / 3.0), REACH * np.sin(2.0 * np.pi * k / 3.0)
        yarn = made.add_rod(f"yarn {k + 1}", [(0, y, z), (LENGTH, y, z)], section, n_elements)
        made.add_joint(f"held {k + 1}", "spherical", made.ground, yarn.start)
        made.add_joint(f"hooked {k + 1}", "spherical", plate, yarn.end)
        made.add_mass_damping(f"air {k + 1}", yarn, 100.0)
        yarns.append(yarn)
    made.add_contact("cord", yarns, stiffness=4e6, stations=8)
    made.add_force("pull", plate, signals.SmoothStep(PULL, 0.0, 0.05).along((1, 0, 0)))
    return made


def run(n_elements: int = 32, t_end: float = 0.4, dt: float = 1e-3, progress: bool | None = None) -> Result:
    """Twist the yarns."""
    return simulate(model(n_elements, t_end), t_end, dt, output_every=10, progress=progress)


def shorter(result: Result) -> float:
    """Return the final shortening of the cord over that of helices."""
    around = REACH * 2.0 * np.pi * TURNS
    return float((LENGTH - result.body("plate").r[-1, 0]) / (LENGTH - np.sqrt(LENGTH**2 - around**2)))


def heavier(result: Result) -> float:
    """Return the moment of the motor over that which moves the pull; the remainder bends the yarns."""
    angle = 2.0 * np.pi * TURNS
    moment = PULL * REACH**2 * angle / np.sqrt(LENGTH**2 - (REACH * angle) ** 2)
    return float(abs(result.joint("turned").moment[-1, 0]) / moment)


if __name__ == "__main__":
    for n_elements in (32, 64):
        result = run(n_elements)
        print(
            f"{n_elements} elements: shorter {shorter(result):.4f}, moment {heavier(result):.4f} of helices'"
        )
    balance = np.ptp(result.energy["total"] + result.dissipation - result.work)
    print(f"energy and loss less {result.work[-1]:.2e} J of work change by {balance:.1e} J")
