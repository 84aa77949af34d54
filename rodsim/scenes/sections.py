"""Materials and sections in scenes: their schemas, how they are read, and how they are written.

A method of `Section` with a row in `SECTIONS` is a section of scenes. Its keys are its arguments; `ARGUMENTS` says what they
mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field, FiniteFloat, TypeAdapter, model_validator

from rodsim.components.materials import Material
from rodsim.components.sections import INEXTENSIBLE, RIGID, Section
from rodsim.scenes.round_trip import Data, first_identical, plain
from rodsim.scenes.schema_types import (
    Name,
    NotNegative,
    Number,
    Part,
    Positive,
    numbers,
    one_form,
    schemas,
    union,
)

Matrix = list[list[Number]]


class MaterialScene(Part):
    """Linear elastic material."""

    E: Positive
    """Young's modulus [Pa]"""
    nu: Annotated[FiniteFloat, Field(gt=-1, le=0.5)] | None = None
    """Poisson's ratio; give it or G [1]"""
    G: Positive | None = None
    """shear modulus; give it or nu [Pa]"""
    density: NotNegative
    """mass per volume; 0 for rods without mass, in equilibria and modes [kg/m^3]"""
    shear_factor: Positive = 5 / 6
    """factor of G A in the shear stiffness [1]"""
    damping_time: NotNegative = 0.0
    """viscosity over stiffness (Kelvin-Voigt), D = damping_time C [s]"""


# --- laws, relaxation and centres


class StiffeningLaw(Part):
    type: Literal["stiffening"]
    """N1 = EA Gamma1 (1 + (Gamma1/strain)^2)"""
    strain: Positive
    """strain at which the stress is twice the linear one [1]"""


class ThinningLaw(Part):
    type: Literal["thinning"]
    """N1 = EA (1 - 1/(1 + Gamma1)): a rod of constant volume"""


class SofteningLaw(Part):
    type: Literal["softening"]
    """bending moments that approach `moment`"""
    moment: Positive
    """bound of the bending moment [N m]"""


class ExpressionLaw(Part):
    """The stored energy per length of Gamma1 to Gamma3 and K1 to K3, J/m, in place of the linear one."""

    expression: Annotated[str, Field(min_length=1, max_length=4000)]
    """stored energy per length as a text in Python's notation [J/m]"""
    parameters: dict[Name, Number] = {}
    """names in the expression and their values [any]"""


if TYPE_CHECKING:
    Law = Any
else:
    Law = one_form(
        {"expression": ExpressionLaw, "type": union("type", [StiffeningLaw, ThinningLaw, SofteningLaw])},
        "it should be {type: stiffening, strain: ...}, {type: thinning}, {type: softening, moment: ...} "
        "or {expression: ..., parameters: {...}}",
    )


class Relaxation(Part):
    """A spring and a dashpot in series, parallel to the section's stiffness: the standard linear solid."""

    time: Positive
    """relaxation time of the branch at a fixed strain [s]"""
    fraction: Positive | None = None
    """stiffness of the branch over that of the section; give it or stiffness [1]"""
    stiffness: Matrix | None = None
    """stiffness matrix (6, 6) of the branch [N, N m, N m^2]"""

    @model_validator(mode="after")
    def _one_of_both(self) -> Relaxation:
        """Raise ValueError unless either fraction or stiffness is given."""
        if (self.fraction is None) == (self.stiffness is None):
            raise ValueError("give either fraction or stiffness")
        return self


class Centers(Part):
    """Centre of mass and reference point of the stiffness, along d2 and d3 from the rod's curve; inertia J23."""

    mass: numbers(2, 2) = [0.0, 0.0]  # type: ignore[valid-type]
    """centre of mass, along d2 and d3 [m]"""
    stiffness: numbers(2, 2) = [0.0, 0.0]  # type: ignore[valid-type]
    """centre of stiffness, along d2 and d3 [m]"""
    product_of_inertia: Number | None = None
    """J23 per length, about the centre of mass [kg m]"""


class WithLaws(Part):
    """Base schema of sections: `law` is added to the linear law or replaces it, `relaxation` is a parallel branch, `centers` are
    off the curve."""

    law: Law | None = None
    """law that is added to the linear one, or used in its place"""
    relaxation: Relaxation | None = None
    """spring and dashpot in series, parallel to the stiffness"""
    centers: Centers | None = None
    """centres of mass and stiffness, if they are off the curve"""
    rigid: list[Literal["stretch", "shear"]] | None = None
    """strains that are zero: a rod that does not stretch or shear"""


# --- sections

SECTIONS: dict[str, Callable[..., Section]] = {
    "circular": Section.circular,
    "tube": Section.tube,
    "rectangle": Section.rectangle,
    "polygon": Section.from_polygon,
    "stiffness": Section.from_stiffness,
    "string": Section.string,
}
_TWO = Positive | Annotated[list[Positive], Field(min_length=2, max_length=2)]
_THREE = NotNegative | Annotated[list[NotNegative], Field(min_length=3, max_length=3)]
if TYPE_CHECKING:
    Outline = list[list[float]]
    Areas = list[Any]
else:
    Outline = Annotated[list[numbers(2, 2)], Field(min_length=3)]
    Areas = numbers(2, 2) | Annotated[list[numbers(2, 2)], Field(min_length=2, max_length=2)]
