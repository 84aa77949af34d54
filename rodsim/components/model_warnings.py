"""Define the classes of warnings about models.

They are in a module with few imports, since the command line needs them before it imports anything else.
"""

from __future__ import annotations

from collections.abc import Sequence

from rigid.errors import ModelWarning
from rigid.user_warnings import warn_user


class ModelCheckWarning(ModelWarning):
    """Warn about a valid model that is probably a mistake: a joint across a gap, a number in another unit."""


class StepWarning(ModelWarning):
    """Warn about steps that differ from the requested ones, or that may pass over a load."""


class LinearFactorWarning(ModelWarning):
    """Warn that a load factor of `buckling` is that of linear buckling alone."""


def warn_about_model(model: str, doubts: Sequence[str]) -> None:
    """Warn of all doubts about a model of this name in one warning; nothing is done without doubts."""
    if doubts:
        warn_user(f"model '{model}': {'; '.join(doubts)}", ModelCheckWarning)
