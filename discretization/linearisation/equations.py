"""Linearise the equations of motion about a state: M, C, G, K in displacements and rotations of its moving frames.

    M x'' + (C + Gyr) x' + K x + G^T dlam = B u,   G x = 0,   x = (dr, eta) of every moving frame            (1)

dr is in inertial axes and the rotation eta is spatial; if everything rotates, both are in co-rotating axes (`inertia`).
K includes energies, constraints times multipliers lam . g, loads, dissipation between spinning frames, and centrifugal terms:

    K = d/dx [forces of energies - loads + G^T lam + resistance] + centrifugal                                (2)

In equilibrium, with a potential, (2) is symmetric. Away from equilibrium half the residual torques appear as a skew part, which
is removed: the symmetric part is the Hessian along exp(eta).

Internal states of interactions and relaxing (Maxwell) branches add first-order equations to (1), see `evolving_interactions`
(2). The equations are linearised about a fully relaxed model.

Bodies without inertia about some axes, and without forces or joints that rotate them about these, get rows of G that fix these
rotations: a rotation without effect is not a motion of the model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import scipy  # submodules are loaded on first access

from discretization.interaction_groups import (
    InteractionGroup,
    Role,
    constraints_of,
    energies_of,
    groups_of,
    with_load_values,
)
from discretization.interaction_table import kinds_of_signals
from discretization.linear.blas_threads import one_thread
from discretization.linear.sparse import sparse_lu
from discretization.linearisation import inertia, load_stiffness, tangents
from discretization.linearisation.inertia import SteadyMotion
from discretization.linearisation.internal_states import LinearisedStates, check_states_rest, linearise_states
from discretization.linearisation.matrices import array, full, sparse, sparse_fields
from discretization.linearisation.steady_rotation import Names, rotated_state
from discretization.linearisation.tangents import StiffnessBlocks, joined
from discretization.multipliers import multipliers_of
from discretization.redundancy import constraint_jacobian, count_redundant
from discretization.relaxed_system import has_evolution_equations, with_stationary_states
from discretization.state_checks import OF_SYSTEMS, check_arrays
from discretization.state_shapes import sizes_of, state_shapes
from discretization.system import System
from rigid import quaternions
from rigid.errors import ModelError
from rigid.interactions.loads import FORCES, MOMENTS
from rigid.interactions.pressure import PRESSED_EDGE
from rigid.system import Floats, Ints, State

SMALL = 250  # largest number of unknowns for which full matrices are faster than sparse ones
SOFT = 1e-10  # compliance of dependent joint rows, relative to the mean mass
SKEW = 1e-9  # skew part below which a stiffness is symmetric up to rounding, relative
UNCHANGED = 1e-7  # relative change up to which coefficients are taken as constant


class InternalStates(NamedTuple):
    """Internal states of `evolving_interactions` (2) in the unknowns of (1): m states, x' + L x + Ly y + Lz y' = 0, with forces
    H x.
    """

    H: scipy.sparse.csr_matrix  # (6 k, m)
    L: Floats  # (m, m)
    Ly: scipy.sparse.csr_matrix  # (m, 6 k)
    Lz: scipy.sparse.csr_matrix  # (m, 6 k)
    branches: int  # number of states, the last ones, that belong to sections that relax

    @property
    def without_branches(self) -> InternalStates | None:
        """The states of interactions alone, without those of relaxing sections; None if there are none."""
        keep = slice(0, len(self.L) - self.branches)
        return (
            InternalStates(self.H[:, keep], self.L[keep, keep], self.Ly[keep], self.Lz[keep], 0)
            if keep.stop
            else None
        )


@sparse_fields("M", "C", "gyroscopic", "K", "G")
@dataclass(frozen=True, eq=False)
class Linearised:
    """Matrices of (1) about `state`: 6 unknowns for each moving frame, in the order of `frames`.

    The fields M, C, gyroscopic, K and G read as sparse matrices; `full` returns them as arrays.
    """

    M: scipy.sparse.csr_matrix  # mass, kg, kg m, kg m^2
    C: scipy.sparse.csr_matrix  # damping, N s/m ...
    gyroscopic: scipy.sparse.csr_matrix  # gyroscopic, skew-symmetric, N s/m ...
    K: scipy.sparse.csr_matrix  # stiffness, N/m ...
    G: scipy.sparse.csr_matrix  # (m, 6 k) rows of the joints, then rows of axes without inertia
    lam: Floats  # (m,) multipliers that balance the forces in the state
    force: Floats  # (6 k,) residual of the balance: zero in equilibrium
    frames: Ints  # (k,) indices of moving frames
    place: Ints  # (n,) index of each frame among the moving ones, -1 if fixed
    unsymmetric: tuple[str, ...]  # reasons why K is not symmetric; empty if it is
    system: System
    state: State
    motion: SteadyMotion
    loads: Floats  # (l, 3) values of the loads
    repeated: int = 0  # number of joint rows that are implied by others
    states: InternalStates | None = None  # internal states with equations of first order

    def full(self, name: str) -> Floats:
        """Return one of the matrices as an array, which must not be changed."""
        return full(self, name)

    def stored(self, name: str) -> Any:
        """Return one of the matrices as it was assembled: full, sparse, or None if it is zero."""
        return vars(self)[name]

    def changed(self, **fields_of: Any) -> Linearised:
        """Return a copy with other fields, as `dataclasses.replace`; the other matrices stay full or sparse."""
        return Linearised(**({field.name: vars(self)[field.name] for field in fields(self)} | fields_of))

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return 6 * len(self.frames)

    @property
    def free(self) -> int:
        """Number of degrees of freedom: unknowns less independent rows of G."""
        rows: int = self.stored("G").shape[0]
        return self.size - rows + self.repeated

    @property
    def conservative(self) -> bool:
        """True if the equations are M x'' + K x = 0 with symmetric K, a real symmetric eigenproblem."""
        return self.states is None and not (self.unsymmetric or self.has("C") or self.has("gyroscopic"))

    @property
    def symmetric_stiffness(self) -> Any:
        """Symmetric part of K, full or sparse."""
        K = self.stored("K")
        return 0.5 * (K + K.T)

    def has(self, name: str) -> bool:
        """Return True if one of the matrices is not zero."""
        matrix = self.stored(name)
        if matrix is None:
            return False
        return bool(np.any(matrix)) if isinstance(matrix, np.ndarray) else matrix.nnz > 0

    def of_frames(self, x: Floats) -> Floats:
        """Return unknowns x (..., 6 k) as (..., n, 6), with zeros for fixed frames."""
        out = np.zeros((*x.shape[:-1], len(self.place), 6), x.dtype)
        out[..., self.frames, :] = x.reshape(*x.shape[:-1], -1, 6)
        return out

    def below(self, g: Floats) -> Floats:
        """Return the residuals g of the joints with zeros appended for axes without inertia, (m,)."""
        return np.append(g, np.zeros(self.G.shape[0] - len(g)))

    def rows(self, frame: int) -> slice:
        """Return the slice of the unknowns of a moving frame."""
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
    """Return the matrices of (1) about `state`, whose multipliers are computed again.

    `loads`: (l, 3) values of the loads at that time; `motion`: steady motion that the state is part of; `names`: frame -> name,
    for messages; `idle`: frame -> projection (3, 3) on its axes without inertia.
    """
    check_arrays(state, state_shapes(sizes_of(system)), *OF_SYSTEMS)
    true_inertia_system = without_fictitious_inertia(system, idle)  # for terms of the spin
    frames = np.flatnonzero(system.frames.fixed == 0)
    place = np.full(len(system.frames.fixed), -1)
    place[frames] = np.arange(len(frames))
    use = (6 * frames[:, None] + np.arange(6)).ravel()
    system = with_load_values(system, loads)
    evolves, turns = has_evolution_equations(system), motion.turns
    state = with_determined_states(system, state) if evolves else state
    interaction_groups = groups_of(system, state)
    force_groups = [
        interaction.group
        for interaction in interaction_groups
        if interaction.role in (Role.ENERGY, Role.WORK)
    ]
    constraint_groups = [
        interaction.group for interaction in interaction_groups if interaction.role is Role.CONSTRAINT
    ]
    dissipation_groups = [
        interaction.group
        for interaction in interaction_groups
        if interaction.role is Role.DISSIPATION and interaction.group.kind.state_equations is None
    ]
    spins = turns and bool(np.any(motion.spin))
    changes = spins or not motion.ground
    # full matrices of small models are assembled faster than sparse ones
    small = len(use) <= SMALL and not changes

    def matrix(blocks: StiffnessBlocks) -> Any:
        """Return the blocks as a matrix of moving frames, full if the model is small."""
        return blocks.full(place) if small else sparse(blocks.matrix(place))

    posed = tangents.groups_at_state([*force_groups, *constraint_groups], state)
    force = posed.forces(np.zeros(len(state.lam))) - load_stiffness.weight(system)
    if turns:
        force += inertia.steady_inertia_forces(true_inertia_system, state, motion)
    resistance, C, circulating = tangents.damping(dissipation_groups, state, motion.spin)
    force += resistance
    internal = None
    if evolves:
        check_states_rest(motion, interaction_groups, system, state, names)
        internal = linearise_states(interaction_groups, system, state)
        force += internal.force
        C = joined([C, internal.C])
    if small:
        joints = posed.jacobian(len(state.lam), place)
        G = np.vstack([joints, array(massless_axis_rows(state, place, idle))]) if idle else joints
    else:
        joints = constraint_jacobian(system, state).tocsc()[:, use]
        G = scipy.sparse.vstack([joints, massless_axis_rows(state, place, idle)], format="csc")
    mass = inertia.mass(system, state, posed.R)
    M = matrix(mass if internal is None else joined([mass, internal.M]))
    repeated = count_redundant(system, state)
    lam = multipliers(fill_zero_diagonal(M), G, force.ravel()[use], repeated)
    posed_stiffness = posed.stiffness(lam[: joints.shape[0]])
    parts = [posed_stiffness] if internal is None else [posed_stiffness, internal.K]
    if turns:
        parts.append(inertia.centrifugal(true_inertia_system, state, motion))
        _check_directions(system, loads, motion)
    if spins:
        parts.append(circulating)
    if changes:
        at_start = (posed_stiffness.matrix(place), M, joints, place)
        _check_constant(system, state, motion, names, at_start, idle)
    reasons = [f"load {k}" for k in load_stiffness.loads_without_potential(system, loads)]
    if load_stiffness.has_open_pressure_edges(system):
        reasons.append("a pressure along an open rod")
    if spins and dissipation_groups:
        reasons.append("damping of what spins")
    K = matrix(joined(parts) if len(parts) > 1 else posed_stiffness)
    residual = force.ravel()[use] + G.T @ lam
    reasons += _kinds_without_potential(interaction_groups, K, residual)
    return Linearised(
        M=M,
        C=matrix(C) if len(C.values) else None,
        gyroscopic=matrix(inertia.gyroscopic(true_inertia_system, state, motion)) if turns else None,
        K=K if reasons else 0.5 * (K + K.T),
        G=G if small else sparse(G),
        lam=lam,
        force=residual,
        frames=frames,
        place=place,
        unsymmetric=tuple(reasons),
        system=system,
        state=state,
        motion=motion,
        loads=loads,
        repeated=repeated,
        states=None if internal is None else _states_of_moving_frames(internal, use),
    )


def _states_of_moving_frames(internal: LinearisedStates, use: Ints) -> InternalStates:
    """Return the internal states in the unknowns `use` of moving frames."""
    return InternalStates(
        internal.H[use], internal.L, internal.Ly[:, use], internal.Lz[:, use], internal.branches
    )


def _kinds_without_potential(
    interaction_groups: Sequence[InteractionGroup], K: Any, residual: Floats
) -> list[str]:
    """Return the names of user-defined kinds that do work or have internal states, if K is too unsymmetric.

    Away from equilibrium the residual forces `residual` alone cause a skew part. An empty list means that K is not more
    unsymmetric than these explain.
    """
    kinds = {
        interaction.group.kind.name: interaction.group.kind
        for interaction in interaction_groups
        if interaction.role is not Role.CONSTRAINT
    }
    names = [
        name
        for name, kind in kinds.items()
        if kind.state_equations is not None or (kind.works and kind.signal < 0 and kind is not PRESSED_EDGE)
    ]
    if not names:
        return []
    skew = abs(K - K.T).max()
    return names if skew > SKEW * abs(K).max() + 2.0 * np.abs(residual).max(initial=0.0) else []


def with_determined_states(system: System, state: State) -> State:
    """Return the state with internal states at their equilibrium values; those that rest does not determine are unchanged."""
    determined = with_stationary_states(system, state)
    internal = np.where(np.isfinite(determined.internal), determined.internal, state.internal)
    return determined._replace(internal=internal)


def without_fictitious_inertia(system: System, idle: Mapping[int, Floats]) -> System:
    """Return the system without the fictitious inertia about axes without inertia (`idle`)."""
    J = system.frames.inertia.copy()
    for frame, axes in idle.items():
        J[frame] -= axes @ J[frame] @ axes
    return system._replace(frames=system.frames._replace(inertia=J)) if idle else system


def massless_axis_rows(state: State, place: Ints, idle: Mapping[int, Floats]) -> scipy.sparse.csr_matrix:
    """Return the rows of G, (rows, 6 k), that fix rotations about axes without inertia (`idle`)."""
    size = 6 * (int(place.max()) + 1)
    rows = []
    for frame, axes in idle.items():
        moments, directions = np.linalg.eigh(axes)
        fixed_axes = quaternions.rotate(state.quat[frame], directions.T[moments > 0.5])
        for axis in fixed_axes:
            row = np.zeros(size)
            row[6 * place[frame] + 3 : 6 * place[frame] + 6] = axis
            rows.append(scipy.sparse.csr_matrix(row))
    return scipy.sparse.vstack(rows, format="csr") if rows else scipy.sparse.csr_matrix((0, size))


def _stiffness(system: System, state: State, lam: Floats) -> StiffnessBlocks:
    """Return the stiffness of energies and constraints, the part of (2) that does not depend on the motion."""
    groups = [*energies_of(system, state), *constraints_of(system, state)]
    return tangents.groups_at_state(groups, state).stiffness(lam)


def fill_zero_diagonal(M: Any) -> Any:
    """Return M, full or sparse, with zeros of the diagonal replaced by its mean, so that it is a norm of all motions."""
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
    """Return lam (m,) with  M a + force + G^T lam = 0,  G a = 0: residual forces that joints cannot balance accelerate frames.

    M and G may be full or sparse. `repeated`: number of rows of G that are implied by others. With such rows the multipliers are
    not unique, and the smallest ones are returned. Rows that are dependent up to rounding leave the equations singular up to
    rounding: if `repeated` is not zero, these equations are not solved, but regularised ones.
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
    """Return lam (m,) with  M a + force + G^T lam = 0,  G a = delta lam, by full matrices."""
    n, full = M.shape[0], np.zeros((sum(G.shape),) * 2)
    full[:n, :n], full[n:, :n] = array(M), array(G)
    full[:n, n:] = full[n:, :n].T
    np.fill_diagonal(full[n:, n:], -delta)
    with one_thread(len(full)):
        return np.linalg.solve(full, np.concatenate([-force, np.zeros(G.shape[0])]))[n:]


