"""Compute derivatives of one step of `em` with respect to its initial state and to parameters of interactions.

Let R(y0, y1, v0; p) = 0 be the equations of the step (`discretization.assembly.step_equations`), y poses, v velocities and Omega,
K1 their matrix at the solution and K0 the matrix assembled there for the step from the end with -h. Then

    K1 dy1 = -(A0 dy0 + B dv0 + dR/dp dp),   A0 = -K0 - B du/dy0,   B = -2 M  and  -(R0 + R1) J                        (1)
    dv1 = du - dv0,   u = (2 (r1 - r0)/h, 2 c/h),   c = R0^T psi,   dc = T(c)^-1 R0^T (eta1 - eta0)                     (2)

since all duals are symmetric in both ends and all resistances are odd (`rigid.interactions.blocks`): the equations of the
backward step are those of the forward step, with the opposite sign and with v1 = u - v0 instead of v0. Rows of constraints, g = 0
at the end, do not depend on the start. The adjoint (`backward`), (1) transposed, needs one solution for any number of parameters.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy  # submodules are loaded on first access

from discretization.assembly.load_forces import write_load_values
from discretization.assembly.numbering import number_unknowns
from discretization.assembly.step_equations import assemble, begin_step, move
from discretization.assembly.workspace import Workspace, workspace
from discretization.interaction_groups import InteractionGroup, Role
from discretization.internal_variables import internal_variables
from discretization.linear.sparse import sparse_lu
from discretization.system import System
from rigid import quaternions
from rigid.errors import ModelError
from rigid.interactions.blocks import number_blocks, value_numbers
from rigid.system import Floats, State


class StateChange(NamedTuple):
    """Change of a state of n frames, or derivative of a quantity with respect to a state; zero for frames that do not move."""

    r: Floats  # (n, 3) positions, m
    rotation: Floats  # (n, 3) rotations, spatial, rad
    v: Floats  # (n, 3) velocities, m/s
    Omega: Floats  # (n, 3) angular velocities, body-fixed as in the state, rad/s


class StepDerivative:
    """Derivative of the step of length `h`, s, from `start` to `end`, with loads `load_values` (loads, 3) at its middle.

    Raises ModelError for models that (1) does not cover: with prescribed motion or internal variables (angles counted through
    whole revolutions, relaxing branches). `K1` and `K0` (N, N) are the matrices of (1).
    """

    def __init__(self, system: System, start: State, end: State, h: float, load_values: Floats | None = None):
        internal = internal_variables(system)
        if internal.size or np.any(system.frames.fixed > 1):
            names = [name for name, rows in zip(internal._fields, internal, strict=True) if rows] or ["drive"]
            raise ModelError(
                f"the model has internal variables or prescribed motion ({', '.join(names)}), which derivatives of a step do not "
                "support; take differences of runs"
            )
        self.system, self.h, self._start, self._end = system, h, start, end
        self._numbering = number_unknowns(system, 0)
        self._work = workspace(system, self._numbering)
        loads = np.zeros((len(system.signals), 3)) if load_values is None else load_values
        write_load_values(self._work, loads)
        step = quaternions.multiply(end.quat, quaternions.conjugate(start.quat))
        displacement = end.r - start.r, 2.0 * step[:, 1:] / step[:, :1]
        self.K0 = self._matrix(end, -h, tuple(-x for x in displacement))
        self.K1 = self._matrix(start, h, displacement)
        self._factors = sparse_lu(self.K1)
        self._moving = np.flatnonzero(system.frames.fixed == 0)
        self._place = self._numbering.frame[self._moving, None] + np.arange(6)  # unknowns (r, rotation)
        self._M = _masses(system)
        R0, R1 = (quaternions.to_matrix(state.quat) for state in (start, end))
        self._spin = (R0 + R1) @ system.frames.inertia
        c = np.einsum("kji,kj->ki", R0, displacement[1])
        self._C = 2.0 / h * _inverse_tangents(c) @ np.swapaxes(R0, 1, 2)

    @property
    def size(self) -> int:
        """Number of equations N."""
        return int(self._numbering.size)

    def forward(self, change: StateChange, residual: Floats | None = None) -> tuple[StateChange, Floats]:
        """Return the changes of the final state and of its multipliers `lam` (m,) due to a change of the initial state.

        `residual`: (N,) change of the equations as from `of_parameters`, by default zero.
        """
        angular = np.einsum("kij,kj->ki", self._C, change.rotation)
        v, Omega = change.v + 2.0 / self.h * change.r, change.Omega + angular  # dv0 - du/dy0 dy0
        rhs = self.K0 @ self._packed(change.r, change.rotation)
        rhs[self._constraint_rows()] = 0.0
        rhs += self._packed(2.0 * self._M @ v, np.einsum("kij,kj->ki", self._spin, Omega))
        if residual is not None:
            rhs -= residual
        unknowns = self._factors.solve(rhs)
        r, rotation = self._unpacked(unknowns)
        result = StateChange(
            r,
            rotation,
            2.0 / self.h * r - v,
            np.einsum("kij,kj->ki", self._C, rotation) - Omega,
        )
        return self._at_rest_where_fixed(result), self._lam(unknowns)

    def backward(self, gradient: StateChange) -> tuple[StateChange, Floats]:
        """Return the derivatives of a quantity with respect to the initial state, and the adjoint w (N,).

        `gradient`: derivatives of the quantity with respect to the final state. Derivatives with respect to parameters are
        w . residual, with `residual` from `of_parameters`.
        """
        on_v, on_Omega = 2.0 / self.h * gradient.v, np.einsum("kji,kj->ki", self._C, gradient.Omega)
        w = -self._factors.solve(self._packed(gradient.r + on_v, gradient.rotation + on_Omega), "T")
        force, moment = self._unpacked(w)
        v = -2.0 * self._M @ force - gradient.v  # B^T w - ...
        Omega = -np.einsum("kji,kj->ki", self._spin, moment) - gradient.Omega
        without_constraints = w.copy()
        without_constraints[self._constraint_rows()] = 0.0
        r, rotation = self._unpacked(-(self.K0.T @ without_constraints))
        result = StateChange(
            r + 2.0 / self.h * v,
            rotation + np.einsum("kji,kj->ki", self._C, Omega),
            v,
            Omega,
        )
        return self._at_rest_where_fixed(result), w

    def of_parameters(self, interaction: InteractionGroup, numbers: Floats) -> Floats:
        """Return dR/dp dp (N,) for a change `numbers` (k, w) of the parameters of a group of
        `discretization.interaction_groups`.
        """
        group, h, out = interaction.group, self.h, np.zeros(len(self._work.residual))
        rows, lam = group.kind.rows, 1.0 / h if interaction.role is Role.DISSIPATION else 1.0
        multipliers = self._end.lam[group.row[:, None] + np.arange(rows)] if rows else lam
        forces = np.einsum("kaiw,kw->kai", number_blocks(group, self._start, self._end, multipliers), numbers)
        np.add.at(out, self._numbering.frame[group.frames][..., None] + np.arange(6), h * forces)
        if rows:
            g = np.einsum("kiw,kw->ki", value_numbers(group, self._end), numbers)
            at = self._numbering.row[interaction.use][:, None] + np.arange(rows)
            np.add.at(out, at, self._work.scale[interaction.use][:, None] * g)
        return out[: self.size]

    def _matrix(self, state: State, h: float, displacement: tuple[Any, ...]) -> scipy.sparse.csc_matrix:
        """Return the matrix (N, N) of the step of length h from `state`; `displacement`: increments dr and psi."""
        numbering, work = self._numbering, self._work
        begin_step(self.system, numbering, state, work, h)
        work.dr[:], work.psi[:] = displacement
        work.lam[:] = h * self._end.lam / self._scales(work)
        move(self.system, state, work)
        if assemble(self.system, numbering, state, work, h, True) != 0:
            raise ModelError(
                f"no step of {abs(h):g} s leads from one state to the other; give those of one step"
            )
        values = work.values[: numbering.indptr[-1]].copy()
        return scipy.sparse.csc_matrix(
            (values, numbering.indices, numbering.indptr), shape=(self.size, self.size)
        )

    def _scales(self, work: Workspace) -> Floats:
        """Return the scales of the multipliers (m,)."""
        numbering, out = self._numbering, np.ones(len(self._end.lam))
        for c, rows in enumerate(numbering.rows):
            out[numbering.lam[c] : numbering.lam[c] + rows] = work.scale[c]
        return out

    def _constraint_rows(self) -> Any:
        """Return the indices of the equations g = 0."""
        numbering = self._numbering
        parts = [first + np.arange(k) for first, k in zip(numbering.row, numbering.rows, strict=True)]
        return np.concatenate([np.zeros(0, np.int64), *parts])

    def _lam(self, unknowns: Floats) -> Floats:
        """Return the change of `State.lam` (m,) for the unknowns `unknowns` (N,)."""
        numbering, out = self._numbering, np.zeros(len(self._end.lam))
        for c, rows in enumerate(numbering.rows):
            first, at = numbering.lam[c], numbering.row[c]
            out[first : first + rows] = self._work.scale[c] / self.h * unknowns[at : at + rows]
        return out

    def _at_rest_where_fixed(self, change: StateChange) -> StateChange:
        """Return the change with zeros for frames that do not move."""
        moves = self.system.frames.fixed[:, None] == 0
        return StateChange(*(np.where(moves, array, 0.0) for array in change))

    def _packed(self, r: Floats, rotation: Floats) -> Floats:
        """Return r and rotation (n, 3) of moving frames as unknowns (N,)."""
        out = np.zeros(self.size)
        out[self._place] = np.column_stack([r, rotation])[self._moving]
        return out

    def _unpacked(self, x: Floats) -> tuple[Floats, Floats]:
        """Return r and rotation (n, 3) from unknowns (N,), zero for frames that do not move."""
        out = np.zeros((len(self.system.frames.mass), 6))
        out[self._moving] = x[self._place]
        return out[:, :3].copy(), out[:, 3:].copy()


def _masses(system: System) -> Floats:
    """Return the mass matrix M (n, n), kg: masses of the frames with the shared masses of neighbours in rods."""
    M = np.diag(system.frames.mass)
    pairs, shared = system.rods.shared_masses
    a, b = pairs.T
    for i, j, sign in ((a, a, -1.0), (b, b, -1.0), (a, b, 1.0), (b, a, 1.0)):
        np.add.at(M, (i, j), sign * shared)
    return M


def _inverse_tangents(c: Floats) -> Floats:
    """Return T(c)^-1 = I - hat(c)/2 + c c^T/4 (k, 3, 3) for Cayley vectors c (k, 3)."""
    hat = np.zeros((len(c), 3, 3))
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        hat[:, j, i], hat[:, i, j] = c[:, k], -c[:, k]
    return np.eye(3) - 0.5 * hat + 0.25 * c[:, :, None] * c[:, None, :]
