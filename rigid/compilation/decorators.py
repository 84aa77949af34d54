"""Decorators that compile kernels, all with one cache.

Machine code is cached in a folder of rodsim's own (`cache_folder`), which is numba's cache folder for our kernels alone.

numba reads the index of a kernel, all signatures that it was compiled for, at once. If one signature contains a type of a user's
module, the index cannot be read where that module is missing, and the kernel would fail for every script. Such signatures are
not cached; code compiled for a user (`compiled_in_folder`) is in a separate folder. Nor does numba lock the index while it reads,
extends and writes it: of two processes that compile at the same time one would lose its entry, or use the file number of the
other. `_CacheFile` locks it.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import io
import os
import pickle
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any, TypeVar

import numba
import numba.experimental.function_type  # defines how functions are passed (`CompiledFunction`); numba imports it late
from llvmlite import ir
from numba import types
from numba.core import caching, ccallback, cgutils, event, serialize, sigutils
from numba.core import dispatcher as dispatching
from numba.extending import intrinsic

from rigid.compilation.cache_folder import CACHE_DIRECTORY
from rigid.compilation.closure_names import name_by_contents, number_functions_anywhere
from rigid.compilation.compiler_settings import OURS, WhileCompiling
from rigid.compilation.inlined_kernels import inlined, target_of_kernels, with_target
from rigid.compilation.kernel_cache import KernelCache

F = TypeVar("F", bound=Callable[..., Any])

_config: Any = numba.config


@contextlib.contextmanager
def _configure_cache(folder: str = CACHE_DIRECTORY) -> Iterator[None]:
    """Set the folder and the writer of the cache, which numba reads when a function is decorated, while the context is active."""
    before, of_numba = _config.CACHE_DIR, caching.IndexDataCacheFile
    _config.CACHE_DIR, caching.IndexDataCacheFile = folder, _CacheFile  # type: ignore[misc]
    dispatching.FunctionCache = ccallback.FunctionCache = KernelCache  # type: ignore[attr-defined]
    try:
        yield
    finally:
        _config.CACHE_DIR, caching.IndexDataCacheFile = before, of_numba  # type: ignore[misc]
        dispatching.FunctionCache = ccallback.FunctionCache = caching.FunctionCache  # type: ignore[attr-defined]


# Divisions follow IEEE instead of raising; no fast-math: tests assert round-off.
_ERRORS: dict[str, Any] = {"error_model": "numpy"}
_OPTIONS: dict[str, Any] = {"cache": True, **_ERRORS}
# numba makes a C function of every kernel; only functions of `compiled` are called from C, so kernels need none
_NO_C: dict[str, Any] = {"no_cfunc_wrapper": True}


def _njit(*signature: Any, **options: Any) -> Callable[[Any], Any]:
    """Return a decorator that compiles kernels with our settings and cache."""

    def decorate(function: Any) -> Any:
        name_by_contents(function)
        with _configure_cache():
            jit: Any = numba.njit
            return _set_up(jit(*signature, **_OPTIONS, **_NO_C, **options)(function))

    return decorate


def _set_up(dispatcher: Any) -> Any:
    """Set up a dispatcher for arguments of general types and for our target."""
    if not _config.DISABLE_JIT:
        setattr(dispatcher, OURS, True)
        dispatcher._compiler.fold_argument_types = _without_literal_types(
            dispatcher._compiler.fold_argument_types
        )
        # do not load numba extensions of other packages: the compiler loads them itself if something is left to compile
        dispatcher._compilation_chain_init_hook = _nothing
        with_target(dispatcher, target_of_kernels())
    return dispatcher


def _nothing() -> None:
    """Do nothing, in place of loading extensions if machine code is cached."""


def _without_literal_types(types_of: Any) -> Any:
    """Wrap `types_of`, which returns the argument types of a call from a kernel, so that it returns no types of literal values.

    A kernel is then compiled once, not for each integer or switch that occurs in a call, and not again for omitted arguments.
    """

    def general_types_of(arguments: Any, named: Any) -> Any:
        signature, argument_types = types_of(arguments, named)
        return signature, tuple(_without_literal(kind) for kind in argument_types)

    return general_types_of


def _without_literal(argument: Any) -> Any:
    """Return the type of an argument without its literal value."""
    if isinstance(argument, types.Omitted):
        return numba.typeof(argument.value)
    return types.unliteral(argument)


event.register("numba:compile", WhileCompiling())
number_functions_anywhere()

# modules whose classes every script can import
_EVERYWHERE = {"builtins", "collections", "copyreg", "discretization", "numba", "numpy", "rigid", "rodsim"}


class _Reader(pickle.Unpickler):
    """Unpickler that records the modules of the classes it reads."""

    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data))
        self.modules: set[str] = set()

    def find_class(self, module: str, name: str) -> Any:
        """Find a class as pickle does and record its module."""
        # classes that are stored by their code, such as those of scripts, are rebuilt by `cloudpickle`
        self.modules.add(module if "cloudpickle" in module else module.partition(".")[0])
        return super().find_class(module, name)


def _of_all(signature: Any) -> bool:
    """Return True if the types of a signature can be read in every script."""
    reader = _Reader(serialize.dumps(signature))
    reader.load()
    return reader.modules <= _EVERYWHERE


@contextlib.contextmanager
def _lock_folder(folder: str) -> Iterator[None]:
    """Lock a folder against other processes while the context is active, if files can be locked, which they cannot on Windows."""
    with contextlib.ExitStack() as opened:
        with contextlib.suppress(ImportError, OSError):
            import fcntl

            fcntl.flock(opened.enter_context(open(os.path.join(folder, "lock"), "wb")), fcntl.LOCK_EX)
        yield


class _CacheFile(caching.IndexDataCacheFile):
    """Index and machine code of a kernel, saved for types that every script has, by one process at a time."""

    def save(self, key: Any, data: Any) -> None:
        """Save an entry; its key begins with the signature."""
        if _of_all(key[0]):
            with _lock_folder(self._cache_path):
                super().save(key, data)


# numba's private switch: kernels that allocate nothing pass arrays without counting references. For the named tuples of a model
# the counting took ten times as long as a joint. tests/core/test_compilation.py fails if numba drops the switch.
_UNCOUNTED: dict[str, Any] = {"_nrt": False}


def kernel(function: F) -> F:
    """Compile a function of arrays and scalars that allocates nothing.

    Without allocation there are no references to count: see `_UNCOUNTED`.
    """
    return _njit(**_UNCOUNTED)(function)


# Compile no entry point ("face") for Python: code that unpacks a model in each kernel took half of the compile time.
_WITHOUT_ENTRY_POINT: dict[str, Any] = {"no_cpython_wrapper": True}


def inline_kernel(function: F) -> F:
    """Compile a helper of a few operations on scalars and tuples for other kernels; Python calls a twin, as for
    `internal_kernel`.
    """
    return _with_separate_entry_point(_njit(**_UNCOUNTED, **_WITHOUT_ENTRY_POINT)(function), kernel, function)


def always_inline_kernel(function: F) -> F:
    """Compile a helper that is always inlined into its callers, for formulas on lanes, whose many numbers would go
    through memory.
    """
    return _with_separate_entry_point(
        _njit(**_UNCOUNTED, **_WITHOUT_ENTRY_POINT, forceinline=True)(function), kernel, function
    )


def internal_kernel(function: F) -> F:
    """Compile a function that takes models by reference and that other kernels call."""
    return _with_separate_entry_point(_njit(**_UNCOUNTED, **_WITHOUT_ENTRY_POINT)(function), kernel, function)


def allocating_internal_kernel(function: F) -> F:
    """Compile a function that other kernels call and that allocates arrays or calls Python."""
    return _with_separate_entry_point(_njit(**_WITHOUT_ENTRY_POINT)(function), allocating_kernel, function)


def _with_separate_entry_point(inner: Any, decorate: Callable[[Any], Any], function: Any) -> Any:
    """Let Python call a kernel without a Python entry point, as tests do: a twin with one is compiled at the first call."""
    if _config.DISABLE_JIT:
        return inner
    inlined(inner)
    compiled_twin: list[Any] = []

    def twin(*_: Any, **__: Any) -> Any:
        if not compiled_twin:
            compiled_twin.append(decorate(_python_caller(inner, function)))
        return compiled_twin[0]

    def add_overload(compiled: Any) -> None:
        inner.overloads[tuple(compiled.signature.args)] = compiled

    # hooks that numba's dispatcher calls if it knows no compiled function for a call from Python; it never knows one here
    inner.add_overload, inner._compile_for_args, inner.face = add_overload, twin, twin
    return inner


def _python_caller(inner: Any, function: Any) -> Any:
    """Return a function that calls the kernel, under a name of its own, since the cache would otherwise find the kernel itself.

    Calling it avoids a second compilation. If the function has a closure, by which the cache distinguishes kernels of one name,
    or arguments that are not plain, the whole function is compiled again under the new name.
    """
    code, name = function.__code__, f"{function.__name__}_for_python"
    namespace, defaults = function.__globals__, function.__defaults__
    parameters = inspect.signature(function).parameters
    plain = all(
        parameter.kind == inspect.Parameter.POSITIONAL_OR_KEYWORD for parameter in parameters.values()
    )
    if function.__closure__ is None and plain:
        names = ", ".join(parameters)
        text = f"def {name}({names}):\n    return the_kernel({names})\n"
        namespace = {"the_kernel": inner, "__name__": function.__module__}
        wrapper_code = compile(text, code.co_filename, "exec").co_consts[0]
        code = wrapper_code.replace(co_firstlineno=code.co_firstlineno)
    caller = FunctionType(code, namespace, name, defaults, function.__closure__)
    caller.__module__, caller.__qualname__ = function.__module__, name
    return caller


def with_entry_point(inner: Any) -> Any:
    """Return the twin of a kernel without a Python entry point, for frequent calls from Python, which cost twice as
    much by the kernel.
    """
    return inner if _config.DISABLE_JIT else inner.face()


def named_kernel(name: str, function: F) -> F:
    """Compile a helper that is made at run time; it is cached with its callers, not by itself.

    Compiled code knows it by `name`, which must be unique.
    """
    return _named(name, function, {})


def named_internal_kernel(name: str, function: F) -> F:
    """Compile a helper that is made at run time and takes models; it is cached with its callers, not by itself."""
    return _with_separate_entry_point(
        _named(name, function, _WITHOUT_ENTRY_POINT), lambda renamed: _named(name, renamed, {}), function
    )


def _named(name: str, function: Any, options: dict[str, Any]) -> Any:
    """Compile a function under a name, without a cache entry."""
    function.__qualname__ = name
    jit: Any = numba.njit
    return _set_up(jit(**_ERRORS, **_UNCOUNTED, **_NO_C, **options)(function))


def internal_kernel_in_folder(function: F, folder: str = "") -> F:
    """Compile a helper that functions of `compiled_in_folder` call and inline, and which may allocate.

    It is cached in `folder` if one is given. Its name must then be unique there: numba identifies functions by name, line and
    instructions, but not by the numbers or names that they use.
    """

    def compiled_as(**options: Any) -> Any:
        jit: Any = numba.njit
        return jit(**_ERRORS, **options)

    if _config.DISABLE_JIT:
        return function
    with _configure_cache(folder):
        inner = compiled_as(cache=bool(folder), **_NO_C, **_WITHOUT_ENTRY_POINT)(function)
    setattr(inner, OURS, True)
    return _with_separate_entry_point(inner, compiled_as(), function)


def allocating_kernel(function: F) -> F:
    """Compile a function that allocates arrays or calls Python: the outermost kernels."""
    return _njit()(function)


def nogil_kernel(function: F) -> F:
    """Compile a march (time loop) as `kernel` does, so that other threads of Python run meanwhile."""
    return _njit(**_UNCOUNTED, nogil=True)(function)


def nogil_allocating_kernel(function: F) -> F:
    """Compile a march as `allocating_kernel` does, so that other threads of Python run meanwhile, except while it
    calls Python itself.
    """
    return _njit(nogil=True)(function)


class _KernelForC(ccallback.CFunc):
    """Function that C can call, made as `numba.cfunc` does, but in our library."""

    _targetdescr = target_of_kernels()

    @classmethod
    def of(cls, function: Callable[..., Any], signature: Any, **options: Any) -> _KernelForC:
        """Compile a function for one signature."""
        kernel: Any = cls(function, sigutils.normalize_signature(signature), {}, _ERRORS | options)
        setattr(kernel, OURS, True)
        kernel.enable_caching()
        kernel.compile()
        return kernel

    @property
    def py_func(self) -> Callable[..., Any]:
        """Return the Python function, under the name that numba's dispatchers use."""
        return self.__wrapped__

    def _compile_uncached(self) -> Any:
        """Compile the function and notify listeners, as numba does for other kernels."""
        with event.trigger_event("numba:compile", data={"dispatcher": self}):
            return super()._compile_uncached()  # type: ignore[misc]


