"""Read the multipliers of constraints at the outputs, from which joint forces are computed. No other module reads them.

A state stores the multipliers of its last step. With most integrators these are means over that step (for a composition, over its
last substep). They therefore belong to its middle and differ from the force at its end by a term of order h. At an output n > 0

    lam(t_n) = (lam_n + lam'_n)/2                                                                        (1)

where lam_n are the multipliers of the step, or substep, that ends at t_n, and lam'_n those of the next one, which has the same
length: (1) is of order 2 with every integrator. With integrators whose multipliers are forces at the end of a step
(`Scheme.ends`) the stored multipliers are used unchanged. lam'_n is

    - the multiplier stored at the next output, if that is one step later and a step is one solve;
    - else `lam_after`: when a file stores an output, the step after it is computed, and only its multipliers are saved. This is
      done after the last output, too, so that files of resumed runs equal those of uninterrupted runs. For a run in memory it is
      done when forces are first read.

The result is one-sided, of order 1, in these cases:

    - at the last output, if outputs are one step apart;
    - next to a step that was halved, or was split at a corner of a load;
    - if the next step cannot be computed;
    - next to a step in which a contact opens or closes: the multiplier of the other step is used.

If an output is several steps after the previous one, it is not known
whether a contact opened or closed in the last step before it.

At t = 0 the equations of motion are solved (`discretization.constraint_forces`). If they have internal variables that this does
not support, the mean over the first step is used. Files of versions before 0.1.1 have neither `lam_after` nor lam(0): if their
outputs are several steps apart, multipliers are means over the last step before an output, and at t = 0 the initial multipliers
of the run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from discretization.constraint_forces import instant_multipliers
from discretization.time.em_family import em_integrator
from discretization.time.step_splitting import steps_before_corner
from rigid.system import Floats, State
from rodsim.results import native_format
from rodsim.results.audit_columns import COLUMNS
from rodsim.results.contact_gaps import CONTACTS, ContactGaps
from rodsim.results.layout import Layout

if TYPE_CHECKING:
    from discretization.time.stepper_base import StepperBase

HALVINGS = COLUMNS.index("halvings")
ADAPTIVE = "error"  # setting of runs with adaptive steps
MULTIPLIERS_STORED = "multipliers_after"  # setting of runs whose files have `lam_after`

After = Callable[[Floats, State], Floats]  # times (k,), s, and states (k, ...) -> multipliers (k, m)


class Outputs(Protocol):
    """Attributes of a `rodsim.results.array_sources.Source` that this module reads."""

    layout: Layout
    n_outputs: int

    def read(self, name: str, key: Any = ...) -> Any:
        """Return part `key` of the array `name`."""

    def start_multipliers(self) -> Any:
        """Return all multipliers (m,) at t = 0, or None."""


def read_multipliers(source: Outputs, rows: slice) -> Floats:
    """Return the multipliers at all outputs by equation (1), restricted to the slice `rows` of k rows (T, k)."""
    stored: Floats = source.read("lam", (slice(None), rows))
    run = source.layout.description.get("run", {})
    if not stored.size or not stores_means(run):
        return _replace_first(source, stored, stored[:1], rows, run)
    step = source.read(native_format.STEP)
    after, adjacent = np.full(stored.shape, np.nan), np.zeros(len(step), bool)
    if solves_are_steps(run):
        adjacent[:-1] = np.diff(step) == 1
        after[adjacent] = stored[1:][adjacent[:-1]]
    if source.layout.n_after:
        exact = source.read(native_format.LAM_AFTER, (slice(None), rows))
        after[~adjacent] = exact[~adjacent]
    halved = np.zeros(len(step), bool)
    if ADAPTIVE not in run:  # with adaptive steps the column counts windows that were repeated
        halved = source.read(native_format.AUDIT, (slice(None), HALVINGS)) > 0.0
        halved |= _splits_at_corners(run, source.read(native_format.TIME))
        after[:-1][halved[1:] & adjacent[:-1]] = np.nan
        after[halved] = np.nan
    jumps = _contact_changes(source, adjacent)
    after[:-1][jumps[1:] & adjacent[:-1]] = np.nan
    known = np.isfinite(after).all(axis=1)
    values = np.where(known[:, None], 0.5 * (stored + after), stored)
    one_sided = jumps & known
    values[one_sided] = after[one_sided]
    return _replace_first(source, values, np.where(known[:1, None], after[:1], stored[:1]), rows, run)


def _replace_first(
    source: Outputs, values: Floats, otherwise: Floats, rows: slice, run: dict[str, Any]
) -> Floats:
    """Return `values` (T, k) with the first row replaced by the multipliers at t = 0, or by `otherwise` if they are not known."""
    if "dt" not in run or not values.size:
        return values
    start = source.start_multipliers()
    values = values.copy()
    values[0] = otherwise[0] if start is None else start[rows]
    return values


def stores_means(run: dict[str, Any]) -> bool:
    """Return True if the states of a run with the settings `run` store multipliers that are means over steps."""
    name = run.get("integrator", "")
    if "dt" not in run or name == "modes":
        return False
    if em_integrator(name) is not None:
        return True
    from discretization.time.integrators import parse

    return not parse(name).ends


def solves_are_steps(run: dict[str, Any]) -> bool:
    """Return True if each step of a run with the settings `run` is one solve: the next output may supply lam'_n of (1)."""
    if ADAPTIVE in run:
        return False
    scheme = em_integrator(run["integrator"])
    if scheme is not None:
        return scheme.order == 2 and len(scheme.fractions) < 2
    from discretization.time.integrators import parse

    return len(parse(run["integrator"]).fractions) == 1


