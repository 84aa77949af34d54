"""Detect redundant joint equations: count those that the others imply, and find the joints whose forces are undetermined.

A combination y of constraint rows vanishes if G^T y = 0. With rows of unit length and a small delta one sparse matrix,

    K = [[I, G^T], [G, -delta I]],   |det K| = prod (sigma_i^2 + delta)   over the singular values of G                  (1)

yields both without forming a dense G (for a small G the singular values themselves are computed). Every sigma_i = 0
makes log det K grow with log delta at rate 1, so that the slope is the number of redundant equations; and

    K [x; y'] = [0; -delta y]   gives   y' = delta (G G^T + delta I)^-1 y                                               (2)

which projects any y onto the combinations that vanish: a row in which the projections of random y are zero is determined.
Columns of rotations are scaled by the levers of their own frame, which changes no y but keeps G well conditioned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy  # submodules are loaded lazily
from numpy.typing import NDArray

from discretization.components import components
from discretization.interaction_groups import constraints_of
from discretization.linear.sparse import sparse_lu
from discretization.multipliers import (
    MultiplierItems,
    count_multipliers,
    multipliers_of,
    with_redundant_items,
)
from discretization.state_checks import POSES, check_states
from discretization.state_measures import constraint_residual
from discretization.system import System
from rigid import quaternions
from rigid.interactions import evaluation
from rigid.interactions.kinds import Group
from rigid.system import Constraints, Floats, Ints, State

DELTAS = 1e-10, 1e-12  # delta of (1): smaller squares of singular values count as zero
PROJECTIONS = 8  # number of projections (2); each reduces other components by delta/sigma^2
LEFT = 1e-6  # norm of the projected y in a row above which the row depends on others
PROBES = 4  # number of random y
_SMALL = 20_000  # entries of G up to which singular values are faster than sparse factors
_FEW = 60  # constraints up to which loops are searched for in Python
AWAY, _CLOSINGS = 1e-2, 8  # rotation (rad) and iterations of `_nearby`


class Redundancy(NamedTuple):
    """Joints whose constraints depend on each other."""

    # numbers of joints whose reactions are not all determined, grouped by loop
    loops: list[list[int]]
    excess: int  # equations that the others imply
    rows: NDArray[np.bool_]  # (m,) whether the entry of `State.lam` is undetermined

    @property
    def joints(self) -> list[int]:
        """Return the numbers of all these joints, sorted."""
        return sorted(number for loop in self.loops for number in loop)


def constraint_jacobian(system: System, state: State) -> scipy.sparse.coo_matrix:
    """Return G (m, 6 n): derivatives of all constraints with respect to (r, spatial rotation) of all frames.

    Driven constraints have the parameters of the state. Columns of fixed frames are zero.
    """
    check_states(system, state, *POSES)
    entries: list[Any] = [np.zeros((3, 0))]
    for row, frames, gradients in _gradients(constraints_of(system, state), state):
        moving = system.frames.fixed[frames] == 0
        at, columns = row[np.nonzero(moving)[0]], 6 * frames[moving][:, None] + np.arange(6)
        entries.append(np.stack([np.repeat(at, 6), columns.ravel(), gradients[moving].ravel()]))
    at, columns, values = np.concatenate(entries, axis=1)
    shape = (count_multipliers(system), 6 * len(system.frames.mass))
    return scipy.sparse.coo_matrix((values, (at.astype(np.int64), columns.astype(np.int64))), shape=shape)


def _gradients(groups: Sequence[Group], state: State) -> Iterator[tuple[Ints, Ints, Floats]]:
    """Yield, by number of frames, the rows in `State.lam` (k,), frames (k, arity) and gradients (k, arity, 6) of the groups."""
    for arity in sorted({group.kind.arity for group in groups}):
        same_arity = [group for group in groups if group.kind.arity == arity]
        row = np.concatenate(
            [(group.row[:, None] + np.arange(group.kind.rows)).ravel() for group in same_arity]
        )
        frames = np.concatenate([np.repeat(group.frames, group.kind.rows, axis=0) for group in same_arity])
        yield row, frames, evaluation.gradients(same_arity, state.r, state.quat)[row]


def redundancy(system: System, state: State) -> Redundancy | None:
    """Return the joints that are redundant at `state`; None if all are independent, which is always so without loops."""
    excess, y = _redundant_rows(system, state)
    if excess == 0:
        return None
    items, rows = multipliers_of(system), np.linalg.norm(y, axis=1) > LEFT
    return Redundancy(_loops(items, system, np.unique(items.joint[items.per_row[rows]])), excess, rows)


def count_redundant(system: System, state: State) -> int:
    """Return how many equations of joints are implied by the others at `state`."""
    return _redundant_rows(system, state)[0]


def _redundant_rows(system: System, state: State) -> tuple[int, Floats]:
    """Return the number of redundant equations at `state`, and the projections (2) of random y (m, PROBES)."""
    items, none = multipliers_of(system), (0, np.zeros((0, PROBES)))
    # frames with prescribed motion act as ground: a chain from one to another is a loop
    frames = np.where(system.frames.fixed[items.frames] != 0, np.minimum(items.frames, 0), items.frames)
    if len(items.joint) <= _FEW and _closes_no_loop(items.joint, frames):
        return none
    item, side = np.nonzero(frames >= 0)
    joints, number = np.unique(items.joint, return_inverse=True)
    nodes = len(joints) + len(system.frames.mass)
    # joints with frames, each pair once
    keys = np.unique(number[item] * nodes + len(joints) + frames[item, side])
    if _is_forest(np.stack(np.divmod(keys, nodes)), nodes):
        return none
    jacobian = constraint_jacobian(system, state)
    small = jacobian.shape[0] * jacobian.shape[1] <= _SMALL
    return _by_values(jacobian, system, state) if small else _by_factors(jacobian, system, state)


def _closes_no_loop(joints: Ints, frames: Ints) -> bool:
    """Return whether few joints (k,) and their frames (k, columns) form a forest; joint j is the node -1 - j."""
    parent: dict[int, int] = {}
    pairs = zip(joints.tolist(), frames.tolist(), strict=True)
    for joint, frame in {(-1 - joint, f) for joint, joint_frames in pairs for f in joint_frames if f >= 0}:
        while joint in parent:
            joint = parent[joint]
        while frame in parent:
            frame = parent[frame]
        if joint == frame:
            return False
        parent[joint] = frame
    return True


def _by_factors(jacobian: scipy.sparse.coo_matrix, system: System, state: State) -> tuple[int, Floats]:
    """Return the slope of (1), and the projections (2) of random y (m, PROBES), by sparse factorisations."""
    G = _balanced(jacobian.tocsr(), system.constraints, state)
    first, second = (_factors(G, delta) for delta in DELTAS)
    slope = (_log_determinant(first) - _log_determinant(second)) / np.log(DELTAS[0] / DELTAS[1])
    y = _probes(G.shape[0])
    for _ in range(PROJECTIONS if round(slope) else 0):
        y = first.solve(np.concatenate([np.zeros((G.shape[1], PROBES)), -DELTAS[0] * y]))[G.shape[1] :]
    return round(slope), y


def _by_values(jacobian: scipy.sparse.coo_matrix, system: System, state: State) -> tuple[int, Floats]:
    """Return the slope of (1), and the projections (2) of random y (m, PROBES), by the singular values of a small G."""
    G = jacobian.toarray() * _levers(system.constraints, state)
    U, sigma, _ = np.linalg.svd(G / np.maximum(np.linalg.norm(G, axis=1), 1e-300)[:, None])
    squares = np.zeros(len(U))
    squares[: len(sigma)] = sigma**2
    logs = [np.log(squares + delta).sum() for delta in DELTAS]
    left = (DELTAS[0] / (squares + DELTAS[0])) ** PROJECTIONS
    return round((logs[0] - logs[1]) / np.log(DELTAS[0] / DELTAS[1])), U @ (
        left[:, None] * (U.T @ _probes(len(U)))
    )


def _probes(m: int) -> Floats:
    """Return random combinations of rows, (m, PROBES)."""
    return np.random.default_rng(0).normal(size=(m, PROBES))


def _is_forest(edges: Ints, nodes: int) -> bool:
    """Return whether distinct edges (2, k) close no loop."""
    k = edges.shape[1]
    if k >= nodes:
        return False
    return k <= nodes - len(set(components(edges, nodes).tolist()))


def surplus_rows(system: System, state: State) -> Ints:
    """Return rows (excess,) that the independent remaining rows imply; empty if no joints are redundant.

    They are determined at a state close to `state`: if all bars of a loop lie in one line, more rows are dependent, only there.
    """
    state = _nearby(system, state)
    redundant = redundancy(system, state)
    if redundant is None:
        return np.zeros(0, np.int64)
    G = _balanced(constraint_jacobian(system, state).tocsr(), system.constraints, state)
    rows = np.flatnonzero(redundant.rows)
    # pivoting picks the row with the largest remainder: the last ones follow from the rest
    _, order = scipy.linalg.qr(G[rows].toarray().T, mode="r", pivoting=True)
    return np.sort(rows[order[len(rows) - redundant.excess :]])


def _nearby(system: System, state: State) -> State:
    """Return a state that satisfies the joints, moved by about AWAY from `state`; `state` itself if nothing moves."""
    levers = _levers(system.constraints, state)
    length = float(np.median(1.0 / levers[3::6]))
    x = np.random.default_rng(1).normal(size=levers.size)
    moved, step = state, np.zeros(0)
    for k in range(_CLOSINGS):
        G = constraint_jacobian(system, moved).tocsr() @ scipy.sparse.diags(levers)
        size = 1.0 / np.maximum(np.sqrt(np.asarray(G.multiply(G).sum(axis=1)).ravel()), 1e-300)
        G = scipy.sparse.csr_matrix(scipy.sparse.diags(size) @ G)
        n, factors = G.shape[1], _factors(G, DELTAS[0])
        if k == 0:  # x without the components that the joints prevent
            x[np.diff(G.tocsc().indptr) == 0] = 0.0
            step = factors.solve(np.concatenate([x, np.zeros(G.shape[0])]))[:n]
            if np.linalg.norm(step) < 1e-3 * np.linalg.norm(x):
                return state
            step *= AWAY * length / np.abs(step).max()
        else:  # back to the constraints by the smallest change
            g = constraint_residual(system, moved)
            step = factors.solve(np.concatenate([np.zeros(n), -size * g]))[:n]
        change = (levers * step).reshape(-1, 6)
        rotation = quaternions.from_rotation_vector(change[:, 3:])
        moved = moved._replace(r=moved.r + change[:, :3], quat=quaternions.multiply(rotation, moved.quat))
    return moved if np.abs(step).max() < 1e-9 * length else state


def _levers(constraints: Constraints, state: State) -> Floats:
    """Return the column scales (6 n,): 1 for displacements of a frame, 1 over its longest joint lever (1/m) for rotations."""
    n = len(state.r)
    reach = np.linalg.norm([constraints.Xa, constraints.Xb], axis=-1).T
    lever = np.zeros(n)
    np.maximum.at(lever, constraints.frames.ravel(), reach.ravel())
    usual = float(np.median(lever[lever > 0.0])) if (lever > 0.0).any() else 1.0
    lever[lever <= 1e-3 * usual] = usual
    columns = np.ones((n, 6))
    columns[:, 3:] = 1.0 / lever[:, None]
    return columns.ravel()


def _balanced(G: scipy.sparse.csr_matrix, constraints: Constraints, state: State) -> scipy.sparse.csr_matrix:
    """Scale G: rotations in lengths of the frame's own levers, rows of unit length; drop zero columns."""
    G = (G @ scipy.sparse.diags(_levers(constraints, state))).tocsr()
    used = np.flatnonzero(np.diff(G.tocsc().indptr))
    size = np.sqrt(np.asarray(G.multiply(G).sum(axis=1)).ravel())
    return scipy.sparse.csr_matrix(scipy.sparse.diags(1.0 / np.maximum(size, 1e-300)) @ G[:, used])


