"""Compute the tangent at rest as two matrices, for small motions about an equilibrium.

    K = d(F + G^T lam)/d(dr, eta),   G = dg/d(dr, eta)                                                  (1)

eta is the spatial rotation. K is symmetric at an equilibrium under dead loads; it includes multipliers and weights, but no
dampers and masses.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy  # its subpackages are loaded on first access

from discretization.statics.equilibrium_system import EquilibriumSystem
from rigid.system import Ints

SMALL = 250  # number of unknowns up to which full matrices are faster


class RestTangent(NamedTuple):
    """Matrices (1) over the moving frames: columns 6 k to 6 k + 5 are dr and rotation of frame `frames[k]`."""

    K: Any  # (6 k, 6 k) full if it is small, else sparse
    G: Any  # (m, 6 k) full or sparse as K, rows in the order of State.lam
    frames: Ints  # (k,) numbers of the moving frames


def tangent(statics: EquilibriumSystem) -> RestTangent:
    """Return the matrices (1) at the state and the load factor of `statics`, as last assembled."""
    numbering = statics.numbering
    order = statics.unknowns.ravel()
    row, scale = np.zeros((2, int(numbering.rows.sum())))
    for c in range(len(numbering.row)):
        indices = numbering.lam[c] + np.arange(numbering.rows[c])
        row[indices] = numbering.row[c] + np.arange(numbering.rows[c])
        scale[indices] = statics.work.scale[c]
    rows = row.astype(int)
    if statics.size <= SMALL:
        full = statics.dense()
        return RestTangent(
            2.0 * full[np.ix_(order, order)], full[np.ix_(rows, order)] / scale[:, None], statics.frames
        )
    matrix = statics.matrix().tocsr()
    G = scipy.sparse.diags(1.0 / scale) @ matrix[rows][:, order]
    return RestTangent(2.0 * matrix[order][:, order], scipy.sparse.csr_matrix(G), statics.frames)
