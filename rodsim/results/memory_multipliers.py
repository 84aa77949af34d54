"""Compute the multipliers of the step after each output of a run in memory.

They are computed when joint forces are first read.
"""

from __future__ import annotations

import numpy as np

from rigid.system import Floats
from rodsim.results import native_format, stored_states
from rodsim.results.array_sources import Source
from rodsim.results.output_multipliers import MultipliersAfter
from rodsim.results.replay import Replay, UnknownRun
from rodsim.results.result import Result


def multipliers_after(source: Source) -> Floats:
    """Return `lam_after` (T, m), the multipliers of the step after each output of a run in memory; NaN if they are not known."""
    states = stored_states.read(source, slice(0, source.n_outputs))
    nothing = np.full(states.lam.shape, np.nan)
    try:
        run = Replay(Result(source))
    except UnknownRun:
        return nothing
    return MultipliersAfter(source.layout, lambda: run.run_stepper, run.h)(
        source.read(native_format.TIME), states
    )
