"""Compute energies and momenta of a result of a scheme in a chart from the scheme's own coordinates and momenta.

`State.memory` holds q, p, v of the chart and the multipliers. The invariants that a scheme conserves are functions of these. The
velocities of the frames, from which the audit table is made, agree with them only to the order of the scheme. Frames and
multipliers of a state are computed from its chart, so that both must agree.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from discretization import interaction_table
from discretization.contact.table import contacts_of
from discretization.drives import driven_frames
from discretization.state_measures import constraint_residual
from rigid import quaternions
from rigid.errors import ModelError
from rigid.interactions.constraints import rows_of
from rigid.system import Floats, State
from rodsim.results.audit_columns import ANGULAR_MOMENTUM, LINEAR_MOMENTUM
from rodsim.results.layout import Layout

ENERGY, GENERALISED, POSITION, RATE = "energy", "generalised energy", "position", "velocity"
NAMES = (ENERGY, GENERALISED, *LINEAR_MOMENTUM, *ANGULAR_MOMENTUM, POSITION, RATE)


class ResultWithChart(Protocol):
    """Attributes of a `Result` that this module reads."""

    @property
    def layout(self) -> Layout:
        """Return the layout, which describes the arrays."""

    @property
    def description(self) -> dict[str, Any]:
        """Return the stored description of the model and the run."""

    def state(self, index: int = -1) -> State:
        """Return the state at output number `index`."""


class ChartInvariants(NamedTuple):
    """Invariants and frames of T outputs, computed from the charts of their states."""

    # (T,) each, for available `NAMES`; energies are T* and p . v - T, without potentials
    columns: dict[str, Floats]
    frames: State  # states with frames and multipliers computed from the chart


class ChartReader:
    """Read the charts of the states of a result.

    Raises ModelError if the chart of the model cannot be built.
    """

    def __init__(self, result: ResultWithChart) -> None:
        """Imported here, because loading their kernels takes half a second."""
        from discretization.time.integrators import parse
        from discretization.time.mechanical_stepper import system_in_chart
        from rigid.mechanics.mechanical_system import SINGULAR_MASS

        layout, settings = result.layout, result.description["run"]
        if layout.system is None:
            raise ModelError(f"result of '{layout.name}': it stores no system")
        self._model = layout.system._replace(contacts=contacts_of())  # contacts impose no constraints
        self._system = system_in_chart(layout.name, self._model, result.state(0), str(settings["chart"]))
        self._driven = driven_frames(layout.system.frames.fixed)
        self._free_coordinates = np.ones(self._system.n)  # 1, and 0 for coordinates of driven frames
        for first, last, _ in self._system.data.driven.frames:
            self._free_coordinates[first:last] = 0.0
        self._singular = self._system.has(SINGULAR_MASS)
        self._uses_scheme_velocity = self._singular or parse(str(settings["integrator"])).singular_mass

    def read(self, states: State) -> ChartInvariants:
        """Return invariants and frames of T successive outputs, whose charts (T, c) are in `states.memory`."""
        from discretization.time.drives_in_charts import drive_parameters_in
        from rigid.mechanics import mechanical_rows

        system = self._system
        n, m = system.n, system.m
        q, p, v, lam, _ = np.split(states.memory, np.cumsum([n, n, n, m]), axis=1)
        driven = drive_parameters_in(self._model, states)
        scheme_v, scheme_p = v, p
        if len(self._driven):  # the mass of driven frames is not part of the model
            v, p = v * self._free_coordinates, p * self._free_coordinates
        columns = {GENERALISED: np.einsum("ij,ij->i", p, v) - mechanical_rows.kinetic_energies(system, q, v)}
        w = scheme_v
        if not self._singular:
            w = mechanical_rows.velocities(system, q, scheme_p)
            columns[ENERGY] = 0.5 * np.einsum("ij,ij->i", p, w)
        # constraints of frames (orthonormal directors, unit quaternions) and of joints
        g = mechanical_rows.constraints(system, q, driven)
        frames = self._frames(states, q, scheme_v if self._uses_scheme_velocity else w)
        table, rows = (
            int(counts.sum())
            for counts in (rows_of(self._model.constraints), interaction_table.rows_of(self._model.others))
        )
        # residuals of interactions with counted variables use the counts of the states
        if interaction_table.counted_variable_counts(self._model.others).any():
            g[:, g.shape[1] - rows :] = constraint_residual(self._model, frames)[:, table:]
        columns[POSITION] = np.abs(g).max(axis=1, initial=0.0)
        columns[RATE] = np.abs(mechanical_rows.rates(system, q, w, driven)).max(axis=1, initial=0.0)
        momenta = (momentum for momentum in system.symmetries if momentum.name in NAMES)
        columns |= {momentum.name: momentum(q, p) for momentum in momenta}
        table_multipliers = lam[:, system.info["places"].internal :][
            :, :table
        ]  # the multipliers of driven frames follow after these
        return ChartInvariants(
            columns, frames._replace(lam=np.hstack([table_multipliers, lam[:, m - rows :]]))
        )

    def _frames(self, states: State, q: Floats, rate: Floats) -> State:
        """Return the states with poses and velocities computed from coordinates q and rates `rate`, both (T, n).

        Fixed and driven frames are unchanged. Of the two quaternions of a pose, the one nearer to that of the state is used.
        """
        offsets, of_quaternions = self._system.info["places"], self._system.info["chart"] == "quaternion"
        r, quat, v, Omega = (x.copy() for x in (states.r, states.quat, states.v, states.Omega))
        for f, (at, to) in enumerate(zip(offsets.position, offsets.orientation, strict=True)):
            if f in self._driven:
                continue
            if at >= 0:
                r[:, f], v[:, f] = q[:, at : at + 3], rate[:, at : at + 3]
            if to < 0:
                continue
            orientation, orientation_rate = (x[:, to : to + offsets.size] for x in (q, rate))
            if of_quaternions:
                Omega[:, f] = (
                    2.0 * quaternions.multiply(quaternions.conjugate(orientation), orientation_rate)[:, 1:]
                )
            else:
                R, dR = (x.reshape(-1, 3, 3).transpose(0, 2, 1) for x in (orientation, orientation_rate))
                spin = np.einsum("tji,tjk->tik", R, dR)
                Omega[:, f] = 0.5 * (spin - spin.transpose(0, 2, 1))[:, (2, 0, 1), (1, 2, 0)]
                orientation = quaternions.from_matrix(R)
            orientation = quaternions.normalize(orientation)
            quat[:, f] = np.where(
                np.sum(orientation * quat[:, f], axis=1, keepdims=True) < 0.0, -orientation, orientation
            )
        return states._replace(r=r, quat=quat, v=v, Omega=Omega)


def chart_reader(result: ResultWithChart) -> ChartReader | None:
    """Return a reader of the charts of a result; None if its states have no chart, as those of `em`."""
    run = result.description.get("run", {})
    known = result.layout.n_chart and result.layout.system is not None and "chart" in run
    return ChartReader(result) if known else None
