"""The linear equations of small motions about a state: M, C, G, K in the displacements and turns of its moving frames.

    M x'' + (C + Gyr) x' + K x + G^T dlam = B u,   G x = 0,   x = (dr, turn) of every moving frame            (1)

dr is inertial and the turn spatial; where everything rotates, both in axes that turn along (`inertia`). K has the
energies, the multipliers' lam . g, loads, dissipation of what spins, and the centrifugal terms:

    K = d/dx [forces of energies - loads + G^T lam + resistance] + centrifugal                                (2)

In equilibrium, with a potential, (2) is symmetric; away from it the torques that are left make half of a skew part, which
is taken out: the symmetric part is the Hessian along exp(turn).

States of interactions and branches that relax stand beside (1) with equations of first order, see `evolving` (2): what
has rested for long is what the equations are about.

Bodies without inertia about some axes, which nothing asks to turn about these, have rows of G that hold them there: a turn
that means nothing is no motion of the model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import scipy  # its parts are loaded when they are asked for

from discretization.groups import Acting, Role, constraints_of, energies_of, groups_of, loaded
from discretization.interaction_table import kinds_of_signals
from discretization.linear.one_thread import one_thread
from discretization.linear.sparse import sparse_lu
from discretization.linearisation import applied, inertia, tangents
from discretization.linearisation.evolving import Evolved, evolved
from discretization.linearisation.inertia import SteadyMotion
from discretization.linearisation.matrices import array, full, reading_as_sparse, sparse
from discretization.linearisation.steady import Names, later
from discretization.linearisation.tangents import Blocks, joined
from discretization.long_rest import goes_on, with_states_at_rest
from discretization.multipliers import multipliers_of
from discretization.redundancy import constraint_jacobian, count_repeated
from discretization.state_checks import OF_SYSTEMS, checked
from discretization.state_shapes import sizes_of, state_shapes
from discretization.system import System
from rigid import quaternions
from rigid.errors import ModelError
from rigid.interactions.loads import DEAD
from rigid.interactions.pressure import PRESSED_EDGE
from rigid.system import Floats, Ints, State

SMALL = 250  # unknowns up to which full matrices are sooner solved than sparse ones
SOFT = 1e-10  # of the mean mass: what dependent rows of joints give way
SKEW = 1e-9  # of the stiffness: less of it is symmetric but for rounding
UNCHANGED = 1e-7  # relative: coefficients that count as constant


class States(NamedTuple):
    """`evolving` (2) in the unknowns of (1): m states, x' + L x + Ly y + Lz y' = 0, with forces H x."""

    H: scipy.sparse.csr_matrix  # (6 k, m)
    L: Floats  # (m, m)
    Ly: scipy.sparse.csr_matrix  # (m, 6 k)
    Lz: scipy.sparse.csr_matrix  # (m, 6 k)
    branches: int  # how many, the last of them, are those of sections that relax

    @property
    def without_branches(self) -> States | None:
        """Those of interactions alone."""
        keep = slice(0, len(self.L) - self.branches)
        return (
            States(self.H[:, keep], self.L[keep, keep], self.Ly[keep], self.Lz[keep], 0)
            if keep.stop
            else None
        )


@reading_as_sparse("M", "C", "gyroscopic", "K", "G")
@dataclass(frozen=True, eq=False)
class Linearised:
    """Matrices of (1) about `state`, read as sparse ones, or by `full`; 6 unknowns a moving frame, in the order of `frames`."""

    M: scipy.sparse.csr_matrix  # kg, kg m, kg m^2
    C: scipy.sparse.csr_matrix  # damping, N s/m ...
    gyroscopic: scipy.sparse.csr_matrix  # skew-symmetric
    K: scipy.sparse.csr_matrix  # N/m ...
    G: scipy.sparse.csr_matrix  # (m, 6 k) rows of the joints, behind them those of idle axes
    lam: Floats  # (m,) multipliers that hold the state
    force: Floats  # (6 k,) what is left of the balance: zero in equilibrium
    frames: Ints  # (k,) moving frames
    place: Ints  # (n,) of each frame among them, -1: fixed
    unsymmetric: tuple[str, ...]  # why K is not symmetric; empty: it is
    system: System
    state: State
    motion: SteadyMotion
    loads: Floats  # (l, 3)
    repeated: int = 0  # rows of the joints that others imply
    states: States | None = None  # what follows equations of its own

    def full(self, name: str) -> Floats:
        """One of the matrices as an array, to be read alone."""
        return full(self, name)

    def given(self, name: str) -> Any:
        """One of the matrices as it was put together: full, sparse, or None: zero."""
        return vars(self)[name]

    def changed(self, **fields_of: Any) -> Linearised:
        """With other fields, as `dataclasses.replace`; the other matrices stay full or sparse as they are."""
        return Linearised(**({each.name: vars(self)[each.name] for each in fields(self)} | fields_of))

    @property
    def size(self) -> int:
        """Unknowns."""
        return 6 * len(self.frames)

    @property
    def free(self) -> int:
        """Freedoms: unknowns less the joints' rows, but for those that repeat others."""
        rows: int = self.given("G").shape[0]
        return self.size - rows + self.repeated

    @property
    def conservative(self) -> bool:
        """M x'' + K x = 0 with symmetric K: frequencies are those of a real symmetric problem."""
        return self.states is None and not (self.unsymmetric or self.has("C") or self.has("gyroscopic"))

    @property
    def symmetric_stiffness(self) -> Any:
        """The symmetric part of K, full or sparse."""
        K = self.given("K")
        return 0.5 * (K + K.T)

    def has(self, name: str) -> bool:
        """Whether one of the matrices has entries."""
        matrix = self.given(name)
        if matrix is None:
            return False
        return bool(np.any(matrix)) if isinstance(matrix, np.ndarray) else matrix.nnz > 0

    def of_frames(self, x: Floats) -> Floats:
        """x (..., 6 k) as (..., n, 6), zero of fixed frames."""
        out = np.zeros((*x.shape[:-1], len(self.place), 6), x.dtype)
        out[..., self.frames, :] = x.reshape(*x.shape[:-1], -1, 6)
        return out

    def below(self, g: Floats) -> Floats:
        """Residuals of the joints, with zeros of idle axes behind them: (m,)."""
        return np.append(g, np.zeros(self.G.shape[0] - len(g)))

    def rows(self, frame: int) -> slice:
        """Places of a moving frame's unknowns."""
        at = 6 * int(self.place[frame])
        return slice(at, at + 6)


