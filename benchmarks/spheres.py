"""Run a ball that hits 64 others with rodsim and with Exudyn's general contact (benchmarks/README.md).

    python -m benchmarks.spheres

All balls have equal masses and linear springs without losses: both programs solve the same equations. The
table has the largest position error at the end compared with small steps, the change of the energy, and the
cost.
"""

from __future__ import annotations

import itertools
from time import process_time

import numpy as np

from benchmarks.cases import Floats
from rodsim import Model, Sphere, simulate

RADIUS, MASS, STIFFNESS, SPEED, SIDE = (
    0.05,
    1.0,
    1e5,
    5.0,
    4,
)  # m, kg, N/m, m/s, balls along an edge of the cube
T_END = 0.1  # s


def start() -> tuple[Floats, Floats]:
    """Positions and velocities (n, 3): a cube with gaps, and one ball that approaches obliquely."""
    grid = 2.03 * RADIUS * np.array(list(itertools.product(range(SIDE), repeat=3)), float)
    last = np.array([[1.37, 1.61, -1.2]]) * 2.03 * RADIUS
    velocities = np.zeros((len(grid) + 1, 3))
    velocities[-1] = SPEED * np.array([0.1, 0.05, 1.0])
    return np.concatenate([grid, last]), velocities


def of_rodsim(steps: int) -> tuple[Floats, Floats, float]:
    """Positions and velocities at the end, and seconds."""
    model, (positions, velocities) = Model("spheres", gravity=(0, 0, 0)), start()
    balls = []
    for k, (x, v) in enumerate(zip(positions, velocities, strict=True)):
        body = model.add_body(f"{k}", Sphere(RADIUS, mass=MASS), tuple(x), velocity=tuple(v))
        balls.append(model.add_sphere(f"ball {k}", body, RADIUS))
    model.add_contact("all", balls, stiffness=STIFFNESS)
    begun = process_time()
    result = simulate(model, T_END, T_END / steps, output_every=steps, progress=False)
    seconds = process_time() - begun
    ends = [
        np.array([getattr(result.body(name), field)[-1] for name in result.bodies]) for field in ("r", "v")
    ]
    return ends[0], ends[1], seconds


def of_exudyn(scheme: str, steps: int) -> tuple[Floats, Floats, float]:
    """Positions and velocities at the end by Exudyn, and seconds."""
    from benchmarks.peers import exudyn_contact

    return exudyn_contact.run(*start(), RADIUS, MASS, STIFFNESS, scheme, T_END, steps)


def energy(positions: Floats, velocities: Floats) -> float:
    """Kinetic energy and that of all springs, J."""
    i, k = np.triu_indices(len(positions), 1)
    depth = np.maximum(2.0 * RADIUS - np.linalg.norm(positions[i] - positions[k], axis=1), 0.0)
    return float(0.5 * MASS * np.sum(velocities**2) + 0.5 * STIFFNESS * np.sum(depth**2))


def line(name: str, steps: int, ends: tuple[Floats, Floats, float], exact: Floats) -> str:
    """Return a line of the table."""
    error = np.linalg.norm(ends[0] - exact, axis=1).max()
    first = energy(*start())
    return f"{name:24s} {steps:7d} {error:9.1e} {energy(*ends[:2]) / first - 1.0:10.1e} {ends[2]:8.3f}"


def main() -> None:
    """Print the table."""
    of_rodsim(2)
    exact = of_rodsim(64_000)[0]
    print(f"{'':24s}   steps   error m     energy        s", flush=True)
    for steps in (100, 200, 400, 1000, 4000):
        print(line("rodsim", steps, of_rodsim(steps), exact), flush=True)
    try:
        from benchmarks.peers import exudyn_contact
    except ImportError:
        print("Exudyn is not installed")
        return
    for scheme in exudyn_contact.SCHEMES:
        for steps in (200, 400, 1000, 4000, 16_000):
            print(line(f"Exudyn, {scheme}", steps, of_exudyn(scheme, steps), exact), flush=True)


if __name__ == "__main__":
    main()
