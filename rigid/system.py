"""Represent a multibody system as plain arrays: frames and the interactions between them.

The named tuples below hold everything that an integrator needs of a model; the compiled kernels read them. Frame 0 is always the
ground. Lengths in m, masses in kg, angles in rad; matrices are row-major; quaternions are (w, x, y, z).

Rod elements are interactions of two frames like any other, but their strains belong to the space discretisation: see
`discretization.space.elements`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rigid.tuple_references import by_reference

Floats = NDArray[np.floating[Any]]  # always float64
Ints = NDArray[np.int64]

# Numbers of the elementary constraints: indices into `rigid.interactions.constraints.CONSTRAINTS`.
COINCIDENT = 0  # p_b - p_a = 0, three rows in inertial components
PERPENDICULAR = 1  # u_a . u_b = value
ALONG = 2  # u_a . (p_b - p_a) = value
DISTANCE = 3  # |p_b - p_a|^2 / 2 = value
CROSSED = 4  # u_a . w_b = w_a . u_b
SCREW = 5  # u_a . (p_b - p_a) = value times the angle from w_a to u_b about u_a

# Kinds of loads.
FORCE = 0
MOMENT = 1


class Frames(NamedTuple):
    """Rigid bodies and rod cross-sections, n frames; the origin of a frame is its centre of mass."""

    mass: Floats  # (n,) masses, kg
    inertia: Floats  # (n, 3, 3) inertia about the origin in body-fixed axes, kg m^2
    fixed: NDArray[
        np.uint8
    ]  # (n,) 1: the frame does not move; 2: its motion is prescribed (`discretization.drives`)


class Constraints(NamedTuple):
    """Scalar constraints g = 0 between frames a and b, c rows; p = r + R X, u = R U, w = R W."""

    kind: Ints  # (c,) numbers of the elementary constraints: COINCIDENT, PERPENDICULAR ...
    frames: Ints  # (c, 2) indices of the frames a and b
    Xa: Floats  # (c, 3) point on frame a, body-fixed
    Xb: Floats  # (c, 3) point on frame b, body-fixed
    Ua: Floats  # (c, 3) direction on frame a, body-fixed
    Ub: Floats  # (c, 3) direction on frame b, body-fixed
    value: Floats  # (c,) values of the constraints
    joint: Ints  # (c,) number of the joint this row belongs to
    # columns that few models need; they have no rows if no constraint needs them
    Wa: Floats = np.zeros((0, 3))  # (c, 3) second direction on frame a
    Wb: Floats = np.zeros((0, 3))  # (c, 3) second direction on frame b
    repeats: NDArray[np.uint8] = np.zeros(0, np.uint8)  # (c,) 1: its joint is redundant

    def chosen(self, which: Any) -> Constraints:
        """Return the constraints selected by `which`, a mask or indices."""
        columns: Any = [column[which] if len(column) else column for column in self]
        return Constraints(*columns)


class Springs(NamedTuple):
    """Spring-dampers between two points, s rows: V = k (l - l0)^2 / 2, force c dl/dt along the line."""

    frames: Ints  # (s, 2) indices of the frames a and b
    Xa: Floats  # (s, 3) point on frame a, body-fixed, m
    Xb: Floats  # (s, 3) point on frame b, body-fixed, m
    stiffness: Floats  # (s,) stiffnesses k, N/m
    damping: Floats  # (s,) damping coefficients c, N s/m
    length0: Floats  # (s,) unstretched lengths l0, m


class TorsionSprings(NamedTuple):
    """Spring-dampers in the angle from Ua (on frame a) to Ub (on frame b), s rows; the angle is counted about Ua x Wa."""

    frames: Ints  # (s, 2) indices of the frames a and b
    Ua: Floats  # (s, 3) unit direction on frame a, body-fixed
    Wa: Floats  # (s, 3) unit direction on frame a, perpendicular to Ua
    Ub: Floats  # (s, 3) unit direction on frame b, body-fixed
    stiffness: Floats  # (s,) stiffnesses, N m/rad
    damping: Floats  # (s,) damping coefficients, N m s/rad
    angle0: Floats  # (s,) unstressed angles, rad


class Loads(NamedTuple):
    """Forces and moments on frames, l rows; the caller provides their values per step as an array (steps, loads, 3)."""

    kind: Ints  # (l,) FORCE or MOMENT
    frame: Ints  # (l,) indices of the frames
    X: Floats  # (l, 3) point of application (FORCE only), body-fixed, from the frame's origin, m
    following: NDArray[np.uint8]  # (l,) 1: components in the frame's axes, else inertial


@by_reference
class State(NamedTuple):
    """State of a run: everything needed to continue it bit-identically.

    Arrays are owned by the state; a step never changes its input.
    """

    r: Floats  # (n, 3) positions, m
    quat: Floats  # (n, 4) unit quaternions (w, x, y, z), body to inertial
    v: Floats  # (n, 3) velocities in inertial axes, m/s
    Omega: Floats  # (n, 3) angular velocities in body-fixed axes, rad/s
    lam: Floats  # (m,) constraint impulses of the last step divided by its length (forces, moments)
    internal: Floats  # (k,) internal variables of the interactions, block after block: `discretization.internal_variables`
    memory: Floats  # (k,) integrator history, opaque to all other code: `discretization.integrator_memory`
    totals: Floats  # (2,) work done by loads and drives, and energy dissipated, since t = 0, J
