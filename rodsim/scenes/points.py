"""Points, positions and orientations in scenes: their schemas, how they are read, and how they are written."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import scipy  # submodules are imported on first access
from pydantic import AfterValidator, Field, FiniteFloat

from rigid import quaternions
from rigid.checks import direction, unit_quaternion
from rigid.errors import ModelError
from rodsim.components.model_parts import Anchor as Point
from rodsim.components.model_parts import Body, Driven, Ground, Rod
from rodsim.components.part_lookup import ENDS, find_part_or_point
from rodsim.components.surfaces import SURFACES_ON_PARTS
from rodsim.orientations import align, quaternion_of
from rodsim.scenes.errors import Path, SceneProblem, look_up
from rodsim.scenes.object_names import objects
from rodsim.scenes.schema_types import A_LIST, A_TEXT, Name, Number, Part, Quaternion, Vector, made, one_form

PARTS = ("bodies", "driven", "rods")  # lists of parts; each has a table of this name in a model

# --- orientations


class AxisAngle(Part):
    """Rotation by `angle_deg` about `axis`."""

    axis: Vector
    """world direction; any length [1]"""
    angle_deg: Number
    """angle about it, right-handed [deg]"""


def _axes_of_euler(text: str) -> str:
    """Raise ValueError unless a text is an order of Euler axes, such as xyz or ZXZ."""
    one_case = text in (text.lower(), text.upper())
    repeated = any(a == b for a, b in pairwise(text))
    if len(text) != 3 or not set(text.lower()) <= set("xyz") or not one_case or repeated:
        raise ValueError(
            "it is not an order of axes; give three letters, as xyz (fixed axes) or ZXZ (axes that rotate with the part)"
        )
    return text


class EulerAngles(Part):
    """Three rotations one after the other."""

    euler: Annotated[str, AfterValidator(_axes_of_euler)]
    """axes in their order: small letters for fixed axes, capital letters for axes that rotate with the part, as xyz or ZXZ"""
    angles_deg: Annotated[list[Number], Field(min_length=3, max_length=3)]
    """angle about each of them, right-handed [deg]"""


Aligned: Any = made(
    "Aligned",
    Part,
    "The smallest rotation that takes one direction to another.",
    {
        "align": (Vector, "direction in the axes of the part, any length [1]"),
        "with": (Vector, "direction, any length [1]"),
    },
)


_FORMS = {A_LIST: Quaternion, "axis": AxisAngle, "euler": EulerAngles, "align": Aligned}
_EXPECTED_ORIENTATION = (
    "it should be a unit quaternion [w, x, y, z], {axis: [x, y, z], angle_deg: 90}, {euler: xyz, angles_deg: [0, 0, 90]}, "
    "{align: [0, 0, 1], with: [1, 0, 0]} or {of: point of another part}"
)


# --- points


class BodyAnchor(Part):
    """A point of a body, local (`at`) or world (`at_world`) coordinates; neither: the body as a whole, or
    its origin.
    """

    body: Name
    """name of a body or a driven frame"""
    at: Vector | None = None
    """point in the axes of the body's shape [m]"""
    at_world: Vector | None = None
    """point in world coordinates at t = 0 [m]"""


class RodAnchor(Part):
    """A point of a rod at the fraction s of its length, `offset` in section axes."""

    rod: Name
    """name of a rod"""
    s: Annotated[FiniteFloat, Field(ge=0, le=1)]
    """fraction of its stress-free length, 0 to 1 [1]"""
    offset: Vector = [0.0, 0.0, 0.0]
    """offset from the rod's curve, along d1, d2, d3 of the section [m]"""


_ON_PARTS = {A_TEXT: Name, "body": BodyAnchor, "rod": RodAnchor}
if TYPE_CHECKING:
    PartAnchor = Any
    Turned = Any
    Orientation = Any
    Anchor = Any
else:
    PartAnchor = one_form(
        _ON_PARTS, "it should be a body's name, {body: name, at: [x, y, z]} or {rod: name, s: 0.5}"
    )
    Turned = one_form(_FORMS, _EXPECTED_ORIENTATION)


