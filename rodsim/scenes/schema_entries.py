"""Make the schemas of entries, the components that join and load parts, from their classes (`rodsim.parts.entry`)."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import Field

from rodsim.parts.contact_entries import LAWS
from rodsim.parts.entry import Entry, Sort, Stated
from rodsim.scenes.functions import Motion, Signal, SpringLawScene
from rodsim.scenes.schema_types import (
    Anchor,
    Components,
    Name,
    NotNegative,
    Number,
    Part,
    Place,
    Positive,
    Vector,
    made,
    numbers,
)


class MeasureScene(Part):
    """Measure of which an energy is a function: of two points or parts, with directions given at t = 0."""

    of: Literal["distance", "strain", "displacement", "coordinate", "cosine", "angle"]
    """which measure"""
    a: Anchor | None = None
    """first point or part; a coordinate has none"""
    b: Anchor
    """second point or part"""
    axis: Vector | None = None
    """of a displacement, a coordinate or an angle, fixed to a [1]"""
    direction_a: Vector | None = None
    """of a cosine, fixed to a [1]"""
    direction_b: Vector | None = None
    """of a cosine, fixed to b [1]"""
    length: Positive | None = None
    """without strain; left out: the initial distance [m]"""


SIX: Any = numbers(6, 6)
MATRIX: Any = NotNegative | SIX | Annotated[list[SIX], Field(min_length=6, max_length=6)]

# type by the word of a field type (`Sort`); types with choices are made in `type_of`
TYPES: dict[str, Any] = {
    "end": Anchor,
    "point": Anchor,
    "rod": Name,
    "part": Name,
    "joint": Name,
    "joints": Annotated[list[Name], Field(min_length=2)],
    "number": Number,
    "positive": Positive,
    "not negative": NotNegative,
    "vector": Vector,
    "place": Place,
    "pair": numbers(2, 2),
    "six": SIX,
    "matrix": MATRIX,
    "axes": Annotated[list[Vector], Field(min_length=3, max_length=3)],
    "ratios": numbers(2),
    "points": Annotated[list[Vector], Field(min_length=1)],
    "triangles": Annotated[
        list[Annotated[list[int], Field(min_length=3, max_length=3)]], Field(min_length=1)
    ],
    "mesh file": Name,
    "flag": bool,
    "varying": Components | Signal,
    "motion": Motion,
    "law": SpringLawScene,
    "text": str,
    "contact law": Literal.__getitem__(LAWS) | str,
    "measures": dict[Name, MeasureScene],
    "parameters": dict[Name, Number],
    "surfaces": Name | Annotated[list[Name], Field(min_length=1)],
    "surface pairs": list[Annotated[list[Name], Field(min_length=2, max_length=2)]],
    "friction": NotNegative | numbers(2, 2),
    "drilling": NotNegative | Literal["friction"],
    "count": Annotated[int, Field(ge=1)],
}


def type_of(sort: Sort) -> Any:
    """Return the type in scenes of a field type of entries."""
    if not sort.choices:
        return TYPES[sort.word]
    one: Any = Literal.__getitem__((*sort.choices, *sort.synonyms))
    return {"choice": one, "choices": list[one], "coordinates": list[one | None]}[sort.word]


def _field(own: Stated) -> tuple[Any, ...]:
    """Return type, description and, if there is one, default of a field, as `made` expects them."""
    if own.default is dataclasses.MISSING:
        return type_of(own.sort), own.words
    if own.default is None:
        return type_of(own.sort) | None, own.words, None
    default = list(own.default) if isinstance(own.default, tuple) else own.default
    return type_of(own.sort), own.words, default


def singular(word: str) -> str:
    """Return the singular of a plural such as meshes, energies or springs."""
    if word.endswith("ies"):
        return word.removesuffix("ies") + "y"
    return word.removesuffix("es" if word.endswith(("shes", "ches", "xes", "sses")) else "s")


@cache
def schema_of(kind: type[Entry]) -> type[Part]:
    """Return the schema of one kind of entry."""
    name = "".join(word.capitalize() for word in singular(kind.key).split("_")) + "Scene"
    fields = {own.key: _field(own) for own in kind.fields().values()}
    return made(name, Part, kind.__doc__, {"name": (Name, f"by which the {kind.word} is known"), **fields})
