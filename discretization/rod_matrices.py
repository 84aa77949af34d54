"""Assemble the stiffness and mass matrices of a system's rods and frames in (dr, eta) of every frame, for wave numbers.

    K_ab = d(force, torque on a)/d(dr, eta)_b of the rod elements,   M = diag(m, R J R^T) + coupling inertia of rods     (1)

In a stress-free state K is symmetric and the Hessian of the energy. `linearisation` has the equations of whole models.
"""

from __future__ import annotations

import numpy as np
import scipy  # submodules are loaded lazily

from discretization.interaction_groups import rods_of
from discretization.linearisation import inertia, tangents
from discretization.state_checks import POSES, check_states
from discretization.system import System
from rigid.system import State


def stiffness_matrix(system: System, state: State) -> scipy.sparse.csr_matrix:
    """Return the stiffness matrix K (6n, 6n) of all rod elements, (1)."""
    check_states(system, state, *POSES)
    blocks = tangents.stiffness(rods_of(system), state, np.zeros(0))
    return scipy.sparse.csr_matrix(blocks.matrix(np.arange(len(state.r))))


def mass_matrix(system: System, state: State) -> scipy.sparse.csr_matrix:
    """Return the mass matrix M (6n, 6n) of all frames, (1)."""
    check_states(system, state, *POSES)
    return scipy.sparse.csr_matrix(inertia.mass(system, state).matrix(np.arange(len(state.r))))
