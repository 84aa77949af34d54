"""Joints that fix what others fix already: how many of their equations are too many, and whose forces are not determined.

A combination y of constraint rows vanishes where G^T y = 0. With rows of unit length and a small delta one sparse matrix,

    K = [[I, G^T], [G, -delta I]],   |det K| = prod (sigma_i^2 + delta)   over the singular values of G                  (1)

tells both without ever forming a dense G, where it is not small (there the singular values themselves do): every sigma_i = 0
makes log det K grow with log delta at rate 1, so that its slope counts them; and

    K [x; y'] = [0; -delta y]   gives   y' = delta (G G^T + delta I)^-1 y                                               (2)

which leaves of any y the part that vanishes: a row in which nothing is left of random y is determined.
Columns of turns are measured by the levers of their own frame, which changes no y but keeps G well conditioned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy  # its parts are loaded when they are asked for
from numpy.typing import NDArray

from discretization.components import components
from discretization.groups import constraints_of
from discretization.linear.sparse import sparse_lu
from discretization.multipliers import Multipliers, count_multipliers, multipliers_of, with_repeats
from discretization.state_checks import POSES, check_states
from discretization.state_measures import constraint_residual
from discretization.system import System
from rigid import quaternions
from rigid.interactions import evaluation
from rigid.interactions.kinds import Group
from rigid.system import Constraints, Floats, Ints, State

DELTAS = 1e-10, 1e-12  # of (1): squares of singular values below count as zero
PROJECTIONS = 8  # by (2); each shrinks what does not vanish by delta/sigma^2
LEFT = 1e-6  # of a random y, in a row that depends on others
PROBES = 4
_SMALL = 20_000  # entries of a G whose singular values are quicker than sparse factors
_FEW = 60  # constraints whose loops are looked for one by one
AWAY, _CLOSINGS = 1e-2, 8  # of `_nearby`: rad, and iterations


class Redundancy(NamedTuple):
    """Joints whose constraints depend on each other."""

    loops: list[
        list[int]
    ]  # numbers of joints whose reactions are not all determined, those of one loop together
    excess: int  # equations that the others imply
    rows: NDArray[np.bool_]  # (m,) of `State.lam`: not determined

    @property
    def joints(self) -> list[int]:
        """All of them."""
        return sorted(number for loop in self.loops for number in loop)


def constraint_jacobian(system: System, state: State) -> scipy.sparse.coo_matrix:
    """G (m, 6 n): derivatives of all constraints, driven ones as they stand in the state, to (r, turn) of all frames, spatial;
    zero columns for fixed frames.
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
    """Of those with as many frames: places (k,) of their rows in `State.lam`, frames (k, arity), gradients (k, arity, 6)."""
    for arity in sorted({own.kind.arity for own in groups}):
        alike = [own for own in groups if own.kind.arity == arity]
        row = np.concatenate([(own.row[:, None] + np.arange(own.kind.rows)).ravel() for own in alike])
        frames = np.concatenate([np.repeat(own.frames, own.kind.rows, axis=0) for own in alike])
        yield row, frames, evaluation.gradients(alike, state.r, state.quat)[row]


def redundancy(system: System, state: State) -> Redundancy | None:
    """Which joints repeat each other at `state`; None where all are independent, as without loops they must be."""
    excess, y = _repeated(system, state)
    if excess == 0:
        return None
    held, rows = multipliers_of(system), np.linalg.norm(y, axis=1) > LEFT
    return Redundancy(_loops(held, system, np.unique(held.joint[held.per_row[rows]])), excess, rows)


def count_repeated(system: System, state: State) -> int:
    """How many equations of joints the others imply at `state`."""
    return _repeated(system, state)[0]


