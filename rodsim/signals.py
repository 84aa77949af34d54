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
from rodsim.components.controllers import Output
from rodsim.components.time_expressions import Expression

__all__ = [
    "Constant",
    "Expression",
    "Field",
    "Output",
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
