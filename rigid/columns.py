"""Columns: six numbers that are computed as one, a force and a couple, or what these are of one unknown.

A column (f, k) of one item is one register of `rigid.lanes`, f in its lanes 0 to 2 and k in 4 to 6; the others say nothing. Of
eight items side by side (`rigid.lane_arrays`) it is a tuple of six lanes. Each of its numbers has the same bits both ways. In an
array it takes eight places, as in the register, where it is not said that it takes six.

Without the compiler (NUMBA_DISABLE_JIT) columns are arrays of numpy with six numbers, or lanes, along their first axis.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from rigid.lanes import COMPILED, LANES, VECTOR, check_place, spread

_SIX = types.UniTuple(LANES, 6)
_COLUMNS = (LANES, _SIX)
_DOUBLE, _I1, _I32, _I64 = ir.DoubleType(), ir.IntType(1), ir.IntType(32), ir.IntType(64)
_PLACES = 0, 1, 2, 4, 5, 6  # of the numbers among eight
_CROSS = [1, 2, 0, 3], [2, 0, 1, 3]
_PAIRS = (1, 2), (2, 0), (0, 1)  # (a x b)_k = a_i b_j - a_j b_i


def _shuffled(builder: Any, x: Any, y: Any, lanes: list[int]) -> Any:
    """Of two vectors."""
    return builder.shuffle_vector(x, y, ir.Constant(ir.VectorType(_I32, len(lanes)), lanes))


def _part(builder: Any, x: Any, lanes: list[int]) -> Any:
    """Of one vector."""
    return _shuffled(builder, x, ir.Constant(x.type, ir.Undefined), lanes)


def _half(builder: Any, x: Any, lower: bool) -> Any:
    return _part(builder, x, list(range(4, 8)) if lower else list(range(4)))


def _whole(builder: Any, f: Any, k: Any) -> Any:
    return _shuffled(builder, f, k, list(range(8)))


def _numbers_of(builder: Any, kind: Any, x: Any) -> list[Any]:
    """Registers of a column."""
    return [x] if kind is LANES else [builder.extract_value(x, k) for k in range(6)]


def _column_of(context: Any, builder: Any, kind: Any, numbers: list[Any]) -> Any:
    return numbers[0] if kind is LANES else context.make_tuple(builder, kind, numbers)


def _each_of_two(instruction: str) -> Any:
    """Intrinsic: number by number of two columns."""

    @intrinsic
    def both(typing: Any, x: Any, y: Any) -> Any:
        def generate(context: Any, builder: Any, called: Any, arguments: Any) -> Any:
            pairs = zip(*(_numbers_of(builder, x, own) for own in arguments), strict=True)
            found = [getattr(builder, instruction)(*pair) for pair in pairs]
            return _column_of(context, builder, x, found)

        return (x(x, y), generate) if x in _COLUMNS and x == y else None

    return both


@intrinsic
def _times(typing: Any, s: Any, x: Any) -> Any:
    def generate(context: Any, builder: Any, called: Any, arguments: Any) -> Any:
        factor = spread(context, builder, arguments[0], called.args[0])
        found = [builder.fmul(factor, own) for own in _numbers_of(builder, x, arguments[1])]
        return _column_of(context, builder, x, found)

    return (x(s, x), generate) if x in _COLUMNS else None


def _with_moment(instruction: str) -> Any:
    """Intrinsic: k of a column and the moment of f put together so."""

    @intrinsic
    def add(typing: Any, arm: Any, x: Any) -> Any:
        def generate(context: Any, builder: Any, called: Any, arguments: Any) -> Any:
            arms, own = (_numbers_of(builder, x, each) for each in arguments)

            def moved(k: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
                return getattr(builder, instruction)(k, builder.fsub(builder.fmul(a, b), builder.fmul(c, d)))

            if x is LANES:
                f, k = (_half(builder, own[0], lower) for lower in (False, True))
                (a, c), (d, b) = (
                    [_part(builder, each, way) for way in _CROSS]
                    for each in (_half(builder, arms[0], False), f)
                )
                return _whole(builder, f, moved(k, a, b, c, d))
            lower = [
                moved(k, arms[i], own[j], arms[j], own[i]) for k, (i, j) in zip(own[3:], _PAIRS, strict=True)
            ]
            return _column_of(context, builder, x, own[:3] + lower)

        return (x(arm, x), generate) if x in _COLUMNS and arm == x else None

    return add


def _with_dyad(row: int) -> Any:
    """Intrinsic: column + (0, f x - s e_row)."""

    @intrinsic
    def add(typing: Any, x: Any, f: Any, s: Any, column: Any) -> Any:
        def generate(context: Any, builder: Any, called: Any, arguments: Any) -> Any:
            vector, own = (_numbers_of(builder, x, arguments[k]) for k in (0, 3))
            f, s = (spread(context, builder, arguments[k], called.args[k]) for k in (1, 2))
            if column is LANES:
                f, s, y, mine = (_half(builder, each, False) for each in (f, s, vector[0], own[0]))
                more = builder.fmul(y, f)
                there = ir.Constant(ir.VectorType(_I1, 4), [k == row for k in range(4)])
                more = builder.select(there, builder.fsub(more, s), more)
                return _whole(builder, mine, builder.fadd(_half(builder, own[0], True), more))
            found = list(own)
            for k in range(3):
                more = builder.fmul(vector[k], f)
                more = builder.fsub(more, s) if k == row else more
                found[3 + k] = builder.fadd(own[3 + k], more)
            return _column_of(context, builder, column, found)

        return (column(x, f, s, column), generate) if column in _COLUMNS and x == column else None

    return add


@intrinsic
def _upper(typing: Any, x: Any) -> Any:
    def generate(context: Any, builder: Any, called: Any, arguments: Any) -> Any:
        own = _numbers_of(builder, x, arguments[0])
        if x is LANES:
            none = ir.Constant(ir.VectorType(_DOUBLE, 4), [0.0] * 4)
            return _whole(builder, _half(builder, own[0], False), none)
        return _column_of(context, builder, x, own[:3] + [ir.Constant(VECTOR, [0.0] * 8)] * 3)

    return (x(x), generate) if x in _COLUMNS else None


def _kind_in(array: Any) -> Any:
    """Of a column in an array."""
    if not isinstance(array, types.Array) or array.layout != "C":
        return None
    return _SIX if array.dtype is LANES else LANES if array.dtype == types.float64 else None


def _pointer(context: Any, builder: Any, of: Any, array: Any, at: Any, k: int, count: int) -> Any:
    """To so many numbers, from the k-th behind a place of an array on."""
    found, place = context.make_array(of)(context, builder, array), builder.add(at, _I64(k))
    check_place(context, builder, found, place, 1 if of.dtype is LANES else count)
    kind = VECTOR if of.dtype is LANES else ir.VectorType(_DOUBLE, count)
    return builder.bitcast(builder.gep(found.data, [place]), kind.as_pointer())


def _at(places: tuple[int, ...]) -> Any:
    """Intrinsic: column of an array, whose numbers have these places behind the first; three: (f, 0)."""

    @intrinsic
    def at(typing: Any, array: Any, place: Any) -> Any:
        found = _kind_in(array)

        def generate(context: Any, builder: Any, called: Any, arguments: Any) -> Any:
            def read(k: int, count: int) -> Any:
                return builder.load(
                    _pointer(context, builder, array, arguments[0], arguments[1], k, count), align=8
                )

            if found is _SIX:
                numbers = [read(k, 1) for k in places]
                numbers += [ir.Constant(VECTOR, [0.0] * 8)] * (6 - len(places))
                return _column_of(context, builder, found, numbers)
            if places == _PLACES:
                return read(0, 8)
            first = read(0, 4)
            if len(places) == 3:
                return _part(builder, first, [0, 1, 2, 3] * 2)
            second = _part(builder, read(4, 2), [0, 1, 0, 1])
            return _shuffled(builder, first, second, [0, 1, 2, 3, 3, 4, 5, 5])

        return (found(array, types.intp), generate) if found else None

    return at


@intrinsic
def _three_at(typing: Any, array: Any, place: Any) -> Any:
    of = _kind_in(array) and array.dtype

    def generate(context: Any, builder: Any, called: Any, arguments: Any) -> Any:
        found = context.make_array(array)(context, builder, arguments[0])
        check_place(context, builder, found, arguments[1], 3)
        places = [builder.gep(found.data, [builder.add(arguments[1], _I64(k))]) for k in range(3)]
        numbers = [builder.load(place, align=8) for place in places]
        return context.make_tuple(builder, called.return_type, numbers)

    return (types.UniTuple(of, 3)(array, types.intp), generate) if of else None


@intrinsic
def _put(typing: Any, column: Any, array: Any, place: Any) -> Any:
    def generate(context: Any, builder: Any, called: Any, arguments: Any) -> Any:
        own = _numbers_of(builder, column, arguments[0])
        for x, k in zip(own, _PLACES, strict=False):
            builder.store(x, _pointer(context, builder, array, arguments[1], arguments[2], k, 8), align=8)
        return context.get_dummy_value()

    return (types.void(column, array, types.intp), generate) if _kind_in(array) is column else None


def _add(places: tuple[int, ...]) -> Any:
    """Intrinsic: column to an array, whose numbers have these places behind the first."""

    @intrinsic
    def add(typing: Any, column: Any, array: Any, place: Any) -> Any:
        def generate(context: Any, builder: Any, called: Any, arguments: Any) -> Any:
            own = _numbers_of(builder, column, arguments[0])
            if column is _SIX:
                parts = [(k, x, 1) for k, x in zip(places, own, strict=True)]
            elif places == _PLACES:
                parts = [(0, own[0], 8)]
            else:
                parts = [(0, _part(builder, own[0], [0, 1, 2, 4]), 4), (4, _part(builder, own[0], [5, 6]), 2)]
            for k, x, count in parts:
                pointer = _pointer(context, builder, array, arguments[1], arguments[2], k, count)
                builder.store(builder.fadd(builder.load(pointer, align=8), x), pointer, align=8)
            return context.get_dummy_value()

        return (types.void(column, array, types.intp), generate) if _kind_in(array) is column else None

    return add


# Without the compiler: arrays of numpy.


def _array_at(places: tuple[int, ...]) -> Any:
    def at(array: Any, place: int) -> Any:
        found = np.zeros((6, *array.shape[1:]))
        found[: len(places)] = array[np.add(place, places)]
        return found

    return at


def _put_array(x: Any, array: Any, place: int) -> None:
    array[np.add(place, _PLACES)] = x


def _add_array(places: tuple[int, ...]) -> Any:
    def add(x: Any, array: Any, place: int) -> None:
        array[np.add(place, places)] += x

    return add


def _array_with_moment(sign: float) -> Any:
    def add(arm: Any, x: Any) -> Any:
        moment = [arm[i] * x[j] - arm[j] * x[i] for i, j in _PAIRS]
        return np.concatenate([x[:3], x[3:] + sign * np.array(moment)])

    return add


def _array_with_dyad(row: int) -> Any:
    def add(x: Any, f: Any, s: Any, column: Any) -> Any:
        more = x[:3] * f
        more[row] -= s
        return np.concatenate([column[:3], column[3:] + more])

    return add


def _either(compiled: Any, function: Any) -> Any:
    return compiled if COMPILED else function


_SIX_PLACES = tuple(range(6))
# (array, place): a column from a place on; (x, array, place): to there, or added to what is there
column_at, put_column = _either(_at(_PLACES), _array_at(_PLACES)), _either(_put, _put_array)
add_column = _either(_add(_PLACES), _add_array(_PLACES))
# the same of columns that take six places
column6_at = _either(_at(_SIX_PLACES), _array_at(_SIX_PLACES))
add_column6 = _either(_add(_SIX_PLACES), _add_array(_SIX_PLACES))
# (array, place): a vector as a column whose k says nothing, of an array with a number more behind it
arm_at = _either(_at((0, 1, 2)), _array_at((0, 1, 2)))
# (array, place): three numbers, of a place that is none before the first
three_at = _either(_three_at, lambda x, k: (x[k], x[k + 1], x[k + 2]))
# (x, y), number by number
column_plus = _either(_each_of_two("fadd"), np.add)
column_minus = _either(_each_of_two("fsub"), np.subtract)
# (s, x): s x of a number s
column_times = _either(_times, np.multiply)
# (arm, x): x + (0, arm x f), x - (0, arm x f)
with_moment, without_moment = (
    _either(_with_moment(instruction), _array_with_moment(sign))
    for instruction, sign in (("fadd", 1.0), ("fsub", -1.0))
)
# (x, f, s, column): column + (0, f x - s e_j) of a vector as of `arm_at`
with_dyad0, with_dyad1, with_dyad2 = (_either(_with_dyad(j), _array_with_dyad(j)) for j in range(3))
# (x): (f, 0)
upper = _either(_upper, lambda x: np.concatenate([x[:3], 0.0 * x[3:]]))
