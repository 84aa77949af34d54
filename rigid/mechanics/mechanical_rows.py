"""Evaluate the functions of a mechanical system at many states, rows (N, n) of q, v, p, in compiled loops."""

from __future__ import annotations

from typing import Any

import numpy as np

from rigid.compilation.decorators import allocating_kernel
from rigid.errors import ModelError
from rigid.mechanics.mechanical_system import INVERSE_MASS, PRODUCTS, MechanicalSystem
from rigid.system import Floats

_BLOCK = 1024  # states per block, as the matrices of all states may not fit into memory


@allocating_kernel
def call_rows(function, first, D, out):
    """Set out[k] = function(first[k]) for every row k."""
    for k in range(first.shape[0]):
        function(first[k], D, out[k])


@allocating_kernel
def call_row_pairs(function, first, second, D, out):
    """Set out[k] = function(first[k], second[k]) for every row k."""
    for k in range(first.shape[0]):
        function(first[k], second[k], D, out[k])


def _at(system: MechanicalSystem, name: str, shape: tuple[int, ...], *rows: Floats) -> Floats:
    """Return the function `name` at `rows`, one or two arrays (N, n), as an array (N, *shape)."""
    for x in rows:
        if np.shape(x) != (len(rows[0]), system.n):
            raise ModelError(
                f"system '{system.name}': {name} of rows of shape {np.shape(x)}; give {(len(rows[0]), system.n)}"
            )
    out = np.zeros((len(rows[0]), *shape), complex)
    loop: Any = call_rows if len(rows) == 1 else call_row_pairs
    loop(getattr(system.functions, name), *(np.ascontiguousarray(x, complex) for x in rows), system.data, out)
    return out.real


def _blocks(count: int) -> list[slice]:
    """Return slices of at most _BLOCK rows that cover `count` rows."""
    return [slice(k, k + _BLOCK) for k in range(0, count, _BLOCK)]


def _times(system: MechanicalSystem, name: str, invert: bool, q: Floats, x: Floats) -> Floats:
    """Return (N, n): the matrix function `name` at q (N, n) times x (N, n), or its inverse times x if `invert`."""
    out = np.empty(x.shape)
    for part in _blocks(len(q)):
        matrices = _at(system, name, (system.n, system.n), q[part])
        columns = x[part, :, None]
        out[part] = (np.linalg.solve(matrices, columns) if invert else matrices @ columns)[:, :, 0]
    return out


def momenta(system: MechanicalSystem, q: Floats, v: Floats) -> Floats:
    """Return the momenta M(q) v, (N, n)."""
    if system.has(PRODUCTS):
        return _at(system, "mass_product", (system.n,), q, v)
    return _times(system, "mass", False, q, v)


def velocities(system: MechanicalSystem, q: Floats, p: Floats) -> Floats:
    """Return the velocities W(q) p, (N, n); M(q)^-1 p if the system has no W."""
    if not system.has(INVERSE_MASS):
        return _times(system, "mass", True, q, p)
    if system.has(PRODUCTS):
        return _at(system, "inverse_mass_product", (system.n,), q, p)
    return _times(system, "inverse_mass", False, q, p)


def kinetic_energies(system: MechanicalSystem, q: Floats, v: Floats) -> Floats:
    """Return the kinetic energies T(q, v), (N,), J."""
    return 0.5 * np.einsum("ij,ij->i", v, momenta(system, q, v))


def potentials(system: MechanicalSystem, q: Floats) -> Floats:
    """Return the potentials V(q), (N,), J."""
    return _at(system, "potential", (1,), q)[:, 0]


def hamiltonians(system: MechanicalSystem, q: Floats, p: Floats) -> Floats:
    """Return the Hamiltonians T*(q, p) + V(q), (N,), J."""
    return 0.5 * np.einsum("ij,ij->i", p, velocities(system, q, p)) + potentials(system, q)


def constraints(system: MechanicalSystem, q: Floats, driven: Floats | None = None) -> Floats:
    """Return the constraints g(q), (N, m).

    `driven`: (N, d, DRIVE_NUMBERS) parameters of driven constraints, by default those at the start.
    """
    if driven is None or not driven.size:
        return _at(system, "constraints", (system.m,), q)
    out = np.empty((len(q), system.m))
    for k, numbers in enumerate(driven):
        system.drive_to(numbers)
        out[k] = system.constraints(q[k])
    system.drive_to(system.drives)
    return out


def rates(system: MechanicalSystem, q: Floats, w: Floats, driven: Floats | None = None) -> Floats:
    """Return dg/dt, (N, m): G(q) w plus the explicit rates of driven constraints.

    `driven`: (N, d, DRIVE_NUMBERS) parameters of driven constraints. By default those at the start are used and no explicit rates
    are added.
    """
    if driven is not None and driven.size:
        out = np.empty((len(q), system.m))
        for k, numbers in enumerate(driven):
            system.drive_to(numbers)
            out[k] = system.rate(q[k], w[k]) + system.explicit_rate(q[k], numbers)
        system.drive_to(system.drives)
        return out
    if system.has(PRODUCTS):
        return _at(system, "rate", (system.m,), q, w)
    out = np.empty((len(q), system.m))
    for part in _blocks(len(q)):
        jacobians = _at(system, "jacobian", (system.m, system.n), q[part])
        out[part] = (jacobians @ w[part, :, None])[:, :, 0]
    return out
