"""Kernels executed by Python: for formulas whose machine code would be compiled for a single test only."""

from types import CellType, FunctionType

from numba.core.dispatcher import Dispatcher


def interpreted(kernel, known=None):
    """The Python function of a kernel, with all kernels that it calls also uncompiled."""
    known = {} if known is None else known
    if not isinstance(kernel, Dispatcher):
        return kernel
    if kernel in known:
        return known[kernel]
    function = kernel.py_func
    used = set(function.__code__.co_names)
    made = FunctionType(
        function.__code__,
        {},
        function.__name__,
        function.__defaults__,
        function.__closure__ and tuple(CellType() for _ in function.__closure__),
    )
    known[kernel] = made
    made.__globals__.update(
        {name: interpreted(value, known) for name, value in function.__globals__.items() if name in used}
    )
    for cell, original in zip(made.__closure__ or (), function.__closure__ or (), strict=True):
        cell.cell_contents = interpreted(original.cell_contents, known)
    return made
