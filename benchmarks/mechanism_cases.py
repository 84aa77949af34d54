"""Rigid test models of Exudyn with the parameters of its repository.

The end position `reached` is exact for the two pendulums and the four-bar (one degree of freedom, integrated
to 1e-13). It is computed in minimal coordinates to 1e-11 for the governor and Bricard's mechanism. That of
the others is the common limit of rodsim's sixth-order steps and Exudyn's smallest (`floor`).
"""

from __future__ import annotations

from math import cos, pi, sin, sqrt

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.mechanisms import GROUND, Joint, Mechanism, RigidBody, Spring, Triple

_HALF = sqrt(0.5)
_G = 9.81


def _triple(v: object) -> Triple:
    x, y, z = np.asarray(v, dtype=float)
    return float(x), float(y), float(z)


def _quat(R: object) -> tuple[float, float, float, float]:
    w, x, y, z = Rotation.from_matrix(R).as_quat(scalar_first=True)
    return float(w), float(x), float(y), float(z)


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
    inertia = (1e-3, 1.0 / 12.0, 1.0 / 12.0)  # no bar rotates about its axis
    upright = (_HALF, 0.0, 0.0, _HALF)
    rockers = tuple(
        RigidBody(
            f"rocker{i}", 1.0, inertia, (float(i), 0.5, 0.0), upright, (0.5, 0.0, 0.0), (0.0, 0.0, -1.0)
        )
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
    """Shaft, slider, two arms with a point mass each; stiff damped springs connect the arms with the slider."""
    rate, slope, rod_mass, ball = 2.0 * pi, pi / 6.0, 0.3, 5.0
    mass = rod_mass + ball
    reach = (0.5 * rod_mass + ball) / mass  # distance of the centre of mass from the hinge
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
    bar = RigidBody("bar", 12.0, (1e-2, 1.0, 1.0), (-0.5, 1.0, 0.0), v=(0.0, 1.0, 0.0), omega=(0.0, 0.0, 2.0))
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


def _slider_crank() -> Mechanism:
    """Crank, conrod and slider in space; a universal joint connects the conrod with the slider."""
    crank, conrod = 0.08, 0.3
    A = np.array([0.0, 0.1, 0.12])
    B = A + np.array([0.0, 0.0, crank])
    C = np.array([sqrt(conrod**2 - B[1] ** 2 - B[2] ** 2), 0.0, 0.0])
    x = (C - B) / conrod
    second = np.cross((1.0, 0.0, 0.0), x) / np.linalg.norm(np.cross((1.0, 0.0, 0.0), x))
    R = np.column_stack([x, np.cross(second, x), second])
    bodies = (
        RigidBody(
            "crank",
            0.12,
            (1e-4, 1e-4, 1e-5),
            _triple(0.5 * (A + B)),
            v=(0.0, -0.24, 0.0),
            omega=(6.0, 0.0, 0.0),
        ),
        RigidBody(
            "conrod",
            0.5,
            (4e-4, 4e-3, 4e-3),
            _triple(0.5 * (B + C)),
            _quat(R),
            (0.12, -0.24, 0.0),
            (1.92, -0.96, 0.48),
        ),
        RigidBody("slider", 2.0, (1e-4, 1e-4, 1e-4), _triple(C), v=(0.24, 0.0, 0.0)),
    )
    joints = (
        Joint("revolute", GROUND, "crank", _triple(A), (1.0, 0.0, 0.0)),
        Joint("prismatic", GROUND, "slider", _triple(C), (1.0, 0.0, 0.0)),
        Joint("spherical", "crank", "conrod", _triple(B)),
        Joint("universal", "conrod", "slider", _triple(C), _triple(second), (1.0, 0.0, 0.0)),
    )
    return Mechanism(
        "EX-sliderCrank",
        "sliderCrank3Dbenchmark: slider at t = 5, error / crank",
        bodies,
        joints,
        gravity=(0.0, 0.0, -_G),
        t_end=5.0,
        watched="slider",
        reached=(0.24071957373, 0.0, 0.0),
        scale=crank,
        floor=1e-9,
        radius=0.9,
    )


def _bricard() -> Mechanism:
    """Five bars and the ground, six revolutes: one redundant constraint, one degree of freedom."""
    points = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], dtype=float)
    axes = ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)) * 2
    turns = ((1.0, 0.0, 0.0, 0.0), (_HALF, 0.0, 0.0, -_HALF), (_HALF, 0.0, -_HALF, 0.0))
    turns += ((0.0, 0.0, 0.0, 1.0), (_HALF, 0.0, 0.0, _HALF))
    inertia = _box(1.0, 1.0, 0.1, 0.1)
    names = [GROUND, *(f"bar{i}" for i in range(5)), GROUND]
    bodies = tuple(
        RigidBody(names[i + 1], 1.0, inertia, _triple(0.5 * (points[i] + points[i + 1])), turns[i])
        for i in range(5)
    )
    joints = tuple(Joint("revolute", names[i], names[i + 1], _triple(points[i]), axes[i]) for i in range(6))
    return Mechanism(
        "EX-bricard",
        "bricardMechanism: six revolutes, the monitored joint at t = 1, error / bar",
        bodies,
        joints,
        gravity=(0.0, -_G, 0.0),
        t_end=1.0,
        watched="bar2",
        point=(0.5, 0.0, 0.0),
        reached=(0.510501461186, -1.6491675994, 0.140123114552),
        scale=1.0,
        floor=1e-9,
        redundant=True,
    )


def _spherical_chain() -> Mechanism:
    """Four bodies on spherical joints, the first with its centre on a line."""
    bodies = tuple(RigidBody(f"body{i}", 2.0, (6.0, 1.0, 6.0), (-0.3 + 0.6 * i, 0.0, 0.0)) for i in range(4))
    joints = (Joint("point_on_line", GROUND, "body0", (-0.3, 0.0, 0.0), (1.0, 0.0, 0.0)),)
    joints += tuple(Joint("spherical", f"body{i}", f"body{i + 1}", (0.6 * i, 0.0, 0.1)) for i in range(3))
    return Mechanism(
        "EX-sphericalChain",
        "sphericalJointTest: chain with its first point on a line, last body at t = 1, error / body",
        bodies,
        joints,
        gravity=(0.0, -_G, 0.0),
        t_end=1.0,
        watched="body3",
        reached=(1.061291128413, -1.487164369929, 0.031338409275),
        scale=0.6,
        floor=1e-9,
    )


MECHANISMS = (
    _heavy_top(),
    _four_bars(),
    _governor(),
    _point_pendulum(),
    _rigid_pendulum(),
    _slider_crank(),
    _bricard(),
    _spherical_chain(),
)
