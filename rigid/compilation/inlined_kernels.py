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


@functools.cache
def _target() -> _Target:
    """numba's for this machine, with that library."""
    codegen = copy.copy(cpu_target.target_context.codegen())
    codegen._library_class = InlinedLibrary
    codegen.set_env = lambda name, environment: None  # would look it up in the machine code
    context = cpu_target.target_context.subtarget(_internal_codegen=codegen)
    return _Target(cpu_target.options, cpu_target.typing_context, context)


def inlined(dispatcher: Any) -> Any:
    """The same kernel, for other kernels only."""
    dispatcher.targetctx = _target().target_context
    dispatcher._compiler.targetdescr = _target()
    return dispatcher
