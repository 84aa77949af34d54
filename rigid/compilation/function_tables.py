"""Call functions that the parameters of an interaction select, by an index into a table instead of an address.

Parameters are then plain data, which may be complex, compared, perturbed and written to files. Compiled code finds the table by a
symbol registered with its linker, so that kernels which read it can be cached.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding
import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from rigid.compilation.decorators import address_of, complex_signature, with_complex_numbers

_COMPILED = not getattr(numba.config, "DISABLE_JIT", False)
_WORD = ir.IntType(64)
_tables: list[FunctionTable] = []


def take_complex_numbers() -> None:
    """Provide the complex version of all functions of all tables, also of tables made later."""
    for table in _tables:
        table.take_complex_numbers()


class FunctionTable:
    """Table of functions of `rigid.compilation.decorators.compiled`: a row per number, a column per name, each column with a
    signature.

    For each column there is one of the same functions with complex numbers (`with_complex_numbers`), which is filled when these
    are first requested.
    """

    def __init__(self, name: str, **signatures: Any):
        self._signatures = signatures
        self._functions: dict[int, dict[str, Any]] = {}
        self._complex = False
        self._addresses = np.zeros((0, 2 * len(signatures)), np.int64)
        self._outgrown: list[Any] = []  # old tables that a kernel may still be reading
        self._cell = np.zeros(1, np.int64)  # address of the table
        self._symbol = f"rodsim_{name}"
        llvmlite.binding.add_symbol(self._symbol, int(self._cell.ctypes.data))
        _tables.append(self)

    def put(self, number: int, **functions: Any) -> None:
        """Enter the functions of a number by the names of their columns, unless the number has functions already."""
        if number in self._functions:
            return
        self._functions[number] = functions
        if _COMPILED:
            self._fill(number)

    def take_complex_numbers(self) -> None:
        """Provide the complex version of all functions of this table."""
        if self._complex or not _COMPILED:
            return
        self._complex = True
        for number in self._functions:
            self._fill(number)

    def _fill(self, number: int) -> None:
        """Write the addresses of the functions of a number to the table, which grows if necessary."""
        rows, columns = self._addresses.shape
        if number >= rows:
            larger = np.zeros((max(2 * rows, number + 1), columns), np.int64)
            larger[:rows] = self._addresses
            self._outgrown.append(self._addresses)
            self._addresses = larger
            self._cell[0] = larger.ctypes.data
        for column, name in enumerate(self._signatures):
            if name in self._functions[number]:
                function = self._functions[number][name]
                self._addresses[number, column] = address_of(function)
                if self._complex:
                    at = columns // 2 + column
                    self._addresses[number, at] = address_of(with_complex_numbers(function))

    def reader(self, name: str) -> Any:
        """Return a kernel (number, X) that returns the function of a column, for complex numbers if X are complex."""
        if not _COMPILED:
            return lambda number, X: self._functions[number][name]
        names = list(self._signatures)
        symbol, width = self._symbol, 2 * len(names)
        column, signature = names.index(name), self._signatures[name]

        @intrinsic
        def find(typing_context: Any, number: Any, X: Any) -> Any:
            of_complex = isinstance(X.dtype, types.Complex)
            function_type = types.FunctionType(complex_signature(signature) if of_complex else signature)
            address_column = column + (len(names) if of_complex else 0)

            def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
                cell = builder.module.globals.get(symbol) or ir.GlobalVariable(builder.module, _WORD, symbol)
                at = builder.add(builder.mul(arguments[0], _WORD(8 * width)), _WORD(8 * address_column))
                entry = builder.inttoptr(builder.add(builder.load(cell), at), _WORD.as_pointer())
                function_struct = cgutils.create_struct_proxy(function_type)(context, builder)
                null = context.get_constant_null(types.voidptr)
                function_struct.c_addr = builder.inttoptr(builder.load(entry), ir.IntType(8).as_pointer())
                function_struct.py_addr, function_struct.jit_addr = null, null
                return function_struct._getvalue()

            return function_type(types.int64, X), generate

        return find
