"""Define materials and sections in scenes: a table of sections, from which schema and conversion follow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, FiniteFloat

from rodsim.parts.materials import Material
from rodsim.parts.sections import Section
from rodsim.scenes.schema_section_laws import ExpressionLaw, WithMaterialLaws
from rodsim.scenes.schema_types import Name, NotNegative, Number, Part, Positive, Variant, union


class MaterialScene(Part):
    """Linear elastic material."""

    E: Positive
    """Young's modulus [Pa]"""
    nu: Annotated[FiniteFloat, Field(gt=-1, le=0.5)] | None = None
    """Poisson's ratio; give it or G [1]"""
    G: Positive | None = None
    """shear modulus; give it or nu [Pa]"""
    density: NotNegative
    """mass a volume; 0: of rods without mass, in equilibria and modes [kg/m^3]"""
    shear_factor: Positive = 5 / 6
    """what multiplies G A in the shear stiffness [1]"""
    damping_time: NotNegative = 0.0
    """viscosity over stiffness (Kelvin-Voigt), D = damping_time C [s]"""


_OF = {"material": (Name | MaterialScene, "name of a material, or one written in place")}
_TWO = Positive | Annotated[list[Positive], Field(min_length=2, max_length=2)] | None
_THREE = NotNegative | Annotated[list[NotNegative], Field(min_length=3, max_length=3)]

SECTIONS = {
    "circular": Variant(
        Section.circular, "full circle", {"radius": (Positive, "of the circle [m]"), **_OF}, WithMaterialLaws
    ),
    "tube": Variant(
        Section.tube,
        "circular tube",
        {
            "outer_radius": (Positive, "outside [m]"),
            "inner_radius": (NotNegative, "inside, smaller than outer_radius [m]"),
            **_OF,
        },
        WithMaterialLaws,
    ),
    "rectangle": Variant(
        Section.rectangle,
        "rectangle",
        {"width": (Positive, "along d2 [m]"), "height": (Positive, "along d3 [m]"), **_OF},
        WithMaterialLaws,
        "`width` along d2, `height` along d3.",
    ),
    "stiffness": Variant(
        Section.from_stiffness,
        "stiffness and inertia as numbers",
        {
            "EA": (Positive | None, "stretching stiffness [N]", None),
            "GA": (_TWO, "shear stiffness along d2 and d3, or one for both [N]", None),
            "GJ": (Positive | None, "torsional stiffness [N m^2]", None),
            "EI": (_TWO, "bending stiffness about d2 and d3, or one for both [N m^2]", None),
            "C": (
                list[list[Number]] | None,
                "symmetric, positive definite 6 x 6, rows Gamma1..3, K1..3, in place of the four [N, N m, N m^2]",
                None,
            ),
            "mass_per_length": (
                NotNegative,
                "mass a length; 0: a rod without mass, in equilibria and modes [kg/m]",
            ),
            "inertia_per_length": (
                _THREE,
                "rotary inertia about d1, d2, d3, or one for all; 0 without mass [kg m]",
            ),
            "damping_time": (NotNegative, "viscosity over stiffness, D = damping_time C [s]", 0.0),
            "D": (
                list[list[Number]] | None,
                "viscosity: symmetric 6 x 6 as C, in place of damping_time [N s, N m s, N m^2 s]",
                None,
            ),
            "radius": (NotNegative, "for drawing; 0: a line [m]", 0.0),
        },
        WithMaterialLaws,
        "Stiffness and inertia given: EA, GA (one or two), GJ, EI (one or two), or the 6 x 6 matrix C.",
    ),
}

if TYPE_CHECKING:
    SectionScene = Any
else:
    SectionScene = union("Section", "type", SECTIONS)


def section_of(given: Any, material: MaterialScene | None) -> Section:
    """Return the section that scene data describe; `material`: its material, None if it is given by stiffnesses."""
    numbers = given.model_dump(include=set(SECTIONS[given.type].fields) - {"material"})
    if material is not None:
        numbers["material"] = Material(**material.model_dump())
    section: Section = SECTIONS[given.type].make(**numbers)
    law = given.law
    if isinstance(law, ExpressionLaw):
        section = section.with_energy(law.expression, **law.parameters)
    elif law is not None:
        section = section.with_law(law.type, **law.model_dump(exclude={"type"}))
    if given.relaxation is not None:
        section = section.with_relaxation(**given.relaxation.model_dump())
    return section if given.centers is None else section.with_centers(**given.centers.model_dump())
