"""Rigid mechanisms as data, shared by all programs: bodies, joints, springs, and a watched point.

Units are SI. Quaternions are (w, x, y, z); the position of a body is that of its centre of mass, its axes are
its principal axes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.cases import Floats

Triple = tuple[float, float, float]
GROUND = ""


@dataclass(frozen=True)
class RigidBody:
    """A body by its mass, principal moments, and its pose and velocities (inertial components) at t = 0."""

    name: str
    mass: float
    inertia: Triple
    r: Triple
    quat: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    v: Triple = (0.0, 0.0, 0.0)
    omega: Triple = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Joint:
    """A joint at a world point at t = 0; `axis`, `second`: world directions, the second fixed in `b` (universal).

    kind: spherical, revolute, prismatic, universal, distance (between the centres of `a` and `b`), or point_on_line (the
    point of `b` stays on the line through `at` along `axis`, fixed in `a`).
    """

    kind: str
    a: str
    b: str
    at: Triple = (0.0, 0.0, 0.0)
    axis: Triple | None = None
    second: Triple | None = None


@dataclass(frozen=True)
class Spring:
    """A spring-damper between two world points at t = 0."""

    a: str
    b: str
    from_: Triple
    to: Triple
    stiffness: float
    damping: float
    length: float


@dataclass(frozen=True)
class Mechanism:
    """Bodies with joints and springs; the error is the distance of a point of a body from `reached` at
    `t_end`.
    """

    name: str
    title: str
    bodies: tuple[RigidBody, ...]
    joints: tuple[Joint, ...]
    gravity: Triple
    t_end: float
    watched: str  # body
    reached: Triple  # position of the watched point at t_end
    scale: float  # m, length to which the error is relative
    floor: float
    point: Triple = (0.0, 0.0, 0.0)  # m, from the centre of mass in the axes of the watched body
    springs: tuple[Spring, ...] = ()
    planar: bool = False  # moves in the plane z = 0 about z: programs with planar bodies may use them
    redundant: bool = False  # its joints are redundant
    radius: float | None = None  # spectral radius of Exudyn's generalised alpha; None: its trapezoidal rule

    def body(self, name: str) -> RigidBody:
        """The body of this name."""
        return next(b for b in self.bodies if b.name == name)

    def error(self, r: Floats) -> float:
        """Distance of the watched point at `r` from its reference, over `scale`."""
        return float(np.linalg.norm(r - np.array(self.reached))) / self.scale

    def energy(self, r: Floats, v: Floats, Omega: Floats, elongation: Floats) -> float:
        """Kinetic, potential and elastic energy, J; rows are bodies (springs); `Omega` in the axes of the
        body.
        """
        mass = np.array([b.mass for b in self.bodies])
        inertia = np.array([b.inertia for b in self.bodies])
        kinetic = 0.5 * float(mass @ np.sum(v * v, axis=1)) + 0.5 * float(np.sum(inertia * Omega**2))
        stiffness = np.array([s.stiffness for s in self.springs])
        return kinetic - float(mass @ (r @ np.array(self.gravity))) + 0.5 * float(stiffness @ elongation**2)
