"""Atomic progress flags: integers in an array, which only grow, by which threads tell each other how far they are.

A thread that reads a word by `load_flag` sees everything that was written before `store_flag` wrote it (acquire and release of
the memory model of C11). `wait_for` spins for some microseconds, then sleeps between checks, so that a long wait costs next to
nothing; with more threads than processors waiting only takes longer. It returns early if another word shows that the awaited
value will not come.

Without the compiler (NUMBA_DISABLE_JIT) Python's interpreter lock has the same effect.
"""

from __future__ import annotations

import ctypes
import os
import platform
import time
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from rigid.compilation.decorators import address_of, function_at, internal_kernel
from rigid.system import Ints

APART = 8  # distance in words between flags that different threads write: no two share a cache line
_SPINS = 1000  # number of checks before the first sleep, 10 to 50 microseconds
_MICROSECONDS = 50  # length of a sleep
_COMPILED = not getattr(numba.config, "DISABLE_JIT", False)
_SLEEP = types.int64(types.int64)  # C reads only the part of the register that its argument has
_WORDS: Any = types.int64[::1]
# instruction by which the processor knows that it is in a spin loop: name and arguments of LLVM's intrinsic
_PAUSES: dict[str, tuple[str, list[int]]] = dict.fromkeys(("x86_64", "amd64"), ("llvm.x86.sse2.pause", []))
_PAUSES |= dict.fromkeys(("aarch64", "arm64"), ("llvm.aarch64.hint", [1]))


def _python_sleep(microseconds: int) -> None:
    time.sleep(1e-6 * microseconds)


def sleep_arguments() -> Ints:
    """Return the sleep function of the system for `wait_for`, (2,): its address and its argument."""
    if not _COMPILED:
        return np.array([address_of(_python_sleep), _MICROSECONDS])
    if os.name == "nt":  # the shortest sleep of Windows gives up the rest of the time slice
        sleep_function: Any = vars(ctypes)["windll"].kernel32.Sleep
        return np.array([ctypes.cast(sleep_function, ctypes.c_void_p).value, 0])
    return np.array([ctypes.cast(ctypes.CDLL(None).usleep, ctypes.c_void_p).value, _MICROSECONDS])


def _place(context: Any, builder: Any, of: Any, array: Any, index: Any) -> Any:
    """Return a pointer to a word of an array."""
    return builder.gep(context.make_array(of)(context, builder, array).data, [index])


@intrinsic
def _load_flag(typing: Any, flags: Any, index: Any) -> Any:
    """Generate `load_flag`: an atomic load with acquire semantics."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        pointer = _place(context, builder, sig.args[0], *arguments)
        return builder.load_atomic(pointer, "acquire", 8)

    return (types.int64(flags, types.intp), generate) if flags == _WORDS else None


@intrinsic
def _store_flag(typing: Any, flags: Any, index: Any, value: Any) -> Any:
    """Generate `store_flag`: an atomic store with release semantics."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        pointer = _place(context, builder, sig.args[0], *arguments[:2])
        builder.store_atomic(arguments[2], pointer, "release", 8)
        return context.get_dummy_value()

    return (types.void(flags, types.intp, types.int64), generate) if flags == _WORDS else None


@intrinsic
def _pause(typing: Any) -> Any:
    """Generate the spin-loop instruction of this processor, or nothing if none is known."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        name, numbers = _PAUSES.get(platform.machine().lower(), ("", []))
        if name:
            integer = ir.IntType(32)
            of = ir.FunctionType(ir.VoidType(), [integer] * len(numbers))
            pause = builder.module.globals.get(name) or ir.Function(builder.module, of, name)
            builder.call(pause, [integer(number) for number in numbers])
        return context.get_dummy_value()

    return types.void(), generate


def _load_flag_in_python(flags: Ints, index: int) -> int:
    return int(flags[index])


def _store_flag_in_python(flags: Ints, index: int, value: int) -> None:
    flags[index] = value


def _pause_in_python() -> None:
    time.sleep(0.0)


# (flags, index): load a flag; everything written before it is then visible too
load_flag: Any = _load_flag if _COMPILED else _load_flag_in_python
# (flags, index, value): store a flag, visible only after everything written before it
store_flag: Any = _store_flag if _COMPILED else _store_flag_in_python
_rest: Any = _pause if _COMPILED else _pause_in_python
_sleep_at: Any = function_at(_SLEEP)


@internal_kernel
def wait_for(flags, index, least, end_words, end_index, end, sleep):
    """Wait until flags[index] >= `least`, then return 0; return 1 if before that end_words[end_index] >= `end`.

    `sleep`: (2,) result of `sleep_arguments()`.
    """
    checks = 0
    while load_flag(flags, index) < least:
        if load_flag(end_words, end_index) >= end:
            return 1
        checks += 1
        if checks < _SPINS:
            _rest()
        else:
            _sleep_at(sleep[0])(sleep[1])
    return 0