class PlaceScene(Part):
    """Position of a point of another part at t = 0."""

    at: PartAnchor
    """point of a part, which may be defined later in the scene"""
    plus: Vector = [0.0, 0.0, 0.0]
    """offset from this point, world axes [m]"""


class OrientationOf(Part):
    """Orientation of another part at t = 0: the axes of a body, or of a section of a rod (d1 along it)."""

    of: PartAnchor
    """point with these axes; its part may be defined later in the scene"""
    turned: Turned | None = None
    """rotation relative to these axes: unit quaternion [w, x, y, z], axis and angle, angles of Euler, or {align, with} [1]"""


Place = Vector | PlaceScene


class GroundAnchor(Part):
    """A fixed point."""

    ground: Place
    """point in world coordinates, or where a point of a part is at t = 0 [m]"""


if not TYPE_CHECKING:
    Orientation = one_form({**_FORMS, "of": OrientationOf}, _EXPECTED_ORIENTATION)
    Anchor = one_form(
        {**_ON_PARTS, "ground": GroundAnchor},
        "it should be a body's name, ground, {body: name, at: [x, y, z]}, {rod: name, s: 0.5} or {ground: [x, y, z]}",
    )


# --- reading


class _NotMadeError(Exception):
    """Raised if a part is placed at a part that is not made yet."""


