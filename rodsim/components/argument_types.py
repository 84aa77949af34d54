"""Type aliases for the arguments of `Model`: accepted words, and values that vary with time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

from numpy.typing import ArrayLike

from rigid.signals import Signal, VectorSignal

JointKind = Literal[
    "clamp",
    "weld",
    "spherical",
    "revolute",
    "prismatic",
    "distance",
    "universal",
    "cylindrical",
    "planar",
    "point_on_line",
    "point_on_plane",
    "constant_velocity",
    "screw",
    "generic",
    "hinge",
    "ball",
    "fixed",
    "radial bearing",
    "axial bearing",
    "self-aligning bearing",
]
BearingKind = Literal["radial", "axial", "self-aligning", "general"]
ElementName = Literal[
    "se3",
    "string",
    "lagrange(1)",
    "lagrange(2)",
    "lagrange(3)",
    "lagrange(4)",
    "cayley(2)",
    "cayley(4)",
    "relative(2)",
    "relative(4)",
    "midpoint",
]
RodMass = Literal["lumped", "mean", "consistent"]
LoadKind = Literal["force", "moment", "torque"]
JointCoordinate = Literal["angle", "displacement"]
DrivenCoordinate = Literal["angle", "displacement", "distance"]
LimitedCoordinate = Literal["length", "displacement", "angle"]
LockedCoordinate = Literal["x", "y", "z", "rx", "ry", "rz"]
StrainName = Literal["Gamma1", "Gamma2", "Gamma3", "K1", "K2", "K3"]
MeshSide = Literal["inside", "outside", "both"]
ChartName = Literal["quaternion", "quaternion-alpha", "quaternion-gamma", "director"]

# A vector, constant or a function of time (s); a component may be a formula, "50*sin(2*pi*3*t)".
VectorLike: TypeAlias = ArrayLike | VectorSignal | Callable[[float], ArrayLike]
# A vector along a rod as a function of the fraction s of its length and of time.
LineLoadLike: TypeAlias = ArrayLike | VectorSignal | Callable[[float, float], ArrayLike]
# A coordinate as a smooth function of time, a formula, or a pair of the function and its rate.
MotionLike: TypeAlias = (
    Signal | str | Callable[[float], float] | tuple[Callable[[float], float], Callable[[float], float]]
)
# A scalar: a number, a function of time, or a formula.
ScalarLike: TypeAlias = float | Signal | str | Callable[[float], float]
# A displacement as a smooth function of time, or a pair of the function and its rate; several signals are added up.
DisplacementLike: TypeAlias = (
    VectorSignal
    | Sequence[VectorSignal]
    | Sequence[float | str]
    | Callable[[float], ArrayLike]
    | tuple[Callable[[float], ArrayLike], Callable[[float], ArrayLike]]
)
