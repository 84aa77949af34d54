"""A multibody system as plain arrays: frames and the interactions between them.

Everything an integrator needs of a model is in the named tuples below; they are what the compiled kernels
read. Frame 0 is always the ground. Lengths in m, masses in kg, angles in rad; matrices are row-major;
quaternions are (w, x, y, z).

Rod elements are interactions of two frames like any other, but their strains belong to the space
discretisation: see `discretization.space.elements`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rigid.references import by_reference

Floats = NDArray[np.floating[Any]]  # always float64
Ints = NDArray[np.int64]

# Numbers of the elementary constraints: their places in `rigid.interactions.constraints.CONSTRAINTS`.
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
    """Rigid bodies and rod cross-sections; the origin of a frame is its centre of mass."""

    mass: Floats  # (n,)
    inertia: Floats  # (n, 3, 3) about the origin, body-fixed axes
    fixed: NDArray[
        np.uint8
    ]  # (n,) 1: the frame does not move; 2: its motion is given (`discretization.drives`)


class Constraints(NamedTuple):
    """Scalar constraints g = 0 between frames a and b; p = r + R X, u = R U, w = R W."""

    kind: Ints  # (c,)
    frames: Ints  # (c, 2)
    Xa: Floats  # (c, 3)
    Xb: Floats  # (c, 3)
    Ua: Floats  # (c, 3)
    Ub: Floats  # (c, 3)
    value: Floats  # (c,)
    joint: Ints  # (c,) number of the joint this row belongs to
    # columns that few models need; without rows where nothing does
    Wa: Floats = np.zeros((0, 3))  # (c, 3) a second direction on frame a
    Wb: Floats = np.zeros((0, 3))  # (c, 3)
    repeats: NDArray[np.uint8] = np.zeros(0, np.uint8)  # (c,) 1: its joint fixes what others fix already

    def chosen(self, which: Any) -> Constraints:
        """Those constraints `which`, a mask or numbers."""
        columns: Any = [column[which] if len(column) else column for column in self]
        return Constraints(*columns)


class Springs(NamedTuple):
    """Spring-dampers between two points by columns, V = k (l - l0)^2 / 2, force c dl/dt along the line."""

    frames: Ints  # (s, 2)
    Xa: Floats  # (s, 3)
    Xb: Floats  # (s, 3)
    stiffness: Floats  # (s,) N/m
    damping: Floats  # (s,) N s/m
    length0: Floats  # (s,) m, unstretched length


class TorsionSprings(NamedTuple):
    """Spring-dampers in the angle from Ua (on frame a) to Ub (on frame b) by columns, counted about Ua x Wa."""

    frames: Ints  # (s, 2)
    Ua: Floats  # (s, 3) unit
    Wa: Floats  # (s, 3) unit, perpendicular to Ua
    Ub: Floats  # (s, 3) unit
    stiffness: Floats  # (s,) N m/rad
    damping: Floats  # (s,) N m s/rad
    angle0: Floats  # (s,) rad, unstressed


class Loads(NamedTuple):
    """Forces and moments on frames; their values per step come from the caller as an array (steps, loads,
    3).
    """

    kind: Ints  # (l,) FORCE or MOMENT
    frame: Ints  # (l,)
    X: Floats  # (l, 3) point of application, body-fixed, from the frame's origin (FORCE only)
    following: NDArray[np.uint8]  # (l,) 1: components in the frame's axes, else inertial


@by_reference
class State(NamedTuple):
    """Everything needed to go on to the last bit. Arrays are owned by the state; a step never changes its
    input.
    """

    r: Floats  # (n, 3) positions
    quat: Floats  # (n, 4) unit quaternions (w, x, y, z), body to inertial
    v: Floats  # (n, 3) velocities, inertial
    Omega: Floats  # (n, 3) angular velocities, body-fixed
    lam: Floats  # (m,) constraint impulses of the last step divided by its length (forces, moments)
    own: Floats  # (k,) own variables of what acts, block behind block: `discretization.own_variables`
    memory: Floats  # (k,) what the integrator remembers, opaque to all others: `discretization.memory`
    totals: Floats  # (2,) work done by loads and drives, energy dissipated, since t = 0