def linearise(
    system: System,
    state: State,
    loads: Floats,
    motion: SteadyMotion,
    names: Names,
    idle: Mapping[int, Floats] = MappingProxyType({}),
) -> Linearised:
    """(1) about `state`, whose multipliers are found anew; loads (l, 3) at that time; idle: frame -> projection (3, 3) on its
    axes without inertia.
    """
    checked(state, state_shapes(sizes_of(system)), *OF_SYSTEMS)
    turning = without(system, idle)  # what its spin is worth
    frames = np.flatnonzero(system.frames.fixed == 0)
    place = np.full(len(system.frames.fixed), -1)
    place[frames] = np.arange(len(frames))
    use = (6 * frames[:, None] + np.arange(6)).ravel()
    system = loaded(system, loads)
    evolves, turns = goes_on(system), motion.turns
    state = with_determined_states(system, state) if evolves else state
    acting = groups_of(system, state)
    pushing = [own.group for own in acting if own.role in (Role.ENERGY, Role.WORK)]
    holding = [own.group for own in acting if own.role is Role.CONSTRAINT]
    resisting = [
        own.group for own in acting if own.role is Role.DISSIPATION and own.group.kind.evolves is None
    ]
    spins = turns and bool(np.any(motion.spin))
    changes = spins or not motion.ground
    # of small models full matrices are put together sooner than sparse ones
    small = len(use) <= SMALL and not changes

    def matrix(blocks: Blocks) -> Any:
        return blocks.full(place) if small else sparse(blocks.matrix(place))

    rest = tangents.placed([*pushing, *holding], state)
    force = rest.forces(np.zeros(len(state.lam))) - applied.weight(system)
    if turns:
        force += inertia.at_rest(turning, state, motion)
    resistance, C, circulating = tangents.damping(resisting, state, motion.spin)
    force += resistance
    own = evolved(acting, system, state) if evolves else None
    if own is not None:
        _check_still(motion)
        force += own.force
        C = joined([C, own.C])
    if small:
        joints = rest.jacobian(len(state.lam), place)
        G = np.vstack([joints, array(idle_rows(state, place, idle))]) if idle else joints
    else:
        joints = constraint_jacobian(system, state).tocsc()[:, use]
        G = scipy.sparse.vstack([joints, idle_rows(state, place, idle)], format="csc")
    M = matrix(inertia.mass(system, state, rest.R))
    repeated = count_repeated(system, state)
    lam = multipliers(filled(M), G, force.ravel()[use], repeated)
    forces_of_rest = rest.stiffness(lam[: joints.shape[0]])
    parts = [forces_of_rest] if own is None else [forces_of_rest, own.K]
    if turns:
        parts.append(inertia.centrifugal(turning, state, motion))
        _check_directions(system, loads, motion)
    if spins:
        parts.append(circulating)
    if changes:
        now = (forces_of_rest.matrix(place), M, joints, place)
        _check_constant(system, state, motion, names, now, idle)
    reasons = [f"load {k}" for k in applied.without_potential(system, loads)]
    if applied.open_edges(system):
        reasons.append("a pressure along an open rod")
    if spins and resisting:
        reasons.append("damping of what spins")
    K = matrix(joined(parts) if len(parts) > 1 else forces_of_rest)
    left = force.ravel()[use] + G.T @ lam
    reasons += _of_no_potential(acting, K, left)
    return Linearised(
        M=M,
        C=matrix(C) if len(C.values) else None,
        gyroscopic=matrix(inertia.gyroscopic(turning, state, motion)) if turns else None,
        K=K if reasons else 0.5 * (K + K.T),
        G=G if small else sparse(G),
        lam=lam,
        force=left,
        frames=frames,
        place=place,
        unsymmetric=tuple(reasons),
        system=system,
        state=state,
        motion=motion,
        loads=loads,
        repeated=repeated,
        states=None if own is None else _of_moving(own, use),
    )


