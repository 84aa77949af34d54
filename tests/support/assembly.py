"""Shared models and helpers: assembly of a Newton iteration."""

import numpy as np

from discretization.assembly.numbering import number_unknowns
from discretization.assembly.workspace import workspace
from tests.support.array_systems import everything

BAND, SPARSE = 150, 3


def mid_iteration(band_limit, coupled=None):
    """`everything` in the middle of a Newton iteration: system, numbering, state, workspace, loads.

    coupled: "stiffness" or "damping", for which the last element has a full matrix.
    """
    system, state = everything()
    if coupled:
        matrices = getattr(system.elements, coupled).copy()
        X = np.random.default_rng(8).standard_normal((6, 6))
        matrices[-1] += 5.0 * X @ X.T
        system = system._replace(elements=system.elements._replace(**{coupled: matrices}))
    numbering = number_unknowns(system, band_limit)
    work = workspace(system, numbering)
    rng = np.random.default_rng(3)
    n = len(system.frames.mass)
    work.dr[1:], work.psi[1:] = 0.1 * rng.standard_normal((n - 1, 3)), 0.2 * rng.standard_normal((n - 1, 3))
    work.lam[:] = rng.standard_normal(len(work.lam))
    loads = rng.standard_normal((len(work.generic_groups.signals), 3))
    return system, numbering, state, work, loads


def dense(numbering, values):
    n, out = numbering.size, np.zeros((numbering.size, numbering.size))
    if numbering.band < 0:
        for j in range(n):
            column = slice(numbering.indptr[j], numbering.indptr[j + 1])
            out[numbering.indices[column], j] = values[column]
        return out
    b = numbering.band
    columns = values[: n * (3 * b + 1)].reshape(n, 3 * b + 1)
    for j in range(n):
        rows = np.arange(max(0, j - b), min(n, j + b + 1))
        out[rows, j] = columns[j, 2 * b + rows - j]
    far, i = numbering.far, np.arange(6)
    for row, column, place in zip(far.row, far.column, far.place, strict=True):
        out[row : row + 6, column : column + 6] += values[place + i[:, None] + far.stride * i]
    m, first = numbering.border.rows, numbering.border.first
    if m:
        out[n - m :], out[:, n - m :] = 0.0, 0.0
        border = values[first : first + 2 * m * n].reshape(2, m, n)
        out[:, n - m :] += border[0].T
        out[n - m :] += border[1]
        out[np.arange(n - m, n), np.arange(n - m, n)] += values[first + 2 * m * n : first + 2 * m * n + m]
    return out
