"""Kernels that only other kernels call: short ones are taken in as LLVM's code, long ones are called where they are.

numba makes a library of each kernel, with the code of all that it calls, and machine code of each library; that of a kernel
six calls deep is made six times over. Nobody ever calls what is without a face for Python but kernels. Where it is short they
take it in as LLVM's code, and no machine code is made of it. Where it is `LONG` there is nothing to gain by that, and each march,
function of a kind and residual would have it optimised anew: it has machine code of its own, which others call by a name that
LLVM's linker is told. Who has such a call in his code, or took in what has one, sees to it that the called one is there before
his own machine code is loaded (`_Called`, by numba's `reload_init`).

This is done by a library class and a target of our own behind numba's compiler: private parts of numba, as
`tests/core/test_compilation.py` notices when they change; without them kernels are compiled as numba does.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import sys
from dataclasses import dataclass
from math import inf
from typing import Any

import llvmlite.binding
from numba.core import cgutils, imputils, types
from numba.core.dispatcher import Dispatcher
from numba.core.registry import cpu_target

from rigid.compilation.kernel_libraries import KernelLibrary, Target, target_of, with_target
from rigid.compilation.raised_exceptions import create_c_wrapper

# Instructions of LLVM, before it has simplified the whole, from which on a kernel is long: a call costs some nanoseconds, a
# thousand instructions a hundred or more. Tuples, in registers where a kernel is taken in, go through memory in a call.
LONG, LONG_WITH_TUPLES = 1000, 4000


class InlinedLibrary(KernelLibrary):
    """Of a kernel that is only linked into others, or of a long one that they call."""

    length = inf  # in instructions, from which on it is long
    is_long = False

    def _set_compiled_object(self, machine_code: bytes) -> None:
        """That of a long one, from the disk."""
        self.is_long = True
        super()._set_compiled_object(machine_code)

    def _optimize_final_module(self) -> None:
        """Nothing where it is taken in: what does so is optimised with it, once, as a whole."""
        self.is_long = _is_long(self._final_module, self.length)
        if self.is_long:
            super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        if self.is_long:
            return super()._finalize_final_module()
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """None where there is no machine code."""
        if self.is_long:
            return int(super().get_pointer_to_function(name))
        self._ensure_finalized()
        return 0

    def serialize_using_object_code(self) -> Any:
        """For numba's cache: LLVM's code where there is no other."""
        return super().serialize_using_object_code() if self.is_long else self.serialize_using_bitcode()


def _length(described: Any) -> float:
    """From how many instructions on a kernel is long; one of lanes never is: arrays of them are eight times as long as tuples."""
    handed = [*described.argtypes, described.restype]
    if any("Lanes" in str(each) for each in handed):
        return inf
    return LONG_WITH_TUPLES if any(isinstance(each, types.BaseTuple) for each in handed) else LONG


def _is_long(module: Any, length: float) -> bool:
    """Counted by lines: LLVM writes its text in a fifth of the time in which Python goes through the instructions."""
    count = 0
    for function in module.functions:
        if not function.is_declaration and count < length:
            count += str(function).count("\n  ")
    return count >= length


@dataclass(frozen=True)
class _Called:
    """A long kernel, by the name under which it is found: what numba calls before it loads machine code that calls it."""

    module: str
    name: str
    arguments: tuple[Any, ...]

    @functools.cached_property
    def symbol(self) -> str:
        """What LLVM's linker knows it by, whoever compiled it: numba's own names have a number of the process in them."""
        digest = hashlib.sha256(str(self.arguments).encode()).hexdigest()[:16]
        return f"rodsim.{self.module}.{self.name}.{digest}"

    def kernel(self) -> Any:
        """Found by its name, or None."""
        return getattr(sys.modules.get(self.module), self.name, None)

    def __call__(self) -> None:
        """Have it there."""
        importlib.import_module(self.module)
        self.kernel().compile(self.arguments)


def _calling(called: _Called, described: Any) -> Any:
    """As numba's `user_function`: what a call of the kernel becomes, by its symbol and with nothing taken in."""

    def call(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        context.active_code_library._reload_init.add(called)
        convention = context.call_conv
        kind = convention.get_function_type(described.restype, described.argtypes)
        function = cgutils.get_or_insert_function(builder.module, kind, called.symbol)
        status, result = convention.call_function(
            builder, function, described.restype, described.argtypes, arguments
        )
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        result = imputils.fix_returning_optional(context, builder, signature, status, result)
        return imputils.impl_ret_new_ref(context, builder, described.restype, result)

    call.signature = described.argtypes  # type: ignore[attr-defined]
    call.libs = ()  # type: ignore[attr-defined]
    return call


def _executable(context: Any, library: Any, described: Any, environment: Any) -> Any:
    """As numba's `get_executable`, which finishes the library."""
    if isinstance(library, InlinedLibrary):
        library.length = _length(described)
    return type(context).get_executable(context, library, described, environment)


def _offer(context: Any, entry: Any, described: Any, libraries: Any = ()) -> None:
    """In place of the `insert_user_function` of numba's target, which tells how a kernel that is there is called."""
    (library,) = libraries
    place = library.get_pointer_to_function(described.llvm_func_name)
    called = _Called(described.modname, described.qualname, tuple(described.argtypes))
    kernel = called.kernel()
    if place == 0 or not isinstance(kernel, Dispatcher) or kernel.targetctx is not context:
        made = imputils.user_function(described, libraries)
    else:
        llvmlite.binding.add_symbol(called.symbol, place)
        made = _calling(called, described)
    context._defns[entry].append(made, made.signature)


_environments: dict[
    str, Any
] = {}  # what compiled code needs to call Python, by the names of kernels without machine code


def _machine_code_finds(environments: dict[str, Any]) -> None:
    """Where numba gives machine code its environment, it is given those of all that it has taken in as well."""
    codegen = cpu_target.target_context.codegen()
    set_own = codegen.set_env

    def set_env(name: str, environment: Any) -> None:
        set_own(name, environment)
        for each in [one for one in environments if codegen._engine.is_symbol_defined(one)]:
            set_own(each, environments.pop(each))

    codegen.set_env = set_env


def _keep_environment(name: str, environment: Any) -> None:
    """For what takes the kernel in, unless it has machine code."""
    codegen = cpu_target.target_context.codegen()
    if codegen._engine.is_symbol_defined(name):
        codegen.set_env(name, environment)
    else:
        _environments[name] = environment


@functools.cache
def _prepared() -> None:
    _machine_code_finds(_environments)


@functools.cache
def _target_of_inlined() -> Target:
    _prepared()
    # of what a kept kernel took in before, too: where machine code is made of it, that asks for them
    target = target_of(InlinedLibrary, set_env=_keep_environment)
    context = target.target_context
    context.insert_user_function = functools.partial(_offer, context)
    context.get_executable = functools.partial(_executable, context)
    return target


@functools.cache
def target_of_kernels() -> Target:
    """Of kernels with machine code."""
    _prepared()
    target = target_of(KernelLibrary)
    context = target.target_context
    context.create_cfunc_wrapper = functools.partial(create_c_wrapper, context)
    return target


def inlined(dispatcher: Any) -> Any:
    """The same kernel, for other kernels only."""
    return with_target(dispatcher, _target_of_inlined())
