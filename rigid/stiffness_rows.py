"""Compute with stiffness rows: a force or moment component as a linear function of a displacement y and a rotation e, six
numbers.

A row (y, e) of one item is one register of `rigid.lanes`: y in lanes 0 to 2 and e in lanes 4 to 6; the other lanes have no
meaning. A row of eight items side by side (`rigid.lane_arrays`), and any row without the compiler, is a tuple of six numbers.
Both forms give bit-identical numbers. In an array a row occupies eight entries, as in the register.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from rigid.lanes import COMPILED, LANES, VECTOR, check_place, spread

_SIX = types.UniTuple(LANES, 6)
_ROWS = (LANES, _SIX)
_DOUBLE, _I32, _I64 = ir.DoubleType(), ir.IntType(32), ir.IntType(64)
_PLACES = 0, 1, 2, 4, 5, 6  # offsets of the six numbers among eight


def _numbers_of(builder: Any, kind: Any, x: Any) -> list[Any]:
    """Return the registers of a row: one, or six for a row of eight items."""
    return [x] if kind is LANES else [builder.extract_value(x, k) for k in range(6)]


def _row_from(context: Any, builder: Any, kind: Any, numbers: list[Any]) -> Any:
    """Make a row of its registers."""
    return numbers[0] if kind is LANES else context.make_tuple(builder, kind, numbers)


def _each_of_two(instruction: str) -> Any:
    """Make the intrinsic that applies an instruction to two rows, number by number."""

    @intrinsic
    def both(typing: Any, x: Any, y: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
            pairs = zip(*(_numbers_of(builder, x, argument) for argument in arguments), strict=True)
            return _row_from(context, builder, x, [getattr(builder, instruction)(*pair) for pair in pairs])

        return (x(x, y), generate) if x in _ROWS and x == y else None

    return both


@intrinsic
def _times(typing: Any, s: Any, x: Any) -> Any:
    """Generate `row_times`."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        factor = spread(context, builder, arguments[0], sig.args[0])
        products = [builder.fmul(factor, number) for number in _numbers_of(builder, x, arguments[1])]
        return _row_from(context, builder, x, products)

    return (x(s, x), generate) if x in _ROWS else None


@intrinsic
def _of_vectors(typing: Any, y: Any, e: Any) -> Any:
    """Generate `row_of`: a tuple of six lanes if one of the numbers is of lanes, else one register."""
    of_eight = LANES in [kind[k] for kind in (y, e) for k in range(3)]

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        numbers = [
            (builder.extract_value(x, k), kind[k])
            for x, kind in zip(arguments, sig.args, strict=True)
            for k in range(3)
        ]
        if of_eight:
            return _row_from(
                context, builder, _SIX, [spread(context, builder, x, kind) for x, kind in numbers]
            )
        vector = ir.Constant(VECTOR, [0.0] * 8)
        for lane, (x, kind) in zip(_PLACES, numbers, strict=True):
            vector = builder.insert_element(vector, context.cast(builder, x, kind, types.float64), _I32(lane))
        return vector

    return (_SIX if of_eight else LANES)(y, e), generate


