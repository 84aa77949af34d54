"""Control laws in scenes: schemas, reading and writing of the classes in `rodsim.components.control_laws.LAWS`."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field

from rodsim.components.control_laws import LAWS, ControlLaw
from rodsim.scenes.round_trip import plain, raise_not_savable
from rodsim.scenes.schema_types import Number, numbers, schemas, union

_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "kp": (Number, "gain of the error [any]"),
    "ki": (Number, "gain of its integral [any]", 0.0),
    "kd": (Number, "gain of its rate [any]", 0.0),
    "target": (Number, "value of the input to be reached [any]", 0.0),
    "low": (Number | None, "least output; left out: no limit [any]", None),
    "high": (Number | None, "largest output; left out: no limit [any]", None),
    "texts": (
        str | Annotated[list[str], Field(min_length=1)],
        "a formula for each output, of t and the inputs: phi, phi_rate",
    ),
    "gains": (Number | list[list[Number]], "matrix: a row for each output, a number for each input [any]"),
    "x": (Annotated[list[Number], Field(min_length=2)], "increasing values of the input [any]"),
    "y": (
        Annotated[list[Number | list[Number]], Field(min_length=2)],
        "outputs at these values, a number or a row of numbers for each [any]",
    ),
    "initial": (Number | numbers(1), "values of the outputs until they are set [any]", 0.0),
    "state feedback.target": (Number | numbers(1), "inputs at which the outputs are 0 [any]", 0.0),
}

if TYPE_CHECKING:
    ControlLawScene = Any
else:
    ControlLawScene = union("type", schemas("ControlLaw", "type", LAWS, _ARGUMENTS))


def control_law_of(data: Any) -> ControlLaw:
    """Return the law that scene data describe."""
    values = data.model_dump(exclude={"type"})
    return LAWS[data.type](**{key: value for key, value in values.items() if value is not None})


def control_law_data(owner: str, law: Any) -> dict[str, Any]:
    """Return a law as scene data; ModelError for a function of the user."""
    for word, kind in LAWS.items():
        if type(law) is kind:
            values = {field.name: getattr(law, field.name) for field in fields(law)}
            infinite = (
                [key for key, value in values.items() if value in (-np.inf, np.inf)] if word == "pid" else []
            )
            known = {key: value for key, value in values.items() if key not in infinite}
            return {"type": word, **plain(known)}
    raise_not_savable(owner, "its law is a Python function")
