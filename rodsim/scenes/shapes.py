"""Shapes of bodies in scenes: their schemas, how they are read, and how they are written.

A function with a row in `SHAPES` is a shape of scenes. Its keys are its arguments; `ARGUMENTS` says what they mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field, TypeAdapter, model_validator

from rigid.errors import ModelError
from rigid.inertia import Box, Capsule, Cone, Cylinder, MassProperties, PointMass, Sphere
from rigid.mesh_mass_properties import Mesh
from rigid.solids import Ball, Cuboid, Revolved, Stadium
from rodsim.scenes.round_trip import Data, first_identical, plain
from rodsim.scenes.schema_types import Name, NotNegative, Part, Positive, Vector, schemas, union


class Massive(Part):
    """Base schema of homogeneous shapes, with density or mass."""

    @model_validator(mode="after")
    def _one_of_both(self) -> Massive:
        """Raise ValueError unless either density or mass is given."""
        fields = vars(self)
        if (fields["density"] is None) == (fields["mass"] is None):
            raise ValueError("give either density or mass")
        return self


def _box(size: Any, density: Any = None, mass: Any = None) -> MassProperties:
    """Describe a homogeneous box. Its reference point is its centre."""
    x, y, z = size
    return Box(x, y, z, density, mass)


def _mesh(
    file: Any = None,
    vertices: Any = None,
    triangles: Any = None,
    scale: float = 1.0,
    density: Any = None,
    mass: Any = None,
) -> MassProperties:
    """Describe a homogeneous body inside a closed surface, from a file or from vertices and triangles."""
    if (file is None) == (vertices is None) or (vertices is None) != (triangles is None):
        raise ModelError("mesh: give either a file, or vertices and triangles")
    return Mesh((vertices, triangles) if file is None else file, density, mass, scale)


def _given(
    mass: float,
    inertia: Any,
    center: Any = (0.0, 0.0, 0.0),
    vertices: Any = None,
    triangles: Any = None,
) -> MassProperties:
    """Describe a rigid body by its mass, centre of mass and inertia about it, and optionally a surface for pictures."""
    if (vertices is None) != (triangles is None):
        raise ModelError("shape: vertices and triangles belong together; give both or none")
    drawn = {} if vertices is None else {"vertices": vertices, "faces": triangles}
    return MassProperties(mass, inertia, center, **drawn)


SHAPES: dict[str, Callable[..., MassProperties]] = {
    "box": _box,
    "cylinder": Cylinder,
    "capsule": Capsule,
    "sphere": Sphere,
    "cone": Cone,
    "mesh": _mesh,
    "point": PointMass,
    "given": _given,
}
_POINTS: Any = Annotated[list[Vector], Field(min_length=1)]
_THREE: Any = Annotated[list[int], Field(min_length=3, max_length=3)]
_TRIPLES: Any = Annotated[list[_THREE], Field(min_length=1)]
_EDGES: Any = Annotated[list[Positive], Field(min_length=3, max_length=3)]
_MOMENTS: Any = Annotated[list[NotNegative], Field(min_length=3, max_length=3)]
_INERTIA: Any = Annotated[list[Vector], Field(min_length=3, max_length=3)]
ARGUMENTS = {
    "size": (_EDGES, "edges along x, y, z [m]"),
    "radius": (Positive, "radius of the cylinder, sphere or base; for a capsule also of its half balls [m]"),
    "height": (Positive, "height along z; for a cone from the apex at the origin to the base [m]"),
    "length": (Positive, "length of the cylinder, between the centres of the balls [m]"),
    "density": (Positive, "mass per volume; give it or mass [kg/m^3]"),
    "mass": (Positive, "mass of the body; for a homogeneous shape give it or density [kg]"),
    "surface": (Literal["coarse", "fine"], "resolution of the drawing; a result file stores every vertex at every output"),
    "file": (Name, "file, relative to the scene: STL, OBJ, PLY, VTK or another format of meshio; or vertices and triangles"),
    "vertices": (_POINTS, "vertices of a surface, from the reference point; for a mesh in place of a file [m]"),
    "triangles": (_TRIPLES, "three vertex numbers for each triangle, from 0, counter-clockwise from outside [1]"),
    "scale": (Positive, "factor of the coordinates, 0.001 for millimetres [1]"),
    "inertia": (_MOMENTS | _INERTIA, "inertia about the centre of mass: 3 moments or 3 x 3 [kg m^2]"),
    "center": (Vector, "centre of mass from the reference point, body axes [m]"),
}  # fmt: skip


def _base(word: str) -> type[Part]:
    """Return the base schema of a shape."""
    return Part if word in ("point", "given") else Massive


if TYPE_CHECKING:
    Shape = Any
else:
    Shape = union("type", schemas("Shape", "type", SHAPES, ARGUMENTS, _base))


def shape_of(data: Any, folder: Path) -> MassProperties:
    """Return the shape that scene data describe; a mesh file is searched in `folder`."""
    numbers = data.model_dump(exclude={"type"})
    if numbers.get("file") is not None:
        numbers["file"] = folder / numbers["file"]
    return SHAPES[data.type](**numbers)


def shape_data(owner: str, shape: MassProperties) -> Data:
    """Return the scene data that makes a shape."""

    def make(candidate: Data) -> MassProperties:
        return shape_of(TypeAdapter(Shape).validate_python(candidate), Path())

    return first_identical(owner, "shape", _candidates(shape), make, shape)


def _candidates(properties: MassProperties) -> Iterator[Data]:
    """Iterate over scene data from which the shape may have been made, likely candidates first."""
    heavy = {"density": properties.density} if properties.density else {"mass": properties.mass}
    solid = properties.solid
    for surface in ({}, {"surface": "fine"}):
        if isinstance(solid, Cuboid):
            yield {"type": "box", "size": plain(solid.edges), **heavy}
        elif isinstance(solid, Ball):
            yield {"type": "sphere", "radius": solid.radius, **heavy, **surface}
        elif isinstance(solid, Stadium):
            yield {"type": "capsule", "radius": solid.radius, "length": solid.length, **heavy, **surface}
        elif isinstance(solid, Revolved):
            radius, top = solid.radii.tolist()[1], solid.heights.tolist()[-1]
            word, height = ("cylinder", 2 * top) if len(solid.radii) == 4 else ("cone", top)
            yield {"type": word, "radius": radius, "height": height, **heavy, **surface}
    drawn = (
        {"vertices": properties.vertices.tolist(), "triangles": properties.faces.tolist()}
        if len(properties.faces)
        else {}
    )
    if drawn and solid is not None:
        yield {"type": "mesh", **drawn, **heavy}
        yield {"type": "mesh", **drawn, "mass": properties.mass}
    numbers = {"mass": properties.mass, "center": properties.center.tolist(), **drawn}
    none = properties.without_inertia  # projector on the axes without inertia
    if np.array_equal(none, np.eye(3)):
        if not (drawn or np.any(properties.center)):
            yield {"type": "point", "mass": properties.mass}
        yield {"type": "given", "inertia": [0.0, 0.0, 0.0], **numbers}
    elif np.any(none):
        yield {
            "type": "given",
            "inertia": np.where(np.abs(none) > 0.5, 0.0, properties.inertia).tolist(),
            **numbers,
        }
        yield {
            "type": "given",
            "inertia": (properties.inertia - none @ properties.inertia @ none).tolist(),
            **numbers,
        }
    yield {"type": "given", "inertia": properties.inertia.tolist(), **numbers}
