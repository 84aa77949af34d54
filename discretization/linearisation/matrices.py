"""Convert matrices between full and sparse form on first access, and cache the result.

A matrix is stored as it was assembled: full, sparse, or None if it is zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import scipy  # submodules are loaded on first access

from rigid.system import Floats

Class = TypeVar("Class")


def sparse_fields(*names: str) -> Callable[[type[Class]], type[Class]]:
    """Return a decorator that makes these fields of a dataclass read as sparse matrices; `full` reads them as arrays."""

    def decorate(kind: type[Class]) -> type[Class]:
        for name in names:
            setattr(kind, name, _SparseField(name))
        return kind

    return decorate


class _SparseField:
    """Descriptor of a field that reads as a sparse matrix; the stored form is kept."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __set__(self, owner: Any, value: Any) -> None:
        vars(owner)[self._name] = value

    def __get__(self, owner: Any, kind: type) -> Any:
        if owner is None:
            return self
        stored = vars(owner)[self._name]
        if scipy.sparse.issparse(stored):
            return stored
        return _cached(owner, f"sparse {self._name}", lambda: sparse(_or_zero(stored, owner.size)))


def full(owner: Any, name: str) -> Floats:
    """Return the field `name` of `owner`, which has a `size`, as an array, which must not be changed."""
    stored = vars(owner)[name]
    if isinstance(stored, np.ndarray):
        return stored
    matrix: Floats = _cached(owner, f"full {name}", lambda: array(_or_zero(stored, owner.size)))
    return matrix


def _or_zero(matrix: Any, size: int) -> Any:
    """Return the matrix, or a sparse zero matrix (size, size) if it is None."""
    return scipy.sparse.csr_matrix((size, size)) if matrix is None else matrix


def _cached(owner: Any, name: str, make: Callable[[], Any]) -> Any:
    """Return the value cached in `owner` as `name`; make it at the first call."""
    cache = vars(owner)
    if name not in cache:
        cache[name] = make()
    return cache[name]


def array(matrix: Any) -> Floats:
    """Return a full or sparse matrix as an array."""
    return matrix if isinstance(matrix, np.ndarray) else np.asarray(matrix.toarray())


def sparse(matrix: Any) -> scipy.sparse.csr_matrix:
    """Return a full or sparse matrix in compressed sparse rows."""
    if not isinstance(matrix, np.ndarray):
        return scipy.sparse.csr_matrix(matrix)
    rows, columns = np.nonzero(matrix)
    ends = np.searchsorted(rows, np.arange(len(matrix) + 1))
    return scipy.sparse.csr_matrix((matrix[rows, columns], columns, ends), shape=matrix.shape)
