"""Words in an array by which threads tell each other how far they are: whole numbers that only grow.

Who reads a word by `word_at` sees all that was written before `tell` wrote it (acquire and release of the memory model of C11).
`wait_for` looks again and again for some microseconds, then sleeps in between, so that who waits long costs next to nothing, and
more threads than processors only take longer. It gives up where another word says that nothing will come.

Without the compiler (NUMBA_DISABLE_JIT) Python's own lock does the same.
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

from rigid.compilation.decorators import address_of, function_at, inner_kernel
from rigid.system import Ints

APART = 8  # words from one that a thread writes to the next: no two share a line of a cache
_LOOKS = 1000  # before the first sleep, 10 to 50 microseconds
_MICROSECONDS = 50  # of a sleep
_COMPILED = not getattr(numba.config, "DISABLE_JIT", False)
_SLEEP = types.int64(types.int64)  # C takes what fits of a register
_WORDS: Any = types.int64[::1]
# what tells a processor that it waits: LLVM's name and numbers
_PAUSES: dict[str, tuple[str, list[int]]] = dict.fromkeys(("x86_64", "amd64"), ("llvm.x86.sse2.pause", []))
_PAUSES |= dict.fromkeys(("aarch64", "arm64"), ("llvm.aarch64.hint", [1]))


def _python_sleep(microseconds: int) -> None:
    time.sleep(1e-6 * microseconds)


def sleeping() -> Ints:
    """(2,) what sleeps, as `wait_for` calls it: its address and what it is told."""
    if not _COMPILED:
        return np.array([address_of(_python_sleep), _MICROSECONDS])
    if os.name == "nt":  # whose shortest sleep is the rest of a turn
        own: Any = vars(ctypes)["windll"].kernel32.Sleep
        return np.array([ctypes.cast(own, ctypes.c_void_p).value, 0])
    return np.array([ctypes.cast(ctypes.CDLL(None).usleep, ctypes.c_void_p).value, _MICROSECONDS])


def _place(context: Any, builder: Any, of: Any, array: Any, place: Any) -> Any:
    return builder.gep(context.make_array(of)(context, builder, array).data, [place])


@intrinsic
def _word_at(typing: Any, words: Any, place: Any) -> Any:
    def generate(context: Any, builder: Any, called: Any, arguments: Any) -> Any:
        there = _place(context, builder, called.args[0], *arguments)
        return builder.load_atomic(there, "acquire", 8)

    return (types.int64(words, types.intp), generate) if words == _WORDS else None


@intrinsic
def _tell(typing: Any, words: Any, place: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, called: Any, arguments: Any) -> Any:
        there = _place(context, builder, called.args[0], *arguments[:2])
        builder.store_atomic(arguments[2], there, "release", 8)
        return context.get_dummy_value()

    return (types.void(words, types.intp, types.int64), generate) if words == _WORDS else None


@intrinsic
def _pause(typing: Any) -> Any:
    def generate(context: Any, builder: Any, called: Any, arguments: Any) -> Any:
        name, numbers = _PAUSES.get(platform.machine().lower(), ("", []))
        if name:
            integer = ir.IntType(32)
            of = ir.FunctionType(ir.VoidType(), [integer] * len(numbers))
            known = builder.module.globals.get(name) or ir.Function(builder.module, of, name)
            builder.call(known, [integer(number) for number in numbers])
        return context.get_dummy_value()

    return types.void(), generate


def _word_in_python(words: Ints, place: int) -> int:
    return int(words[place])


def _tell_in_python(words: Ints, place: int, value: int) -> None:
    words[place] = value


def _pause_in_python() -> None:
    time.sleep(0.0)


# (words, place): the word, and all that was written before it
word_at: Any = _word_at if _COMPILED else _word_in_python
# (words, place, value): the word, seen after all that was written before
tell: Any = _tell if _COMPILED else _tell_in_python
_rest: Any = _pause if _COMPILED else _pause_in_python
_sleep_at: Any = function_at(_SLEEP)


@inner_kernel
def wait_for(words, place, least, others, where, end, sleep):
    """Wait until words[place] is `least` or more: 0; or 1 where others[where] has come to `end` first; sleep: `sleeping()`."""
    looks = 0
    while word_at(words, place) < least:
        if word_at(others, where) >= end:
            return 1
        looks += 1
        if looks < _LOOKS:
            _rest()
        else:
            _sleep_at(sleep[0])(sleep[1])
    return 0
