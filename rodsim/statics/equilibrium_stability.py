"""Judge an equilibrium: small motions about it, those that lower its energy, and how accurately its forces are known."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy  # submodules are loaded lazily

from discretization.linearisation import eigen, inertia, load_stiffness
from discretization.linearisation.equations import SKEW, Linearised, fill_zero_diagonal, massless_axis_rows
from discretization.linearisation.matrices import sparse
from discretization.redundancy import count_redundant
from discretization.relaxed_system import relaxed_state
from discretization.statics.dynamic_relaxation import relax
from discretization.statics.equilibrium_newton import CLEAR, largest_load, unbalanced
from discretization.statics.equilibrium_system import EquilibriumSystem
from discretization.statics.forces import SOLVED
from discretization.statics.stability import negative_count
from discretization.statics.tangent import tangent
from rigid.errors import ModelError, RoundedForcesWarning, UnstableEquilibriumWarning
from rigid.system import Floats
from rigid.user_warnings import warn_user
from rodsim.building.build import Built
from rodsim.small_motions.linear_equations import frame_names
from rodsim.small_motions.zero_energy_motions import MOST, describe_shape
from rodsim.statics.equilibrium_results import Record

MAX_LEFT_EQUILIBRIA = (
    3  # number of times an unstable equilibrium is left, as the next one may be unstable as well
)
PUSH = 1e-2  # displacement of the initial push, relative to the model's size, or rad


class UnstableMotions(NamedTuple):
    """Motions that lower the energy of an equilibrium."""

    pivots: int  # number of negative pivots of the stiffness, on the motions that the joints allow
    words: str  # description of one such motion
    shape: Floats  # (n, 6) displacements and rotations of the frames in this motion

    def __str__(self) -> str:
        plural = "s" if self.pivots > 1 else ""
        return (
            f"its stiffness has {self.pivots} negative pivot{plural}, along one unstable motion {self.words}"
        )


def about_equilibrium(built: Built, statics: EquilibriumSystem) -> Linearised:
    """Return the linear equations about the equilibrium for which the tangent of `statics` is assembled, without dampers.

    Frames without mass get a measure of their motions as mass matrix. The result is unsymmetric if forces have no potential;
    its `unsymmetric` then says only "forces". For axes without inertia, which G constrains, K contains the substitute
    stiffness of statics.
    """
    matrices, full_system = tangent(statics), statics.system_for_linearisation
    system = full_system._replace(frames=statics.system.frames._replace(mass=built.system.frames.mass))
    state = relaxed_state(built.system, system, statics.state)
    equation_of_frame = np.full(len(state.r), -1)
    equation_of_frame[statics.frames] = np.arange(len(statics.frames))
    mass, K, G = inertia.mass(system, state), matrices.K, matrices.G
    small = isinstance(K, np.ndarray)
    if statics.idle:
        axis_rows = massless_axis_rows(state, equation_of_frame, statics.idle)
        G = (
            np.vstack([G, axis_rows.toarray()])
            if small
            else scipy.sparse.vstack([G, axis_rows], format="csr")
        )
    unbalanced_forces = statics.residual[statics.unknowns].ravel()
    asymmetry, largest = abs(K - K.T).max(), abs(K).max()
    return Linearised(
        M=fill_zero_diagonal(
            mass.full(equation_of_frame) if small else sparse(mass.matrix(equation_of_frame))
        ),
        C=None,
        gyroscopic=None,
        K=0.5 * (K + K.T),
        G=G,
        lam=statics.state.lam,
        force=unbalanced_forces,
        frames=statics.frames,
        place=equation_of_frame,
        unsymmetric=("forces",) if asymmetry > SKEW * largest + 2.0 * np.abs(unbalanced_forces).max() else (),
        system=system,
        state=state,
        motion=inertia.motion_at_rest(len(state.r)),
        loads=statics.values,
        repeated=count_redundant(system, state),
    )


def unstable_motions(built: Built, statics: EquilibriumSystem) -> UnstableMotions | None:
    """Return motions that lower the energy of the current equilibrium of `statics`.

    None if there are none, or if it cannot be decided, as under follower loads. Negative pivots are counted first. If there
    are some, or a zero one, as for bodies that only joints hold, the eigenvalues decide whether they are more than round-off.
    """
    system = statics.system_for_linearisation
    if load_stiffness.loads_without_potential(
        system, statics.values
    ) or load_stiffness.has_open_pressure_edges(system):
        return None
    statics.assemble(True)
    count = negative_count(statics)
    if count == 0:
        return None
    try:
        lin = about_equilibrium(built, statics)
        if lin.unsymmetric or lin.free <= 0:
            return None
        most, few = min(max(count, 0) + MOST, lin.free), MOST
        while True:
            # eigenvalues nearest to zero, a few at a time: one negative eigenvalue is enough
            mu, phi, zero = eigen.conservative(lin, min(few, most))
            down = (mu < 0.0) & ~np.asarray(zero, bool)
            if down.any() or few >= most:
                break
            few *= 2
    except (ModelError, eigen.UnstiffenedMotionError):
        return None
    if not down.any():
        return None
    shape = lin.of_frames(phi[np.argmin(mu)])
    _, description = describe_shape(shape, statics.length, frame_names(built.layout))
    return UnstableMotions(max(count - int(np.sum(zero)), int(down.sum())), description, shape)


def leave_unstable_equilibrium(built: Built, statics: EquilibriumSystem, record: Record) -> None:
    """Go from the current, unstable equilibrium of `statics` to a stable one under the same loads, and add it to the record.

    A push along a motion that lowers the energy starts a damped motion to the next equilibrium.
    """
    for _ in range(MAX_LEFT_EQUILIBRIA):
        motions = unstable_motions(built, statics)
        if motions is None:
            return
        saved, moves = statics.save(), np.abs(motions.shape)
        size = statics.length * moves[:, 3:].max() + moves[:, :3].max()
        x = np.zeros(statics.size)
        x[statics.unknowns] = PUSH * statics.length / size * motions.shape[statics.frames]
        pushed = statics.advance(x)
        relaxed = relax(statics, every_way=True) if pushed == SOLVED else None
        if relaxed is None or relaxed.status != SOLVED:
            statics.restore_saved(saved)
            return
        record.settings["left"] = record.settings.get("left", 0) + relaxed.iterations
        record.add(statics.factor, statics, relaxed.iterations)


class Unstable(Exception):
    """Signal that an unstable equilibrium was reached; `unstable="stop"` ends the path before it."""

    def __init__(self, factor: float, motions: UnstableMotions) -> None:
        super().__init__(factor)
        self.factor, self.motions = factor, motions


def refuse_unstable(built: Built, statics: EquilibriumSystem) -> None:
    """Raise Unstable if motions lower the energy of the current equilibrium of `statics`."""
    motions = unstable_motions(built, statics)
    if motions is not None:
        raise Unstable(float(statics.factor), motions)


def record_stability(built: Built, statics: EquilibriumSystem, record: Record, warn: bool) -> None:
    """Record, and warn if `warn`, if the last equilibrium, that of `statics`, is unstable or its forces are lost in round-off."""
    model = f"model '{built.layout.name}'"
    motions = unstable_motions(built, statics)
    if motions is not None:
        first = _first_unstable(built, statics, record)
        record.settings["unstable"] = {"pivots": motions.pivots, "from": first}
        if warn:
            warn_user(
                f"{model}: the equilibrium found is unstable, as are those from load factor {first:.6g} on: {motions}; "
                "unstable='leave' continues from there to a stable one, method=ArcLength(branch=1) leaves the path where it "
                "became unstable",
                UnstableEquilibriumWarning,
            )
    statics.assemble(False)
    unbalanced_force, load = unbalanced(statics), largest_load(statics)
    if unbalanced_force > CLEAR * load > 0.0:
        record.settings["unbalanced"] = unbalanced_force / load
        if warn:
            warn_user(
                f"{model}: {unbalanced_force:.3g} N are left unbalanced, {unbalanced_force / load:.2g} of its loads together "
                f"({load:.3g} N): these are so small against its stiffness that rounding hides them; displacements along what is "
                "soft are right, forces along what is stiff are not: give such parts less stiffness, or join them by rigid "
                "bodies",
                RoundedForcesWarning,
            )


def _first_unstable(built: Built, statics: EquilibriumSystem, record: Record) -> float:
    """Return the load factor of the first of the unstable equilibria at the end of the path."""
    saved, first = statics.save(), record.factors[-1]
    for state, factor in zip(record.states[-2::-1], record.factors[-2::-1], strict=True):
        statics.set_equilibrium(state, factor)
        if unstable_motions(built, statics) is None:
            break
        first = factor
    statics.set_equilibrium(statics.state_of(saved), saved[1])
    return float(first)