def _check_still(motion: SteadyMotion) -> None:
    """Raise where what has states would have to know that it turns."""
    if motion.turns or np.any(motion.spin):
        raise ModelError(
            "linearise: states of interactions and sections that relax are taken about what stands still, not about a steady "
            "rotation; leave them out, or simulate it"
        )


def _of_moving(own: Evolved, use: Ints) -> States:
    return States(own.H[use], own.L, own.Ly[:, use], own.Lz[:, use], own.branches)


def _of_no_potential(acting: Sequence[Acting], K: Any, left: Floats) -> list[str]:
    """Names of kinds of a script that do work or have states, where the stiffness is not symmetric for all that in equilibrium
    it would be.
    """
    kinds = {own.group.kind.name: own.group.kind for own in acting if own.role is not Role.CONSTRAINT}
    names = [
        name
        for name, kind in kinds.items()
        if kind.evolves is not None or (kind.works and kind.signal < 0 and kind is not PRESSED_EDGE)
    ]
    if not names:
        return []
    skew = abs(K - K.T).max()
    return names if skew > SKEW * abs(K).max() + 2.0 * np.abs(left).max(initial=0.0) else []


def with_determined_states(system: System, state: State) -> State:
    """The state with what follows equations as it is at rest, but for states that are not determined there: as they are."""
    there = with_states_at_rest(system, state)
    own = np.where(np.isfinite(there.own), there.own, state.own)
    return there._replace(own=own)


def without(system: System, idle: Mapping[int, Floats]) -> System:
    """The system without the numbers that stand for inertia about idle axes."""
    J = system.frames.inertia.copy()
    for frame, axes in idle.items():
        J[frame] -= axes @ J[frame] @ axes
    return system._replace(frames=system.frames._replace(inertia=J)) if idle else system


def idle_rows(state: State, place: Ints, idle: Mapping[int, Floats]) -> scipy.sparse.csr_matrix:
    """Rows of G that hold idle axes."""
    size = 6 * (int(place.max()) + 1)
    rows = []
    for frame, axes in idle.items():
        moments, own = np.linalg.eigh(axes)
        held = quaternions.rotate(state.quat[frame], own.T[moments > 0.5])
        for axis in held:
            row = np.zeros(size)
            row[6 * place[frame] + 3 : 6 * place[frame] + 6] = axis
            rows.append(scipy.sparse.csr_matrix(row))
    return scipy.sparse.vstack(rows, format="csr") if rows else scipy.sparse.csr_matrix((0, size))


def _stiffness(system: System, state: State, lam: Floats) -> Blocks:
    """The part of (2) that does not know of the motion."""
    groups = [*energies_of(system, state), *constraints_of(system, state)]
    return tangents.placed(groups, state).stiffness(lam)


def filled(M: Any) -> Any:
    """M, full or sparse, with the mean of its diagonal where something has no mass: a measure of motions, of those too."""
    m = M.diagonal()
    if np.all(m > 0.0):
        return M
    mean = float(m[m > 0.0].mean()) if np.any(m > 0.0) else 1.0
    fill = np.where(m > 0.0, 0.0, mean)
    return (
        M + np.diag(fill)
        if isinstance(M, np.ndarray)
        else scipy.sparse.csr_matrix(M + scipy.sparse.diags(fill))
    )


def multipliers(M: Any, G: Any, force: Floats, repeated: int) -> Floats:
    """lam with  M a + force + G^T lam = 0,  G a = 0: none of the joints is left, what remains accelerates.

    M and G may be full or sparse. repeated: how many rows of G others imply; of the multipliers that do, these are the smallest.
    Rows that repeat others but for rounding leave the equations singular but for rounding: where it is known no solution of them
    is looked for.
    """
    if not G.shape[0] or not np.any(force):
        return np.zeros(G.shape[0])
    scale = float(M.diagonal().mean())
    solve = _solved_full if sum(G.shape) <= SMALL else _solved_sparse
    if not repeated:
        with suppress(np.linalg.LinAlgError, RuntimeError):
            return scale * solve(M, scale * G, force, 0.0)
    return scale * solve(M, scale * G, force, SOFT * scale)


