"""Kernels that only other kernels call are kept as LLVM's code alone: no machine code is made of them.

numba makes a library of each kernel, with the code of all that it calls, and machine code of each library; that of a kernel
six calls deep is made six times over. Nobody ever calls what is without a face for Python but kernels, which take it in
as LLVM's code. This is done by a library class of our own behind numba's compiler: private parts of numba, as
`tests/test_compilation.py` notices when they change; without them kernels are compiled as numba does.
"""

from __future__ import annotations

import functools
from typing import Any

from numba.core.registry import cpu_target

from rigid.compilation.kernel_libraries import KernelLibrary, Target, target_of, with_target


class InlinedLibrary(KernelLibrary):
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
def _prepared() -> None:
    _machine_code_finds(_environments)


@functools.cache
def _target_of_inlined() -> Target:
    _prepared()
    # of what a kept kernel took in before, too: where machine code is made of it, that asks for them
    return target_of(InlinedLibrary, set_env=_environments.__setitem__)


@functools.cache
def target_of_kernels() -> Target:
    """Of kernels with machine code."""
    _prepared()
    return target_of(KernelLibrary)


def inlined(dispatcher: Any) -> Any:
    """The same kernel, for other kernels only."""
    return with_target(dispatcher, _target_of_inlined())
