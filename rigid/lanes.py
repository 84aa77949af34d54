"""SIMD lanes: numbers of eight items side by side, on which the kernels' formulas run as on one number.

`Lanes` is a numba type for eight doubles in a vector register (or in two or four of them on a machine with shorter registers).
Sums, products, quotients and roots are computed lane by lane; plain numbers are broadcast to all lanes. Nothing is contracted or
reordered, so that each lane is bit-identical to the result of the same formula for its item alone. The source of a kernel on
tuples of numbers compiles for tuples of lanes without changes, provided that it has no branch: decisions for all lanes together
use `largest`.

There are two ways to access memory: `load` and `store` if the lanes of a number lie side by side; `rows*`, `numbers*` and
`add_rows*` if the numbers of each item lie side by side, by transposing 8 x 8. Offsets are checked against the size of the array
if NUMBA_BOUNDSCHECK is set, as numba checks indices.

Without the compiler (NUMBA_DISABLE_JIT) lanes are arrays of numpy.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core.imputils import lower_builtin, lower_cast
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, models, register_model

COMPILED = not getattr(numba.config, "DISABLE_JIT", False)
WIDTH = 8

_DOUBLE, _I32, _I64 = ir.DoubleType(), ir.IntType(32), ir.IntType(64)
VECTOR = ir.VectorType(_DOUBLE, 8)
_UNDEFINED = ir.Constant(VECTOR, ir.Undefined)


class Lanes(types.Type):
    """Numba type of eight doubles."""

    def __init__(self) -> None:
        super().__init__(name="Lanes")

    def can_convert_from(self, typing: Any, other: Any) -> Any:
        """Permit the conversion of a number, which is broadcast to all lanes."""
        return Conversion.safe if isinstance(other, types.Float | types.Integer) else None

    def unify(self, typing: Any, other: Any) -> Any:
        """Return the type of a variable that may be a number or lanes: lanes."""
        return self if isinstance(other, types.Float | types.Integer) else None


LANES = Lanes()


@register_model(Lanes)
class _Model(models.PrimitiveModel):
    """Data model: a vector of eight doubles."""

    def __init__(self, manager: Any, of: Any) -> None:
        super().__init__(manager, of, VECTOR)


def spread(context: Any, builder: Any, x: Any, of: Any) -> Any:
    """Broadcast a number to all lanes; return lanes unchanged."""
    if isinstance(of, Lanes):
        return x
    x = context.cast(builder, x, of, types.float64)
    if isinstance(x, ir.Constant):
        return ir.Constant(VECTOR, [x] * 8)
    first = builder.insert_element(_UNDEFINED, x, _I32(0))
    return builder.shuffle_vector(first, _UNDEFINED, ir.Constant(ir.VectorType(_I32, 8), [0] * 8))


@lower_cast(types.Float, Lanes)
@lower_cast(types.Integer, Lanes)
def _cast(context: Any, builder: Any, of: Any, to: Any, x: Any) -> Any:
    """Convert a number to lanes."""
    return spread(context, builder, x, of)


def _operation(function: Any, instruction: str) -> None:
    """Define an operator lane by lane, for two operands that are lanes, or lanes and a number."""

    @infer_global(function)
    class _(AbstractTemplate):
        def generic(self, arguments: Any, named: Any) -> Any:
            are_numeric = all(
                isinstance(argument, Lanes | types.Float | types.Integer) for argument in arguments
            )
            if are_numeric and len(arguments) == 2 and LANES in arguments:
                return signature(LANES, *arguments)
            return None

    def lower(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        both = (spread(context, builder, x, of) for x, of in zip(arguments, sig.args, strict=True))
        return getattr(builder, instruction)(*both)

    numbers = (types.Float, types.Integer)
    for of in (
        (Lanes, Lanes),
        *((Lanes, number) for number in numbers),
        *((number, Lanes) for number in numbers),
    ):
        lower_builtin(function, *of)(lower)


for _function, _instruction in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
    (operator.iadd, "fadd"),
    (operator.isub, "fsub"),
    (operator.imul, "fmul"),
    (operator.itruediv, "fdiv"),
):
    _operation(_function, _instruction)


@infer_global(operator.neg)
class _Negative(AbstractTemplate):
    def generic(self, arguments: Any, named: Any) -> Any:
        return signature(LANES, LANES) if arguments == (LANES,) else None


@lower_builtin(operator.neg, Lanes)
def _negative(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
    return builder.fneg(arguments[0])


@infer_global(abs)
class _Size(AbstractTemplate):
    def generic(self, arguments: Any, named: Any) -> Any:
        return signature(LANES, LANES) if arguments == (LANES,) else None


@lower_builtin(abs, Lanes)
def _size(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
    return _sizes(builder, arguments[0])


def _sizes(builder: Any, x: Any) -> Any:
    """Generate the absolute values of lanes."""
    name, of = "llvm.fabs.v8f64", ir.FunctionType(VECTOR, [VECTOR])
    return builder.call(builder.module.globals.get(name) or ir.Function(builder.module, of, name), [x])


@intrinsic
def _most(typing: Any, x: Any, y: Any) -> Any:
    """Generate `most`: the maximum of two numbers, or lane by lane."""
    of = LANES if LANES in (x, y) else types.float64

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        first, second = (
            context.cast(builder, argument, kind, of)
            for argument, kind in zip(arguments, sig.args, strict=True)
        )
        return builder.select(builder.fcmp_ordered("<", first, second), second, first)

    return of(x, y), generate


@intrinsic
def _root(typing: Any, x: Any) -> Any:
    """Generate `root`: the square root of a number or of lanes."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        of = context.get_value_type(sig.return_type)
        name = "llvm.sqrt.v8f64" if isinstance(sig.return_type, Lanes) else "llvm.sqrt.f64"
        declared = builder.module.globals.get(name)
        return builder.call(
            declared or ir.Function(builder.module, ir.FunctionType(of, [of]), name), arguments
        )

    return x(x), generate


