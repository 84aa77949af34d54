"""Reduce the work of LLVM: optimise each function cheaply, and fully only the whole module that machine code is made of.

numba simplifies each function as far as LLVM can (O3) as soon as it exists, then each module by cheap passes, so that counts of
references meet in one function and cancel, and then by all passes. Our kernels are inlined by others several calls deep and
simplified there anyway, and hardly count references: each function is simplified by O1, and the whole module by all passes. That
saves a tenth to a quarter of LLVM's time; results are bit-identical, since no pass may change what is rounded.

The module uses private parts of numba: if they are not as they were when this was written (`quick_compiler.KNOWN`), kernels are
compiled as numba does.
"""

from __future__ import annotations

import copy
import functools
from typing import Any, NamedTuple

import numba
from numba.core.codegen import CPUCodeLibrary, JITCodeLibrary
from numba.core.registry import cpu_target

from rigid.compilation.quick_compiler import is_known

_config: Any = numba.config


@functools.cache
def _as_read() -> bool:
    """Return True if numba optimises as it did when this was written."""
    names = ("_optimize_functions", "_optimize_final_module")
    return _config.OPT == 3 and all(is_known(CPUCodeLibrary, name) for name in names)


class KernelLibrary(JITCodeLibrary):
    """Library of a kernel and of everything that it calls."""

    def _optimize_functions(self, ll_module: Any) -> None:
        """Simplify the functions of this kernel before others are linked in: they become short and free of unused code."""
        if not _as_read():
            return super()._optimize_functions(ll_module)
        ll_module.data_layout = self._codegen._data_layout
        settings = {"opt": 1, "loop_vectorize": False, "slp_vectorize": False}
        passes, builder = self._codegen._function_pass_manager(**settings)
        for function in ll_module.functions:
            if not function.is_declaration:
                passes.run(function, builder)

    def _optimize_final_module(self) -> None:
        """Optimise the whole module with all passes."""
        if not _as_read():
            return super()._optimize_final_module()
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


class Target(NamedTuple):
    """Compilation target: the parts that numba's dispatcher requires of one."""

    options: Any
    typing_context: Any
    target_context: Any


def target_of(library: type[JITCodeLibrary], **of_codegen: Any) -> Target:
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
