"""Pass named tuples of arrays to kernels by reference: one pointer, instead of every field of every array by value as numba does.

A model is some 300 numbers and pointers. As values they would be arguments of every kernel: that was most of the compile time,
and most of the time of a call if the model is small. A class with the decorator `by_reference` reaches compiled code as the
address of its fields; kernels read the fields by name as before, and fields that are named tuples are references in turn. Named
tuples made in compiled code are values until `reference_to` copies them to the stack. The arrays are borrowed from the caller: a
kernel may not return parts of them.
"""

from __future__ import annotations

import hashlib
from typing import Any, TypeVar

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    intrinsic,
    lower_getattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)
from numba.np.numpy_support import as_dtype

C = TypeVar("C", bound=type)
_COMPILED = not getattr(numba.config, "DISABLE_JIT", False)


class Reference(types.Type):
    """Numba type of a pointer to a named tuple of type `pointee`."""

    def __init__(self, pointee: Any):
        self.pointee = pointee
        # a short name: numba puts it into the symbols of all functions
        digest = hashlib.sha256(str(pointee).encode()).hexdigest()[:16]
        super().__init__(name=f"Reference({pointee.instance_class.__name__} {digest})")


@register_model(Reference)
class _Pointer(models.PrimitiveModel):
    """Data model: a pointer to the fields."""

    def __init__(self, manager: Any, reference: Reference):
        super().__init__(manager, reference, manager.lookup(reference.pointee).get_value_type().as_pointer())


def by_reference(named_tuple: C) -> C:
    """Decorate a class of named tuples so that numba passes its instances by reference."""

    known_types: dict[tuple[int, ...], tuple[list[Any], Reference]] = {}

    @typeof_impl.register(named_tuple)
    def type_of(value: Any, context: Any) -> Reference:
        fields = [_type_of(field, context) for field in value]
        # numba has one object for each type, and the entry keeps the types of the fields alive
        key = tuple(map(id, fields))
        if type(value) is not named_tuple or key not in known_types:
            plain = [field.pointee if isinstance(field, Reference) else field for field in fields]
            reference = Reference(types.BaseTuple.from_types(plain, type(value)))
            if type(value) is not named_tuple:
                return reference
            known_types[key] = fields, reference
        return known_types[key][1]

    return named_tuple


_ARRAYS: dict[Any, Any] = {}
_TUPLES: dict[Any, Any] = {}


def _type_of(field: Any, context: Any) -> Any:
    """Return the numba type of a field. Types of arrays and tuples of them are cached; numba makes them again at every
    call of a kernel.
    """
    kind = type(field)
    if issubclass(kind, tuple) and typeof_impl.dispatch(kind) is typeof_impl.dispatch(tuple):
        fields = [_type_of(item, context) for item in field]
        tuple_key = (kind, *map(id, fields))
        if tuple_key not in _TUPLES:
            _TUPLES[tuple_key] = fields, typeof_impl(field, context)
        return _TUPLES[tuple_key][1]
    if kind is not np.ndarray and kind is not np.recarray:
        return typeof_impl(field, context)
    flags = field.flags
    order = flags.c_contiguous, flags.f_contiguous, flags.writeable, flags.aligned
    key = kind, field.dtype, field.ndim, order
    if key not in _ARRAYS:
        _ARRAYS[key] = typeof_impl(field, context)
    return _ARRAYS[key]


@unbox(Reference)
def _from_python(reference: Reference, argument: Any, c: Any) -> NativeValue:
    """Unbox a named tuple; the arrays are borrowed: the caller holds the tuple, and so its arrays, while the kernel runs.

    numba would take a reference to each array and release none, since a pointer holds none.
    """
    uncounted = c.context.subtarget(enable_nrt=False).get_python_api(c.builder)
    builder, pointer = c.builder, c.context.get_value_type(reference)
    storage = cgutils.alloca_once(builder, pointer.pointee)
    slot, failed = cgutils.alloca_once_value(builder, storage), cgutils.alloca_once_value(builder, _RIGHT)
    count = uncounted.tuple_size(argument)
    is_bound = builder.icmp_signed("==", count, count.type(-1 if len(reference.pointee) == 1 else 1))
    with builder.if_else(is_bound) as (then, otherwise):
        with then:
            address = uncounted.long_as_longlong(uncounted.tuple_getitem(argument, 0))
            builder.store(builder.inttoptr(address, pointer), slot)
        with otherwise:
            builder.store(_write_to(storage, reference.pointee, argument, uncounted), failed)
    has_failed = builder.load(failed)
    with builder.if_then(has_failed, likely=False):
        c.pyapi.err_set_string("PyExc_TypeError", f"can't unbox arrays: no {reference.name}")
    return NativeValue(_written(builder, builder.load(slot)), is_error=has_failed)


_RIGHT = ir.Constant(ir.IntType(1), 0)