class CompiledFunction(types.WrapperAddressProtocol):
    """Function that is compiled for one signature when its address is first requested, which for most functions never happens.

    numba passes it to kernels as a function of its signature, by the methods `__wrapper_address__` and `signature`.
    """

    def __init__(self, function: Callable[..., Any], signature: Any, folder: str | None = None):
        if folder is None:
            name_by_contents(function)
        functools.update_wrapper(self, function)
        self._function, self._signature, self._folder = function, signature, folder
        self._numba_type_ = types.FunctionType(signature)  # numba would make the type again at every call

    @functools.cached_property
    def _machine_code(self) -> Any:
        """Compile the function: a user's function with its own cache folder, a function of the program without
        reference counting.
        """
        if self._folder is not None:
            with _configure_cache(self._folder):
                return _KernelForC.of(self._function, self._signature)
        with _configure_cache():
            return _KernelForC.of(self._function, self._signature, **_UNCOUNTED)

    @functools.cached_property
    def address(self) -> int:
        """Return the address of the machine code; compile the function if necessary."""
        return int(self._machine_code.address)

    def __wrapper_address__(self) -> int:
        return self.address

    def signature(self) -> Any:
        """Return the numba signature."""
        return self._signature

    @property
    def source(self) -> Callable[..., Any]:
        """Return the Python function."""
        return self._function

    @property
    def folder(self) -> str | None:
        """Return the folder that caches the machine code of a user's function; None for a function of the program,
        which allocates nothing.
        """
        return self._folder

    def __call__(self, *arguments: Any) -> Any:
        """Call the Python function, uncompiled except for the kernels that it calls."""
        return self._function(*arguments)


