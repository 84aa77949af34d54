"""Define the schema of the section `equilibrium` of a scene: how `rodsim equilibrium` computes the equilibrium."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from rodsim.scenes.points import Anchor
from rodsim.scenes.schema_types import Name, Number, Part, Positive, Vector


class MotionScene(Part):
    """How the ground side of a joint has moved at load factor 1."""

    joint: Name
    """name of a joint to the ground"""
    displacement: Vector = [0.0, 0.0, 0.0]
    """of its ground side at load factor 1 [m]"""
    rotation: Vector = [0.0, 0.0, 0.0]
    """rotation vector of its ground side at load factor 1, through several turns if need be [rad]"""
    about: Vector | None = None
    """point of the rotation; left out: the joint [m]"""


class MonitorScene(Part):
    """The displacement of a point in a direction."""

    name: Name
    """by which it is known"""
    point: Anchor
    """what is watched"""
    direction: Vector
    """world direction of the displacement [1]"""


class StopScene(Part):
    """Values at which a path ends."""

    of: Name = "load_factor"
    """load_factor, or a monitor"""
    lowest: Number
    """the path ends there [1 or m]"""
    highest: Number
    """the path ends there [1 or m]"""


class EquilibriumScene(Part):
    """See `rodsim.equilibrium`."""

    method: Literal["newton", "arc-length"] = "newton"
    """load steps from factor 0 to 1, or along the path through limits"""
    load_time: Number = 0.0
    """time at which loads are evaluated [s]"""
    constant: list[Name] = []
    """loads, or gravity, that act in full from the beginning"""
    motions: list[MotionScene] = []
    """how ground sides of joints move"""
    monitors: list[MonitorScene] = []
    """displacements to follow"""
    stop: list[StopScene] = []
    """where a path ends"""
    branch: int = 0
    """leave the path at its k-th bifurcation; -k: to the other side [1]"""
    relaxation: bool = True
    """follow a damped motion where load steps come to an end"""
    unstable: Literal["keep", "stop", "leave"] = "keep"
    """unstable equilibria: keep them, stop before the first, or leave the last one for a stable one"""
    most_points: Annotated[int, Field(ge=1, le=1_000_000)] = 500
    """equilibria at most [1]"""
    first_step: Positive = 1.0
    """longest first step: of the load factor, of the norm along a path [1]"""
