"""Compute the multipliers of the step after each output of a run in memory.

They are computed when joint forces are first read.
"""

from __future__ import annotations

import numpy as np

from rigid.system import Floats
from rodsim.results import native, stored_states
from rodsim.results.going_on import GoingOn, Unknown
from rodsim.results.output_multipliers import MultipliersAfter
from rodsim.results.result import Result
from rodsim.results.sources import Source


def after_in_memory(source: Source) -> Floats:
    """Return `lam_after` (T, m), the multipliers of the step after each output of a run in memory; NaN if they are not known."""
    states = stored_states.read(source, slice(0, source.n_outputs))
    nothing = np.full(states.lam.shape, np.nan)
    try:
        run = GoingOn(Result(source))
    except Unknown:
        return nothing
    return MultipliersAfter(source.layout, lambda: run.taking, run.h)(source.read(native.TIME), states)
