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
from rigid import quaternions
from rigid.errors import ModelError
from rigid.interactions import law_springs
from rigid.interactions.laws import law_numbers, steepest
from rigid.system import Floats, Frames, Ints
from rodsim.laws import Law
from rodsim.parts import Anchor, Body, Driven, Ground, Rod

Held = Anchor | Body | Ground | Driven
COORDINATES = ("length", "displacement", "angle")


class Place(Protocol):
    """A point on a frame (`rodsim.building.Placed`)."""

    @property
    def frame(self) -> int: ...
    @property
    def X(self) -> Floats: ...
    @property
    def world(self) -> Floats: ...


class Poses(Protocol):
    """What an entry asks of `rodsim.building.Placement`."""

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

    def made(self, poses: Poses) -> list[Other]:
        ends = [self.at if self.at is not None else _point(self, x, poses) for x in (self.a, self.b)]
        frames = [poses.frame_of(x) for x in (self.a, self.b)]
        if frames[0] == frames[1]:
            raise ModelError(f"bushing '{self.name}': joins a node to itself; give two points apart")
        markers, arm = [], 0.0
        for frame, point in zip(frames, ends, strict=True):
            back = quaternions.conjugate(poses.quat[frame])
            X = quaternions.rotate(back, point - poses.r[frame])
            Q = quaternions.rotate(back, self.axes.T).T
            markers += [X, Q.ravel()]
            arm += float(np.linalg.norm(X))
        C = np.abs(self.stiffness)
        force = C[:3].max(initial=0.0) * (1.0 + arm)
        moment = C[3:].max(initial=0.0) + force * arm
        both = np.concatenate(markers)
        found = [Other(BUSHING, frames, bushing_numbers(both, self.stiffness, self.rest), (force, moment))]
        if np.any(self.damping):
            found.append(Other(BUSHING_DAMPER, frames, damper_numbers(both, self.damping), (0.0, 0.0)))
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

    def made(self, poses: Poses) -> list[Other]:
        owner = f"spring '{self.name}'"
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


def _anchor(owner: str, thing: Held) -> Anchor:
    if isinstance(thing, Anchor):
        return thing
    if isinstance(thing, Body | Driven):
        return thing.at((0.0, 0.0, 0.0))
    raise ModelError(f"{owner}: {thing} is not a point; use model.ground.at(...)")


def _point(entry: BushingEntry, thing: Held, poses: Poses) -> Floats:
    return poses.place(_anchor(f"bushing '{entry.name}'", thing)).world
