"""Sparse LU for models whose bandwidth is too large for a band solver: nets of rods, many closed loops."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import scipy  # scipy loads its submodules on first use
from numba import objmode

from discretization.linear.blas_threads import one_thread
from rigid.compilation.decorators import allocating_kernel
from rigid.system import Floats, Ints

_factors: dict[int, scipy.sparse.linalg.SuperLU] = {}


def sparse_lu(matrix: scipy.sparse.csc_matrix, **options: Any) -> scipy.sparse.linalg.SuperLU:
    """Factor a square matrix by SuperLU, with one BLAS thread; options: those of scipy's `splu`.

    Raises RuntimeError if the matrix is singular. More threads save no time: SuperLU calls the BLAS for parts of single
    columns. Matrices with a row or a column of zeros are rejected here: SuperLU would pass wrong sizes to the BLAS, which
    prints messages.
    """
    filled = matrix.data != 0.0
    columns = np.repeat(np.arange(matrix.shape[1]), np.diff(matrix.indptr))
    for indices, size in ((matrix.indices, matrix.shape[0]), (columns, matrix.shape[1])):
        if not np.all(np.bincount(indices[filled], minlength=size)):
            raise RuntimeError("the matrix is singular: a row or a column is zero")
    with one_thread():
        return scipy.sparse.linalg.splu(matrix, **options)


def sparse_factor(handle: int, values: Floats, indptr: Ints, indices: Ints) -> int:
    """Factor a matrix in compressed columns and store the factors under `handle`; return 0, or 1 if it is singular."""
    n = len(indptr) - 1
    matrix = scipy.sparse.csc_matrix((values[: indptr[-1]], indices, indptr), shape=(n, n))
    try:
        _factors[handle] = sparse_lu(matrix)
    except RuntimeError:  # SuperLU's error for a singular matrix
        return 1
    return 0


def sparse_store(handle: int, factors: scipy.sparse.linalg.SuperLU) -> None:
    """Store these factors under `handle`."""
    _factors[handle] = factors


def sparse_solve(handle: int, rhs: Floats) -> Floats:
    """Return the solution (N,) with the matrix that was last factored under `handle`."""
    return np.ascontiguousarray(_factors[handle].solve(rhs))


def sparse_solve_transposed(handle: int, rhs: Floats) -> Floats:
    """Return the solution (N,) with the transpose of the matrix that was last factored under `handle`."""
    return np.ascontiguousarray(_factors[handle].solve(rhs, "T"))


def sparse_release(handle: int) -> None:
    """Release the memory of the factors under `handle`."""
    _factors.pop(handle, None)


def release_with(owner: object, handle: int) -> weakref.finalize[[int], Any]:
    """Release the memory of the factors when `owner` is deleted or the returned finalizer is called.

    Nothing is done at the exit of Python.
    """
    finalizer = weakref.finalize(owner, sparse_release, handle)
    finalizer.atexit = False
    return finalizer


@allocating_kernel
def factored(handle, values, indptr, indices):
    """Call `sparse_factor` from compiled code.

    It has separate machine code: code that is only linked into other functions cannot call Python in the process that compiles
    it.
    """
    with objmode(status="int64"):
        status = sparse_factor(handle, values, indptr, indices)
    return status


@allocating_kernel
def solved(handle, rhs, x):
    """Compute x = `sparse_solve` in compiled code."""
    with objmode(solution="float64[::1]"):
        solution = sparse_solve(handle, rhs)
    for i in range(solution.size):
        x[i] = solution[i]


@allocating_kernel
def solve_transposed_compiled(handle, rhs, x):
    """Compute x = `sparse_solve_transposed` in compiled code."""
    with objmode(solution="float64[::1]"):
        solution = sparse_solve_transposed(handle, rhs)
    for i in range(solution.size):
        x[i] = solution[i]


def factors_of(handle: int) -> scipy.sparse.linalg.SuperLU:
    """Return the factors that are stored under `handle`."""
    return _factors[handle]
