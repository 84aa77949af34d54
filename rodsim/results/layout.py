"""What is drawn and named in a result, as plain arrays: rods, bodies and joints by frame and row numbers.

`Model.build()` makes a `Layout`; the writers store it beside the states, so that a file explains itself.
Frame 0 is the ground. Shapes: n_nodes nodes and n_el elements of one rod, nv vertices and nf triangles of
one body.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discretization.interaction_kinds import INTERACTIONS
from discretization.memory import Memory
from discretization.own_variables import OwnVariables
from discretization.state_shapes import Sizes, sizes_of, state_shapes
from discretization.system import System
from rigid.interactions.numbered import is_absent
from rigid.system import Constraints, Floats, Ints, State


def _array(
    owner: str, what: str, value: ArrayLike, shape: tuple[int | None, ...], kind: type
) -> NDArray[Any]:
    """`value` as a contiguous array of `shape` (None: any length); ValueError says whose it is."""
    if type(value) is np.ndarray and value.dtype == kind and value.flags.c_contiguous:  # as nearly always
        known = tuple(n if m is None else m for n, m in zip(value.shape, shape, strict=False))
        if known == value.shape and len(known) == len(shape):
            return value
    array: NDArray[Any] = np.ascontiguousarray(value, dtype=kind)
    if array.size == 0 and array.ndim != len(shape):
        array = array.reshape([0 if n is None else n for n in shape])
    if array.ndim != len(shape) or any(
        n is not None and n != m for n, m in zip(shape, array.shape, strict=True)
    ):
        wanted = "(" + ", ".join("n" if n is None else str(n) for n in shape) + ")"
        raise ValueError(f"{owner}: {what} has shape {array.shape}; give an array of shape {wanted}")
    return array


@dataclass(eq=False)
class RodLayout:
    """One rod: its cross-sections (frames) and elements in order along the rod.

    An element here is an interval between two nodes, where strains and stresses are known: of rod elements of order p the
    point that lies between them. A closed rod has as many elements as nodes; the last element joins the last node to the first.
    """

    name: str
    frames: Ints  # (n_nodes,)
    elements: Ints  # (n_el,)
    arclength: Floats  # (n_nodes,) m, stress-free
    radius: Floats  # (n_nodes,) m, for drawing; 0: not known
    closed: bool = False
    # (n_nodes, 2) m, for drawing: width along d2 and height along d3 of rectangles; 0: not one. Empty: nowhere.
    sides: Floats = field(default_factory=lambda: np.zeros((0, 2)))

    def __post_init__(self) -> None:
        owner = f"rod '{self.name}'"
        self.frames = _array(owner, "frames", self.frames, (None,), np.int64)
        n_nodes = len(self.frames)
        n_elements = n_nodes if self.closed else n_nodes - 1
        self.elements = _array(owner, "elements", self.elements, (n_elements,), np.int64)
        self.arclength = _array(owner, "arclength", self.arclength, (n_nodes,), np.float64)
        self.radius = _array(owner, "radius", self.radius, (n_nodes,), np.float64)
        sides = self.sides if np.size(self.sides) else np.zeros((n_nodes, 2))
        self.sides = _array(owner, "sides", sides, (n_nodes, 2), np.float64)


@dataclass(eq=False)
class BodyLayout:
    """One rigid body: its frame, the point its position means, and its surface (may be empty)."""

    name: str
    frame: int
    reference: Floats  # (3,) m, the body's reference point from the frame's origin, frame axes
    vertices: Floats  # (nv, 3) m, from the frame's origin, frame axes
    faces: Ints  # (nf, 3) vertex numbers, counter-clockwise seen from outside

    def __post_init__(self) -> None:
        owner = f"body '{self.name}'"
        self.frame = int(self.frame)
        self.reference = _array(owner, "reference", self.reference, (3,), np.float64)
        self.vertices = _array(owner, "vertices", self.vertices, (None, 3), np.float64)
        self.faces = _array(owner, "faces", self.faces, (None, 3), np.int64)
        if self.faces.size and not 0 <= self.faces.min() <= self.faces.max() < len(self.vertices):
            raise ValueError(
                f"{owner}: faces name vertices {self.faces.min()} to {self.faces.max()}, "
                f"but there are {len(self.vertices)}"
            )

    def alike(self, name: str, frame: int) -> BodyLayout:
        """Another body of the same shape, whose arrays they have in common."""
        other = object.__new__(BodyLayout)
        vars(other).update(vars(self), name=name, frame=int(frame))
        return other


@dataclass(eq=False)
class JointLayout:
    """One joint: the rows [start, stop) of `State.lam` that hold its multipliers, and its markers."""

    name: str
    kind: str
    rows: tuple[int, int]  # a slice is taken as well
    frames: tuple[int, int] | None = None  # a, b; None: of an older file
    points: Floats = field(
        default_factory=lambda: np.zeros((2, 3))
    )  # m, from the frames' origins, frame axes
    axes: Floats = field(
        default_factory=lambda: np.tile(np.eye(3), (2, 1, 1))
    )  # (2, 3, 3) columns e1, e2, e3 in frame axes

    def __post_init__(self) -> None:
        owner = f"joint '{self.name}'"
        start, stop = (self.rows.start, self.rows.stop) if isinstance(self.rows, slice) else self.rows
        self.rows = (int(start), int(stop))
        if self.frames is not None:
            self.frames = (int(self.frames[0]), int(self.frames[1]))
        self.points = _array(owner, "points", self.points, (2, 3), np.float64)
        self.axes = _array(owner, "axes", self.axes, (2, 3, 3), np.float64)


class Functions(NamedTuple):
    """What a model gives to a step, as functions of times; a file keeps of it what its description says."""

    loads: Callable[[Floats], Floats]  # times (k,) -> (k, loads, 3)
    drives: Callable[[Floats], Floats] | None  # times (k,) -> (k, rows, 3), see `discretization.drives`


def _told(system: System) -> str:
    """Of kinds that are not here: their own variables are not known of an older file."""
    names = [INTERACTIONS[k].name for k in np.unique(system.others.kind) if is_absent(INTERACTIONS[k])]
    if not names:
        return ""
    return f"; interaction '{names[0]}' is not registered here, import the script that registers it (`--import SCRIPT`)"


@dataclass(eq=False)
class Layout:
    """Everything a result needs to know of a model besides its states."""

    name: str
    rods: list[RodLayout]
    bodies: list[BodyLayout]
    joints: list[JointLayout]
    description: dict[str, Any] = field(default_factory=dict)  # JSON-able
    n_frames: int = 1  # with the ground
    n_elements: int = 0
    n_multipliers: int = 0
    n_torsions: int = 0  # counted angles: see `discretization.own_variables`
    drives: list[str] = field(default_factory=list)  # names, in the order of their numbers in `State.own`
    n_chart: int = 0  # numbers that an integrator of mechanical systems keeps
    n_branch: int = 0  # points of rods whose branches relax
    n_settled: int = 0  # own variables that settle
    n_bristles: int = 0  # of surfaces that rub
    n_memory: int = 0  # rows that `em-d` remembers
    n_points: int = 0  # of surfaces that may touch, where the run is one with contacts
    n_control: int = 0  # numbers of steps that choose themselves
    n_earlier: int = 0  # numbers that earlier steps are remembered of, by older versions
    n_foretold: int = 0  # the same now
    n_means: int = 0  # and of substeps
    n_after: int = 0  # multipliers of the step after each output that a file has, see `rodsim.results.output_multipliers`
    # (m,) multipliers at t = 0, see `discretization.constraint_forces`; None: not known, or not yet
    lam_start: Floats | None = None
    # What the states belong to: the audit recomputes from it whatever the run says of itself. None: of an older file.
    system: System | None = None
    # Of the whole system (`System.constraints`): turns multipliers into joint forces. None: multipliers only.
    constraints: Constraints | None = None
    # For the audit: which momenta should be kept. None: not known, judged from constraints and energies.
    gravity: Floats | None = None  # (3,) m/s^2
    grounded: bool | None = None  # a joint, a spring or a fixed frame holds something to the ground
    functions: Functions | None = None  # where the model was built in this process

    def copied(self) -> Layout:
        """The same with a description of its own, to be changed at its first level."""
        other = object.__new__(Layout)
        vars(other).update(
            vars(self), description=dict(self.description), functions=None, n_after=0, lam_start=None
        )
        return other

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "functions": None}  # a user's functions stay where they were made

    def __post_init__(self) -> None:
        if self.system is not None:
            self._take_from(self.system)
        if self.gravity is not None:
            self.gravity = _array(f"model '{self.name}'", "gravity", self.gravity, (3,), np.float64)
        rods, bodies = [rod.name for rod in self.rods], [body.name for body in self.bodies]
        joints = [joint.name for joint in self.joints]
        for kind, names in (("rod", rods), ("body", bodies), ("joint", joints)):
            if len(set(names)) < len(names):
                twice = [name for name, count in Counter(names).items() if count > 1]
                raise ValueError(
                    f"model '{self.name}': more than one {kind} is called '{twice[0]}'; rename one"
                )
        for rod in self.rods:
            self._check(f"rod '{rod.name}'", "frame", rod.frames, self.n_frames)
            self._check(f"rod '{rod.name}'", "element", rod.elements, self.n_elements)
        for body in self.bodies:
            if not 0 <= body.frame < self.n_frames:
                self._check(f"body '{body.name}'", "frame", np.array([body.frame]), self.n_frames)
        for joint in self.joints:
            if joint.frames is not None and not all(0 <= f < self.n_frames for f in joint.frames):
                self._check(f"joint '{joint.name}'", "frame", np.array(joint.frames), self.n_frames)
            start, stop = joint.rows
            if not 0 <= start <= stop <= self.n_multipliers:
                raise ValueError(
                    f"joint '{joint.name}': rows {joint.rows} of {self.n_multipliers} multipliers"
                )

    def _take_from(self, system: System) -> None:
        if self.constraints is None:
            self.constraints = system.constraints
        if self.gravity is None:
            self.gravity = system.gravity
        sizes = sizes_of(system)
        for what, number, found in (
            ("frames", self.n_frames, sizes.frames),
            ("elements", self.n_elements, system.rods.n_points),
            ("multipliers", self.n_multipliers, sizes.multipliers),
            ("counted angles", self.n_torsions, sizes.own.angle),
            ("relaxing points", self.n_branch, sizes.own.branch),
            ("drives", len(self.drives), sizes.own.drive),
            ("variables that settle", self.n_settled, sizes.own.settled),
            ("bristles", self.n_bristles, sizes.own.bristle),
        ):
            if number != found:
                raise ValueError(
                    f"model '{self.name}': {number} {what}, but its system has {found}{_told(system)}"
                )

    @staticmethod
    def _check(owner: str, what: str, numbers: Ints, count: int) -> None:
        if numbers.size and not 0 <= numbers.min() <= numbers.max() < count:
            raise ValueError(
                f"{owner}: {what} numbers {numbers.min()} to {numbers.max()}, but there are {count}"
            )

    @property
    def own(self) -> OwnVariables:
        """The blocks of `State.own`."""
        return OwnVariables(self.n_torsions, self.n_branch, len(self.drives), self.n_settled, self.n_bristles)

    @property
    def memory(self) -> Memory:
        """The parts of `State.memory`."""
        numbers = self.n_memory, self.n_chart, self.n_points, self.n_control
        return Memory(self.n_frames, *numbers, self.n_foretold, self.n_means, self.n_earlier)

    def remembering(self, memory: Memory) -> None:
        """Its states have this memory from now on."""
        self.n_memory, self.n_chart = memory.rows, memory.chart
        self.n_points, self.n_control = memory.points, memory.control
        self.n_foretold, self.n_means, self.n_earlier = memory.earlier, memory.means, memory.older

    def state_shapes(self) -> dict[str, tuple[int, ...]]:
        """Shape of every field of a `State` of this model."""
        return state_shapes(self.sizes)

    @property
    def sizes(self) -> Sizes:
        """What the lengths of a state's arrays count."""
        return Sizes(self.n_frames, self.n_multipliers, self.own, self.memory)

    def check_state(self, state: State, count: int) -> None:
        """Raise ValueError where the `count` states do not have the shapes of this model."""
        for name, shape in self.state_shapes().items():
            found = np.shape(getattr(state, name))[1:]
            if found != shape or len(getattr(state, name)) != count:
                raise ValueError(
                    f"model '{self.name}': State.{name} has shape {found}, the model has {shape}"
                )
