"""Columns: six numbers that are computed as one, force and couple, or what they are of one unknown.

A column of one item is one register of `rigid.lanes`, six lanes of it and two that say nothing; of eight items side by side
(`rigid.lane_arrays`) it is a tuple of six lanes. Each of its numbers has the same bits both ways. Where a column of one item is
read or written in an array there must be room for eight numbers, unless `column6` is said.

Without the compiler (NUMBA_DISABLE_JIT) columns are arrays of numpy with six numbers, or lanes, along their first axis.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from rigid.lanes import COMPILED, LANES, VECTOR, spread

_SIX = types.UniTuple(LANES, 6)
_COLUMNS = (LANES, _SIX)
_PARTS = (0, 4), (4, 2)  # of six numbers that no others may follow
_DOUBLE, _I1, _I32, _I64 = ir.DoubleType(), ir.IntType(1), ir.IntType(32), ir.IntType(64)
_NONE = ir.Constant(VECTOR, [0.0] * 8)
_LOWER = ir.Constant(ir.VectorType(_I1, 8), [3 <= k < 6 for k in range(8)])
_UPPER = ir.Constant(ir.VectorType(_I1, 8), [k < 3 for k in range(8)])


def _shuffled(builder: Any, x: Any, lanes: list[int]) -> Any:
    """Lanes of x; -1: 0."""
    mask = [k if k >= 0 else 8 for k in lanes]
    return builder.shuffle_vector(x, _NONE, ir.Constant(ir.VectorType(_I32, 8), mask))


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


def _cross_in(builder: Any, arm: list[Any], x: list[Any]) -> list[Any]:
    """arm x (x_0, x_1, x_2)."""
    found = []
    for i, j in ((1, 2), (2, 0), (0, 1)):
        found.append(builder.fsub(builder.fmul(arm[i], x[j]), builder.fmul(arm[j], x[i])))
    return found


@intrinsic
def _with_moment(typing: Any, arm: Any, x: Any) -> Any:
    def generate(context: Any, builder: Any, called: Any, arguments: Any) -> Any:
        arm, own = (_numbers_of(builder, x, each) for each in arguments)
        if x is LANES:
            a, b = (
                _shuffled(builder, arm[0], lanes) for lanes in ([-1] * 3 + way + [-1] * 2 for way in _TURNS)
            )
            c, d = (
                _shuffled(builder, own[0], lanes) for lanes in ([-1] * 3 + way + [-1] * 2 for way in _TURNS)
            )
            moment = builder.fsub(builder.fmul(a, d), builder.fmul(b, c))
            return builder.select(_LOWER, builder.fadd(own[0], moment), own[0])
        moments = _cross_in(builder, arm[:3], own[:3])
        lower = [builder.fadd(mine, more) for mine, more in zip(own[3:], moments, strict=True)]
        return _column_of(context, builder, x, own[:3] + lower)

    return (x(arm, x), generate) if x in _COLUMNS and arm == x else None


_TURNS = [1, 2, 0], [2, 0, 1]


def _with_dyad(row: int) -> Any:
    """Intrinsic: column + (0, f x - s e_row)."""

    @intrinsic
    def add(typing: Any, x: Any, f: Any, s: Any, column: Any) -> Any:
        def generate(context: Any, builder: Any, called: Any, arguments: Any) -> Any:
            vector, own = (_numbers_of(builder, x, arguments[k]) for k in (0, 3))
            f, s = (spread(context, builder, arguments[k], called.args[k]) for k in (1, 2))
            if column is LANES:
                more = builder.fmul(_shuffled(builder, vector[0], [-1, -1, -1, 0, 1, 2, -1, -1]), f)
                there = ir.Constant(_LOWER.type, [k == 3 + row for k in range(8)])
                more = builder.select(there, builder.fsub(more, s), more)
                return builder.select(_LOWER, builder.fadd(own[0], more), own[0])
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
            return builder.select(_UPPER, own[0], _NONE)
        return _column_of(context, builder, x, own[:3] + [_NONE] * 3)

    return (x(x), generate) if x in _COLUMNS else None


def _kind_in(array: Any) -> Any:
    """Of a column in an array."""
    if not isinstance(array, types.Array) or array.layout != "C":
        return None
    return _SIX if array.dtype is LANES else LANES if array.dtype == types.float64 else None


def _place(context: Any, builder: Any, of: Any, array: Any, at: Any, k: int, count: int) -> Any:
    """Of the k-th number of a column that begins at a place of an array; count: how many are there."""
    data = context.make_array(of)(context, builder, array).data
    pointer = builder.gep(data, [builder.add(at, _I64(k))])
    kind = VECTOR if of.dtype is LANES or count == 8 else ir.VectorType(_DOUBLE, count)
    return builder.bitcast(pointer, kind.as_pointer())


def _at(many: int) -> Any:
    """Intrinsic: column of an array where there is room for so many numbers: 8, 6, or 4, whose first three are wanted."""

    @intrinsic
    def at(typing: Any, array: Any, place: Any) -> Any:
        found = _kind_in(array)

        def generate(context: Any, builder: Any, called: Any, arguments: Any) -> Any:
            def read(k: int, count: int) -> Any:
                return builder.load(_place(context, builder, array, *arguments, k, count), align=8)

            if found is _SIX:
                numbers = [read(k, 1) for k in range(min(many, 6))] + [_NONE] * (6 - many)
                return _column_of(context, builder, found, numbers)
            if many == 8:
                return read(0, 8)
            if many == 4:
                return _widened(builder, read(0, 4))
            first, second = (
                builder.shuffle_vector(
                    x, ir.Constant(x.type, ir.Undefined), ir.Constant(ir.VectorType(_I32, 8), lanes)
                )
                for x, lanes in ((read(0, 4), [0, 1, 2, 3] * 2), (read(4, 2), [0, 1] * 4))
            )
            mask = ir.Constant(ir.VectorType(_I32, 8), [0, 1, 2, 3, 8, 9, 8, 9])
            return builder.shuffle_vector(first, second, mask)

        return (found(array, types.intp), generate) if found else None

    return at


def _widened(builder: Any, x: Any) -> Any:
    """Four lanes, and four that say nothing."""
    mask = ir.Constant(ir.VectorType(_I32, 8), [0, 1, 2, 3] * 2)
    return builder.shuffle_vector(x, ir.Constant(x.type, ir.Undefined), mask)


@intrinsic
def _three_at(typing: Any, array: Any, place: Any) -> Any:
    of = _kind_in(array) and array.dtype

    def generate(context: Any, builder: Any, called: Any, arguments: Any) -> Any:
        data = context.make_array(array)(context, builder, arguments[0]).data
        places = [builder.gep(data, [builder.add(arguments[1], _I64(k))]) for k in range(3)]
        numbers = [builder.load(place, align=8) for place in places]
        return context.make_tuple(builder, called.return_type, numbers)

    return (types.UniTuple(of, 3)(array, types.intp), generate) if of else None


def _put(all_eight: bool) -> Any:
    """Intrinsic: column to an array."""

    @intrinsic
    def put(typing: Any, column: Any, array: Any, place: Any) -> Any:
        def generate(context: Any, builder: Any, called: Any, arguments: Any) -> Any:
            own = _numbers_of(builder, column, arguments[0])

            def write(x: Any, k: int, count: int) -> None:
                builder.store(x, _place(context, builder, array, *arguments[1:], k, count), align=8)

            if column is _SIX:
                for k in range(6):
                    write(own[k], k, 1)
            elif all_eight:
                write(own[0], 0, 8)
            else:
                for k, count in _PARTS:
                    lanes = ir.Constant(ir.VectorType(_I32, count), list(range(k, k + count)))
                    write(builder.shuffle_vector(own[0], _NONE, lanes), k, count)
            return context.get_dummy_value()

        return (types.void(column, array, types.intp), generate) if _kind_in(array) is column else None

    return put


# Without the compiler: arrays of numpy.


def _array_at(array: Any, place: int) -> Any:
    return array[place : place + 6].copy()


def _put_array(x: Any, array: Any, place: int) -> None:
    array[place : place + 6] = x


def _array_with_moment(arm: Any, x: Any) -> Any:
    moment = [arm[i] * x[j] - arm[j] * x[i] for i, j in ((1, 2), (2, 0), (0, 1))]
    return np.concatenate([x[:3], x[3:] + np.array(moment)])


def _array_with_dyad(row: int) -> Any:
    def add(x: Any, f: Any, s: Any, column: Any) -> Any:
        more = x[:3] * f
        more[row] -= s
        return np.concatenate([column[:3], column[3:] + more])

    return add


def _either(compiled: Any, function: Any) -> Any:
    return compiled if COMPILED else function


# (array, place): a column from a place on; (x, array, place): to there
column_at, put_column = _either(_at(8), _array_at), _either(_put(True), _put_array)
column6_at, put_column6 = _either(_at(6), _array_at), _either(_put(False), _put_array)
# (array, place): the first three numbers of a column, of an array with one more behind them
arm_at = _either(_at(4), _array_at)
# (array, place): three numbers, of a place that is none before the first
three_at = _either(_three_at, lambda x, k: (x[k], x[k + 1], x[k + 2]))
# (x, y), number by number
column_plus = _either(_each_of_two("fadd"), np.add)
column_minus = _either(_each_of_two("fsub"), np.subtract)
# (s, x): s x of a number s
column_times = _either(_times, np.multiply)
# (arm, x): x + (0, arm x f) of x = (f, k), of an arm in the first three numbers of a column
with_moment = _either(_with_moment, _array_with_moment)
# (x, f, s, column): column + (0, f x - s e_j) of the first three numbers of x
with_dyad0, with_dyad1, with_dyad2 = (_either(_with_dyad(j), _array_with_dyad(j)) for j in range(3))
# (x): (f, 0) of x = (f, k)
upper = _either(_upper, lambda x: np.concatenate([x[:3], 0.0 * x[3:]]))
