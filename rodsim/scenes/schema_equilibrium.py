"""Define the schema of the section `equilibrium` of a scene: how `rodsim equilibrium` computes the equilibrium."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from rodsim.scenes.points import Anchor
from rodsim.scenes.schema_types import Name, Number, Part, Positive, Vector


class MotionScene(Part):
    """Motion of the ground side of a joint at load factor 1."""

    joint: Name
    """name of a joint to the ground"""
    displacement: Vector = [0.0, 0.0, 0.0]
    """displacement of the joint's ground side at load factor 1 [m]"""
    rotation: Vector = [0.0, 0.0, 0.0]
    """rotation vector of the joint's ground side at load factor 1; several turns are allowed [rad]"""
    about: Vector | None = None
    """centre of the rotation; default: the joint [m]"""


class MonitorScene(Part):
    """The displacement of a point in a direction."""

    name: Name
    """name of the monitor"""
    point: Anchor
    """point whose displacement is monitored"""
    direction: Vector
    """world direction of the displacement [1]"""


class StopScene(Part):
    """Values at which a path ends."""

    of: Name = "load_factor"
    """load_factor, or a monitor"""
    lowest: Number
    """bound at which the path ends [1 or m]"""
    highest: Number
    """bound at which the path ends [1 or m]"""


class LoadCaseScene(Part):
    """A load case: loads that act together, and supports that settle."""

    name: Name
    """name of the load case"""
    loads: list[Name] | dict[Name, Number] = []
    """names of loads, or gravity; or their factors [1]"""
    settlements: list[MotionScene] = []
    """motions of the ground sides of joints"""


class CombinationScene(Part):
    """A combination of load cases."""

    name: Name
    """name of the combination"""
    cases: dict[Name, Number]
    """factors of load cases [1]"""


class EquilibriumScene(Part):
    """See `rodsim.equilibrium`, and `rodsim.load_cases` for `linear` and `load_cases`."""

    linear: bool = False
    """first-order theory: everything is linear in the loads, one system of equations is solved"""
    load_cases: list[LoadCaseScene] = []
    """load cases, each with an equilibrium of its own"""
    combinations: list[CombinationScene] = []
    """combinations of load cases"""
    method: Literal["newton", "arc-length"] = "newton"
    """load steps from factor 0 to 1, or along the path through limits"""
    load_time: Number = 0.0
    """time at which loads are evaluated [s]"""
    constant: list[Name] = []
    """loads, or gravity, that act fully from the start"""
    motions: list[MotionScene] = []
    """motions of the ground sides of joints"""
    monitors: list[MonitorScene] = []
    """displacements to follow"""
    stop: list[StopScene] = []
    """where a path ends"""
    branch: int = 0
    """leave the path at its k-th bifurcation; -k: to the other side [1]"""
    relaxation: bool = True
    """simulate a damped motion if load steps fail"""
    unstable: Literal["keep", "stop", "leave"] = "keep"
    """unstable equilibria: keep them, stop before the first, or leave the last one for a stable one"""
    most_points: Annotated[int, Field(ge=1, le=1_000_000)] = 500
    """largest number of equilibria [1]"""
    first_step: Positive = 1.0
    """longest first step: of the load factor, of the norm along a path [1]"""
