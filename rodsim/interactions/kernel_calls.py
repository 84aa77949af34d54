"""Call the compiled functions of a kind from Python: for the checks of a user's kind, and for the size of its forces."""

from __future__ import annotations

from typing import Any

import numpy as np

from rigid.compilation.decorators import address_of, allocating_kernel
from rigid.interactions.kinds import COMPLEX_STEP, Kind, dual_at, value_at
from rigid.system import Floats

Poses = Any  # (frames, 4, 3) complex: position and three axes of each frame, or their duals


@allocating_kernel
def _value(address, y, X, out):
    function = value_at(address)
    function(y, X, out)


@allocating_kernel
def _dual(address, y0, y1, X, lam, out):
    function = dual_at(address)
    function(y0, y1, X, lam, out)


def value(kind: Kind, y: Poses, X: Floats) -> complex:
    """Evaluate the potential V at the poses y, J."""
    out = np.zeros(1, complex)
    _value(address_of(kind.value), np.ascontiguousarray(y, complex), X, out)
    return complex(out[0])


def dual(kind: Kind, y0: Poses, y1: Poses, X: Floats, lam: float = 1.0) -> Poses:
    """Evaluate the dual (frames, 4, 3) of a step from y0 to y1; for a dissipation the step has the length 1/lam, s."""
    return _called(kind.dual, y0, y1, X, lam)


def rate_dual(kind: Kind, y: Poses, z: Poses, X: Floats) -> Poses:
    """Evaluate the dual (frames, 4, 3) of a dissipation at the poses y and their rates z."""
    return _called(kind.bend, y, z, X, 1.0)


def updated_states(kind: Kind, y0: Poses, y1: Poses, X: Floats, lam: float) -> Floats:
    """Evaluate the internal variables (own,) at the end of a step from y0 to y1 of length 1/lam, s."""
    states: Floats = (
        _called(kind.condensed.update_internal, y0, y1, X, lam).ravel()[: kind.n_internal].real.copy()
    )
    return states


def stored_energy(kind: Kind, y: Poses, X: Floats) -> complex:
    """Evaluate the energy that is stored in the internal variables, J."""
    return value(kind._replace(value=kind.condensed.stored_energy), y, X)


def _called(function: Any, y0: Poses, y1: Poses, X: Floats, lam: float) -> Poses:
    """Call a compiled dual function and return its result (frames, 4, 3)."""
    out = np.zeros((len(y0), 4, 3), complex)
    start, end = (np.ascontiguousarray(y, complex) for y in (y0, y1))
    _dual(address_of(function), start, end, X, np.array([lam], complex), out)
    return out


def unit_motions(y: Poses) -> Poses:
    """Return the rates of the poses for unit displacements and unit rotations of each frame, (6 frames, frames, 4, 3)."""
    n = len(y)
    z = np.zeros((n, 6, n, 4, 3), complex)
    for k in range(n):
        for j in range(3):
            z[k, j, k, 0, j] = 1.0
            z[k, 3 + j, k, 1:] = np.cross(np.eye(3)[j], y[k, 1:])
    return z.reshape(6 * n, n, 4, 3)


def to_wrenches(f: Poses, y: Poses) -> Poses:
    """Convert the dual f at the poses y to force and torque on each frame, (6 frames,)."""
    torque = np.cross(y[:, 1:], f[:, 1:]).sum(axis=1)
    return np.concatenate([f[:, 0], torque], axis=1).ravel()


def stiffness(kind: Kind, y: Poses, X: Floats, lam: float = 1.0) -> Floats:
    """Return the derivatives of `to_wrenches` at equal ends, (6 frames, 6 frames), for the round-off scale of the forces."""
    step = 1j * COMPLEX_STEP
    rows = [
        to_wrenches(dual(kind, y + step * z, y + step * z, X, lam), y + step * z).imag
        for z in unit_motions(y)
    ]
    derivatives: Floats = np.array(rows) / COMPLEX_STEP
    return derivatives
