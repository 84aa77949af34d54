"""Define springs, torsion springs, and `ModelData`, the container of the parts and entries of a model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from rigid import checks
from rigid.checks import vector
from rigid.system import Floats
from rodsim.components.base import (
    DIRECTION,
    END,
    NOT_NEGATIVE,
    Attachment,
    CheckContext,
    Component,
    InteractionComponent,
    component,
    parameter,
)
from rodsim.components.contacts import Contact
from rodsim.components.controllers import Controller, Sensor
from rodsim.components.events import ModelEvent
from rodsim.components.joint_forces import NOT_NEGATIVE_SCALAR, SCALAR, JointForce
from rodsim.components.joints import Drive, Gear, JointComponent
from rodsim.components.loads import DistributedLoad, Load
from rodsim.components.measure_forces import FixedSpring, SpringVariation, fixed_spring
from rodsim.components.model_parts import Anchor, Body, Driven, Ground, Rod
from rodsim.components.surfaces import MeshSurface, PlaneSurface, SolidSurface, SphereSurface


@component
class Spring(Component):
    """A spring-damper between two points."""

    key, word, list_description, table = "springs", "spring", "spring-dampers between points", "springs"
    a: Anchor = parameter(END, "first point")
    b: Anchor = parameter(END, "second point")
    stiffness: Any = parameter(NOT_NEGATIVE_SCALAR, "force over stretch; may be a function of time [N/m]")
    length: Any = parameter(
        NOT_NEGATIVE_SCALAR,
        "length without force; may be a function of time; default: the initial distance [m]",
        None,
    )
    damping: float = parameter(NOT_NEGATIVE, "force over rate of stretch [N s/m]", 0.0)
    fixed: FixedSpring
    axis: ClassVar[None] = None

    @classmethod
    def complete(cls, context: CheckContext, values: dict[str, Any]) -> None:
        values["fixed"] = fixed_spring(context.owner, values["stiffness"], values["length"])

    @property
    def numbers(self) -> tuple[Any, Any]:
        """Stiffness and length without force, which may vary."""
        return self.stiffness, self.length

    @classmethod
    def needs_points(cls, arguments: Any) -> bool:
        return True


@component
class TorsionSpring(Component):
    """A torsion spring-damper about a world axis."""

    key, word, list_description, table = (
        "torsion_springs",
        "torsion spring",
        "spring-dampers about axes",
        "torsions",
    )
    a: Attachment = parameter(END, "first part")
    b: Attachment = parameter(END, "second part")
    axis: Floats = parameter(DIRECTION, "world direction at t = 0 [1]")
    stiffness: Any = parameter(NOT_NEGATIVE_SCALAR, "moment over angle; may be a function of time [N m/rad]")
    damping: float = parameter(NOT_NEGATIVE, "moment over rate [N m s/rad]", 0.0)
    angle: Any = parameter(
        SCALAR, "angle without moment, relative to the initial pose; may be a function of time [rad]", 0.0
    )
    fixed: FixedSpring

    @classmethod
    def complete(cls, context: CheckContext, values: dict[str, Any]) -> None:
        values["fixed"] = fixed_spring(context.owner, values["stiffness"], values["angle"])

    @property
    def numbers(self) -> tuple[Any, Any]:
        """Stiffness and angle without moment, which may vary."""
        return self.stiffness, self.angle


class ModelData:
    """Hold the parts of a model and the entries that join and load them, by name, in the order in which they were added."""

    def __init__(self, name: str, gravity: ArrayLike):
        self.name = checks.name("name of the model", name)
        self.gravity = gravity
        self.ground = Ground()
        self.scene: str | None = None  # text of the scene file it was read from
        self.left_out: list[str] = []  # in a rigid twin: names of what was left out of the original model
        self.bodies: dict[str, Body] = {}
        self.rods: dict[str, Rod] = {}
        self.driven: dict[str, Driven] = {}
        self.joints: dict[str, JointComponent] = {}
        self.springs: dict[str, Spring] = {}
        self.torsions: dict[str, TorsionSpring] = {}
        self.others: dict[str, InteractionComponent] = {}  # entries without a table for their kind
        self.drives: dict[str, Drive] = {}
        self.gears: dict[str, Gear] = {}
        self.spheres: dict[str, SphereSurface] = {}
        self.solids: dict[str, SolidSurface] = {}
        self.planes: dict[str, PlaneSurface] = {}
        self.meshes: dict[str, MeshSurface] = {}
        self.contacts: dict[str, Contact] = {}
        self.sensors: dict[str, Sensor] = {}
        self.controllers: dict[str, Controller] = {}
        self.events: dict[str, ModelEvent] = {}
        self.joint_forces: dict[str, JointForce] = {}
        self.loads: dict[str, Load] = {}
        self.line_loads: dict[str, DistributedLoad] = {}

    @property
    def gravity(self) -> Floats:
        """Acceleration of all moving masses, m/s^2, shape (3,); any sequence of three numbers may be assigned."""
        return self._gravity

    @gravity.setter
    def gravity(self, value: ArrayLike) -> None:
        self._gravity = vector(f"model '{self.name}'", "gravity", value)

    @property
    def tables(self) -> dict[str, dict[str, Any]]:
        """Dictionaries of the entries (all tables except those of the parts), by attribute name."""
        parts = ("bodies", "rods", "driven")
        return {
            what: table for what, table in vars(self).items() if isinstance(table, dict) and what not in parts
        }

    @property
    def interactions(self) -> Iterator[InteractionComponent]:
        """Iterate over the entries that make interactions: `others`, and what varies of springs."""
        yield from self.others.values()
        springs: list[Spring | TorsionSpring] = [*self.springs.values(), *self.torsions.values()]
        for spring in springs:
            if any(map(callable, spring.numbers)):
                yield SpringVariation(name=spring.name, spring=spring)

    @property
    def entries(self) -> Iterator[Component]:
        """Iterate over all entries that join or load the parts."""
        for table in self.tables.values():
            yield from table.values()

    @property
    def constraint_names(self) -> list[tuple[str, str]]:
        """Kind and name of every joint and drive, in the order of the numbers in `Constraints.joint`."""
        return [
            (what, name) for what, table in (("joint", self.joints), ("drive", self.drives)) for name in table
        ]

    @property
    def inextensible_rods(self) -> dict[str, Rod]:
        """The strings that do not stretch."""
        return {name: rod for name, rod in self.rods.items() if rod.is_inextensible}