def _solved_sparse(M: Any, G: Any, force: Floats, delta: float) -> Floats:
    """Return lam (m,) with  M a + force + G^T lam = 0,  G a = delta lam, by sparse matrices."""
    soft = -delta * scipy.sparse.identity(G.shape[0]) if delta else None
    saddle = scipy.sparse.bmat([[M, G.T], [G, soft]], format="csc")
    solution = sparse_lu(saddle).solve(np.concatenate([-force, np.zeros(G.shape[0])]))
    return np.asarray(solution[len(force) :])


def _check_directions(system: System, loads: Floats, motion: SteadyMotion) -> None:
    """Raise ModelError if gravity or a dead load rotates as seen from the axes of the motion."""
    kinds = kinds_of_signals(system.others)
    dead = [k for k, kind in enumerate(kinds) if kind.loop in (FORCES, MOMENTS)]
    vectors = [("gravity", system.gravity), *((f"load {k}", loads[k]) for k in dead)]
    for what, F in vectors:
        if np.abs(np.cross(motion.W, F)).max() > 1e-9 * np.abs(motion.W).max() * np.abs(F).max():
            raise ModelError(
                f"linearise: {what} is not along the axis {motion.W} of the rotation, so it rotates relative to its axes; "
                "let a load follow its part, or set gravity to zero"
            )


