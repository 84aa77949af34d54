"""Derivative of one step of `em` with respect to the state it starts from and to the numbers of what acts.

With R(y0, y1, v0; p) = 0 the equations of the step (`discretization.assembly.step_equations`), y poses, v velocities and Omega,
K1 their matrix at the solution and K0 the matrix assembled there for the step from the end with -h,

    K1 dy1 = -(A0 dy0 + B dv0 + dR/dp dp),   A0 = -K0 - B du/dy0,   B = -2 M  and  -(R0 + R1) J                        (1)
    dv1 = du - dv0,   u = (2 (r1 - r0)/h, 2 c/h),   c = R0^T psi,   dc = T(c)^-1 R0^T (eta1 - eta0)                     (2)

since all duals are symmetric in both ends and all that resists is odd (`rigid.interactions.blocks`): the equations of the step
backward are those forward, with the opposite sign and v1 = u - v0 given in the place of v0. Rows of constraints, g = 0 at the
end, do not know the start. Backward, (1) transposed, serves any number of parameters with one solution.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy  # its parts are loaded when they are asked for

from discretization.assembly.load_forces import put_signals
from discretization.assembly.numbering import number
from discretization.assembly.step_equations import assemble, begin_step, move
from discretization.assembly.workspace import Workspace, workspace
from discretization.groups import Acting, Role
from discretization.linear.sparse import sparse_lu
from discretization.own_variables import own_variables
from discretization.system import System
from rigid import quaternions
from rigid.errors import ModelError
from rigid.interactions.blocks import number_blocks, value_numbers
from rigid.system import Floats, State


class Change(NamedTuple):
    """Of a state, or the derivative of a quantity to one: n frames, zero for those that do not move."""

    r: Floats  # (n, 3)
    turn: Floats  # (n, 3) rad, spatial
    v: Floats  # (n, 3)
    Omega: Floats  # (n, 3) body-fixed, as in the state


class StepDerivative:
    """Of the step of length `h` that has led from the state `start` to `end`, under loads (loads, 3) at its middle.

    Raises ModelError for what equations (1) alone do not tell: prescribed motion, and own variables (angles counted through
    turns, branches that relax). `K1` and `K0` (N, N) are the matrices of (1).
    """

    def __init__(self, system: System, start: State, end: State, h: float, load_values: Floats | None = None):
        own = own_variables(system)
        if own.size or np.any(system.frames.fixed > 1):
            kept = [name for name, rows in zip(own._fields, own, strict=True) if rows] or ["drive"]
            raise ModelError(
                f"the model has own variables or prescribed motion ({', '.join(kept)}), of which derivatives of a step know "
                "nothing; take differences of runs"
            )
        self.system, self.h, self._start, self._end = system, h, start, end
        self._numbering = number(system, 0)
        self._work = workspace(system, self._numbering)
        loads = np.zeros((len(system.signals), 3)) if load_values is None else load_values
        put_signals(self._work, loads)
        step = quaternions.multiply(end.quat, quaternions.conjugate(start.quat))
        way = end.r - start.r, 2.0 * step[:, 1:] / step[:, :1]
        self.K0 = self._matrix(end, -h, tuple(-x for x in way))
        self.K1 = self._matrix(start, h, way)
        self._factors = sparse_lu(self.K1)
        self._moving = np.flatnonzero(system.frames.fixed == 0)
        self._place = self._numbering.frame[self._moving, None] + np.arange(6)  # of (r, turn)
        self._M = _masses(system)
        R0, R1 = (quaternions.to_matrix(state.quat) for state in (start, end))
        self._spin = (R0 + R1) @ system.frames.inertia
        c = np.einsum("kji,kj->ki", R0, way[1])
        self._C = 2.0 / h * _inverse_tangents(c) @ np.swapaxes(R0, 1, 2)

    @property
    def size(self) -> int:
        """Number of the equations."""
        return int(self._numbering.size)

    def forward(self, change: Change, residual: Floats | None = None) -> tuple[Change, Floats]:
        """What a change of the start, and one of the equations (`of_numbers`), make of the end: the state, and its `lam`."""
        turned = np.einsum("kij,kj->ki", self._C, change.turn)
        v, Omega = change.v + 2.0 / self.h * change.r, change.Omega + turned  # dv0 - du/dy0 dy0
        rhs = self.K0 @ self._packed(change.r, change.turn)
        rhs[self._constraint_rows()] = 0.0
        rhs += self._packed(2.0 * self._M @ v, np.einsum("kij,kj->ki", self._spin, Omega))
        if residual is not None:
            rhs -= residual
        found = self._factors.solve(rhs)
        r, turn = self._unpacked(found)
        own = Change(
            r,
            turn,
            2.0 / self.h * r - v,
            np.einsum("kij,kj->ki", self._C, turn) - Omega,
        )
        return self._at_rest_where_fixed(own), self._lam(found)

    def backward(self, gradient: Change) -> tuple[Change, Floats]:
        """From the derivatives of a quantity to the end those to the start, and the adjoint w (N,): to numbers they are
        w . residual, `residual` of `of_numbers`.
        """
        on_v, on_Omega = 2.0 / self.h * gradient.v, np.einsum("kji,kj->ki", self._C, gradient.Omega)
        w = -self._factors.solve(self._packed(gradient.r + on_v, gradient.turn + on_Omega), "T")
        force, moment = self._unpacked(w)
        v = -2.0 * self._M @ force - gradient.v  # B^T w - ...
        Omega = -np.einsum("kji,kj->ki", self._spin, moment) - gradient.Omega
        held = w.copy()
        held[self._constraint_rows()] = 0.0
        r, turn = self._unpacked(-(self.K0.T @ held))
        own = Change(
            r + 2.0 / self.h * v,
            turn + np.einsum("kji,kj->ki", self._C, Omega),
            v,
            Omega,
        )
        return self._at_rest_where_fixed(own), w

    def of_numbers(self, acting: Acting, numbers: Floats) -> Floats:
        """dR/dp dp (N,) of a change of the numbers (k, w) of a group of `discretization.groups.groups_of`."""
        own, h, out = acting.group, self.h, np.zeros(len(self._work.residual))
        rows, lam = own.kind.rows, 1.0 / h if acting.role is Role.DISSIPATION else 1.0
        each = self._end.lam[own.row[:, None] + np.arange(rows)] if rows else lam
        forces = np.einsum("kaiw,kw->kai", number_blocks(own, self._start, self._end, each), numbers)
        np.add.at(out, self._numbering.frame[own.frames][..., None] + np.arange(6), h * forces)
        if rows:
            g = np.einsum("kiw,kw->ki", value_numbers(own, self._end), numbers)
            at = self._numbering.row[acting.use][:, None] + np.arange(rows)
            np.add.at(out, at, self._work.scale[acting.use][:, None] * g)
        return out[: self.size]

    def _matrix(self, state: State, h: float, way: tuple[Any, ...]) -> scipy.sparse.csc_matrix:
        numbering, work = self._numbering, self._work
        begin_step(self.system, numbering, state, work, h)
        work.dr[:], work.psi[:] = way
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
        """Of the multipliers (m,)."""
        numbering, out = self._numbering, np.ones(len(self._end.lam))
        for c, rows in enumerate(numbering.rows):
            out[numbering.lam[c] : numbering.lam[c] + rows] = work.scale[c]
        return out

    def _constraint_rows(self) -> Any:
        numbering = self._numbering
        parts = [first + np.arange(k) for first, k in zip(numbering.row, numbering.rows, strict=True)]
        return np.concatenate([np.zeros(0, np.int64), *parts])

    def _lam(self, found: Floats) -> Floats:
        """`State.lam` of the unknowns."""
        numbering, out = self._numbering, np.zeros(len(self._end.lam))
        for c, rows in enumerate(numbering.rows):
            first, at = numbering.lam[c], numbering.row[c]
            out[first : first + rows] = self._work.scale[c] / self.h * found[at : at + rows]
        return out

    def _at_rest_where_fixed(self, own: Change) -> Change:
        moves = self.system.frames.fixed[:, None] == 0
        return Change(*(np.where(moves, array, 0.0) for array in own))

    def _packed(self, r: Floats, turn: Floats) -> Floats:
        out = np.zeros(self.size)
        out[self._place] = np.column_stack([r, turn])[self._moving]
        return out

    def _unpacked(self, x: Floats) -> tuple[Floats, Floats]:
        out = np.zeros((len(self.system.frames.mass), 6))
        out[self._moving] = x[self._place]
        return out[:, :3].copy(), out[:, 3:].copy()


def _masses(system: System) -> Floats:
    """M (n, n): masses, less what neighbours in a rod share."""
    M = np.diag(system.frames.mass)
    pairs, shared = system.rods.shared_masses
    a, b = pairs.T
    for i, j, sign in ((a, a, -1.0), (b, b, -1.0), (a, b, 1.0), (b, a, 1.0)):
        np.add.at(M, (i, j), sign * shared)
    return M


def _inverse_tangents(c: Floats) -> Floats:
    """T(c)^-1 = I - hat(c)/2 + c c^T/4 (k, 3, 3) of Cayley vectors (k, 3)."""
    hat = np.zeros((len(c), 3, 3))
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        hat[:, j, i], hat[:, i, j] = c[:, k], -c[:, k]
    return np.eye(3) - 0.5 * hat + 0.25 * c[:, :, None] * c[:, None, :]
