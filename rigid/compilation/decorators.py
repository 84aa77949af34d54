"""How kernels are compiled: one set of decorators, one cache.

Machine code is kept in a folder of our own (`cache_folder`), which is numba's for our kernels alone.

numba reads the index of a kernel, all signatures it was compiled for, in one go: one with a type of a user's module in it could
not be read where that module is not there, and the kernel would fail for every script. Such signatures are not kept; what a user
has us compile (`compiled_apart`) is in a folder of its own. Nor does numba lock the index that it reads, adds to and writes: of
two processes that compile at once one would lose its entry, or take the number of the other's file. We do (`_CacheFile`).
"""

from __future__ import annotations

import contextlib
import functools
import io
import os
import pickle
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any, TypeVar

import numba
import numba.experimental.function_type  # says how functions are passed: `CompiledFunction`; numba imports it late
from llvmlite import ir
from numba import types
from numba.core import caching, ccallback, cgutils, event, serialize, sigutils
from numba.core import dispatcher as dispatching
from numba.extending import intrinsic

from rigid.compilation.cache_folder import CACHE_DIRECTORY
from rigid.compilation.inlined_kernels import inlined, target_of_kernels
from rigid.compilation.kernel_cache import KernelCache
from rigid.compilation.kernel_libraries import with_target
from rigid.compilation.known_signatures import known_signature, signature_of
from rigid.compilation.quick_compiler import KernelFlags, WhileCompiling

F = TypeVar("F", bound=Callable[..., Any])

_config: Any = numba.config


@contextlib.contextmanager
def _our_cache(folder: str = CACHE_DIRECTORY) -> Iterator[None]:
    """numba reads its cache directory where a function is decorated: ours is set for that long only, and how it is written to."""
    before, of_numba = _config.CACHE_DIR, caching.IndexDataCacheFile
    _config.CACHE_DIR, caching.IndexDataCacheFile = folder, _CacheFile  # type: ignore[misc]
    dispatching.FunctionCache = ccallback.FunctionCache = KernelCache  # type: ignore[attr-defined]
    try:
        yield
    finally:
        _config.CACHE_DIR, caching.IndexDataCacheFile = before, of_numba  # type: ignore[misc]
        dispatching.FunctionCache = ccallback.FunctionCache = caching.FunctionCache  # type: ignore[attr-defined]


# Divisions follow IEEE instead of raising; no fast-math: round-off is asserted.
_ERRORS: dict[str, Any] = {"error_model": "numpy"}
_OPTIONS: dict[str, Any] = {"cache": True, **_ERRORS}
# numba makes a C function of every kernel; what C calls we make by `compiled`
_NO_C: dict[str, Any] = {"no_cfunc_wrapper": True}


def _njit(*signature: Any, **options: Any) -> Callable[[Any], Any]:
    def decorate(function: Any) -> Any:
        with _our_cache(), known_signature(function):
            jit: Any = numba.njit
            return _quickly_typed(jit(*signature, **_OPTIONS, **_NO_C, **options)(function))

    return decorate


def _quickly_typed(dispatcher: Any) -> Any:
    """The same kernel, with such settings and for arguments of general types."""
    if not _config.DISABLE_JIT:
        vars(dispatcher).pop(
            "__signature__", None
        )  # that of the function, with its annotations, is asked for anew
        dispatcher._compiler._customize_flags = KernelFlags
        dispatcher._compiler.fold_argument_types = _generally(dispatcher._compiler.fold_argument_types)
        # extensions of numba that other packages bring: its compiler looks for them by itself, where something is left to compile
        dispatcher._compilation_chain_init_hook = _nothing
        with_target(dispatcher, target_of_kernels())
    return dispatcher


def _nothing() -> None:
    """Where machine code is there."""


def _generally(types_of: Any) -> Any:
    """As `types_of`, which gives numba the types of a call from a kernel, but for no values of whole numbers and switches: a
    kernel is compiled once, not for each number that stands in a call, and not for what is left out once more.
    """

    def general_types_of(arguments: Any, named: Any) -> Any:
        signature, found = types_of(arguments, named)
        return signature, tuple(_general(each) for each in found)

    return general_types_of


def _general(argument: Any) -> Any:
    if isinstance(argument, types.Omitted):
        return numba.typeof(argument.value)
    return types.unliteral(argument)


