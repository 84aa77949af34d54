"""Compilation of kernels: arguments by reference, no reference counting, a separate cache, a notice on the terminal."""

import gc
import json
import math
import multiprocessing
import os
import re
import subprocess
import sys
import warnings
from types import SimpleNamespace
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from numba.core import event

from rigid.compilation.decorators import (
    compiled,
    explicit_kernel,
    internal_kernel,
    kernel,
    named_kernel,
)
from rigid.tuple_references import Reference, by_reference, reference_to, with_field
from tests.support.processes import ROOT, ended, said

compiled_only = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="looks at what numba makes of kernels")


class Inner(NamedTuple):
    weights: Any
    count: int


class Pair(NamedTuple):
    first: Any
    second: Any


@by_reference
class Outer(NamedTuple):
    inner: Inner
    scale: float
    matrix: Any
    pair: Pair


OUTER = Outer(
    Inner(np.array([1.0, 2.0, 3.0]), 3), 0.5, np.arange(6.0).reshape(2, 3), Pair(np.ones(2), np.zeros(2))
)


@kernel
def total(outer):
    """Sum over fields at all depths."""
    inner, s = outer.inner, 0.0
    for i in range(inner.count):
        s += outer.scale * inner.weights[i] * outer.matrix[1, i]
    return s + outer.pair.first[0] + outer.pair.second[1]


@kernel
def accumulate(outer, x):
    """Change an array that is reached through the reference, while reading others through it."""
    for i in range(outer.inner.count):
        outer.inner.weights[i] += x
        outer.matrix[0, i] = outer.inner.weights[i] * outer.scale


@kernel
def total_of_many(weights, matrix, n):
    """Reference a new tuple in each iteration of a loop: the address is the same, the content differs."""
    s = 0.0
    for k in range(n):
        s += total(reference_to(Outer(Inner(weights, k), 1.0 + k, matrix, Pair(weights, weights))))
    return s


def test_fields_read_by_reference_equal_those_of_the_tuple():
    assert total(OUTER) == pytest.approx(0.5 * (3 + 8 + 15) + 1.0)


def test_referenced_arrays_are_those_of_the_caller():
    outer = Outer(Inner(np.zeros(3), 3), 2.0, np.zeros((2, 3)), Pair(np.ones(2), np.zeros(2)))
    accumulate(outer, 1.5)
    assert np.all(outer.inner.weights == 1.5)
    assert np.all(outer.matrix[0] == 3.0)


def test_tuples_made_in_a_loop_are_independent():
    weights, matrix = np.array([1.0, 2.0, 4.0]), np.ones((2, 3))
    expected = sum((1.0 + k) * weights[:k].sum() + 1.0 + 2.0 for k in range(4))
    assert total_of_many(weights, matrix, 4) == pytest.approx(expected)


@kernel
def with_other_scale(outer, scale):
    """Replace a field in a copy; the tuple itself is unchanged."""
    other = with_field(outer, "scale", scale)
    return total(other) - total(outer)


def test_replacing_a_field_in_a_copy_leaves_the_tuple_unchanged():
    assert with_other_scale(OUTER, 1.5) == pytest.approx(1.0 * (3 + 8 + 15))
    assert total(OUTER) == pytest.approx(0.5 * (3 + 8 + 15) + 1.0)


@internal_kernel
def product(outer, x):
    """Read through the reference in a kernel without an entry point for Python."""
    return outer.scale * x


@kernel
def product_and_total(outer, x):
    """Call a kernel with an entry point and one without."""
    return product(outer, x) + total(outer)


def test_kernels_without_an_entry_point_are_called_by_kernels_and_by_python():
    expected = 0.5 * 3.0
    assert product_and_total(OUTER, 3.0) == expected + total(
        OUTER
    )  # first, so that the kernel without an entry point is in the cache
    assert product(OUTER, 3.0) == expected


