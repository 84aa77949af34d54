"""Evaluate the local laws for runs of a scheme, by `discretization.continuum.local_laws`."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from discretization.continuum.kinematics import Omega
from discretization.continuum.local_laws import LocalLaws, local_laws
from discretization.continuum.quaternions import Array, inner
from discretization.multisymplectic.grid import Grid
from discretization.multisymplectic.time_integration import Run
from rigid.system import Floats


class BoxScheme(Protocol):
    """Protocol of the schemes."""

    grid: Grid

    def parts(self, state: Array) -> tuple[Array, Array]:
        """Split a state into u at the nodes and p."""


def nodal_states(scheme: BoxScheme, run: Run) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Return t, r, quat, v, Omega at the nodes and the inner times of a run.

    Rates are central differences; q is normalised.
    """
    u = np.array([scheme.grid.wrapped(scheme.parts(state)[0]) for state in run.states])
    r, q = u[..., :3], u[..., 3:] / np.sqrt(inner(u[..., 3:], u[..., 3:]))[..., None]
    twice = (run.t[2:] - run.t[:-2])[:, None, None]
    v, q_t = (r[2:] - r[:-2]) / twice, (q[2:] - q[:-2]) / twice
    return run.t[1:-1], r[1:-1], q[1:-1], v, Omega(q[1:-1], q_t)


def local_law_residuals(scheme: BoxScheme, run: Run) -> LocalLaws:
    """Return the residuals of the local laws of a run."""
    g = scheme.grid
    t, r, q, v, W = nodal_states(scheme, run)
    return local_laws(g.rod, t, g.d * np.arange(g.n + 1), r, q, v, W)
