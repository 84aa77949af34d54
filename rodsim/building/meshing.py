"""From rods to frames and elements: nodes at all anchors, lumped masses, stress-free strains."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from discretization.known_facts import SMALL
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
from rodsim.parts.model_parts import SAME_NODE, Rod
from rodsim.parts.sections import Section

_HARDLY_BENT = 0.9  # cosine of half of .9 rad: twice that is no doubt
_CLOSES = 1e-6  # rad between the ends of a closed rod that count as rounding of what the user gave


class RodMesh(NamedTuple):
    """Nodes and elements of one rod; frame numbers count from 0 at its first node."""

    fractions: Floats  # (n,) of the stress-free length
    r: Floats  # (n, 3)
    quat: Floats  # (n, 4)
    v: Floats  # (n, 3)
    Omega: Floats  # (n, 3)
    mass: Floats  # (n,)
    inertia: Floats  # (n, 3, 3)
    radius: Floats  # (n,)
    sides: Floats  # (n, 2) width and height of rectangles
    arclength: Floats  # (n,)
    elements: Elements
    spans: Spans
    center: Floats  # (3,) m, of the frames from the rod's curve, section axes

    def node(self, s: float) -> int:
        """The node at the fraction s, which is an anchor's."""
        return int(np.argmin(np.abs(self.fractions - s)))


def node_fractions(n_elements: int, anchors: Iterable[float], closed: bool, order: int = 1) -> Floats:
    """Fractions of the length with nodes: every anchor has one, between them elements are equally long.

    The number of elements stays `n_elements` wherever there are fewer anchors than elements. Elements of an order p > 1
    span p intervals between nodes: there are as many of them as give `n_elements` intervals or a few more.
    """
    stops = tuple(sorted({0.0, 1.0, *anchors}))
    if n_elements > SMALL:
        return _fractions(n_elements, stops, closed, order)
    return _kept_fractions(n_elements, stops, closed, order).copy()


def _fractions(n_elements: int, anchors: tuple[float, ...], closed: bool, order: int) -> Floats:
    stops = np.array(anchors, float)
    stops = stops[np.concatenate([[True], np.diff(stops) > SAME_NODE])]
    stops[-1] = 1.0
    pieces = np.diff(stops)
    wanted = -(-n_elements // order)
    if closed and order > 1:
        wanted = max(wanted, 2)  # one alone would join a frame with itself
    counts = np.maximum(1, np.floor(pieces * wanted + 1e-9).astype(int))
    while counts.sum() < wanted:  # give what is left to the longest elements
        counts[np.argmax(pieces / counts)] += 1
    while counts.sum() > wanted and counts.max() > 1:
        counts[np.argmin(np.where(counts > 1, pieces / counts, np.inf))] -= 1
    parts = [a + (b - a) * np.arange(c) / c for a, b, c in zip(stops[:-1], stops[1:], counts, strict=True)]
    fractions = np.concatenate(parts)
    if order > 1:
        ends = np.append(fractions[1:], 1.0)
        inside = nodes(order)[:-1]
        fractions = (fractions[:, None] * (1.0 - inside) + ends[:, None] * inside).ravel()
    return fractions if closed else np.append(fractions, 1.0)


_kept_fractions = functools.lru_cache(256)(_fractions)


def mesh_rod(rod: Rod, anchors: Iterable[float]) -> RodMesh:
    """Discretise `rod` with nodes at the fractions `anchors`."""
    owner = str(rod)
    number = number_of(owner, rod.element)
    order = 1 if number < 0 else BY_NUMBER[number].order
    fractions = node_fractions(rod.n_elements, anchors, rod.closed, order)
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
    center = _center(rod, (stops[1:] + stops[:-1]) / 2)
    arm = _arms(quat, center)
    r, r_free = r + arm, r_free + (arm if quat_free is quat else _arms(quat_free, center))
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
    for side in _sides(ends):
        radius[side] = np.maximum(radius[side], discrete.radius)
        rectangle[side] = np.maximum(rectangle[side], discrete.sides)
    v, Omega = _moving(rod, fractions, r, quat, arm[:n], discrete.mass)
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
        center,
    )


