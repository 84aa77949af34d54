"""The history of one joint: what it carries, and how its parts stand and move against each other, in named axes.

The joint's axes are those of its marker on a: e3 is the axis it was given, e1 and e2 are across, right-handed; of joints
without an axis they are the world's at t = 0, of generic ones those of part a. They move with a.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from discretization.drives import NUMBERS, driven_rows
from rigid.interactions.constraints import first_rows
from rigid.joints import JOINTS
from rigid.quaternions import rotate, to_matrix
from rigid.system import Floats, State
from rodsim.results import native
from rodsim.results.errors import ResultError
from rodsim.results.layout import JointLayout
from rodsim.results.sources import Source
from rodsim.results.standing import Standing

INERTIAL, JOINT = "inertial", "joint"


class _Sides(NamedTuple):
    """Markers of a and b, inertial axes."""

    triads: tuple[Floats, Floats]  # (T, 3, 3) columns e1, e2, e3
    d: Floats  # (T, 3) m, p_b - p_a
    rate: Floats  # (T, 3) m/s, of d as a sees it
    turning: Floats  # (T, 3) rad/s, omega_b - omega_a


class JointHistory:
    """Hold the history of a joint between a and b: what it does to b (to a the opposite), how b stands against a.

    `Result.joint` returns it. Forces are those at the outputs, of order 2 with every integrator: means of the two steps around an
    output. At t = 0 they solve the equations of motion; at the last output, and next to halved steps and contacts that open or
    close, they are one-sided, of order 1 (`rodsim.results.output_multipliers`). Of joints that repeat others
    (`determined` is False) forces and moments are one of many possible ones.

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
    def name(self) -> str:
        """Name of the joint."""
        return self.layout.name

    @property
    def kind(self) -> str:
        """Kind of the joint, as `add_joint` was told."""
        return self.layout.kind

    @property
    def _known(self) -> tuple[str, ...]:
        """Its coordinates; a drive has none."""
        return JOINTS[self.kind].coordinates if self.kind in JOINTS else ()

    @property
    def determined(self) -> bool:
        """Whether the equations of motion determine all that the joint carries."""
        return not any(self.name in loop for loop in self._source.layout.description.get("undetermined", []))

    @cached_property
    def multipliers(self) -> Floats:
        """(T, rows) one for each scalar equation of the joint, at the outputs"""
        return self._source.multipliers(slice(*self.layout.rows))

    @cached_property
    def step_multipliers(self) -> Floats:
        """(T, rows) the same as states store them: means over the last step, or substep, before an output"""
        return self._source.read("lam", (slice(None), slice(*self.layout.rows)))

    @property
    def force(self) -> Floats:
        """(T, 3) N, on b, inertial axes"""
        return self._wrench[0]

    @property
    def moment(self) -> Floats:
        """(T, 3) N m, on b about the joint's point on b, inertial axes"""
        return self._wrench[1]

    def force_in(self, axes: str) -> Floats:
        """(T, 3) N, on b, in "inertial" or "joint" axes"""
        return self._in(axes, self.force)

    def moment_in(self, axes: str) -> Floats:
        """(T, 3) N m, on b about the joint's point on b, in "inertial" or "joint" axes"""
        return self._in(axes, self.moment)

    @property
    def axes(self) -> Floats:
        """(T, 3, 3) columns e1, e2, e3, the joint's axes in inertial ones"""
        return self._sides.triads[0]

    @property
    def offset(self) -> Floats:
        """(T, 3) m, from the point on a to that on b, in the joint's axes"""
        return self._in(JOINT, self._sides.d)

    @cached_property
    def angle(self) -> Floats:
        """(T,) rad, of b against a about e3, 0 at t = 0, counted through turns.

        Between two outputs it is taken to have turned by about the mean of its rates at both: outputs may be several turns
        apart where it turns evenly.
        """
        self._has("angle")
        a, b = self._sides.triads
        sine, cosine = _dot(a[..., 1], b[..., 0]), _dot(a[..., 0], b[..., 0])
        return _counted(np.arctan2(sine, cosine), self.angle_rate, self._source.read(native.TIME))

    @property
    def angle_rate(self) -> Floats:
        """(T,) rad/s, of b against a about e3"""
        self._has("angle")
        return _dot(self.axes[..., 2], self._sides.turning)

    @cached_property
    def angles(self) -> Floats:
        """(T, 2) rad, of a universal joint: of its cross against a about e3, of b against the cross about e1 of b; each
        0 at t = 0, and counted as `angle`.
        """
        self._has("angles")
        a, b = self._sides.triads
        first = np.arctan2(_dot(a[..., 1], b[..., 0]), _dot(a[..., 0], b[..., 0]))
        bent = np.cross(a[..., 2], b[..., 2])
        second = np.arctan2(_dot(bent, b[..., 0]), _dot(a[..., 2], b[..., 2]))
        rates, t = self.angle_rates, self._source.read(native.TIME)
        return np.stack([_counted(x, rates[:, k], t) for k, x in enumerate((first, second))], axis=1)

    @property
    def angle_rates(self) -> Floats:
        """(T, 2) rad/s, of `angles`"""
        self._has("angles")
        a, b = self._sides.triads
        # perpendicular axes: each component is a rate of its own
        return np.stack([_dot(x, self._sides.turning) for x in (a[..., 2], b[..., 0])], axis=1)

    @property
    def displacement(self) -> Floats:
        """(T,) m, of b against a along e3, 0 at t = 0"""
        self._has("displacement")
        return _dot(self.axes[..., 2], self._sides.d)

    @property
    def displacement_rate(self) -> Floats:
        """(T,) m/s, of b against a along e3"""
        self._has("displacement")
        return _dot(self.axes[..., 2], self._sides.rate)

    @property
    def rate(self) -> Floats:
        """(T,) of the coordinate of the joint, rad/s or m/s; of the angle where there is a displacement besides"""
        return self.angle_rate if "angle" in self._known else self.displacement_rate

    def table(self) -> dict[str, Floats]:
        """Columns (T,) by name: what says how the joint stands, then force and moment in inertial axes."""
        columns: dict[str, Floats] = {}
        for name in self._known:
            values = {name: getattr(self, name), f"{name}_rate": getattr(self, _RATES[name])}
            columns |= {k: v for k, v in values.items() if v.ndim == 1}
            columns |= {f"{k}_{i + 1}": v[:, i] for k, v in values.items() if v.ndim == 2 for i in (0, 1)}
        for name, vectors in (("force", self.force), ("moment", self.moment)):
            columns |= {f"{name}_{axis}": vectors[:, i] for i, axis in enumerate("xyz")}
        return columns

    def _has(self, coordinate: str) -> None:
        known = self._known
        if coordinate not in known:
            has = (
                f"it has {' and '.join(known)}" if known else "`.offset` says where b is, in the joint's axes"
            )
            raise ResultError(f"{self.kind} joint '{self.name}': has no {coordinate}; {has}")

    def _in(self, axes: str, vectors: Floats) -> Floats:
        if axes == INERTIAL:
            return vectors
        if axes != JOINT:
            raise ResultError(f"joint '{self.name}': axes = {axes!r}; choose '{INERTIAL}' or '{JOINT}'")
        return np.einsum("tij,ti->tj", self.axes, vectors)

    @cached_property
    def _sides(self) -> _Sides:
        frames = self.layout.frames
        if frames is None:
            raise ResultError(
                f"joint '{self.name}': this file is older than the axes of joints; run the simulation again"
            )
        r, quat, v, Omega = (
            np.stack([self._source.read(name, (slice(None), f)) for f in frames])
            for name in ("r", "quat", "v", "Omega")
        )
        own = Standing(self._source.layout).sides(self.layout, slice(None))
        omega = rotate(quat, Omega)
        arm = rotate(quat, own.points)
        d = r[1] - r[0] + arm[1] - arm[0]
        speed = v + np.cross(omega, arm)
        rate = speed[1] - speed[0] - np.cross(omega[0], d)
        a, b = to_matrix(quat) @ own.axes
        return _Sides((a, b), d, rate, omega[1] - omega[0])

    @cached_property
    def _wrench(self) -> tuple[Floats, Floats]:
        standing, mine = Standing(self._source.layout), self._mine()
        assert standing.constraints is not None
        own = standing.constraints.chosen(mine)
        a, b = (int(f) for f in own.frames[0])
        # the ground and the two frames alone, so that what is fixed to the ground stays known as such
        r, quat = (
            np.stack([self._source.read(name, (slice(None), f)) for f in (0, a, b)], axis=1)
            for name in ("r", "quat")
        )
        own = own._replace(frames=np.tile([1 if a else 0, 2 if b else 0], (len(own.kind), 1)))
        none = np.zeros((len(r), 0))
        state = State(r, quat, r, r, none, none, none, none)
        gradients = standing.gradients(own, slice(None), state, self._driven(mine))
        # the equations of motion contain + G^T lam: what acts on b is -lam times the gradient
        on_b = -np.einsum("tm,tmi->ti", self.multipliers, gradients[:, :, 1])
        force = on_b[:, :3]
        point = standing.point(own, 1, slice(None))
        return force, on_b[:, 3:] - np.cross(rotate(quat[:, 2], point), force)

    def _driven(self, mine: Any) -> Floats:
        """(T, d, 9) what the drive of this row keeps; without rows where it is none."""
        every = self._source.layout.constraints
        assert every is not None
        of_mine = mine[driven_rows(every)]
        if not of_mine.any():
            return np.zeros((self._source.n_outputs, 0, NUMBERS))
        return self._source.layout.own.part(self._source.read("own"), "drive")[:, : len(of_mine)][:, of_mine]

    def _mine(self) -> Any:
        """(c,) which constraints are of this joint."""
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


def _counted(angles: Floats, rates: Floats, t: Floats) -> Floats:
    """Angles known up to whole turns, each nearest to where its rate has brought it since the one before."""
    expected = np.diff(t) * 0.5 * (rates[1:] + rates[:-1])
    change = np.diff(angles)
    turns = np.concatenate([[0.0], np.cumsum(np.round((expected - change) / (2.0 * np.pi)))])
    counted: Floats = angles + 2.0 * np.pi * turns
    return counted
