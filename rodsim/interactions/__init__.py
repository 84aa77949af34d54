"""User-defined interactions: kinds from a script (`registering`), energies of named measures (`text_energies`).

A kind is written with these functions:

    from rodsim.interactions import along, average, cross, dot, minus, norm, plus, push, real, slopes, times, turn

`real` has functions of one number (sqrt, exp, sin, power ...) that accept complex steps, `slopes` their divided differences.
"""

from discretization.space.laws import slopes
from rigid.compilation import real_functions as real
from rigid.linear_algebra import average, cross, dot, minus, plus, times
from rodsim.interactions.helpers import along, norm, push, turn

__all__ = [
    "along",
    "average",
    "cross",
    "dot",
    "minus",
    "norm",
    "plus",
    "push",
    "real",
    "slopes",
    "times",
    "turn",
]
