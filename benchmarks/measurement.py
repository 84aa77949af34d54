"""Data of one run of one program."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Measurement:
    """One run.

    `wall_s` is the time loop or the solver alone, after warm-up; `whole_s` is the call of a user: the model,
    its set-up, the run. Errors are relative, see `cases`.
    """

    program: str
    case: str
    resolution: int  # elements, or bars
    h: float  # s; the requested step
    steps: int
    wall_s: float
    error: float
    energy_drift: float  # relative; nan where the program gives no velocities
    whole_s: float = float("nan")  # nan where it was not measured

    @property
    def us_per_step(self) -> float:
        """Wall time of a step, microseconds."""
        return 1e6 * self.wall_s / self.steps
