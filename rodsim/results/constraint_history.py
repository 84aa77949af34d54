"""Evaluate the constraints at the stored states of a result; results read constraints only in this way.

A table of constraints holds their initial parameters. Driven parameters are stored in the states
(`discretization.drives`), and ground points that an equilibrium has moved in the description, for every output.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from discretization.drives import at_states, has_driven_parameters
from discretization.multipliers import multipliers_of
from discretization.state_measures import append_interaction_constraints, rate_of, residual_of
from discretization.statics.loading import GroundMotion, RigidPlacement, moved_points, rigid_placement
from rigid.interactions import evaluation
from rigid.interactions.constraints import groups_of
from rigid.system import Constraints, Floats, Ints, State
from rodsim.results.layout import JointLayout, Layout

_POINT_COLUMNS = ("Xa", "Xb", "Ua", "Ub")


class _GroundMotion(NamedTuple):
    """Hold the motion of the ground side of one joint at every output."""

    joint: int  # number of the joint
    center: Floats  # (3,) centre of rotation, m
    d: Floats  # (T, 3) displacement, m
    rotation: Floats  # (T, 3) rotation vector, rad

    def at(self, outputs: slice) -> RigidPlacement:
        """Return the rigid motion of the ground points at these outputs."""
        return rigid_placement(self.center, self.d[outputs], self.rotation[outputs])


class Sides(NamedTuple):
    """Hold the markers of a joint on a and b, in the axes of their frames."""

    points: Floats  # (2, T or 1, 3) positions, m
    axes: Floats  # (2, T or 1, 3, 3) axes, columns e1, e2, e3


class ConstraintHistory:
    """Evaluate the constraints at outputs of a result.

    In all methods `outputs` is a slice of T outputs, and `state` holds their states (T, n, ...).
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.constraints = layout.constraints  # None: older file
        names = [joint.name for joint in layout.joints]
        motions = layout.description.get("statics", {}).get("motions", {})
        # joints whose ground side had been moved by the equilibrium from which this result started
        self.moved_at_start: list[str] = layout.description.get("start", {}).get("moved", [])
        self.motions: dict[str, _GroundMotion] = {}
        for name, motion in motions.items():
            path = np.array(motion["path"], float).reshape(-1, 2, 3)
            center = np.array(motion["about"], float)
            self.motions[name] = _GroundMotion(names.index(name), center, path[:, 0], path[:, 1])

    def residual(self, outputs: slice, state: State) -> Floats:
        """Return the residuals g (T, m) of all constraints; if an older file has no system, those of its joints."""
        assert self.constraints is not None
        g, system = self._table_residual(outputs, state), self.layout.system
        return g if system is None else append_interaction_constraints(system, state, g)

    def _table_residual(self, outputs: slice, state: State) -> Floats:
        """Return the residuals g (T, m) of the constraints of the table, with moved ground points."""
        assert self.constraints is not None
        if not self._has_moving_ground(self.constraints):
            return residual_of(self.constraints, state, self._drive(state))
        constraints, flat = self.at(self.constraints, outputs, state, self._drive(state))
        return evaluation.values(groups_of(constraints), flat.r, flat.quat).reshape(len(state.r), -1)

    def levers(self) -> tuple[float, Ints]:
        """Return the longest lever arm (m) of all constraints, and the frames that they constrain."""
        assert self.constraints is not None
        arms = np.linalg.norm([self.constraints.Xa, self.constraints.Xb], axis=-1)
        longest, frames = float(arms.max(initial=0.0)), self.constraints.frames.ravel()
        if self.layout.system is not None:
            multipliers, table = multipliers_of(self.layout.system), self.layout.system.others
            translation_size, rotation_size = table.size[multipliers.other].T
            interaction_levers = np.divide(
                rotation_size,
                translation_size,
                out=np.zeros(len(translation_size)),
                where=translation_size > 0.0,
            )
            longest, frames = (
                max(longest, float(interaction_levers.max(initial=0.0))),
                multipliers.frames[multipliers.frames >= 0],
            )
        return longest, np.unique(frames)

    def rate(self, state: State) -> Floats:
        """Return the rates dg/dt (T, m) of all constraints.

        Ground points need no rate: only equilibria move them, and there all velocities are zero.
        """
        assert self.constraints is not None
        rates, system = rate_of(self.constraints, state, self._drive(state)), self.layout.system
        return rates if system is None else append_interaction_constraints(system, state, rates, rate=True)

    def gradients(self, constraints: Constraints, outputs: slice, state: State, drive: Floats) -> Floats:
        """Return the gradients (T, m, 2, 6) of all rows of some constraints, as `evaluation.gradients` does.

        Driven parameters are taken from the states (`drive`), moved ground points from the description.
        """
        if not (self._has_moving_ground(constraints) or has_driven_parameters(constraints)):
            return evaluation.gradients(groups_of(constraints), state.r, state.quat)
        at_outputs, flat = self.at(constraints, outputs, state, drive)
        rows = evaluation.gradients(groups_of(at_outputs), flat.r, flat.quat)
        return rows.reshape(len(state.r), -1, *rows.shape[1:])

    def at(
        self, constraints: Constraints, outputs: slice, state: State, drive: Floats
    ) -> tuple[Constraints, State]:
        """Return some constraints at all outputs, as constraints of one state of T copies of the frames.

        See `discretization.drives`.
        """
        copies, flat = at_states(constraints, state, drive)
        # views: writing to them changes `copies`
        points = {name: getattr(copies, name).reshape(len(state.r), -1, 3) for name in _POINT_COLUMNS}
        for motion in self.motions.values():
            moved_points(constraints, copies._replace(**points), motion.joint, motion.at(outputs))
        return copies, flat

    def point(self, constraints: Constraints, side: int, outputs: slice) -> Floats:
        """Return the point X (T or 1, 3), m, of the first of the constraints on a (`side` 0) or b (`side` 1)."""
        X = (constraints.Xa, constraints.Xb)[side][0]
        placement = self._ground_motion(int(constraints.joint[0]), int(constraints.frames[0, side]), outputs)
        return X[None] if placement is None else placement.point(X)

    def sides(self, joint: JointLayout, outputs: slice) -> Sides:
        """Return the markers of a joint at these outputs; if nothing moves them, once for all outputs."""
        if joint.name not in self.motions or joint.frames is None:
            return Sides(joint.points[:, None], joint.axes[:, None])
        points, axes = [], []
        for frame, X, E in zip(joint.frames, joint.points, joint.axes, strict=True):
            placement = self._ground_motion(self.motions[joint.name].joint, frame, outputs)
            count = len(self.motions[joint.name].d[outputs])
            points.append(np.tile(X, (count, 1)) if placement is None else placement.point(X))
            axes.append(np.tile(E, (count, 1, 1)) if placement is None else placement.direction(E))
        return Sides(np.array(points), np.array(axes))

    def move(self, index: int, name: str, constraints: Constraints, layout: Layout) -> None:
        """Move the ground side of the joint `name` of another model with the same parts to where it is at output `index`.

        `constraints` and `layout` belong to the other model and are changed in place.
        """
        number = [joint.name for joint in layout.joints].index(name)
        target_joint, one = layout.joints[number], slice(index, index + 1)
        if name in self.moved_at_start:  # the other model is in its state before that motion
            assert self.constraints is not None
            source_joint = self.layout.joints[number]
            target_joint.points, target_joint.axes = source_joint.points.copy(), source_joint.axes.copy()
            for k in np.flatnonzero(constraints.joint == number):
                for side in np.flatnonzero(constraints.frames[k] == 0):
                    for column in _POINT_COLUMNS[side::2]:
                        getattr(constraints, column)[k] = getattr(self.constraints, column)[k]
        if name in self.motions:
            moved_points(constraints, constraints, number, self.motions[name].at(one))
            sides = self.sides(target_joint, one)
            target_joint.points, target_joint.axes = sides.points[:, 0], sides.axes[:, 0]

    def motions_by_output(self) -> list[GroundMotion]:
        """Return the motions of ground points as functions of the number of the output instead of the load factor."""

        def path(motion: _GroundMotion) -> Callable[[float], tuple[Floats, Floats]]:
            return lambda i: (motion.d[round(i)], motion.rotation[round(i)])

        return [GroundMotion(motion.joint, path(motion), motion.center) for motion in self.motions.values()]

    def _ground_motion(self, joint: int, frame: int, outputs: slice) -> RigidPlacement | None:
        """Return the rigid motion of a joint's side on `frame`; None unless it is on the ground and moves."""
        if frame != 0:
            return None
        return next((motion.at(outputs) for motion in self.motions.values() if motion.joint == joint), None)

    def _drive(self, state: State) -> Floats:
        return self.layout.internal.part(state.internal, "drive")

    def _has_moving_ground(self, constraints: Constraints) -> bool:
        """Return True if one of these constraints belongs to a joint whose ground side moves."""
        return any(bool(np.any(constraints.joint == motion.joint)) for motion in self.motions.values())
