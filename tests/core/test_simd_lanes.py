"""Eight numbers per vector: each lane is bit-identical to its item alone, and no other number is touched."""

import platform
import re
from types import FunctionType

import numba
import numpy as np
import pytest

from rigid import lanes
from rigid.compilation.decorators import inline_kernel, kernel, named_kernel
from rigid.compilation.inlined_kernels import target_of_kernels
from rigid.lanes import (
    WIDTH,
    add_rows2,
    add_rows6,
    add_rows12,
    load,
    load4,
    load6,
    numbers2,
    numbers4,
    numbers7,
    put_rows12,
    rows3,
    rows9,
    rows36,
    store,
    store4,
    store6,
)
from tests.support.processes import said

compiled_only = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="looks at what numba makes of kernels")


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


@kernel
def formula(a, b, c):
    return (2.0 * a - b / c + 1) * -a - lanes.root(c) / 3


@kernel
def formula_of_lanes(x, out):
    a = formula(load(x, 0), load(x, WIDTH), load(x, 2 * WIDTH))
    a += 1.5
    a *= load(x, 0)
    a -= 2
    a /= load(x, WIDTH)
    store(a, out, 0)


def test_simd_formula_is_bitwise_that_of_single_items():
    x = np.abs(numbers(3, WIDTH))
    out = np.zeros(WIDTH)
    formula_of_lanes(x, out)
    single = [((formula(a, b, c) + 1.5) * a - 2) / b for a, b, c in x.T]
    assert out.tolist() == single


def arithmetic(compiled, kind):
    """Count the packed and the scalar arithmetic instructions of x86; kind: type of the first argument."""
    text = next(text for kinds, text in compiled.inspect_asm().items() if kinds[0] == kind)
    return tuple(len(re.findall(rf"\bv?(?:add|sub|mul|div|sqrt){kind}\b", text)) for kind in ("pd", "sd"))


@compiled_only
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="of other processors")
def test_formulas_of_lanes_are_packed_instructions():
    """A scalar formula would be computed eight times.

    Both kernels are compiled again, because cached ones have no assembly text.
    """
    recompiled_for_lanes, recompiled = (
        named_kernel(f"{kernel.__name__}_recompiled", FunctionType(kernel.py_func.__code__, globals()))
        for kernel in (formula_of_lanes, formula)
    )
    recompiled_for_lanes(np.ones((3, WIDTH)), np.zeros(WIDTH))
    packed, single = arithmetic(recompiled_for_lanes, numba.float64[:, ::1])
    assert packed >= 10
    assert single == 0
    assert recompiled(1.0, 2.0, 3.0) < 0.0
    assert arithmetic(recompiled, numba.float64)[1] >= 5  # the same source for one number


@compiled_only
def test_machine_code_is_cached_per_processor():
    formula_of_lanes(np.ones((3, WIDTH)), np.zeros(WIDTH))
    codegen = target_of_kernels().target_context.codegen()
    key = formula_of_lanes._cache._index_key(formula_of_lanes.signatures[0], codegen)
    triple, processor, instructions = codegen.magic_tuple()
    assert (triple, processor, instructions) in key
    assert processor
    assert "+" in instructions or "-" in instructions


@kernel
def chosen(x, y, out):
    a, b = load(x, 0), load(y, 0)
    store(lanes.larger(a, b), out, 0)
    store(lanes.choose(a, b, 2, 5), out, WIDTH)
    store(lanes.spread_lane(a, 3), out, 2 * WIDTH)
    return lanes.largest(a), lanes.lane(b, 6)


def test_lanes_are_compared_selected_and_broadcast():
    x, y, out = numbers(WIDTH), numbers(WIDTH, seed=1), np.zeros((3, WIDTH))
    largest, one = chosen(x, y, out)
    assert (largest, one) == (x.max(), y[6])
    inside = (np.arange(WIDTH) >= 2) & (np.arange(WIDTH) < 5)
    assert np.array_equal(out, [np.maximum(abs(x), abs(y)), np.where(inside, x, y), np.full(WIDTH, x[3])])


@kernel
def largest_of(x):
    return lanes.largest(load(x, 0))


@pytest.mark.parametrize("empty", [[], [0], [7], [0, 1, 2, 3], [1, 3, 5, 7], [0, 1, 2, 4, 5, 6, 7]])
def test_horizontal_maximum_ignores_nan(empty):
    x = numbers(WIDTH)
    x[empty] = np.nan
    assert largest_of(x) == np.nanmax(x)


