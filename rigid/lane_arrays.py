"""View arrays as SIMD lanes: the source of a kernel that processes the numbers of one item processes eight items at once.

An array of floats whose last axis counts eight items has one axis less for compiled code, with numbers of the type `Lanes`
(`rigid.lanes`). `view_in_lanes` makes this view of an array, and of all arrays of floats of a named tuple by reference. A kernel
compiled for such arguments uses the same source as for one item, provided that no branch depends on a number of an item: lanes
cannot be compared, so the compiler reports every such branch. A number is converted to lanes if lanes are needed, as the value
of an array element or of a variable that may be either.

Without the compiler (NUMBA_DISABLE_JIT) arrays stay as they are: their elements are arrays of numpy.
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
from rigid.system import Floats
from rigid.tuple_references import Reference, copied, fields_at

_BYTES = 8 * WIDTH


def _type_in_lanes(kind: Any) -> Any:
    """Return the type of `kind` with its arrays of floats replaced by arrays of lanes. Raise TypeError if they cannot
    be replaced.
    """
    if isinstance(kind, Reference):
        return Reference(_type_in_lanes(kind.pointee))
    if isinstance(kind, types.BaseTuple):
        fields = [_type_in_lanes(field) for field in _fields(kind)]
        return types.BaseTuple.from_types(fields, getattr(kind, "instance_class", None))
    if not isinstance(kind, types.Array) or kind.dtype != types.float64:
        return kind
    if kind.layout != "C" or kind.ndim < 2:
        raise TypeError(f"in_lanes: {kind} has no last axis for lanes")
    # not aligned for numba: numpy's arrays begin at multiples of 16 bytes, lanes are 64 bytes long
    return types.Array(LANES, kind.ndim - 1, "C", aligned=False)


def _fields(kind: Any) -> Any:
    """Return the types of the fields of a tuple type."""
    return kind.types


def _value_in_lanes(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Generate the view of a value of type `kind` with arrays of lanes; the data are shared, not copied."""
    from numba.np.arrayobj import populate_array  # imports half of numba, so only when something is compiled

    if isinstance(kind, types.BaseTuple):
        fields = [
            _value_in_lanes(context, builder, item, builder.extract_value(value, k))
            for k, item in enumerate(_fields(kind))
        ]
        return context.make_tuple(builder, _type_in_lanes(kind), fields)
    if _type_in_lanes(kind) is kind:
        return value
    of = _type_in_lanes(kind)
    array, lanes = (
        context.make_array(kind)(context, builder, value),
        context.make_array(of)(context, builder),
    )
    shape, strides = (cgutils.unpack_tuple(builder, item)[:-1] for item in (array.shape, array.strides))
    data = vector_pointer(builder, array.data)
    populate_array(lanes, data, shape, strides, _BYTES, array.meminfo, array.parent)
    return lanes._getvalue()


@intrinsic
def _in_lanes(typing: Any, of: Any) -> Any:
    """Generate `view_in_lanes`."""

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        if not isinstance(of, Reference):
            return _value_in_lanes(context, builder, of, arguments[0])
        values = _value_in_lanes(context, builder, of.pointee, fields_at(builder, arguments[0]))
        return copied(builder, values)

    return _type_in_lanes(of)(of), generate


def _as_it_is(of: Any) -> Any:
    """Return the argument, in place of `_in_lanes` if the compiler is off."""
    return of


# (array or reference): view with arrays of lanes, valid while the calling kernel runs
view_in_lanes: Any = _in_lanes if COMPILED else _as_it_is


def zeros_in_lanes(*shape: int) -> Floats:
    """Return zeros (*shape, 8), aligned so that each packet of lanes lies in one cache line; unaligned packets occupy two."""
    return aligned(*shape, WIDTH)


def aligned(*shape: int) -> Floats:
    """Return zeros of a shape that start at a cache line boundary."""
    size = math.prod(shape)
    numbers = np.zeros(size + WIDTH - 1)
    first = -(numbers.__array_interface__["data"][0] // numbers.itemsize) % WIDTH
    return numbers[first : first + size].reshape(shape)


def stack_lanes(of: Sequence[Any]) -> Any:
    """Stack the values of eight items into one value.

    Arrays of floats get a last axis of length 8; named tuples are stacked field by field; everything else is taken from the first
    item.
    """
    first = of[0]
    if isinstance(first, tuple):
        fields = [stack_lanes(item) for item in zip(*of, strict=True)]
        return type(first)(*fields) if hasattr(first, "_fields") else tuple(fields)
    if isinstance(first, np.ndarray) and first.dtype == np.float64:
        lanes = zeros_in_lanes(*first.shape)
        if all(item is first for item in of):  # a frequent case
            lanes[...] = first[..., None]
        else:
            np.stack(of, axis=-1, out=lanes)
        return lanes
    return first


def stacking_key(value: Any) -> tuple[Any, ...]:
    """Return what eight items must have in common to be stacked: all values that are not arrays of floats, and the
    shapes of these.
    """
    if isinstance(value, tuple):
        return tuple(stacking_key(item) for item in value)
    if not isinstance(value, np.ndarray):
        return (value,)
    return (value.shape,) if value.dtype == np.float64 else (value.shape, value.tobytes())