def _repeated(system: System, state: State) -> tuple[int, Floats]:
    """The same, and what is left of random y (m, PROBES)."""
    held, none = multipliers_of(system), (0, np.zeros((0, PROBES)))
    # frames whose motion is given hold as the ground does: a chain from one to another is a loop
    frames = np.where(system.frames.fixed[held.frames] != 0, np.minimum(held.frames, 0), held.frames)
    if len(held.joint) <= _FEW and _closes_no_loop(held.joint, frames):
        return none
    item, side = np.nonzero(frames >= 0)
    joints, number = np.unique(held.joint, return_inverse=True)
    nodes = len(joints) + len(system.frames.mass)
    # joints with frames, each pair once
    keys = np.unique(number[item] * nodes + len(joints) + frames[item, side])
    if _is_forest(np.stack(np.divmod(keys, nodes)), nodes):
        return none
    jacobian = constraint_jacobian(system, state)
    small = jacobian.shape[0] * jacobian.shape[1] <= _SMALL
    return _by_values(jacobian, system, state) if small else _by_factors(jacobian, system, state)


def _closes_no_loop(joints: Ints, frames: Ints) -> bool:
    """Whether few joints (k,) and their frames (k, columns) are a forest: joints are nodes too, -1 - number."""
    above: dict[int, int] = {}
    pairs = zip(joints.tolist(), frames.tolist(), strict=True)
    for joint, frame in {(-1 - joint, f) for joint, each in pairs for f in each if f >= 0}:
        while joint in above:
            joint = above[joint]
        while frame in above:
            frame = above[frame]
        if joint == frame:
            return False
        above[joint] = frame
    return True


def _by_factors(jacobian: scipy.sparse.coo_matrix, system: System, state: State) -> tuple[int, Floats]:
    """The slope of (1), and what (2) leaves of random y (m, PROBES)."""
    G = _balanced(jacobian.tocsr(), system.constraints, state)
    first, second = (_factors(G, delta) for delta in DELTAS)
    slope = (_log_determinant(first) - _log_determinant(second)) / np.log(DELTAS[0] / DELTAS[1])
    y = _probes(G.shape[0])
    for _ in range(PROJECTIONS if round(slope) else 0):
        y = first.solve(np.concatenate([np.zeros((G.shape[1], PROBES)), -DELTAS[0] * y]))[G.shape[1] :]
    return round(slope), y


def _by_values(jacobian: scipy.sparse.coo_matrix, system: System, state: State) -> tuple[int, Floats]:
    """The same of a small G, by its singular values themselves."""
    G = jacobian.toarray() * _levers(system.constraints, state)
    U, found, _ = np.linalg.svd(G / np.maximum(np.linalg.norm(G, axis=1), 1e-300)[:, None])
    squares = np.zeros(len(U))
    squares[: len(found)] = found**2
    logs = [np.log(squares + delta).sum() for delta in DELTAS]
    left = (DELTAS[0] / (squares + DELTAS[0])) ** PROJECTIONS
    return round((logs[0] - logs[1]) / np.log(DELTAS[0] / DELTAS[1])), U @ (
        left[:, None] * (U.T @ _probes(len(U)))
    )


def _probes(m: int) -> Floats:
    return np.random.default_rng(0).normal(size=(m, PROBES))


def _is_forest(edges: Ints, nodes: int) -> bool:
    """Whether edges (2, k), each there once, close no loop."""
    k = edges.shape[1]
    if k >= nodes:
        return False
    return k <= nodes - len(set(components(edges, nodes).tolist()))


def surplus_rows(system: System, state: State) -> Ints:
    """Rows (excess,) without which all others are independent, and imply them; none where joints do not repeat each other.

    Looked for a little way off: where all bars of a loop lie in one line more rows depend on each other, there alone.
    """
    state = _nearby(system, state)
    found = redundancy(system, state)
    if found is None:
        return np.zeros(0, np.int64)
    G = _balanced(constraint_jacobian(system, state).tocsr(), system.constraints, state)
    rows = np.flatnonzero(found.rows)
    # one after the other the row of which most is left: those that come last follow from the rest
    _, order = scipy.linalg.qr(G[rows].toarray().T, mode="r", pivoting=True)
    return np.sort(rows[order[len(rows) - found.excess :]])


