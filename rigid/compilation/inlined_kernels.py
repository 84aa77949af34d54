"""Kernels that only other kernels call are kept as LLVM's code alone: no machine code is made of them.

numba makes a library of each kernel, with the code of all that it calls, and machine code of each library; that of a kernel
six calls deep is made six times over. Nobody ever calls what is without a face for Python but kernels, which take it in
as LLVM's code. This is done by a library class of our own behind numba's compiler: private parts of numba, as
`tests/test_compilation.py` notices when they change; without them kernels are compiled as numba does.
"""

from __future__ import annotations

import copy
import functools
from typing import Any, NamedTuple

from numba.core.codegen import JITCodeLibrary
from numba.core.registry import cpu_target


class InlinedLibrary(JITCodeLibrary):
    """Of a kernel that is only linked into others."""

    def _optimize_final_module(self) -> None:
        """Nothing: what takes it in is optimised with it, once, as a whole."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """None: there is no machine code."""
        self._ensure_finalized()
        return 0

    def serialize_using_object_code(self) -> Any:
        """For numba's cache: LLVM's code."""
        return self.serialize_using_bitcode()


class _Target(NamedTuple):
    """What numba's dispatcher asks of one."""

    options: Any
    typing_context: Any
    target_context: Any


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


@functools.cache
def _target() -> _Target:
    """numba's for this machine, with that library."""
    codegen = copy.copy(cpu_target.target_context.codegen())
    codegen._library_class = InlinedLibrary
    # of what a kept kernel took in before, too: where machine code is made of it, that asks for them
    codegen.set_env = _environments.__setitem__
    _machine_code_finds(_environments)
    context = cpu_target.target_context.subtarget(_internal_codegen=codegen)
    return _Target(cpu_target.options, cpu_target.typing_context, context)


def inlined(dispatcher: Any) -> Any:
    """The same kernel, for other kernels only."""
    dispatcher.targetctx = _target().target_context
    dispatcher._compiler.targetdescr = _target()
    return dispatcher