@intrinsic
def _largest(typing: Any, x: Any) -> Any:
    """Generate `largest`: the maximum over all lanes that are not nan."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        vector = arguments[0]
        if not isinstance(sig.args[0], Lanes):
            return vector
        for half in (4, 2, 1):
            low, high = (_part(builder, vector, first, half, half) for first in (0, half))
            not_nan = builder.select(builder.fcmp_unordered("uno", high, high), low, high)
            vector = builder.select(builder.fcmp_ordered(">", low, high), low, not_nan)
        return builder.extract_element(vector, _I32(0))

    return types.float64(x), generate


@intrinsic
def _spread_lane(typing: Any, x: Any, lane: Any) -> Any:
    """Generate `spread_lane`: broadcast one lane to all."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        one = builder.extract_element(arguments[0], builder.trunc(arguments[1], _I32))
        return spread(context, builder, one, types.float64)

    return LANES(x, types.intp), generate


@intrinsic
def _lane(typing: Any, x: Any, lane: Any) -> Any:
    """Generate `lane`: the number of one lane."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return builder.extract_element(arguments[0], builder.trunc(arguments[1], _I32))

    return types.float64(x, types.intp), generate


@intrinsic
def _choose(typing: Any, inside: Any, outside: Any, first: Any, end: Any) -> Any:
    """Generate `choose`: select `inside` in lanes first .. end - 1, `outside` in the others."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        inside, outside = (
            spread(context, builder, x, of) for x, of in zip(arguments[:2], sig.args[:2], strict=True)
        )
        number = ir.Constant(ir.VectorType(_I32, 8), list(range(8)))
        empty = ir.Constant(number.type, ir.Undefined)
        low, high = (
            builder.shuffle_vector(
                builder.insert_element(empty, builder.trunc(x, _I32), _I32(0)),
                empty,
                ir.Constant(number.type, [0] * 8),
            )
            for x in arguments[2:]
        )
        within = builder.and_(builder.icmp_signed(">=", number, low), builder.icmp_signed("<", number, high))
        return builder.select(within, inside, outside)

    return LANES(inside, outside, types.intp, types.intp), generate


