"""Define the parts of a model: ground, bodies, driven frames, rods, and anchors, the points to which joints and loads attach."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from discretization.space.rod_elements import DEFAULT, STRING, number_of, order_of
from rigid import quaternions
from rigid.checks import array, count, direction, flag, number, shown, vector, word
from rigid.errors import ModelError
from rigid.inertia import MassProperties
from rigid.motions import STILL, FrameMotion, scalar_motion, vector_motion
from rigid.system import Floats
from rodsim.components.curve_frames import Twist, directions_at, frames_along, twist_angles
from rodsim.components.sections import Section
from rodsim.components.sections_along import PiecewiseSection, SectionLike
from rodsim.components.space_curves import Curve, curve_of
from rodsim.components.time_expressions import scalar_signal, vector_signals
from rodsim.html_tables import text
from rodsim.orientations import OrientationLike, quaternion_of, quaternions_of

# Fraction of the consistent mass matrix in the translational mass of a rod; the rest is lumped.
MASSES = {"lumped": 0.0, "mean": 0.5, "consistent": 1.0}

MOST_ELEMENTS = 1_000_000  # largest number of elements of one rod
_ELEMENTS = 20  # number of elements of a rod by default
_TENTHS = np.linspace(0.0, 1.0, 11)
SAME_NODE = 1e-9  # anchors closer than this fraction of the length share a node


@dataclass(frozen=True, eq=False)
class Ground:
    """The ground, a frame that does not move."""

    name: str = "ground"

    def at(self, point: ArrayLike) -> Anchor:
        """Return the fixed point at world coordinates `point` (3,), m."""
        return Anchor(self, vector("ground", "point", point))

    def __repr__(self) -> str:
        return "<Ground>"

    def __str__(self) -> str:
        return "the ground"


class _Frame:
    """Base of bodies and driven frames: points of them in local and in world coordinates."""

    position: Floats
    orientation: Floats

    def at(self, point: ArrayLike) -> Anchor:
        """Return the material point at `point` (3,), m, in the axes of the part."""
        return Anchor(self, vector(str(self), "point", point))  # type: ignore[arg-type]

    def at_world(self, point: ArrayLike) -> Anchor:
        """Return the material point that is at world coordinates `point` (3,), m, at t = 0."""
        offset = vector(str(self), "point", point) - self.position
        return Anchor(self, quaternions.rotate(quaternions.conjugate(self.orientation), offset))  # type: ignore[arg-type]


class ReplacedRod(NamedTuple):
    """Sections of the rod that a rigid body replaces: their poses in body axes, from the reference point of the body."""

    fractions: Floats  # (n,) fractions of the stress-free length
    r: Floats  # (n, 3) positions, m
    quat: Floats  # (n, 4) quaternions


@dataclass(frozen=True, eq=False)
class Body(_Frame):
    """A rigid body; `position` (3,), m, and `orientation` (w, x, y, z) place the axes of its shape in the world."""

    name: str
    properties: MassProperties
    position: Floats
    orientation: Floats
    # (3,) velocity of the reference point, inertial, m/s; None: zero, or as if fixed to the parts that move it
    velocity: Floats | None
    angular_velocity: Floats | None  # (3,) inertial, rad/s; None: as for `velocity`
    replaced_rod: ReplacedRod | None = None

    @property
    def center(self) -> Floats:
        """World coordinates (3,) of the centre of mass at t = 0, m."""
        return self.position + quaternions.rotate(self.orientation, self.properties.center)

    def __repr__(self) -> str:
        return f"<Body '{self.name}': {self.properties.mass:.5g} kg at {text(self.position)}>"

    def _repr_html_(self) -> str:
        """Return a table for notebooks: mass, inertia and pose."""
        from rodsim.components.html_views import body_html

        return body_html(self)

    def __str__(self) -> str:
        return f"body '{self.name}'"


@dataclass(frozen=True, eq=False)
class Driven(_Frame):
    """A frame with prescribed motion; `position` (3,), m, and `orientation` (w, x, y, z) are its pose at t = 0."""

    name: str
    motion: FrameMotion
    position: Floats
    orientation: Floats

    def __repr__(self) -> str:
        return f"<Driven '{self.name}' at {text(self.position)}>"

    def described(self) -> dict[str, Any]:
        """Return the pose at t = 0 as numbers that JSON can hold."""
        return {"position": self.position.tolist(), "orientation": self.orientation.tolist()}

    def __str__(self) -> str:
        return f"driven '{self.name}'"


@dataclass(frozen=True, eq=False)
class RodShape:
    """A curve with the orientation of the cross-sections along it; `up` and `twist` as in `rodsim.components.curve_frames`."""

    owner: str
    curve: Curve
    up: Floats | Callable[[float], ArrayLike] | None
    twist: float | Callable[[float], float]

    def __repr__(self) -> str:
        return f"<RodShape of {self.owner}: {self.length:.5g} m>"

    @property
    def length(self) -> float:
        """Arc length of the curve, m."""
        return self.curve.length

    def frames(
        self, fractions: Floats, parameter: Callable[[Floats], Floats] | None = None
    ) -> tuple[Floats, Floats]:
        """Return positions (n, 3), m, and quaternions (n, 4) of the sections at fractions (n,) of the rod's length."""
        return frames_along(self.owner, self.curve, fractions, self.up, self.twist, parameter)

    def described(self) -> dict[str, Any]:
        """Return the shape as numbers that JSON can hold; callables by their values at tenths of the length."""
        up, twist = self.up, self.twist
        if callable(up):
            up = directions_at(self.owner, up, _TENTHS)
        return {
            "length": self.length,
            "closed": self.curve.closed,
            "up": None if up is None else up.tolist(),
            "twist": twist_angles(self.owner, twist, _TENTHS).tolist() if callable(twist) else twist,
        }


