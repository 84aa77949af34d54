"""Rigid test models of Exudyn, from the parameters in its repository, with their refined or exact end places.

`reached` is exact for the two pendulums and the four-bar (one degree of freedom, integrated to 1e-13) and computed in
minimal coordinates to 1e-11 for the governor and Bricard's mechanism; that of the others is where rodsim's sixth-order
steps and Exudyn's smallest meet (`floor`).
"""

from __future__ import annotations

from math import cos, pi, sin, sqrt

import numpy as np

from benchmarks.mechanisms import GROUND, Joint, Mechanism, RigidBody, Spring, Triple

_HALF = sqrt(0.5)
_G = 9.81


def _triple(v: object) -> Triple:
    x, y, z = np.asarray(v, dtype=float)
    return float(x), float(y), float(z)


def _box(mass: float, x: float, y: float, z: float) -> Triple:
    return mass / 12.0 * (y * y + z * z), mass / 12.0 * (x * x + z * z), mass / 12.0 * (x * x + y * y)


def _heavy_top() -> Mechanism:
    omega = (0.0, 150.0, -4.61538)
    top = RigidBody(
        "top",
        15.0,
        (0.234375, 0.46875, 0.234375),
        (0.0, 1.0, 0.0),
        v=_triple(np.cross(omega, (0.0, 1.0, 0.0))),
        omega=omega,
    )
    return Mechanism(
        "EX-heavyTop",
        "heavyTop: fast top, centre of mass at t = 0.2, error / its distance",
        (top,),
        (Joint("spherical", GROUND, "top"),),
        gravity=(0.0, 0.0, -_G),
        t_end=0.2,
        watched="top",
        reached=(0.605550561377, 0.598957681795, -0.523983027430),
        scale=1.0,
        floor=1e-11,
    )


def _four_bars() -> Mechanism:
    """Two parallelograms side by side; all bars collinear at every quarter turn."""
    inertia = (1e-3, 1.0 / 12.0, 1.0 / 12.0)  # about its own axis no bar turns
    upright = (_HALF, 0.0, 0.0, _HALF)
    rockers = tuple(
        RigidBody(f"rocker{i}", 1.0, inertia, (float(i), 0.5, 0.0), upright, (0.5, 0.0, 0.0), (0.0, 0.0, -1.0))
        for i in range(3)
    )
    couplers = tuple(
        RigidBody(f"coupler{i}", 1.0, inertia, (i + 0.5, 1.0, 0.0), v=(1.0, 0.0, 0.0)) for i in range(2)
    )
    joints = [
        Joint("revolute", GROUND, f"rocker{i}", (float(i), 0.0, 0.0), (0.0, 0.0, 1.0)) for i in range(3)
    ]
    joints += [
        Joint("spherical", f"rocker{i + j}", f"coupler{i}", (float(i + j), 1.0, 0.0))
        for i in range(2)
        for j in range(2)
    ]
    return Mechanism(
        "EX-fourBars",
        "fourBarMechanismIftomm: two four-bars through singular places, a rocker's end at t = 4, error / bar",
        rockers + couplers,
        tuple(joints),
        gravity=(0.0, -_G, 0.0),
        t_end=4.0,
        watched="rocker0",
        point=(0.5, 0.0, 0.0),
        reached=(0.11761610237606353, 0.9930591384514134, 0.0),
        scale=1.0,
        floor=1e-10,
        planar=True,
        radius=0.95,
    )


def _governor() -> Mechanism:
    """Shaft, slider, two arms with a point mass each; the stiff damped springs go from arm to slider."""
    rate, slope, rod_mass, ball = 2.0 * pi, pi / 6.0, 0.3, 5.0
    mass = rod_mass + ball
    reach = (0.5 * rod_mass + ball) / mass  # of the centre of mass from the hinge
    along, across, _ = _box(rod_mass, 1.0, 0.01, 0.01)
    across += rod_mass * (reach - 0.5) ** 2 + ball * (1.0 - reach) ** 2
    shaft = RigidBody("shaft", 0.3, _box(0.3, 0.01, 0.01, 1.0), (0.0, 0.0, 0.5), omega=(0.0, 0.0, rate))
    slider = RigidBody("slider", 3.0, _box(3.0, 0.1, 0.1, 0.1), (0.0, 0.0, 0.5), omega=(0.0, 0.0, rate))
    bodies, springs = [shaft, slider], []
    joints = [
        Joint("revolute", GROUND, "shaft", (0.0, 0.0, 0.0), (0.0, 0.0, 1.0)),
        Joint("prismatic", "shaft", "slider", (0.0, 0.0, 0.5), (0.0, 0.0, 1.0)),
    ]
    for side, name, angle in ((1.0, "arm1", slope), (-1.0, "arm2", pi - slope)):
        hinge = np.array([0.05 * side, 0.0, 1.0])
        outwards = np.array([cos(angle), 0.0, -sin(angle)])
        r = hinge + reach * outwards
        quat = (cos(0.5 * angle), 0.0, sin(0.5 * angle), 0.0)
        v = _triple(np.cross((0.0, 0.0, rate), r))
        bodies.append(RigidBody(name, mass, (along, across, across), _triple(r), quat, v, (0.0, 0.0, rate)))
        joints.append(Joint("revolute", "shaft", name, _triple(hinge), (0.0, 1.0, 0.0)))
        middle = _triple(hinge + 0.5 * outwards)
        springs.append(Spring("slider", name, (0.05 * side, 0.0, 0.5), middle, 8e5, 4e4, 0.5))
    return Mechanism(
        "EX-governor",
        "stiffFlyballGovernorKT: slider at t = 5, error / rod",
        tuple(bodies),
        tuple(joints),
        gravity=(0.0, 0.0, -_G),
        t_end=5.0,
        watched="slider",
        reached=(0.0, 0.0, 0.53556310372162),
        scale=1.0,
        floor=1e-10,
        springs=tuple(springs),
    )


def _point_pendulum() -> Mechanism:
    return Mechanism(
        "EX-pointPendulum",
        "pendulumIftommBenchmark: point mass at a distance, at t = 10, error / length",
        (RigidBody("mass", 1.0, (1e-3, 1e-3, 1e-3), (-1.0, 0.0, 0.0)),),
        (Joint("distance", GROUND, "mass"),),
        gravity=(0.0, -_G, 0.0),
        t_end=10.0,
        watched="mass",
        reached=(-0.27508746257675926, -0.9614192050989413, 0.0),
        scale=1.0,
        floor=1e-11,
        planar=True,
    )


def _rigid_pendulum() -> Mechanism:
    bar = RigidBody(
        "bar", 12.0, (1e-2, 1.0, 1.0), (-0.5, 1.0, 0.0), v=(0.0, 1.0, 0.0), omega=(0.0, 0.0, 2.0)
    )
    return Mechanism(
        "EX-rigidPendulum",
        "perfRigidPendulum: centre of a hinged bar at t = 10, error / bar",
        (bar,),
        (Joint("revolute", GROUND, "bar", (-1.0, 1.0, 0.0), (0.0, 0.0, 1.0)),),
        gravity=(0.0, -_G, 0.0),
        t_end=10.0,
        watched="bar",
        reached=(-0.5000678458972367, 1.0082365826755415, 0.0),
        scale=1.0,
        floor=1e-11,
        planar=True,
    )


MECHANISMS = (_heavy_top(), _four_bars(), _governor(), _point_pendulum(), _rigid_pendulum())
