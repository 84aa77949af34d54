"""Define springs, torsion springs, and `Contents`, the container of the parts and entries of a model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from rigid import checks
from rigid.checks import vector
from rigid.system import Floats
from rodsim.parts.contact_entries import ContactEntry
from rodsim.parts.entry import (
    DIRECTION,
    END,
    NOT_NEGATIVE,
    NUMBER,
    Entry,
    Held,
    InteractionEntry,
    entry,
    stated,
)
from rodsim.parts.joint_entries import DriveEntry, GearEntry, JointEntry
from rodsim.parts.load_entries import DistributedEntry, LoadEntry
from rodsim.parts.model_parts import Anchor, Body, Driven, Ground, Rod
from rodsim.parts.surface_entries import MeshEntry, PlaneEntry, SolidEntry, SphereEntry


@entry
class SpringEntry(Entry):
    """A spring-damper between two points."""

    key, word, many, table = "springs", "spring", "spring-dampers between points", "springs"
    a: Anchor = stated(END, "first point")
    b: Anchor = stated(END, "second point")
    stiffness: float = stated(NOT_NEGATIVE, "force over stretch [N/m]")
    length: float | None = stated(NOT_NEGATIVE, "without force; left out: the initial distance [m]", None)
    damping: float = stated(NOT_NEGATIVE, "force over rate of stretch [N s/m]", 0.0)

    @classmethod
    def points(cls, given: Any) -> bool:
        return True


@entry
class TorsionEntry(Entry):
    """A torsion spring-damper about a world axis."""

    key, word, many, table = "torsion_springs", "torsion spring", "spring-dampers about axes", "torsions"
    a: Held = stated(END, "first part")
    b: Held = stated(END, "second part")
    axis: Floats = stated(DIRECTION, "world direction at t = 0 [1]")
    stiffness: float = stated(NOT_NEGATIVE, "moment over angle [N m/rad]")
    damping: float = stated(NOT_NEGATIVE, "moment over rate [N m s/rad]", 0.0)
    angle: float = stated(NUMBER, "at which it is free of moment, from the initial pose [rad]", 0.0)


class Contents:
    """Hold the parts of a model and the entries that join and load them, by name, in the order in which they were added."""

    told_by_contents: ClassVar[bool] = True  # a public name of 0.2.0, which nothing reads any more

    def __init__(self, name: str, gravity: ArrayLike):
        self.name = checks.name("name of the model", name)
        self.gravity = vector(f"model '{name}'", "gravity", gravity)
        self.ground = Ground()
        self.scene: str | None = None  # text of the scene file it was read from
        self.left_out: list[str] = []  # in a rigid twin: names of what was left out of the original model
        self.bodies: dict[str, Body] = {}
        self.rods: dict[str, Rod] = {}
        self.driven: dict[str, Driven] = {}
        self.joints: dict[str, JointEntry] = {}
        self.springs: dict[str, SpringEntry] = {}
        self.torsions: dict[str, TorsionEntry] = {}
        self.others: dict[str, InteractionEntry] = {}  # entries without a table for their kind
        self.loads: dict[str, LoadEntry] = {}
        self.line_loads: dict[str, DistributedEntry] = {}
        self.drives: dict[str, DriveEntry] = {}
        self.gears: dict[str, GearEntry] = {}
        self.spheres: dict[str, SphereEntry] = {}
        self.solids: dict[str, SolidEntry] = {}
        self.planes: dict[str, PlaneEntry] = {}
        self.meshes: dict[str, MeshEntry] = {}
        self.contacts: dict[str, ContactEntry] = {}

    @property
    def tables(self) -> dict[str, dict[str, Any]]:
        """Dictionaries of the entries (all tables except those of the parts), by attribute name."""
        parts = ("bodies", "rods", "driven")
        return {
            what: table for what, table in vars(self).items() if isinstance(table, dict) and what not in parts
        }

    @property
    def entries(self) -> Iterator[Entry]:
        """Iterate over all entries that join or load the parts."""
        for table in self.tables.values():
            yield from table.values()

    @property
    def constraint_names(self) -> list[tuple[str, str]]:
        """Kind and name of every joint, drive and gear, in the order of the numbers in `Multipliers.joint`."""
        tables = (("joint", self.joints), ("drive", self.drives), ("gear", self.gears))
        return [(what, name) for what, table in tables for name in table]