@intrinsic
def _larger(typing: Any, x: Any, y: Any) -> Any:
    """Generate `larger`: the maximum of |x| and |y|, lane by lane."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        x, y = (spread(context, builder, x, of) for x, of in zip(arguments, sig.args, strict=True))
        x, y = _sizes(builder, x), _sizes(builder, y)
        return builder.select(builder.fcmp_ordered(">", x, y), x, y)

    return LANES(x, y), generate


@intrinsic
def _where_less(typing: Any, x: Any, y: Any, then: Any, otherwise: Any) -> Any:
    """Generate `where_less`: select `then` if x < y, else `otherwise`, lane by lane."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        x, y, then, otherwise = (
            spread(context, builder, x, of) for x, of in zip(arguments, sig.args, strict=True)
        )
        return builder.select(builder.fcmp_ordered("<", x, y), then, otherwise)

    return LANES(x, y, then, otherwise), generate


def _pointer(context: Any, builder: Any, of: Any, array: Any, offset: Any, kind: Any) -> Any:
    """Return a pointer to `kind` at an offset of an array, counted through all of its axes."""
    struct = context.make_array(of)(context, builder, array)
    check_place(context, builder, struct, offset, getattr(kind, "count", 1))
    return builder.bitcast(builder.gep(struct.data, [offset]), kind.as_pointer())


def check_place(context: Any, builder: Any, array: Any, offset: Any, count: int) -> None:
    """Generate a check that `count` numbers from an offset on lie in the array, which raises IndexError.

    No check is generated unless NUMBA_BOUNDSCHECK is set.
    """
    if not numba.config.BOUNDSCHECK:  # type: ignore[attr-defined]
        return
    before = builder.icmp_signed("<", offset, _I64(0))
    beyond = builder.icmp_signed(">", builder.add(offset, _I64(count)), array.nitems)
    with builder.if_then(builder.or_(before, beyond), likely=False):
        message = f"{count} numbers side by side are not all in their array"
        context.call_conv.return_user_exc(builder, IndexError, (message,))


def vector_pointer(builder: Any, data: Any) -> Any:
    """Cast a pointer to numbers to a pointer to lanes."""
    return builder.bitcast(data, VECTOR.as_pointer())


def _is_plain(*arrays: Any) -> bool:
    """Return True if all types are those of C-contiguous arrays."""
    return all(isinstance(array, types.Array) and array.layout == "C" for array in arrays)


@intrinsic
def _load(typing: Any, array: Any, offset: Any) -> Any:
    """Generate `load`: eight numbers at an offset of an array."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        array, offset = arguments
        return builder.load(_pointer(context, builder, sig.args[0], array, offset, VECTOR), align=8)

    return (LANES(array, types.intp), generate) if _is_plain(array) else None


@intrinsic
def _store(typing: Any, x: Any, array: Any, offset: Any) -> Any:
    """Generate `store`: lanes, or a number broadcast to all, to an offset of an array."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        x, array, offset = arguments
        x = spread(context, builder, x, sig.args[0])
        builder.store(x, _pointer(context, builder, sig.args[1], array, offset, VECTOR), align=8)
        return context.get_dummy_value()

    return (types.void(x, array, types.intp), generate) if _is_plain(array) else None


@intrinsic
def _load4(typing: Any, array: Any, offset: Any) -> Any:
    """Generate `load4`: four numbers of an array into the first four lanes."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        array, offset = arguments
        x = _read(context, builder, sig.args[0], array, offset, 4)
        return _part(builder, x, 0, 4, 8)

    return (LANES(array, types.intp), generate) if _is_plain(array) else None


@intrinsic
def _store4(typing: Any, x: Any, array: Any, offset: Any) -> Any:
    """Generate `store4`: the first four lanes to an array."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        x, array, offset = arguments
        pointer = _pointer(context, builder, sig.args[1], array, offset, ir.VectorType(_DOUBLE, 4))
        builder.store(_part(builder, x, 0, 4, 4), pointer, align=8)
        return context.get_dummy_value()

    return (types.void(x, array, types.intp), generate) if _is_plain(array) else None


