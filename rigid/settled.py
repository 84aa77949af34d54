"""Named tuples that go to kernels again and again: what their arrays are is written down once.

A tuple by reference (`rigid.references`) is looked at for its type and unpacked, array by array, at every call from Python: that
of a tree in 60 microseconds, in which five bodies take fifty steps. A settled one is unpacked where it is made, and kernels are
told the place.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba._dispatcher import compute_fingerprint
from numba.core import cgutils
from numba.extending import intrinsic, typeof_impl

from rigid.compilation.decorators import kernel
from rigid.lanes import COMPILED


class Settled(tuple[int]):
    """The place of what a kernel takes by reference, in place of the named tuple."""

    values: Any  # the tuple
    fields: Any  # what stands there

    def __reduce__(self) -> Any:
        """A copy has a place of its own."""
        return settled, (self.values,)


class _Written(NamedTuple):
    """How tuples of one type are settled."""

    face: type[Settled]  # numba knows arguments by their classes
    room: int  # words that the fields take
    write: Any  # what writes them: called where it is compiled, as a kernel would ask for the type of each field anew


_known: dict[Any, _Written] = {}


def settled(values: Any, told: Any = None) -> Any:
    """A named tuple of a class `by_reference`, for kernels to take as often as they are called; it holds the tuple.

    told: `told_by` all of its fields, where they are known.
    """
    if not COMPILED:
        return values
    words = type(values), *(map(told_by, values) if told is None else told)
    if words not in _known:
        _known[words] = _written_of(values)
    face, room, write = _known[words]
    fields = np.zeros(room, np.int64)
    write(values, fields)
    made = face((int(fields.ctypes.data),))
    made.values, made.fields = values, fields
    return made


def _written_of(values: Any) -> _Written:
    kind, none = numba.typeof(values), np.zeros(0, np.int64)
    face = type("SettledTuple", (Settled,), {"kind": kind})
    typeof_impl.register(face)(lambda value, context: value.kind)
    room: Any = _written(values, none)
    compiled: Any = _written
    return _Written(face, room, compiled.overloads[kind, numba.typeof(none)].entry_point)


def told_by(field: Any) -> Any:
    """What its type follows from, found in a hundredth of the time that this takes; of a compiled function it itself, each of
    which is there once.
    """
    return compute_fingerprint(field) if isinstance(field, tuple | np.ndarray) else field


@intrinsic
def _size_of(typing: Any, reference: Any) -> Any:
    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        return ir.IntType(64)(context.get_abi_sizeof(arguments[0].type.pointee))

    return types.int64(reference), generate


@intrinsic
def _write_to(typing: Any, reference: Any, fields: Any) -> Any:
    def generate(context: Any, builder: Any, called: Any, arguments: Any) -> Any:
        count = ir.IntType(64)(context.get_abi_sizeof(arguments[0].type.pointee))
        to = context.make_array(called.args[1])(context, builder, arguments[1]).data
        cgutils.raw_memcpy(builder, to, arguments[0], count, 1)
        return context.get_dummy_value()

    return types.void(reference, fields), generate


_size: Any = _size_of  # as kernels call them
_write: Any = _write_to


@kernel
def _written(values, fields):
    """How many words the fields take; they are written where there is room for them."""
    count = (_size(values) + 7) // 8
    if fields.shape[0] >= count:
        _write(values, fields)
    return count