def compiled(signature: Any) -> Callable[[Callable[..., Any]], Any]:
    """Decorate a function to be compiled for one signature, so that compiled code can receive and call it as a value.

    Like `kernel`, for functions that allocate nothing. Without the compiler (NUMBA_DISABLE_JIT) the function is left unchanged.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        if _config.DISABLE_JIT:  # numba's jit heeds the switch, its cfunc does not
            return function
        return CompiledFunction(function, signature)

    return decorate


def complex_signature(signature: Any) -> Any:
    """Return the signature with arrays of complex numbers in place of arrays of real numbers."""
    real_array, complex_array = types.float64[::1], types.complex128[::1]
    return signature.return_type(
        *(complex_array if argument == real_array else argument for argument in signature.args)
    )


@functools.cache
def with_complex_numbers(function: Any) -> Any:
    """Return a function of `compiled` with the same source, for arrays of complex numbers in place of arrays of real numbers.

    It is compiled when its address is requested, so that models without derivatives with respect to parameters pay nothing.
    """
    if _config.DISABLE_JIT:
        return function
    return CompiledFunction(function.source, complex_signature(function.signature()), function.folder)


def compiled_in_folder(signature: Any, function: Callable[..., Any], folder: str) -> Any:
    """Return a user's function as one of `compiled`; it may allocate, and its machine code is cached in `folder`."""
    return function if _config.DISABLE_JIT else CompiledFunction(function, signature, folder)


