"""Mesh rods: frames and elements with nodes at all anchors, lumped masses, stress-free strains."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from discretization.space.elements import Elements
from discretization.space.interpolation import VALUES, leading, nodes, points
from discretization.space.laws import EXPRESSIONS
from discretization.space.rod_elements import BY_NUMBER, SE3_SPAN, number_of
from discretization.space.se3_element import strains_along
from discretization.space.spans import MOST_FRAMES, Spans, as_bytes, no_spans, strains_of
from rigid import quaternions
from rigid.checks import shown, vector
from rigid.errors import ModelError
from rigid.interactions.evaluation import values
from rigid.system import Floats, Ints
from rigid.vectors import cross
from rodsim.components.model_parts import SAME_NODE, Rod
from rodsim.components.section_shapes import moved
from rodsim.components.sections import Section
from rodsim.components.sections_along import PiecewiseSection, inner_ends

_HARDLY_BENT = 0.9  # cosine of half of .9 rad: even twice that rotation is far from the limit
# Radius of gyration of a node of a string over the length of an element. No torque acts on such a node, but friction of a thick
# string: a large inertia takes it up, so that the node does not roll.
_STRING_GYRATION = 1e3
_CLOSURE_TOLERANCE = 1e-6  # rad between the ends of a closed rod that count as round-off of the user's input


class RodMesh(NamedTuple):
    """Hold nodes and elements of one rod; frame numbers count from 0 at its first node."""

    fractions: Floats  # (n,) positions of the nodes as fractions of the stress-free length
    r: Floats  # (n, 3) positions, m
    quat: Floats  # (n, 4) orientations
    v: Floats  # (n, 3) velocities, m/s
    Omega: Floats  # (n, 3) angular velocities, rad/s, section axes
    mass: Floats  # (n,) lumped masses, kg
    inertia: Floats  # (n, 3, 3) lumped inertias, kg m^2, section axes
    radius: Floats  # (n,) radii of the sections, the greater of both intervals at a node, m
    sides: Floats  # (n, 2) width and height of rectangular sections, m
    arclength: Floats  # (n,) stress-free arclength, m
    elements: Elements  # elements of two frames
    spans: Spans  # elements of order p
    center: Floats  # (n, 3) m, offsets of the frames from the rod's curve, section axes

    def node(self, s: float) -> int:
        """Return the number of the node at the fraction s of an anchor."""
        return int(np.argmin(np.abs(self.fractions - s)))


def node_fractions(n_elements: int, anchors: Iterable[float], closed: bool, order: int = 1) -> Floats:
    """Return the fractions of the length at which nodes are: one at every anchor, elements of equal length between anchors.

    The number of elements is `n_elements` if there are fewer anchors than elements. Elements of an order p > 1 span p intervals
    between nodes; their number is the least that gives `n_elements` intervals or more.
    """
    stops = np.array(sorted({0.0, 1.0, *anchors}), float)
    stops = stops[np.concatenate([[True], np.diff(stops) > SAME_NODE])]
    stops[-1] = 1.0
    pieces = np.diff(stops)
    n_spans = -(-n_elements // order)
    if closed and order > 1:
        n_spans = max(n_spans, 2)  # a single element would join a frame with itself
    counts = np.maximum(1, np.floor(pieces * n_spans + 1e-9).astype(int))
    while counts.sum() < n_spans:  # subdivide the longest elements until the number is reached
        counts[np.argmax(pieces / counts)] += 1
    while counts.sum() > n_spans and counts.max() > 1:
        counts[np.argmin(np.where(counts > 1, pieces / counts, np.inf))] -= 1
    parts = [a + (b - a) * np.arange(c) / c for a, b, c in zip(stops[:-1], stops[1:], counts, strict=True)]
    fractions = np.concatenate(parts)
    if order > 1:
        ends = np.append(fractions[1:], 1.0)
        inside = nodes(order)[:-1]
        fractions = (fractions[:, None] * (1.0 - inside) + ends[:, None] * inside).ravel()
    return fractions if closed else np.append(fractions, 1.0)


def mesh_rod(rod: Rod, anchors: Iterable[float]) -> RodMesh:
    """Discretise `rod` with nodes at the fractions `anchors`."""
    owner = str(rod)
    number = number_of(owner, rod.element)
    order = 1 if number < 0 else BY_NUMBER[number].order
    stations = [*anchors, *(rod.nodes or ()), *inner_ends(rod.section)]
    fractions = node_fractions(rod.n_elements, stations, rod.closed, order)
    stops = np.append(fractions, 1.0) if rod.closed else fractions
    n = len(fractions)
    r, quat = rod.initial_frames(stops)
    if rod.closed:
        _check_closing(owner, quat)
        r[-1], quat[-1] = r[0], quat[0]
    if rod.stress_free is rod.initial:
        r_free, quat_free = r, quat
    else:
        r_free, quat_free = rod.stress_free.frames(stops)
    center = _centers(rod, stops)
    arm = _frame_offsets(quat, center)
    r, r_free = r + arm, r_free + (arm if quat_free is quat else _frame_offsets(quat_free, center))
    if rod.is_string:
        quat_free = quat
    a = np.arange(len(stops) - 1)
    ends = np.empty((len(a), 2), np.int64)
    ends[:, 0], ends[:, 1] = a, (a + 1) % n
    _check_bend(owner, quat[:-1], quat[1:], order)
    # the stress-free shape need not close: its last element ends at its own end
    if number < 0:
        discrete = _elements(rod, ends, stops, r_free, quat_free)
    else:
        discrete = _spans(rod, number, ends, stops, r_free, quat_free)
    r, quat = r[:n], quat[:n]
    radius, rectangle = np.zeros(n), np.zeros((n, 2))
    for side in _interval_ends(ends):
        radius[side] = np.maximum(radius[side], discrete.radius)
        rectangle[side] = np.maximum(rectangle[side], discrete.sides)
    v, Omega = _initial_velocities(rod, fractions, r, quat, arm[:n], discrete.mass)
    return RodMesh(
        fractions,
        r,
        quat,
        v,
        Omega,
        discrete.mass,
        discrete.inertia,
        radius,
        rectangle,
        fractions * rod.stress_free.length,
        discrete.elements,
        discrete.spans,
        center[:n],
    )


def _interval_ends(ends: Ints) -> tuple[Any, Any]:
    """Return index expressions of the first and of the second nodes of consecutive intervals, each node once.

    The last interval of a closed rod ends at its first node.
    """
    first, last = slice(len(ends)), slice(1, None)
    return (first, last) if ends[-1, 1] else (first, ends[:, 1])


def _frame_offsets(quat: Floats, center: Floats) -> Floats:
    """Return the vectors (n, 3), m, from the rod's curve to its frames, inertial axes; center (n, 3): in section axes."""
    return quaternions.rotate(quat, center) if center.any() else np.zeros((len(quat), 3))


