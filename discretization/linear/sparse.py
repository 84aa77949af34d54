"""Sparse LU for models whose bandwidth is too large for a band solver: nets of rods, many closed loops."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import scipy  # its parts are loaded when they are asked for
from numba import objmode

from discretization.linear.one_thread import one_thread
from rigid.compilation.decorators import allocating_kernel
from rigid.system import Floats, Ints

_factors: dict[int, scipy.sparse.linalg.SuperLU] = {}


def sparse_lu(matrix: scipy.sparse.csc_matrix, **options: Any) -> scipy.sparse.linalg.SuperLU:
    """Factor a square matrix by SuperLU, with one BLAS thread; options: of scipy's `splu`.

    Raises RuntimeError if the matrix is singular. Threads save nothing: SuperLU calls the BLAS for parts of single columns.
    Rows and columns of zeros are refused here: SuperLU would pass wrong sizes to the BLAS, which prints messages.
    """
    filled = matrix.data != 0.0
    columns = np.repeat(np.arange(matrix.shape[1]), np.diff(matrix.indptr))
    for places, size in ((matrix.indices, matrix.shape[0]), (columns, matrix.shape[1])):
        if not np.all(np.bincount(places[filled], minlength=size)):
            raise RuntimeError("the matrix is singular: a row or a column is zero")
    with one_thread():
        return scipy.sparse.linalg.splu(matrix, **options)


def sparse_factor(handle: int, values: Floats, indptr: Ints, indices: Ints) -> int:
    """Factor the matrix in compressed columns and remember the factors under `handle`. Returns 0, or 1 if
    singular.
    """
    n = len(indptr) - 1
    matrix = scipy.sparse.csc_matrix((values[: indptr[-1]], indices, indptr), shape=(n, n))
    try:
        _factors[handle] = sparse_lu(matrix)
    except RuntimeError:  # SuperLU's word for a singular matrix
        return 1
    return 0


def sparse_keep(handle: int, factors: scipy.sparse.linalg.SuperLU) -> None:
    """Remember these factors under `handle`."""
    _factors[handle] = factors


def sparse_solve(handle: int, rhs: Floats) -> Floats:
    """Solution of the last factored matrix of `handle`."""
    return np.ascontiguousarray(_factors[handle].solve(rhs))


def sparse_solve_transposed(handle: int, rhs: Floats) -> Floats:
    """The same with the transposed matrix."""
    return np.ascontiguousarray(_factors[handle].solve(rhs, "T"))


def sparse_forget(handle: int) -> None:
    """Give the memory of the factors back."""
    _factors.pop(handle, None)


def forget_with(owner: object, handle: int) -> weakref.finalize[[int], Any]:
    """Give the memory of the factors back when `owner` is gone, or when the result is called; not at the exit of Python."""
    finalizer = weakref.finalize(owner, sparse_forget, handle)
    finalizer.atexit = False
    return finalizer


@allocating_kernel
def factored(handle, values, indptr, indices):
    """`sparse_factor` for compiled code. Its own machine code: what is only linked into others cannot call Python in the
    process that compiles it.
    """
    with objmode(status="int64"):
        status = sparse_factor(handle, values, indptr, indices)
    return status


@allocating_kernel
def solved(handle, rhs, x):
    """x = `sparse_solve` for compiled code."""
    with objmode(solution="float64[::1]"):
        solution = sparse_solve(handle, rhs)
    for i in range(solution.size):
        x[i] = solution[i]


@allocating_kernel
def solved_transposed(handle, rhs, x):
    """x = `sparse_solve_transposed` for compiled code."""
    with objmode(solution="float64[::1]"):
        solution = sparse_solve_transposed(handle, rhs)
    for i in range(solution.size):
        x[i] = solution[i]


def factors_of(handle: int) -> scipy.sparse.linalg.SuperLU:
    """The factors of `handle`."""
    return _factors[handle]