@intrinsic
def _load6(typing: Any, array: Any, offset: Any) -> Any:
    """Generate `load6`: six numbers of an array into the first six lanes."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        array, offset = arguments
        parts = []
        for at, count in ((0, 4), (4, 2)):
            kind = ir.VectorType(_DOUBLE, count)
            pointer = _pointer(context, builder, sig.args[0], array, builder.add(offset, _I64(at)), kind)
            parts.append(_part(builder, builder.load(pointer, align=8), 0, count, 8))
        mask = ir.Constant(ir.VectorType(_I32, 8), [0, 1, 2, 3, 8, 9, 8, 9])
        return builder.shuffle_vector(*parts, mask)

    return (LANES(array, types.intp), generate) if _is_plain(array) else None


@intrinsic
def _store6(typing: Any, x: Any, array: Any, offset: Any) -> Any:
    """Generate `store6`: the first six lanes to an array."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        x, array, offset = arguments
        for at, count in ((0, 4), (4, 2)):
            kind = ir.VectorType(_DOUBLE, count)
            pointer = _pointer(context, builder, sig.args[1], array, builder.add(offset, _I64(at)), kind)
            builder.store(_part(builder, x, at, count, count), pointer, align=8)
        return context.get_dummy_value()

    return (types.void(x, array, types.intp), generate) if _is_plain(array) else None


def _transposed(builder: Any, vectors: list[Any], steps: tuple[int, ...] = (1, 2)) -> list[Any]:
    """Transpose eight vectors of lanes into one vector for each lane, or back, with `steps` (1, 2, 4).

    Without the last step each 4 x 4 corner is transposed, for callers that exchange halves of vectors when they read or write
    them.
    """
    for step in steps:
        low, high = [], []
        for i in range(8):
            is_odd = bool(i & step)
            low.append(8 + i - step if is_odd else i)
            high.append(8 + i if is_odd else i + step)
        mixed = list(vectors)
        for i in (k for k in range(8) if not k & step):
            both = vectors[i], vectors[i | step]
            mixed[i] = builder.shuffle_vector(*both, ir.Constant(ir.VectorType(_I32, 8), low))
            mixed[i | step] = builder.shuffle_vector(*both, ir.Constant(ir.VectorType(_I32, 8), high))
        vectors = mixed
    return vectors


def _stack_halves(builder: Any, rows: list[Any]) -> list[Any]:
    """Combine the first four of eight rows with the last four: four vectors, each of rows i and i + 4 as its halves."""
    if not isinstance(rows[0].type, ir.VectorType):
        empty = ir.Constant(ir.VectorType(_DOUBLE, 2), ir.Undefined)
        rows = [builder.insert_element(empty, x, _I32(0)) for x in rows]
    count = rows[0].type.count
    mask = [k if k < count else 0 for k in range(4)]
    both = ir.Constant(ir.VectorType(_I32, 8), mask + [count + k for k in mask])
    return [builder.shuffle_vector(rows[i], rows[i + 4], both) for i in range(4)]


def _part(builder: Any, vector: Any, first: int, count: int, of: int) -> Any:
    """Return entries first .. first + count - 1 of a vector as one of `of` entries; entries behind them have no meaning."""
    mask = [first + k if k < count else 0 for k in range(of)]
    return builder.shuffle_vector(
        vector, ir.Constant(vector.type, ir.Undefined), ir.Constant(ir.VectorType(_I32, of), mask)
    )


def _read(context: Any, builder: Any, of: Any, array: Any, offset: Any, count: int) -> Any:
    """Load `count` numbers of an array."""
    kind = ir.VectorType(_DOUBLE, count) if count > 1 else _DOUBLE
    return builder.load(_pointer(context, builder, of, array, offset, kind), align=8)


def _integers(context: Any, builder: Any, of: Any, array: Any, offset: Any) -> Any:
    """Load eight integers of an array."""
    return builder.load(_pointer(context, builder, of, array, offset, ir.VectorType(_I64, 8)), align=8)


