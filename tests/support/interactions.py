"""Shared models and helpers: interactions."""

import numpy as np

from discretization.space.bushing import BUSHING, bushing_numbers
from discretization.space.free_bushing import FREE_BUSHING, free_numbers
from discretization.space.se3_dual import SE3_ELEMENT
from rigid import quaternions
from rigid.interactions import torsion_spring
from rigid.interactions.coincident_points import COINCIDENT_POINTS
from rigid.interactions.direction_angle import PERPENDICULAR_DIRECTIONS
from rigid.interactions.distance import POINTS_AT_DISTANCE
from rigid.interactions.gear import ANGLE, DISPLACEMENT, GEARS, Coordinate, gear
from rigid.interactions.law_springs import ANGLE_SPRING, DISPLACEMENT_SPRING, LENGTH_SPRING
from rigid.interactions.laws import law_numbers
from rigid.interactions.point_on_plane import POINT_ALONG_DIRECTION
from rigid.interactions.screw import SCREWED_POINTS
from rigid.interactions.spring import SPRING
from rigid.interactions.twist_constraint import CROSSED_DIRECTIONS
from rigid.mechanics.mechanical_system import call
from rodsim.components.spring_laws import SpringLaw

EPS = 1e-40
FREE = (COINCIDENT_POINTS, PERPENDICULAR_DIRECTIONS, POINTS_AT_DISTANCE, POINT_ALONG_DIRECTION, SPRING)
GEAR = GEARS[2, 1]
LAWS = (LENGTH_SPRING, DISPLACEMENT_SPRING, ANGLE_SPRING)
FREE += (CROSSED_DIRECTIONS, SCREWED_POINTS, GEAR)
FREE += (torsion_spring.TORSION_SPRING, SE3_ELEMENT)  # act between frames alone
FREE += (BUSHING, FREE_BUSHING, *LAWS)


def names(kind):
    return kind.name


def numbers(kind, rng):
    """Random parameters of an interaction of this kind."""
    X = rng.normal(size=12)
    if kind is torsion_spring.TORSION_SPRING:
        U = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        X = np.concatenate(
            [U[0], U[1], quaternions.rotate(random_rotation(rng, 1.0), U[0]), [2.0, 0.3, 0.5, 0.0]]
        )
    if kind is SCREWED_POINTS:
        U = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        X = np.concatenate([X[:6], U[0], U[1], quaternions.rotate(random_rotation(rng, 1.0), U[1]), [2.5]])
    if kind is GEAR:  # of a shaft and of a rack, whose b is the other's a
        U = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        on_b = quaternions.rotate(random_rotation(rng, 1.0), U[1])
        both = [
            Coordinate(ANGLE, (0, 1), X[:3], X[3:6], -2.5 * U[0], U[1], on_b),
            Coordinate(DISPLACEMENT, (1, 0), X[6:9], X[9:], 0.7 * U[2], U[0], U[1]),
        ]
        X = gear(both)[2]
    if kind is SE3_ELEMENT:
        B = rng.normal(size=(6, 6))
        X = np.concatenate([[0.7], (B @ B.T + np.eye(6)).ravel(), 0.1 * rng.normal(size=6)])
    if kind is SPRING:
        X[6:8] = 3.0, 0.4
    if kind in (BUSHING, FREE_BUSHING):
        B, markers = rng.normal(size=(6, 6)), []
        for _ in range(2):
            markers += [rng.normal(size=3), quaternions.to_matrix(random_rotation(rng, 0.05)).ravel()]
        of_kind = bushing_numbers if kind is BUSHING else lambda *arguments: free_numbers(*arguments, True)
        X = of_kind(np.concatenate(markers), B @ B.T + np.eye(6), 0.1 * rng.normal(size=6))
    if kind in LAWS:
        law = law_numbers("law", SpringLaw.table(np.linspace(-3, 3, 9), rng.normal(size=9), "smooth").pieces)
        X = np.concatenate([X[: 6 if kind is LENGTH_SPRING else 9], law])
        if kind is ANGLE_SPRING:
            U = np.linalg.qr(rng.normal(size=(3, 3)))[0]
            X = np.concatenate([U[0], U[1], quaternions.rotate(random_rotation(rng, 1.0), U[0]), [0.0], law])
    return X


def random_rotation(rng, angle):
    """The quaternion of a rotation by this angle about a random axis."""
    n = rng.normal(size=3)
    return np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * n / np.linalg.norm(n)])


def poses(rng, angle=1.0):
    """Two poses (2, 4, 3), the second rotated by `angle` relative to the first."""
    a = random_rotation(rng, rng.uniform(0, 3))
    quat = np.array([a, quaternions.multiply(a, random_rotation(rng, angle))])
    directors = np.swapaxes(quaternions.to_matrix(quat), 1, 2)
    return np.concatenate([rng.normal(size=(2, 1, 3)), directors], axis=1), quat


def value(kind, y, X):
    out = np.zeros(3, complex)
    call(kind.value, (np.ascontiguousarray(y, complex), X, out))
    return out[: max(kind.rows, 1)]


def dual(kind, y0, y1, X, lam, function="dual"):
    out = np.zeros((2, 4, 3), complex)
    y0, y1 = (np.ascontiguousarray(y, complex) for y in (y0, y1))
    call(getattr(kind, function), (y0, y1, X, np.array(lam, complex), out))
    out[kind.arity :] = 0.0
    return out
