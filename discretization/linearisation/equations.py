"""The linear equations of small motions about a state: M, C, G, K in the displacements and turns of its moving frames.

    M x'' + (C + Gyr) x' + K x + G^T dlam = B u,   G x = 0,   x = (dr, turn) of every moving frame            (1)

dr is inertial and the turn spatial; where everything rotates, both in axes that turn along (`inertia`). K has the
energies, the multipliers' lam . g, loads, dissipation of what spins, and the centrifugal terms:

    K = d/dx [forces of energies - loads + G^T lam + resistance] + centrifugal                                (2)

In equilibrium, with a potential, (2) is symmetric; away from it the torques that are left make half of a skew part, which
is taken out: the symmetric part is the Hessian along exp(turn).
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from scipy.sparse import bmat, csc_matrix, csr_matrix, diags
from scipy.sparse.linalg import splu

from discretization.consistent import constraint_jacobian
from discretization.linearisation import applied, inertia, tangents
from discretization.linearisation.inertia import SteadyMotion
from discretization.linearisation.interactions import constraints_of, dissipations_of, energies_of
from discretization.linearisation.steady import Names, later
from discretization.linearisation.tangents import Blocks, joined
from discretization.others import without_potential
from discretization.redundancy import redundancy
from discretization.system import System
from rigid.errors import ModelError
from rigid.interactions.constraints import rows_of
from rigid.system import Floats, Ints, State

SMALL = 250  # unknowns up to which full matrices are sooner solved than sparse ones
UNCHANGED = 1e-7  # relative: coefficients that count as constant


@dataclass(frozen=True, eq=False)
class Linearised:
    """Matrices of (1) about `state`; 6 unknowns a moving frame, in the order of `frames`."""

    M: csr_matrix  # kg, kg m, kg m^2
    C: csr_matrix  # damping, N s/m ...
    gyroscopic: csr_matrix  # skew-symmetric
    K: csr_matrix  # N/m ...
    G: csr_matrix  # (m, 6 k) rows of the joints
    lam: Floats  # (m,) multipliers that hold the state
    force: Floats  # (6 k,) what is left of the balance: zero in equilibrium
    frames: Ints  # (k,) moving frames
    place: Ints  # (n,) of each frame among them, -1: fixed
    unsymmetric: tuple[str, ...]  # why K is not symmetric; empty: it is
    system: System
    state: State
    motion: SteadyMotion
    loads: Floats  # (l, 3)

    @property
    def size(self) -> int:
        """Unknowns."""
        return int(self.M.shape[0])

    @property
    def free(self) -> int:
        """Motions that the joints leave: unknowns less the rows of joints, those apart that others imply."""
        found = redundancy(self.system, self.state)
        return self.size - int(self.G.shape[0]) + (0 if found is None else found.excess)

    @property
    def conservative(self) -> bool:
        """M x'' + K x = 0 with symmetric K: frequencies are those of a real symmetric problem."""
        return not self.unsymmetric and self.C.nnz == 0 and self.gyroscopic.nnz == 0

    def of_frames(self, x: Floats) -> Floats:
        """x (..., 6 k) as (..., n, 6), zero of fixed frames."""
        out = np.zeros((*x.shape[:-1], len(self.place), 6), x.dtype)
        out[..., self.frames, :] = x.reshape(*x.shape[:-1], -1, 6)
        return out

    def rows(self, frame: int) -> slice:
        """Places of a moving frame's unknowns."""
        at = 6 * int(self.place[frame])
        return slice(at, at + 6)


def linearise(system: System, state: State, loads: Floats, motion: SteadyMotion, names: Names) -> Linearised:
    """(1) about `state`, whose multipliers are found anew; loads (l, 3) at that time."""
    fixed = system.frames.fixed != 0
    place = np.where(fixed, -1, np.cumsum(~fixed) - 1).astype(np.int64)
    groups, resisting = energies_of(system, state), dissipations_of(system)
    force = tangents.forces(groups, state, np.zeros(0)) - applied.applied(system, state, loads)
    force += inertia.at_rest(system, state, motion)
    resistance, C, circulating = tangents.damping(resisting, state, motion.spin)
    force += resistance
    use = (6 * np.flatnonzero(~fixed)[:, None] + np.arange(6)).ravel()
    G = constraint_jacobian(system, state).tocsc()[:, use]
    M = inertia.mass(system, state).matrix(place)
    lam = multipliers(M, G, force.ravel()[use])
    forces_of_rest = _stiffness(system, state, loads, lam)
    parts = [forces_of_rest]
    spins = bool(np.any(motion.spin))
    if motion.turns:
        parts.append(inertia.centrifugal(system, state, motion))
        _check_directions(system, loads, motion)
    if spins:
        parts.append(circulating)
    if spins or not motion.ground:
        _check_constant(system, state, loads, motion, names, (forces_of_rest.matrix(place), M, G, place))
    reasons = [f"load {k}" for k in applied.without_potential(system, loads)]
    if without_potential(system.others):
        reasons.append("a pressure along an open rod")
    if spins and resisting:
        reasons.append("damping of what spins")
    K = joined(parts).matrix(place)
    if not reasons:
        K = 0.5 * (K + K.T)
    gyr = inertia.gyroscopic(system, state, motion) if motion.turns else None
    return Linearised(
        M=csr_matrix(M),
        C=csr_matrix(C.matrix(place)),
        gyroscopic=inertia.empty(len(use)) if gyr is None else csr_matrix(gyr.matrix(place)),
        K=csr_matrix(K),
        G=csr_matrix(G),
        lam=lam,
        force=force.ravel()[use] + G.T @ lam,
        frames=np.flatnonzero(~fixed),
        place=place,
        unsymmetric=tuple(reasons),
        system=system,
        state=state,
        motion=motion,
        loads=loads,
    )