def _initial_velocities(
    rod: Rod, fractions: Floats, r: Floats, quat: Floats, arm: Floats, mass: Floats
) -> tuple[Floats, Floats]:
    """Return velocities (n, 3), m/s, and angular velocities (n, 3), rad/s, section axes, of the frames.

    If only the angular velocity is given, the centre line moves with the sections, v' = omega x r', and the centre of mass is at
    rest.
    """
    if rod.velocity is None and rod.angular_velocity is None:
        return np.zeros(arm.shape), np.zeros(arm.shape)
    omega = _vectors_along(rod, "angular_velocity", rod.angular_velocity, fractions)
    if rod.velocity is not None:
        v = _vectors_along(rod, "velocity", rod.velocity, fractions) + cross(omega, arm)
    else:
        steps = cross(0.5 * (omega[1:] + omega[:-1]), r[1:] - r[:-1])
        v = np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)])
        v -= np.average(v, axis=0, weights=mass if mass.any() else None)
    return v, quaternions.rotate(quaternions.conjugate(quat), omega)


class _Discrete(NamedTuple):
    """Hold the elements of a rod, the masses of its n nodes, and sizes of its intervals to draw."""

    mass: Floats  # (n,) kg
    inertia: Floats  # (n, 3, 3) kg m^2
    radius: Floats  # (intervals,) m
    sides: Floats  # (intervals, 2) m
    elements: Elements
    spans: Spans


def _elements(rod: Rod, ends: Ints, stops: Floats, r: Floats, quat: Floats) -> _Discrete:
    """Build two-frame elements between the nodes `ends` (k, 2); r, quat: the stress-free shape at the fractions `stops`.

    Sections with a nonlinear law, or with relaxing branches, give spans of two frames instead.
    """
    middles = (stops[1:] + stops[:-1]) / 2
    along = _Sections(rod, middles, lambda centers: (centers[1:] + centers[:-1]) / 2, stops)
    if along.beyond_linear:
        return _spans(rod, SE3_SPAN, ends, stops, r, quat)
    length = (stops[1:] - stops[:-1]) * rod.stress_free.length
    strain0 = strains_along(r, quat, length) + _rest_strains_at(rod, middles)
    n = ends.max() + 1
    mass, inertia = np.zeros(n), np.zeros((n, 3, 3))
    for side in _interval_ends(ends):
        mass[side] += along.per_length * length / 2
        inertia[side] += along.rotary * length[:, None, None] / 2
    coupling = rod.consistency * along.per_length * length / 6
    elements = Elements(ends, length, along.stiffness, along.damping, strain0, coupling)
    return _Discrete(mass, inertia, along.radius, along.sides, elements, no_spans())


