"""What is quicker in numba's compiler finds what numba finds, and what it changes meanwhile is as before afterwards."""

import gc
import operator

import numba
import numpy as np
import pytest
from llvmlite.binding import ffi
from numba.core import bytecode, event, interpreter, ir, postproc, types, utils
from numba.core.compiler import Flags
from numba.core.target_extension import target_registry
from numba.core.targetconfig import ConfigStack
from numba.np import arrayobj, numpy_support

from rigid.compilation import quick_compiler
from rigid.compilation.decorators import allocating_kernel, kernel
from rigid.compilation.inlined_kernels import target_of_kernels
from rigid.compilation.quick_compiler import (
    KernelFlags,
    is_known,
    ordered_once,
    quicken,
    short_if_ours,
    typed_once,
    variables_in,
)

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")


def quickened(*names):
    """Skips what is replaced only where numba has it as it was read."""
    if not quicken() >= set(names):
        pytest.skip("numba has it otherwise")


def test_the_numba_that_was_read_is_quickened():
    assert len(quicken()) == 7 or numba.version_info.short != (0, 68)


def test_what_another_numba_has_is_left_alone(monkeypatch):
    assert is_known(arrayobj, "ol_raise_with_shape_context_cpu") == ("raise_with_shape_context" in quicken())
    monkeypatch.setattr(arrayobj, "ol_raise_with_shape_context_cpu", numbas_variables_in)
    assert not is_known(arrayobj, "ol_raise_with_shape_context_cpu")
    monkeypatch.delattr(arrayobj, "ol_raise_with_shape_context_cpu")
    assert not is_known(arrayobj, "ol_raise_with_shape_context_cpu")


def test_an_array_that_is_no_other_is_known_without_a_look_at_all_extensions(monkeypatch):
    quickened("get_function")
    looked = []
    context = target_of_kernels().target_context
    monkeypatch.setattr(type(context), "refresh", lambda self: looked.append(self))
    array = types.float64[::1]
    with pytest.raises(NotImplementedError):
        context.get_function("__array__", array(array))
    assert not looked
    with pytest.raises(NotImplementedError):
        context.get_function("no such function", array(array))
    assert looked == [context]


def numbas_variables_in(value):
    """What stands in numba 0.68."""
    if isinstance(value, ir.Var):
        return [value]
    if isinstance(value, ir.Inst):
        return value.list_vars()
    if isinstance(value, list | tuple | dict):
        each = value.values() if isinstance(value, dict) else value
        return [var for one in each for var in numbas_variables_in(one)]
    return []


def with_much_in_it(x, n, *more):
    """Statements and expressions of most sorts."""
    total, found = 0.0, {}
    for i in range(n):
        if x[i] > total and n - i > 1:
            total += x[i] ** 2 if i else -x[i, 1:n]
        found[i] = (total, [x, *more], x[i:, ::2])
        x[i] = abs(total)
    with_text = f"{total} {n}"
    return with_text, found, max(n, key=with_text)


def representation_of(function):
    """numba's."""
    identity = bytecode.FunctionIdentity.from_function(function)
    return interpreter.Interpreter(identity).interpret(bytecode.ByteCode(identity))


def test_variables_are_found_in_numbas_order():
    quickened("_rec_list_vars")
    assert ir.Inst._rec_list_vars is variables_in
    function, asked = representation_of(with_much_in_it), 0
    for block in function.blocks.values():
        for statement in block.body:
            for value in (statement.__dict__, getattr(statement, "value", None)):
                mine = variables_in(statement, value)
                other = numbas_variables_in(value)
                assert len(mine) == len(other)
                assert all(a is b for a, b in zip(mine, other, strict=True))
                asked += len(mine)
    assert asked > 100
    a, b = (ir.Var(None, name, ir.unknown_loc) for name in "ab")
    mine = variables_in(None, (a, "text", [b, {"c": (a, 1)}], None))
    assert [var.name for var in mine] == ["a", "b", "a"]


def test_what_is_asked_again_is_found_as_at_first():
    quickened("order_by_target_specificity", "ufunc_can_cast")
    assert utils.order_by_target_specificity.__module__ == quick_compiler.__name__
    generic, cpu = (type(name, (), {"metadata": {"target": name}}) for name in ("generic", "cpu"))
    asked = []

    def order(*of):
        asked.append(of)
        return numbas(*of)

    numbas = utils.order_by_target_specificity
    again, target = ordered_once(order), target_registry["cpu"]
    for _ in range(2):
        assert again(target, [generic, cpu], "f") == [cpu, generic]
        assert again(target, [generic], "f") == [generic]
        assert again(target, [], "f") == []
    assert len(asked) == 2
    again(target, [generic], "f").clear()  # theirs
    assert again(target, [generic], "f") == [generic]
    cast = numpy_support.ufunc_can_cast
    for mixed in (False, True):
        assert cast("i8", np.dtype("f4"), mixed) is mixed
        assert cast("f8", "c16", mixed)