@compiled_only
def test_inlined_kernels_have_no_machine_code_of_their_own():
    """The internals of numba used by `rigid.compilation.inlined_kernels` still have their effect."""
    signature = (numba.typeof(OUTER), numba.types.float64)
    for function, has_code in ((product, False), (product_and_total, True)):
        function.compile(signature)
        overload = function.overloads[signature]
        assert bool(overload.library.get_pointer_to_function(overload.fndesc.llvm_func_name)) == has_code


@compiled_only
def test_a_marked_class_is_one_pointer():
    kind = numba.typeof(OUTER)
    assert isinstance(kind, Reference)
    total(OUTER)
    assert total.signatures == [(kind,)]


@compiled_only
def test_kernels_count_no_references():
    """The private switch of numba still has its effect: a kernel that allocates is rejected."""

    @kernel
    def allocates(n):
        return np.zeros(n)[0]

    with pytest.raises(numba.errors.TypingError):
        allocates(3)


@compiled_only
def test_import_compiles_nothing_and_leaves_the_numba_cache_setting_unchanged(tmp_path):
    """A user of one scheme does not wait for the kernels of another."""
    code = (
        "import numba; from numba.core import event; before = numba.config.CACHE_DIR\n"
        "with event.install_recorder('numba:compile') as found:\n"
        "    from rodsim import *; import discretization.time.symplecticity, discretization.time.bubnov\n"
        "    import discretization.time.em, discretization.time.integrate\n"
        "print(numba.config.CACHE_DIR == before, [e.data['dispatcher'].py_func for _, e in found.buffer])"
    )
    assert said("-c", code, without=("NUMBA_CACHE_DIR",), XDG_CACHE_HOME=str(tmp_path)) == "True []"


@compiled_only
def test_machine_code_is_cached_for_types_defined_outside_scripts():
    """Types of the package are cached, or plots would compile in each process; types of a script are not."""
    from rigid.compilation.decorators import _of_all
    from rodsim.results.shapes import Shape

    ours, a_scripts = Shape(*[np.ones((1, 1))] * 10), Pair(*[np.ones((1, 1))] * 2)
    assert [_of_all((numba.typeof(value),)) for value in (ours, a_scripts)] == [True, False]


def search_path(folder):
    """Python path with this folder and the repository."""
    return os.pathsep.join([str(folder), str(ROOT)])


ASKING_PYTHON = """
from numba import objmode
from rigid.compilation.decorators import allocating_internal_kernel, allocating_kernel

def python_says(x):
    return x + 1

@allocating_kernel
def asked(x):
    with objmode(y="int64"):
        y = python_says(x)
    return y

@allocating_internal_kernel
def between(x):
    return 2 * asked(x)

@allocating_kernel
def outermost(x):
    return between(x) + 1
"""


@compiled_only
def test_recompiled_kernel_links_cached_kernels_that_call_python(tmp_path):
    """The time loop of another model type does so with the sparse solver: the link to Python must exist."""
    (tmp_path / "asking_python.py").write_text(ASKING_PYTHON, "utf-8")
    cache = tmp_path / "kept"
    cache.mkdir()
    for _ in range(2):
        code = "from asking_python import outermost; print(outermost(20))"
        assert said("-c", code, NUMBA_CACHE_DIR=str(cache), PYTHONPATH=search_path(tmp_path)) == "43"
        assert list(cache.rglob("asking_python.between*.nbc"))
        for file in cache.rglob("asking_python.outermost*"):
            file.unlink()