def _stiffness(system: System, state: State, loads: Floats, lam: Floats) -> Blocks:
    """The part of (2) that does not know of the motion."""
    return joined(
        [
            tangents.stiffness(energies_of(system, state), state, np.zeros(0)),
            tangents.stiffness(constraints_of(system, state), state, lam),
            applied.stiffness(system, state, loads),
        ]
    )


def multipliers(M: csr_matrix, G: csc_matrix, force: Floats) -> Floats:
    """lam with  M a + force + G^T lam = 0,  G a = 0: none of the joints is left, what remains accelerates."""
    if not G.shape[0]:
        return np.zeros(0)
    scale = float(M.diagonal().mean())
    if sum(G.shape) <= SMALL:
        n, full = M.shape[0], np.zeros((sum(G.shape),) * 2)
        full[:n, :n], full[n:, :n] = M.toarray(), scale * G.toarray()
        full[:n, n:] = full[n:, :n].T
        with suppress(np.linalg.LinAlgError):
            return scale * np.linalg.solve(full, np.concatenate([-force, np.zeros(G.shape[0])]))[n:]
    saddle = bmat([[M, scale * G.T], [scale * G, None]], format="csc")
    try:
        found = splu(saddle).solve(np.concatenate([-force, np.zeros(G.shape[0])]))
    except RuntimeError:
        # dependent rows: the smallest multipliers that do
        delta = 1e-10 * diags(np.full(G.shape[0], scale))
        saddle = bmat([[M, scale * G.T], [scale * G, -delta]], format="csc")
        found = splu(saddle).solve(np.concatenate([-force, np.zeros(G.shape[0])]))
    return np.asarray(scale * found[len(force) :])


def _check_directions(system: System, loads: Floats, motion: SteadyMotion) -> None:
    """Raise where weight or a dead load turns, seen from the axes."""
    dead = np.flatnonzero(system.loads.following == 0)
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
    loads: Floats,
    motion: SteadyMotion,
    names: Names,
    now: tuple[csr_matrix, csr_matrix, csc_matrix, Ints],
) -> None:
    """Raise where stiffness, joints or forces change while the motion goes on."""
    K, M, G, place = now
    then = later(system, state, motion)
    use = (6 * np.flatnonzero(place >= 0)[:, None] + np.arange(6)).ravel()
    before, after = (
        (tangents.forces(energies_of(system, x), x, np.zeros(0)) - applied.applied(system, x, loads)).ravel()[
            use
        ]
        for x in (state, then)
    )
    rest = inertia.at_rest(system, state, motion).ravel()[use]
    G1 = constraint_jacobian(system, then).tocsc()[:, use]
    K1 = _stiffness(system, then, loads, multipliers(M, G1, after + rest)).matrix(place)
    stiff = float(np.abs(K.data).max(initial=0.0))
    for what, change, size in (
        ("joints change", _turned_rows(system, G, G1), float(np.abs(G.data).max(initial=0.0))),
        ("forces change", np.abs(after - before), np.abs(before).max() + 1e-6 * stiff),
        (
            "stiffness changes",
            np.asarray(abs(csr_matrix(K1) - csr_matrix(K)).max(axis=1).todense()).ravel(),
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


def _turned_rows(system: System, G: csc_matrix, G1: csc_matrix) -> Floats:
    """What of the rows of each joint, later, is no combination of its rows now: largest of each unknown."""
    joint = np.repeat(system.constraints.joint, rows_of(system.constraints))
    out = np.zeros(G.shape[1])
    G, G1 = csr_matrix(G), csr_matrix(G1)
    for j in np.unique(joint):
        now, then = G[joint == j], G1[joint == j]
        columns = np.unique(np.concatenate([now.indices, then.indices]))
        basis = np.linalg.qr(now[:, columns].toarray().T)[0]
        rows = then[:, columns].toarray()
        out[columns] = np.maximum(out[columns], np.abs(rows - rows @ basis @ basis.T).max(axis=0))
    return out