def explicit_kernel(signature: Any) -> Callable[[F], F]:
    """Decorate a function that takes compiled functions as arguments, to be compiled for one signature when first called."""

    def decorate(function: F) -> F:
        return _of_one_signature(_njit(**_UNCOUNTED)(function), signature)

    return decorate


def _of_one_signature(dispatcher: Any, signature: Any) -> Any:
    """Restrict a kernel to arguments of these types; numba compiles a kernel with a given signature when it is
    imported, not when called.
    """
    if _config.DISABLE_JIT:
        return dispatcher
    template_of = dispatcher.get_call_template

    def complete(*_: Any, **__: Any) -> Any:
        if not dispatcher.overloads:
            dispatcher.compile(signature)
            dispatcher.disable_compile()
        return dispatcher

    # hooks that numba calls if nothing compiled is known for a call from Python, and at a call from a kernel
    dispatcher._compile_for_args = complete
    dispatcher.get_call_template = lambda arguments, named: complete() and template_of(arguments, named)
    return dispatcher


_python_functions: dict[int, Callable[..., Any]] = {}  # functions by address, if the compiler is off


def address_of(function: Any) -> int:
    """Return the address of a function of `compiled`, for tables of functions."""
    if _config.DISABLE_JIT:
        _python_functions[id(function)] = function
        return id(function)
    return int(function.address)


def function_at(signature: Any) -> Any:
    """Return a kernel that turns the address of a function compiled for `signature` into the function.

    A table of addresses costs a system eight bytes per function; functions passed as values are copied with every call.
    """
    if _config.DISABLE_JIT:
        return _python_functions.__getitem__
    function_type = types.FunctionType(signature)

    @intrinsic
    def at(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
            function_struct = cgutils.create_struct_proxy(function_type)(context, builder)
            null = context.get_constant_null(types.voidptr)
            function_struct.c_addr = builder.inttoptr(arguments[0], ir.IntType(8).as_pointer())
            function_struct.py_addr, function_struct.jit_addr = null, null
            return function_struct._getvalue()

        return function_type(types.int64), generate

    return at
