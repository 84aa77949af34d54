"""Make the error for an argument that is not a model."""

from __future__ import annotations

from pathlib import Path

from rigid.checks import shown
from rigid.errors import ModelError


def model_argument_error(owner: str, value: object) -> ModelError:
    """Return the ModelError of a function `owner` that expected a Model and got `value`."""
    if isinstance(value, str | Path):
        return ModelError(
            f"{owner}: expected a Model, got {shown(str(value))}. Read a scene file with Model.load(path)."
        )
    if isinstance(value, dict):
        return ModelError(
            f"{owner}: expected a Model, got a dict. Read the scene file with Model.load(path), which returns a Model."
        )
    return ModelError(
        f"{owner}: expected a Model, got {shown(value)}. Make one with Model() or Model.load(path)."
    )
