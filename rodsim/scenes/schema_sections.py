"""What a scene says of materials and sections."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, FiniteFloat

from rodsim.scenes.schema_section_laws import WithMaterialLaws
from rodsim.scenes.schema_types import Name, NotNegative, Number, Part, Positive


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


class CircularSection(WithMaterialLaws):
    type: Literal["circular"]
    """full circle"""
    radius: Positive
    """of the circle [m]"""
    material: Name | MaterialScene
    """name of a material, or one written in place"""


class TubeSection(WithMaterialLaws):
    type: Literal["tube"]
    """circular tube"""
    outer_radius: Positive
    """outside [m]"""
    inner_radius: NotNegative
    """inside, smaller than outer_radius [m]"""
    material: Name | MaterialScene
    """name of a material, or one written in place"""


class RectangleSection(WithMaterialLaws):
    """`width` along d2, `height` along d3."""

    type: Literal["rectangle"]
    """rectangle"""
    width: Positive
    """along d2 [m]"""
    height: Positive
    """along d3 [m]"""
    material: Name | MaterialScene
    """name of a material, or one written in place"""


class StiffnessSection(WithMaterialLaws):
    """Stiffness and inertia given: EA, GA (one or two), GJ, EI (one or two), or the 6 x 6 matrix C."""

    type: Literal["stiffness"]
    """stiffness and inertia as numbers"""
    EA: Positive | None = None
    """stretching stiffness [N]"""
    GA: Positive | Annotated[list[Positive], Field(min_length=2, max_length=2)] | None = None
    """shear stiffness along d2 and d3, or one for both [N]"""
    GJ: Positive | None = None
    """torsional stiffness [N m^2]"""
    EI: Positive | Annotated[list[Positive], Field(min_length=2, max_length=2)] | None = None
    """bending stiffness about d2 and d3, or one for both [N m^2]"""
    C: list[list[Number]] | None = None
    """symmetric, positive definite 6 x 6, rows Gamma1..3, K1..3, in place of the four [N, N m, N m^2]"""
    mass_per_length: NotNegative
    """mass a length; 0: a rod without mass, in equilibria and modes [kg/m]"""
    inertia_per_length: NotNegative | Annotated[list[NotNegative], Field(min_length=3, max_length=3)]
    """rotary inertia about d1, d2, d3, or one for all; 0 without mass [kg m]"""
    damping_time: NotNegative = 0.0
    """viscosity over stiffness, D = damping_time C [s]"""
    radius: NotNegative = 0.0
    """for drawing; 0: a line [m]"""


SectionScene = Annotated[
    CircularSection | TubeSection | RectangleSection | StiffnessSection, Field(discriminator="type")
]