def _splits_at_corners(run: dict[str, Any], t: Floats) -> Any:
    """Return for each output whether the step before it was split at a corner of a load (T,)."""
    corners, dt = np.array(run.get("corners", ()), float), float(run["dt"])
    if not len(corners):
        return np.zeros(len(t), bool)
    return np.array([steps_before_corner(corners, dt, np.array([start])) == 0 for start in t - dt])


def _contact_changes(source: Outputs, adjacent: Any) -> Any:
    """Return for each output whether a contact opened or closed in the step before it (T,).

    False unless the output is one step after the previous one. `adjacent`: (T,) True if the next output is one step later.
    """
    jumps = np.zeros(source.n_outputs, bool)
    if source.layout.description.get(CONTACTS) and adjacent.any():
        from rodsim.results import stored_states

        acting = _active_contacts(source.layout, stored_states.read(source, slice(0, source.n_outputs)))
        jumps[1:] = (acting[1:] != acting[:-1]).any(axis=1) & adjacent[:-1]
    return jumps


def _active_contacts(layout: Layout, states: State) -> Any:
    """Return for each state and contact whether the contact acts (T, contacts)."""
    names = layout.description.get(CONTACTS, {})
    return np.stack([ContactGaps(layout, name).beyond(states) < 0.0 for name in names], axis=1)


class MultipliersAfter:
    """Compute the first substep after each of several states, and return only its multipliers.

    Parameters
    ----------
    layout : Layout
    stepper : callable
        Returns the stepper of the run; it is called only if a step is computed.
    h : float
        Step, s.
    """

    def __init__(self, layout: Layout, stepper: Callable[[], StepperBase], h: float) -> None:
        self._layout, self._make, self._h = layout, stepper, h

    def __call__(self, t: Floats, states: State) -> Floats:
        """Return the multipliers (k, m) after states (k, ...) at times t (k,), s; NaN where they are not known."""
        multipliers = np.full((len(t), len(states.lam[0])), np.nan)
        ends, state_numbers = [], []
        for k, time in enumerate(t.tolist()):
            end = self._end(State(*(array[k] for array in states)), time)
            if end is not None:
                multipliers[k] = end.lam
                ends.append(end)
                state_numbers.append(k)
        if ends and self._layout.description.get(CONTACTS):
            before = _active_contacts(self._layout, State(*(array[state_numbers] for array in states)))
            after = _active_contacts(
                self._layout, State(*(np.stack(arrays) for arrays in zip(*ends, strict=True)))
            )
            multipliers[np.array(state_numbers)[(before != after).any(axis=1)]] = np.nan
        return multipliers

    def _end(self, state: State, t: float) -> State | None:
        """Return the state at the end of the first solve after a state at time t, s.

        None if the step is split at a corner of a load or fails.
        """
        # a user's load may raise an error beyond the end of the run, or the same error as in the run itself
        try:
            stepper = self._make()
            if not steps_before_corner(stepper.corners, self._h, np.array([t])):
                return None
            return stepper.end_of_first_substep(state, t, self._h)
        except Exception:
            return None


def number_stored(stepper: StepperBase, every: int, integrator: str) -> int:
    """Return how many multipliers of the next step each output stores: none if the next output supplies them."""
    if not stores_means({"dt": 1.0, "integrator": integrator}) or (
        every == 1 and stepper.substeps_per_step == 1
    ):
        return 0
    return int(stepper.sizes.multipliers)


def source_start_multipliers(source: Outputs) -> Floats | None:
    """Return the multipliers (m,) at t = 0 of a run in memory whose model was built in this process, else None."""
    layout, run = source.layout, source.layout.description.get("run", {})
    if layout.functions is None or layout.system is None or not source.n_outputs:
        return None
    from rodsim.results import stored_states

    loads, drives = layout.functions.loads, layout.functions.drives
    return initial_multipliers(layout.system, stored_states.read(source, 0), loads, drives, float(run["dt"]))


def initial_multipliers(system: Any, state: State, loads: Any, drives: Any, dt: float) -> Floats | None:
    """Return the multipliers (m,) at t = 0 of a run from this state; None if they are not known."""
    if not len(state.lam):
        return None
    values = np.zeros((len(system.signals), 3))
    try:
        if loads is not None and len(values):
            values = np.asarray(loads(np.zeros(1)), float)[0]
        multipliers = instant_multipliers(system, state, values, drives, 0.0, dt)
    except Exception:  # for a singular model the first step raises the error
        return None
    return multipliers if multipliers is not None and np.isfinite(multipliers).all() else None
