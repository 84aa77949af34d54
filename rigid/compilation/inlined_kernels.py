"""Compile kernels that only other kernels call: short ones are inlined as LLVM code, long ones are called.

numba makes a library of each kernel, with the code of all that it calls, and machine code of each library; the code of a kernel
six calls deep is compiled six times. A kernel without a Python entry point is called by kernels only. If it is short, its callers
inline its LLVM code, and no machine code is made of it. If it is long (`LONG`) inlining gains nothing, and every march, function
of a kind and residual would optimise it again: it has machine code of its own, which others call by a symbol that is registered
with LLVM's linker. A kernel with such a call in its code, or that inlined one, ensures that the called kernel is compiled before
its own machine code is loaded (`_Called`, by numba's `reload_init`).

A library class and a target behind numba's compiler do this. They use private parts of numba; `tests/core/test_compilation.py`
fails if these change. Without them kernels are compiled as numba does.
"""

from __future__ import annotations

import copy
import functools
import hashlib
import importlib
import sys
from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

import llvmlite.binding
from numba.core import cgutils, imputils, types
from numba.core.codegen import JITCodeLibrary
from numba.core.dispatcher import Dispatcher
from numba.core.registry import cpu_target

from rigid.compilation.raised_exceptions import create_c_wrapper

# Number of LLVM instructions, before the whole is simplified, from which on a kernel is long: a call costs some nanoseconds, a
# thousand instructions a hundred or more. Tuples stay in registers if a kernel is inlined, but go through memory in a call.
LONG, LONG_WITH_TUPLES = 1000, 4000


class Target(NamedTuple):
    """Compilation target: the parts that numba's dispatcher requires of one."""

    options: Any
    typing_context: Any
    target_context: Any


def _target_of(library: type[JITCodeLibrary], **of_codegen: Any) -> Target:
    """Return numba's target for this machine with libraries of this class; `of_codegen` replaces attributes of its
    code generator.
    """
    codegen = copy.copy(cpu_target.target_context.codegen())
    codegen._library_class = library
    vars(codegen).update(of_codegen)
    context = cpu_target.target_context.subtarget(_internal_codegen=codegen)
    return Target(cpu_target.options, cpu_target.typing_context, context)


def with_target(dispatcher: Any, target: Target) -> Any:
    """Set the target that a kernel is compiled for; return the kernel."""
    dispatcher.targetctx = target.target_context
    dispatcher._compiler.targetdescr = target
    return dispatcher


class InlinedLibrary(JITCodeLibrary):
    """Library of a kernel that is either only linked into others, or long and called by them."""

    length = inf  # number of instructions from which on the kernel is long
    is_long = False

    def _set_compiled_object(self, machine_code: bytes) -> None:
        """Set the machine code of a long kernel, read from the disk."""
        self.is_long = True
        super()._set_compiled_object(machine_code)

    def _optimize_final_module(self) -> None:
        """Optimise a long kernel. A short one is optimised once, as part of its callers."""
        self.is_long = _is_long(self._final_module, self.length)
        if self.is_long:
            super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        """Finish the library; make machine code of a long kernel only."""
        if self.is_long:
            return super()._finalize_final_module()
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return the address of the machine code; 0 if there is none."""
        if self.is_long:
            return int(super().get_pointer_to_function(name))
        self._ensure_finalized()
        return 0

    def serialize_using_object_code(self) -> Any:
        """Return the contents of the library for numba's cache: LLVM code if there is no machine code."""
        return super().serialize_using_object_code() if self.is_long else self.serialize_using_bitcode()


def _length(fndesc: Any) -> float:
    """Return the number of instructions from which on a kernel is long.

    It is infinite for kernels of lanes: arrays of lanes are eight times as long as tuples.
    """
    argument_types = [*fndesc.argtypes, fndesc.restype]
    if any("Lanes" in str(kind) for kind in argument_types):
        return inf
    return LONG_WITH_TUPLES if any(isinstance(kind, types.BaseTuple) for kind in argument_types) else LONG


def _is_long(module: Any, length: float) -> bool:
    """Return True if a module has at least `length` instructions.

    Lines of text are counted: LLVM writes its text in a fifth of the time in which Python goes through the instructions.
    """
    count = 0
    for function in module.functions:
        if not function.is_declaration and count < length:
            count += str(function).count("\n  ")
    return count >= length


