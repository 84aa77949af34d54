"""User-defined interactions: kinds from a script (`registering`), energies of named measures (`text_energies`).

A kind is written with these functions:

    from rodsim.interactions import along, average, cross, dot, minus, norm, plus, push, real, slopes, times, turn
    from rodsim.interactions import angle, angle_rate, displacement, distance, push_angle, push_displacement, push_distance

`angle`, `displacement` and `distance` return a measure at both ends of a step and its change, `angle_rate` ... its rate,
`push_angle` ... add the dual of a moment or a force on it (`rodsim.interactions.helpers`). `real` has functions of one number
(sqrt, exp, sin, power ...) that accept complex steps, `slopes` their divided differences.
"""

from discretization.space.laws import slopes
from rigid.compilation import real_functions as real
from rigid.linear_algebra import average, cross, dot, minus, plus, times
from rodsim.interactions.helpers import (
    FIRST,
    SECOND,
    THIRD,
    along,
    angle,
    angle_rate,
    displacement,
    displacement_rate,
    distance,
    distance_rate,
    norm,
    push,
    push_angle,
    push_displacement,
    push_distance,
    turn,
)

__all__ = [
    "FIRST",
    "SECOND",
    "THIRD",
    "along",
    "angle",
    "angle_rate",
    "average",
    "cross",
    "displacement",
    "displacement_rate",
    "distance",
    "distance_rate",
    "dot",
    "minus",
    "norm",
    "plus",
    "push",
    "push_angle",
    "push_displacement",
    "push_distance",
    "real",
    "slopes",
    "times",
    "turn",
]
