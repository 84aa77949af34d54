"""Make the error for an argument that is not a model."""

from __future__ import annotations

from pathlib import Path

from rigid.checks import shown
from rigid.errors import ModelError


def model_argument_error(owner: str, given: object) -> ModelError:
    """Return the ModelError of a function `owner` that expected a Model and got `given`."""
    if isinstance(given, str | Path):
        return ModelError(
            f"{owner}: expected a Model, got {shown(str(given))}. Read a scene file with Model.load(path)."
        )
    if isinstance(given, dict):
        return ModelError(
            f"{owner}: expected a Model, got a dict. Read the scene file with Model.load(path), which returns a Model."
        )
    return ModelError(
        f"{owner}: expected a Model, got {shown(given)}. Make one with Model() or Model.load(path)."
    )
