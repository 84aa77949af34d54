"""Bearings and seals of rotors: forces and moments by full matrices of stiffness and damping, which may depend on the speed.

The coordinates are those of a bushing with a free axis (`discretization.space.free_bushing`): the displacement u of a point of
the shaft and the tilt t of its axis, both in axes that are fixed to the support. The shaft may rotate about the axis without
limit. On the shaft act, in these axes,

    (F, M) = -K (u, t) - C d(u, t)/dt                                                                        (1)

The symmetric part of K is an energy. Its antisymmetric part does work (`discretization.space.bearing_circulation`). The symmetric
part of C dissipates, its antisymmetric part does no work.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from discretization.interaction_table import Interaction
from discretization.space.bearing_circulation import CIRCULATION
from discretization.space.free_bushing import FREE, FREE_BUSHING, FREE_BUSHING_DAMPER, free_numbers
from rigid import checks, quaternions
from rigid.checks import shown
from rigid.errors import ModelError
from rigid.system import Floats
from rodsim.components.base import (
    DIRECTION,
    END,
    NEGLIGIBLE,
    NUMBER,
    POINT,
    Attachment,
    CheckContext,
    InteractionComponent,
    ParameterType,
    Poses,
    choice,
    component,
    distinct_frames,
    parameter,
)
from rodsim.components.model_parts import Anchor, Rod

# kind -> the coordinates that its numbers resist, of (axial, y, z, rotation, tilt about y, tilt about z)
CARRIES = {
    "radial": (1, 2),
    "axial": (0,),
    "self-aligning": (0, 1, 2),
    "general": (0, 1, 2, 3, 4, 5),
}
APART = 1e-6  # largest distance of the points of support and shaft, relative to the size of the model
NEGATIVE = 1e-12  # smallest relative eigenvalue of damping that counts as negative
AT_EDGE = 1e-9  # relative: a speed this near the ends of a table is in it


def _check_coefficients(context: CheckContext, what: str, value: Any) -> Floats:
    """Return numbers of a matrix, or of a table of them, as an array."""
    numbers = checks.numbers(value)
    if (
        numbers is None
        or not np.all(np.isfinite(numbers))
        or np.abs(numbers).max(initial=0.0) > checks.LARGEST
    ):
        raise ModelError(
            f"{context.owner}: {what} = {shown(value)} has entries that are not numbers. Give one number, a diagonal or "
            "a matrix, without gaps"
        )
    return numbers


def _check_speeds(context: CheckContext, what: str, value: Any) -> Floats:
    """Return increasing speeds (k,), rad/s."""
    numbers = checks.numbers(value)
    if (
        numbers is None
        or numbers.ndim != 1
        or len(numbers) < 2
        or not np.all(np.isfinite(numbers))
        or not np.all(np.diff(numbers) > 0.0)
    ):
        raise ModelError(
            f"{context.owner}: {what} = {shown(value)}. Give two or more increasing speeds, rad/s"
        )
    return numbers


COEFFICIENTS, SPEEDS = (
    ParameterType("bearing matrix", _check_coefficients),
    ParameterType("speeds", _check_speeds),
)


@component
class Bearing(InteractionComponent):
    """A bearing or a seal: matrices of stiffness and damping between a support and a shaft that rotates in it."""

    key, word, list_description = "bearings", "bearing", "bearings and seals of rotors"
    a: Attachment = parameter(END, "the support: a part, or its point at the shaft")
    b: Anchor = parameter(POINT, "the shaft: its point in the bearing; a body stands for its reference point")
    carries: str = parameter(choice(*CARRIES), "coordinates that the numbers belong to", "radial", key="kind")
    stiffness: Floats = parameter(
        COEFFICIENTS,
        "one number, a diagonal or a matrix, which need not be symmetric; with speeds a list of these [N/m, N m/rad]",
        0.0,
    )
    damping: Floats = parameter(COEFFICIENTS, "damping, in the same forms [N s/m, N m s/rad]", 0.0)
    axis: Floats | None = parameter(
        DIRECTION, "world direction of the axis at t = 0; default: the tangent of the rod b [1]", None
    )
    y: Floats | None = parameter(
        DIRECTION,
        "world direction of the y axis at t = 0, across the axis; default: the world axis after that of the shaft [1]",
        None,
    )
    speeds: Floats | None = parameter(
        SPEEDS, "rotation speeds of the entries of stiffness and damping [rad/s]", None
    )
    speed: float | None = parameter(
        NUMBER, "speed at which a table is read; default: the shaft's about the axis at t = 0 [rad/s]", None
    )
    K: Floats  # (k, 6, 6) stiffness at each speed; k = 1 without speeds
    C: Floats  # (k, 6, 6) damping

    @classmethod
    def complete(cls, context: CheckContext, values: dict[str, Any]) -> None:
        owner, b = context.owner, values["b"]
        if values["axis"] is None:
            if not isinstance(b.part, Rod):
                raise ModelError(f"{owner}: has no axis. Give axis=(x, y, z), the direction of the shaft")
            values["axis"] = quaternions.to_matrix(b.orientation)[:, 0]
        if values["y"] is not None and abs(values["y"] @ values["axis"]) > 1e-6:
            raise ModelError(f"{owner}: y = {values['y']} is not perpendicular to the axis {values['axis']}")
        speeds = values["speeds"]
        count = None if speeds is None else len(speeds)
        for what, name in (("stiffness", "K"), ("damping", "C")):
            values[name] = _full_matrices(owner, what, values[what], values["carries"], count)
        if speeds is None and values["speed"] is not None:
            raise ModelError(f"{owner}: has a speed, but no table. Give speeds=, or remove speed=")
        _check_matrices(owner, values["K"], values["C"])

    def make_interactions(self, poses: Poses) -> list[Interaction]:
        owner = self.owner(self.name, {})
        frames = distinct_frames(poses, owner, self.a, self.b)
        point = self._point(owner, poses)
        x = cast(Floats, self.axis)
        y = np.eye(3)[(np.argmax(np.abs(x)) + 1) % 3] if self.y is None else self.y
        y = y - x * (x @ y)
        y /= np.linalg.norm(y)
        axes = np.column_stack([x, y, np.cross(x, y)])
        markers, arm = [], 0.0
        for frame in frames:
            back = quaternions.conjugate(poses.quat[frame])
            X = quaternions.rotate(back, point - poses.r[frame])
            markers += [X, quaternions.rotate(back, axes.T).T.ravel()]
            arm += float(np.linalg.norm(X))
        both = np.concatenate(markers)
        K, C = self.matrices(self._speed(poses, frames))
        resisted = bool(np.any(K[FREE:]) or np.any(K[:, FREE:]) or np.any(C[4:]) or np.any(C[:, 4:]))
        force = np.abs(K[:3]).max() * (1.0 + arm)
        size = (force, float(np.abs(K[3:]).max()) + force * arm)
        S, A = 0.5 * (K + K.T), 0.5 * (K - K.T)
        interactions = []
        for kind, matrix, rounding in (
            (FREE_BUSHING, S, size),
            (CIRCULATION, A, size),
            (FREE_BUSHING_DAMPER, C, NEGLIGIBLE),
        ):
            if np.any(matrix) or (kind is FREE_BUSHING and not np.any(C)):
                numbers = free_numbers(both, matrix, np.zeros(6), resisted)
                interactions.append(Interaction(kind, frames, numbers, rounding))
        return interactions

    def matrices(self, speed: float) -> tuple[Floats, Floats]:
        """Return stiffness and damping (6, 6) at a rotation speed, rad/s, interpolated linearly in a table.

        Raises ModelError outside the table.
        """
        if self.speeds is None:
            return self.K[0], self.C[0]
        first, last = self.speeds[[0, -1]]
        edge = AT_EDGE * max(abs(first), abs(last))
        if not first - edge <= speed <= last + edge:
            raise ModelError(
                f"bearing '{self.name}': the shaft rotates with {speed:.6g} rad/s about the axis of the bearing, but its table "
                f"covers {first:g} to {last:g} rad/s. Extend the table, reverse the axis, or give speed="
            )
        k = int(np.clip(np.searchsorted(self.speeds, speed) - 1, 0, len(self.speeds) - 2))
        part = (speed - self.speeds[k]) / (self.speeds[k + 1] - self.speeds[k])
        part = float(np.clip(part, 0.0, 1.0))
        K, C = ((1.0 - part) * x[k] + part * x[k + 1] for x in (self.K, self.C))
        return K, C

    def _speed(self, poses: Poses, frames: list[int]) -> float:
        """Return the rotation speed of the shaft relative to the support at t = 0, or the given speed, rad/s."""
        if self.speed is not None:
            return self.speed
        omega = quaternions.rotate(poses.quat[frames], poses.Omega[frames])
        return float((omega[1] - omega[0]) @ self.axis)

    def _point(self, owner: str, poses: Poses) -> Floats:
        """Return the world point of the bearing; ModelError if the points of both sides differ."""
        points = [poses.place(x).world for x in (self.b, self.a) if isinstance(x, Anchor)]
        apart = float(np.linalg.norm(points[-1] - points[0]))
        size = float(np.abs(poses.r - poses.r[0]).max(initial=1e-12))
        if apart > APART * size:
            raise ModelError(
                f"{owner}: the points of support and shaft are {apart:.3g} m apart. Give the support itself, such as 'ground'"
            )
        return points[0]


def _full_matrices(owner: str, what: str, value: Any, kind: str, count: int | None) -> Floats:
    """Return matrices (k, 6, 6) from one number, a diagonal or a matrix, or from a list of `count` of them."""
    rows = CARRIES[kind]
    n, given = len(rows), np.asarray(value, float)
    if count is None:
        given = given[None]
    elif given.ndim == 0:
        given = np.full(count, given)  # one number holds at each speed
    elif len(given) != count:
        raise ModelError(
            f"{owner}: has {count} speeds, but {what} has {len(given)} entries. Give one entry for each speed"
        )
    if given.ndim == 1:
        matrices = given[:, None, None] * np.eye(n)
        if n == 6:
            matrices[:, FREE, FREE] = 0.0
    elif given.shape[1:] == (n,):
        matrices = given[:, :, None] * np.eye(n)
    elif given.shape[1:] == (n, n):
        matrices = given
    else:
        shapes = "one number" if n == 1 else f"one number, {n} numbers, or {n} x {n}"
        raise ModelError(
            f"{owner}: {what} of a {kind} bearing has the shape {given.shape[1:]}. Give {shapes}"
        )
    out = np.zeros((len(matrices), 6, 6))
    out[np.ix_(range(len(matrices)), rows, rows)] = matrices
    return out


def _check_matrices(owner: str, K: Floats, C: Floats) -> None:
    """Raise ModelError if stiffness resists the rotation, damping gains energy, or nothing acts."""
    if not np.any(K) and not np.any(C):
        raise ModelError(f"{owner}: has no stiffness and no damping. Give stiffness=")
    if np.any(K[:, FREE]) or np.any(K[:, :, FREE]):
        raise ModelError(
            f"{owner}: its stiffness resists the rotation about its axis (row or column 4), in which the shaft is free. Set "
            "these to 0, or use add_bushing"
        )
    for matrix in C:
        lowest = float(np.linalg.eigvalsh(0.5 * (matrix + matrix.T))[0])
        if lowest < -NEGATIVE * np.abs(matrix).max():
            raise ModelError(
                f"{owner}: the symmetric part of its damping has the eigenvalue {lowest:.3g}, so that it would create energy. "
                "Give damping that is not negative; cross coupling that drives a whirl belongs to the stiffness"
            )
