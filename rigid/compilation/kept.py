"""A model that compiled code is handed once: kernels that are called often take its address.

To unpack a model's arrays takes 50 us a call, as long as all that is done with some elements.
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
from rigid.references import Reference

_COMPILED = not getattr(numba.config, "DISABLE_JIT", False)
ROOM = 4096  # words that are tried first


class KeptType(types.Type):
    """Of `Kept`: the address of a named tuple of type `pointee`."""

    def __init__(self, pointee: Any):
        self.pointee = pointee
        super().__init__(name=f"Kept({Reference(pointee).name})")


@register_model(KeptType)
class _Address(models.PrimitiveModel):
    def __init__(self, manager: Any, kept: KeptType):
        super().__init__(manager, kept, ir.IntType(64))


# types by their digests: to find that of a model out in Python takes milliseconds
_KINDS: dict[int, KeptType] = {}


class _Written(NamedTuple):
    """How named tuples of one type are written down."""

    kind: KeptType
    words: int
    write: Any  # called where it is compiled, as a kernel would ask for the type of each array anew


# by what numba tells types apart by in machine code
_WRITTEN: dict[bytes, _Written] = {}


class Kept:
    """A named tuple of a class `by_reference`, for kernels that read it by `kept_in`.

    Its arrays may change, but not be replaced; they live as long as this. The class must be one that any process can
    import: the cache of machine code knows it by its name.
    """

    def __init__(self, values: Any):
        self.values = values
        if not _COMPILED:
            return
        told = compute_fingerprint(values)
        if told not in _WRITTEN:
            _WRITTEN[told] = _written_of(values)
        self._numba_type_, words, write = _WRITTEN[told]
        self._room = np.zeros(words, np.int64)
        write(values, self._room)
        self.address = int(self._room.ctypes.data)

    @property
    def kind(self) -> KeptType | None:
        """Its type, from which those of its fields follow; None where nothing is compiled."""
        return getattr(self, "_numba_type_", None)


def _written_of(values: Any) -> _Written:
    room = np.zeros(ROOM, np.int64)
    digest, size = _hand_over(values, room)
    if digest not in _KINDS:
        _KINDS[digest] = KeptType(numba.typeof(values).pointee)
    compiled: Any = _hand_over
    write = compiled.overloads[numba.typeof(values), numba.typeof(room)].entry_point
    return _Written(_KINDS[digest], size // 8 + 1, write)


@unbox(KeptType)
def _address_from_python(kind: KeptType, argument: Any, c: Any) -> NativeValue:
    address = c.pyapi.object_getattr_string(argument, "address")
    value = cgutils.alloca_once_value(c.builder, ir.IntType(64)(0))
    with c.builder.if_then(cgutils.is_not_null(c.builder, address)):
        c.builder.store(c.pyapi.long_as_longlong(address), value)
        c.pyapi.decref(address)
    return NativeValue(c.builder.load(value), is_error=c.pyapi.c_api_error())


@intrinsic
def _type_facts(typing_context: Any, reference: Any) -> Any:
    """Digest of the type and its size in bytes."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        size = context.get_abi_sizeof(context.get_value_type(reference.pointee))
        digest = int(hashlib.sha256(reference.name.encode()).hexdigest()[:15], 16)
        values = [context.get_constant(types.int64, number) for number in (digest, size)]
        return context.make_tuple(builder, signature.return_type, values)

    return types.UniTuple(types.int64, 2)(reference), generate


@intrinsic
def _store_in(typing_context: Any, reference: Any, room: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[1])(context, builder, arguments[1])
        size = context.get_abi_sizeof(context.get_value_type(signature.args[0].pointee))
        cgutils.raw_memcpy(builder, array.data, arguments[0], ir.Constant(ir.IntType(64), size), 1)
        return context.get_dummy_value()

    return types.none(reference, room), generate


type_facts: Any = _type_facts
store_in: Any = _store_in


# without counting: what is stored holds no array, the Python object does
@kernel
def _hand_over(values, room):
    digest, size = type_facts(values)
    if size <= room.nbytes:
        store_in(values, room)
    return digest, size


@intrinsic
def _kept_in(typing_context: Any, kept: Any) -> Any:
    reference = Reference(kept.pointee)

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(reference))

    return reference(kept), generate


def _values_of(kept: Kept) -> Any:
    return kept.values


# the named tuple of a `Kept`, in compiled code
kept_in: Any = _kept_in if _COMPILED else _values_of


def bound(function: Any, *arguments: Any) -> Any:
    """A kernel for arguments of the types of these: a call that does not look for the machine code again."""
    if not _COMPILED:
        return function
    asked = function, *map(_type_of, arguments)
    if asked not in _BOUND:
        _BOUND[asked] = function.compile(asked[1:])
    return _BOUND[asked]


def _type_of(argument: Any) -> Any:
    """numba's, which takes it from there as well."""
    if type(argument) in _NUMBERS:
        return _NUMBERS[type(argument)]
    known = getattr(argument, "_numba_type_", None)
    return numba.typeof(argument) if known is None else known


_NUMBERS: dict[type, Any] = {int: numba.typeof(0), float: numba.typeof(0.0)}


_BOUND: dict[Any, Any] = {}