def _sides(ends: Ints) -> tuple[Any, Any]:
    """Nodes at both ends of intervals in a row, each once; of a closed rod the last ends at the first."""
    first, last = slice(len(ends)), slice(1, None)
    return (first, last) if ends[-1, 1] else (first, ends[:, 1])


def _arms(quat: Floats, center: Floats) -> Floats:
    """(n, 3) from the rod's curve to its frames, inertial."""
    if not center.any():
        return np.zeros((len(quat), 3))
    return quaternions.rotate(quat, np.tile(center, (len(quat), 1)))


def _moving(
    rod: Rod, fractions: Floats, r: Floats, quat: Floats, arm: Floats, mass: Floats
) -> tuple[Floats, Floats]:
    """Velocities and angular velocities (n, 3) of the frames.

    If only the angular velocity is given the centre line goes with the sections, v' = omega x r', and the centre of mass rests.
    """
    if rod.velocity is None and rod.angular_velocity is None:
        return np.zeros(arm.shape), np.zeros(arm.shape)
    omega = _along(rod, "angular_velocity", rod.angular_velocity, fractions)
    if rod.velocity is not None:
        v = _along(rod, "velocity", rod.velocity, fractions) + cross(omega, arm)
    else:
        steps = cross(0.5 * (omega[1:] + omega[:-1]), r[1:] - r[:-1])
        v = np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)])
        v -= np.average(v, axis=0, weights=mass if mass.any() else None)
    return v, quaternions.rotate(quaternions.conjugate(quat), omega)


class _Discrete(NamedTuple):
    """The elements of a rod, masses of its n nodes, and what is drawn of its intervals."""

    mass: Floats  # (n,)
    inertia: Floats  # (n, 3, 3)
    radius: Floats  # (intervals,)
    sides: Floats  # (intervals, 2)
    elements: Elements
    spans: Spans


def _elements(rod: Rod, ends: Ints, stops: Floats, r: Floats, quat: Floats) -> _Discrete:
    """Two-frame elements between the nodes `ends` (k, 2); r, quat: of the stress-free shape at `stops`."""
    middles = (stops[1:] + stops[:-1]) / 2
    along = _Sections(rod, middles)
    if along.beyond_linear:
        return _spans(rod, SE3_SPAN, ends, stops, r, quat)
    length = (stops[1:] - stops[:-1]) * rod.stress_free.length
    strain0 = strains_along(r, quat, length) + _rest(rod, middles)
    n = ends.max() + 1
    mass, inertia = np.zeros(n), np.zeros((n, 3, 3))
    for side in _sides(ends):
        mass[side] += along.per_length * length / 2
        inertia[side] += along.rotary * length[:, None, None] / 2
    coupling = rod.consistency * along.per_length * length / 6
    elements = Elements(ends, length, along.stiffness, along.damping, strain0, coupling)
    return _Discrete(mass, inertia, along.radius, along.sides, elements, no_spans())


def _spans(rod: Rod, number: int, ends: Ints, stops: Floats, r: Floats, quat: Floats) -> _Discrete:
    """Spans of p intervals each; arguments as above."""
    order = BY_NUMBER[number].order
    first = np.arange(0, len(ends), order)
    length = (stops[first + order] - stops[first]) * rod.stress_free.length
    x, w = points(order)
    places = (stops[first][:, None] * (1.0 - x) + stops[first + order][:, None] * x).ravel()
    weight = (length[:, None] * w).ravel()
    along = _Sections(rod, places)
    of_span = first[:, None] + np.arange(order + 1)
    # the same spans between the frames of the stress-free shape, whose ends may be apart
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
        along.branch,
        along.relaxation,
    )
    strain0 = values(strains_of(free), r, quat).reshape(-1, 6) + _rest(rod, places)
    n = ends.max() + 1
    frames[:, : order + 1] = of_span % n
    # sums of the rows of the consistent mass: of a homogeneous rod the weights of the nodes
    share = VALUES[order, :order, : order + 1]
    mass, inertia = np.zeros(n), np.zeros((n, 3, 3))
    for out, density in ((mass, along.per_length), (inertia, along.rotary)):
        of_points = (weight * density.T).T.reshape(len(first), order, -1)
        of_nodes = np.einsum("mgk,ga->mak", of_points, share).reshape(-1, *density.shape[1:])
        np.add.at(out, (of_span % n).ravel(), of_nodes)
    massless = not np.any(along.per_length)
    if not massless and (mass.min() <= 0.0 or np.linalg.eigvalsh(inertia).min() < 0.0):
        raise ModelError(
            f"{rod}: its section changes so much along one element that a node has no mass; give more elements, "
            "or element='se3'"
        )
    shape = leading(order)
    lumped = np.einsum("mg,ga->ma", (weight * along.per_length).reshape(-1, order), share)
    full = lumped[:, :, None] * np.eye(order + 1) - (coupling[:, None, None] * np.outer(shape, shape))
    if not massless and np.linalg.eigvalsh(full).min() <= 0.0:
        raise ModelError(
            f"{rod}: its section changes so much along one element that its mass is not positive; give mass='lumped'"
        )
    spans = free._replace(frames=frames, strain0=strain0)
    return _Discrete(mass, inertia, along.radius, along.sides, _NO_ELEMENTS, spans)


