"""Define the basic types of the schema: numbers, names, points, orientations, and tools to make schemas from tables."""

from __future__ import annotations

import operator
import re
import types
from collections.abc import Callable, Mapping
from functools import reduce
from inspect import signature
from typing import Annotated, Any, Literal

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
        "__annotations__": {what: spec[0] for what, spec in fields.items()},
        "model_config": ConfigDict(use_attribute_docstrings=False),  # made without source code
        **{what: Field(*spec[2:], description=spec[1]) for what, spec in fields.items()},
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
        for name, parameter in signature(make).parameters.items():
            kind, words, *default = arguments.get(f"{word}.{name}") or arguments[name]
            if parameter.default is not parameter.empty:
                default = [
                    list(parameter.default) if isinstance(parameter.default, tuple) else parameter.default
                ]
            fields[name] = (kind | None if default == [None] else kind, words, *default)
        title = "".join(part.capitalize() for part in re.split("[-_ ]", word)) + suffix
        made_of.append(made(title, base if isinstance(base, type) else base(word), None, fields))
    return made_of


def union(key: str, kinds: list[type[Part]]) -> Any:
    """Return the union of schemas, discriminated by the value under `key`."""
    return Annotated[reduce(operator.or_, kinds), Field(discriminator=key)]


A_TEXT, A_LIST = "a text", "a list"


def one_form(forms: Mapping[str, Any], expected: str) -> Any:
    """Return the union of several forms of a value, which are distinguished by their key.

    `forms`: schema by the key, or by `A_TEXT` or `A_LIST`. `expected`: message for a value in none of the forms.
    """

    def form_of(value: Any) -> str | None:
        """Return the tag of the form of a value; None if it has no known form."""
        if isinstance(value, str | list):
            form = A_TEXT if isinstance(value, str) else A_LIST
            return f"form {form}" if form in forms else None
        keys = value if isinstance(value, dict) else getattr(value, "__dict__", {})
        return next((f"form {key}" for key in forms if key in keys), None)

    kinds = [Annotated[kind, Tag(f"form {key}")] for key, kind in forms.items()]
    return Annotated[
        reduce(operator.or_, kinds),
        Discriminator(form_of, custom_error_type="no_form", custom_error_message=expected),
    ]
