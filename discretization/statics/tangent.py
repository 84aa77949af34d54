"""The tangent at rest as two sparse matrices, for linearisation, modes and buckling.

    K = d(F + G^T lam)/d(dr, turn),   G = dg/d(dr, turn)                                                  (1)

turn is spatial. K is symmetric at an equilibrium under dead loads; multipliers and weights are in it, dampers and masses are not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy  # its parts are loaded when they are asked for

from discretization.statics.rest import Rest
from rigid.system import Ints


class RestTangent(NamedTuple):
    """(1) over the moving frames: columns 6 k to 6 k + 5 are dr and turn of frame `frames[k]`."""

    K: scipy.sparse.csr_matrix  # (6 k, 6 k)
    G: scipy.sparse.csr_matrix  # (m, 6 k), rows in the order of State.lam
    frames: Ints  # (k,) numbers of the moving frames


def tangent(rest: Rest) -> RestTangent:
    """Of the state and the load factor where `rest` is."""
    rest.assemble(True)
    matrix, numbering = rest.matrix().tocsr(), rest.numbering
    order = rest.unknowns.ravel()
    row, scale = np.zeros((2, int(numbering.rows.sum())))
    for c in range(len(numbering.row)):
        place = numbering.lam[c] + np.arange(numbering.rows[c])
        row[place] = numbering.row[c] + np.arange(numbering.rows[c])
        scale[place] = rest.work.scale[c]
    K = 2.0 * matrix[order][:, order]
    G = scipy.sparse.diags(1.0 / scale) @ matrix[row.astype(int)][:, order]
    return RestTangent(K.tocsr(), scipy.sparse.csr_matrix(G), rest.frames.copy())
