"""Linearise small motions about an equilibrium, reusing the tangent that statics assembled there."""

from __future__ import annotations

import numpy as np
import scipy  # submodules are loaded lazily

from discretization.linearisation import inertia
from discretization.linearisation.equations import SKEW, Linearised, filled, idle_rows
from discretization.linearisation.matrices import sparse
from discretization.long_rest import resting_state
from discretization.redundancy import count_repeated
from discretization.statics.rest import Rest
from discretization.statics.tangent import tangent
from rodsim.building.build import Built


def about_equilibrium(built: Built, rest: Rest) -> Linearised:
    """Return the linear equations about the equilibrium for which the tangent of `rest` is assembled, without dampers.

    Frames without mass get a measure of their motions as mass matrix. The result is unsymmetric if forces have no potential;
    its `unsymmetric` then says only "forces". For axes without inertia, which G constrains, K contains the substitute
    stiffness of statics.
    """
    found, whole = tangent(rest), rest.of_model
    system = whole._replace(frames=rest.system.frames._replace(mass=built.system.frames.mass))
    state = resting_state(built.system, system, rest.state)
    place = np.full(len(state.r), -1)
    place[rest.frames] = np.arange(len(rest.frames))
    mass, K, G = inertia.mass(system, state), found.K, found.G
    small = isinstance(K, np.ndarray)
    if rest.idle:
        held = idle_rows(state, place, rest.idle)
        G = np.vstack([G, held.toarray()]) if small else scipy.sparse.vstack([G, held], format="csr")
    left = rest.residual[rest.unknowns].ravel()
    skew, stiff = abs(K - K.T).max(), abs(K).max()
    return Linearised(
        M=filled(mass.full(place) if small else sparse(mass.matrix(place))),
        C=None,
        gyroscopic=None,
        K=0.5 * (K + K.T),
        G=G,
        lam=rest.state.lam,
        force=left,
        frames=rest.frames,
        place=place,
        unsymmetric=("forces",) if skew > SKEW * stiff + 2.0 * np.abs(left).max() else (),
        system=system,
        state=state,
        motion=inertia.resting(len(state.r)),
        loads=rest.values,
        repeated=count_repeated(system, state),
    )