event.register("numba:compile", WhileCompiling())

# modules whose classes every script has
_EVERYWHERE = {"builtins", "collections", "copyreg", "discretization", "numba", "numpy", "rigid", "rodsim"}


class _Reader(pickle.Unpickler):
    """Reads an object, and notes of which modules its classes are."""

    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data))
        self.modules: set[str] = set()

    def find_class(self, module: str, name: str) -> Any:
        """As always."""
        # what stands there by its code, as classes of scripts do, is rebuilt by `cloudpickle`
        self.modules.add(module if "cloudpickle" in module else module.partition(".")[0])
        return super().find_class(module, name)


def _of_all(signature: Any) -> bool:
    """Whether its types can be read in every script."""
    reader = _Reader(serialize.dumps(signature))
    reader.load()
    return reader.modules <= _EVERYWHERE


@contextlib.contextmanager
def _alone_in(folder: str) -> Iterator[None]:
    """No other process does this meanwhile; where files cannot be locked, as on Windows, that is not sure."""
    with contextlib.ExitStack() as opened:
        with contextlib.suppress(ImportError, OSError):
            import fcntl

            fcntl.flock(opened.enter_context(open(os.path.join(folder, "lock"), "wb")), fcntl.LOCK_EX)
        yield


class _CacheFile(caching.IndexDataCacheFile):
    """What is kept of a kernel: machine code for types that every script has, written by one process at a time."""

    def save(self, key: Any, data: Any) -> None:
        """Under a key that begins with the signature."""
        if _of_all(key[0]):
            with _alone_in(self._cache_path):
                super().save(key, data)


# numba's private switch: kernels that allocate nothing pass arrays without counting who holds them. For the named tuples of a
# model the counting took ten times as long as a joint. tests/core/test_compilation.py notices when numba drops it.
_UNCOUNTED: dict[str, Any] = {"_nrt": False}


def kernel(function: F) -> F:
    """Compile a function of arrays and scalars that allocates nothing.

    Without allocation there is nothing to count: see `_UNCOUNTED`.
    """
    return _njit(**_UNCOUNTED)(function)


# Without a face for Python: to unpack a model in each kernel anew took half of the compiler's time.
_FACELESS: dict[str, Any] = {"no_cpython_wrapper": True}


def small_kernel(function: F) -> F:
    """Compile a helper of a few operations on scalars and tuples, for other kernels; for Python a twin, as `inner_kernel`."""
    return _with_face_apart(_njit(**_UNCOUNTED, **_FACELESS)(function), kernel, function)


def flat_kernel(function: F) -> F:
    """The same, always taken in by what calls it: for formulas on lanes, whose many numbers would go through memory otherwise."""
    return _with_face_apart(_njit(**_UNCOUNTED, **_FACELESS, forceinline=True)(function), kernel, function)


def inner_kernel(function: F) -> F:
    """Compile a function that takes models, by reference, and that other kernels call."""
    return _with_face_apart(_njit(**_UNCOUNTED, **_FACELESS)(function), kernel, function)


def allocating_inner_kernel(function: F) -> F:
    """The same for a function that allocates arrays or calls Python."""
    return _with_face_apart(_njit(**_FACELESS)(function), allocating_kernel, function)


def _with_face_apart(inner: Any, decorate: Callable[[Any], Any], function: Any) -> Any:
    """A faceless kernel that Python may call all the same, as tests do: a twin with a face is compiled then."""
    if _config.DISABLE_JIT:
        return inner
    inlined(inner)
    twins: list[Any] = []

    def twin(*_: Any, **__: Any) -> Any:
        if not twins:
            twins.append(decorate(_calling(inner, function)))
        return twins[0]

    def add_overload(compiled: Any) -> None:
        inner.overloads[tuple(compiled.signature.args)] = compiled

    # what numba's dispatcher asks where it knows no compiled function for a call from Python: it knows of none
    inner.add_overload, inner._compile_for_args, inner.face = add_overload, twin, twin
    return inner


