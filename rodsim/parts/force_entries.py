"""Interactions between two anchors that have no table of their own: bushings, springs and dampers with laws, limits.

An entry makes its rows of `discretization.others` where the model is built.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from discretization.others import Other
from discretization.space.bushing import BUSHING, BUSHING_DAMPER, bushing_numbers, damper_numbers
from discretization.space.free_bushing import (
    FREE,
    FREE_BUSHING,
    FREE_BUSHING_DAMPER,
    free_axis,
    free_numbers,
    with_axis,
)
from rigid import quaternions
from rigid.errors import ModelError
from rigid.interactions import law_springs
from rigid.interactions.laws import law_numbers, steepest
from rigid.system import Floats, Frames, Ints
from rodsim.parts.model_parts import Anchor, Body, Driven, Ground, Rod
from rodsim.parts.spring_laws import Law

Held = Anchor | Body | Ground | Driven
COORDINATES = ("length", "displacement", "angle")


class Place(Protocol):
    """A point on a frame (`rodsim.building.build.Placed`)."""

    @property
    def frame(self) -> int: ...
    @property
    def X(self) -> Floats: ...
    @property
    def world(self) -> Floats: ...


class Poses(Protocol):
    """What an entry asks of `rodsim.building.build.Placement`."""

    r: Floats
    quat: Floats
    frames: Frames

    def place(self, anchor: Anchor) -> Place: ...
    def frame_of(self, thing: Held) -> int: ...
    def frames_of(self, part: Body | Rod) -> Ints: ...
    def local(self, frame: int, direction: Floats) -> Floats: ...


class OtherEntry(ABC):
    """Between `a` and `b`."""

    plural: ClassVar[str]  # what many of them are called
    name: str
    a: Held
    b: Held

    @property
    @abstractmethod
    def kind(self) -> str:
        """What it is called in messages."""

    @abstractmethod
    def made(self, poses: Poses) -> list[Other]:
        """Its interactions at the poses of the frames at t = 0."""

    @abstractmethod
    def described(self) -> dict[str, Any]:
        """In words and numbers, fit for JSON."""


@dataclass(frozen=True, eq=False)
class BushingEntry(OtherEntry):
    """See `Model.add_bushing`."""

    plural = "bushings"
    name: str
    a: Held
    b: Held
    at: Floats | None
    axes: Floats  # (3, 3) columns: world directions
    stiffness: Floats  # (6, 6)
    damping: Floats
    rest: Floats  # (6,)

    @property
    def kind(self) -> str:
        return "bushing"

    def made(self, poses: Poses) -> list[Other]:
        ends = [self.at if self.at is not None else _point(self, x, poses) for x in (self.a, self.b)]
        frames = [poses.frame_of(x) for x in (self.a, self.b)]
        if frames[0] == frames[1]:
            raise ModelError(f"bushing '{self.name}': joins a node to itself; give two points apart")
        free = free_axis(self.stiffness, self.damping)
        P = np.eye(3) if free is None else with_axis(free)
        axes = self.axes @ P
        markers, arm = [], 0.0
        for frame, point in zip(frames, ends, strict=True):
            back = quaternions.conjugate(poses.quat[frame])
            X = quaternions.rotate(back, point - poses.r[frame])
            Q = quaternions.rotate(back, axes.T).T
            markers += [X, Q.ravel()]
            arm += float(np.linalg.norm(X))
        C = np.abs(self.stiffness)
        force = C[:3].max(initial=0.0) * (1.0 + arm)
        moment = C[3:].max(initial=0.0) + force * arm
        both, size, none = np.concatenate(markers), (force, moment), (0.0, 0.0)
        if free is None:
            found = [Other(BUSHING, frames, bushing_numbers(both, self.stiffness, self.rest), size)]
            if np.any(self.damping):
                found.append(Other(BUSHING_DAMPER, frames, damper_numbers(both, self.damping), none))
            return found
        stiffness, damping, rest = _turned(P, self.stiffness), _turned(P, self.damping), self.rest.copy()
        stiffness[FREE], stiffness[:, FREE] = 0.0, 0.0  # they are, but for rounding
        rest[:3], rest[3:] = P.T @ rest[:3], P.T @ rest[3:]
        rest[FREE] = 0.0
        resisted = bool(np.any(stiffness[3:]) or np.any(damping[3:]))
        found = [Other(FREE_BUSHING, frames, free_numbers(both, stiffness, rest, resisted), size)]
        if np.any(self.damping):
            numbers = free_numbers(both, damping, np.zeros(6), resisted)
            found.append(Other(FREE_BUSHING_DAMPER, frames, numbers, none))
        return found

    def described(self) -> dict[str, Any]:
        return {
            "kind": "bushing",
            "a": str(self.a),
            "b": str(self.b),
            "stiffness": self.stiffness.tolist(),
            "damping": self.damping.tolist(),
        }


@dataclass(frozen=True, eq=False)
class LawEntry(OtherEntry):
    """See `Model.add_law_spring` and `Model.add_limit`."""

    plural = "springs with laws and limits"
    name: str
    a: Held
    b: Held
    of: str  # one of COORDINATES
    axis: Floats | None
    law: Law | None
    damping: Law | None
    stops: bool = False  # made by `add_limit`

    @property
    def kind(self) -> str:
        return "limit" if self.stops else "spring with a law"

    @property
    def owner(self) -> str:
        """It, in messages."""
        return f"{'limit' if self.stops else 'spring'} '{self.name}'"

    def made(self, poses: Poses) -> list[Other]:
        owner = self.owner
        frames = [poses.frame_of(x) for x in (self.a, self.b)]
        if frames[0] == frames[1]:
            raise ModelError(f"{owner}: joins a node to itself; give two points apart")
        if self.of == "angle":
            head, reach, arm = self._angle(owner, poses, frames), 1.0, 1.0
            kinds = law_springs.ANGLE_SPRING, law_springs.ANGLE_DAMPER
        else:
            places = [poses.place(_anchor(owner, x)) for x in (self.a, self.b)]
            head = np.concatenate([place.X for place in places])
            arm = float(sum(np.linalg.norm(place.X) for place in places))
            reach = 1.0 + float(np.linalg.norm(places[1].world - places[0].world))
            kinds = law_springs.LENGTH_SPRING, law_springs.LENGTH_DAMPER
            if self.axis is not None:
                head = np.concatenate([head, poses.local(frames[0], self.axis)])
                kinds = law_springs.DISPLACEMENT_SPRING, law_springs.DISPLACEMENT_DAMPER
                arm += reach
        found = []
        for kind, law in zip(kinds, (self.law, self.damping), strict=True):
            if law is not None:
                numbers = law_numbers(owner, law.pieces)
                force = steepest(numbers) * reach
                found.append(Other(kind, frames, np.concatenate([head, numbers]), (force, force * arm)))
        return found

    def _angle(self, owner: str, poses: Poses, frames: list[int]) -> Floats:
        """U_a, W_a, U_b and the middle of the angles."""
        assert self.axis is not None
        middle = 0.0
        if self.law is not None:
            first, last = self.law.pieces.x[[0, -1]]
            if last - first > 2 * np.pi:
                raise ModelError(
                    f"{owner}: its law reaches over {last - first:.3g} rad; an angle is known within one turn, 2 pi"
                )
            middle = 0.5 * (first + last)
        u = np.cross(np.eye(3)[np.argmin(np.abs(self.axis))], self.axis)
        u /= np.linalg.norm(u)
        a, b = frames
        w = np.cross(self.axis, u)
        return np.concatenate([poses.local(a, u), poses.local(a, w), poses.local(b, u), [middle]])

    def described(self) -> dict[str, Any]:
        found: dict[str, Any] = {"kind": f"law of {self.of}", "a": str(self.a), "b": str(self.b)}
        for what, law in (("law", self.law), ("damping", self.damping)):
            if law is not None:
                found[what] = law.described()
        return found


def _turned(P: Floats, matrix: Floats) -> Floats:
    """A matrix (6, 6) of displacements and rotations in the axes P."""
    both = np.kron(np.eye(2), P)
    found: Floats = both.T @ matrix @ both
    return found


def _anchor(owner: str, thing: Held) -> Anchor:
    if isinstance(thing, Anchor):
        return thing
    if isinstance(thing, Body | Driven):
        return thing.at((0.0, 0.0, 0.0))
    raise ModelError(f"{owner}: {thing} is not a point; use model.ground.at(...)")


def _point(entry: BushingEntry, thing: Held, poses: Poses) -> Floats:
    return poses.place(_anchor(f"bushing '{entry.name}'", thing)).world
