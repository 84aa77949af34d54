"""Pass a model to compiled code once: kernels that are called often receive its address.

Unpacking the arrays of a model takes 50 us a call, as long as the whole computation for some elements.
"""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba._dispatcher import compute_fingerprint
from numba.core import cgutils
from numba.extending import NativeValue, intrinsic, models, register_model, unbox

from rigid.compilation.decorators import kernel
from rigid.tuple_references import Reference

_COMPILED = not getattr(numba.config, "DISABLE_JIT", False)
FIRST_BUFFER = 4096  # size of the first buffer tried, words of 8 bytes


class PinnedTupleType(types.Type):
    """Numba type of `PinnedTuple`: the address of a named tuple of type `pointee`."""

    def __init__(self, pointee: Any):
        self.pointee = pointee
        super().__init__(name=f"PinnedTuple({Reference(pointee).name})")


@register_model(PinnedTupleType)
class _Address(models.PrimitiveModel):
    """Data model: an integer of 64 bits."""

    def __init__(self, manager: Any, kind: PinnedTupleType):
        super().__init__(manager, kind, ir.IntType(64))


# types by their digests: determining the type of a model in Python takes milliseconds
_KINDS: dict[int, PinnedTupleType] = {}


class _Written(NamedTuple):
    """Type, size and store function of named tuples of one type."""

    kind: PinnedTupleType
    n_words: int
    write: Any  # machine code that stores the tuple, called directly: a kernel call would look up the type of each array again


# store functions by numba's fingerprints of the types
_WRITERS: dict[bytes, _Written] = {}


class PinnedTuple:
    """Named tuple of a class decorated with `by_reference`, for kernels that read it by `dereferenced`.

    The contents of its arrays may change, but the arrays may not be replaced; they live as long as this object. The class must be
    importable in any process: the cache of machine code identifies it by its name.
    """

    def __init__(self, values: Any):
        self.values = values
        if not _COMPILED:
            return
        fingerprint = compute_fingerprint(values)
        if fingerprint not in _WRITERS:
            _WRITERS[fingerprint] = _compile_writer(values)
        self._numba_type_, n_words, write = _WRITERS[fingerprint]
        self._buffer = np.zeros(n_words, np.int64)
        write(values, self._buffer)
        self.address = int(self._buffer.ctypes.data)

    @property
    def kind(self) -> PinnedTupleType | None:
        """Return the numba type, from which those of the fields follow; None if nothing is compiled."""
        return getattr(self, "_numba_type_", None)


def _compile_writer(values: Any) -> _Written:
    """Compile what stores named tuples of the type of `values`."""
    buffer = np.zeros(FIRST_BUFFER, np.int64)
    digest, size = _write_fields(values, buffer)
    if digest not in _KINDS:
        _KINDS[digest] = PinnedTupleType(numba.typeof(values).pointee)
    compiled: Any = _write_fields
    write = compiled.overloads[numba.typeof(values), numba.typeof(buffer)].entry_point
    return _Written(_KINDS[digest], size // 8 + 1, write)


@unbox(PinnedTupleType)
def _address_from_python(kind: PinnedTupleType, argument: Any, c: Any) -> NativeValue:
    """Unbox the address of a `PinnedTuple`."""
    address = c.pyapi.object_getattr_string(argument, "address")
    value = cgutils.alloca_once_value(c.builder, ir.IntType(64)(0))
    with c.builder.if_then(cgutils.is_not_null(c.builder, address)):
        c.builder.store(c.pyapi.long_as_longlong(address), value)
        c.pyapi.decref(address)
    return NativeValue(c.builder.load(value), is_error=c.pyapi.c_api_error())


@intrinsic
def _type_facts(typing_context: Any, reference: Any) -> Any:
    """Generate the digest of the type of a reference and its size in bytes."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        size = context.get_abi_sizeof(context.get_value_type(reference.pointee))
        digest = int(hashlib.sha256(reference.name.encode()).hexdigest()[:15], 16)
        values = [context.get_constant(types.int64, number) for number in (digest, size)]
        return context.make_tuple(builder, signature.return_type, values)

    return types.UniTuple(types.int64, 2)(reference), generate


@intrinsic
def _store_in(typing_context: Any, reference: Any, buffer: Any) -> Any:
    """Generate the copy of the fields behind a reference to an array."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[1])(context, builder, arguments[1])
        size = context.get_abi_sizeof(context.get_value_type(signature.args[0].pointee))
        cgutils.raw_memcpy(builder, array.data, arguments[0], ir.Constant(ir.IntType(64), size), 1)
        return context.get_dummy_value()

    return types.none(reference, buffer), generate


type_facts: Any = _type_facts
store_in: Any = _store_in


# a `kernel` counts no references: the stored fields hold no array, the Python object does
@kernel
def _write_fields(values, buffer):
    """Store the fields in `buffer` if it is large enough; return the digest of their type and their size in bytes."""
    digest, size = type_facts(values)
    if size <= buffer.nbytes:
        store_in(values, buffer)
    return digest, size


@intrinsic
def _dereferenced(typing_context: Any, pinned: Any) -> Any:
    """Generate the conversion of an address to a reference."""
    reference = Reference(pinned.pointee)

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(reference))

    return reference(pinned), generate


def _values_of(pinned: PinnedTuple) -> Any:
    """Return the named tuple, in place of `_dereferenced` if the compiler is off."""
    return pinned.values


# (pinned): reference to the named tuple of a `PinnedTuple`, in compiled code
dereferenced: Any = _dereferenced if _COMPILED else _values_of


def specialized(function: Any, *arguments: Any) -> Any:
    """Return the machine code of a kernel for arguments of these types: calling it skips the lookup by types."""
    if not _COMPILED:
        return function
    key = function, *map(_type_of, arguments)
    if key not in _SPECIALIZED:
        _SPECIALIZED[key] = function.compile(key[1:])
    return _SPECIALIZED[key]


def _type_of(argument: Any) -> Any:
    """Return numba's type of an argument, from the argument itself if it has one."""
    if type(argument) in _NUMBERS:
        return _NUMBERS[type(argument)]
    cached_type = getattr(argument, "_numba_type_", None)
    return numba.typeof(argument) if cached_type is None else cached_type


_NUMBERS: dict[type, Any] = {int: numba.typeof(0), float: numba.typeof(0.0)}


_SPECIALIZED: dict[Any, Any] = {}