class _Sections:
    """Numbers of the sections at fractions (k,) of the length; (k, ...)."""

    def __init__(self, rod: Rod, places: Floats):
        self._sections, self._places = _sections(rod, places), places
        self.per_length, self.rotary = self._column("mass_per_length"), self._column("rotary_inertia")
        self.stiffness, self.damping = self._column("stiffness"), self._column("damping")
        self.radius, self.sides = self._column("radius"), self._column("sides")
        self.beyond_linear = any(x.law >= 0 or x.law_expression or x.relaxation > 0.0 for x in self._sections)

    def _column(self, name: str) -> Floats:
        if len(self._sections) > 1:
            return np.array([getattr(section, name) for section in self._sections])
        value = np.asarray(getattr(self._sections[0], name))
        same: Floats = np.empty((len(self._places), *value.shape), value.dtype)
        same[:] = value
        return same

    @functools.cached_property
    def expressions(self) -> tuple[str, ...]:
        """Texts of energies."""
        return tuple(sorted({x.law_expression for x in self._sections if x.law_expression}))

    @property
    def law(self) -> Ints:
        """Numbers of laws."""
        numbers = {text: EXPRESSIONS + k for k, text in enumerate(self.expressions)}
        given = [numbers.get(x.law_expression, x.law) for x in self._sections]
        return np.repeat(np.array(given, np.int64), self._each)

    @property
    def parameters(self) -> Floats:
        """Of laws, as many as the one with the most has."""
        width = max(len(x.law_parameters) for x in self._sections)
        given = [(*x.law_parameters, *(width - len(x.law_parameters)) * (0.0,)) for x in self._sections]
        return np.repeat(np.array(given), self._each, axis=0)

    @property
    def branch(self) -> Floats:
        """Stiffness of relaxing branches."""
        return self._column("branch")

    @property
    def relaxation(self) -> Floats:
        """Times in which they relax, s."""
        return self._column("relaxation").astype(float)

    @property
    def _each(self) -> int:
        """Places of one section."""
        return len(self._places) if len(self._sections) == 1 else 1


def _rest(rod: Rod, places: Floats) -> Floats:
    """(k, 6) strains of the curve that the rod has without stress besides those of its shape, on the line of its frames."""
    given = rod.rest_strains
    if given is None:
        return np.zeros((len(places), 6))
    each = np.array(
        [
            vector(str(rod), f"rest_strains at s = {s:g}", given(float(s)), 6) if callable(given) else given
            for s in places
        ]
    )
    center = _center(rod, places)
    each[:, :3] += cross(each[:, 3:], center)
    return each


def _center(rod: Rod, places: Floats) -> Floats:
    """(0, x2, x3) of the centre of mass, which is the same all along."""
    if isinstance(rod.section, Section):
        return np.array([0.0, *rod.section.center])
    centers = np.array([section.center for section in _sections(rod, places)])
    if np.ptp(centers, axis=0).max() > 0.0:
        raise ModelError(
            f"{rod}: the centre of mass of its section is not in the same place all along; move the curve instead"
        )
    return np.append(0.0, centers[0])


