"""What an audit found: numbers, and verdicts on laws, as text, JSON and HTML."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field

import numpy as np

from rodsim.results.html import audit_html
from rodsim.results.recomputed import Difference
from rodsim.results.retaking import Retaken


@dataclass(frozen=True)
class Verdict:
    """One law, what was measured of it, and whether it was kept (None: nothing to judge)."""

    law: str
    measured: str
    kept: bool | None


@dataclass(frozen=True)
class Audit:
    """Measured over all outputs; None: not measurable in this run (the text says why)."""

    model: str
    n_outputs: int
    t_start: float  # s
    t_end: float  # s
    n_steps: int
    energy_scale: float  # J, largest energy turned over: what errors of energy are divided by
    energy_rounding: float  # J, what rounding alone may do; 0 where it is not known
    energy_balance: float  # max |E - E0 - W + D| / energy_scale
    free_from: float | None  # s, no work is done after; None: until the last output
    energy_drift: float | None  # max change of E + D after free_from / energy_scale
    linear_momentum_scale: float  # kg m/s
    angular_momentum_scale: float  # kg m^2/s
    linear_momentum_drift: float | None  # of the components that should be kept after free_from, relative
    angular_momentum_drift: float | None
    momentum_note: str  # which components those are, and why
    quat_norm: float  # max ||q| - 1|
    constraint: float  # max |g|
    constraint_relative: float  # the same over the size of the model
    velocity_constraint: float  # max |G v|, of schemes |G W p|
    newton_mean: float  # iterations a step
    newton_max: int
    halvings: int  # steps that had to be cut in two
    work: float  # J
    dissipation: float  # J
    integrator: str  # "" where the result does not say
    tolerance: float  # of the equations of a step, relative; 0: round-off
    recomputed: bool  # energies and momenta are those of the states, not those of the run's table
    drawing_compared: bool  # there are points for the eye, and they were compared with the states
    differences: tuple[Difference, ...] = field(default=())  # numbers of the file that its states contradict
    # by part, (m/s, rad/s): how far its initial velocities were moved to fit the joints
    initial_velocity_change: dict[str, tuple[float, float]] = field(default_factory=dict)
    algorithmic: float = 0.0  # J, taken out by the integrator
    chart: str = ""
    promises: tuple[str, ...] = ()  # of the integrator in this chart, see `discretization.time.promises`
    of_scheme: bool = False  # energies and momenta are formed from the scheme's own q and p
    unread: str = ""  # why they are not, where they should be
    rate: str = "G v"  # what of the joints' velocities was measured
    energy: str = ""  # of what the energies are, where that is not T + V
    other_energy_balance: float | None = None  # of the generalised energy, where the scheme keeps both
    # the same of T + V, P, L of the velocities: energy balance, drifts of the momenta; None: they are the above
    of_velocities: tuple[float, float | None, float | None] | None = None
    velocity_scale: float = 0.0  # m/s, of what the velocities of joints are errors of
    velocity_rounding: float = 0.0  # m/s
    retaken: Retaken = field(default_factory=Retaken)
    model_fits: bool | None = None  # its numbers are those it was built with; None: not known
    changed: tuple[str, ...] | None = None  # what is not what was written; None: there are no digests
    in_file: bool = False  # it was read from one
    # of kinds that scripts register, by name an interaction whose code is not what it was
    other_code: dict[str, str] = field(default_factory=dict)
    bends: tuple[
        str, ...
    ] = ()  # rods that touch themselves, bent so tight that they may have gone through themselves
    verdicts: tuple[Verdict, ...] = field(default=())

    @property
    def ok(self) -> bool:
        """No law that can be judged was broken."""
        return all(verdict.kept is not False for verdict in self.verdicts)

    def to_json(self) -> str:
        """All numbers and verdicts as JSON; numbers that are not finite become null."""
        data = {**asdict(self), "ok": self.ok}
        finite = {k: None if isinstance(v, float) and not np.isfinite(v) else v for k, v in data.items()}
        return json.dumps(finite, indent=2)

    def text(self) -> str:
        """The audit for reading, one line a law."""
        words = {True: "kept", False: "NOT KEPT", None: "-"}
        width = max(len(verdict.law) for verdict in self.verdicts)
        lines = [
            f"audit of '{self.model}': {self.n_outputs} outputs, t = {self.t_start:g} to {self.t_end:g} s, "
            f"{self.n_steps} steps"
        ]
        lines += [f"  {v.law:<{width}}  {words[v.kept]:<8}  {v.measured}" for v in self.verdicts]
        lines.append(
            f"  Newton, as the run counted: {self.newton_mean:.2f} iterations a step, at most {self.newton_max}; "
            f"{self.halvings} steps halved"
        )
        lines.append("all laws that can be judged were kept" if self.ok else "a law was broken, see NOT KEPT")
        return "\n".join(lines)

    def __repr__(self) -> str:
        broken = [verdict.law for verdict in self.verdicts if verdict.kept is False]
        told = f"NOT KEPT: {', '.join(broken)}" if broken else "all laws that can be judged were kept"
        return f"<Audit of '{self.model}': {told}>"

    def _repr_html_(self) -> str:
        """For notebooks: the same."""
        return audit_html(self)