CALLING = """
import numba
from rigid.compilation import inlined_kernels
from rigid.compilation.decorators import compiled, internal_kernel, kernel

inlined_kernels.LONG = inlined_kernels.LONG_WITH_TUPLES = 25

@internal_kernel
def long_one(x, n):
    if n > 3:
        raise ValueError("more than three")
    s = 0.0
    for k in range(n):
        for i in range(n):
            if i == k:
                if k % 3 == 1:
                    s += x[k]
                elif k % 5 < 5:
                    s -= 0.5 * x[k]
    return s

@internal_kernel
def with_tuples(a, n):
    s = (0.0, 0.0)
    for k in range(n):
        for i in range(n):
            if i % 7 == k % 7:
                if a[0] > 0.0:
                    s = (a[0] + s[1], a[1] - s[0])
                else:
                    s = (a[0] - s[1], a[1] * s[0])
    return s

@internal_kernel
def between(x, n):
    return long_one(x, n)

@internal_kernel
def other(n):
    return with_tuples((1.0, 2.0), n)[0]

@kernel
def outermost(x, n):
    return 2.0 * (between(x, n) + other(n))

@compiled(numba.types.float64(numba.types.float64[::1], numba.types.int64))
def for_c(x, n):
    return 2.0 * (between(x, n) + other(n))
"""
CALLS = """
import ctypes, sys
import llvmlite.binding, numpy as np
import calling

x = np.arange(1.0, 4.0)
if "for C" in sys.argv:
    assert calling.for_c.address
if "for Python" in sys.argv:
    try:
        calling.outermost(x, 5)
    except ValueError as error:
        print(error)
    print(calling.outermost(x, 3))
for name in ("long_one", "with_tuples", "between", "other"):
    for signature in getattr(calling, name).overloads:
        called = calling.inlined_kernels._Called("calling", name, signature)
        print(bool(llvmlite.binding.address_of_symbol(called.symbol)), end=" ")
"""


def _calls(tmp_path, *arguments):
    where = {"NUMBA_CACHE_DIR": str(tmp_path / "kept"), "PYTHONPATH": search_path(tmp_path)}
    return said("-c", CALLS, *arguments, **where).split()


@compiled_only
def test_long_kernel_is_linked_to_every_caller(tmp_path):
    """The machine code is loaded before that of its callers, in each process, and its exceptions propagate."""
    (tmp_path / "calling.py").write_text(CALLING, "utf-8")
    (tmp_path / "kept").mkdir()
    # 2 (-1/2 + 2 - 3/2 + 2), the last from (1, 2), (3, 1), (2, -1)
    results, called, taken_in = ["more", "than", "three", "4.0"], ["True"] * 2, ["False"] * 2
    assert _calls(tmp_path, "for Python", "for C") == results + called + taken_in
    assert _calls(tmp_path, "for C") == called
    for name in ("long_one", "outermost"):  # another process compiles it under another name of numba's
        for file in (tmp_path / "kept").rglob(f"calling.{name}-*"):
            file.unlink()
    assert _calls(tmp_path, "for Python") == results + called + taken_in
    assert _calls(tmp_path, "for Python") == results + called
    assert _calls(tmp_path, "for C") == called


@compiled_only
def test_short_kernels_and_simd_kernels_are_inlined():
    from rigid.compilation.inlined_kernels import LONG, LONG_WITH_TUPLES, _length
    from rigid.lanes import LANES

    def described(*arguments):
        return SimpleNamespace(argtypes=arguments, restype=numba.types.none)

    pair = numba.types.UniTuple(numba.types.float64, 2)
    assert _length(described(numba.typeof(OUTER), numba.types.float64)) == LONG
    assert _length(described(numba.typeof(OUTER), pair)) == LONG_WITH_TUPLES
    assert _length(described(numba.types.UniTuple(LANES, 3))) == math.inf


def _keep(folder, numbers, barrier):
    """Save an entry for each number in the index of a kernel while another process does so too."""
    from rigid.compilation.decorators import _CacheFile

    index = _CacheFile(str(folder), "kernel", "stamp")
    barrier.wait()
    for number in numbers:
        index.save((number,), number)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="files are not locked there")
def test_concurrent_compilation_loses_no_cache_entry(tmp_path):
    from rigid.compilation.decorators import _CacheFile

    forking = multiprocessing.get_context("fork")
    barrier, parts = forking.Barrier(2), (range(80), range(80, 160))
    processes = [forking.Process(target=_keep, args=(tmp_path, part, barrier)) for part in parts]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    index = _CacheFile(str(tmp_path), "kernel", "stamp")
    assert [index.load((number,)) for number in range(160)] == list(range(160))