def _solved_full(M: Any, G: Any, force: Floats, delta: float) -> Floats:
    """lam with  M a + force + G^T lam = 0,  G a = delta lam."""
    n, full = M.shape[0], np.zeros((sum(G.shape),) * 2)
    full[:n, :n], full[n:, :n] = array(M), array(G)
    full[:n, n:] = full[n:, :n].T
    np.fill_diagonal(full[n:, n:], -delta)
    with one_thread(len(full)):
        return np.linalg.solve(full, np.concatenate([-force, np.zeros(G.shape[0])]))[n:]


def _solved_sparse(M: Any, G: Any, force: Floats, delta: float) -> Floats:
    """The same of sparse matrices."""
    soft = -delta * scipy.sparse.identity(G.shape[0]) if delta else None
    saddle = scipy.sparse.bmat([[M, G.T], [G, soft]], format="csc")
    found = sparse_lu(saddle).solve(np.concatenate([-force, np.zeros(G.shape[0])]))
    return np.asarray(found[len(force) :])


def _check_directions(system: System, loads: Floats, motion: SteadyMotion) -> None:
    """Raise where weight or a dead load turns, seen from the axes."""
    kinds = kinds_of_signals(system.others)
    dead = [k for k, kind in enumerate(kinds) if any(kind is own for own in DEAD)]
    given = [("gravity", system.gravity), *((f"load {k}", loads[k]) for k in dead)]
    for what, F in given:
        if np.abs(np.cross(motion.W, F)).max() > 1e-9 * np.abs(motion.W).max() * np.abs(F).max():
            raise ModelError(
                f"linearise: {what} is not along the axis {motion.W} of the rotation, and turns in its axes; "
                "let a load follow its part, or leave gravity out"
            )


def _check_constant(
    system: System,
    state: State,
    motion: SteadyMotion,
    names: Names,
    now: tuple[scipy.sparse.csr_matrix, scipy.sparse.csr_matrix, scipy.sparse.csc_matrix, Ints],
    idle: Mapping[int, Floats],
) -> None:
    """Raise where stiffness, joints or forces change while the motion goes on."""
    K, M, G, place = now
    then = later(system, state, motion)
    use = (6 * np.flatnonzero(place >= 0)[:, None] + np.arange(6)).ravel()
    before, after = (
        (tangents.forces(energies_of(system, x), x, np.zeros(0)) - applied.weight(system)).ravel()[use]
        for x in (state, then)
    )
    rest = inertia.at_rest(without(system, idle), state, motion).ravel()[use]
    G1 = constraint_jacobian(system, then).tocsc()[:, use]
    G = scipy.sparse.vstack([G1, idle_rows(then, place, idle)], format="csc")
    lam = multipliers(M, G, after + rest, count_repeated(system, then))
    K1 = _stiffness(system, then, lam[: G1.shape[0]]).matrix(place)
    stiff = float(np.abs(K.data).max(initial=0.0))
    for what, change, size in (
        ("joints change", _turned_rows(system, G, G1), float(np.abs(G.data).max(initial=0.0))),
        ("forces change", np.abs(after - before), np.abs(before).max() + 1e-6 * stiff),
        (
            "stiffness changes",
            np.asarray(
                abs(scipy.sparse.csr_matrix(K1) - scipy.sparse.csr_matrix(K)).max(axis=1).todense()
            ).ravel(),
            stiff,
        ),
    ):
        row = int(np.argmax(change))
        if change[row] > UNCHANGED * size:
            raise ModelError(
                f"{names(int(np.flatnonzero(place >= 0)[row // 6]))}: its {what} while the motion goes on, so that the "
                "linear equations have no constant coefficients; give `spin=` of axes in which they have (fixed parts "
                "turn with them)"
            )


def _turned_rows(system: System, G: scipy.sparse.csc_matrix, G1: scipy.sparse.csc_matrix) -> Floats:
    """What of the rows of each joint, later, is no combination of its rows now: largest of each unknown."""
    held = multipliers_of(system)
    joint = held.joint[held.per_row]
    out = np.zeros(G.shape[1])
    G, G1 = scipy.sparse.csr_matrix(G), scipy.sparse.csr_matrix(G1)
    for j in np.unique(joint):
        now, then = G[joint == j], G1[joint == j]
        columns = np.unique(np.concatenate([now.indices, then.indices]))
        basis = np.linalg.qr(now[:, columns].toarray().T)[0]
        rows = then[:, columns].toarray()
        out[columns] = np.maximum(out[columns], np.abs(rows - rows @ basis @ basis.T).max(axis=0))
    return out