@dataclass(frozen=True, eq=False)
class Rod:
    """A geometrically exact rod along a curve; its mesh is made when the model is built, with nodes at all anchors."""

    name: str
    initial: RodShape
    stress_free: RodShape  # the object `initial` itself if the rod starts without stress
    section: Section | Callable[[float], Section]
    n_elements: int
    # m/s; None: velocity of a rigid body that has `angular_velocity`, rests or follows the joints
    velocity: Floats | Callable[[float], ArrayLike] | None
    angular_velocity: Floats | Callable[[float], ArrayLike] | None
    consistency: float = 0.5  # fraction of the consistent mass matrix in the translational mass
    element: str = DEFAULT  # name of an element of `discretization.space.rod_elements`
    rest_strains: Floats | Callable[[float], ArrayLike] | None = None  # (6,) added to those of `stress_free`
    nodes: tuple[float, ...] | None = None  # fractions at which elements end; None: elements of equal length

    @property
    def closed(self) -> bool:
        """True if the last element joins the last node with the first."""
        return self.initial.curve.closed

    @property
    def is_string(self) -> bool:
        """True if the nodes of the rod have positions alone: its section is that of a string."""
        return self.element == STRING

    @property
    def is_inextensible(self) -> bool:
        """True for a string that does not stretch, all along."""
        return self.is_string and bool(section_at(self, 0.0).is_inextensible)

    def initial_frames(self, fractions: Floats) -> tuple[Floats, Floats]:
        """Return initial positions (n, 3), m, and quaternions (n, 4) at fractions (n,) of the stress-free length.

        The parameter s of a callable curve is material: equal s of `initial` and `stress_free` name the same cross-section.
        """
        free, curve = self.stress_free.curve, self.initial.curve
        if not curve.by_callable:
            return self._without_rotations(self.initial.frames(fractions))
        parameter = free.parameter if free.by_callable else np.asarray
        return self._without_rotations(self.initial.frames(fractions, parameter))

    def _without_rotations(self, frames: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
        """Return positions and quaternions of the sections; those of a string all have the world's axes."""
        r, quat = frames
        return (r, np.tile(quaternions.IDENTITY, (len(r), 1))) if self.is_string else (r, quat)

    def at(self, s: float, offset: ArrayLike = (0.0, 0.0, 0.0)) -> Anchor:
        """Return the point at the fraction s in [0, 1] of the stress-free length.

        `offset`: (3,), m, from the curve of the rod, in section axes (d1, d2, d3).
        """
        x = number(str(self), "s", s)
        if not 0.0 <= x <= 1.0:
            raise ModelError(f"{self}: s = {x} is outside [0, 1]; give the fraction of the rod's length")
        # the end of a closed rod is its start, even if s is off by rounding
        x = 0.0 if self.closed and 1.0 - x <= SAME_NODE else x
        return Anchor(self, vector(str(self), "offset", offset), x)

    @property
    def start(self) -> Anchor:
        """The point at the first node."""
        return self.at(0.0)

    @property
    def end(self) -> Anchor:
        """The point at the last node."""
        return self.at(1.0)

    def __repr__(self) -> str:
        closed = ", closed" if self.closed else ""
        length = self.stress_free.length
        return f"<Rod '{self.name}': {length:.5g} m, {self.n_elements} {self.element} elements{closed}>"

    def _repr_html_(self) -> str:
        """Return a table for notebooks: length, elements and section."""
        from rodsim.components.html_views import rod_html

        return rod_html(self)

    def __str__(self) -> str:
        return f"rod '{self.name}'"


@dataclass(frozen=True, eq=False)
class Anchor:
    """A point on a part: X (3,), m, in the axes of the body's shape, of the rod's section, or of the world (ground).

    `s`: fraction of the stress-free length, on a rod.
    """

    part: Ground | Body | Rod | Driven
    X: Floats
    s: float = 0.0

    @property
    def position(self) -> Floats:
        """World coordinates (3,) of the point at t = 0, m; `add_body(..., position=arm.end.position)` puts a body there."""
        r, quat = self._frame()
        return r + quaternions.rotate(quat, self.X)

    @property
    def orientation(self) -> Floats:
        """Quaternion (w, x, y, z) at t = 0 of the axes of the body, or of the rod's section at the point."""
        return self._frame()[1]

    def _frame(self) -> tuple[Floats, Floats]:
        """Return the position (3,), m, and the quaternion (4,) of the frame or section that carries the point, at t = 0."""
        part = self.part
        if isinstance(part, Ground):
            return np.zeros(3), quaternions.IDENTITY.copy()
        if not isinstance(part, Rod):
            return part.position, part.orientation
        # as many samples as nodes: frames are carried along, and the curve may rotate by at most pi between two
        s = np.union1d(np.linspace(0.0, 1.0, part.n_elements + 1), [self.s, *(part.nodes or ())])
        r, quat = part.initial_frames(s)
        k = int(np.searchsorted(s, self.s))
        return r[k], quat[k]

    def __repr__(self) -> str:
        at = f" + {text(self.X)}" if isinstance(self.part, Rod) and np.any(self.X) else ""
        at = at if isinstance(self.part, Rod) else f" at {text(self.X)}"
        return f"<Anchor: {self}{at}>"

    def __str__(self) -> str:
        return f"{self.part}, s = {self.s:g}" if isinstance(self.part, Rod) else str(self.part)


def part_of(attachment: Any) -> Any:
    """Return the part of an anchor; anything else is returned unchanged."""
    return attachment.part if isinstance(attachment, Anchor) else attachment


class ShapeArguments(NamedTuple):
    """Unchecked arguments for a shape of a rod; None: not given."""

    curve: Any  # CurveLike
    up: Any  # Up
    twist: Any  # Twist
    closed: Any  # bool


def make_rod(
    name: str,
    shape: ShapeArguments,
    stress_free: ShapeArguments,
    section: SectionLike,
    n_elements: int | None,
    velocity: ArrayLike | Callable[[float], ArrayLike] | None,
    angular_velocity: ArrayLike | Callable[[float], ArrayLike] | None,
    mass: str,
    element: str,
    *,
    rest_strains: ArrayLike | Callable[[float], ArrayLike] | None = None,
    nodes: ArrayLike | None = None,
) -> Rod:
    """Check the arguments of a rod and return the rod."""
    owner = f"rod '{name}'"
    closed = flag(owner, "closed", shape.closed)
    section = check_section(owner, section)
    word(owner, "mass", mass, MASSES)
    number_of(owner, element)
    stations = None if nodes is None else _stations(owner, nodes)
    if n_elements is None:
        n_elements = _ELEMENTS if stations is None else (len(stations) - 1) * order_of(element)
    n_elements = count(owner, "n_elements", n_elements, 3 if closed else 1, MOST_ELEMENTS)
    element = _element_of_section(owner, section, element.replace(" ", ""))
    if element == STRING:
        _check_string(owner, shape, stress_free, angular_velocity, rest_strains)
    initial = RodShape(
        owner,
        curve_of(owner, shape.curve, closed),
        _vectors(owner, "up", shape.up),
        _angle(owner, "twist", shape.twist),
    )
    return Rod(
        name,
        initial,
        _stress_free(owner, stress_free, initial, closed),
        section,
        n_elements,
        _vectors(owner, "velocity", velocity),
        _vectors(owner, "angular_velocity", angular_velocity),
        MASSES[mass],
        element,
        _vectors(owner, "rest_strains", rest_strains, 6),
        stations,
    )


def _stations(owner: str, nodes: ArrayLike) -> tuple[float, ...]:
    """Return the fractions at which elements end, from 0 to 1; ModelError unless they grow and are apart."""
    values = array(owner, "nodes", nodes, (None,))
    if len(values) and (values.min() < 0.0 or values.max() > 1.0):
        raise ModelError(
            f"{owner}: nodes = {shown(values.tolist())} are fractions of the length, from 0 to 1; divide distances by the length"
        )
    if np.any(np.diff(values) <= SAME_NODE):
        k = int(np.argmax(np.diff(values) <= SAME_NODE))
        raise ModelError(
            f"{owner}: nodes[{k + 1}] = {values[k + 1]:g} does not lie behind nodes[{k}] = {values[k]:g}; order them, each once"
        )
    inside = values[(values > SAME_NODE) & (values < 1.0 - SAME_NODE)]
    return (0.0, *inside.tolist(), 1.0)


def _element_of_section(owner: str, section: Section | Callable[[float], Section], element: str) -> str:
    """Return the element of a rod; that of a string replaces the default. Raise ModelError if it does not fit the section."""
    first = section(0.0) if callable(section) else section
    of_string = isinstance(first, Section) and first.of_string
    if of_string and element not in (DEFAULT, STRING):
        raise ModelError(
            f"{owner}: element = '{element}' has bending, but the section is that of a string; leave element out"
        )
    if element == STRING and not of_string:
        raise ModelError(
            f"{owner}: element = '{STRING}' needs the section of a string; give Section.string(...)"
        )
    return STRING if of_string else element


def _check_string(
    owner: str, shape: ShapeArguments, stress_free: ShapeArguments, angular_velocity: Any, rest_strains: Any
) -> None:
    """Raise ModelError if a string is given something that needs rotations of its sections."""
    given = {
        "up": shape.up,
        "twist": shape.twist if callable(shape.twist) or shape.twist != 0.0 else None,
        "stress_free_up": stress_free.up,
        "stress_free_twist": stress_free.twist,
        "angular_velocity": angular_velocity,
    }
    for name, value in given.items():
        if value is not None:
            raise ModelError(f"{owner}: is a string, whose sections have no rotations; leave {name} out")
    if (
        rest_strains is not None
        and not callable(rest_strains)
        and np.any(vector(owner, "rest_strains", rest_strains, 6)[1:])
    ):
        raise ModelError(
            f"{owner}: is a string, which has stretch alone; only the first of rest_strains may differ from 0"
        )


def section_at(rod: Rod, s: float) -> Any:
    """Return the section of a rod at the fraction s of its length."""
    return rod.section(s) if callable(rod.section) else rod.section


def check_section(owner: str, section: Any) -> Section | Callable[[float], Section]:
    """Return a Section or a callable, which pieces become; raise ModelError for anything else."""
    if isinstance(section, list | tuple):
        return PiecewiseSection(owner, section)
    if not (isinstance(section, Section) or callable(section)):
        raise ModelError(
            f"{owner}: section = {shown(section)} is not a Section, a list of (end, Section) or a callable s -> Section"
        )
    return section


def _stress_free(owner: str, arguments: ShapeArguments, initial: RodShape, closed: bool) -> RodShape:
    """Return the stress-free shape; arguments that are not given are taken from the initial shape."""
    free_closed = closed
    if arguments.closed is not None:
        free_closed = flag(owner, "stress_free_closed", arguments.closed)
    if arguments.curve is None and free_closed != closed:
        raise ModelError(
            f"{owner}: stress_free_closed = {free_closed}, but the shape without stress is the initial one; give stress_free"
        )
    if arguments.curve is None and arguments.up is None and arguments.twist is None:
        return initial
    of_free = f"{owner}, stress-free shape"
    return RodShape(
        of_free,
        initial.curve if arguments.curve is None else curve_of(of_free, arguments.curve, free_closed),
        initial.up if arguments.up is None else _vectors(owner, "stress_free_up", arguments.up),
        initial.twist if arguments.twist is None else _angle(owner, "stress_free_twist", arguments.twist),
    )


def _vectors(
    owner: str, what: str, value: ArrayLike | Callable[[float], ArrayLike] | None, length: int = 3
) -> Floats | Callable[[float], ArrayLike] | None:
    """Check a vector of this length, a callable or None."""
    return value if value is None or callable(value) else vector(owner, what, value, length)


def _angle(owner: str, what: str, value: Twist) -> Twist:
    """Check an angle (rad) or a callable."""
    return value if callable(value) else number(owner, what, value)


def make_body(
    name: str,
    properties: MassProperties,
    position: ArrayLike,
    orientation: OrientationLike,
    velocity: ArrayLike | None,
    angular_velocity: ArrayLike | None,
) -> Body:
    """Check the arguments of a body and return the body."""
    owner = f"body '{name}'"
    if not isinstance(properties, MassProperties):
        raise ModelError(
            f"{owner}: {shown(properties)} is not a shape; give Box, Cylinder, Capsule, Sphere, Cone, Mesh or MassProperties"
        )
    return Body(
        name,
        properties,
        vector(owner, "position", position),
        quaternion_of(owner, "orientation", orientation),
        None if velocity is None else vector(owner, "velocity", velocity),
        None if angular_velocity is None else vector(owner, "angular_velocity", angular_velocity),
    )


def make_driven(
    name: str,
    position: ArrayLike,
    orientation: OrientationLike,
    displacement: Any,
    turn: Any,
    axis: ArrayLike | None,
    attitude: Any,
) -> Driven:
    """Check the arguments of a driven frame and return the frame."""
    owner = f"driven '{name}'"
    if (turn is None) != (axis is None):
        raise ModelError(f"{owner}: `turn` and `axis` belong together; give both or none")
    if attitude is not None and turn is not None:
        raise ModelError(f"{owner}: has both turn and attitude. Remove one of them.")
    if attitude is not None and not callable(attitude):
        raise ModelError(f"{owner}: attitude = {shown(attitude)} is not a function t -> quaternion")
    motion = FrameMotion(
        owner,
        vector(owner, "position", position),
        quaternion_of(owner, "orientation", orientation),
        vector_motion(f"{owner}: displacement", vector_signals(f"{owner}: displacement", displacement)),
        None if axis is None else direction(owner, "axis", axis),
        STILL if turn is None else scalar_motion(f"{owner}: turn", scalar_signal(f"{owner}: turn", turn)),
        None if attitude is None else quaternions_of(owner, attitude),
    )
    r, quat, _, _ = motion(np.zeros(1))
    return Driven(name, motion, r[0], quat[0])