def _spans(rod: Rod, number: int, ends: Ints, stops: Floats, r: Floats, quat: Floats) -> _Discrete:
    """Build elements that span p intervals each, p the order of the element `number`; other arguments as in `_elements`."""
    order = BY_NUMBER[number].order
    first = np.arange(0, len(ends), order)
    length = (stops[first + order] - stops[first]) * rod.stress_free.length
    x, w = points(order)
    fractions = (stops[first][:, None] * (1.0 - x) + stops[first + order][:, None] * x).ravel()
    weight = (length[:, None] * w).ravel()
    of_span = first[:, None] + np.arange(order + 1)
    shape_at_points = VALUES[order, :order, : order + 1]

    def between(centers: Floats) -> Floats:
        """Interpolate vectors (n, 3) of nodes to the points of the spans."""
        return np.einsum("ga,mai->mgi", shape_at_points, centers[of_span]).reshape(-1, 3)

    along = _Sections(rod, fractions, between, stops)
    if along.rigid and number != SE3_SPAN:
        raise ModelError(
            f"{rod}: element '{rod.element}' cannot be rigid in {' and '.join(along.rigid)}; use element='se3', or a section of "
            "finite stiffness, such as a thousand times its other ones"
        )
    # spans between the frames of the stress-free shape, whose ends may be apart if the rod is closed
    frames = np.full((len(first), MOST_FRAMES), -1, dtype=np.int64)
    frames[:, : order + 1] = of_span
    kinds, nothing = np.full(len(first), number, dtype=np.int64), np.zeros((len(weight), 6))
    total = (weight * along.per_length).reshape(-1, order).sum(axis=1)
    coupling = rod.consistency * total
    free = Spans(
        kinds,
        frames,
        length,
        coupling,
        ends,
        weight,
        along.stiffness,
        along.damping,
        nothing,
        along.law,
        along.parameters,
        as_bytes(along.expressions),
        along.moved_column("branch"),
        along.column("relaxation").astype(float),
    )
    strain0 = values(strains_of(free), r, quat).reshape(-1, 6) + _rest_strains_at(rod, fractions)
    n = ends.max() + 1
    frames[:, : order + 1] = of_span % n
    # row sums of the consistent mass matrix: for a homogeneous rod the quadrature weights of the nodes
    weights_of_nodes = VALUES[order, :order, : order + 1]
    mass, inertia = np.zeros(n), np.zeros((n, 3, 3))
    for out, density in ((mass, along.per_length), (inertia, along.rotary)):
        of_points = (weight * density.T).T.reshape(len(first), order, -1)
        of_nodes = np.einsum("mgk,ga->mak", of_points, weights_of_nodes).reshape(-1, *density.shape[1:])
        np.add.at(out, (of_span % n).ravel(), of_nodes)
    if rod.is_string:
        inertia += (_STRING_GYRATION * length.max()) ** 2 * mass[:, None, None] * np.eye(3)
    massless = not np.any(along.per_length)
    if not massless and (mass.min() <= 0.0 or np.linalg.eigvalsh(inertia).min() < 0.0):
        raise ModelError(
            f"{rod}: its section changes so much along one element that a node has no mass; give more elements, "
            "or element='se3'"
        )
    shape = leading(order)
    lumped = np.einsum("mg,ga->ma", (weight * along.per_length).reshape(-1, order), weights_of_nodes)
    full = lumped[:, :, None] * np.eye(order + 1) - (coupling[:, None, None] * np.outer(shape, shape))
    if not massless and np.linalg.eigvalsh(full).min() <= 0.0:
        raise ModelError(
            f"{rod}: its section changes so much along one element that its mass is not positive; give mass='lumped'"
        )
    spans = free._replace(frames=frames, strain0=strain0)
    return _Discrete(mass, inertia, along.radius, along.sides, _NO_ELEMENTS, spans)


