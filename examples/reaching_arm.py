"""A soft arm reaches a point: a controller reads where the arm is and drives muscles spread along it.

The arm and the point are those of PyElastica's ArmWithBasisFunctions: 1 m long, 5 cm thick, E = 10 MPa, in water. Muscle k bends
the arm with the couple u_k phi_k(s), a bell about s = c_k. It acts between the sections, so that two neighbouring nodes bear the
difference of the couple. The curvature phi_k at s moves the tip by e_z x (r - r(s)) phi_k ds. So every 10 ms the controller reads
the positions of the tip, r, and of the middle of each muscle, r_k, and changes the couples by damped least squares:

    du/dt = G J^T (J J^T + M 1)^-1 (r* - r),   J_k = e_z x (r - r_k)                                     (1)

At rest r = r*, and the curvature is that of the couples, so that the shape follows from them alone by a quadrature:

    EI theta'(s) = sum_k u_k phi_k(s),   r = integral (sin theta, -cos theta) ds                         (2)

    python -m examples.reaching_arm
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rodsim import Material, Model, Result, Section, measures, simulate

Array = NDArray[np.float64]
LENGTH, RADIUS = 1.0, 0.025  # m
SECTION = Section.circular(RADIUS, Material(E=1e7, nu=0.5, density=1000.0))
DRAG = 5.0  # kg/(m s)
TARGET = np.array([0.50805374, -0.45940746])  # m
CENTERS, WIDTH = np.array([0.2, 0.4, 0.6, 0.8]), 0.15  # fractions of the length
GAIN, DAMPING, PERIOD = 12.0, 0.01, 0.01  # N m/s, m^2, s


def bells(s: Array) -> Array:
    """Return the shapes phi_k (muscles, ...) at fractions s of the length."""
    shapes: Array = np.exp(-(((s - CENTERS.reshape(-1, *np.ones(np.ndim(s), int))) / WIDTH) ** 2))
    return shapes


def reach(t: float, h: float, measured: Array, memory: Array, outputs: Array) -> None:
    """Set the couples by (1), and remember them."""
    tip, muscles = measured[:2], measured[2:].reshape(-1, 2)
    x, y = (tip - muscles).T
    J = np.stack([-y, x])
    memory += h * GAIN * J.T @ np.linalg.solve(J @ J.T + DAMPING * np.eye(2), TARGET - tip)
    outputs[:] = memory


def arm(n: int = 40) -> Model:
    """Return the hanging arm of n elements with its muscles."""
    model = Model("reaching arm")
    rod = model.add_rod("arm", [(0, 0, 0), (0, -LENGTH, 0)], SECTION, n, up=(0, 0, 1))
    model.add_joint("base", "clamp", rod.start)
    model.add_mass_damping("water", rod, DRAG / SECTION.mass_per_length)
    inputs = []
    for name, s in [("tip", 1.0), *((f"muscle {k}", s) for k, s in enumerate(CENTERS))]:
        for axis, direction in (("x", (1, 0, 0)), ("y", (0, 1, 0))):
            model.add_sensor(f"{name} {axis}", measures.coordinate(rod.at(s), axis=direction))
            inputs.append(f"{name} {axis}")
    outputs = [f"u{k}" for k in range(len(CENTERS))]
    brain = model.add_controller(
        "brain", reach, inputs, period=PERIOD, outputs=outputs, memory=np.zeros(len(CENTERS))
    )
    couples = np.pad(bells((np.arange(n) + 0.5) / n), ((0, 0), (1, 1)))  # of each element
    for k, steps in enumerate(couples[:, :-1] - couples[:, 1:]):
        for i in range(1, n + 1):
            model.add_moment(
                f"muscle {k} at {i}", rod.at(i / n), brain.output(f"u{k}").along((0, 0, steps[i]))
            )
    return model


def tip_by_curvature(u: Array, points: int = 2000) -> Array:
    """Return the tip (2,), m, of the arm at rest with couples u (muscles,), N m, by (2)."""
    s = (np.arange(points) + 0.5) / points
    curvature = u @ bells(s) / SECTION.stiffness[4, 4]
    theta = (np.cumsum(curvature) - 0.5 * curvature) / points
    return np.array([np.sin(theta).mean(), -np.cos(theta).mean()])


def run(n: int = 40, t_end: float = 10.0, dt: float = 0.01) -> Result:
    """Let the arm reach."""
    return simulate(arm(n), t_end, dt, output_every=5, progress=False)


if __name__ == "__main__":
    result = run()
    tip = result.rod("arm").r[:, -1, :2]
    u = np.array([result.controller("brain").output(f"u{k}")[-1] for k in range(len(CENTERS))])
    distance = np.linalg.norm(tip - TARGET, axis=1)
    print(
        "distance from the point after",
        ", ".join(f"{t:g} s: {distance[result.index_at(t)]:.2e} m" for t in (0, 1, 2, 5, 10)),
    )
    print("couples", np.round(u, 3), "N m; by them the tip is at", tip_by_curvature(u))
