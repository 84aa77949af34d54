"""The parts of a model as the user sees them: ground, bodies, rods, and anchors, the points joints and loads
hold on to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from numpy.typing import ArrayLike

from rigid import quaternions
from rigid.checks import count, flag, number, shown, unit_quaternion, vector, word
from rigid.errors import ModelError
from rigid.inertia import MassProperties
from rigid.system import Floats
from rodsim.curves import Curve, CurveLike
from rodsim.sections import Section

# Part of the consistent translational mass in that of a rod.
MASSES = {"lumped": 0.0, "mean": 0.5, "consistent": 1.0}

MOST_ELEMENTS = 1_000_000  # of one rod
SAME_NODE = 1e-9  # anchors closer than this fraction of the length share a node


@dataclass(frozen=True, eq=False)
class Ground:
    """The frame that does not move."""

    name: str = "ground"

    def at(self, point: ArrayLike) -> Anchor:
        """The fixed point at world coordinates (3,), m."""
        return Anchor(self, vector("ground", "point", point))

    def __str__(self) -> str:
        return "the ground"


@dataclass(frozen=True, eq=False)
class Body:
    """A rigid body; `position` (3,) and `orientation` (w, x, y, z) place the axes of its shape in the
    world.
    """

    name: str
    properties: MassProperties
    position: Floats
    orientation: Floats
    velocity: Floats  # of the reference point, inertial, m/s
    angular_velocity: Floats  # inertial, rad/s

    def at(self, point: ArrayLike) -> Anchor:
        """The material point at local coordinates (3,) of the shape's axes, m."""
        return Anchor(self, vector(str(self), "point", point))

    def at_world(self, point: ArrayLike) -> Anchor:
        """The material point that is at world coordinates (3,) at t = 0."""
        away = vector(str(self), "point", point) - self.position
        return Anchor(self, quaternions.rotate(quaternions.conjugate(self.orientation), away))

    @property
    def center(self) -> Floats:
        """World coordinates of the centre of mass at t = 0."""
        return self.position + quaternions.rotate(self.orientation, self.properties.center)

    def __str__(self) -> str:
        return f"body '{self.name}'"


@dataclass(frozen=True, eq=False)
class Rod:
    """A geometrically exact rod along a curve; its mesh is made when the model is built, with nodes at all
    anchors.
    """

    name: str
    curve: Curve
    stress_free: Curve
    section: Section | Callable[[float], Section]
    n_elements: int
    up: Floats | None  # of both shapes
    velocity: Floats | Callable[[float], ArrayLike]
    angular_velocity: Floats
    consistency: float = 0.5  # part of the consistent in the translational mass

    @property
    def closed(self) -> bool:
        """Whether the last element joins the last node with the first."""
        return self.curve.closed

    def at(self, s: float, offset: ArrayLike = (0.0, 0.0, 0.0)) -> Anchor:
        """The point at the fraction s in [0, 1] of the stress-free length; `offset` (3,) m in section axes
        (d1, d2, d3).
        """
        x = number(str(self), "s", s)
        if not 0.0 <= x <= 1.0:
            raise ModelError(f"{self}: s = {x} is outside [0, 1]; give the fraction of the rod's length")
        # the end of a closed rod is its start, also where s is off by rounding
        x = 0.0 if self.closed and 1.0 - x <= SAME_NODE else x
        return Anchor(self, vector(str(self), "offset", offset), x)

    @property
    def start(self) -> Anchor:
        """The first node."""
        return self.at(0.0)

    @property
    def end(self) -> Anchor:
        """The last node."""
        return self.at(1.0)

    def __str__(self) -> str:
        return f"rod '{self.name}'"


@dataclass(frozen=True, eq=False)
class Anchor:
    """A point on a part: X (3,) in the shape's axes (body), section axes (rod) or world (ground); s on a
    rod.
    """

    part: Ground | Body | Rod
    X: Floats
    s: float = 0.0

    def __str__(self) -> str:
        return f"{self.part}, s = {self.s:g}" if isinstance(self.part, Rod) else str(self.part)


def make_rod(
    name: str,
    curve: CurveLike,
    section: Section | Callable[[float], Section],
    n_elements: int,
    closed: bool,
    up: ArrayLike | None,
    stress_free: CurveLike | None,
    velocity: ArrayLike | Callable[[float], ArrayLike] | None,
    angular_velocity: ArrayLike | None,
    mass: str = "mean",
) -> Rod:
    """Check what the user gave and make a rod of it."""
    owner = f"rod '{name}'"
    closed = flag(owner, "closed", closed)
    n_elements = count(owner, "n_elements", n_elements, 3 if closed else 1, MOST_ELEMENTS)
    if not (isinstance(section, Section) or callable(section)):
        raise ModelError(
            f"{owner}: section = {shown(section)} is neither a Section nor a callable s -> Section; give one"
        )
    word(owner, "mass", mass, MASSES)
    shape = Curve(owner, curve, closed)
    free = shape if stress_free is None else Curve(f"{owner}, stress-free shape", stress_free, closed)
    return Rod(
        name,
        shape,
        free,
        section,
        n_elements,
        None if up is None else vector(owner, "up", up),
        velocity
        if callable(velocity)
        else vector(owner, "velocity", (0, 0, 0) if velocity is None else velocity),
        vector(owner, "angular_velocity", (0, 0, 0) if angular_velocity is None else angular_velocity),
        MASSES[mass],
    )


def make_body(
    name: str,
    properties: MassProperties,
    position: ArrayLike,
    orientation: ArrayLike,
    velocity: ArrayLike,
    angular_velocity: ArrayLike,
) -> Body:
    """Check what the user gave and make a body of it."""
    owner = f"body '{name}'"
    if not isinstance(properties, MassProperties):
        raise ModelError(
            f"{owner}: {shown(properties)} is no shape; give Box, Cylinder, Sphere, Cone, Mesh or MassProperties"
        )
    return Body(
        name,
        properties,
        vector(owner, "position", position),
        unit_quaternion(owner, "orientation", orientation),
        vector(owner, "velocity", velocity),
        vector(owner, "angular_velocity", angular_velocity),
    )
