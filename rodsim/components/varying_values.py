"""Scalars that vary in time, as external values of interactions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from rigid.system import Floats
from rodsim.components.base import ExternalValues, FollowedOutput, describe_time_function
from rodsim.components.controllers import Output
from rodsim.components.joint_forces import scalar_function

FIRST, NOTHING = (1.0, 0.0, 0.0), (0.0, 0.0, 0.0)


def scaled_input(
    owner: str,
    value: Any,
    factor: Sequence[float] = FIRST,
    base: Sequence[float] = NOTHING,
    count: int = 1,
) -> ExternalValues:
    """Return the external values `factor x value + base`, three numbers, of `count` interactions.

    value: a number, a signal, the output of a controller, or a function of time. Where `factor` is not zero, `base` is.
    """
    followed = isinstance(value, Output)
    rows = range(count if followed else 0)
    return ExternalValues(
        count,
        partial(_values, owner, value, np.array(factor), np.array(base)),
        value,
        [FollowedOutput(k, value, np.array(factor)) for k in rows],
        {"value": describe_time_function(value), "factor": list(factor), "base": list(base)},
    )


def _values(owner: str, value: Any, factor: Floats, base: Floats, times: Floats) -> Floats:
    """Return the same external values (k, 1, 3) of all interactions at times (k,), s."""
    scalars: Floats = scalar_function(owner, value)(times)
    return scalars[:, None, None] * factor + base
