"""Bind named tuples of arrays once as arguments of kernels that are called repeatedly.

At every call from Python numba looks up the type of a tuple by reference (`rigid.tuple_references`) and unpacks it, array by
array. For the tuple of a tree this takes 60 microseconds, in which five bodies advance fifty steps. A settled (bound) tuple is
unpacked once, when it is made; kernels receive its address.
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


class BoundTuple(tuple[int]):
    """Bound argument: the address of the fields of a named tuple, passed to kernels in place of the tuple."""

    values: Any  # the named tuple
    fields: Any  # memory at the address: the unpacked fields

    def __reduce__(self) -> Any:
        """Bind the tuple again in copies, which have an address of their own."""
        return bind_tuple, (self.values,)


class _Written(NamedTuple):
    """Class, size and write function of bound tuples of one type."""

    face: type[BoundTuple]  # subclass for this type, since numba distinguishes arguments by their classes
    n_words: int  # size of the fields in words of 8 bytes
    write: Any  # machine code that writes the fields, called directly: a kernel call would look up the type of each field again


_writers: dict[Any, _Written] = {}


def bind_tuple(values: Any, type_keys: Any = None) -> Any:
    """Bind a named tuple of a class decorated with `by_reference`, for any number of kernel calls; the result holds the tuple.

    `type_keys`: type keys (`type_key`) of all of its fields, if they are known.
    """
    if not COMPILED:
        return values
    key = type(values), *(map(type_key, values) if type_keys is None else type_keys)
    if key not in _writers:
        _writers[key] = _compile_writer(values)
    face, n_words, write = _writers[key]
    fields = np.zeros(n_words, np.int64)
    write(values, fields)
    bound = face((int(fields.ctypes.data),))
    bound.values, bound.fields = values, fields
    return bound


def _compile_writer(values: Any) -> _Written:
    """Compile what binds tuples of the type of `values`."""
    kind, none = numba.typeof(values), np.zeros(0, np.int64)
    face = type("BoundTupleOfType", (BoundTuple,), {"kind": kind})
    typeof_impl.register(face)(lambda value, context: value.kind)
    n_words: Any = _write_fields(values, none)
    compiled: Any = _write_fields
    return _Written(face, n_words, compiled.overloads[kind, numba.typeof(none)].entry_point)


def type_key(field: Any) -> Any:
    """Return a key of the numba type of a field, in a hundredth of the time that the type itself takes.

    A compiled function, which exists only once, is its own key.
    """
    return compute_fingerprint(field) if isinstance(field, tuple | np.ndarray) else field


@intrinsic
def _size_of(typing: Any, reference: Any) -> Any:
    """Generate the size of the fields behind a reference, bytes."""

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        return ir.IntType(64)(context.get_abi_sizeof(arguments[0].type.pointee))

    return types.int64(reference), generate


@intrinsic
def _write_to(typing: Any, reference: Any, fields: Any) -> Any:
    """Generate the copy of the fields behind a reference to an array."""

    def generate(context: Any, builder: Any, called: Any, arguments: Any) -> Any:
        count = ir.IntType(64)(context.get_abi_sizeof(arguments[0].type.pointee))
        to = context.make_array(called.args[1])(context, builder, arguments[1]).data
        cgutils.raw_memcpy(builder, to, arguments[0], count, 1)
        return context.get_dummy_value()

    return types.void(reference, fields), generate


_size: Any = _size_of  # untyped names for use in kernels
_write: Any = _write_to


@kernel
def _write_fields(values, fields):
    """Return the size of the fields in words of 8 bytes, and copy them to `fields` if it is large enough."""
    count = (_size(values) + 7) // 8
    if fields.shape[0] >= count:
        _write(values, fields)
    return count


def specialized(function: Any, *arguments: Any) -> Any:
    """Return the machine code of a kernel for arguments of these types: calling it skips the lookup by types."""
    if not COMPILED:
        return function
    key = function, *map(numba.typeof, arguments)
    if key not in _specialized:
        _specialized[key] = function.compile(key[1:])
    return _specialized[key]


_specialized: dict[Any, Any] = {}