# kernels of these modules, each compiled in turn with one that it calls; then the expected notices
ANNOUNCED = {
    "each family once": (
        "rigid.stiffness_rows rigid.poses discretization.statics.forces rodsim.building.joint_markers "
        "discretization.statics.arc_length",
        "model statics",
    ),
    "the outermost kernel decides": (
        "discretization.statics.iteration>discretization.contact.closest_points "
        "discretization.time.newton>discretization.trees.links",
        "statics time_step",
    ),
    "the time loop goes by the step that it calls": (
        "discretization.time.time_loop>discretization.time.planar_march discretization.time.time_loop>discretization.time.em",
        "planar time_step",
    ),
    "a kernel that others share decides nothing": (
        "discretization.time.time_loop>discretization.assembly.workspace>discretization.time.tree_march "
        "discretization.time.time_loop>rigid.linear_algebra discretization.assembly.workspace",
        "tree model",
    ),
    "kernels of others are not ours": ("script None rigidity.beams script>rigid.stiffness_rows "
    "script>rigid.charts.forces", "time_step"),
}  # fmt: skip
COMPILING = """
import sys, numba
from rigid.compilation.compile_notices import announce
announce()

def kernel_of(module, *others):
    names = {"inner": kernel_of(*others)} if others else {}
    if module != "None":  # otherwise a function made from text
        names["__name__"] = module
    return numba.njit(eval("lambda x: inner(x)" if others else "lambda x: x", names))

for chain in sys.argv[1].split():
    kernel_of(*chain.split(">"))(1)
"""
ANNOUNCEMENT = r"rodsim: compiling the (.*) kernels, about (\d+) s, once for this version and machine \.\.\."


@compiled_only
@pytest.mark.parametrize("case", ANNOUNCED)
def test_compile_notice_names_the_kernel_family(case, tmp_path):
    chains, families = ANNOUNCED[case]
    lines = ended("-c", COMPILING, chains, NUMBA_CACHE_DIR=str(tmp_path)).stderr.splitlines()
    announcements = [re.fullmatch(ANNOUNCEMENT, line) for line in lines]
    assert [match[1].replace(" ", "_") for match in announcements] == families.split()
    assert all(int(match[2]) % 5 == 0 < int(match[2]) <= 60 for match in announcements)


