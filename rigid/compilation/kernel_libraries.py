"""What LLVM does to our kernels: to each function what is cheap, and all of it once, to the whole that machine code is made of.

numba has each function simplified as far as LLVM can (O3) as soon as there is one, each whole by cheap passes, so that counts of
references meet in one function where they cancel, and then by all passes. Ours are taken in by others several calls deep and
simplified there anyhow, and hardly count references: each function is simplified by O1, and the whole by all passes. That saves
a tenth to a quarter of LLVM's time; results are the same to the bit, since no pass may change what is rounded.

Private parts of numba: where they are not as they were read (`quick_compiler.KNOWN`) kernels are compiled as numba does.
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
    names = ("_optimize_functions", "_optimize_final_module")
    return _config.OPT == 3 and all(is_known(CPUCodeLibrary, name) for name in names)


class KernelLibrary(JITCodeLibrary):
    """Of a kernel and all that it calls."""

    def _optimize_functions(self, ll_module: Any) -> None:
        """Those of this kernel, before it takes in others: short, and without what its calls do not need."""
        if not _as_read():
            return super()._optimize_functions(ll_module)
        ll_module.data_layout = self._codegen._data_layout
        settings = {"opt": 1, "loop_vectorize": False, "slp_vectorize": False}
        passes, builder = self._codegen._function_pass_manager(**settings)
        for function in ll_module.functions:
            if not function.is_declaration:
                passes.run(function, builder)

    def _optimize_final_module(self) -> None:
        """All of it."""
        if not _as_read():
            return super()._optimize_final_module()
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


class Target(NamedTuple):
    """What numba's dispatcher asks of one."""

    options: Any
    typing_context: Any
    target_context: Any


def target_of(library: type[JITCodeLibrary], **of_codegen: Any) -> Target:
    """numba's for this machine, with such libraries and other parts of what makes them."""
    codegen = copy.copy(cpu_target.target_context.codegen())
    codegen._library_class = library
    vars(codegen).update(of_codegen)
    context = cpu_target.target_context.subtarget(_internal_codegen=codegen)
    return Target(cpu_target.options, cpu_target.typing_context, context)


def with_target(dispatcher: Any, target: Target) -> Any:
    """The same kernel, compiled for it."""
    dispatcher.targetctx = target.target_context
    dispatcher._compiler.targetdescr = target
    return dispatcher
