"""Batches of outputs of a run: each array has one row for each output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from rigid.system import Floats, Ints, State
from rodsim.results.audit_columns import COLUMNS


class Outputs(NamedTuple):
    """Stored data of k outputs."""

    t: Floats  # (k,) times, s
    step: Ints  # (k,) numbers of steps since t = 0
    state: State  # (k, ...) states
    strains: Floats  # (k, m, 6) strains of m elements
    stresses: Floats  # (k, m, 6) stresses of m elements, N and N m
    audit: Floats  # (k, columns) rows of the audit table
    after: Floats | None = None  # (k, m) multipliers of the next step, NaN: not known; None: not stored

    @classmethod
    def single(
        cls, t: float, step: int, state: State, strains: Floats, stresses: Floats, audit: Mapping[str, float]
    ) -> Outputs:
        """Return a batch of one output; raise ValueError if an audit column is missing or unknown."""
        return cls(
            np.array([t], dtype=np.float64),
            np.array([step], dtype=np.int64),
            stacked([state]),
            np.asarray(strains)[None],
            np.asarray(stresses)[None],
            audit_row(audit)[None],
        )

    def part(self, rows: slice) -> Outputs:
        """Return the outputs in the slice `rows`."""
        state = State(*(array[rows] for array in self.state))
        return Outputs(
            self.t[rows],
            self.step[rows],
            state,
            self.strains[rows],
            self.stresses[rows],
            self.audit[rows],
            None if self.after is None else self.after[rows],
        )


def stacked(states: Sequence[State]) -> State:
    """Stack states along a new first axis; return a batch of states."""
    if len(states) == 1:
        return State._make([array[None].copy() for array in states[0]])
    return State._make([np.array(arrays) for arrays in zip(*states, strict=True)])


def joined(batches: Sequence[State]) -> State:
    """Concatenate batches of states; return one batch."""
    return batches[0] if len(batches) == 1 else State(*map(np.concatenate, zip(*batches, strict=True)))


def audit_row(audit: Mapping[str, float]) -> Floats:
    """Return the audit as a row in the order of `COLUMNS`; raise ValueError if a column is missing or unknown."""
    try:
        row = np.array([audit[name] for name in COLUMNS], dtype=np.float64)
    except KeyError as error:
        raise ValueError(f"audit: no column {error}; give all of {', '.join(COLUMNS)}") from None
    if len(audit) != len(COLUMNS):
        unknown = ", ".join(sorted(set(audit) - set(COLUMNS)))
        raise ValueError(f"audit: unknown column {unknown}; the columns are {', '.join(COLUMNS)}")
    return row
