"""What to expect of contacts before a run: how deep surfaces come into each other, and which steps see how they part again."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
import scipy  # its parts are loaded when they are asked for

from rigid.system import Floats
from rigid.user_warnings import warn_user
from rodsim.building.contact_surfaces import Joined, Placed, law_of, meeting, segments_of, surfaces_on_parts
from rodsim.parts.contact_entries import ContactEntry, Pair, Surface, called, has_core
from rodsim.parts.entries import Contents
from rodsim.parts.model_parts import Body, Rod
from rodsim.parts.model_warnings import DoubtfulModelWarning
from rodsim.parts.surface_entries import MeshEntry, PlaneEntry, SolidEntry, SphereEntry

DEEP = 0.5  # of the radius: what comes so deep is probably not meant
STEPS = 10  # in which a touch is seen well
ON_RODS = 32  # intervals of an element, the most by default
OF_WIDTH = 0.1  # an interval in parts of the width of the contact of two rods that cross
RIPPLES = 5.0  # stations on what touches, with which its energy ripples by some 1e-3
ON_MESHES = 0.5  # an interval in parts of the radius, beside meshes
FINE = 3000.0  # triangles beside one surface, above which a mesh is finer than it need be
MOST = 200  # pairs of a contact that are looked at


class Expected(NamedTuple):
    """Of one pair."""

    entry: ContactEntry
    pair: Pair
    radius: float  # m, of both together; of a solid half of its least extent
    by_weight: float  # m, depth of the one on the other at rest
    by_speed: float  # m, depth at which the velocities at t = 0 have come to rest
    lasts: float  # s, half a period of both on the stiffness at the greater depth
    width: float = (
        np.inf
    )  # m, along a rod, of what touches at the greater depth where rods cross; else no stations count

    @property
    def depth(self) -> float:
        """The greater one, m."""
        return max(self.by_weight, self.by_speed)

    @property
    def measure(self) -> str:
        """What `radius` is, in words."""
        if _rounded(self.pair):
            return "the radii that round them"
        return "half of its least extent" if isinstance(self.pair.b, SolidEntry) else "the radius"

    @property
    def whose(self) -> str:
        """In words."""
        return f"contact '{self.entry.name}': {self.pair}"


def expected(model: Contents, placed: Placed) -> Iterator[Expected]:
    """Of the pairs of all contacts, of many the first."""
    if not model.contacts:
        return
    joined = Joined(model)
    for entry in model.contacts.values():
        for pair in islice(meeting(entry, joined), MOST):
            yield expected_of(entry, pair, placed, model)


def expected_of(
    entry: ContactEntry, pair: Pair, placed: Placed, model: Contents, square: bool = False
) -> Expected:
    """With F = C depth^q of the pair, m the reduced mass, v the relative velocity at t = 0,

        C depth^q = m g,    C depth^(q + 1)/(q + 1) = m v^2/2,    T = pi sqrt(m/(q C depth^(q - 1)))

    q = n, but of rods that cross at the angle a n + 1/2: C = k sqrt(2 rho) B(1/2, n + 1)/sin(a), from their shape, as long as
    what touches, 2 sqrt(2 rho depth)/sin(a), is no longer than the shorter of both; else k times that length. square: as if
    rods crossed at right angles. A polynomial is a sum of such forces. A barrier has no depth.
    """
    law = law_of(entry, pair).tolist()
    k, radius = law[1], sum(_radius(own, placed, entry.radius, _rounded(pair)) for own in pair)
    terms = [(c, n + 1.0) for n, c in enumerate(law[1:]) if c != 0.0] if entry.coefficients else [(k, law[2])]
    masses, v = zip(*(_motion(own, placed) for own in pair), strict=True)
    speed, g = float(np.linalg.norm(v[1] - v[0])), float(np.linalg.norm(model.gravity))
    m, lightest = 1.0 / sum(1.0 / x for x in masses), min(masses)
    if entry.law == "barrier":
        line = pair.b.stress_free.length if pair.of_rods and isinstance(pair.b, Rod) else 1.0
        return Expected(entry, pair, radius, 0.0, 0.0, float(np.pi * np.sqrt(m / (6.0 * k * line))))

    def found(forces: list[tuple[float, float]], sine: float = 0.0) -> Expected:
        by_weight = _depth_of(forces, lightest * g)
        by_speed = _depth_of([(C / (q + 1.0), q + 1.0) for C, q in forces], 0.5 * m * speed**2)
        depth = max(by_weight, by_speed)
        slope = sum(q * C * depth ** (q - 1.0) for C, q in forces)
        lasts = float(np.pi * np.sqrt(m / slope)) if slope > 0.0 else np.inf
        width = float(2.0 * np.sqrt(2.0 * radius * depth) / sine) if sine > 0.0 else np.inf
        return Expected(entry, pair, radius, by_weight, by_speed, lasts, width)

    if not pair.of_rods or not isinstance(pair.b, Rod):
        return found(terms)
    if isinstance(pair.a, PlaneEntry | MeshEntry):
        return found([(pair.b.stress_free.length * c, n) for c, n in terms])
    length = min(_length(own, placed) for own in pair)
    sine = _sine(pair.a, pair.b, placed) if isinstance(pair.a, Rod) and not square else 1.0
    if sine > 0.0:
        crossing = found(
            [
                (c * np.sqrt(2.0 * radius) * scipy.special.beta(0.5, n + 1.0) / sine, n + 0.5)
                for c, n in terms
            ],
            sine,
        )
        if square or crossing.width <= length:
            return crossing
    return found([(c * length, n) for c, n in terms])


def _length(own: Surface, placed: Placed) -> float:
    """m, of a rod, or of a solid between its ends, of a capsule of its axis."""
    if isinstance(own, Rod):
        return float(own.stress_free.length)
    assert isinstance(own, SolidEntry)
    features = own.features(placed.bodies)
    rims = [x[:3] + sign * x[6] * np.ones(3) for x in features.circles for sign in (-1.0, 1.0)]
    return float(np.linalg.norm(np.ptp([*features.points, *rims], axis=0)))


def _depth_of(terms: list[tuple[float, float]], value: float) -> float:
    """Where the sum of C depth^q, which grows, has a value."""
    if len(terms) == 1 or value == 0.0:
        C, q = terms[0]
        return float((value / C) ** (1.0 / q)) if value else 0.0
    most = 1e-12
    while sum(C * most**q for C, q in terms) < value:
        most *= 2.0
    return float(
        scipy.optimize.brentq(lambda x: sum(C * x**q for C, q in terms) - value, 0.0, most, xtol=1e-15)
    )


def _sine(a: Rod, b: Rod, placed: Placed) -> float:
    """Of the angle at which both cross where they are nearest at t = 0; of a rod with itself 1."""
    if a is b:
        return 1.0
    ends = [placed.r[segments_of(own, placed, 1.0).frames] for own in (a, b)]
    middle = [own.mean(axis=1) for own in ends]
    i, k = np.unravel_index(
        np.argmin(np.linalg.norm(middle[0][:, None] - middle[1][None], axis=-1)),
        (len(middle[0]), len(middle[1])),
    )
    x, y = (own[at, 1] - own[at, 0] for own, at in zip(ends, (i, k), strict=True))
    return float(np.linalg.norm(np.cross(x, y)) / (np.linalg.norm(x) * np.linalg.norm(y)))


def _rounded(pair: Pair) -> bool:
    """Whether what rounds a core is what touches."""
    return not pair.with_plane and any(has_core(own) for own in pair)


def _radius(own: Surface, placed: Placed, given: float | None, rounded: bool) -> float:
    if isinstance(own, Rod):
        return float(segments_of(own, placed, given).radius.max())
    if isinstance(own, SolidEntry):
        features = own.features(placed.bodies)
        return features.radius if rounded else features.half
    return own.radius if isinstance(own, SphereEntry | MeshEntry) else 0.0


def _motion(own: Surface, placed: Placed) -> tuple[float, Floats]:
    """Mass (kg) and velocity (3,) of the part, at the centre of mass."""
    part = own if isinstance(own, Rod) else own.on.part
    if not isinstance(part, Body | Rod):
        return np.inf, np.zeros(3)
    frames = placed.frames_of(part)
    mass = placed.frames.mass[frames]
    total = float(mass.sum())
    return max(total, 1e-300), mass @ placed.v[frames] / max(total, 1e-300)


def depths(model: Contents, placed: Placed) -> Iterator[str]:
    """Contacts that are too soft for what they carry, the deepest pair of each; and surfaces without a contact."""
    for worst in _worst(model, placed):
        if worst.depth > DEEP * worst.radius > 0.0:
            yield (
                f"{worst.whose} come to a depth of some {worst.depth:.2g} m, {worst.depth / worst.radius:.2g} of "
                f"{worst.measure}; give a greater stiffness than {_stiffness(worst)}"
            )
    yield from fine(model, placed)
    used = {own for entry in model.contacts.values() for own in entry.held}
    for own in surfaces_on_parts(model):
        if own not in used:
            yield f"{own.word} '{own.name}' collides with nothing; name it in add_contact, or leave it out"


def fine(model: Contents, placed: Placed) -> Iterator[str]:
    """A line for each mesh with very many triangles beside what touches it."""
    for entry in model.contacts.values():
        for pair in islice(entry.pairs, MOST):
            mesh = next((own for own in pair if isinstance(own, MeshEntry)), None)
            other = pair.a if pair.b is mesh else pair.b
            if mesh is None or isinstance(other, MeshEntry | PlaneEntry):
                continue
            size = _radius(other, placed, entry.radius, False)
            near = min(np.pi * size**2 / _mean_area(mesh), float(len(mesh.corners[1])))
            if near > FINE:
                yield (
                    f"contact '{entry.name}': {pair}: some {near:.2g} triangles are as near as {called(other)} is large, "
                    f"{size:.3g} m, and looked at in each step; give a mesh of larger triangles, some {0.2 * size:.2g} m wide"
                )


def _mean_area(mesh: MeshEntry) -> float:
    """m^2, of a triangle."""
    vertices, triangles = mesh.corners
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    return float(0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).mean())


def _stiffness(own: Expected) -> str:
    """In words."""
    return own.entry.law if own.entry.coefficients else f"{law_of(own.entry, own.pair)[1]:.3g}"


def _worst(model: Contents, placed: Placed) -> list[Expected]:
    """Of each contact the pair that comes deepest."""
    found: dict[str, Expected] = {}
    for own in expected(model, placed):
        before = found.get(own.entry.name)
        if before is None or own.depth > before.depth:
            found[own.entry.name] = own
    return list(found.values())


def expectations(model: Contents, placed: Placed, dt: float) -> list[str]:
    """For `rodsim check`: what depth to expect of each contact, and what is too fast for the step."""
    told = []
    for own in _worst(model, placed):
        if own.entry.law == "barrier":
            continue
        of_radius = f", {own.depth / own.radius:.2g} of {own.measure}" if own.radius > 0.0 else ""
        told.append(
            f"{own.whose} come to a depth of some {own.by_weight:.2g} m by weight and {own.by_speed:.2g} m by the velocities at "
            f"t = 0{of_radius}"
        )
    return told + coarse(model, placed, dt) + rough(model, placed)


def coarse(model: Contents, placed: Placed, dt: float) -> list[str]:
    """A line for each contact whose shortest touch is over in few steps, with the step that would do."""
    quickest: dict[str, Expected] = {}
    for own in expected(model, placed):
        if own.lasts < quickest.get(own.entry.name, own).lasts or own.entry.name not in quickest:
            quickest[own.entry.name] = own
    return [
        f"{own.whose} touch for some {own.lasts:.2g} s, {own.lasts / dt:.2g} steps of dt = {dt:g} s; take "
        f"dt = {_round_down(own.lasts / STEPS):g} s, or a smaller stiffness"
        for own in quickest.values()
        if own.lasts < STEPS * dt * (1.0 - 1e-9)
    ]


def rough(model: Contents, placed: Placed) -> list[str]:
    """A line for each contact of rods that cross, of whose stations fewer than `RIPPLES` are on what touches, with how many would
    do.
    """
    worst: dict[str, tuple[float, str]] = {}
    for own in expected(model, placed):
        if not np.isfinite(own.width) or own.width == 0.0:
            continue
        longest = max(float(segments_of(x, placed, 1.0).length.max()) for x in own.pair if isinstance(x, Rod))
        m = stations_of(own.entry, own.pair, longest, placed, model)
        apart = longest / (m * own.width)
        if apart * RIPPLES > 1.0 + 1e-9 and apart > worst.get(own.entry.name, (0.0, ""))[0]:
            need = int(np.ceil(RIPPLES * longest / own.width))
            worst[own.entry.name] = (
                apart,
                f"{own.whose} touch over {own.width:.2g} m at the depth to expect, their stations are {longest / m:.2g} m apart: "
                f"the force ripples where a crossing slides along; take stations={need}, or shorter elements",
            )
    return [line for _, line in worst.values()]


def stations_of(entry: ContactEntry, pair: Pair, length: float, placed: Placed, model: Contents) -> int:
    """Intervals of an element of this length: those that are given, or by the depth to expect of rods that cross squarely;
    beside a mesh as long as half of the radius.
    """
    if isinstance(pair.a, MeshEntry):
        radius = sum(_radius(own, placed, entry.radius, False) for own in pair)
        return entry.stations or int(np.clip(np.ceil(length / (ON_MESHES * radius) - 1e-9), 1, ON_RODS))
    own = expected_of(entry, pair, placed, model, square=True)
    return entry.stations or stations_on_rods(length, own.radius, own.depth)


def stations_on_rods(length: float, radius: float, depth: float) -> int:
    """Intervals of an element: a tenth of the width 2 sqrt(2 rho depth) of the contact of two rods that cross; rho the sum of
    their radii.
    """
    width = 2.0 * np.sqrt(2.0 * radius * depth)
    return ON_RODS if width == 0.0 else int(np.clip(np.ceil(length / (OF_WIDTH * width)), 1, ON_RODS))


def _round_down(x: float) -> float:
    """To one digit."""
    unit = 10.0 ** np.floor(np.log10(x))
    return float(f"{np.floor(x / unit) * unit:.1g}")


def warn_of_friction_at_rest(model: Contents) -> None:
    """Before an equilibrium, which knows no friction."""
    for entry in model.contacts.values():
        if entry.friction[0] > 0.0:
            warn_user(
                f"model '{model.name}': contact '{entry.name}' has friction, which an equilibrium lets go: what it would hold "
                "follows from how it came there, not from the loads; for that run `simulate`, with damping, until it is at rest",
                DoubtfulModelWarning,
            )
            return


def warn_of_coarse_steps(model: Contents, placed: Placed, dt: float) -> None:
    """Before a run, in one warning."""
    found = [*coarse(model, placed, dt), *rough(model, placed)] if model.contacts else []
    if found:
        warn_user(f"model '{model.name}': {'; '.join(found)}", DoubtfulModelWarning)
