"""Linearise internal states with equations of first order: states of interactions, relaxing (Maxwell) branches of rods.

Over a step the states x of an interaction satisfy r(y0, y1, x0, x1, h) = 0 and have a dual
(`rigid.interactions.kinds.InternalStateEquations`). With y -+ h z/2 and x -+ h w/2 at the ends of the step they are, to first
order and in short steps,

    E w + A x + Ay y + Az z = 0,    force + Fx x + Fw w + Fy y + Fz z                                         (1)

for the rates w = x', z = y', all computed by complex steps along both ends. Combinations of x without a rate in (1), null
vectors of E, are algebraic: they are eliminated here, and E of the other combinations is inverted, which leaves

    M y'' + C y' + K y + H x + G^T dlam = B u,    x' + L x + Ly y + Lz y' = 0                                 (2)

with the contributions of (1) to M, C and K. A branch at a point of a rod, with strain e = B y, stiffness C1, weight w and
relaxation time tau, is

    H = w B^T C1,    L = 1/tau,    Lz = -B                                                                    (3)

(`discretization.space.maxwell_branch` (1)). The equations are linearised about a fully relaxed model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy  # submodules are loaded on first access

from discretization.interaction_groups import InteractionGroup
from discretization.linearisation.inertia import SteadyMotion
from discretization.linearisation.tangents import StiffnessBlocks
from discretization.space import spans
from discretization.system import System
from rigid import quaternions
from rigid.compilation.decorators import address_of, allocating_kernel
from rigid.errors import ModelError
from rigid.interactions.kinds import COMPLEX_STEP, Group, dual_at, value_at
from rigid.system import Floats, Ints, State

SHORT = 1e-6  # length of the steps, s; the midpoint rule permits any
OBJECTIVE = 1e-6  # relative change of a force below which it does not depend on a common rotation
RANK = 1e-9  # singular values below this part of the largest one are zero


class LinearisedStates(NamedTuple):
    """Linearised equations (2) of m internal states, and their contributions to the equations of n frames."""

    H: Any  # (6 n, m) sparse
    L: Floats  # (m, m)
    Ly: Any  # (m, 6 n) sparse
    Lz: Any  # (m, 6 n) sparse
    K: StiffnessBlocks  # contribution to the stiffness
    C: StiffnessBlocks  # contribution to the damping
    M: StiffnessBlocks  # contribution to the mass
    force: Floats  # (n, 6) forces in the state
    branches: int  # number of states of branches, which are the last ones


class Slopes(NamedTuple):
    """Coefficients of (1) of one interaction with s states and a frames."""

    force: Floats  # (6 a,) forces in the state
    left: Floats  # (s,) residual r in the state
    E: Floats  # (s, s)
    A: Floats  # (s, s)
    Ay: Floats  # (s, 6 a)
    Az: Floats
    Fx: Floats  # (6 a, s)
    Fw: Floats  # (6 a, s)
    Fy: Floats  # (6 a, 6 a)
    Fz: Floats  # (6 a, 6 a)


@allocating_kernel
def _steps(address, y0, y1, X, lam, out):
    """Evaluate a dual function for k steps with poses y0, y1 (k, ...), internal states in lam (k, ...)."""
    function = dual_at(address)
    for k in range(lam.shape[0]):
        function(y0[k], y1[k], X, lam[k], out[k])


@allocating_kernel
def _values(address, y, X, out):
    """Evaluate a value function at k poses y (k, ...)."""
    function = value_at(address)
    for k in range(y.shape[0]):
        function(y[k], X, out[k])


def _poses(state: State, frames: Ints) -> tuple[Any, Any]:
    """Return poses (a, 4, 3) of frames relative to the position of the first, and rates (6 a, a, 4, 3) along their unknowns.

    The unknowns are displacements and rotations of the frames.
    """
    a = len(frames)
    y, z = np.zeros((a, 4, 3), complex), np.zeros((a, 6, a, 4, 3))
    y[:, 0] = state.r[frames] - state.r[frames[0]]
    y[:, 1:] = quaternions.to_matrix(state.quat[frames]).swapaxes(1, 2)
    for f in range(a):
        for j in range(3):
            z[f, j, f, 0, j] = 1.0
            z[f, 3 + j, f, 1:] = np.cross(np.eye(3)[j], y[f, 1:].real)
    return y, z.reshape(6 * a, a, 4, 3)


def slopes_of(group: Group, k: int, state: State) -> Slopes:
    """Return the coefficients of (1) of interaction k of a group with internal states, the last of its parameters."""
    state_equations, a, s = group.kind.state_equations, group.kind.arity, group.kind.n_internal
    assert state_equations is not None
    frames, X = group.frames[k], group.numbers[k]
    y, z = _poses(state, frames)
    step = 1j * COMPLEX_STEP
    n_changes = 1 + 12 * a + 2 * s
    y0, y1 = (np.broadcast_to(y, (n_changes, a, 4, 3)).copy() for _ in range(2))
    lam = np.zeros((n_changes, 1 + 2 * s), complex)
    first_state = len(X) - s
    lam[:, 0], lam[:, 1 : 1 + s], lam[:, 1 + s :] = SHORT, X[first_state:], X[first_state:]
    of_y, of_z = slice(1, 1 + 6 * a), slice(1 + 6 * a, 1 + 12 * a)
    of_x, of_w = np.arange(s) + 1 + 12 * a, np.arange(s) + 1 + 12 * a + s
    for ends, sign in ((y0, -0.5), (y1, 0.5)):
        ends[of_y] += step * z
        ends[of_z] += sign * SHORT * step * z
    for first, sign in ((1, -0.5), (1 + s, 0.5)):
        lam[of_x, first + np.arange(s)] += step
        lam[of_w, first + np.arange(s)] += sign * SHORT * step
    out = np.zeros((n_changes, a + 1, 4, 3), complex)
    _steps(address_of(state_equations.step), y0, y1, X, lam, out)
    f, r = out[:, :a], out[:, a].reshape(n_changes, 12)[:, :s]
    torque = np.cross(0.5 * (y0 + y1)[:, :, 1:], f[:, :, 1:]).sum(axis=2)
    force = np.concatenate([f[:, :, 0], torque], axis=2).reshape(n_changes, 6 * a)
    of_force, of_rows = force.imag.T / COMPLEX_STEP, r.imag.T / COMPLEX_STEP
    return Slopes(
        force[0].real,
        r[0].real,
        of_rows[:, of_w],
        of_rows[:, of_x],
        of_rows[:, of_y],
        of_rows[:, of_z],
        of_force[:, of_x],
        of_force[:, of_w],
        of_force[:, of_y],
        of_force[:, of_z],
    )


def undetermined_states(group: Group, k: int, state: State) -> Ints:
    """Return the indices of internal states of interaction k that rest does not determine: components in null vectors of A."""
    if not group.kind.n_internal:
        return np.zeros(0, np.int64)
    A = slopes_of(group, k, state).A
    _, sizes, directions = np.linalg.svd(A)
    free = directions[sizes <= RANK * max(float(sizes.max()), 1e-300)]
    return np.flatnonzero(np.abs(free).max(axis=0, initial=0.0) > 1e-6)


def check_states_rest(
    motion: SteadyMotion,
    interaction_groups: Sequence[InteractionGroup],
    system: System,
    state: State,
    names: Callable[[int], str],
) -> None:
    """Raise ModelError unless states of interactions and of relaxing rods are constant in a steady motion.

    They are if their frames rest in the rotating axes, and a common rotation of these changes neither forces nor rates of states.
    `names`: frame -> name, for messages.
    """
    if not motion.turns:
        return
    moves = np.any(motion.spin != 0.0, axis=1)
    if not motion.ground:
        moves |= system.frames.fixed != 0

    def check_frames(owner: str, frames: Ints) -> None:
        """Raise ModelError if one of the frames moves in the axes."""
        if np.any(moves[frames]):
            frame = int(frames[np.argmax(moves[frames])])
            raise ModelError(
                f"linearise: {owner} acts on {names(frame)}, which moves in axes that rotate with {motion.W} rad/s; they "
                "can be linearised only if their parts rest in the axes: give `spin=`, remove them, or use `add_bearing` for "
                "matrices of stiffness and damping"
            )

    for group in (interaction.group for interaction in interaction_groups):
        if group.kind.state_equations is None:
            continue
        for k, frames in enumerate(group.frames):
            what = "with internal states" if group.kind.n_internal else "that does work"
            check_frames(f"an interaction of kind '{group.kind.name}' {what}", frames)
            if not _is_objective(group, k, state, motion):
                raise ModelError(
                    f"linearise: the force of an interaction of kind '{group.kind.name}' changes if all its parts rotate with "
                    f"{motion.W} rad/s; a steady rotation needs laws of relative motions alone: remove it, or simulate the model"
                )
    if np.any(system.spans.relaxation > 0.0):
        for group in spans.strains_of(system.spans):
            check_frames("a section that relaxes", group.frames.ravel())


def _is_objective(group: Group, k: int, state: State, motion: SteadyMotion) -> bool:
    """Return whether a step at rest has the same dual and rows as one in which all frames of interaction k rotate together."""
    state_equations, frames, X = group.kind.state_equations, group.frames[k], group.numbers[k]
    assert state_equations is not None
    y, _ = _poses(state, frames)
    s, arms = group.kind.n_internal, state.r[frames] - motion.center
    ends = np.stack([y, y]).repeat(2, axis=0).reshape(2, 2, *y.shape)  # [start or end, at rest or rotating]
    for end, sign in ((0, -0.5), (1, 0.5)):
        rotation = quaternions.from_rotation_vector(sign * SHORT * motion.W)
        ends[end, 1, :, 0] += quaternions.rotate(rotation, arms) - arms
        ends[end, 1, :, 1:] = quaternions.rotate(rotation, y[:, 1:].real.reshape(-1, 3)).reshape(
            y[:, 1:].shape
        )
    lam = np.tile(np.concatenate([[SHORT], X[len(X) - s :], X[len(X) - s :]]), (2, 1)).astype(complex)
    out = np.zeros((2, len(frames) + 1, 4, 3), complex)
    _steps(address_of(state_equations.step), ends[0].copy(), ends[1].copy(), X, lam, out)
    return bool(np.abs(out[1] - out[0]).max() <= OBJECTIVE * np.abs(out).max())


class CondensedStates(NamedTuple):
    """Coefficients of (2) of one interaction, with dimensions as in `Slopes`."""

    H: Floats
    L: Floats
    Ly: Floats
    Lz: Floats
    K: Floats
    C: Floats
    M: Floats


def condense_states(of: Slopes, name: str) -> CondensedStates:
    """Reduce (1) to (2) by eliminating algebraic states; raise ModelError if no equation determines a state.

    `name`: name of the kind, for messages.
    """
    if not len(of.left):  # a force without states
        none = np.zeros((0, len(of.force)))
        return CondensedStates(none.T, of.E, none, none, of.Fy, of.Fz, np.zeros_like(of.Fz))
    U, sizes, V = np.linalg.svd(of.E)
    scale = float(max(sizes.max(initial=0.0), np.abs(of.A).max(initial=0.0)))
    differential = sizes > RANK * scale
    a, b = V[differential].T, V[~differential].T
    rows, at_once = U[:, differential].T, U[:, ~differential].T
    Fx, Fw, K, C = of.Fx, of.Fw, of.Fy, of.Fz
    algebraic = at_once @ of.A @ b
    if algebraic.size and np.linalg.cond(algebraic) > 1.0 / RANK:
        raise ModelError(
            f"interaction of kind '{name}': no row of `evolve` determines its states x1 at the end of a step; let as many "
            "rows depend on x1 as there are states"
        )
    # b = -algebraic^-1 (at_once A a + at_once Ay y + at_once Az z)
    inverse = np.linalg.inv(algebraic)
    ba, by, bz = (-inverse @ at_once @ part for part in (of.A @ a, of.Ay, of.Az))
    E = np.linalg.inv(rows @ of.E @ a)
    L = E @ rows @ of.A @ (a + b @ ba)
    Ly = E @ rows @ (of.Ay + of.A @ b @ by)
    Lz = E @ rows @ (of.Az + of.A @ b @ bz)
    H, K, C = Fx @ (a + b @ ba), K + Fx @ b @ by, C + Fx @ b @ bz + Fw @ b @ by
    M = Fw @ b @ bz  # of z' in the rates b' of algebraic states
    Fw = Fw @ (a + b @ ba)  # multiplies a' = -(L a + Ly y + Lz z)
    return CondensedStates(H - Fw @ L, L, Ly, Lz, K - Fw @ Ly, C - Fw @ Lz, M)


def linearise_states(
    interaction_groups: Sequence[InteractionGroup], system: System, state: State
) -> LinearisedStates:
    """Return (2) for all interactions in `interaction_groups` with internal states, and for relaxing rods."""
    n, at = len(state.r), 0
    rows: list[Floats] = [np.zeros((0, 6, 6))]
    K, C, M, pairs = list(rows), list(rows), list(rows), [np.zeros((2, 0), np.int64)]
    force, L = np.zeros((n, 6)), list[Floats]()
    to: dict[str, list[tuple[Floats, Ints, Ints]]] = {"H": [], "Ly": [], "Lz": []}

    def put(name: str, values: Floats, unknowns: Ints, first: int) -> None:
        """Add entries values (6 a, s) of unknowns `unknowns` and states from `first` on to the matrix `name`."""
        states = first + np.arange(values.shape[1])
        to[name].append((values.ravel(), np.repeat(unknowns, len(states)), np.tile(states, len(unknowns))))

    for group in (
        interaction.group
        for interaction in interaction_groups
        if interaction.group.kind.state_equations is not None
    ):
        for k, frames in enumerate(group.frames):
            of = slopes_of(group, k, state)
            condensed, arity = condense_states(of, group.kind.name), len(frames)
            unknowns = (6 * frames[:, None] + np.arange(6)).ravel()
            put("H", condensed.H, unknowns, at)
            put("Ly", condensed.Ly.T, unknowns, at)
            put("Lz", condensed.Lz.T, unknowns, at)
            pairs.append(np.stack([np.repeat(frames, arity), np.tile(frames, arity)]))
            for blocks, full in ((K, condensed.K), (C, condensed.C), (M, condensed.M)):
                parts = full.reshape(arity, 6, arity, 6).swapaxes(1, 2)
                blocks.append(parts.reshape(-1, 6, 6))
            np.add.at(force, frames, of.force.reshape(-1, 6))
            L.append(condensed.L)
            at += len(condensed.L)
    of_interactions = at
    for unknowns, B, C1, tau, weight in _branches(system, state):
        put("H", weight * B.T @ C1, unknowns, at)
        put("Lz", -B.T, unknowns, at)
        L.append(np.eye(6) / tau)
        at += 6

    def matrix(name: str) -> Any:
        """Return one of the matrices (6 n, m), sparse."""
        values, row_indices, column_indices = (
            np.concatenate([entry[i] for entry in to[name]] or [np.zeros(0)]) for i in range(3)
        )
        return scipy.sparse.csr_matrix(
            (values, (row_indices.astype(int), column_indices.astype(int))), shape=(6 * n, at)
        )

    a, b = np.concatenate(pairs, axis=1)
    return LinearisedStates(
        matrix("H"),
        scipy.linalg.block_diag(*L) if at else np.zeros((0, 0)),
        matrix("Ly").T.tocsr(),
        matrix("Lz").T.tocsr(),
        StiffnessBlocks(a, b, np.concatenate(K)),
        StiffnessBlocks(a, b, np.concatenate(C)),
        StiffnessBlocks(a, b, np.concatenate(M)),
        force,
        at - of_interactions,
    )


def _branches(system: System, state: State) -> list[tuple[Ints, Floats, Floats, float, float]]:
    """Return, for each branch, indices of its frames' unknowns, B (6, 6 a), C1 (6, 6), tau, s, and the weight of its point."""
    span_table, branches = system.spans, []
    if not np.any(span_table.relaxation > 0.0):
        return []
    for group in spans.strains_of(span_table):
        points = np.asarray(group.row)[:, None] // 6 + np.arange(group.kind.rows // 6)
        for k, frames in enumerate(group.frames):
            if not np.any(span_table.relaxation[points[k]] > 0.0):
                continue
            unknowns = (6 * frames[:, None] + np.arange(6)).ravel()
            y, z = _poses(state, frames)
            strains = np.zeros((len(z), group.kind.rows), complex)
            _values(address_of(group.kind.value), y + 1j * COMPLEX_STEP * z, group.numbers[k].copy(), strains)
            B = strains.imag.T.reshape(-1, 6, len(z)) / COMPLEX_STEP
            for g, point in enumerate(points[k]):
                if span_table.relaxation[point] > 0.0:
                    tau, weight = float(span_table.relaxation[point]), float(span_table.weight[point])
                    branches.append((unknowns, B[g], span_table.branch[point], tau, weight))
    return branches