ARGUMENTS: dict[str, tuple[Any, str]] = {
    "material": (Name | MaterialScene, "name of a material, or a material"),
    "radius": (Positive, "radius of the circle [m]"),
    "outer_radius": (Positive, "outer radius [m]"),
    "inner_radius": (NotNegative, "inner radius, smaller than outer_radius [m]"),
    "width": (Positive, "width along d2 [m]"),
    "height": (Positive, "height along d3 [m]"),
    "points": (Outline, "corners (x2, x3) along d2 and d3 in order; the last is joined with the first [m]"),
    "holes": (list[Outline], "corners of holes [m]"),
    "origin": (
        numbers(2, 2),
        "point of the rod's curve, in the coordinates of points; default: the centroid [m]",
    ),
    "torsion_constant": (Positive, "torsion constant J; default: computed by sectionproperties [m^4]"),
    "shear_areas": (
        Areas,
        "areas of the shear stiffness along d2 and d3, or a matrix (2, 2) of areas; default: computed, or with torsion_constant "
        "shear_factor times the area [m^2]",
    ),
    "shear_center": (
        numbers(2, 2),
        "shear centre in the coordinates of points; default: computed, or with torsion_constant the centroid [m]",
    ),
    "EA": (Positive | Literal[RIGID], f"stretching stiffness, or {RIGID} [N]"),
    "GA": (_TWO | Literal[RIGID], f"shear stiffness along d2 and d3, one for both, or {RIGID} [N]"),
    "GJ": (Positive, "torsional stiffness [N m^2]"),
    "EI": (_TWO, "bending stiffness about d2 and d3, or one for both [N m^2]"),
    "C": (
        Matrix,
        "symmetric, positive definite 6 x 6, rows Gamma1..3, K1..3, in place of the four [N, N m, N m^2]",
    ),
    "mass_per_length": (
        NotNegative,
        "mass per length; 0 for a rod without mass, in equilibria and modes [kg/m]",
    ),
    "inertia_per_length": (_THREE, "rotary inertia about d1, d2, d3, or one for all; 0 without mass [kg m]"),
    "damping_time": (NotNegative, "viscosity over stiffness, D = damping_time C [s]"),
    "D": (Matrix, "viscosity: symmetric 6 x 6 as C, in place of damping_time [N s, N m s, N m^2 s]"),
    "stiffness.radius": (NotNegative, "radius for drawing; 0: a line [m]"),
    "string.EA": (Positive | Literal[INEXTENSIBLE], f"stretching stiffness, or {INEXTENSIBLE} [N]"),
    "string.mass_per_length": (Positive, "mass per length [kg/m]"),
    "string.damping_time": (NotNegative, "viscosity over stiffness [s]"),
    "string.radius": (NotNegative, "radius for drawing, contact and loads of a fluid; 0: a line [m]"),
    "slack": (bool, "true: it carries no compression"),
}

if TYPE_CHECKING:
    SectionScene = Any
else:
    SectionScene = union("type", schemas("Section", "type", SECTIONS, ARGUMENTS, WithLaws))


def section_of(data: Any, material: MaterialScene | None) -> Section:
    """Return the section that scene data describe; `material`: its material, None if it is given by stiffnesses."""
    arguments = data.model_dump(exclude={"type", "material", "law", "relaxation", "centers", "rigid"})
    if material is not None:
        arguments["material"] = Material(**material.model_dump())
    section = SECTIONS[data.type](**arguments)
    if data.rigid:
        section = section.with_rigid(*data.rigid)
    law = data.law
    if isinstance(law, ExpressionLaw):
        section = section.with_energy(law.expression, **law.parameters)
    elif law is not None:
        section = section.with_law(law.type, **law.model_dump(exclude={"type"}))
    if data.relaxation is not None:
        section = section.with_relaxation(**data.relaxation.model_dump())
    return section if data.centers is None else section.with_centers(**data.centers.model_dump())


def section_data(owner: str, section: Any) -> Data:
    """Return the scene data that makes a section."""

    def make(candidate: Data) -> Section:
        scene = TypeAdapter(SectionScene).validate_python(candidate)
        return section_of(scene, getattr(scene, "material", None))

    return first_identical(owner, "section", _candidates(section), make, section)


def _candidates(section: Section) -> Iterator[Data]:
    """Iterate over candidates for the scene data of a section: the calls that made it, then its matrices."""
    additions: Data = {}
    for call in section.given[1:]:
        if call.method == "with_law":
            additions["law"] = {"type": call.unnamed[0], **plain(call.named)}
        elif call.method == "with_energy":
            additions["law"] = {"expression": call.unnamed[0], "parameters": plain(call.named)}
        elif call.method == "with_relaxation":
            additions["relaxation"] = plain(dict(zip(Relaxation.model_fields, call.unnamed, strict=True)))
        elif call.method == "with_rigid":
            additions["rigid"] = list(call.unnamed)
        elif call.method == "with_centers":
            additions["centers"] = plain(dict(zip(Centers.model_fields, call.unnamed, strict=True)))
    if section.given:
        first = section.given[0]
        kind = first.method.removeprefix("from_")
        named = {
            name: {key: getattr(x, key) for key in MaterialScene.model_fields}
            if isinstance(x, Material)
            else x
            for name, x in first.named.items()
        }
        yield {"type": kind, **plain(named), **additions}
    numbers = {
        "C": section.stiffness,
        "mass_per_length": section.mass_per_length,
        "inertia_per_length": section.inertia_per_length,
        "radius": section.radius,
        "D": section.damping if np.any(section.damping) else None,
    }
    yield {"type": "stiffness", **plain(numbers), **additions}
