"""What a model is made of, as it was given: parts, and the joints, springs and loads between them."""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from rigid import checks
from rigid.checks import vector
from rigid.motions import Motion
from rigid.signals import VectorFunction
from rigid.system import FORCE, Floats
from rodsim.parts.force_entries import OtherEntry
from rodsim.parts.model_parts import Anchor, Body, Driven, Ground, Rod

Attachable = Anchor | Body | Rod | Ground | Driven
Held = Anchor | Body | Ground | Driven


class JointEntry(NamedTuple):
    """A joint between two anchors; `at` world point, world directions and what its kind takes, or None."""

    name: str
    kind: str
    a: Held
    b: Held
    at: Floats | None
    axis: Floats | None
    length: float | None = None
    second_axis: Floats | None = None  # on b
    pitch: float | None = None  # m a turn
    locked: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<{self.kind} joint '{self.name}' from {self.a} to {self.b}>"

    def _repr_html_(self) -> str:
        """For notebooks: what it joins, and where."""
        from rodsim.parts.part_html import joint_html

        return joint_html(self)


class SpringEntry(NamedTuple):
    """A spring-damper between two anchors."""

    name: str
    a: Anchor
    b: Anchor
    stiffness: float
    damping: float
    length: float | None


class TorsionEntry(NamedTuple):
    """A torsion spring about a world axis between two parts."""

    name: str
    a: Held
    b: Held
    axis: Floats
    stiffness: float
    damping: float
    angle: float


class LoadEntry(NamedTuple):
    """A force or moment on an anchor."""

    name: str
    kind: int
    anchor: Anchor
    value: VectorFunction
    following: bool
    described: Any

    def __repr__(self) -> str:
        return f"<{'force' if self.kind == FORCE else 'moment'} '{self.name}' on {self.anchor}>"


class DriveEntry(NamedTuple):
    """A coordinate of a joint whose change from t = 0 on is given: "angle" (rad) or "displacement" (m)."""

    name: str
    joint: JointEntry
    of: str
    motion: Motion

    def __repr__(self) -> str:
        return f"<drive '{self.name}' of the {self.of} of joint '{self.joint.name}'>"


class Geared(NamedTuple):
    """A coordinate of a joint in a gear, "angle" (rad) or "displacement" (m), and how much it counts there."""

    joint: JointEntry
    of: str
    ratio: float


class GearEntry(NamedTuple):
    """Coordinates of joints whose sum, each times its ratio, does not change."""

    name: str
    each: tuple[Geared, ...]


class Contents:
    """The parts of a model and what joins and loads them, by name, in the order in which they were added."""

    def __init__(self, name: str, gravity: ArrayLike):
        self.name = checks.name("name of the model", name)
        self.gravity = vector(f"model '{name}'", "gravity", gravity)
        self.ground = Ground()
        self.scene: str | None = None  # text of the scene file it was read from
        self.bodies: dict[str, Body] = {}
        self.rods: dict[str, Rod] = {}
        self.joints: dict[str, JointEntry] = {}
        self.springs: dict[str, SpringEntry] = {}
        self.torsions: dict[str, TorsionEntry] = {}
        self.loads: dict[str, LoadEntry] = {}
        self.left_out: list[str] = []  # of a rigid twin: what the model has and it has not
        self.others: dict[str, OtherEntry] = {}  # bushings, springs with laws, limits
        self.line_loads: dict[
            str, Any
        ] = {}  # `rodsim.building.distributed_loads.DistributedEntry`, which knows meshes
        self.driven: dict[str, Driven] = {}
        self.drives: dict[str, DriveEntry] = {}
        self.gears: dict[str, GearEntry] = {}

    @property
    def constraint_names(self) -> list[tuple[str, str]]:
        """What holds, and its name, by the numbers in `Constraints.joint`."""
        tables = (("joint", self.joints), ("drive", self.drives), ("gear", self.gears))
        return [(what, name) for what, table in tables for name in table]