def _calling(inner: Any, function: Any) -> Any:
    """The function under a name of its own in the cache, or the faceless kernel would be found: one that calls it, so that it is
    not compiled twice, or where the cache tells kernels of one name by what their functions enclose, all of it again.
    """
    code, name = function.__code__, f"{function.__name__}_for_python"
    known, defaults = function.__globals__, function.__defaults__
    taken = signature_of(function)
    if function.__closure__ is None and taken is not None:
        names = ", ".join(taken.parameters)
        text = f"def {name}({names}):\n    return the_kernel({names})\n"
        known = {"the_kernel": inner, "__name__": function.__module__}
        made = compile(text, code.co_filename, "exec").co_consts[0]
        code = made.replace(co_firstlineno=code.co_firstlineno)
    own = FunctionType(code, known, name, defaults, function.__closure__)
    own.__module__, own.__qualname__ = function.__module__, name
    return own


def face_of(inner: Any) -> Any:
    """The twin of a faceless kernel, for Python that calls it often: to call it by the other takes twice as long."""
    return inner if _config.DISABLE_JIT else inner.face()


def named_kernel(name: str, function: F) -> F:
    """Compile a helper that is made at run time: kept with those that call it, not by itself.

    Compiled code knows it by `name`, which must be its own.
    """
    return _named(name, function, {})


def named_inner_kernel(name: str, function: F) -> F:
    """The same for one that takes models."""
    return _with_face_apart(_named(name, function, _FACELESS), lambda own: _named(name, own, {}), function)


def _named(name: str, function: Any, options: dict[str, Any]) -> Any:
    function.__qualname__ = name
    jit: Any = numba.njit
    with known_signature(function):
        return _quickly_typed(jit(**_ERRORS, **_UNCOUNTED, **_NO_C, **options)(function))


def inner_apart(function: F, folder: str = "") -> F:
    """Compile what functions of `compiled_apart` call, which may allocate: they take it in.

    Kept in the folder, where one is given: only what has a name of its own there, as numba finds functions by name, line and
    instructions, and by no number or name that these use.
    """

    def compiled_as(**options: Any) -> Any:
        jit: Any = numba.njit
        return jit(**_ERRORS, **options)

    if _config.DISABLE_JIT:
        return function
    with _our_cache(folder), known_signature(function):
        inner = compiled_as(cache=bool(folder), **_NO_C, **_FACELESS)(function)
    inner._compiler._customize_flags = KernelFlags
    return _with_face_apart(inner, compiled_as(), function)


def allocating_kernel(function: F) -> F:
    """Compile a function that allocates arrays or calls Python: the outermost ones."""
    return _njit()(function)


def released_kernel(function: F) -> F:
    """Like `kernel`, for a march: other threads of Python run meanwhile."""
    return _njit(**_UNCOUNTED, nogil=True)(function)


def released_allocating_kernel(function: F) -> F:
    """Like `allocating_kernel`, for a march: other threads of Python run meanwhile, but where it calls Python itself."""
    return _njit(nogil=True)(function)


class _KernelForC(ccallback.CFunc):
    """What C calls: as `numba.cfunc` makes it, in our library."""

    _targetdescr = target_of_kernels()

    @classmethod
    def of(cls, function: Callable[..., Any], signature: Any, **options: Any) -> _KernelForC:
        """One with machine code."""
        made: Any = cls(function, sigutils.normalize_signature(signature), {}, _ERRORS | options)
        settings = made._compiler._customize_flags
        made._compiler._customize_flags = lambda flags: KernelFlags(settings(flags))
        made.enable_caching()
        made.compile()
        return made

    @property
    def py_func(self) -> Callable[..., Any]:
        """As that of numba's dispatchers is called."""
        return self.__wrapped__

    def _compile_uncached(self) -> Any:
        """Told to those who listen, as numba does of other kernels."""
        with event.trigger_event("numba:compile", data={"dispatcher": self}):
            return super()._compile_uncached()  # type: ignore[misc]