def yielding(n):
    """What is not done for less."""
    total = 0
    while total < n:
        yield total
        total += 1


@pytest.mark.parametrize(("emit", "counting"), [(False, True), (True, True), (True, False)])
def test_lives_of_variables_end_where_numba_finds_it(emit, counting):
    """Where no references are counted no life ends: there is nothing to be done then."""
    quickened("run")
    flags = KernelFlags()
    flags.nrt = counting
    quick, numbas = postproc.PostProcessor.run, postproc.PostProcessor.run.__wrapped__
    made = {}
    for run in (quick, numbas):
        function = representation_of(with_much_in_it)
        function.block_entry_vars = {}
        with ConfigStack().enter(flags):
            run(postproc.PostProcessor(function), emit_dels=emit)
        lives = function.variable_lifetime
        body = [str(each) for _, block in sorted(function.blocks.items()) for each in block.body]
        made[run] = body, lives.livemap, lives.deadmaps, bool(function.block_entry_vars)
    without = [each for each in made[numbas][0] if counting or not each.startswith("del ")]
    assert made[quick][:3] == (without, *made[numbas][1:3])
    assert any(each.startswith("del ") for each in made[quick][0]) == (emit and counting)
    assert (made[quick][3], made[numbas][3]) == (False, True)


def test_lives_of_variables_of_others_and_of_generators_are_found_at_once():
    quickened("run")
    of_python = KernelFlags()
    of_python.enable_pyobject = True
    for source, flags in (
        (with_much_in_it, Flags()),
        (with_much_in_it, of_python),
        (yielding, KernelFlags()),
    ):
        function = representation_of(source)
        function.block_entry_vars = {}
        with ConfigStack().enter(flags):
            postproc.PostProcessor(function).run()
        assert function.block_entry_vars.keys() == set(function.blocks.values())


class Operator:
    """What `typed_once` reads of a function type."""

    def __init__(self, key):
        self.typing_key, self._impl_keys = key, {}


@pytest.mark.parametrize(("key", "again"), [(operator.add, 1), (operator.getitem, 1), (max, 3)])
def test_what_an_operator_means_for_numbers_and_arrays_is_asked_once_in_our_kernels(key, again):
    asked, array = [], types.float64[::1]

    def numbas(self, context, args, kws):
        asked.append(args)
        signature = args[0](*args)
        self._impl_keys[signature.args] = len(asked)
        return signature

    of, function = typed_once(numbas), Operator(key)
    with ConfigStack().enter(KernelFlags()):
        for _ in range(3):
            assert of(function, None, (array, types.int64), {}) == array(array, types.int64)
            function._impl_keys[array, types.int64] = "of something else"
        assert len(asked) == again
        of(function, None, (array, types.int64), {})
        assert function._impl_keys[array, types.int64] != "of something else"
        for others in ((array, types.int32), (types.float64[:], types.int64)):
            before = len(asked)
            assert of(function, None, others, {}).args == others
            assert len(asked) == before + 1
        of(Operator(key), None, (array, types.int64), {})
        assert len(asked) == before + 2
        for args, kws in (((types.List(array), types.int64), {}), ((array, types.int64), {"by": array})):
            before = len(asked)
            for _ in range(2):
                of(function, None, args, kws)
            assert len(asked) == before + 2
    before = len(asked)
    with ConfigStack().enter(Flags()):
        of(function, None, (array, types.int64), {})
    assert len(asked) == before + 1


def put(whole, part):
    """An array into another."""
    whole[1:] = part


def test_a_kernel_says_in_short_that_an_array_does_not_fit():
    quickened("raise_with_shape_context")
    whole, ours = np.zeros(4), allocating_kernel(put)
    ours(whole, np.arange(1.0, 4.0))
    assert whole.tolist() == [0.0, 1.0, 2.0, 3.0]
    with pytest.raises(ValueError, match="cannot assign slice from input of different size"):
        ours(np.zeros(4), np.zeros(2))


def test_kernels_of_others_say_it_as_numba_does():
    quickened("raise_with_shape_context")
    assert arrayobj.raise_with_shape_context.__module__ == quick_compiler.__name__
    chosen = short_if_ours(lambda *of: ("short", *of), lambda *of: ("long", *of))
    for flags, word in ((KernelFlags(), "short"), (Flags(), "long")):
        with ConfigStack().enter(flags):
            assert chosen("a", "b") == (word, "a", "b")


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
