"""Describe the parts of a model in a result as plain arrays: rods, bodies and joints by frame and row numbers.

`Model.build()` makes a `Layout`; the writers store it with the states, so that a result file is self-describing.
Frame 0 is the ground. Shapes: n_nodes nodes and n_el elements of one rod, nv vertices and nf triangles of
one body.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discretization.controls import MEASURES, STATE
from discretization.integrator_memory import MemoryLayout
from discretization.interaction_kinds import INTERACTIONS
from discretization.internal_variables import InternalVariables
from discretization.state_shapes import StateSizes, sizes_of, state_shapes
from discretization.system import System
from rigid.interactions.kind_registry import is_missing
from rigid.system import Constraints, Floats, Ints, State


def _array(
    owner: str, what: str, value: ArrayLike, shape: tuple[int | None, ...], kind: type
) -> NDArray[Any]:
    """Return `value` as a contiguous array of `shape` (None: any length) and number type `kind`.

    Raises ValueError if the shape differs; the message names the object `owner` and its field `what`.
    """
    if type(value) is np.ndarray and value.dtype == kind and value.flags.c_contiguous:  # the usual case
        known = [n if m is None else m for n, m in zip(value.shape, shape, strict=False)]
        if known == list(value.shape) and len(known) == len(shape):
            return value
    array: NDArray[Any] = np.ascontiguousarray(value, dtype=kind)
    if array.size == 0 and array.ndim != len(shape):
        array = array.reshape([0 if n is None else n for n in shape])
    if array.ndim != len(shape) or any(
        n is not None and n != m for n, m in zip(shape, array.shape, strict=True)
    ):
        expected = "(" + ", ".join("n" if n is None else str(n) for n in shape) + ")"
        raise ValueError(f"{owner}: {what} has shape {array.shape}; give an array of shape {expected}")
    return array


LegacyTables = tuple[
    tuple[str, tuple[int, ...]], ...
]  # names and shapes of arrays of a file of an older version


@dataclass(eq=False)
class RodLayout:
    """Layout of one rod: its cross-sections (frames) and elements in order along the rod.

    An element here is an interval between two nodes with one point at which strains and stresses are known; rod elements of
    order p have p such points. A closed rod has as many elements as nodes; the last element joins the last node to the first.
    """

    name: str
    frames: Ints  # (n_nodes,) frame numbers of the nodes
    elements: Ints  # (n_el,) element numbers
    arclength: Floats  # (n_nodes,) arc lengths in the stress-free shape, m
    radius: Floats  # (n_nodes,) radii for drawing, m; 0: not known
    closed: bool = False
    # (n_nodes, 2) width along d2 and height along d3 of rectangular sections for drawing, m; 0: not rectangular. Empty: all 0.
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
    """Layout of one rigid body: its frame, its reference point, and its surface (may be empty)."""

    name: str
    frame: int
    reference: Floats  # (3,) reference point of the body, from the frame's origin, in frame axes, m
    vertices: Floats  # (nv, 3) vertices, from the frame's origin, in frame axes, m
    faces: Ints  # (nf, 3) vertex numbers of the triangles, counter-clockwise seen from outside

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
        """Return the layout of another body of the same shape; both share the arrays."""
        other = object.__new__(BodyLayout)
        vars(other).update(vars(self), name=name, frame=int(frame))
        return other


@dataclass(eq=False)
class JointLayout:
    """Layout of one joint: the rows [start, stop) of `State.lam` that hold its multipliers, and its markers."""

    name: str
    kind: str
    rows: tuple[int, int]  # (start, stop); a slice is accepted too
    frames: tuple[int, int] | None = None  # frames of a and b; None: file of an older version
    points: Floats = field(
        default_factory=lambda: np.zeros((2, 3))
    )  # (2, 3) marker points on a and b, from the frames' origins, in frame axes, m
    axes: Floats = field(
        default_factory=lambda: np.tile(np.eye(3), (2, 1, 1))
    )  # (2, 3, 3) marker axes on a and b, columns e1, e2, e3 in frame axes

    def __post_init__(self) -> None:
        owner = f"joint '{self.name}'"
        start, stop = (self.rows.start, self.rows.stop) if isinstance(self.rows, slice) else self.rows
        self.rows = (int(start), int(stop))
        if self.frames is not None:
            self.frames = (int(self.frames[0]), int(self.frames[1]))
        self.points = _array(owner, "points", self.points, (2, 3), np.float64)
        self.axes = _array(owner, "axes", self.axes, (2, 3, 3), np.float64)


class Functions(NamedTuple):
    """Loads and drives of a model as functions of time.

    A file does not store the functions, only their description.
    """

    loads: Callable[[Floats], Floats]  # times (k,) -> load values (k, loads, 3)
    # times (k,) -> drive values (k, rows, 3), see `discretization.drives`
    drives: Callable[[Floats], Floats] | None
    laws: Mapping[str, Any] = MappingProxyType({})  # functions of the controllers by name
    stepper: Callable[[], Any] | None = None  # makes the stepper of a run with events


def _unregistered_kind(system: System) -> str:
    """Return an error text that names a kind of interaction that is not registered in this process; "" if there is none.

    A file of an older version does not store the number of internal variables of such kinds.
    """
    names = [INTERACTIONS[k].name for k in np.unique(system.others.kind) if is_missing(INTERACTIONS[k])]
    if not names:
        return ""
    return f"; interaction '{names[0]}' is not registered here, import the script that registers it (`--import SCRIPT`)"


@dataclass(eq=False)
class Layout:
    """All data of a model that a result needs in addition to its states."""

    name: str
    rods: list[RodLayout]
    bodies: list[BodyLayout]
    joints: list[JointLayout]
    description: dict[str, Any] = field(default_factory=dict)  # model and run, can be written as JSON
    n_frames: int = 1  # number of frames, including the ground
    n_elements: int = 0
    n_multipliers: int = 0
    n_torsions: int = 0  # number of counted angles, see `discretization.internal_variables`
    drives: list[str] = field(default_factory=list)  # names, in the order of the rows in `State.internal`
    n_chart: int = 0  # length of the chart data that an integrator of mechanical systems stores
    n_branch: int = 0  # number of points of rods with relaxing branches
    n_settled: int = 0  # number of internal variables in the block "settled"
    n_bristles: int = 0  # number of rows for bristles of surfaces with friction
    n_sampled: int = 0  # number of internal variables of sensors and controllers
    n_memory: int = 0  # number of rows that `em-d` stores
    n_points: int = 0  # number of points of surfaces that may touch, if the run has contacts
    n_control: int = 0  # length of the data of the step size control
    n_history: int = 0  # quantities with a history of steps before the last one
    # names and shapes of arrays of the predictor in a file of an older version; this version does not use them
    older: LegacyTables = ()
    # number of stored multipliers of the step after each output, see `rodsim.results.output_multipliers`
    n_after: int = 0
    # (m,) multipliers at t = 0, see `discretization.constraint_forces`; None: not known, or not computed yet
    lam_start: Floats | None = None
    # System to which the states belong: the audit recomputes the run's own records from it. None: file of an older version.
    system: System | None = None
    # Constraints of the whole system (`System.constraints`), which convert multipliers to joint forces. None: multipliers only.
    constraints: Constraints | None = None
    # Used by the audit to decide which momenta are conserved. None: not known, inferred from constraints and energies.
    gravity: Floats | None = None  # (3,) gravitational acceleration, m/s^2
    grounded: bool | None = None  # True if a joint, a spring or a fixed frame connects a part to the ground
    functions: Functions | None = None  # None unless the model was built in this process

    def copied(self) -> Layout:
        """Return a copy with a separate description, whose first level can be changed.

        The copy has no functions and no multipliers of the step after an output or at t = 0.
        """
        other = object.__new__(Layout)
        vars(other).update(
            vars(self), description=dict(self.description), functions=None, n_after=0, lam_start=None
        )
        return other

    def __getstate__(self) -> dict[str, Any]:
        """A user's functions are not pickled: they stay in the process that made them."""
        return {**vars(self), "functions": None}

    def __post_init__(self) -> None:
        if self.system is not None:
            self._check_system_sizes(self.system)
        if self.gravity is not None:
            self.gravity = _array(f"model '{self.name}'", "gravity", self.gravity, (3,), np.float64)
        rods, bodies = [rod.name for rod in self.rods], [body.name for body in self.bodies]
        joints = [joint.name for joint in self.joints]
        for kind, names in (("rod", rods), ("body", bodies), ("joint", joints)):
            if len(set(names)) < len(names):
                repeated = [name for name, count in Counter(names).items() if count > 1]
                raise ValueError(
                    f"model '{self.name}': more than one {kind} is called '{repeated[0]}'; rename one"
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

    def _check_system_sizes(self, system: System) -> None:
        """Set constraints and gravity from the system if they are None; raise ValueError if its sizes differ from the layout."""
        if self.constraints is None:
            self.constraints = system.constraints
        if self.gravity is None:
            self.gravity = system.gravity
        if len(
            system.controls.load
        ) and not 0 <= system.controls.load.min() <= system.controls.load.max() < len(system.signals):
            raise ValueError(f"model '{self.name}': controllers drive loads that it does not have")
        sizes = sizes_of(system)
        controls = system.controls
        states = controls.numbers[controls.first[:-1][controls.measure == MEASURES.index(STATE)]]
        if len(states) and not 0 <= states.min() <= states.max() < sizes.internal.settled:
            raise ValueError(f"model '{self.name}': sensors measure states that it does not have")
        for what, number, count in (
            ("frames", self.n_frames, sizes.frames),
            ("elements", self.n_elements, system.rods.n_points),
            ("multipliers", self.n_multipliers, sizes.multipliers),
            ("counted angles", self.n_torsions, sizes.internal.angle),
            ("relaxing points", self.n_branch, sizes.internal.branch),
            ("drives", len(self.drives), sizes.internal.drive),
            ("variables that settle", self.n_settled, sizes.internal.settled),
            ("bristles", self.n_bristles, sizes.internal.bristle),
            ("variables of controllers", self.n_sampled, sizes.internal.sampled),
        ):
            if number != count:
                raise ValueError(
                    f"model '{self.name}': {number} {what}, but its system has {count}{_unregistered_kind(system)}"
                )

    @staticmethod
    def _check(owner: str, what: str, numbers: Ints, count: int) -> None:
        """Raise ValueError if one of the `numbers` is not in 0 ... count - 1."""
        if numbers.size and not 0 <= numbers.min() <= numbers.max() < count:
            raise ValueError(
                f"{owner}: {what} numbers {numbers.min()} to {numbers.max()}, but there are {count}"
            )

    @property
    def internal(self) -> InternalVariables:
        """Return the sizes of the blocks of internal variables, `State.internal`."""
        return InternalVariables(
            self.n_torsions,
            self.n_branch,
            len(self.drives),
            self.n_sampled,
            self.n_settled,
            self.n_bristles,
        )

    @property
    def memory(self) -> MemoryLayout:
        """Return the sizes of the parts of the integrator state, `State.memory`."""
        numbers = self.n_memory, self.n_chart, self.n_points, self.n_control
        return MemoryLayout(self.n_frames, *numbers, self.n_history)

    def remembering(self, memory: MemoryLayout) -> None:
        """Set the sizes of the integrator state of the stored states to those of `memory`."""
        self.n_memory, self.n_chart = memory.rows, memory.chart
        self.n_points, self.n_control = memory.points, memory.control
        self.n_history = memory.history

    def state_shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of each field of a `State` of this model, by name."""
        return state_shapes(self.sizes)

    @property
    def sizes(self) -> StateSizes:
        """Return the sizes that determine the shapes of a state's arrays."""
        return StateSizes(self.n_frames, self.n_multipliers, self.internal, self.memory)

    def check_state(self, state: State, count: int) -> None:
        """Raise ValueError if `state` does not hold `count` states with the shapes of this model."""
        for name, shape in self.state_shapes().items():
            actual = np.shape(getattr(state, name))[1:]
            if actual != shape or len(getattr(state, name)) != count:
                raise ValueError(
                    f"model '{self.name}': State.{name} has shape {actual}, the model has {shape}"
                )
