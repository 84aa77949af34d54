"""The overhand knot of `benchmarks/tight_knots.py` in DisMech.

DisMech has discrete elastic rods with an implicit contact model. py_dismech is built from its sources,
github.com/StructuresComp/dismech-rods (measured: ea6b818), with Eigen 3.4, FCL 0.7, SymEngine 0.14 with LLVM,
and MKL; its drawing by GLUT is not used here. Its contact is a spring for each pair of segments, not for a
length: k_scaler depth^2, smooth over `delta` on both sides of a touch. Segments up to the second neighbour
are excluded, regardless of their length: segments shorter than the rod's radius would touch in a straight
rod. Friction is smooth over the speed `nu`.
"""

from __future__ import annotations

from time import process_time
from typing import Any

import numpy as np
import py_dismech
from scipy.interpolate import CubicSpline

from benchmarks.tight_knots import LENGTH, SPEED, TIGHT, Pulled, shape_of
from examples.contact.knot import RADIUS, RUBBER, B
from rigid.system import Floats

NAME = "DisMech"
EA = RUBBER.E * np.pi * RADIUS**2


def chords(curve: Floats, n: int) -> Floats:
    """Points (n + 1, 3) at equal distances along a curve (m, 3), scaled so that the chords are as long as the
    rod, m.
    """
    arc = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1)))
    points = CubicSpline(arc, curve)(np.linspace(0.0, arc[-1], n + 1))
    return np.asarray(points * LENGTH / np.linalg.norm(np.diff(points, axis=0), axis=1).sum())


class PulledRod:
    """A simulation of a rod whose ends are moved apart."""

    def __init__(
        self,
        points: Floats,
        dt: float,
        *,
        stiffness: float,
        delta: float,
        friction: float = 0.0,
        nu: float = 1e-3,
        viscosity: float = 0.0,
        integrator: str = "BACKWARD_EULER",
        ftol: float = 1e-4,
        dtol: float = 1e-2,
        line_search: str = "GOLDSTEIN",
        iterations: int = 500,
    ) -> None:
        """points: (n + 1, 3) m, of a rod that is straight without stress."""
        n, manager = len(points) - 1, py_dismech.SimulationManager()
        manager.sim_params.dt, manager.sim_params.sim_time = dt, 1e9
        manager.sim_params.ftol, manager.sim_params.dtol = ftol, dtol
        manager.sim_params.integrator = getattr(py_dismech, integrator)
        manager.sim_params.line_search = getattr(py_dismech, line_search)
        manager.sim_params.max_iter.num_iters = iterations
        manager.render_params.renderer, manager.render_params.cmd_line_per = py_dismech.HEADLESS, 0
        self.lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
        manager.soft_robots.addLimb(list(points), RUBBER.density, RADIUS, RUBBER.E, RUBBER.nu, friction)
        self.rod = manager.soft_robots.limbs[0]
        manager.soft_robots.lockEdge(0, 0)
        self.rod.setVertexBoundaryCondition(points[-1], n)
        self.contact = py_dismech.ContactForce(
            manager.soft_robots, 4 * delta, delta, stiffness, friction > 0.0, nu, True
        )
        manager.forces.addForce(self.contact)
        if viscosity:
            manager.forces.addForce(py_dismech.DampingForce(manager.soft_robots, viscosity))
        manager.initialize(["knot"])
        self.simulation, self.n, self.dt, self.t = manager, n, dt, 0.0
        self.step(
            0.0, {"curvature": np.array([[0.0, k, 0.0, 0.0] for k in range(1, n)])}
        )  # straight without stress

    @property
    def points(self) -> Floats:
        return np.asarray(self.rod.getVertices())

    @property
    def short(self) -> float:
        points = self.points
        return LENGTH - float(points[-1, 0] - points[0, 0])

    def step(self, displacement: float, state: dict | None = None) -> None:
        """Take a step with the ends moved `displacement`, m."""
        half = 0.5 * displacement
        moved = [[0, 0, -half, 0, 0], [0, 1, -half, 0, 0], [0, self.n, half, 0, 0]]
        self.simulation.step_simulation({"delta_position": np.array(moved, dtype=float), **(state or {})})
        self.t += self.dt

    def energy(self, points: Floats) -> float:
        """Energy of stretch and bending, J; without friction there is no twist."""
        sides = np.linalg.norm(np.diff(points, axis=0), axis=1)
        between = 0.5 * (self.lengths[:-1] + self.lengths[1:])
        t = np.diff(points, axis=0) / sides[:, None]
        kb = 2.0 * np.cross(t[:-1], t[1:]) / (1.0 + np.einsum("ij,ij->i", t[:-1], t[1:]))[:, None]
        bending = 0.5 * B * float((np.einsum("ij,ij->i", kb, kb) / between).sum())
        return bending + 0.5 * EA * float(((sides / self.lengths - 1.0) ** 2 * self.lengths).sum())

    def kinetic(self) -> float:
        """Kinetic energy of the nodes, J."""
        lengths = np.append(self.lengths, 0.0) + np.append(0.0, self.lengths)
        v = np.asarray(self.rod.getVelocities())
        return 0.25 * RUBBER.density * np.pi * RADIUS**2 * float(lengths @ np.einsum("ij,ij->i", v, v))

    def pull(self) -> float:
        """Force on the free end, N: derivative of the energy with respect to its position."""
        points, out = self.points[-3:], []
        lengths, self.lengths = self.lengths, self.lengths[-2:]
        for way in (1e-7, -1e-7):
            moved = points.copy()
            moved[-1, 0] += way
            out.append(self.energy(moved))
        self.lengths = lengths
        return (out[0] - out[1]) / 2e-7


def pulled(
    curve: Floats,
    n: int,
    dt: float,
    *,
    speed: float = SPEED,
    last: float = TIGHT,
    every: int = 1,
    **settings: Any,
) -> Pulled:
    """Pull a knot of n segments from rest with `speed`, m/s, after a second of acceleration, until s is
    `last`, m.
    """
    pulling = PulledRod(chords(curve, n), dt, **settings)
    out: list[tuple[float, ...]] = []
    seconds, work, t, k, force = 0.0, 0.0, 0.0, 0, pulling.pull()
    while pulling.short > last:
        begun = process_time()
        displacement = speed * dt * min(t + 0.5 * dt, 1.0)
        pulling.step(displacement)
        seconds += process_time() - begun
        before, force = force, pulling.pull()
        work += 0.5 * (before + force) * displacement
        t += dt
        k += 1
        if k % every == 0:
            points = pulling.points
            shape = shape_of(points)
            energy = pulling.energy(points) + pulling.kinetic()
            out.append((pulling.short, force, shape.loop, shape.depth, energy, work, 0.0))
    short, pull, loop, depth, total, hand_work, lost = np.transpose(out)
    return Pulled(short, pull, loop, depth, total, hand_work, lost, seconds)
