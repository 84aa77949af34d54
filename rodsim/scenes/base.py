"""Numbers, names and the base of what may stand in a scene."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, FiniteFloat

from rigid.checks import LARGEST, LONGEST_NAME, name_fault

Number = Annotated[FiniteFloat, Field(ge=-LARGEST, le=LARGEST)]
Positive = Annotated[FiniteFloat, Field(gt=0, ge=1 / LARGEST, le=LARGEST)]
NotNegative = Annotated[FiniteFloat, Field(ge=0, le=LARGEST)]
Vector = Annotated[list[Number], Field(min_length=3, max_length=3)]
Quaternion = Annotated[list[Number], Field(min_length=4, max_length=4)]


def _a_name(text: str) -> str:
    fault = name_fault(text)
    if fault:
        raise ValueError(f"it {fault}")
    return text


Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME), AfterValidator(_a_name)]


class Part(BaseModel):
    """Base: unknown keys are errors, and so are texts and truth values where a number should stand."""

    model_config = ConfigDict(extra="forbid", strict=True)