class _Sections:
    """Evaluate the properties of the sections at fractions (k,) of the length, arrays (k, ...)."""

    def __init__(self, rod: Rod, fractions: Floats, between: Callable[[Floats], Floats], stops: Floats):
        """Evaluate sections; `between` interpolates vectors of the nodes at `stops` to these fractions.

        Stiffness, damping and branches refer to the line of the frames, which is straight between the centres of two nodes.
        """
        self._sections, self._fractions = _sections(rod, fractions), fractions
        self.per_length, self.rotary = self.column("mass_per_length"), self.column("rotary_inertia")
        self._offsets: Floats | None = None
        if len(self._sections) > 1:
            offsets = _centers(rod, fractions) - between(_centers(rod, stops))
            self._offsets = offsets if np.abs(offsets).max() > 0.0 else None
        self.stiffness, self.damping = self.moved_column("stiffness"), self.moved_column("damping")
        self.radius, self.sides = self.column("radius"), self.column("sides")
        self.rigid = self._sections[0].rigid_strains
        for x in self._sections:
            if x.rigid_strains != self.rigid:
                raise ModelError(
                    f"{rod}: its section is rigid in {' and '.join(x.rigid_strains or self.rigid)} in some places only; let "
                    "all of it be rigid, or none"
                )
        self.beyond_linear = any(x.law >= 0 or x.law_expression or x.relaxation > 0.0 for x in self._sections)

    def moved_column(self, name: str) -> Floats:
        """Return matrices (k, 6, 6) of the sections, moved from their centres of mass to the line of the frames."""
        matrices = self.column(name)
        if self._offsets is None:
            return matrices
        return np.array([moved(C, x[1:]) for C, x in zip(matrices, self._offsets, strict=True)])

    def column(self, name: str) -> Floats:
        """Return one attribute of the sections at all positions, (k, ...)."""
        if len(self._sections) > 1:
            return np.array([getattr(section, name) for section in self._sections])
        value = np.asarray(getattr(self._sections[0], name))
        same: Floats = np.empty((len(self._fractions), *value.shape), value.dtype)
        same[:] = value
        return same

    @functools.cached_property
    def expressions(self) -> tuple[str, ...]:
        """Return the distinct texts of energies, sorted."""
        return tuple(sorted({x.law_expression for x in self._sections if x.law_expression}))

    @property
    def law(self) -> Ints:
        """Return the number of the law at each position (k,)."""
        numbers = {text: EXPRESSIONS + k for k, text in enumerate(self.expressions)}
        law_numbers = [numbers.get(x.law_expression, x.law) for x in self._sections]
        return np.repeat(np.array(law_numbers, np.int64), self._each)

    @property
    def parameters(self) -> Floats:
        """Return the parameters of the laws, (k, largest number of parameters), padded with zeros."""
        width = max(len(x.law_parameters) for x in self._sections)
        law_parameters = [
            (*x.law_parameters, *(width - len(x.law_parameters)) * (0.0,)) for x in self._sections
        ]
        return np.repeat(np.array(law_parameters), self._each, axis=0)

    @property
    def _each(self) -> int:
        """Return the number of positions for each section."""
        return len(self._fractions) if len(self._sections) == 1 else 1


def _rest_strains_at(rod: Rod, fractions: Floats) -> Floats:
    """Return the `rest_strains` (k, 6), which add to the strains of the stress-free shape, on the line of the frames."""
    rest_strains = rod.rest_strains
    if rest_strains is None:
        return np.zeros((len(fractions), 6))
    strains = np.array(
        [
            vector(str(rod), f"rest_strains at s = {s:g}", rest_strains(float(s)), 6)
            if callable(rest_strains)
            else rest_strains
            for s in fractions
        ]
    )
    strains[:, :3] += cross(strains[:, 3:], _centers(rod, fractions))
    return strains


def _centers(rod: Rod, fractions: Floats) -> Floats:
    """Return the positions (k, 3) of the centres of mass in the sections, (0, x2, x3), m; ModelError if they jump."""
    centers = np.zeros((len(fractions), 3))
    if isinstance(rod.section, PiecewiseSection):
        pieces = np.array([section.center for section in rod.section.sections])
        if np.ptp(pieces, axis=0).max() > 0.0:
            raise ModelError(
                f"{rod}: the centre of mass of its section is not in the same place in all pieces, {pieces.tolist()} m; move the "
                "curve instead, or join two rods"
            )
    sections = _sections(rod, fractions)
    centers[:, 1:] = [section.center for section in sections]
    return centers


def _sections(rod: Rod, middles: Floats) -> list[Section]:
    """Return the sections at these fractions, or one section if it is the same everywhere."""
    if isinstance(rod.section, Section):
        return [rod.section]
    sections = [rod.section(float(s)) for s in middles]
    for s, section in zip(middles, sections, strict=True):
        if not isinstance(section, Section):
            raise ModelError(
                f"{rod}: section(s = {s:g}) returned {shown(section)}, not a Section; return one"
            )
    return sections


