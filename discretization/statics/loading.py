"""Define loads, weights and moved ground points as functions of the load factor.

loads(f) = constant + f varying,   gravity(f) = constant + f varying,
ground points of a moved joint:  X -> c + R(f) (X - c) + d(f),  directions U -> R(f) U
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from discretization.assembly.generic_assembly import table_groups
from discretization.system import System
from rigid import quaternions
from rigid.errors import ModelError
from rigid.interactions.kinds import Kind, group_from_columns
from rigid.system import Constraints, Floats, Ints

_SAMPLES = 200  # number of samples of a motion
# fraction of the model's length; rad: largest motion of a ground point in one load step
_FAR, _TURN = 0.25, 0.5


@dataclass(frozen=True)
class GroundMotion:
    """A rigid motion of the ground points of one joint with the load factor."""

    joint: int  # number of the joint
    path: Callable[[float], tuple[Floats, Floats]]  # factor -> displacement (3,) m, rotation vector (3,) rad
    center: Floats  # (3,) m, point about which it rotates


@dataclass
class Loading:
    """Loads, gravity and moved ground points at a load factor; `of` binds them to the arrays of a system."""

    constant_values: Floats  # (loads, 3) N or N m, values at factor 0
    varying_values: Floats  # (loads, 3) N or N m, rate with the factor
    constant_gravity: Floats  # (3,) m/s^2, at factor 0
    varying_gravity: Floats  # (3,) m/s^2, rate with the factor
    motions: Sequence[GroundMotion] = ()
    _rest: Constraints | None = field(default=None, repr=False)
    # rows of the closed forms, and for each other kind of constraints its rows in the table
    _by_duals: tuple[Ints, list[tuple[Kind, Ints]]] | None = field(default=None, repr=False)

    def of(self, system: System) -> Loading:
        """Return this loading for `system`, whose present ground points are taken as those at factor 0 of the motions."""
        for what, array, shape in (
            ("constant_values", self.constant_values, (len(system.signals), 3)),
            ("varying_values", self.varying_values, (len(system.signals), 3)),
            ("constant_gravity", self.constant_gravity, (3,)),
            ("varying_gravity", self.varying_gravity, (3,)),
        ):
            if np.shape(array) != shape:
                raise ModelError(
                    f"Loading.{what} has shape {np.shape(array)}, this system needs {shape}; give those of its loads"
                )
        columns: Any = [column.copy() for column in system.constraints]
        reference = Constraints(*columns)
        return Loading(
            self.constant_values,
            self.varying_values,
            self.constant_gravity,
            self.varying_gravity,
            self.motions,
            reference,
        )

    @property
    def moves(self) -> bool:
        """True if ground points move."""
        return bool(self.motions)

    def longest_step(self, length: float) -> float:
        """Return the longest step of the load factor in which no moved point moves or rotates too far for Newton's method."""
        if not self.motions:
            return 1.0
        factors = np.linspace(0.0, 1.0, _SAMPLES + 1)
        fastest = 1.0
        for motion in self.motions:
            path = np.array([np.concatenate(motion.path(f)) for f in factors])
            rate = np.diff(path, axis=0) * _SAMPLES
            fastest = max(fastest, np.linalg.norm(rate[:, :3], axis=1).max() / (_FAR * length))
            fastest = max(fastest, np.linalg.norm(rate[:, 3:], axis=1).max() / _TURN)
        return 1.0 / fastest

    def values(self, factor: float) -> Floats:
        """Return the loads (loads, 3), N or N m, at a load factor."""
        return np.ascontiguousarray(self.constant_values + factor * self.varying_values)

    def gravity(self, factor: float) -> Floats:
        """Return the gravity (3,), m/s^2, at a load factor."""
        return self.constant_gravity + factor * self.varying_gravity

    def rates(self) -> tuple[Floats, Floats]:
        """Return the derivatives of loads (loads, 3) and gravity (3,) with respect to the load factor."""
        return np.ascontiguousarray(self.varying_values), np.array(self.varying_gravity, float)

    def move(self, system: System, work: Any, factor: float) -> None:
        """Move the ground points of the moved joints, in place, to their positions at a load factor."""
        if not self.motions:
            return
        assert self._rest is not None
        constraints, reference = system.constraints, self._rest
        for motion in self.motions:
            moved_points(
                reference, constraints, motion.joint, rigid_placement(motion.center, *motion.path(factor))
            )
        if len(work.generic_groups.interacting.entries):
            closed = work.facts.closed
            if self._by_duals is None or self._by_duals[0] is not closed:
                which = np.ones(len(constraints.kind), bool)
                which[closed] = False
                self._by_duals = (
                    closed,
                    [(group.kind, group.row) for group in table_groups(constraints, which)],
                )
            numbers_of_groups = [
                group_from_columns(kind, constraints, use).numbers.ravel() for kind, use in self._by_duals[1]
            ]
            moved_numbers = np.concatenate([np.zeros(0), *numbers_of_groups])
            for numbers in (work.generic_groups.interacting.numbers, work.generic_groups.at_end):
                numbers[: len(moved_numbers)] = moved_numbers


class RigidPlacement(NamedTuple):
    """Rigid motion of ground points and directions, X -> c + R (X - c) + d and U -> R U, once or many times (...)."""

    center: Floats  # (3,) m, center of rotation
    d: Floats  # (..., 3) m, displacement
    R: Floats  # (..., 3, 3) rotation

    def point(self, X: Floats) -> Floats:
        """Return the moved points (..., 3), m, of X (3,), m."""
        return self.center + self.direction(X - self.center) + self.d

    def direction(self, U: Floats) -> Floats:
        """Return the rotated directions (..., 3) of U (3,)."""
        turned: Floats = self.R @ U
        return turned


def rigid_placement(center: ArrayLike, d: ArrayLike, rotation: ArrayLike) -> RigidPlacement:
    """Return the placing of a displacement `d`, m, and a rotation vector `rotation`, rad, about `center`, both (..., 3)."""
    R = quaternions.to_matrix(quaternions.from_rotation_vector(rotation))
    return RigidPlacement(np.asarray(center, float), np.asarray(d, float), R)


def moved_points(
    reference: Constraints, constraints: Constraints, joint: int, placement: RigidPlacement
) -> None:
    """Store the moved ground points and directions of a joint in `constraints`, whose columns are (..., c, 3).

    reference: constraints at load factor 0.
    """
    for k in np.flatnonzero(reference.joint == joint):
        for side, X, U in ((0, "Xa", "Ua"), (1, "Xb", "Ub")):
            if reference.frames[k, side] == 0:
                getattr(constraints, X)[..., k, :] = placement.point(getattr(reference, X)[k])
                getattr(constraints, U)[..., k, :] = placement.direction(getattr(reference, U)[k])
