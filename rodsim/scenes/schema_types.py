"""Define the basic types of the schema: numbers, names, points, orientations, and tools to make schemas from tables."""

from __future__ import annotations

import operator
import re
import types
from collections.abc import Callable, Mapping
from functools import reduce
from inspect import signature
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    FiniteFloat,
    Tag,
    ValidationInfo,
)

from rigid.checks import LARGEST, LONGEST_NAME, name_fault
from rodsim.expressions import LONGEST
from rodsim.scenes.parameters import formula_of_time

_VERB = re.compile("^(Return (this|the|a) |Describe )")  # of docstrings

Number = Annotated[FiniteFloat, Field(ge=-LARGEST, le=LARGEST)]
Positive = Annotated[FiniteFloat, Field(gt=0, ge=1 / LARGEST, le=LARGEST)]
NotNegative = Annotated[FiniteFloat, Field(ge=0, le=LARGEST)]
Vector = Annotated[list[Number], Field(min_length=3, max_length=3)]
Quaternion = Annotated[list[Number], Field(min_length=4, max_length=4)]


def _a_name(text: str) -> str:
    """Raise ValueError unless a text may be a name."""
    fault = name_fault(text)
    if fault:
        raise ValueError(f"it {fault}")
    return text


Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME), AfterValidator(_a_name)]


def _a_formula(text: str, info: ValidationInfo) -> str:
    """Return an expression of time with numbers in place of parameters, which are the context of the validation."""
    return str(formula_of_time(text, info.context or {}))


def _number_if_constant(value: str | float) -> str | float:
    """Return the number that a text is; other texts and numbers unchanged."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


Formula = Annotated[str, Field(min_length=1, max_length=LONGEST), AfterValidator(_a_formula)]
Component = Annotated[Formula | Number, AfterValidator(_number_if_constant)]
Components = Annotated[list[Component], Field(min_length=3, max_length=3)]


class Part(BaseModel):
    """Base class of schemas: unknown keys are errors, and so are texts and booleans for numbers.

    The text under a field is its description in the schema and in the reference. For numbers it ends with the unit in brackets,
    [1] if they have none.
    """

    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)


def numbers(least: int, most: int | None = None) -> Any:
    """Return the type of a list of at least `least` and at most `most` numbers."""
    return Annotated[list[Number], Field(min_length=least, max_length=most)]


def made(name: str, base: type[Part], doc: str | None, fields: Mapping[str, tuple[Any, ...]]) -> type[Part]:
    """Make a schema from its fields, each (type, description) or (type, description, default); `doc`: its description."""
    body: dict[str, Any] = {
        "__module__": base.__module__,
        "__doc__": doc,
        "__annotations__": {what: own[0] for what, own in fields.items()},
        "model_config": ConfigDict(use_attribute_docstrings=False),  # made without source code
        **{what: Field(*own[2:], description=own[1]) for what, own in fields.items()},
    }
    kind: type[Part] = types.new_class(name, (base,), exec_body=lambda names: names.update(body))
    return kind


def schemas(
    suffix: str,
    key: str,
    makers: Mapping[str, Callable[..., Any]],
    arguments: Mapping[str, tuple[Any, ...]],
    base: type[Part] | Callable[[str], type[Part]] = Part,
) -> list[type[Part]]:
    """Return a schema for each of several functions, which follows from its signature and the first line of its docstring.

    Parameters
    ----------
    suffix : str
        End of the names of the schemas.
    key : str
        Key of the word that stands for the function.
    makers : mapping
        Word -> function.
    arguments : mapping
        "argument", or "word.argument" for one function -> type, description and, if the signature has none, default.
    base : type, or function of the word
        Base class.
    """
    made_of = []
    for word, make in makers.items():
        line = (make.__doc__ or "").partition("\n")[0].rstrip(".")
        fields: dict[str, tuple[Any, ...]] = {key: (Literal[word], _VERB.sub("", line))}
        for name, own in signature(make).parameters.items():
            kind, words, *default = arguments.get(f"{word}.{name}") or arguments[name]
            if own.default is not own.empty:
                default = [list(own.default) if isinstance(own.default, tuple) else own.default]
            fields[name] = (kind | None if default == [None] else kind, words, *default)
        title = "".join(part.capitalize() for part in word.replace("-", " ").split()) + suffix
        made_of.append(made(title, base if isinstance(base, type) else base(word), None, fields))
    return made_of


def union(key: str, kinds: list[type[Part]]) -> Any:
    """Return the union of schemas, discriminated by the value under `key`."""
    return Annotated[reduce(operator.or_, kinds), Field(discriminator=key)]


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
            "it is no order of axes; give three letters, as xyz (fixed axes) or ZXZ (axes that rotate with the part)"
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
        "with": (Vector, "where it points, any length [1]"),
    },
)


_FORMS = {
    "quaternion": Quaternion,
    "axis": AxisAngle,
    "euler": EulerAngles,
    "align": Aligned,
}  # forms of an orientation by their discriminating key


def _form_of(value: Any) -> str | None:
    """Return the tag of the form of an orientation; None if it has no known form."""
    if isinstance(value, list | tuple):
        return "form quaternion"
    keys = value if isinstance(value, dict) else getattr(value, "__dict__", {})
    return next((f"form {key}" for key in ("of", "axis", "euler", "align") if key in keys), None)


def _one_form(*keys: str) -> Any:
    """Return the union of these forms of an orientation."""
    each = [Annotated[_FORMS[key], Tag(f"form {key}")] for key in keys]
    return Annotated[
        reduce(operator.or_, each),
        Discriminator(
            _form_of,
            custom_error_type="no_orientation",
            custom_error_message="it should be a unit quaternion [w, x, y, z], {axis: [x, y, z], angle_deg: 90}, "
            "{euler: xyz, angles_deg: [0, 0, 90]}, {align: [0, 0, 1], with: [1, 0, 0]} or {of: point of another part}",
        ),
    ]


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
    """from the rod's curve, along d1, d2, d3 of the section [m]"""