class CompiledFunction(types.WrapperAddressProtocol):
    """A function compiled for one signature when its address is first asked for: most of them never are.

    numba passes it to kernels as what its signature says, by these two methods.
    """

    def __init__(self, function: Callable[..., Any], signature: Any, folder: str | None = None):
        functools.update_wrapper(self, function)
        self._function, self._signature, self._folder = function, signature, folder
        self._numba_type_ = types.FunctionType(signature)  # which numba would make anew at every call

    @functools.cached_property
    def _machine_code(self) -> Any:
        if self._folder is not None:
            with _our_cache(self._folder):
                return _KernelForC.of(self._function, self._signature)
        with _our_cache():
            return _KernelForC.of(self._function, self._signature, **_UNCOUNTED)

    @functools.cached_property
    def address(self) -> int:
        """Where the machine code is."""
        return int(self._machine_code.address)

    def __wrapper_address__(self) -> int:
        return self.address

    def signature(self) -> Any:
        """numba's."""
        return self._signature

    @property
    def source(self) -> Callable[..., Any]:
        """The Python function."""
        return self._function

    @property
    def folder(self) -> str | None:
        """Folder that keeps the machine code of a user's function; None for one of the program, which allocates nothing."""
        return self._folder

    def __call__(self, *arguments: Any) -> Any:
        """What Python makes of it, uncompiled but for the kernels it calls."""
        return self._function(*arguments)


def compiled(signature: Any) -> Callable[[Callable[..., Any]], Any]:
    """Decorator: compile for one signature, as a function that compiled code can be handed and call.

    Like `kernel`, for functions that allocate nothing. Without the compiler (NUMBA_DISABLE_JIT) it is left as it is.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        if _config.DISABLE_JIT:  # heeded by numba's jit, not by its cfunc
            return function
        return CompiledFunction(function, signature)

    return decorate


def complexified(signature: Any) -> Any:
    """The signature with an array of complex numbers where there is one of real numbers."""
    real, own = types.float64[::1], types.complex128[::1]
    return signature.return_type(*(own if argument == real else argument for argument in signature.args))


@functools.cache
def with_complex_numbers(function: Any) -> Any:
    """The same source as a function of `compiled`, of complex numbers where it takes an array of real ones.

    Compiled when its address is asked for, so that whoever takes no derivatives to numbers pays nothing.
    """
    if _config.DISABLE_JIT:
        return function
    return CompiledFunction(function.source, complexified(function.signature()), function.folder)


def compiled_apart(signature: Any, function: Callable[..., Any], folder: str) -> Any:
    """The same of a user's function, which may allocate, with its machine code in a folder of its own."""
    return function if _config.DISABLE_JIT else CompiledFunction(function, signature, folder)


def explicit_kernel(signature: Any) -> Callable[[F], F]:
    """Decorator: compile for one signature, when first called, for functions that take compiled functions as arguments."""

    def decorate(function: F) -> F:
        return _of_one_signature(_njit(**_UNCOUNTED)(function), signature)

    return decorate


def _of_one_signature(dispatcher: Any, signature: Any) -> Any:
    """The same kernel, for arguments of these types alone: numba compiles one that is given a signature where it is imported."""
    if _config.DISABLE_JIT:
        return dispatcher
    template_of = dispatcher.get_call_template

    def complete(*_: Any, **__: Any) -> Any:
        if not dispatcher.overloads:
            dispatcher.compile(signature)
            dispatcher.disable_compile()
        return dispatcher

    # what numba asks at a call from Python that nothing compiled is known for, and at one from a kernel
    dispatcher._compile_for_args = complete
    dispatcher.get_call_template = lambda arguments, named: complete() and template_of(arguments, named)
    return dispatcher


_python_functions: dict[int, Callable[..., Any]] = {}  # where the compiler is off


def address_of(function: Any) -> int:
    """Address of a function of `compiled`, for tables of functions."""
    if _config.DISABLE_JIT:
        _python_functions[id(function)] = function
        return id(function)
    return int(function.address)


def function_at(signature: Any) -> Any:
    """A kernel that turns the address of a function compiled for `signature` into the function.

    A table of addresses costs a system eight bytes a function; functions passed as values are copied with every call.
    """
    if _config.DISABLE_JIT:
        return _python_functions.__getitem__
    function_type = types.FunctionType(signature)

    @intrinsic
    def at(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
            made = cgutils.create_struct_proxy(function_type)(context, builder)
            null = context.get_constant_null(types.voidptr)
            made.c_addr = builder.inttoptr(arguments[0], ir.IntType(8).as_pointer())
            made.py_addr, made.jit_addr = null, null
            return made._getvalue()

        return function_type(types.int64), generate

    return at