def _write_to(target: Any, kind: Any, argument: Any, api: Any) -> Any:
    """Write the values of a Python object to `target`, field by field; return whether that failed.

    numba makes one value of all fields, 300 numbers, and stores it: the compiler then took seconds for each kernel.
    """
    builder = api.builder
    if isinstance(kind, types.BaseTuple):
        fields: Any = kind
        failed = cgutils.alloca_once_value(builder, cgutils.true_bit)
        count = api.tuple_size(argument)
        with builder.if_then(builder.icmp_signed("==", count, count.type(len(fields))), likely=True):
            has_failed = cgutils.false_bit
            for i, field in enumerate(fields):
                field_failed = _write_to(
                    _inside(builder, target, i), field, api.tuple_getitem(argument, i), api
                )
                has_failed = builder.or_(has_failed, field_failed)
            builder.store(has_failed, failed)
        return builder.load(failed)
    if isinstance(kind, types.Array):
        status = api.numba_array_adaptor(argument, builder.bitcast(target, api.voidptr))
        array = api.context.make_array(kind)(api.context, builder, ref=target)
        size = array.itemsize.type(as_dtype(kind.dtype).itemsize)
        different = builder.icmp_unsigned("!=", array.itemsize, size)
        return builder.or_(cgutils.is_not_null(builder, status), different)
    values = api.to_native_value(kind, argument)
    builder.store(values.value, target)
    return values.is_error


def copied(builder: Any, values: Any) -> Any:
    """Copy the values to the stack; return a pointer to the copy."""
    place = cgutils.alloca_once(builder, values.type)
    builder.store(values, place)
    return _written(builder, place)


def _written(builder: Any, place: Any) -> Any:
    """Return the pointer unchanged, for reading.

    Loads from it may be moved past any store (see `fields_at`), but not before the stores that wrote the fields: the loads
    depend on the result of an instruction that the compiler cannot analyse.
    """
    identity_type = ir.FunctionType(place.type, [place.type])
    return builder.asm(identity_type, "", "=r,0,~{memory}", [place], side_effect=True)


def _inside(builder: Any, pointer: Any, index: int) -> Any:
    """Return a pointer to a field."""
    integer = ir.IntType(32)
    return builder.gep(pointer, [integer(0), integer(index)], inbounds=True)


def fields_at(builder: Any, place: Any) -> Any:
    """Load the value at `place`, number by number, as invariant: nothing writes to it, so that loops need not load it again."""
    kind = place.type.pointee
    if isinstance(kind, ir.types.Aggregate):
        value = ir.Constant(kind, ir.Undefined)
        for i in range(len(kind)):
            value = builder.insert_value(value, fields_at(builder, _inside(builder, place, i)), i)
        return value
    loaded = builder.load(place)
    loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
    return loaded


@infer_getattr
class _Fields(AttributeTemplate):
    """Types of the fields of a reference; fields that are named tuples are references in turn."""

    key = Reference

    def generic_resolve(self, reference: Any, name: str) -> Any:  # type: ignore[override]
        if name not in reference.pointee.fields:
            return None
        field = reference.pointee.types[reference.pointee.fields.index(name)]
        return Reference(field) if isinstance(field, types.BaseNamedTuple) else field


@lower_getattr_generic(Reference)
def _field(context: Any, builder: Any, reference: Reference, pointer: Any, name: str) -> Any:
    """Load a field, or return a pointer to it if it is a named tuple."""
    index = reference.pointee.fields.index(name)
    place, field = _inside(builder, pointer, index), reference.pointee.types[index]
    if isinstance(field, types.BaseNamedTuple):
        return place
    return impl_ret_borrowed(context, builder, field, fields_at(builder, place))


@intrinsic
def _reference_to(typing_context: Any, values: Any) -> Any:
    """Generate `reference_to`: a copy on the stack."""

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        return copied(builder, arguments[0])

    return Reference(values)(values), generate


@intrinsic
def _place_of(typing_context: Any, reference: Any) -> Any:
    """Generate `place_of`: the address as an integer."""

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        return builder.ptrtoint(arguments[0], ir.IntType(64))

    return types.int64(reference), generate


_tuples: dict[int, Any] = {}  # named tuples by their addresses, if the compiler is off


def _place_in_python(values: Any) -> int:
    """Return a number for the tuple, by which `reference_at` finds it, in place of `_place_of` if the compiler is off."""
    _tuples[id(values)] = values
    return id(values)


def reference_at(kind: Reference) -> Any:
    """Return a function for kernels that makes a reference of this type from an address returned by `place_of`."""
    if not _COMPILED:
        return _tuples.__getitem__

    @intrinsic
    def at(typing_context: Any, place: Any) -> Any:
        def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], context.get_value_type(kind))

        return kind(types.int64), generate

    return at


@intrinsic(prefer_literal=True)
def _with_field(typing_context: Any, reference: Any, name: Any, value: Any) -> Any:
    """Generate `with_field`: a copy on the stack with one field replaced."""
    index = reference.pointee.fields.index(name.literal_value)
    kind = reference.pointee.types[index]

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        new = context.cast(builder, arguments[2], signature.args[2], kind)
        return copied(builder, builder.insert_value(fields_at(builder, arguments[0]), new, index))

    return reference(reference, name, value), generate


def _itself(values: Any) -> Any:
    """Return the argument, in place of `_reference_to` if the compiler is off."""
    return values


# (tuple): reference to a named tuple made in compiled code, valid while the calling kernel runs; it may not be returned. If the
# compiler is off a tuple is its own reference.
reference_to: Any = _reference_to if _COMPILED else _itself


# (reference): address of its tuple as an integer, for another thread; valid while the kernel runs that received the tuple
place_of: Any = _place_of if _COMPILED else _place_in_python


def _replaced(values: Any, name: str, value: Any) -> Any:
    """Return a copy with one field replaced, in place of `_with_field` if the compiler is off."""
    return values._replace(**{name: value})


# (reference, name, value): reference to a copy of the tuple with one field replaced, valid while the calling kernel runs
with_field: Any = _with_field if _COMPILED else _replaced
