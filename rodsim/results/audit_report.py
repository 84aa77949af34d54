"""Report of an audit: measured quantities and verdicts on conservation laws, as text, JSON and HTML."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field

import numpy as np

from rodsim._compat import accept_old_methods
from rodsim.results.audit_recomputation import Difference
from rodsim.results.html import audit_html
from rodsim.results.step_recomputation import StepRecomputation


@dataclass(frozen=True)
class Verdict:
    """Verdict on one law: its name, the measured value as text, and whether the law was kept (None: nothing to judge)."""

    law: str
    measured: str
    kept: bool | None


@accept_old_methods
@dataclass(frozen=True)
class Audit:
    """Findings of an audit over all outputs. None means: not measurable in this run (`text()` gives the reason)."""

    model: str
    n_outputs: int
    t_start: float  # s
    t_end: float  # s
    n_steps: int
    energy_scale: float  # J, largest energy turned over; errors of energy are divided by it
    energy_rounding: float  # J, error of energy that rounding alone may cause; 0 if it is not known
    energy_balance: float  # max |E - E0 - W + D| / energy_scale
    free_from: float | None  # s, time after which no work is done; None: work is done until the last output
    energy_drift: float | None  # max change of E + D after free_from / energy_scale
    linear_momentum_scale: float  # kg m/s
    angular_momentum_scale: float  # kg m^2/s
    linear_momentum_drift: float | None  # relative change of the conserved components after free_from
    angular_momentum_drift: float | None  # relative change of the conserved components after free_from
    momentum_note: str  # which components of the momenta are conserved, and why
    quat_norm: float  # max ||q| - 1|
    constraint: float  # max |g|
    constraint_relative: float  # max |g| over the size of the model
    velocity_constraint: float  # max |G v|; for schemes in charts max |G W p|
    newton_mean: float  # mean number of iterations per solve
    newton_max: int  # largest number of iterations of a solve
    halvings: int  # number of step halvings
    work: float  # J, done by the loads
    dissipation: float  # J, lost in dampers and viscous rods
    integrator: str  # "" if the result does not name it
    tolerance: float  # relative tolerance of the equations of a step; 0: round-off
    recomputed: bool  # energies and momenta were recomputed from the states, not read from the table
    drawing_compared: bool  # the file has points for pictures, and they were compared with the states
    differences: tuple[Difference, ...] = field(default=())  # numbers of the file that contradict its states
    # by name of the part: change of its initial velocities that makes them fit the joints, (m/s, rad/s)
    initial_velocity_change: dict[str, tuple[float, float]] = field(default_factory=dict)
    algorithmic: float = 0.0  # J, energy removed by the integrator
    chart: str = ""  # chart of the integrator; "" if there is none
    invariants: tuple[str, ...] = ()  # guaranteed invariants, see `discretization.time.invariants`
    chart_based: bool = False  # energies and momenta are formed from the scheme's own q and p
    unread: str = ""  # why energies and momenta are not formed from q and p, if they should be
    rate: str = "G v"  # measure of the velocity residual of the joints
    energy: str = ""  # definition of the energy, if it is not T + V
    other_energy_balance: float | None = None  # balance of the generalised energy, if conserved
    # energy balance of T + V, and drifts of P and L, formed from the velocities; None: identical to the values above
    velocity_based: tuple[float, float | None, float | None] | None = None
    velocity_scale: float = 0.0  # m/s, size to which velocity residuals of the joints are compared
    velocity_rounding: float = 0.0  # m/s, velocity residual that rounding alone may cause
    step_recomputation: StepRecomputation = field(
        default_factory=StepRecomputation
    )  # outcome of the repeated steps
    model_fits: bool | None = None  # the stored numbers are those of the built model; None: not known
    changed: tuple[str, ...] | None = None  # contents not as written; None: the file has no checksums
    from_file: bool = False  # the result was read from a file
    # kinds registered by scripts whose code has changed: by name of the kind an interaction of that kind
    other_code: dict[str, str] = field(default_factory=dict)
    bends: tuple[
        str, ...
    ] = ()  # rods with self-contact bent so tightly that they may have passed through themselves
    verdicts: tuple[Verdict, ...] = field(default=())  # one verdict for each law

    @property
    def ok(self) -> bool:
        """True if no law that can be judged was broken."""
        return all(verdict.kept is not False for verdict in self.verdicts)

    def to_json(self) -> str:
        """Return all numbers and verdicts as JSON; numbers that are not finite become null."""
        data = {**asdict(self), "ok": self.ok}
        finite = {k: None if isinstance(v, float) and not np.isfinite(v) else v for k, v in data.items()}
        return json.dumps(finite, indent=2)

    def text(self) -> str:
        """Return the audit as text, with one line for each law."""
        labels = {True: "kept", False: "NOT KEPT", None: "-"}
        width = max(len(verdict.law) for verdict in self.verdicts)
        lines = [
            f"audit of '{self.model}': {self.n_outputs} outputs, t = {self.t_start:g} to {self.t_end:g} s, "
            f"{self.n_steps} steps"
        ]
        lines += [f"  {v.law:<{width}}  {labels[v.kept]:<8}  {v.measured}" for v in self.verdicts]
        lines.append(
            f"  Newton, as the run counted: {self.newton_mean:.2f} iterations a step, at most {self.newton_max}; "
            f"{self.halvings} steps halved"
        )
        lines.append("all laws that can be judged were kept" if self.ok else "a law was broken, see NOT KEPT")
        return "\n".join(lines)

    def __repr__(self) -> str:
        broken = [verdict.law for verdict in self.verdicts if verdict.kept is False]
        summary = f"NOT KEPT: {', '.join(broken)}" if broken else "all laws that can be judged were kept"
        return f"<Audit of '{self.model}': {summary}>"

    def _repr_html_(self) -> str:
        """Return the audit as HTML, for notebooks."""
        return audit_html(self)