def _check_constant(
    system: System,
    state: State,
    motion: SteadyMotion,
    names: Names,
    matrices: tuple[scipy.sparse.csr_matrix, scipy.sparse.csr_matrix, scipy.sparse.csc_matrix, Ints],
    idle: Mapping[int, Floats],
) -> None:
    """Raise ModelError if stiffness, joints or forces change in the course of the motion."""
    K, M, G, place = matrices
    later = rotated_state(system, state, motion)
    use = (6 * np.flatnonzero(place >= 0)[:, None] + np.arange(6)).ravel()
    before, after = (
        (tangents.forces(energies_of(system, x), x, np.zeros(0)) - load_stiffness.weight(system)).ravel()[use]
        for x in (state, later)
    )
    inertia_forces = inertia.steady_inertia_forces(
        without_fictitious_inertia(system, idle), state, motion
    ).ravel()[use]
    G1 = constraint_jacobian(system, later).tocsc()[:, use]
    G = scipy.sparse.vstack([G1, massless_axis_rows(later, place, idle)], format="csc")
    lam = multipliers(M, G, after + inertia_forces, count_redundant(system, later))
    K1 = _stiffness(system, later, lam[: G1.shape[0]]).matrix(place)
    stiff = float(np.abs(K.data).max(initial=0.0))
    for what, change, size in (
        ("joints change", _changed_rows(system, G, G1), float(np.abs(G.data).max(initial=0.0))),
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
                f"{names(int(np.flatnonzero(place >= 0)[row // 6]))}: its {what} during the motion, so that the "
                "linear equations have no constant coefficients; give `spin=` of axes in which these are constant (fixed "
                "parts rotate with the axes)"
            )


def _changed_rows(system: System, G: scipy.sparse.csc_matrix, G1: scipy.sparse.csc_matrix) -> Floats:
    """Return, for each unknown, the largest part of later joint rows G1 that is not a combination of the joint's rows G now."""
    table = multipliers_of(system)
    joint = table.joint[table.per_row]
    out = np.zeros(G.shape[1])
    G, G1 = scipy.sparse.csr_matrix(G), scipy.sparse.csr_matrix(G1)
    for j in np.unique(joint):
        initial, later = G[joint == j], G1[joint == j]
        columns = np.unique(np.concatenate([initial.indices, later.indices]))
        basis = np.linalg.qr(initial[:, columns].toarray().T)[0]
        rows = later[:, columns].toarray()
        out[columns] = np.maximum(out[columns], np.abs(rows - rows @ basis @ basis.T).max(axis=0))
    return out
