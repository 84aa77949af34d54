"""Arrays of lanes: a kernel's source, which reads and writes numbers of arrays, serves eight items at once.

An array of floats whose last axis counts eight items has for compiled code one axis less, and `Lanes` (`rigid.lanes`) for
numbers: `in_lanes` says so of an array, and of all arrays of floats of a named tuple by reference. What is compiled for such
arguments is the source that serves one item, as long as no branch asks for a number of an item: there are no comparisons of
lanes, so that the compiler finds each that does. A number becomes lanes where lanes are wanted, as the value of an array or of
a variable that may be either.

Without the compiler (NUMBA_DISABLE_JIT) arrays stay as they are: their numbers are arrays of numpy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from rigid.lanes import COMPILED, LANES, WIDTH, vector_pointer
from rigid.references import Reference, copied, fields_at
from rigid.system import Floats

_BYTES = 8 * WIDTH


def _type_in_lanes(kind: Any) -> Any:
    """Of what `kind` is once its arrays of floats are ones of lanes; a TypeError where they cannot be."""
    if isinstance(kind, Reference):
        return Reference(_type_in_lanes(kind.pointee))
    if isinstance(kind, types.BaseTuple):
        fields = [_type_in_lanes(field) for field in _fields(kind)]
        return types.BaseTuple.from_types(fields, getattr(kind, "instance_class", None))
    if not isinstance(kind, types.Array) or kind.dtype != types.float64:
        return kind
    if kind.layout != "C" or kind.ndim < 2:
        raise TypeError(f"in_lanes: {kind} has no last axis for lanes")
    # numpy's arrays begin at multiples of 16 bytes, lanes are 64
    return types.Array(LANES, kind.ndim - 1, "C", aligned=False)


def _fields(kind: Any) -> Any:
    return kind.types


def _value_in_lanes(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """The same numbers."""
    from numba.np.arrayobj import populate_array  # half of numba, where something is compiled alone

    if isinstance(kind, types.BaseTuple):
        fields = [
            _value_in_lanes(context, builder, own, builder.extract_value(value, k))
            for k, own in enumerate(_fields(kind))
        ]
        return context.make_tuple(builder, _type_in_lanes(kind), fields)
    if _type_in_lanes(kind) is kind:
        return value
    of = _type_in_lanes(kind)
    array, lanes = (
        context.make_array(kind)(context, builder, value),
        context.make_array(of)(context, builder),
    )
    shape, strides = (cgutils.unpack_tuple(builder, own)[:-1] for own in (array.shape, array.strides))
    data = vector_pointer(builder, array.data)
    populate_array(lanes, data, shape, strides, _BYTES, array.meminfo, array.parent)
    return lanes._getvalue()


@intrinsic
def _in_lanes(typing: Any, of: Any) -> Any:
    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        if not isinstance(of, Reference):
            return _value_in_lanes(context, builder, of, arguments[0])
        values = _value_in_lanes(context, builder, of.pointee, fields_at(builder, arguments[0]))
        return copied(builder, values)

    return _type_in_lanes(of)(of), generate


def _as_it_is(of: Any) -> Any:
    return of


# (array or reference): the same with arrays of lanes, for as long as the kernel that asks for it runs
in_lanes: Any = _in_lanes if COMPILED else _as_it_is


def room(*shape: int) -> Floats:
    """Zeros (*shape, 8), lanes of which begin where a line of the processor's memory does: others take two."""
    return aligned(*shape, WIDTH)


def aligned(*shape: int) -> Floats:
    """Zeros of a shape that begin where a line of the processor's memory does."""
    size = math.prod(shape)
    numbers = np.zeros(size + WIDTH - 1)
    first = -(numbers.__array_interface__["data"][0] // numbers.itemsize) % WIDTH
    return numbers[first : first + size].reshape(shape)


def stacked(of: Sequence[Any]) -> Any:
    """Values of eight items as one: arrays of floats with a last axis behind theirs, named tuples field by field, all else as the
    first one has it.
    """
    first = of[0]
    if isinstance(first, tuple):
        fields = [stacked(own) for own in zip(*of, strict=True)]
        return type(first)(*fields) if hasattr(first, "_fields") else tuple(fields)
    if isinstance(first, np.ndarray) and first.dtype == np.float64:
        lanes = room(*first.shape)
        if all(own is first for own in of):  # as often
            lanes[...] = first[..., None]
        else:
            np.stack(of, axis=-1, out=lanes)
        return lanes
    return first


def alike(value: Any) -> tuple[Any, ...]:
    """What eight items must have in common to be stacked: all that is no array of floats, and the shapes of these."""
    if isinstance(value, tuple):
        return tuple(alike(own) for own in value)
    if not isinstance(value, np.ndarray):
        return (value,)
    return (value.shape,) if value.dtype == np.float64 else (value.shape, value.tobytes())