def _kind_of_anchor(value: Any) -> str | None:
    """Return the tag of an anchor: by name, body, rod or ground; None if it is none of them."""
    if isinstance(value, str):
        return "anchor by name"
    for kind in ("body", "rod", "ground"):
        if (isinstance(value, dict) and kind in value) or type(value).__name__.lower() == f"{kind}anchor":
            return f"anchor by {kind}"
    return None


def _kind_of_part_anchor(value: Any) -> str | None:
    """Return the tag of an anchor on a part, by name, body or rod; None if it is none of them."""
    kind = _kind_of_anchor(value)
    return None if kind == "anchor by ground" else kind


PartAnchor = Annotated[
    Annotated[Name, Tag("anchor by name")]
    | Annotated[BodyAnchor, Tag("anchor by body")]
    | Annotated[RodAnchor, Tag("anchor by rod")],
    Discriminator(
        _kind_of_part_anchor,
        custom_error_type="no_anchor",
        custom_error_message="it should be a body's name, {body: name, at: [x, y, z]} or {rod: name, s: 0.5}",
    ),
]


class PlaceScene(Part):
    """Position of a point of another part at t = 0, wherever that part has been put."""

    at: PartAnchor
    """the point; its part may stand later in the scene"""
    plus: Vector = [0.0, 0.0, 0.0]
    """from there, in world axes [m]"""


if TYPE_CHECKING:
    from typing import TypeAlias

    Turned: TypeAlias = Any
    Orientation: TypeAlias = Any
else:
    Turned = _one_form("quaternion", "axis", "euler", "align")


class OrientationOf(Part):
    """As another part is turned at t = 0: the axes of a body, of a section of a rod (d1 along it)."""

    of: PartAnchor
    """the point whose axes these are; its part may stand later in the scene"""
    turned: Turned | None = None
    """from there, in these axes: unit quaternion [w, x, y, z], axis and angle, angles of Euler, or {align, with} [1]"""


if not TYPE_CHECKING:
    _FORMS["of"] = OrientationOf
    Orientation = _one_form(*_FORMS)
Place = Vector | PlaceScene


class GroundAnchor(Part):
    """A fixed point."""

    ground: Place
    """point in world coordinates, or where a point of a part is at t = 0 [m]"""


Anchor = Annotated[
    Annotated[Name, Tag("anchor by name")]
    | Annotated[BodyAnchor, Tag("anchor by body")]
    | Annotated[RodAnchor, Tag("anchor by rod")]
    | Annotated[GroundAnchor, Tag("anchor by ground")],
    Discriminator(
        _kind_of_anchor,
        custom_error_type="no_anchor",
        custom_error_message="it should be a body's name, ground, {body: name, at: [x, y, z]}, "
        "{rod: name, s: 0.5} or {ground: [x, y, z]}",
    ),
]
