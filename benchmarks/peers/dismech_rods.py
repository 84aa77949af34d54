"""Two free rods that collide side by side in dismech-newton.

dismech-newton is a discrete elastic rod code with implicit contact. Its rods have no shear; its contact has
no depth (offset surfaces, by ADMM); its step is implicit Euler in float32.
"""

from __future__ import annotations

from time import process_time
from typing import NamedTuple

import newton
import numpy as np
import warp as wp

wp._src.codegen.Struct.__or__ = lambda self, other: (
    self
)  # operator that an annotation of 0.1.0.post4 needs from warp 1.19
from dismech_newton import DiSMechSolver  # noqa: E402

NAME = "dismech-newton"


class Impact(NamedTuple):
    """State after the collision of two rods."""

    hits: float  # velocity of the moving rod, relative to its initial one
    hit: float  # of the other
    kinetic: float  # kinetic energy, relative to the initial one
    momentum: float  # change, relative to the initial momentum
    least: float  # least distance of the axes over the diameter
    seconds: float  # processor time, s, of a step


def run(
    n: int,
    h: float,
    t_end: float,
    *,
    radius: float,
    length: float,
    density: float,
    E: float,
    speed: float,
    gap: float,
    iterations: int = 20,
) -> Impact:
    """Rods of n segments, parallel, one at rest; the other moves with `speed`, m/s, from a distance `gap`, m,
    before contact.
    """
    builder = newton.ModelBuilder(gravity=0.0)
    DiSMechSolver.register_custom_attributes(builder)
    shape = newton.ModelBuilder.ShapeConfig(density=density, mu=0.0)
    for z in (0.0, 2.0 * radius + gap):
        y = np.linspace(0.0, length, n + 1)
        points = np.column_stack([0.0 * y, y, 0.0 * y + z])
        rod = newton.Rod(points, radius=radius, youngs_modulus=E, poissons_ratio=0.3)
        DiSMechSolver.add_rod(builder, rod, cfg=shape)
    model = builder.finalize(device="cpu")
    state, following = model.state(), model.state()
    v = state.particle_qd.numpy()
    v[n + 1 :, 2] = -speed
    state.particle_qd.assign(v)
    solver, least, steps, begun = DiSMechSolver(model, iterations=iterations), np.inf, round(t_end / h), 0.0
    for k in range(steps):
        if k == 1:  # the first step compiles
            begun = process_time()
        solver.step(state, following, None, None, h)
        state, following = following, state
        z = state.particle_q.numpy()[:, 2]
        least = min(least, float((z[n + 1 :] - z[: n + 1]).min()) / (2.0 * radius))
    wp.synchronize()
    seconds = (process_time() - begun) / (steps - 1)
    weights = np.full(n + 1, 1.0 / n)
    weights[[0, -1]] *= 0.5
    low, high = (weights @ part for part in np.split(state.particle_qd.numpy().astype(float), 2))
    kinetic = sum(
        weights @ np.sum(part.astype(float) ** 2, axis=1) for part in np.split(state.particle_qd.numpy(), 2)
    )
    return Impact(
        -high[2] / speed,
        -low[2] / speed,
        float(kinetic) / speed**2,
        float(-(low + high)[2] / speed - 1.0),
        least,
        seconds,
    )