@kernel
def gather(a, items, first, three, nine, many):
    x, y, z = rows3(a, items, first), rows9(a, items, first), rows36(a, items, first)
    store(x[0], three, 0)
    store(x[2], three, WIDTH)
    store(y[3], nine, 0)
    store(y[8], nine, WIDTH)
    store(z[0], many, 0)
    store(z[35], many, WIDTH)


def test_rows_are_gathered_in_any_order():
    items = np.array([7, 7, 0, 3, 19, 4, 4, 1, 2, 5, 6, 8, 9])
    a = numbers(20, 36)
    gathered = np.zeros((3, 2, WIDTH))
    gather(a, items, 3, *gathered)
    for width, (first, last), columns in zip((3, 9, 36), ((0, 2), (3, 8), (0, 35)), gathered, strict=True):
        rows = a.reshape(-1, width)[items[3 : 3 + WIDTH]]
        assert np.array_equal(columns, rows[:, [first, last]].T)


@kernel
def scatter2(x, out, offsets, strides, first, second, column):
    add_rows2((load(x, 0), load(x, 8)), out, offsets, strides, first, second, column)


@inline_kernel
def six(x, i):
    return load(x, i), load(x, i + 8), load(x, i + 16), load(x, i + 24), load(x, i + 32), load(x, i + 40)


@kernel
def scatter6(x, out, offsets, strides, first, second, column):
    add_rows6(six(x, 0), out, offsets, strides, first, second, column)


@kernel
def scatter12(x, out, offsets, strides, first, second, column):
    add_rows12((*six(x, 0), *six(x, 48)), out, offsets, strides, first, second, column)


@pytest.mark.parametrize(("width", "add"), [(2, scatter2), (6, scatter6), (12, scatter12)])
def test_rows_are_scattered_to_their_offsets_only(width, add):
    x = numbers(12, WIDTH)
    offsets, strides = np.array([0, 200, 20, 60, 60, 90, 7, 120, 140]), np.arange(9) % 3
    out = numbers(230, seed=2)
    expected = out.copy()
    for lane in range(WIDTH):
        at = offsets[1 + lane] + 4 * strides[lane]
        expected[at : at + width] += x[:width, lane]
    add(x, out, offsets, strides, 1, 0, 4)
    assert np.array_equal(out, expected)


@kernel
def copy_rows(a, offsets, first, offset, items, out):
    """Copy rows of four and of eight numbers, the ninth to twelfth from two numbers and 0 and 1, to the rows
    `items` of `out`.
    """
    w = numbers4(a, offsets, first, offset)
    x = numbers7(a, offsets, first, offset)
    y = numbers2(a, offsets, first, offset + 1)
    put_rows12((*w, *x[1:], y[0], y[1]), out, items, first)


def test_numbers_from_any_offsets_are_copied_to_rows():
    a, offsets = numbers(60), np.array([5, 7, 0, 40, 11, 40, 30, 2, 19, 23])
    items, out = np.array([9, 3, 1, 0, 8, 5, 6, 2, 11, 10]), numbers(14, 12, seed=1)
    expected = out.copy()
    for lane in range(WIDTH):
        at = offsets[1 + lane] + 2
        expected[items[1 + lane]] = [*a[at : at + 4], *a[at + 1 : at + 7], *a[at + 1 : at + 3]]
    copy_rows(a, offsets, 1, 2, items, out)
    assert np.array_equal(out, expected)


@kernel
def copied_without_their_neighbours(x, out, other):
    store4(load4(x, 3), out, 1)
    store6(load6(x, 3), other, 1)


def test_four_and_six_numbers_are_copied_without_their_neighbours():
    x, out, other = numbers(9), np.zeros(7), np.zeros(9)
    copied_without_their_neighbours(x, out, other)
    assert np.array_equal(out, [0, *x[3:7], 0, 0])
    assert np.array_equal(other, [0, *x[3:9], 0, 0])


@compiled_only
def test_bounds_checks_find_no_access_outside_arrays():
    """In another process: the switch is read when numba is imported."""
    assert said("-m", "tests.support.bounds_checks", NUMBA_BOUNDSCHECK="1") == "[]"
