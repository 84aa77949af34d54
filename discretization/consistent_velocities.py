"""Compute consistent initial velocities: keep prescribed ones as far as the joints allow, derive the others.

Every frame has two quantities, the velocity of one of its points and its angular velocity. Each is held (prescribed by the
user) or free (unspecified). With G w + g' = 0 the joints' equations of the velocities w (g': rates of drives), three rules
hold, the first before the second, the second before the third:

1.  Held quantities change only if no free ones exist with which they satisfy the joints. Then they change least in the
    kinetic metric:  minimise d_h . M_h d_h/2.
2.  A part with unspecified velocities stays at rest if its joints to parts with prescribed velocities allow that. Otherwise
    it moves as if it were fixed to the parts that move it: the motions across joints, of part b relative to part a,

        dv = v_b - v_a - (omega_a + omega_b)/2 x (r_b - r_a),   l d_omega = l (omega_b - omega_a),   l: size of the model  (1)

    are least in the mean square. The frames of a rod with unspecified velocities move as one rigid body with six
    velocities; those of a rod with a prescribed angular velocity have a common translation.
3.  If rods cannot follow as rigid bodies (both ends are moved apart), their frames change with the least kinetic energy.

Rules 2 and 3 change only free quantities. With their increments y and the rows E of (1),

    [P  E^T  G^T ] [y ]   [         0          ]
    [E  -1       ] [..] = [   -E w             ]      P: a small part of the mass, for components without prescribed motion  (2)
    [G      -soft] [mu]   [-(G w + g') - soft mu]

where `soft` regularises rows that are redundant or that contain no free quantity. It has no effect on the result once mu has
converged. If the joints are not satisfied then, rule 1 needs all quantities. A small weight eps on the free ones allows the
use of one matrix, and the iteration removes the effect of the weight:

    [S M  G^T] [step]   [-M_h d_h (held), 0 (free)]
    [G    0  ] [mu  ] = [     -(G (w + d) + g')   ]    S = 1 (held), eps (free);   d + step is the next d                (3)

At its fixed point M_h d_h + G_h^T mu = 0 and G_f^T mu = 0: that is rule 1, exactly. Then the free quantities are computed
again by rules 2 and 3.

If the held velocity belongs to another point than the centre of mass and the angular velocity is free, or vice versa, the
metric is that of the two separate quantities: m of the point, J about the centre.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy  # submodules are loaded lazily
from numpy.typing import NDArray

from discretization.characteristic_length import extent
from discretization.components import components
from discretization.drives import count_drives
from discretization.linear.blas_threads import one_thread
from discretization.linear.sparse import sparse_lu
from discretization.multipliers import multipliers_of
from discretization.redundancy import constraint_jacobian
from discretization.state_measures import velocity_residual
from discretization.system import System
from rigid import quaternions
from rigid.errors import ModelError
from rigid.system import Floats, Ints, State

WEIGHT = 1e-6  # eps of (3), relative to the lightest held mass over the heaviest free one
SOFT = 1e-8  # softness of redundant rows, relative to the diagonal of G M^-1 G^T
ITERATIONS = 50
SMALL = 250  # number of unknowns and rows of (3) up to which dense matrices are faster than sparse ones
LIGHT, _LEAST = 1e-6, 1e-6  # P of (2) over the mass; smallest diagonal mass in P over the largest mass
LEVER = 1e-13  # relative to the model's coordinates: shorter levers in rows are rounding
ROUNDING = 1e-14  # rounding of the sum, relative to the terms of a row of G w + g'
REST_TOLERANCE = 1e-10  # relative to the terms of rows: a joint with smaller rates lets its part rest


class PrescribedVelocities(NamedTuple):
    """Initial velocities of the frames that the user prescribed."""

    v: NDArray[np.bool_]  # (n,) whether the velocity of the point `point` is prescribed
    Omega: NDArray[np.bool_]  # (n,) whether the angular velocity is prescribed
    point: Floats  # (n, 3) points, m, relative to the frame's origin, inertial axes
    together: tuple[Ints, ...] = ()  # frames of each rod whose velocity is unspecified


def prescribe_all_velocities(system: System) -> PrescribedVelocities:
    """Return a `PrescribedVelocities` that prescribes all velocities of all frames."""
    n = len(system.frames.mass)
    return PrescribedVelocities(np.ones(n, bool), np.ones(n, bool), np.zeros((n, 3)))


def project_velocities(
    system: System, state: State, prescribed: PrescribedVelocities | None = None
) -> tuple[State, float]:
    """Change the velocities of a state so that they satisfy all joints, by the rules of this module.

    Parameters
    ----------
    system : System
    state : State
        Its velocities are the prescribed ones, and initial guesses of the unspecified ones.
    prescribed : PrescribedVelocities, optional
        Velocities that the user prescribed. By default all.

    Returns
    -------
    State
        The state with changed `v` and `Omega`.
    float
        Largest change of a held quantity, m/s or rad/s.

    Raises
    ------
    ModelError
        If joints that are not marked as redundant fix the same motion.
    """
    at_rest = not (state.v.any() or state.Omega.any() or count_drives(system))
    if at_rest or not len(state.lam) or np.abs(velocity_residual(system, state)).max() == 0.0:
        return state, 0.0
    prescribed = prescribe_all_velocities(system) if prescribed is None else prescribed
    rates = _Rates(system, state, prescribed)
    initial = rates.initial
    w = rates.derive_free(initial)
    if not rates.fit(w):
        w = w + rates.least_change_of_held(w)
        if rates.free.any():
            w = rates.derive_free(np.where(rates.free, initial, w))
            if not rates.fit(w):  # rounding
                w = w + rates.least_change_of_held(w)
    change = w - initial
    frame_changes = (rates.to_frames @ change).reshape(-1, 6)
    Omega = state.Omega + quaternions.rotate(quaternions.conjugate(state.quat), frame_changes[:, 3:])
    fitted = state._replace(v=state.v + frame_changes[:, :3], Omega=Omega)
    return fitted, float(np.abs(change[~rates.free]).max(initial=0.0))


class _Rates:
    """Velocities of a state as quantities w (6 n,), and the velocity equations G w + driven = 0 of the joints.

    The quantities of a frame are (v, omega) in inertial axes; v is that of `PrescribedVelocities.point` if one of the two is
    free.
    """

    def __init__(self, system: System, state: State, prescribed: PrescribedVelocities):
        """Assemble G, the mass matrix and the quantities of `state`; `to_frames` maps quantities to (v, omega) of the frames."""
        n = len(system.frames.mass)
        self._system, self._state, self._prescribed = system, state, prescribed
        # v = v_point - omega x point
        arm = np.where((prescribed.v != prescribed.Omega)[:, None], prescribed.point, 0.0)
        identity = np.tile(np.eye(6), (n, 1, 1))
        identity[:, :3, 3:] = _hat(arm)
        self.full = 6 * n + len(state.lam) <= SMALL
        self.to_frames = _block_diagonal(identity, self.full)
        jacobian = constraint_jacobian(system, state)
        self.G = _without_rounding(
            jacobian.toarray() @ self.to_frames if self.full else (jacobian @ self.to_frames).tocsr(),
            np.abs(state.r).max() + np.abs(arm).max(),
        )
        omega = quaternions.rotate(state.quat, state.Omega)
        self.initial = np.concatenate([state.v + np.cross(omega, arm), omega], axis=1).ravel()
        self.free = np.repeat(~np.stack([prescribed.v, prescribed.Omega], axis=1).ravel(), 3)
        # rates of the joints due to drives, whose motion is prescribed
        self.driven = (
            velocity_residual(system, state) - self.G @ self.initial
            if count_drives(system)
            else np.zeros(len(state.lam))
        )
        R = quaternions.to_matrix(state.quat)
        blocks = np.zeros((n, 6, 6))
        blocks[:, :3, :3] = system.frames.mass[:, None, None] * np.eye(3)
        blocks[:, 3:, 3:] = R @ system.frames.inertia @ np.swapaxes(R, 1, 2)
        self.mass = _block_diagonal(blocks, self.full)
        if len(system.rods.shared_masses[0]):
            shared = _shared_mass(system, 6 * n)
            self.mass = self.mass + (shared.toarray() if self.full else shared)

    def residual(self, w: Floats) -> Floats:
        """Return the rates of the constraints (m,) for the quantities w (6 n,)."""
        return self.G @ w + self.driven

    def terms(self, w: Floats) -> Floats:
        """Return the sums of the absolute values of the terms of `residual`, (m,)."""
        return abs(self.G) @ np.abs(w) + np.abs(self.driven)

    def fit(self, w: Floats) -> bool:
        """Return whether w (6 n,) satisfies the joints to rounding."""
        return bool(np.all(np.abs(self.residual(w)) <= ROUNDING * self.terms(w)))

    def least_change_of_held(self, w: Floats) -> Floats:
        """Compute the change (6 n,) of w by (3)."""
        free, mass, weight = self.free, self.mass, np.ones(len(self.free))
        if free.any():
            diagonal = mass.diagonal()
            lightest = diagonal[~free & (diagonal > 0.0)].min(initial=np.inf)
            heaviest = diagonal[free].max(initial=0.0)
            weight[free] = np.sqrt(WEIGHT * min(1.0, lightest / heaviest) if heaviest > 0.0 else WEIGHT)
        if self.full:
            mass = weight[:, None] * mass * weight
        else:
            mass = scipy.sparse.diags(weight) @ mass @ scipy.sparse.diags(weight)
        repeating = bool(np.any(multipliers_of(self._system).repeats))
        return _least_change(
            mass, self.G, self.residual(w), free, _softness(mass, self.G) if repeating else None
        )

    def derive_free(self, w: Floats) -> Floats:
        """Return w (6 n,) with free quantities replaced by rules 2 and 3.

        Joints that held quantities violate may remain violated.
        """
        if not self.free.any():
            return w
        w = w + self._rigid_change(w)
        return w if self.fit(w) else w + self._least_energy_change(w)

    def _rigid_change(self, w: Floats) -> Floats:
        """Compute the change (6 n,) of w by (2), in which rods move as rigid bodies."""
        r, size = self._state.r, extent(self._state.r)
        S = _basis(r, self.free, self._prescribed.together, size, self.full)
        a, b, start = self._relative_motions(w, size)
        w = w + start
        E = _relative(r, a, b, size, self.full) @ self.to_frames
        rows = E @ S
        G = self.G @ S
        used = np.flatnonzero(np.asarray(_squared(G).sum(axis=1)).ravel())
        P = LIGHT * self._unprescribed_mass(S, a, b)
        soft = SOFT * np.asarray(_squared(G).sum(axis=1)).ravel()[used]
        k = rows.shape[0]
        if self.full:
            J = np.concatenate([rows, G[used]])
        else:
            J = scipy.sparse.vstack([rows, G[used]]).tocsr()
        misfit = np.concatenate([E @ w, self.residual(w)[used]])
        compliance, delta = np.zeros(len(misfit)), np.zeros(len(misfit))
        compliance[:k], delta[k:] = 1.0, soft
        return start + S @ _least_change(P, J, misfit, np.ones(S.shape[1], bool), delta, compliance)

    def _least_energy_change(self, w: Floats) -> Floats:
        """Compute the change (6 n,) of w by rule 3."""
        number = np.flatnonzero(self.free)
        G = self.G[:, number]
        used = np.flatnonzero(np.asarray(_squared(G).sum(axis=1)).ravel())
        mass = self.mass[number][:, number] if self.full else self.mass.tocsr()[number][:, number]
        change = np.zeros(len(w))
        change[number] = _least_change(
            mass, G[used], self.residual(w)[used], np.ones(len(number), bool), _softness(mass, G[used])
        )
        return change

    def _unprescribed_mass(self, S: Any, a: Ints, b: Ints) -> Any:
        """Return the mass matrix (k, k), over the largest mass, of free quantities in components without prescribed motion.

        These are frames that no edge (a, b) connects to a part with prescribed motion. `S`: basis of `_basis`; the entries of all
        other quantities are zero.
        """
        prescribed, n = self._prescribed, len(self._prescribed.v)
        rods = [np.stack([np.full(len(frames) - 1, frames[0]), frames[1:]]) for frames in prescribed.together]
        label = components(np.concatenate([np.stack([a, b]), *rods], axis=1), n)
        is_prescribed = np.isin(label, label[prescribed.v & prescribed.Omega])
        alone = np.asarray(abs(S).T @ np.repeat(~is_prescribed, 6)).ravel() > 0.0
        largest = float(self.mass.diagonal().max()) or 1.0
        mass = S.T @ self.mass @ S / largest
        least = alone * np.maximum(0.0, _LEAST - mass.diagonal())
        if self.full:
            return np.outer(alone, alone) * mass + np.diag(least)
        chosen = scipy.sparse.diags(alone.astype(float))
        return chosen @ mass @ chosen + scipy.sparse.diags(least)

    def _relative_motions(self, w: Floats, size: float) -> tuple[Ints, Ints, Floats]:
        """Return the frames a (k,), b (k,) of joints across which (1) is minimised, and a change (6 n,) of the quantities.

        Joints that let a part with unspecified velocities rest are omitted. The change is that of parts with one prescribed
        quantity; with it these joints let the other part rest.
        """
        prescribed, rows = self._prescribed, multipliers_of(self._system)
        specified, unspecified = prescribed.v & prescribed.Omega, ~(prescribed.v | prescribed.Omega)
        has_two_frames = (rows.frames[:, 1] >= 0) & (rows.frames[:, 2:] < 0).all(axis=1)
        unique_pairs, pair_of = np.unique(
            np.sort(rows.frames[has_two_frames][:, :2], axis=1), axis=0, return_inverse=True
        )
        a, b = unique_pairs.T
        pair_of_row = np.full(len(has_two_frames), -1)
        pair_of_row[has_two_frames] = pair_of.ravel()
        pair_of_row = pair_of_row[rows.per_row]  # (m,) pair of frames of each row, -1: none
        # joints between a part with a prescribed quantity and one without
        between = unspecified[a] != unspecified[b]
        resting_rows = pair_of_row >= 0
        resting_rows[resting_rows] = between[pair_of_row[resting_rows]]
        unspecified_frames = unspecified[rows.frames] & (rows.frames >= 0)
        prescribed_rows = np.logical_not(np.any(unspecified_frames, axis=1, keepdims=True)[rows.per_row, 0])
        change = self._change_to_rest(w, resting_rows, prescribed_rows, size)
        changed = w + change
        can_rest = np.ones(len(unique_pairs), bool)
        satisfied = np.abs(self.residual(changed)) <= REST_TOLERANCE * (
            self.terms(changed) + np.abs(changed).max()
        )
        np.logical_and.at(can_rest, pair_of_row[resting_rows], satisfied[resting_rows])
        moves = between & ~can_rest
        ground = self._system.frames.fixed == 1
        use = ~(specified[a] & specified[b]) & (~between | moves | ground[a] | ground[b])
        starts = np.zeros(len(unspecified), bool)  # frames that let all parts joined to them rest
        for pairs, lets_rest in ((between & can_rest, True), (moves, False)):
            starts[np.concatenate([a[pairs], b[pairs]])] = lets_rest
        for frames in prescribed.together:
            lets, moved = starts[frames].any(), np.isin(frames, np.concatenate([a[moves], b[moves]])).any()
            starts[frames] = lets and not moved
        return a[use], b[use], np.where(np.repeat(starts, 6), change, 0.0)

    def _change_to_rest(
        self, w: Floats, resting_rows: NDArray[np.bool_], prescribed_rows: NDArray[np.bool_], size: float
    ) -> Floats:
        """Compute the change (6 n,) of the free quantities of parts of which the other quantity is prescribed.

        It satisfies the rows `prescribed_rows` (m,), those between parts with a prescribed quantity, and then the rows
        `resting_rows` (m,) in the mean square.
        """
        half_prescribed = np.repeat(self._prescribed.v != self._prescribed.Omega, 6) & self.free
        if not half_prescribed.any() or not resting_rows.any():
            return np.zeros(len(w))
        rods = tuple(frames for frames in self._prescribed.together if half_prescribed[6 * frames[0]])
        S = _basis(self._state.r, half_prescribed, rods, size, self.full)
        G = self.G @ S
        row_sizes = np.asarray(_squared(G).sum(axis=1)).ravel()
        used = np.flatnonzero((resting_rows | prescribed_rows) & (row_sizes > 0.0))
        least = LIGHT * np.ones(S.shape[1])
        change: Floats = S @ _least_change(
            np.diag(least) if self.full else scipy.sparse.diags(least),
            G[used],
            self.residual(w)[used],
            np.ones(S.shape[1], bool),
            np.where(prescribed_rows[used], SOFT * row_sizes[used], 0.0),
            np.where(prescribed_rows[used], 0.0, row_sizes[used]),
        )
        return change


def _least_change(
    mass: Any,
    J: Any,
    misfit: Floats,
    free: NDArray[np.bool_],
    delta: Floats | None,
    compliance: Floats | None = None,
) -> Floats:
    """Solve (2) or (3) by iterations.

    Parameters
    ----------
    mass : (k, k) array or sparse matrix
        Metric. For free quantities each iteration minimises its own change, for others the total change.
    J : (m, k) array or sparse matrix
    misfit : (m,) array
        Rates that J d has to cancel.
    free : (k,) array of bool
    delta : (m,) array, optional
        Softness of the rows, whose effect the iterations remove.
    compliance : (m,) array, optional
        Softness of rows that are satisfied in the mean square only; its effect remains.

    Returns
    -------
    (k,) array
    """
    k = len(free)
    change: Floats = np.zeros(k)
    mu: Floats = np.zeros(len(misfit))
    size = np.inf
    softness = delta if compliance is None or delta is None else delta + compliance
    try:
        solve = _solving(mass, J, softness)
        for _ in range(ITERATIONS if free.any() or delta is not None else 1):
            pull = np.where(free, 0.0, mass @ change)
            rate = misfit + J @ change
            solution = solve(-np.concatenate([pull, rate if delta is None else rate + delta * mu]))
            step, mu = solution[:k], solution[k:]
            change, before, size = change + step, size, np.abs(step).max(initial=0.0)
            # converged to rounding
            if size <= 1e-16 * np.abs(change).max(initial=0.0) or size > 0.5 * before:
                break
    except RuntimeError as singular:
        raise ModelError(
            "the joints are redundant (their constraints are linearly dependent at t = 0). "
            "Replace one joint of the loop by one that leaves more motion free."
        ) from singular
    return change


def _softness(mass: Any, G: Any) -> Floats:
    """Return the softness (m,) of the rows of G: SOFT times the diagonal of G M^-1 G^T with the diagonal of `mass` for M."""
    light = mass.diagonal()
    inverse = np.divide(1.0, light, out=np.zeros_like(light), where=light > 0.0)
    soft: Floats = SOFT * (_squared(G) @ inverse)
    return soft


def _without_rounding(G: Any, size: float) -> Any:
    """Set entries of G to zero that are zero levers but for rounding: angular velocities on them would grow without bounds.

    Levers are the entries of angular velocities. The sizes of rows are computed with angular velocities divided by `size`, m.
    """
    scale = np.tile(np.repeat([1.0, 1.0 / size if size > 0.0 else 1.0], 3), G.shape[1] // 6)
    if isinstance(G, np.ndarray):
        terms = np.abs(G) * scale
        return np.where(terms > LEVER * terms.max(axis=1, initial=0.0, keepdims=True), G, 0.0)
    terms = abs(G @ scipy.sparse.diags(scale)).tocsr()
    least = LEVER * terms.max(axis=1).toarray().ravel()
    mask = scipy.sparse.csr_matrix((terms > scipy.sparse.diags(least) @ (terms > 0.0)), dtype=float)
    return G.multiply(mask).tocsr()


def _squared(G: Any) -> Any:
    """Return the entrywise square of a dense or sparse matrix."""
    return G * G if isinstance(G, np.ndarray) else G.multiply(G)


def _solving(mass: Any, G: Any, delta: Floats | None) -> Callable[[Floats], Floats]:
    """Factorise the matrix of (3), with -delta in its lower rows, and return its solve function.

    Raises RuntimeError if the matrix is singular.
    """
    if not isinstance(G, np.ndarray):
        below = None if delta is None else -scipy.sparse.diags(delta)
        solve: Callable[[Floats], Floats] = sparse_lu(
            scipy.sparse.bmat([[mass, G.T], [G, below]], format="csc")
        ).solve
        return solve
    m, k = G.shape
    matrix = np.zeros((k + m, k + m))
    matrix[:k, :k], matrix[k:, :k], matrix[:k, k:] = mass, G, G.T
    if delta is not None:
        matrix[range(k, k + m), range(k, k + m)] = -delta
    with one_thread(k + m):
        factors, pivots, singular = scipy.linalg.lapack.dgetrf(matrix)
    if singular:
        raise RuntimeError(f"no pivot in column {singular}")
    return lambda x: scipy.linalg.lapack.dgetrs(factors, pivots, x)[0]


def _basis(r: Floats, free: NDArray[np.bool_], together: tuple[Ints, ...], size: float, full: bool) -> Any:
    """Return the matrix (6 n, k) from the free degrees of freedom to changes of all quantities.

    The frames of each rod in `together` have the degrees of freedom of one body. Angular velocities are multiplied by `size`, m.
    """
    free = free.reshape(-1, 6)
    single = free.copy()
    for frames in together:
        single[frames] = False
    alone = np.flatnonzero(single)
    rows, columns, values = [alone], [np.arange(len(alone))], [np.where(alone % 6 < 3, 1.0, 1.0 / size)]
    first = len(alone)
    for frames in together:
        k = 6 if free[frames[0], 5] else 3
        blocks = np.tile(np.eye(6), (len(frames), 1, 1))
        blocks[:, :3, 3:] = -_hat(r[frames] - r[frames].mean(axis=0))  # W x (r - r_mean)
        blocks[:, :, 3:] /= size
        i, j = np.meshgrid(np.arange(k), np.arange(k), indexing="ij")
        rows.append((6 * frames[:, None, None] + i).ravel())
        columns.append(np.tile(first + j, (len(frames), 1, 1)).ravel())
        values.append(blocks[:, :k, :k].ravel())
        first += k
    entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    S = scipy.sparse.csr_matrix(entries, shape=(free.size, first))
    return S.toarray() if full else S


def _relative(r: Floats, a: Ints, b: Ints, size: float, full: bool) -> Any:
    """Return the matrix (6 k, 6 n) that maps (v, omega) of all frames to the motions (1) of frames b relative to frames a."""
    k, unit = len(a), np.tile(np.eye(3), (len(a), 1, 1))
    half = 0.5 * _hat(r[b] - r[a])
    blocks = np.zeros((k, 6, 2, 6))
    blocks[:, :3, 0, :3], blocks[:, :3, 0, 3:], blocks[:, 3:, 0, 3:] = -unit, half, -size * unit
    blocks[:, :3, 1, :3], blocks[:, :3, 1, 3:], blocks[:, 3:, 1, 3:] = unit, half, size * unit
    rows = np.broadcast_to(6 * np.arange(k)[:, None, None, None] + np.arange(6)[:, None, None], blocks.shape)
    columns = np.broadcast_to(6 * np.stack([a, b], axis=1)[:, None, :, None] + np.arange(6), blocks.shape)
    E = scipy.sparse.csr_matrix((blocks.ravel(), (rows.ravel(), columns.ravel())), shape=(6 * k, 6 * len(r)))
    return E.toarray() if full else E


def _shared_mass(system: System, size: int) -> scipy.sparse.coo_matrix:
    """Return the matrix (size, size) of the kinetic energy -coupling |v_b - v_a|^2/2 of consistent rod masses."""
    pairs, coupling = system.rods.shared_masses
    a, b = (6 * pairs.T[:, :, None] + np.arange(3)).reshape(2, -1)
    c = np.repeat(coupling, 3)
    return scipy.sparse.coo_matrix(
        (np.concatenate([-c, -c, c, c]), (np.concatenate([a, b, a, b]), np.concatenate([a, b, b, a]))),
        shape=(size, size),
    )


def prescribed_velocity_changes(prescribed: PrescribedVelocities, before: State, after: State) -> Floats:
    """Return how much the held velocities of each frame changed between two states, (n, 2): m/s of its point, rad/s."""
    omega0, omega1 = (quaternions.rotate(s.quat, s.Omega) for s in (before, after))
    v0, v1 = before.v + np.cross(omega0, prescribed.point), after.v + np.cross(omega1, prescribed.point)
    linear, angular = (np.linalg.norm(x, axis=1) for x in (v1 - v0, omega1 - omega0))
    return np.stack([np.where(prescribed.v, linear, 0.0), np.where(prescribed.Omega, angular, 0.0)], axis=1)


def _hat(x: Floats) -> Floats:
    """Return the matrices (n, 3, 3) with hat(x) y = x cross y."""
    return np.cross(x[:, None, :], np.eye(3)).swapaxes(1, 2)


def _block_diagonal(blocks: Floats, full: bool) -> Any:
    """Return the block diagonal matrix (6 n, 6 n) of blocks (n, 6, 6), dense if `full`."""
    n = len(blocks)
    if full:
        matrix = np.zeros((n, 6, n, 6))
        matrix[range(n), :, range(n)] = blocks
        return matrix.reshape(6 * n, 6 * n)
    return scipy.sparse.bsr_matrix((blocks, np.arange(n), np.arange(n + 1)))
