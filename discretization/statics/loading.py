"""How loads, weights and moved ground points depend on the load factor.

loads(f) = constant + f varying,   gravity(f) = constant + f varying,
ground points of a moved joint:  X -> c + R(f) (X - c) + d(f),  directions U -> R(f) U
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from discretization.assembly.by_duals import table_groups
from discretization.system import System
from rigid import quaternions
from rigid.errors import ModelError
from rigid.interactions.kinds import Kind, of_columns
from rigid.system import Constraints, Floats, Ints

_SAMPLES = 200  # of a motion
_FAR, _TURN = 0.25, 0.5  # of the model's length; rad: what a ground point may move in one load step


@dataclass(frozen=True)
class Motion:
    """A rigid motion of the ground points of one joint with the load factor."""

    joint: int  # number of the joint
    path: Callable[[float], tuple[Floats, Floats]]  # factor -> displacement (3,) m, rotation vector (3,) rad
    center: Floats  # (3,) m, what it turns about


@dataclass
class Loading:
    """What acts at a load factor; `of` binds it to the arrays of a system."""

    constant_values: Floats  # (loads, 3)
    varying_values: Floats  # (loads, 3)
    constant_gravity: Floats  # (3,)
    varying_gravity: Floats  # (3,)
    motions: Sequence[Motion] = ()
    _rest: Constraints | None = field(default=None, repr=False)
    # the closed forms, and of each other kind of constraints its numbers in the table
    _by_duals: tuple[Ints, list[tuple[Kind, Ints]]] | None = field(default=None, repr=False)

    def of(self, system: System) -> Loading:
        """The same for this system, whose ground points are now those of factor 0's motion."""
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
        kept = Constraints(*columns)
        return Loading(
            self.constant_values,
            self.varying_values,
            self.constant_gravity,
            self.varying_gravity,
            self.motions,
            kept,
        )

    @property
    def moves(self) -> bool:
        """Whether ground points move."""
        return bool(self.motions)

    def longest_step(self, length: float) -> float:
        """Of the load factor: no moved point goes or turns further in it than Newton's method is sure to follow."""
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
        """(loads, 3)"""
        return np.ascontiguousarray(self.constant_values + factor * self.varying_values)

    def gravity(self, factor: float) -> Floats:
        """(3,)"""
        return self.constant_gravity + factor * self.varying_gravity

    def rates(self) -> tuple[Floats, Floats]:
        """Derivatives of loads and gravity to the factor."""
        return np.ascontiguousarray(self.varying_values), np.array(self.varying_gravity, float)

    def move(self, system: System, work: Any, factor: float) -> None:
        """Put the ground points of the moved joints where the factor has them, in place."""
        if not self.motions:
            return
        assert self._rest is not None
        own, rest = system.constraints, self._rest
        for motion in self.motions:
            moved_points(rest, own, motion.joint, placing(motion.center, *motion.path(factor)))
        if len(work.by_duals.interacting.each):
            closed = work.facts.closed
            if self._by_duals is None or self._by_duals[0] is not closed:
                which = np.ones(len(own.kind), bool)
                which[closed] = False
                self._by_duals = closed, [(group.kind, group.row) for group in table_groups(own, which)]
            each = [of_columns(kind, own, use).numbers.ravel() for kind, use in self._by_duals[1]]
            moved = np.concatenate([np.zeros(0), *each])
            for numbers in (work.by_duals.interacting.numbers, work.by_duals.at_end):
                numbers[: len(moved)] = moved


class Placing(NamedTuple):
    """Where ground points and directions are moved to, X -> c + R (X - c) + d and U -> R U, once or many times (...)."""

    center: Floats  # (3,) m
    d: Floats  # (..., 3) m
    R: Floats  # (..., 3, 3)

    def point(self, X: Floats) -> Floats:
        """(..., 3) of X (3,), m"""
        return self.center + self.direction(X - self.center) + self.d

    def direction(self, U: Floats) -> Floats:
        """(..., 3) of U (3,)"""
        turned: Floats = self.R @ U
        return turned


def placing(center: ArrayLike, d: ArrayLike, turn: ArrayLike) -> Placing:
    """Of a displacement and a rotation vector about `center`, both (..., 3)."""
    R = quaternions.to_matrix(quaternions.from_rotation_vector(turn))
    return Placing(np.asarray(center, float), np.asarray(d, float), R)


def moved_points(rest: Constraints, own: Constraints, joint: int, place: Placing) -> None:
    """Ground points and directions of a joint in `rest`, moved, into `own`, whose columns are (..., c, 3)."""
    for k in np.flatnonzero(rest.joint == joint):
        for side, X, U in ((0, "Xa", "Ua"), (1, "Xb", "Ub")):
            if rest.frames[k, side] == 0:
                getattr(own, X)[..., k, :] = place.point(getattr(rest, X)[k])
                getattr(own, U)[..., k, :] = place.direction(getattr(rest, U)[k])