@compiled_only
def test_compile_notice_replaces_the_progress_line(tmp_path):
    reader, writer = os.openpty()
    environment = os.environ | {"PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(tmp_path)}
    subprocess.run(
        [sys.executable, "-c", COMPILING, "rigid.stiffness_rows"], stderr=writer, env=environment, check=True
    )
    assert os.read(reader, 1000).startswith(b"\r\x1b[Krodsim: compiling the model kernels, ")
    os.close(reader)
    os.close(writer)


@compiled_only
def test_compile_notice_for_uncacheable_code_differs(tmp_path):
    (tmp_path / "file").touch()
    printed = ended("-c", COMPILING, "rigid.stiffness_rows", NUMBA_CACHE_DIR=str(tmp_path / "file")).stderr
    assert re.search(r"^rodsim: compiling the model kernels, about \d+ s \.\.\.$", printed, re.MULTILINE)


@compiled_only
def test_cached_code_prints_no_compile_notice(tmp_path):
    code = (
        "from rigid.compilation.compile_notices import announce\nfrom rigid.kinematics.rotations import cayley_rotation\n"
        "announce()\nfor unit in (1.0, 1):\n    cayley_rotation((0.1, 0.2, 0.3), (unit, 0.0, 0.0, 0.0))\n"
    )
    for count in (1, 0):
        printed = ended("-c", code, NUMBA_CACHE_DIR=str(tmp_path / "cache")).stderr
        assert printed.count("compiling the model kernels") == printed.count("compiling") == count


OF_MODULES = """
import json, sys
from rigid.compilation.compile_notices import SECONDS, family_of
print(json.dumps([{name: family_of(name) for name in sys.argv[1:]}, sorted(SECONDS)]))
"""
# a module of each package with kernels
OF_FAMILY = {
    "model": "rigid.stiffness_rows rigid.interactions.spring rigid.kinematics.poses rigid.bound_arguments "
    "rodsim.building.joint_markers "
    "rodsim.components.curve_frames discretization.planar.mirror_symmetry discretization.space.se3_element "
    "discretization.assembly.workspace",
    "time step": "discretization.time.em discretization.time.newton discretization.time.spark discretization.linear.narrow_band "
    "discretization.relative_rotations rigid.charts.forces rigid.mechanics.mechanical_system",
    "tree": "discretization.trees.links discretization.time.tree_march discretization.time.tree_batch_march",
    "planar": "discretization.planar.step discretization.time.planar_march discretization.time.planar_batch_march",
    "contact": "discretization.contact.closest_points rigid.interactions.contact.boxes",
    "statics": "discretization.statics.forces",
    "modes": "discretization.linearisation.tangents",
    "interaction": "rodsim.interactions.kernel_calls",
    "": "discretization.time.time_loop script rigidity",
}  # fmt: skip


def test_every_kernel_module_has_a_family_and_every_family_a_compile_time():
    files = [file for name in ("rigid", "discretization", "rodsim") for file in (ROOT / name).rglob("*.py")]
    with_kernels = [
        ".".join(file.relative_to(ROOT).with_suffix("").parts)
        for file in files
        if "rigid.compilation.decorators import" in file.read_text("utf-8")
    ]
    assert len(with_kernels) > 100
    family_of = {module: family for family, modules in OF_FAMILY.items() for module in modules.split()}
    compiled_kernels, known = json.loads(ended("-c", OF_MODULES, *with_kernels, *family_of).stdout)
    assert {module: compiled_kernels[module] for module in family_of} == family_of
    assert {module for module in with_kernels if not compiled_kernels[module]} == {
        "discretization.time.time_loop"
    }
    assert set(known) == set(OF_FAMILY) - {""}


FIRST_RUN = """
from rigid.linear_algebra import dot
from rigid.structural_zero import ZERO
dot((1.0, 2.0, ZERO), (3.0, 4.0, ZERO)), dot((1j, 0j, 0j), (1j, 0j, 0j))
"""
SECOND_RUN = """
import numpy as np
from rigid.compilation.decorators import kernel
from rigid.linear_algebra import dot

@kernel
def opposite(z, out):
    out[0] = dot((z, z, z), (z, z, z))
    out[0] = -z

out = np.zeros(1, complex)
opposite(2.0 + 1.0j, out)
print(out[0])
"""


@compiled_only
def test_cached_kernel_with_constants_loads_during_a_compilation(tmp_path):
    """The constants define operators, which numba would not find again while it types them."""
    ended("-c", FIRST_RUN, NUMBA_CACHE_DIR=str(tmp_path))
    assert ended("-c", SECOND_RUN, NUMBA_CACHE_DIR=str(tmp_path)).stdout.strip() == "(-2-1j)"


MULTIPLES = """
import ctypes, sys
import numba
from numba.core import event
from rigid.compilation.decorators import compiled, internal_kernel

def multiple(factor):
    @internal_kernel
    def scaled(x):
        return factor * x
    @compiled(numba.types.float64(numba.types.float64))
    def plus_one(x):
        return scaled(x) + 1.0
    return plus_one

multiples = {factor: multiple(float(factor)) for factor in (2, 3)}
for_c = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)
with event.install_recorder("numba:compile") as found:
    print(*[for_c(multiples[int(factor)].address)(3.0) for factor in sys.argv[1:]], len(found.buffer) // 2)
"""


@compiled_only
def test_kernels_that_one_function_makes_are_cached_and_told_apart(tmp_path):
    """Two processes compile different ones; a third loads both, and compiles neither again."""
    (tmp_path / "multiples.py").write_text(MULTIPLES, "utf-8")
    where = {"NUMBA_CACHE_DIR": str(tmp_path / "kept"), "PYTHONPATH": search_path(tmp_path)}
    (tmp_path / "kept").mkdir()
    # both functions are compiled by the first process that needs them
    for factors, results in (
        (["2"], "7.0 2"),
        (["3"], "10.0 2"),
        (["2", "3"], "7.0 10.0 0"),
        (["3"], "10.0 0"),
    ):
        assert said("-c", "import multiples", *factors, **where) == results


NUMBERS = "from numba.core.bytecode import FunctionIdentity as f; import rigid.compilation.decorators; print(next(f._unique_ids))"


@compiled_only
def test_no_two_processes_give_functions_the_same_number():
    """Machine code of both may be loaded by a third, where a definition gives way to an earlier one of its name."""
    one, other = (int(said("-c", NUMBERS)) for _ in range(2))
    assert abs(one - other) > 1_000_000  # of 2^48, so that one in 10^8 pairs of processes fails


DOUBLE = numba.types.float64(numba.types.float64)


def twice(function, x):
    """A function of a function."""
    return function(function(x))


of_one_signature = explicit_kernel(numba.types.float64(numba.types.FunctionType(DOUBLE), numba.types.float64))
by_python, by_kernel = of_one_signature(twice), of_one_signature(twice)


@compiled(DOUBLE)
def tripled(x):
    """A function that is passed as an argument."""
    return 3.0 * x


@compiled_only
@pytest.mark.parametrize("first", ["python", "kernel"])
def test_kernel_with_one_signature_is_compiled_for_it_by_every_first_call(first):
    """An integer is converted to the number of the signature, from Python and from a kernel."""

    def calling(function, x):
        return by_kernel(function, x)

    called, complete = (
        (by_python, by_python) if first == "python" else (by_kernel, named_kernel("calling", calling))
    )
    assert not called.nopython_signatures
    assert complete(tripled, 2) == 18.0
    assert [x.args[1] for x in called.nopython_signatures] == [numba.types.float64]
    with pytest.raises((TypeError, numba.errors.TypingError)):
        complete(tripled, "2")


def test_equations_are_selected_by_model_kind_without_type_lookup(monkeypatch):
    from discretization.time import newton
    from discretization.time.stepper import Stepper
    from rodsim import Box, Model

    def stepper(length, hidden=False):
        model = Model("pendulum")
        bar = model.add_body("bar", Box(length, 0.1, 0.1, density=1000), position=(length / 2, 0, 0))
        model.add_joint("pin", "spherical", model.ground, bar, at=(0, 0, 0))
        built = model.build()
        result = Stepper(built.system, 0.01, hidden=hidden)
        return newton.equations_of(result.system, result.numbering, result._hidden, built.state, result.work)

    first = stepper(1.0)
    monkeypatch.setattr(newton, "typeof", None)  # a type lookup would raise
    assert stepper(2.0) is first
    monkeypatch.undo()
    assert stepper(1.0, hidden=True) is not first


@compiled_only
def test_experimental_feature_warning_is_silenced_for_own_kernels_only():
    def chosen_of(decorate):
        @decorate
        def one(x):
            return x + 1.0

        @decorate
        def other(x):
            return 3.0 * x

        @decorate
        def chosen(x, first):
            function = one if first else other
            return function(x)

        return chosen

    before = list(warnings.filters)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        filters = list(warnings.filters)
        assert chosen_of(kernel)(2.0, True) == 3.0
        assert not caught
        assert list(warnings.filters) == filters
        assert chosen_of(numba.njit)(2.0, True) == 3.0
        assert [warning.category for warning in caught] == [numba.errors.NumbaExperimentalFeatureWarning]
    assert list(warnings.filters) == before


@compiled_only
@pytest.mark.parametrize("threshold", [700, 0])
def test_garbage_is_collected_less_often_while_kernels_are_compiled(threshold):
    """The threshold is restored, also if the compilation fails; disabled garbage collection stays disabled."""
    thresholds, before = [], gc.get_threshold()

    class Looking(event.Listener):
        def on_start(self, started):
            thresholds.append(gc.get_threshold()[0])

        on_end = on_start

    @kernel
    def fails(x):
        return x.nothing

    gc.set_threshold(threshold, *before[1:])
    try:
        with event.install_listener("numba:compile", Looking()), pytest.raises(numba.errors.TypingError):
            fails(1.0)
        assert gc.get_threshold()[0] == threshold
    finally:
        gc.set_threshold(*before)
    assert (thresholds[0] > 1e5) == (threshold > 0)