def _sections(rod: Rod, middles: Floats) -> list[Section]:
    if isinstance(rod.section, Section):
        return [rod.section]
    sections = [rod.section(float(s)) for s in middles]
    for s, section in zip(middles, sections, strict=True):
        if not isinstance(section, Section):
            raise ModelError(
                f"{rod}: section(s = {s:g}) returned {shown(section)}, not a Section; return one"
            )
    return sections


def _along(
    rod: Rod, what: str, value: Floats | Callable[[float], ArrayLike] | None, fractions: Floats
) -> Floats:
    """Vectors (n, 3) at fractions of the length, of one for all or of a callable; zero where nothing is given."""
    if value is None:
        return np.zeros((len(fractions), 3))
    if callable(value):
        return np.array([vector(str(rod), f"{what} at s = {s:g}", value(float(s))) for s in fractions])
    return np.broadcast_to(value, (len(fractions), 3)).copy()


def _check_closing(owner: str, quat: Floats) -> None:
    """The first and the last of the frames of a closed rod are one section."""
    across = quaternions.multiply(quaternions.conjugate(quat[0]), quat[-1])
    angle = 2 * np.arctan2(np.linalg.norm(across[1:]), abs(across[0]))
    if angle > _CLOSES:
        raise ModelError(
            f"{owner}: closed, but the section at s = 1 is turned by {angle:.6g} rad against that at s = 0, which is the "
            "same; let twist make whole turns, and give stress_free_twist the rest with the opposite sign"
        )


def _check_bend(owner: str, qa: Floats, qb: Floats, order: int) -> None:
    cosine = np.abs(np.add.reduce(qa * qb, axis=1))  # of half the turns
    if cosine.min() > _HARDLY_BENT and order <= 4:
        return
    turn = 2 * np.arccos(np.minimum(1.0, cosine))
    # of an element of several intervals that from its middle, at most the sum of the turns of its half
    if order % 2 == 0:
        turn = turn.reshape(-1, 2, order // 2).sum(axis=2).max(axis=1)
    if turn.max() > 2.5:
        where, count = int(np.argmax(turn)), len(turn)
        raise ModelError(
            f"{owner}: element {where} of {count} turns by {turn.max():.2f} rad at t = 0; give more elements (below 2.5 rad each)"
        )


_NO_ELEMENTS = Elements(
    np.zeros((0, 2), np.int64),
    np.zeros(0),
    np.zeros((0, 6, 6)),
    np.zeros((0, 6, 6)),
    np.zeros((0, 6)),
    np.zeros(0),
)


def joined(parts: list[RodMesh], first_frames: Ints) -> tuple[Elements, Spans]:
    """Elements and spans of several rods, frame numbers moved behind `first_frames`."""
    elements = [_NO_ELEMENTS]
    for part, first in zip(parts, first_frames, strict=True):
        elements.append(part.elements._replace(frames=part.elements.frames + first))
    one = Elements(*map(_together, zip(*elements, strict=True))) if parts else _NO_ELEMENTS
    if not any(len(part.spans.kind) for part in parts):
        return one, no_spans()
    spans = [no_spans()]
    texts = tuple(sorted({text for part in parts for text in part.spans.texts}))
    width = max((part.spans.parameters.shape[1] for part in parts), default=0)
    for part, first in zip(parts, first_frames, strict=True):
        own = part.spans
        numbers = np.array([texts.index(text) for text in own.texts], np.int64)
        law = own.law.copy()
        law[own.law >= EXPRESSIONS] = EXPRESSIONS + numbers[own.law[own.law >= EXPRESSIONS] - EXPRESSIONS]
        spans.append(
            own._replace(
                frames=np.where(own.frames < 0, -1, own.frames + first), ends=own.ends + first, law=law
            )
        )
    padded = [
        own
        if own.parameters.shape[1] == width
        else own._replace(parameters=np.pad(own.parameters, ((0, 0), (0, width - own.parameters.shape[1]))))
        for own in spans
    ]
    return one, Spans(*map(_together, zip(*padded, strict=True)))._replace(expressions=as_bytes(texts))


def _together(columns: Iterable[Floats]) -> Any:
    return np.ascontiguousarray(np.concatenate(list(columns)))