@dataclass(frozen=True)
class _Called:
    """A long kernel, identified by its names; numba calls this object before it loads machine code that calls the kernel."""

    module: str
    name: str
    arguments: tuple[Any, ...]

    @functools.cached_property
    def symbol(self) -> str:
        """Return the symbol for LLVM's linker, equal in all processes; numba's own names contain a number of the process."""
        digest = hashlib.sha256(str(self.arguments).encode()).hexdigest()[:16]
        return f"rodsim.{self.module}.{self.name}.{digest}"

    def kernel(self) -> Any:
        """Look up the kernel by its name; return None if it is not found."""
        return getattr(sys.modules.get(self.module), self.name, None)

    def __call__(self) -> None:
        """Import the module of the kernel and compile the kernel for its arguments."""
        importlib.import_module(self.module)
        self.kernel().compile(self.arguments)


def _call_generator(called: _Called, fndesc: Any) -> Any:
    """Return the code generator of calls of the kernel, as numba's `user_function` does, by its symbol and without inlining."""

    def call(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        context.active_code_library._reload_init.add(called)
        convention = context.call_conv
        kind = convention.get_function_type(fndesc.restype, fndesc.argtypes)
        function = cgutils.get_or_insert_function(builder.module, kind, called.symbol)
        status, result = convention.call_function(
            builder, function, fndesc.restype, fndesc.argtypes, arguments
        )
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        result = imputils.fix_returning_optional(context, builder, signature, status, result)
        return imputils.impl_ret_new_ref(context, builder, fndesc.restype, result)

    call.signature = fndesc.argtypes  # type: ignore[attr-defined]
    call.libs = ()  # type: ignore[attr-defined]
    return call


def _executable(context: Any, library: Any, fndesc: Any, environment: Any) -> Any:
    """Finish a library as numba's `get_executable` does, after setting from which length on its kernel is long."""
    if isinstance(library, InlinedLibrary):
        library.length = _length(fndesc)
    return type(context).get_executable(context, library, fndesc, environment)


def _register_call(context: Any, entry: Any, fndesc: Any, libraries: Any = ()) -> None:
    """Register how a compiled kernel is called, in place of `insert_user_function` of numba's target."""
    (library,) = libraries
    address = library.get_pointer_to_function(fndesc.llvm_func_name)
    called = _Called(fndesc.modname, fndesc.qualname, tuple(fndesc.argtypes))
    kernel = called.kernel()
    if address == 0 or not isinstance(kernel, Dispatcher) or kernel.targetctx is not context:
        generate_call = imputils.user_function(fndesc, libraries)
    else:
        llvmlite.binding.add_symbol(called.symbol, address)
        generate_call = _call_generator(called, fndesc)
    context._defns[entry].append(generate_call, generate_call.signature)


# environments, which compiled code needs to call Python, by the names of kernels without machine code
_environments: dict[str, Any] = {}


def _machine_code_finds(environments: dict[str, Any]) -> None:
    """When numba gives machine code its environment, set the environments of all kernels that it has inlined as well."""
    codegen = cpu_target.target_context.codegen()
    set_own = codegen.set_env

    def set_env(name: str, environment: Any) -> None:
        set_own(name, environment)
        for symbol in [one for one in environments if codegen._engine.is_symbol_defined(one)]:
            set_own(symbol, environments.pop(symbol))

    codegen.set_env = set_env


def _keep_environment(name: str, environment: Any) -> None:
    """Store the environment of a kernel for its callers, unless it has machine code."""
    codegen = cpu_target.target_context.codegen()
    if codegen._engine.is_symbol_defined(name):
        codegen.set_env(name, environment)
    else:
        _environments[name] = environment


@functools.cache
def _prepared() -> None:
    """Install `_machine_code_finds` once."""
    _machine_code_finds(_environments)


@functools.cache
def _target_of_inlined() -> Target:
    """Return the target of kernels for other kernels."""
    _prepared()
    # also keep environments of kernels that a cached kernel inlined: machine code made of it needs them
    target = _target_of(InlinedLibrary, set_env=_keep_environment)
    context = target.target_context
    context.insert_user_function = functools.partial(_register_call, context)
    context.get_executable = functools.partial(_executable, context)
    return target


@functools.cache
def target_of_kernels() -> Target:
    """Return the target of kernels with machine code."""
    _prepared()
    target = _target_of(JITCodeLibrary)
    context = target.target_context
    context.create_cfunc_wrapper = functools.partial(create_c_wrapper, context)
    return target


def inlined(dispatcher: Any) -> Any:
    """Set up a kernel to be called by other kernels only."""
    return with_target(dispatcher, _target_of_inlined())
