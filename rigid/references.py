"""Named tuples of arrays by reference: one pointer where numba passes every field of every array by value.

A model is some 300 numbers and pointers. Passed by value they are the arguments of every kernel: most of the time the
compiler takes, and of a call. The outermost kernel puts each tuple on its stack and hands on where it is; fields are read
there as before, and fields that are tuples are references in turn.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core.imputils import impl_ret_borrowed
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, lower_getattr_generic, models, register_model

from rigid.compilation import compiler_is_off


class Reference(types.Type):  # type: ignore[misc]  # numba is not typed
    """Where a named tuple of type `pointee` is."""

    def __init__(self, pointee: Any):
        self.pointee = pointee
        super().__init__(name=f"Reference({pointee})")


@register_model(Reference)
class _Pointer(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, fe_type: Reference):
        super().__init__(manager, fe_type, manager.lookup(fe_type.pointee).get_value_type().as_pointer())


@infer_getattr
class _Fields(AttributeTemplate):  # type: ignore[misc]
    key = Reference

    def generic_resolve(self, reference: Reference, name: str) -> Any:
        tuple_type = reference.pointee
        if name not in tuple_type.fields:
            return None
        field = tuple_type.types[tuple_type.fields.index(name)]
        return Reference(field) if isinstance(field, types.NamedTuple) else field


@lower_getattr_generic(Reference)
def _field(context: Any, builder: Any, reference: Reference, pointer: Any, name: str) -> Any:
    tuple_type = reference.pointee
    index = tuple_type.fields.index(name)
    place = _inside(builder, pointer, index)
    field = tuple_type.types[index]
    if isinstance(field, types.NamedTuple):
        return place
    return impl_ret_borrowed(context, builder, field, _load(builder, place))


def _inside(builder: Any, pointer: Any, index: int) -> Any:
    integer = ir.IntType(32)
    return builder.gep(pointer, [integer(0), integer(index)], inbounds=True)


def _load(builder: Any, place: Any) -> Any:
    """The value at `place`, number by number: nothing writes to the tuple, so that loops need not read it again."""
    kind = place.type.pointee
    if isinstance(kind, ir.LiteralStructType | ir.IdentifiedStructType | ir.ArrayType):
        count = kind.count if isinstance(kind, ir.ArrayType) else len(kind.elements)
        value = ir.Constant(kind, ir.Undefined)
        for i in range(count):
            value = builder.insert_value(value, _load(builder, _inside(builder, place, i)), i)
        return value
    loaded = builder.load(place)
    loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
    return loaded


@intrinsic
def _by_reference(typing_context: Any, values: Any) -> Any:
    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        with builder.goto_entry_block():
            place = builder.alloca(arguments[0].type)
        builder.store(arguments[0], place)
        return place

    return Reference(values)(values), generate


def _as_it_is(values: Any) -> Any:
    return values


# Where the compiler is off a tuple is its own reference.
by_reference = _as_it_is if compiler_is_off() else _by_reference
