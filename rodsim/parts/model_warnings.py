"""Warnings about models, apart from what finds them: the command line knows them before anything else is imported."""

from __future__ import annotations

from rigid.errors import ModelWarning


class DoubtfulModelWarning(ModelWarning):
    """A model that can be simulated and is probably not what was meant: a joint across a gap, a number in another unit."""


class StepWarning(ModelWarning):
    """Steps that are not those that were asked for, or that may pass over a load."""


class LinearFactorWarning(ModelWarning):
    """A load factor of `buckling` is that of linear buckling alone."""
