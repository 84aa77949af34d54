"""Define the shapes of bodies in scenes: a table, from which schema and conversion follow."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, model_validator

from rigid.errors import ModelError
from rigid.inertia import Box, Capsule, Cone, Cylinder, MassProperties, PointMass, Sphere
from rigid.surface import Mesh
from rodsim.scenes.schema_types import Name, NotNegative, Part, Positive, Variant, Vector, union


class Massive(Part):
    """Base schema of homogeneous shapes, with density or mass."""

    density: Positive | None = None
    """mass a volume; give it or mass [kg/m^3]"""
    mass: Positive | None = None
    """give it or density [kg]"""

    @model_validator(mode="after")
    def _one_of_both(self) -> Massive:
        """Raise ValueError unless either density or mass is given."""
        if (self.density is None) == (self.mass is None):
            raise ValueError("give either density or mass")
        return self


class RoundShape(Massive):
    """Base schema of round shapes; `surface`: resolution of the drawn surface."""

    surface: Literal["coarse", "fine"] = "coarse"
    """how finely it is drawn; a result file holds every vertex at every output"""


_EDGES = Annotated[list[Positive], Field(min_length=3, max_length=3)]
_MOMENTS = Annotated[list[NotNegative], Field(min_length=3, max_length=3)]
_INERTIA = Annotated[list[Vector], Field(min_length=3, max_length=3)]

_POINTS = Annotated[list[Vector], Field(min_length=1)] | None
_TRIANGLES = (
    Annotated[list[Annotated[list[int], Field(min_length=3, max_length=3)]], Field(min_length=1)] | None
)


def _mesh(file: Any = None, vertices: Any = None, triangles: Any = None, **given: Any) -> MassProperties:
    """Return the shape of a mesh from a file, or from vertices and triangles."""
    if (file is None) == (vertices is None) or (vertices is None) != (triangles is None):
        raise ModelError("mesh: give either a file, or vertices and triangles")
    return Mesh((vertices, triangles) if file is None else file, **given)


def _given(
    mass: float, inertia: Any, center: Any, vertices: Any = None, triangles: Any = None
) -> MassProperties:
    """Return a shape from mass and inertia, with a surface for pictures if vertices and triangles are given."""
    if (vertices is None) != (triangles is None):
        raise ModelError("shape: vertices and triangles belong together; give both or none")
    drawn = {} if vertices is None else {"vertices": vertices, "faces": triangles}
    return MassProperties(mass, inertia, center, **drawn)


SHAPES = {
    "box": Variant(
        lambda size, **given: Box(*size, **given),
        "box about its centre",
        {"size": (_EDGES, "edges along x, y, z [m]")},
        Massive,
    ),
    "cylinder": Variant(
        Cylinder,
        "cylinder along z about its centre",
        {"radius": (Positive, "of the cylinder [m]"), "height": (Positive, "along z [m]")},
        RoundShape,
    ),
    "capsule": Variant(
        Capsule,
        "cylinder along z with half balls on its ends",
        {
            "radius": (Positive, "of the cylinder and of the balls [m]"),
            "length": (Positive, "of the cylinder, between the centres of the balls [m]"),
        },
        RoundShape,
        "About its centre.",
    ),
    "sphere": Variant(
        Sphere, "full sphere about its centre", {"radius": (Positive, "of the sphere [m]")}, RoundShape
    ),
    "cone": Variant(
        Cone,
        "cone on its apex",
        {
            "radius": (Positive, "of the base [m]"),
            "height": (Positive, "from the apex to the base, along z [m]"),
        },
        RoundShape,
        "Apex at the origin of its axes, base at z = height.",
    ),
    "mesh": Variant(
        _mesh,
        "closed surface from a file",
        {
            "file": (
                Name | None,
                "relative to the scene; STL, OBJ, PLY, VTK and what else meshio reads; or vertices and triangles",
                None,
            ),
            "vertices": (_POINTS, "in place of a file [m]", None),
            "triangles": (
                _TRIANGLES,
                "of vertices: three numbers from 0 each, counter-clockwise from outside [1]",
                None,
            ),
            "scale": (Positive, "what multiplies its coordinates, 0.001 for millimetres [1]", 1.0),
        },
        Massive,
        "A closed surface that meshio reads; `file` is relative to the scene.",
    ),
    "point": Variant(
        PointMass,
        "point mass",
        {"mass": (Positive, "of the point [kg]")},
        doc="A point mass: held by its centre alone.",
    ),
    "given": Variant(
        _given,
        "mass and inertia as numbers",
        {
            "mass": (Positive, "of the body [kg]"),
            "inertia": (_MOMENTS | _INERTIA, "about the centre of mass: 3 moments or 3 x 3 [kg m^2]"),
            "center": (Vector, "centre of mass from the reference point, body axes [m]", [0.0, 0.0, 0.0]),
            "vertices": (_POINTS, "of a surface for pictures, from the reference point [m]", None),
            "triangles": (
                _TRIANGLES,
                "of vertices: three numbers from 0 each, counter-clockwise from outside [1]",
                None,
            ),
        },
        doc="Mass and inertia about the centre of mass, which is `center` in the body's axes.",
    ),
}

if TYPE_CHECKING:
    Shape = Any
else:
    Shape = union("Shape", "type", SHAPES)


def shape_of(given: Any, folder: Path) -> MassProperties:
    """Return the shape that scene data describe; a mesh file is searched in `folder`."""
    numbers = given.model_dump(exclude={"type"})
    if numbers.get("file") is not None:
        numbers["file"] = folder / numbers["file"]
    found: MassProperties = SHAPES[given.type].make(**numbers)
    return found