def _nearby(system: System, state: State) -> State:
    """A state that the joints allow, turned by about AWAY from `state`; `state` itself where nothing moves."""
    levers = _levers(system.constraints, state)
    length = float(np.median(1.0 / levers[3::6]))
    x = np.random.default_rng(1).normal(size=levers.size)
    there, way = state, np.zeros(0)
    for k in range(_CLOSINGS):
        G = constraint_jacobian(system, there).tocsr() @ scipy.sparse.diags(levers)
        size = 1.0 / np.maximum(np.sqrt(np.asarray(G.multiply(G).sum(axis=1)).ravel()), 1e-300)
        G = scipy.sparse.csr_matrix(scipy.sparse.diags(size) @ G)
        n, factors = G.shape[1], _factors(G, DELTAS[0])
        if k == 0:  # x less what the joints do not allow of it
            x[np.diff(G.tocsc().indptr) == 0] = 0.0
            way = factors.solve(np.concatenate([x, np.zeros(G.shape[0])]))[:n]
            if np.linalg.norm(way) < 1e-3 * np.linalg.norm(x):
                return state
            way *= AWAY * length / np.abs(way).max()
        else:  # back to where they are met, the shortest way
            g = constraint_residual(system, there)
            way = factors.solve(np.concatenate([np.zeros(n), -size * g]))[:n]
        change = (levers * way).reshape(-1, 6)
        turn = quaternions.from_rotation_vector(change[:, 3:])
        there = there._replace(r=there.r + change[:, :3], quat=quaternions.multiply(turn, there.quat))
    return there if np.abs(way).max() < 1e-9 * length else state


def _levers(constraints: Constraints, state: State) -> Floats:
    """(6 n,) displacements of a frame 1, turns 1 over the longest lever of its joints."""
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
    """Turns in lengths of the frame's own levers, rows of unit length, only columns that are used."""
    G = (G @ scipy.sparse.diags(_levers(constraints, state))).tocsr()
    used = np.flatnonzero(np.diff(G.tocsc().indptr))
    size = np.sqrt(np.asarray(G.multiply(G).sum(axis=1)).ravel())
    return scipy.sparse.csr_matrix(scipy.sparse.diags(1.0 / np.maximum(size, 1e-300)) @ G[:, used])


def _factors(G: scipy.sparse.csr_matrix, delta: float) -> scipy.sparse.linalg.SuperLU:
    """Of K in (1): quasi-definite, so that diagonal pivots will do."""
    m, n = G.shape
    K = scipy.sparse.bmat(
        [[scipy.sparse.identity(n), G.T], [G, -delta * scipy.sparse.identity(m)]], format="csc"
    )
    options = {"SymmetricMode": True}
    return sparse_lu(K, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)


def _log_determinant(factors: scipy.sparse.linalg.SuperLU) -> float:
    return float(np.log(np.abs(factors.U.diagonal())).sum())


def _loops(held: Multipliers, system: System, joints: Ints) -> list[list[int]]:
    """The joints, those together that moving parts connect."""
    use = np.isin(held.joint, joints)
    frames = held.frames[use]
    number = np.searchsorted(joints, held.joint[use])
    k, n = len(joints), len(system.frames.mass)
    item, side = np.nonzero((frames >= 0) & (system.frames.fixed[frames] == 0))
    pairs = np.stack([number[item], k + frames[item, side]])
    graph = scipy.sparse.coo_matrix((np.ones(pairs.shape[1]), pairs), shape=(k + n, k + n))
    _, label = scipy.sparse.csgraph.connected_components(graph, directed=False)
    return [[int(j) for j in joints[label[:k] == which]] for which in dict.fromkeys(label[:k].tolist())]


def softened(system: System, found: Redundancy) -> System:
    """The system with all marked that belongs to joints which repeat each other, also where a loop passes through a position
    in which more of it does.
    """
    return with_repeats(system, np.isin(multipliers_of(system).joint, found.joints))