def _factors(G: scipy.sparse.csr_matrix, delta: float) -> scipy.sparse.linalg.SuperLU:
    """Factorise K of (1), which is quasi-definite, so that diagonal pivots suffice."""
    m, n = G.shape
    K = scipy.sparse.bmat(
        [[scipy.sparse.identity(n), G.T], [G, -delta * scipy.sparse.identity(m)]], format="csc"
    )
    options = {"SymmetricMode": True}
    return sparse_lu(K, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)


def _log_determinant(factors: scipy.sparse.linalg.SuperLU) -> float:
    """Return log |det K| from the diagonal of U."""
    return float(np.log(np.abs(factors.U.diagonal())).sum())


def _loops(items: MultiplierItems, system: System, joints: Ints) -> list[list[int]]:
    """Group the joints `joints` by the components of the graph of moving frames that connects them."""
    use = np.isin(items.joint, joints)
    frames = items.frames[use]
    number = np.searchsorted(joints, items.joint[use])
    k, n = len(joints), len(system.frames.mass)
    item, side = np.nonzero((frames >= 0) & (system.frames.fixed[frames] == 0))
    pairs = np.stack([number[item], k + frames[item, side]])
    graph = scipy.sparse.coo_matrix((np.ones(pairs.shape[1]), pairs), shape=(k + n, k + n))
    _, label = scipy.sparse.csgraph.connected_components(graph, directed=False)
    return [
        [int(j) for j in joints[label[:k] == component]] for component in dict.fromkeys(label[:k].tolist())
    ]


def with_redundancy_marked(system: System, redundant: Redundancy) -> System:
    """Return the system with all rows of redundant joints marked as redundant.

    All rows of these joints are marked because a loop may pass through a position in which more of them are dependent.
    """
    return with_redundant_items(system, np.isin(multipliers_of(system).joint, redundant.joints))