@intrinsic
def _moved(typing: Any, x: Any, arm: Any) -> Any:
    """Generate `row_moved`. `arm`: (arm, arm) as a row."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        row, arms = (_numbers_of(builder, x, argument) for argument in arguments)
        if x is _SIX:
            pairs = [(builder.fmul(row[i], arms[j]), builder.fmul(row[j], arms[i])) for i, j in _PAIRS]
            turns = [builder.fsub(e, builder.fsub(*pair)) for e, pair in zip(row[3:], pairs, strict=True)]
            return _row_from(context, builder, x, row[:3] + turns)
        none = ir.Constant(VECTOR, ir.Undefined)

        def part(of: Any, lanes: list[int]) -> Any:
            return builder.shuffle_vector(of, none, ir.Constant(ir.VectorType(_I32, 8), lanes))

        # first - second is y x arm in lanes 4 to 6, and 0 in the others
        first = builder.fmul(part(row[0], [1, 1, 1, 1, 1, 2, 0, 0]), part(arms[0], [2, 2, 2, 2, 2, 0, 1, 0]))
        second = builder.fmul(part(row[0], [1, 1, 1, 1, 2, 0, 1, 0]), part(arms[0], [2, 2, 2, 2, 1, 2, 0, 0]))
        return builder.fsub(row[0], builder.fsub(first, second))

    return (x(x, arm), generate) if x in _ROWS and x == arm else None


_PAIRS = (1, 2), (2, 0), (0, 1)  # (y x arm)_k = y_i arm_j - y_j arm_i


def _kind_in(array: Any) -> Any:
    """Return the type of a row in an array, or None if the array cannot hold rows."""
    if not isinstance(array, types.Array) or array.layout != "C":
        return None
    return _SIX if array.dtype is LANES else LANES if array.dtype == types.float64 else None


def _pointer(context: Any, builder: Any, of: Any, array: Any, at: Any, k: int) -> Any:
    """Return a pointer to the register of a row at offset `at` + k of an array."""
    struct, offset = context.make_array(of)(context, builder, array), builder.add(at, _I64(k))
    check_place(context, builder, struct, offset, 1 if of.dtype is LANES else 8)
    return builder.bitcast(builder.gep(struct.data, [offset]), VECTOR.as_pointer())


def _places_in(array: Any) -> tuple[int, ...]:
    """Return the offsets of the registers of a row in an array."""
    return (0,) if _kind_in(array) is LANES else _PLACES


@intrinsic
def _at(typing: Any, array: Any, offset: Any) -> Any:
    """Generate `row_at`."""
    kind = _kind_in(array)

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        pointers = [
            _pointer(context, builder, array, arguments[0], arguments[1], k) for k in _places_in(array)
        ]
        return _row_from(context, builder, kind, [builder.load(pointer, align=8) for pointer in pointers])

    return (kind(array, types.intp), generate) if kind else None


@intrinsic
def _put(typing: Any, row: Any, array: Any, offset: Any) -> Any:
    """Generate `put_row`."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        for x, k in zip(_numbers_of(builder, row, arguments[0]), _places_in(array), strict=True):
            pointer = _pointer(context, builder, array, arguments[1], arguments[2], k)
            builder.store(x, pointer, align=8)
        return context.get_dummy_value()

    return (types.void(row, array, types.intp), generate) if _kind_in(array) is row else None


def _put_numbers(row: Any, array: Any, offset: int) -> None:
    """Store a row in an array, in place of `_put` if the compiler is off."""
    for x, k in zip(row, _PLACES, strict=True):
        array[offset + k] = x


def _moved_numbers(row: Any, arm: Any) -> Any:
    """Return the row of a displaced point, in place of `_moved` if the compiler is off."""
    rotational = [row[3 + k] - (row[i] * arm[j] - row[j] * arm[i]) for k, (i, j) in enumerate(_PAIRS)]
    return (*row[:3], *rotational)


def _either(compiled: Any, function: Any) -> Any:
    """Return the compiled version, or the Python function if the compiler is off."""
    return compiled if COMPILED else function


# (array, offset): load a row from an offset of an array; (row, array, offset): store a row at an offset
row_at = _either(_at, lambda array, place: tuple(array[place + k] for k in _PLACES))
put_row = _either(_put, _put_numbers)
# (y, e): row made of two vectors
row_of = _either(_of_vectors, lambda y, e: (*y, *e))
# (row, row): sum and difference of two rows
row_plus = _either(_each_of_two("fadd"), lambda x, y: tuple(a + b for a, b in zip(x, y, strict=True)))
row_minus = _either(_each_of_two("fsub"), lambda x, y: tuple(a - b for a, b in zip(x, y, strict=True)))
# (s, row): row multiplied by a number s
row_times = _either(_times, lambda s, x: tuple(s * a for a in x))
# (row, (arm, arm)): row as a function of the displacement of a point that is displaced by -arm, (y, e - y x arm)
row_moved = _either(_moved, _moved_numbers)