def _vectors_along(
    rod: Rod, what: str, value: Floats | Callable[[float], ArrayLike] | None, fractions: Floats
) -> Floats:
    """Return vectors (n, 3) at fractions of the length, from one vector or from a callable; zero if `value` is None."""
    if value is None:
        return np.zeros((len(fractions), 3))
    if callable(value):
        return np.array([vector(str(rod), f"{what} at s = {s:g}", value(float(s))) for s in fractions])
    return np.broadcast_to(value, (len(fractions), 3)).copy()


def _check_closing(owner: str, quat: Floats) -> None:
    """Raise ModelError if the first and the last frame of a closed rod, which are one section, have different orientations."""
    across = quaternions.multiply(quaternions.conjugate(quat[0]), quat[-1])
    angle = 2 * np.arctan2(np.linalg.norm(across[1:]), abs(across[0]))
    if angle > _CLOSURE_TOLERANCE:
        raise ModelError(
            f"{owner}: closed, but the section at s = 1 is rotated by {angle:.6g} rad relative to that at s = 0, which is the "
            "same; let twist make whole turns, and give stress_free_twist the rest with the opposite sign"
        )


def _check_bend(owner: str, qa: Floats, qb: Floats, order: int) -> None:
    """Raise ModelError if the ends of an element are rotated relative to each other by more than 2.5 rad at t = 0."""
    cosine = np.abs(np.add.reduce(qa * qb, axis=1))  # cosine of half the rotation angles
    if cosine.min() > _HARDLY_BENT and order <= 4:
        return
    angles = 2 * np.arccos(np.minimum(1.0, cosine))
    # for an element of several intervals: rotation from its middle, at most the sum of the rotations of half of it
    if order % 2 == 0:
        angles = angles.reshape(-1, 2, order // 2).sum(axis=2).max(axis=1)
    if angles.max() > 2.5:
        where, count = int(np.argmax(angles)), len(angles)
        raise ModelError(
            f"{owner}: element {where} of {count} rotates by {angles.max():.2f} rad at t = 0; give more elements "
            "(below 2.5 rad each)"
        )


_NO_ELEMENTS = Elements(
    np.zeros((0, 2), np.int64),
    np.zeros(0),
    np.zeros((0, 6, 6)),
    np.zeros((0, 6, 6)),
    np.zeros((0, 6)),
    np.zeros(0),
)


def concatenate_meshes(parts: list[RodMesh], first_frames: Ints) -> tuple[Elements, Spans]:
    """Join elements and spans of several rods; their frame numbers are shifted by `first_frames`."""
    elements = [_NO_ELEMENTS]
    for part, first in zip(parts, first_frames, strict=True):
        elements.append(part.elements._replace(frames=part.elements.frames + first))
    one = Elements(*map(_concatenate, zip(*elements, strict=True))) if parts else _NO_ELEMENTS
    if not any(len(part.spans.kind) for part in parts):
        return one, no_spans()
    spans = [no_spans()]
    texts = tuple(sorted({text for part in parts for text in part.spans.texts}))
    width = max((part.spans.parameters.shape[1] for part in parts), default=0)
    for part, first in zip(parts, first_frames, strict=True):
        spans_of_part = part.spans
        numbers = np.array([texts.index(text) for text in spans_of_part.texts], np.int64)
        law = spans_of_part.law.copy()
        law[spans_of_part.law >= EXPRESSIONS] = (
            EXPRESSIONS + numbers[spans_of_part.law[spans_of_part.law >= EXPRESSIONS] - EXPRESSIONS]
        )
        spans.append(
            spans_of_part._replace(
                frames=np.where(spans_of_part.frames < 0, -1, spans_of_part.frames + first),
                ends=spans_of_part.ends + first,
                law=law,
            )
        )
    padded = [
        spans_of_part
        if spans_of_part.parameters.shape[1] == width
        else spans_of_part._replace(
            parameters=np.pad(
                spans_of_part.parameters, ((0, 0), (0, width - spans_of_part.parameters.shape[1]))
            )
        )
        for spans_of_part in spans
    ]
    return one, Spans(*map(_concatenate, zip(*padded, strict=True)))._replace(expressions=as_bytes(texts))


def _concatenate(columns: Iterable[Floats]) -> Any:
    """Concatenate arrays along their first axis."""
    return np.ascontiguousarray(np.concatenate(list(columns)))
