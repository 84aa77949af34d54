"""What is quicker in numba's compiler finds what numba finds, and what it changes meanwhile is as before afterwards."""

import gc
from types import FunctionType

import numba
import numpy as np
import pytest
from llvmlite.binding import ffi
from numba.core import event, utils
from numba.core.compiler import Flags
from numba.core.runtime import _nrt_python, rtsys
from numba.core.target_extension import target_registry
from numba.np import arrayobj

from rigid.compilation import quick_compiler
from rigid.compilation.decorators import allocating_kernel, kernel
from rigid.compilation.quick_compiler import (
    KernelFlags,
    is_known,
    quicken,
)

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")


def test_the_numba_that_was_read_is_quickened():
    assert len(quicken()) == 7 or numba.version_info.short != (0, 68)


def test_what_another_numba_has_is_left_alone(monkeypatch):
    assert is_known(arrayobj, "ol_raise_with_shape_context_cpu") == ("raise_with_shape_context" in quicken())
    monkeypatch.setattr(arrayobj, "ol_raise_with_shape_context_cpu", len)
    assert not is_known(arrayobj, "ol_raise_with_shape_context_cpu")
    monkeypatch.delattr(arrayobj, "ol_raise_with_shape_context_cpu")
    assert not is_known(arrayobj, "ol_raise_with_shape_context_cpu")


def much(x, n, more, wide):
    """Statements and expressions of most sorts, of numbers and arrays of several types."""
    total, pair, count = 0.0, (x, more), 0
    for i in range(n):
        if x[i] > total and n - i > 1:
            total += x[i] ** 2 if i else -x[i]
        elif not i % 3:
            count -= i // 2
        total += pair[1][i] + pair[0][-1 - i : n].sum() - wide[i, ::2].max()
        x[i] = abs(total) * (1 if wide[i, 0] < total else -1)
    while count < n:
        count += 2
    last = (total, count) if total > 0.0 else (-total, -count)
    x[1:] = more[: len(x) - 1]
    return last[0] / 3 + last[1]


def many(n):
    """What is not done for less."""
    total = 0
    while total < n:
        yield total
        total += 1


@numba.njit
def summed(n):
    found, names = [], {}
    for k in many_of_numba(n):
        found.append(np.full(k, 2.0))
        names[k] = found[-1]
    return sum([each.sum() for each in found]) + len(names) * names[n - 1][0]


many_of_numba = numba.njit(many)


@pytest.mark.parametrize("decorate", [allocating_kernel, numba.njit])
def test_what_is_compiled_computes_what_python_does(decorate):
    """In our kernels and in those of others, of which references to arrays are counted."""
    compiled, rng = decorate(FunctionType(much.__code__, globals())), np.random.default_rng(1)
    x, more, wide = 9.0 * rng.random(7), 9.0 * rng.random(7).astype(np.float32), rng.integers(0, 9, (7, 4))
    mine, others = x.copy(), x.copy()
    assert compiled(mine, 7, more, wide) == pytest.approx(much(others, 7, more, wide), rel=1e-6)
    assert np.allclose(mine, others, rtol=1e-6)
    assert summed(5) == 30.0


def put(whole, part):
    """An array into another."""
    whole[1:] = part


@pytest.mark.parametrize(
    ("decorate", "words"), [(allocating_kernel, r"different size$"), (numba.njit, r"different size|shape")]
)
def test_an_array_that_does_not_fit_is_refused(decorate, words):
    own, whole = decorate(FunctionType(put.__code__, {"__name__": __name__})), np.zeros(4)
    own(whole, np.arange(1.0, 4.0))
    assert whole.tolist() == [0.0, 1.0, 2.0, 3.0]
    with pytest.raises(ValueError, match=words):
        own(np.zeros(4), np.zeros(2))


def test_what_a_kernel_allocates_is_freed():
    """Where references are counted the life of each variable ends."""

    @allocating_kernel
    def total(n):
        found = 0.0
        for k in range(n):
            made = np.full(100, 2.0) + k
            found += made[k]
        return found

    total(3)
    _nrt_python.memsys_enable_stats()
    try:
        before = rtsys.get_allocation_stats()
        total(50)
        after = rtsys.get_allocation_stats()
    finally:
        _nrt_python.memsys_disable_stats()
    assert after.alloc > before.alloc
    assert after.alloc - after.free == before.alloc - before.free


def test_of_several_targets_the_nearest_comes_first():
    generic, cpu = (type(name, (), {"metadata": {"target": name}}) for name in ("generic", "cpu"))
    for _ in range(2):
        assert utils.order_by_target_specificity(target_registry["cpu"], [generic, cpu], "f") == [
            cpu,
            generic,
        ]
        assert utils.order_by_target_specificity(target_registry["cpu"], [], "f") == []


@pytest.mark.parametrize("threshold", [700, 0])
def test_what_is_changed_while_kernels_are_compiled_is_as_before_then(threshold):
    seen, before = [], gc.get_threshold()
    told, calls = ffi.lib._lock._cblist, []

    class Looking(event.Listener):
        def on_start(self, started):
            seen.append(gc.get_threshold()[0])
            calls.append(ffi.lib._lock._cblist)

        on_end = on_start

    @kernel
    def fails(x):
        return x.nothing

    gc.set_threshold(threshold, *before[1:])
    try:
        with event.install_listener("numba:compile", Looking()), pytest.raises(numba.errors.TypingError):
            fails(1.0)
        assert gc.get_threshold()[0] == threshold
        assert ffi.lib._lock._cblist is told
        assert told
    finally:
        gc.set_threshold(*before)
    assert seen[0] == (quick_compiler.WhileCompiling.EVERY if threshold else 0)
    assert calls[0] == []


def test_settings_that_are_compared_quickly_are_those_of_numba():
    given = Flags()
    given.error_model = "numpy"
    quick, other = KernelFlags(given), KernelFlags()
    assert quick == given
    assert given == quick
    assert hash(quick) == hash(given)
    assert quick != other
    assert quick.values() == given.values()
