"""Compute the history of one joint: its force and moment, and the relative position and motion of its parts.

Vectors are expressed in inertial axes or in the joint's axes. The joint's axes are those of its marker on a: e3 is the axis with
which the joint was defined, e1 and e2 are perpendicular to it, right-handed. For joints without an axis they are the world axes
at t = 0, for generic joints the axes of part a. They move with a.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discretization.drives import NUMBERS, driven_rows
from rigid.interactions.constraints import first_rows
from rigid.joints import JOINTS
from rigid.quaternions import rotate, to_matrix
from rigid.system import Floats, State
from rodsim.results import native_format
from rodsim.results.array_sources import Source
from rodsim.results.constraint_history import ConstraintHistory
from rodsim.results.errors import ResultError
from rodsim.results.layout import JointLayout

INERTIAL, JOINT = "inertial", "joint"


class _Sides(NamedTuple):
    """Markers of a joint on a and b and their relative motion, in inertial axes."""

    triads: tuple[Floats, Floats]  # (T, 3, 3) marker axes on a and on b, columns e1, e2, e3
    d: Floats  # (T, 3) offset p_b - p_a, m
    rate: Floats  # (T, 3) rate of d as seen from a, m/s
    turning: Floats  # (T, 3) relative angular velocity omega_b - omega_a, rad/s


class JointHistory:
    """Hold the history of a joint between a and b: its force and moment on b, and the position of b relative to a.

    `Result.joint` returns it. The force and moment on a are the opposite. Forces are evaluated at the outputs, with order 2 for
    every integrator: they are means of the two steps around an output. At t = 0 they solve the equations of motion. At the last
    output, and next to halved steps and contacts that open or close, they are one-sided, of order 1
    (`rodsim.results.output_multipliers`). For redundant joints (`determined` is False) the equations have many solutions, and
    the forces and moments are one of them.

    Examples
    --------
    >>> pin = result.joint("pin")
    >>> pin.kind, pin.force.shape
    ('spherical', (6, 3))
    >>> pin.force_in("joint").shape
    (6, 3)
    """

    def __init__(self, source: Source, layout: JointLayout) -> None:
        self._source = source
        self.layout = layout

    @property
    def acts(self) -> NDArray[np.bool_]:
        """(T,) whether it acts: False before an event has engaged it, and after one has released it."""
        layout, (first, last) = self._source.layout, self.layout.rows
        always = np.ones(self._source.n_outputs, bool)
        if layout.system is None or not len(layout.system.controls.switch) or first == last:
            return always
        block = layout.internal.part(self._source.read("own"), "sampled")
        return np.asarray(layout.system.controls.acting(block)[:, first] > 0.0)

    @property
    def name(self) -> str:
        """Return the name of the joint."""
        return self.layout.name

    @property
    def kind(self) -> str:
        """Return the kind of the joint, as it was passed to `add_joint`."""
        return self.layout.kind

    @property
    def _coordinate_names(self) -> tuple[str, ...]:
        """Return the names of the joint's coordinates; a drive has none."""
        return JOINTS[self.kind].coordinates if self.kind in JOINTS else ()

    @property
    def determined(self) -> bool:
        """Return True if the equations of motion determine the joint's force and moment uniquely."""
        return not any(self.name in loop for loop in self._source.layout.description.get("undetermined", []))

    @cached_property
    def multipliers(self) -> Floats:
        """(T, rows) multipliers at the outputs, one for each scalar equation of the joint."""
        return self._source.multipliers(slice(*self.layout.rows))

    @cached_property
    def step_multipliers(self) -> Floats:
        """(T, rows) multipliers of the joint as stored in the states: means over the last step, or substep, before an output."""
        return self._source.read("lam", (slice(None), slice(*self.layout.rows)))

    @property
    def force(self) -> Floats:
        """(T, 3) force on b in inertial axes, N."""
        return self._wrench[0]

    @property
    def moment(self) -> Floats:
        """(T, 3) moment on b about the joint's point on b in inertial axes, N m."""
        return self._wrench[1]

    def force_in(self, axes: str) -> Floats:
        """Return the force on b (T, 3), N, in the axes `axes`: "inertial" or "joint"."""
        return self._in_axes(axes, self.force)

    def moment_in(self, axes: str) -> Floats:
        """Return the moment on b about the joint's point on b (T, 3), N m, in the axes `axes`: "inertial" or "joint"."""
        return self._in_axes(axes, self.moment)

    @property
    def axes(self) -> Floats:
        """(T, 3, 3) columns e1, e2, e3: the joint's axes in inertial axes."""
        return self._sides.triads[0]

    @property
    def offset(self) -> Floats:
        """(T, 3) offset from the joint's point on a to its point on b, in the joint's axes, m."""
        return self._in_axes(JOINT, self._sides.d)

    @cached_property
    def angle(self) -> Floats:
        """(T,) rotation angle of b relative to a about e3, rad; 0 at t = 0, continuous through whole turns.

        The change between two outputs is assumed to be near the mean of the rates at both outputs. If the rotation is
        uniform, outputs may therefore be several turns apart.
        """
        self._check_coordinate("angle")
        a, b = self._sides.triads
        sine, cosine = _dot(a[..., 1], b[..., 0]), _dot(a[..., 0], b[..., 0])
        return _unwrap(np.arctan2(sine, cosine), self.angle_rate, self._source.read(native_format.TIME))

    @property
    def angle_rate(self) -> Floats:
        """(T,) angular velocity of b relative to a about e3, rad/s."""
        self._check_coordinate("angle")
        return _dot(self.axes[..., 2], self._sides.turning)

    @cached_property
    def angles(self) -> Floats:
        """(T, 2) rotation angles of a universal joint, rad; both 0 at t = 0 and continuous through whole turns, as `angle`.

        The first is the rotation of the cross relative to a about e3, the second that of b relative to the cross about e1 of b.
        """
        self._check_coordinate("angles")
        a, b = self._sides.triads
        first = np.arctan2(_dot(a[..., 1], b[..., 0]), _dot(a[..., 0], b[..., 0]))
        bent = np.cross(a[..., 2], b[..., 2])
        second = np.arctan2(_dot(bent, b[..., 0]), _dot(a[..., 2], b[..., 2]))
        rates, t = self.angle_rates, self._source.read(native_format.TIME)
        return np.stack([_unwrap(x, rates[:, k], t) for k, x in enumerate((first, second))], axis=1)

    @property
    def angle_rates(self) -> Floats:
        """(T, 2) rates of `angles`, rad/s."""
        self._check_coordinate("angles")
        a, b = self._sides.triads
        # the two axes are perpendicular, so that each component is one of the rates
        return np.stack([_dot(x, self._sides.turning) for x in (a[..., 2], b[..., 0])], axis=1)

    @property
    def displacement(self) -> Floats:
        """(T,) displacement of b relative to a along e3, m; 0 at t = 0."""
        self._check_coordinate("displacement")
        return _dot(self.axes[..., 2], self._sides.d)

    @property
    def displacement_rate(self) -> Floats:
        """(T,) velocity of b relative to a along e3, m/s."""
        self._check_coordinate("displacement")
        return _dot(self.axes[..., 2], self._sides.rate)

    @property
    def rate(self) -> Floats:
        """(T,) rate of the joint's coordinate, rad/s or m/s; the rate of the angle if there is also a displacement."""
        return self.angle_rate if "angle" in self._coordinate_names else self.displacement_rate

    @property
    def driving_force(self) -> Floats:
        """(T,) force of a drive that does the work on its coordinate.

        That is the moment on b about the axis, N m, the force on b along it, or along the line from a to b, N.
        """
        drive = self._source.layout.description.get("drives", {}).get(self.name)
        if drive is None:
            raise ResultError(f"{self.kind} joint '{self.name}': is not a drive. Use `.force` and `.moment`")
        if drive["of"] == "distance":
            return _dot(self.force, self._sides.d) / np.linalg.norm(self._sides.d, axis=1)
        return _dot(self.moment if drive["of"] == "angle" else self.force, self.axes[..., 2])

    def table(self) -> dict[str, Floats]:
        """Return columns (T,) by name: coordinates and their rates, force of a drive, force and moment in inertial axes."""
        columns: dict[str, Floats] = {}
        for name in self._coordinate_names:
            values = {name: getattr(self, name), f"{name}_rate": getattr(self, _RATES[name])}
            columns |= {k: v for k, v in values.items() if v.ndim == 1}
            columns |= {f"{k}_{i + 1}": v[:, i] for k, v in values.items() if v.ndim == 2 for i in (0, 1)}
        if self.name in self._source.layout.description.get("drives", {}):
            columns["driving_force"] = self.driving_force
        for name, vectors in (("force", self.force), ("moment", self.moment)):
            columns |= {f"{name}_{axis}": vectors[:, i] for i, axis in enumerate("xyz")}
        return columns

    def _check_coordinate(self, coordinate: str) -> None:
        """Raise ResultError if joints of this kind do not have the coordinate."""
        known = self._coordinate_names
        if coordinate not in known:
            has_coordinate = (
                f"it has {' and '.join(known)}" if known else "`.offset` says where b is, in the joint's axes"
            )
            raise ResultError(f"{self.kind} joint '{self.name}': has no {coordinate}; {has_coordinate}")

    def _in_axes(self, axes: str, vectors: Floats) -> Floats:
        """Return vectors (T, 3), given in inertial axes, in "inertial" or "joint" axes."""
        if axes == INERTIAL:
            return vectors
        if axes != JOINT:
            raise ResultError(f"joint '{self.name}': axes = {axes!r}; choose '{INERTIAL}' or '{JOINT}'")
        return np.einsum("tij,ti->tj", self.axes, vectors)

    @cached_property
    def _sides(self) -> _Sides:
        """Return the markers of the joint and their relative motion at all outputs."""
        frames = self.layout.frames
        if frames is None:
            raise ResultError(
                f"joint '{self.name}': this file is older than the axes of joints; run the simulation again"
            )
        r, quat, v, Omega = (
            np.stack([self._source.read(name, (slice(None), f)) for f in frames])
            for name in ("r", "quat", "v", "Omega")
        )
        markers = ConstraintHistory(self._source.layout).sides(self.layout, slice(None))
        omega = rotate(quat, Omega)
        arm = rotate(quat, markers.points)
        d = r[1] - r[0] + arm[1] - arm[0]
        speed = v + np.cross(omega, arm)
        rate = speed[1] - speed[0] - np.cross(omega[0], d)
        a, b = to_matrix(quat) @ markers.axes
        return _Sides((a, b), d, rate, omega[1] - omega[0])

    @cached_property
    def _wrench(self) -> tuple[Floats, Floats]:
        """Return force (T, 3), N, and moment about the joint's point on b (T, 3), N m, on b in inertial axes."""
        history, mask = ConstraintHistory(self._source.layout), self._constraint_mask()
        assert history.constraints is not None
        constraints = history.constraints.chosen(mask)
        a, b = (int(f) for f in constraints.frames[0])
        # a state of the ground and the two frames alone: frame 0 remains the ground, so that sides fixed to it are recognised
        r, quat = (
            np.stack([self._source.read(name, (slice(None), f)) for f in (0, a, b)], axis=1)
            for name in ("r", "quat")
        )
        constraints = constraints._replace(
            frames=np.tile([1 if a else 0, 2 if b else 0], (len(constraints.kind), 1))
        )
        none = np.zeros((len(r), 0))
        state = State(r, quat, r, r, none, none, none, none)
        gradients = history.gradients(constraints, slice(None), state, self._driven_rows(mask))
        # the equations of motion contain + G^T lam, so that the wrench on b is -lam times the gradient
        on_b = -np.einsum("tm,tmi->ti", self.multipliers, gradients[:, :, 1])
        force = on_b[:, :3]
        point = history.point(constraints, 1, slice(None))
        return force, on_b[:, 3:] - np.cross(rotate(quat[:, 2], point), force)

    def _driven_rows(self, mask: Any) -> Floats:
        """Return the stored rows of the driven constraints among those of this joint (T, d, 9); d = 0 if none is driven.

        `mask`: (c,) mask of the constraints of this joint.
        """
        every = self._source.layout.constraints
        assert every is not None
        is_of_joint = mask[driven_rows(every)]
        if not is_of_joint.any():
            return np.zeros((self._source.n_outputs, 0, NUMBERS))
        return self._source.layout.internal.part(self._source.read("own"), "drive")[:, : len(is_of_joint)][
            :, is_of_joint
        ]

    def _constraint_mask(self) -> Any:
        """Return the mask (c,) of the constraints that belong to this joint."""
        every = self._source.layout.constraints
        if every is None:
            raise ResultError(
                f"joint '{self.name}': the layout of this result has no constraints; use `.multipliers`"
            )
        first = first_rows(every)
        return (first >= self.layout.rows[0]) & (first < self.layout.rows[1])


_RATES = {"angle": "angle_rate", "angles": "angle_rates", "displacement": "displacement_rate"}


def _dot(a: Floats, b: Floats) -> Floats:
    products: Floats = np.sum(a * b, axis=-1)
    return products


def _unwrap(angles: Floats, rates: Floats, t: Floats) -> Floats:
    """Return angles (T,), rad, with the whole turns added that make them continuous.

    Each change is the one nearest to that predicted by the mean of the rates (T,), rad/s, at both outputs.
    """
    expected = np.diff(t) * 0.5 * (rates[1:] + rates[:-1])
    change = np.diff(angles)
    turns = np.concatenate([[0.0], np.cumsum(np.round((expected - change) / (2.0 * np.pi)))])
    counted: Floats = angles + 2.0 * np.pi * turns
    return counted
