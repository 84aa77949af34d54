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
    of = kernel.py_func
    used = set(of.__code__.co_names)
    made = FunctionType(
        of.__code__,
        {},
        of.__name__,
        of.__defaults__,
        of.__closure__ and tuple(CellType() for _ in of.__closure__),
    )
    known[kernel] = made
    made.__globals__.update(
        {name: interpreted(value, known) for name, value in of.__globals__.items() if name in used}
    )
    for cell, original in zip(made.__closure__ or (), of.__closure__ or (), strict=True):
        cell.cell_contents = interpreted(original.cell_contents, known)
    return made
