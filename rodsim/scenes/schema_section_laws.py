"""Define the schemas of nonlinear laws, relaxation and centres of sections in scenes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from rodsim.scenes.schema_types import Name, Number, Part, Positive


class StiffeningLaw(Part):
    type: Literal["stiffening"]
    """N1 = EA Gamma1 (1 + (Gamma1/strain)^2)"""
    strain: Positive
    """at which the stress is twice the linear one [1]"""


class ThinningLaw(Part):
    type: Literal["thinning"]
    """N1 = EA (1 - 1/(1 + Gamma1)): a section that keeps its volume"""


class SofteningLaw(Part):
    type: Literal["softening"]
    """bending moments that approach `moment`"""
    moment: Positive
    """bound of the bending moment [N m]"""


class ExpressionLaw(Part):
    """The stored energy per length of Gamma1 to Gamma3 and K1 to K3, J/m, in the place of the linear one."""

    expression: Annotated[str, Field(min_length=1, max_length=4000)]
    """stored energy a length as a text in Python's notation [J/m]"""
    parameters: dict[Name, Number] = {}
    """its own names and their values [any]"""


def _kind_of_law(value: Any) -> str | None:
    """Return the tag of a law in the union `Law`; None if the law is not known."""
    if isinstance(value, ExpressionLaw) or (isinstance(value, dict) and "expression" in value):
        return "expression"
    kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
    return kind if kind in ("stiffening", "thinning", "softening") else None


Law = Annotated[
    Annotated[StiffeningLaw, Tag("stiffening")]
    | Annotated[ThinningLaw, Tag("thinning")]
    | Annotated[SofteningLaw, Tag("softening")]
    | Annotated[ExpressionLaw, Tag("expression")],
    Discriminator(
        _kind_of_law,
        custom_error_type="no_law",
        custom_error_message="it should be {type: stiffening, strain: ...}, {type: thinning}, {type: softening, moment: ...} "
        "or {expression: ..., parameters: {...}}",
    ),
]


class Relaxation(Part):
    """A spring and a dashpot in a row beside the section's stiffness: the standard linear solid."""

    time: Positive
    """in which the branch relaxes at a fixed strain [s]"""
    fraction: Positive | None = None
    """stiffness of the branch over that of the section; give it or stiffness [1]"""
    stiffness: list[list[Number]] | None = None
    """6 x 6 of the branch [N, N m, N m^2]"""

    @model_validator(mode="after")
    def _one_of_both(self) -> Relaxation:
        """Raise ValueError unless either fraction or stiffness is given."""
        if (self.fraction is None) == (self.stiffness is None):
            raise ValueError("give either fraction or stiffness")
        return self


Place = Annotated[list[Number], Field(min_length=2, max_length=2)]


class Centers(Part):
    """Centre of mass and the point that the stiffness belongs to, along d2 and d3 from the rod's curve; inertia J23."""

    mass: Place = [0.0, 0.0]
    """centre of mass, along d2 and d3 [m]"""
    stiffness: Place = [0.0, 0.0]
    """centre of stiffness, along d2 and d3 [m]"""
    product_of_inertia: Number | None = None
    """J23 of a metre, about the centre of mass [kg m]"""


class WithMaterialLaws(Part):
    """Base schema of sections: `law` is added to the linear law or replaces it, `relaxation` is a parallel branch, `centers` are
    off the curve."""

    law: Law | None = None
    """what is added to the linear law, or stands in its place"""
    relaxation: Relaxation | None = None
    """a spring and a dashpot in a row beside the stiffness"""
    centers: Centers | None = None
    """of mass and stiffness, where they are off the curve"""
