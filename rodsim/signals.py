"""Functions of time for loads, drives and other varying quantities: constants, tables and a few named shapes."""

from rigid.signals import (
    Constant,
    Field,
    Pulse,
    Ramp,
    Signal,
    Sine,
    SmoothStep,
    SmoothTable,
    SpinUp,
    Steady,
    Table,
    Triangle,
    VectorSignal,
)

__all__ = [
    "Constant",
    "Field",
    "Pulse",
    "Ramp",
    "Signal",
    "Sine",
    "SmoothStep",
    "SmoothTable",
    "SpinUp",
    "Steady",
    "Table",
    "Triangle",
    "VectorSignal",
]
