"""Matrices that are full, sparse or None, zero, as they were put together; the form that is asked for is made then, and kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import scipy  # its parts are loaded when they are asked for

from rigid.system import Floats

Class = TypeVar("Class")


def reading_as_sparse(*names: str) -> Callable[[type[Class]], type[Class]]:
    """Decorator: these fields of a dataclass read as sparse matrices, whatever was given; `full` reads them as arrays."""

    def decorate(kind: type[Class]) -> type[Class]:
        for name in names:
            setattr(kind, name, _SparseField(name))
        return kind

    return decorate


class _SparseField:
    def __init__(self, name: str) -> None:
        self._name = name

    def __set__(self, owner: Any, given: Any) -> None:
        vars(owner)[self._name] = given

    def __get__(self, owner: Any, kind: type) -> Any:
        if owner is None:
            return self
        given = vars(owner)[self._name]
        if scipy.sparse.issparse(given):
            return given
        return _kept(owner, f"sparse {self._name}", lambda: sparse(_or_zero(given, owner.size)))


def full(owner: Any, name: str) -> Floats:
    """The field `name` of `owner`, which has a `size`, as an array, to be read alone."""
    given = vars(owner)[name]
    if isinstance(given, np.ndarray):
        return given
    found: Floats = _kept(owner, f"full {name}", lambda: array(_or_zero(given, owner.size)))
    return found


def _or_zero(given: Any, size: int) -> Any:
    return scipy.sparse.csr_matrix((size, size)) if given is None else given


def _kept(owner: Any, name: str, make: Callable[[], Any]) -> Any:
    known = vars(owner)
    if name not in known:
        known[name] = make()
    return known[name]


def array(matrix: Any) -> Floats:
    """Of a full matrix or a sparse one."""
    return matrix if isinstance(matrix, np.ndarray) else np.asarray(matrix.toarray())


def sparse(matrix: Any) -> scipy.sparse.csr_matrix:
    """Of a full matrix or a sparse one."""
    if not isinstance(matrix, np.ndarray):
        return scipy.sparse.csr_matrix(matrix)
    rows, columns = np.nonzero(matrix)
    ends = np.searchsorted(rows, np.arange(len(matrix) + 1))
    return scipy.sparse.csr_matrix((matrix[rows, columns], columns, ends), shape=matrix.shape)
