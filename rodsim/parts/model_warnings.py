"""Define the classes of warnings about models.

They are in a module without further imports, since the command line needs them before it imports anything else.
"""

from __future__ import annotations

from rigid.errors import ModelWarning


class DoubtfulModelWarning(ModelWarning):
    """Warn about a valid model that is probably a mistake: a joint across a gap, a number in another unit."""


class StepWarning(ModelWarning):
    """Warn about steps that differ from the requested ones, or that may pass over a load."""


class LinearFactorWarning(ModelWarning):
    """Warn that a load factor of `buckling` is that of linear buckling alone."""