def _gather(context: Any, builder: Any, sig: Any, array: Any, firsts: list[Any], width: int) -> list[Any]:
    """Load `width` numbers of an array from each of eight offsets; return them as `width` vectors of lanes."""
    vectors: list[Any] = []
    for at in range(0, width, 8):
        count = min(8, width - at)
        halves = [(k, min(4, count - k)) for k in range(0, count, 4)]
        rows = [
            [
                _read(context, builder, sig.args[0], array, builder.add(first, _I64(at + k)), n)
                for first in firsts
            ]
            for k, n in halves
        ]
        if count == 1:
            vector = _UNDEFINED
            for lane, x in enumerate(rows[0]):
                vector = builder.insert_element(vector, x, _I32(lane))
            vectors.append(vector)
        elif count <= 4:
            full = [_part(builder, x, 0, count, 8) for x in rows[0]]
            vectors += _transposed(builder, full, (1, 2, 4))[:count]
        else:
            both = [part for row in rows for part in _stack_halves(builder, row)]
            vectors += _transposed(builder, both)[:count]
    return vectors


def _rows(width: int) -> Any:
    """Make the intrinsic that loads the rows items[first], items[first + 1], ... of an array with `width` numbers in a row."""

    @intrinsic
    def rows(typing: Any, array: Any, items: Any, first: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
            array, items, first = arguments
            index_vector = _integers(context, builder, sig.args[1], items, first)
            indices = (builder.extract_element(index_vector, _I32(lane)) for lane in range(8))
            firsts = [builder.mul(item, _I64(width)) for item in indices]
            vectors = _gather(context, builder, sig, array, firsts, width)
            return context.make_tuple(builder, sig.return_type, vectors)

        if not _is_plain(array, items):
            return None
        return types.UniTuple(LANES, width)(array, items, types.intp), generate

    return rows


def _numbers(width: int) -> Any:
    """Make the intrinsic that loads array[offsets[first + l] + offset + k] into lane l, k < width."""

    @intrinsic
    def numbers(typing: Any, array: Any, offsets: Any, first: Any, offset: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
            array, offsets, first, offset = arguments
            index_vector = _integers(context, builder, sig.args[1], offsets, first)
            indices = (builder.extract_element(index_vector, _I32(lane)) for lane in range(8))
            firsts = [builder.add(base, offset) for base in indices]
            vectors = _gather(context, builder, sig, array, firsts, width)
            return context.make_tuple(builder, sig.return_type, vectors)

        if not _is_plain(array, offsets):
            return None
        return types.UniTuple(LANES, width)(array, offsets, types.intp, types.intp), generate

    return numbers


def _parts(width: int) -> list[tuple[int, int]]:
    """Split a row into pieces whose lengths are powers of two; return first numbers and lengths."""
    parts, at = [], 0
    for count in (4, 2, 1):
        while width - at >= count:
            parts.append((at, count))
            at += count
    return parts


def _rows_of_lanes(context: Any, builder: Any, of: Any, x: Any) -> list[list[Any]]:
    """Transpose a tuple of lanes or numbers: return, for each group of four of its numbers, the four numbers of each lane."""
    numbers = [spread(context, builder, builder.extract_value(x, k), kind) for k, kind in enumerate(of.types)]
    count = len(numbers)
    numbers += [_UNDEFINED] * (-count % 8)
    groups = []
    for at in range(0, len(numbers), 8):
        vectors = _transposed(builder, numbers[at : at + 8])
        for four in (vectors[:4], vectors[4:]):
            groups.append([_part(builder, vector, first, 4, 4) for first in (0, 4) for vector in four])
    return groups


def _add_rows(width: int) -> Any:
    """Make the intrinsic array[offsets[first + l] + column strides[second + l] + k] += x[k] of lane l, k < width."""

    @intrinsic
    def add(
        typing: Any, x: Any, array: Any, offsets: Any, strides: Any, first: Any, second: Any, column: Any
    ) -> Any:
        def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
            x, array, offsets, strides, first, second, column = arguments
            base = _integers(context, builder, sig.args[2], offsets, first)
            stride = _integers(context, builder, sig.args[3], strides, second)
            rows = _rows_of_lanes(context, builder, sig.args[0], x)
            for lane in range(8):
                start = builder.add(
                    builder.extract_element(base, _I32(lane)),
                    builder.mul(builder.extract_element(stride, _I32(lane)), column),
                )
                for at, count in _parts(width):
                    kind = ir.VectorType(_DOUBLE, count)
                    position = builder.add(start, _I64(at))
                    pointer = _pointer(context, builder, sig.args[1], array, position, kind)
                    addend = _part(builder, rows[at // 4][lane], at % 4, count, count)
                    builder.store(builder.fadd(builder.load(pointer, align=8), addend), pointer, align=8)
            return context.get_dummy_value()

        if not _is_plain(array, offsets, strides):
            return None
        return types.void(x, array, offsets, strides, types.intp, types.intp, types.intp), generate

    return add


def _put(width: int, by_row: bool) -> Any:
    """Make the intrinsic that stores numbers of lanes.

    `by_row`: True to store to the rows items[first], items[first + 1], ... of an array with `width` numbers in a row; else to
    array[offsets[first + l] + k] of lane l, k < width. If several lanes have the same offset the last one's numbers stay.
    """

    @intrinsic
    def put(typing: Any, x: Any, array: Any, offsets: Any, first: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
            x, array, offsets, first = arguments
            base = _integers(context, builder, sig.args[2], offsets, first)
            rows = _rows_of_lanes(context, builder, sig.args[0], x)
            for lane in range(8):
                start = builder.extract_element(base, _I32(lane))
                if by_row:
                    start = builder.mul(start, _I64(width))
                for at, count in _parts(width):
                    kind = ir.VectorType(_DOUBLE, count)
                    position = builder.add(start, _I64(at))
                    pointer = _pointer(context, builder, sig.args[1], array, position, kind)
                    part = _part(builder, rows[at // 4][lane], at % 4, count, count)
                    builder.store(part, pointer, align=8)
            return context.get_dummy_value()

        if not _is_plain(array, offsets):
            return None
        return types.void(x, array, offsets, types.intp), generate

    return put


# Without the compiler lanes are arrays of numpy.


def _load_array(array: Any, offset: int) -> Any:
    return array.reshape(-1)[offset : offset + WIDTH].copy()


def _store_array(x: Any, array: Any, offset: int) -> None:
    array.reshape(-1)[offset : offset + WIDTH] = x


def _most_array(x: Any, y: Any) -> Any:
    result: Any = np.where(x < y, y, x)
    return result[()]


def _load4_array(array: Any, offset: int) -> Any:
    return np.resize(array.reshape(-1)[offset : offset + 4], WIDTH)


def _store4_array(x: Any, array: Any, offset: int) -> None:
    array.reshape(-1)[offset : offset + 4] = x[:4]


def _load6_array(array: Any, offset: int) -> Any:
    return np.concatenate(
        [array.reshape(-1)[offset : offset + 6], array.reshape(-1)[offset + 4 : offset + 6]]
    )


def _store6_array(x: Any, array: Any, offset: int) -> None:
    array.reshape(-1)[offset : offset + 6] = x[:6]


def _choose_array(inside: Any, outside: Any, first: int, end: int) -> Any:
    number = np.arange(WIDTH)
    return np.where((number >= first) & (number < end), inside, outside)


def _rows_of_array(width: int) -> Callable[..., Any]:
    """Make the version of `_rows` for arrays of numpy."""

    def rows(array: Any, items: Any, first: int) -> Any:
        return tuple(array.reshape(-1, width)[items.reshape(-1)[first : first + WIDTH]].T.astype(float))

    return rows


def _numbers_of_array(width: int) -> Callable[..., Any]:
    """Make the version of `_numbers` for arrays of numpy."""

    def numbers(array: Any, offsets: Any, first: int, offset: int) -> Any:
        at = offsets.reshape(-1)[first : first + WIDTH, None] + offset + np.arange(width)
        return tuple(array.reshape(-1)[at].T.astype(float))

    return numbers


def _add_rows_of_array(width: int) -> Callable[..., Any]:
    """Make the version of `_add_rows` for arrays of numpy."""

    def add(x: Any, array: Any, offsets: Any, strides: Any, first: int, second: int, column: int) -> None:
        for number in range(WIDTH):
            start = offsets.reshape(-1)[first + number] + column * strides.reshape(-1)[second + number]
            array.reshape(-1)[start : start + width] += [float(np.broadcast_to(k, WIDTH)[number]) for k in x]

    return add


def _put_of_array(width: int, by_row: bool) -> Callable[..., Any]:
    """Make the version of `_put` for arrays of numpy."""

    def put(x: Any, array: Any, offsets: Any, first: int) -> None:
        for number in range(WIDTH):
            start = offsets.reshape(-1)[first + number] * (width if by_row else 1)
            array.reshape(-1)[start : start + width] = [float(np.broadcast_to(k, WIDTH)[number]) for k in x]

    return put


def _either(compiled: Any, function: Any) -> Any:
    """Return the compiled version, or the Python function if the compiler is off."""
    return compiled if COMPILED else function


# (array, offset), (x, array, offset): load or store lanes side by side at an offset of an array, counted through all of its axes
load, store = _either(_load, _load_array), _either(_store, _store_array)
# load or store only the first four or six lanes; the values of the others are undefined after loading
load4, store4 = _either(_load4, _load4_array), _either(_store4, _store4_array)
load6, store6 = _either(_load6, _load6_array), _either(_store6, _store6_array)
# (x): square root of a number or of lanes
root = _either(_root, np.sqrt)
# (x): maximum over all lanes that are not nan
largest = _either(_largest, lambda x: float(np.fmax.reduce(np.atleast_1d(x))))
# (x, y): maximum of two numbers, or lane by lane; x if one of them is nan
most = _either(_most, _most_array)
# (x, y): maximum of |x| and |y|, lane by lane
larger = _either(_larger, lambda x, y: np.maximum(np.abs(x), np.abs(y)))
# (x, k): `lane` returns the number of lane k, `spread_lane` broadcasts it to all lanes
lane = _either(_lane, lambda x, k: float(x[k]))
spread_lane = _either(_spread_lane, lambda x, k: np.full(WIDTH, x[k]))
# (x, y, then, otherwise): select `then` if x < y, else `otherwise`, lane by lane
where_less = _either(_where_less, lambda x, y, then, otherwise: np.where(x < y, then, otherwise))
# (inside, outside, first, end): select `inside` in lanes first .. end - 1, `outside` in the others
choose = _either(_choose, _choose_array)
# (array, items, i): load the rows items[i], items[i + 1], ... of an array; the name ends with the number of numbers in a row
_of_rows = _either(_rows, _rows_of_array)
rows1, rows3, rows4, rows6, rows9, rows36 = (_of_rows(width) for width in (1, 3, 4, 6, 9, 36))
# (array, offsets, i, offset): load the numbers from array[offsets[i + l] + offset] on into lane l
numbers1, numbers2, numbers3, numbers4, numbers6, numbers7 = (
    _either(_numbers(width), _numbers_of_array(width)) for width in (1, 2, 3, 4, 6, 7)
)
# (x, array, offsets, strides, i, j, column): add, array[offsets[i + l] + column strides[j + l] + k] += x[k] of lane l
_to_rows = _either(_add_rows, _add_rows_of_array)
add_rows2, add_rows3, add_rows4, add_rows6, add_rows12 = (_to_rows(width) for width in (2, 3, 4, 6, 12))
# (x, array, items, i): `put_rows*` store to the rows items[i], items[i + 1], ... of an array; the name ends with
# the number of numbers in a row; (x, array, offsets, i): `put*` store to array[offsets[i + l] + k] of lane l
put_rows3, put_rows4, put_rows6, put_rows9, put_rows12 = (
    _either(_put(width, True), _put_of_array(width, True)) for width in (3, 4, 6, 9, 12)
)
put3, put4, put5, put6, put9, put15, put18, put27, put48 = (
    _either(_put(width, False), _put_of_array(width, False)) for width in (3, 4, 5, 6, 9, 15, 18, 27, 48)
)
