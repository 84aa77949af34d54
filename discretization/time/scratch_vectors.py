"""Scratch vectors of residuals, by name: views of rows of `Work.vector`, so that a step allocates nothing.

A module of residuals declares the vectors it needs once, as a named tuple next to its kernels, and the kernels request them:

    class Vectors(NamedTuple):
        middle: PerCoordinate  # (q0 + q1)/2
        gap: PerConstraint

    vectors = scratch(Vectors, above=(...))
    ...
        w = vectors(W, D)
        mean(S.q0, q1, w.middle)

`above`: the declarations of the kernels that are called while these vectors are in use; the rows begin after theirs. In compiled
code `w` consists of addresses only, of which only those that are used remain.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, get_type_hints

import numba
import numpy as np
from numba import types
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic

from discretization.time.scheme import Work
from rigid.mechanics.mechanical_system import C1, C2

_COMPILED = not getattr(numba.config, "DISABLE_JIT", False)
PerCoordinate = Annotated[Any, "n"]  # (n,) complex
PerConstraint = Annotated[Any, "m"]  # (m,) complex
_rows: dict[type, range] = {}  # rows of every declaration


class Rows:
    """Type of `Annotated[Any, Rows(k)]`: k vectors at once, (k, max(n, m))."""

    def __init__(self, count: int):
        self.count = count


def scratch(names: Any, above: Iterable[type] = ()) -> Any:
    """Return a kernel (W, D) -> `names` for the named tuple `names`, which declares the vectors."""
    fields = [get_type_hints(names, include_extras=True)[field].__metadata__[0] for field in names._fields]
    counts = [field.count if isinstance(field, Rows) else 1 for field in fields]
    begin = max((_rows[other].stop for other in above), default=0)
    firsts = [begin + sum(counts[:k]) for k in range(len(fields))]
    _rows[names] = range(begin, begin + sum(counts))
    views = (_compiled if _COMPILED else _in_python)(names, fields, firsts)
    views.names = names
    return views


def rows_of(names: type) -> range:
    """Return the rows of `Work.vector` that a declaration uses."""
    return _rows[names]


def new_work(n: int, m: int, matrices: bool) -> Work:
    """Allocate scratch for all declarations, for n coordinates and m constraints; with arrays for matrices if `matrices` is True.

    A system needs matrices if it has no functions for products with them.
    """
    most = max(rows.stop for rows in _rows.values())
    rows, columns = (m, n) if matrices else (0, 0)
    shapes = (most, max(n, m, 1)), (rows, columns), (rows, columns), (columns, columns)
    return Work(*(np.zeros(shape, complex) for shape in shapes))


def _in_python(names: Any, fields: list[Any], firsts: list[int]) -> Any:
    def views(W: Work, D: Any) -> Any:
        sizes = {"n": D.n, "m": D.m}
        return names(
            *(
                W.vector[first : first + field.count]
                if isinstance(field, Rows)
                else W.vector[first, : sizes[field]]
                for field, first in zip(fields, firsts, strict=True)
            )
        )

    return views


def _compiled(names: Any, fields: list[Any], firsts: list[int]) -> Any:
    """Return the kernel of `scratch` as an intrinsic: its code is inlined in the calling kernel."""
    result = types.BaseTuple.from_types([C2 if isinstance(field, Rows) else C1 for field in fields], names)

    @intrinsic
    def views(typing_context: Any, work: Any, data: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            from numba.np.arrayobj import make_array, populate_array  # part of the compiler: loaded with it

            def read(k: int, name: str) -> Any:
                kind = signature.args[k]
                return context.get_getattr(kind, name)(context, builder, kind, arguments[k], name)

            rows = make_array(C2)(context, builder, read(0, "vector"))
            width = builder.extract_value(rows.shape, 1)
            sizes = {"n": read(1, "n"), "m": read(1, "m")}
            constant = lambda value: context.get_constant(types.intp, value)  # noqa: E731
            vectors = []
            for kind, field, first in zip(result.types, fields, firsts, strict=True):
                vector = make_array(kind)(context, builder)
                stack = isinstance(field, Rows)
                populate_array(
                    vector,
                    data=builder.gep(rows.data, [builder.mul(constant(first), width)]),
                    shape=[constant(field.count), width] if stack else [sizes[field]],
                    strides=cgutils.unpack_tuple(builder, rows.strides)[0 if stack else 1 :],
                    itemsize=rows.itemsize,
                    meminfo=rows.meminfo,
                    parent=rows.parent,
                )
                vectors.append(vector._getvalue())
            values = context.make_tuple(builder, result, vectors)
            return impl_ret_borrowed(context, builder, result, values)

        return result(work, data), generate

    return views