class PointReader:
    """Find parts and points of a model that scene data name; parts may be placed at parts that stand later in the scene."""

    def __init__(self, model: Any, scene: Any, make: Callable[[Path, Any], None]):
        """Store the model and the checked scene; `make`: adds the part at a path of the scene to the model."""
        self.model, self.scene, self._make = model, scene, make
        self._paths = {
            item.name: ((head, k), item) for head in PARTS for k, item in enumerate(getattr(scene, head))
        }

    def part(self, name: str) -> Any:
        """Return the part with this name."""
        table = getattr(self.model, str(self._paths[name][0][0]))
        if name not in table:
            raise _NotMadeError(name)
        return table[name]

    def make_all(self) -> None:
        """Make all parts, each after those at which it is placed. Raises SceneProblem if parts are placed in a circle."""
        made: set[str] = set()
        for first in self._paths:
            pending = [first]
            while pending:
                name = pending[-1]
                try:
                    if name not in made:
                        self._make(*self._paths[name])
                    made.add(pending.pop())
                except _NotMadeError as needed:
                    pending.append(str(needed))
                    if pending.count(str(needed)) > 1:
                        circle = pending[pending.index(str(needed)) :]
                        raise SceneProblem(
                            self._paths[circle[0]][0],
                            f"'{circle[0]}' is placed in a circle: {' at '.join(map(repr, circle))}. "
                            "Give the position of one of them as numbers.",
                        ) from None
        for head in PARTS:  # numbered in the order of the scene, not in the order in which they were made
            table = getattr(self.model, head)
            for item in getattr(self.scene, head):
                table[item.name] = table.pop(item.name)

    def named(self, path: Path, what: str, name: str, *heads: str) -> Any:
        """Return the part with a name of these lists of the scene; SceneProblem with the known names if there is none."""
        look_up(
            path,
            what,
            name,
            {part_name: x for part_name, (where, x) in self._paths.items() if where[0] in heads},
        )
        return self.part(name)

    def place(self, path: Path, data: Any) -> Any:
        """Return world coordinates (3,), m, given as numbers or as a point of another part."""
        if not isinstance(data, PlaceScene):
            return data
        return self.point((*path, "at"), data.at).position + np.array(data.plus)

    def orientation(self, path: Path, owner: str, data: Any) -> Any:
        """Return the quaternion (w, x, y, z) of an orientation in any of its forms."""
        if isinstance(data, AxisAngle):
            axis = direction(owner, "orientation.axis", data.axis)
            return quaternions.from_axis_angle(axis, np.radians(data.angle_deg))
        if isinstance(data, EulerAngles):
            rotation = scipy.spatial.transform.Rotation.from_euler(data.euler, data.angles_deg, degrees=True)
            return quaternion_of(owner, "orientation", rotation)
        if isinstance(data, Aligned):
            return align(data.align, getattr(data, "with"))
        if not isinstance(data, OrientationOf):
            return data
        quat = self.point((*path, "orientation", "of"), data.of).orientation
        if data.turned is None:
            return quat
        turned = unit_quaternion(owner, "turned", self.orientation(path, owner, data.turned))
        return quaternions.multiply(quat, turned)

    def end(self, path: Path, data: Any) -> Point | Body | Ground | Driven:
        """Return the point, body, driven frame or ground that an anchor of the scene names."""
        if isinstance(data, GroundAnchor):
            return self.model.ground.at(self.place((*path, "ground"), data.ground))
        if data == "ground":
            return self.model.ground
        if isinstance(data, RodAnchor):
            return self.named(path, "rod", data.rod, "rods").at(data.s, data.offset)
        name = data if isinstance(data, str) else data.body
        if isinstance(data, str) and name in self._paths and self._paths[name][0][0] == "rods":
            raise SceneProblem(
                path,
                f"'{name}' is a rod: say where on it, for example '{name}.end' or {{rod: {name}, s: 1.0}}",
            )
        if isinstance(data, str) and (point := self._point_by_name(data, path)) is not None:
            return point
        body: Body | Driven = self.named(path, "body", name, "bodies", "driven")
        if isinstance(data, str):
            return body
        if data.at is not None and data.at_world is not None:
            raise SceneProblem(
                path, f"body '{name}': both 'at' and 'at_world' are given. Remove one of them."
            )
        if data.at_world is not None:
            return body.at_world(data.at_world)
        return body if data.at is None else body.at(data.at)

    def point(self, path: Path, data: Any) -> Point:
        """Return the point that an anchor of the scene names; a body or driven frame stands for its origin."""
        end = self.end(path, data)
        if isinstance(end, Ground):
            owner = f"{self._who(path)}: " if self._who(path) else ""
            raise SceneProblem(path, f"{owner}'ground' alone is not a point; give {{ground: [x, y, z]}}")
        return end.at((0.0, 0.0, 0.0)) if isinstance(end, Body | Driven) else end

    def surface(self, path: Path, name: str) -> Any:
        """Return the sphere, solid, plane, mesh or rod with this name; SceneProblem if there is none or two."""
        model = self.model
        tables: dict[str, dict[str, Any]]
        tables = {"rod": model.rods} | {kind.word: getattr(model, kind.table) for kind in SURFACES_ON_PARTS}
        of_name = [word for word, table in tables.items() if name in table]
        if len(of_name) > 1:
            raise SceneProblem(path, f"'{name}' is a {' and a '.join(of_name)}; rename one of them")
        return look_up(path, "surface", name, {k: x for table in tables.values() for k, x in table.items()})

    def _point_by_name(self, text: str, path: Path) -> Point | None:
        """Return the point that "cord.end", "cord@0.3" or "block@0.1,0,0" names; None if `text` has no such form."""
        cut = [text.rpartition("@")[0], *(text.removesuffix(end) for end in ENDS if text.endswith(end))]
        known = [name for name in cut if name in self._paths]
        if text in self._paths or not (known or "ground" in cut):
            return None
        for name in known:
            self.part(name)
        try:
            part = find_part_or_point(self._who(path) or "scene", self.model, text)
        except ModelError as error:
            raise SceneProblem(path, str(error)) from None
        return part if isinstance(part, Point) else None

    def _who(self, path: Path) -> str:
        """Return kind and name of the object at a path, for the start of a message; an empty text if it has no name."""
        head, k = path[:2]
        if head not in objects():
            return ""
        return f"{objects()[str(head)]} '{getattr(self.scene, str(head))[k].name}'"


# --- writing


def point_data(attachment: Any) -> Any:
    """Return a point or part as the anchor of a scene."""
    if isinstance(attachment, Ground):
        return "ground"
    if isinstance(attachment, Body | Driven):
        return {"body": attachment.name} if attachment.name == "ground" else attachment.name
    assert isinstance(attachment, Point)
    if isinstance(attachment.part, Ground):
        return {"ground": attachment.X.tolist()}
    if isinstance(attachment.part, Rod):
        offset = {"offset": attachment.X.tolist()} if np.any(attachment.X) else {}
        return {"rod": attachment.part.name, "s": attachment.s, **offset}
    return {"body": attachment.part.name, "at": attachment.X.tolist()}
