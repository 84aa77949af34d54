"""Functions identified by numbers: found by compiled code, also in a table that has grown, for real and
complex numbers.
"""

import numba
import numpy as np
import pytest
from numba import types

from rigid.compilation.decorators import allocating_kernel, compiled
from rigid.compilation.function_tables import FunctionTable

C16, F1 = types.complex128, types.float64[::1]
SUM = types.complex128(C16, F1)
TABLE = FunctionTable("tried", first=SUM, second=SUM)
first_of, second_of = TABLE.reader("first"), TABLE.reader("second")


@compiled(SUM)
def once(x, X):
    return x + X[0]


@compiled(SUM)
def twice(x, X):
    return x + 2.0 * X[0]


@allocating_kernel
def both(number, x, X):
    return first_of(number, X)(x, X), second_of(number, X)(x, X)


def test_functions_are_found_by_their_numbers():
    X = np.array([3.0])
    TABLE.put(1, first=once, second=twice)
    assert both(1, 1j, X) == (3.0 + 1j, 6.0 + 1j)
    TABLE.put(1, first=twice, second=twice)  # numbers do not change
    TABLE.put(700, first=twice, second=once)  # the table grows
    for number, expected in ((1, (3.0, 6.0)), (700, (6.0, 3.0))):
        assert both(number, 0j, X) == expected
    TABLE.take_complex_numbers()
    TABLE.put(9, first=twice, second=twice)
    for number, expected in ((1, (3j, 6j)), (700, (6j, 3j)), (9, (6j, 6j))):
        assert both(number, 0j, 1j * X) == expected


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="looks at machine code")
def test_functions_of_complex_numbers_are_compiled_on_demand():
    table = FunctionTable("tried_later", first=SUM)
    table.put(1, first=once)
    assert not table._addresses[:, 1].any()
    table.take_complex_numbers()
    assert table._addresses[1].all()
    assert table._addresses[1, 0] != table._addresses[1, 1]
