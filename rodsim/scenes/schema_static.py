"""What may stand under `static` in a scene: how `rodsim static` finds its equilibrium."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from rodsim.scenes.schema_types import Anchor, Name, Number, Part, Positive, Vector


class MotionScene(Part):
    """How the ground side of a joint has moved at load factor 1."""

    joint: Name
    displacement: Vector = [0.0, 0.0, 0.0]
    rotation: Vector = [0.0, 0.0, 0.0]
    about: Vector | None = None


class MonitorScene(Part):
    """The displacement of a point in a direction."""

    name: Name
    point: Anchor
    direction: Vector


class StopScene(Part):
    """Values at which a path ends."""

    of: Name = "load_factor"
    lowest: Number
    highest: Number


class StaticScene(Part):
    """See `rodsim.equilibrium`."""

    method: Literal["newton", "arc-length"] = "newton"
    at: Number = 0.0
    constant: list[Name] = []
    motions: list[MotionScene] = []
    monitors: list[MonitorScene] = []
    stop: list[StopScene] = []
    branch: int = 0
    relaxation: bool = True
    most_points: Annotated[int, Field(ge=1, le=1_000_000)] = 500
    first_step: Positive = 1.0
