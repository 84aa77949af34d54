"""What a scene says of the shapes of bodies."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from rodsim.scenes.schema_types import Name, NotNegative, Part, Positive, Vector


class Massive(Part):
    """Homogeneous: density or mass."""

    density: Positive | None = None
    """mass a volume; give it or mass [kg/m^3]"""
    mass: Positive | None = None
    """give it or density [kg]"""

    @model_validator(mode="after")
    def _one_of_both(self) -> Massive:
        if (self.density is None) == (self.mass is None):
            raise ValueError("give either density or mass")
        return self


class BoxShape(Massive):
    type: Literal["box"]
    """box about its centre"""
    size: Annotated[list[Positive], Field(min_length=3, max_length=3)]
    """edges along x, y, z [m]"""


class RoundShape(Massive):
    """`surface`: how finely it is drawn."""

    surface: Literal["coarse", "fine"] = "coarse"
    """how finely it is drawn; a result file holds every vertex at every output"""


class CylinderShape(RoundShape):
    type: Literal["cylinder"]
    """cylinder along z about its centre"""
    radius: Positive
    """of the cylinder [m]"""
    height: Positive
    """along z [m]"""


class SphereShape(RoundShape):
    type: Literal["sphere"]
    """full sphere about its centre"""
    radius: Positive
    """of the sphere [m]"""


class ConeShape(RoundShape):
    """Apex at the origin of its axes, base at z = height."""

    type: Literal["cone"]
    """cone on its apex"""
    radius: Positive
    """of the base [m]"""
    height: Positive
    """from the apex to the base, along z [m]"""


class MeshShape(Massive):
    """A closed surface that meshio reads; `file` is relative to the scene."""

    type: Literal["mesh"]
    """closed surface from a file"""
    file: Name
    """relative to the scene; STL, OBJ, PLY, VTK and what else meshio reads"""
    scale: Positive = 1.0
    """what multiplies its coordinates, 0.001 for millimetres [1]"""


class PointShape(Part):
    """A point mass: held by its centre alone."""

    type: Literal["point"]
    """point mass"""
    mass: Positive
    """of the point [kg]"""


class GivenShape(Part):
    """Mass and inertia about the centre of mass, which is `center` in the body's axes."""

    type: Literal["given"]
    """mass and inertia as numbers"""
    mass: Positive
    """of the body [kg]"""
    inertia: (
        Annotated[list[NotNegative], Field(min_length=3, max_length=3)]
        | Annotated[list[Vector], Field(min_length=3, max_length=3)]
    )
    """about the centre of mass: 3 moments or 3 x 3 [kg m^2]"""
    center: Vector = [0.0, 0.0, 0.0]
    """centre of mass from the reference point, body axes [m]"""


Shape = Annotated[
    BoxShape | CylinderShape | SphereShape | ConeShape | MeshShape | PointShape | GivenShape,
    Field(discriminator="type"),
]
