"""Estimate contacts before a run: penetration depth, duration of a touch compared with the step, density of contact points."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
import scipy  # submodules are loaded on first access

from rigid.system import Floats
from rodsim.building.contact_surfaces import (
    JoinedParts,
    contact_law,
    segments_of,
    surfaces_on_parts,
    touching_pairs,
)
from rodsim.building.placement import Placement
from rodsim.components.contacts import Contact, Pair, Surface, describe_surface, has_core
from rodsim.components.model_data import ModelData
from rodsim.components.model_parts import Body, Rod
from rodsim.components.model_warnings import warn_about_model
from rodsim.components.surfaces import MeshSurface, PlaneSurface, SolidSurface, SphereSurface

DEEP_CONTACT = 0.5  # depth as a fraction of the radius: deeper contacts are probably a mistake
RESOLVING_STEPS = 10  # steps that resolve a touch well
ON_RODS = 32  # largest number of intervals of an element by default
INTERVAL_FRACTION = 0.1  # length of an interval as a fraction of the contact width of two rods that cross
RIPPLES = 5.0  # contact points on the contact width; with these its energy ripples by about 1e-3
ON_MESHES = 0.5  # length of an interval as a fraction of the radius, for contact with meshes
MANY_TRIANGLES = 3000.0  # triangles near one surface; above this a mesh is finer than needed
MAX_PAIRS = 200  # largest number of pairs of a contact that are checked


class ContactEstimate(NamedTuple):
    """Hold the estimates of one pair of surfaces."""

    entry: Contact
    pair: Pair
    radius: float  # m, sum of both radii; for a solid half of its smallest extent
    depth_by_weight: float  # m, depth under the weight, at rest
    depth_by_speed: float  # m, depth at which the relative velocity at t = 0 has come to rest
    duration: float  # s, half a period of both parts on the stiffness at the greater depth
    # m, contact width along a rod at the greater depth if rods cross; inf: contact points do not matter
    width: float = np.inf

    @property
    def depth(self) -> float:
        """Return the greater of both depths, m."""
        return max(self.depth_by_weight, self.depth_by_speed)

    @property
    def measure(self) -> str:
        """Describe in words what `radius` is."""
        if _has_rounded_core(self.pair):
            return "the radii that round them"
        return "half of its least extent" if isinstance(self.pair.b, SolidSurface) else "the radius"

    @property
    def label(self) -> str:
        """Return the name of the contact and its pair, for messages."""
        return f"contact '{self.entry.name}': {self.pair}"


def estimate_contacts(model: ModelData, placed: Placement) -> Iterator[ContactEstimate]:
    """Yield the estimates of all pairs of all contacts, of each contact at most the first `MAX_PAIRS`."""
    if not model.contacts:
        return
    joined = JoinedParts(model)
    for entry in model.contacts.values():
        for pair in islice(touching_pairs(entry, joined), MAX_PAIRS):
            yield estimate_contact(entry, pair, placed, model)


def estimate_contact(
    entry: Contact, pair: Pair, placed: Placement, model: ModelData, square: bool = False
) -> ContactEstimate:
    """Estimate depth and duration of the contact of one pair.

    The force of the pair is F = C depth^q, m the reduced mass, v the relative velocity at t = 0:

        C depth^q = m g,    C depth^(q + 1)/(q + 1) = m v^2/2,    T = pi sqrt(m/(q C depth^(q - 1)))

    In general q = n. For rods that cross at the angle a, q = n + 1/2 and C = k sqrt(2 rho) B(1/2, n + 1)/sin(a), from their
    shape. This holds if the contact width 2 sqrt(2 rho depth)/sin(a) is at most the length of the shorter rod; otherwise C is
    k times that length. `square`: True to assume that rods cross at right angles. A polynomial law is a sum of such forces.
    A barrier law has no depth. By weight, m is the lighter of both masses.
    """
    law = contact_law(entry, pair).tolist()
    k, radius = (
        law[1],
        sum(_radius(surface, placed, entry.radius, _has_rounded_core(pair)) for surface in pair),
    )
    terms = [(c, n + 1.0) for n, c in enumerate(law[1:]) if c != 0.0] if entry.coefficients else [(k, law[2])]
    masses, v = zip(*(_mass_and_velocity(surface, placed) for surface in pair), strict=True)
    speed, g = float(np.linalg.norm(v[1] - v[0])), float(np.linalg.norm(model.gravity))
    m, lightest = 1.0 / sum(1.0 / x for x in masses), min(masses)
    if entry.law == "barrier":
        line = pair.b.stress_free.length if pair.is_per_length and isinstance(pair.b, Rod) else 1.0
        return ContactEstimate(entry, pair, radius, 0.0, 0.0, float(np.pi * np.sqrt(m / (6.0 * k * line))))

    def estimate(forces: list[tuple[float, float]], sine: float = 0.0) -> ContactEstimate:
        depth_by_weight = _depth_of(forces, lightest * g)
        depth_by_speed = _depth_of([(C / (q + 1.0), q + 1.0) for C, q in forces], 0.5 * m * speed**2)
        depth = max(depth_by_weight, depth_by_speed)
        slope = sum(q * C * depth ** (q - 1.0) for C, q in forces)
        duration = float(np.pi * np.sqrt(m / slope)) if slope > 0.0 else np.inf
        width = float(2.0 * np.sqrt(2.0 * radius * depth) / sine) if sine > 0.0 else np.inf
        return ContactEstimate(entry, pair, radius, depth_by_weight, depth_by_speed, duration, width)

    if not pair.is_per_length or not isinstance(pair.b, Rod):
        return estimate(terms)
    if isinstance(pair.a, PlaneSurface | MeshSurface):
        return estimate([(pair.b.stress_free.length * c, n) for c, n in terms])
    length = min(_length(surface, placed) for surface in pair)
    sine = _sine(pair.a, pair.b, placed) if isinstance(pair.a, Rod) and not square else 1.0
    if sine > 0.0:
        crossing = estimate(
            [
                (c * np.sqrt(2.0 * radius) * scipy.special.beta(0.5, n + 1.0) / sine, n + 0.5)
                for c, n in terms
            ],
            sine,
        )
        if square or crossing.width <= length:
            return crossing
    return estimate([(c * length, n) for c, n in terms])


def _length(surface: Surface, placed: Placement) -> float:
    """Return the length of a rod, or the extent of a solid between its ends (of a capsule that of its axis), m."""
    if isinstance(surface, Rod):
        return float(surface.stress_free.length)
    assert isinstance(surface, SolidSurface)
    features = surface.features(placed.bodies)
    rims = [x[:3] + sign * x[6] * np.ones(3) for x in features.circles for sign in (-1.0, 1.0)]
    return float(np.linalg.norm(np.ptp([*features.points, *rims], axis=0)))


def _depth_of(terms: list[tuple[float, float]], value: float) -> float:
    """Solve for the depth at which the sum of the terms C depth^q, an increasing function, equals `value`."""
    if len(terms) == 1 or value == 0.0:
        C, q = terms[0]
        return float((value / C) ** (1.0 / q)) if value else 0.0
    most = 1e-12
    while sum(C * most**q for C, q in terms) < value:
        most *= 2.0
    return float(
        scipy.optimize.brentq(lambda x: sum(C * x**q for C, q in terms) - value, 0.0, most, xtol=1e-15)
    )


def _sine(a: Rod, b: Rod, placed: Placement) -> float:
    """Return the sine of the angle between two rods at their closest chords at t = 0; 1 for a rod with itself."""
    if a is b:
        return 1.0
    ends = [placed.r[segments_of(rod_ends, placed, 1.0).frames] for rod_ends in (a, b)]
    middle = [rod_ends.mean(axis=1) for rod_ends in ends]
    i, k = np.unravel_index(
        np.argmin(np.linalg.norm(middle[0][:, None] - middle[1][None], axis=-1)),
        (len(middle[0]), len(middle[1])),
    )
    x, y = (rod_ends[at, 1] - rod_ends[at, 0] for rod_ends, at in zip(ends, (i, k), strict=True))
    return float(np.linalg.norm(np.cross(x, y)) / (np.linalg.norm(x) * np.linalg.norm(y)))


def _has_rounded_core(pair: Pair) -> bool:
    """Return True if a rounded core touches the other surface."""
    return not pair.has_plane and any(has_core(surface) for surface in pair)


def _radius(surface: Surface, placed: Placement, rod_radius: float | None, rounded: bool) -> float:
    """Return the radius of a surface, m; `rod_radius`: radius for rods; `rounded`: True for the rounding radius of a solid."""
    if isinstance(surface, Rod):
        return float(segments_of(surface, placed, rod_radius).radius.max())
    if isinstance(surface, SolidSurface):
        features = surface.features(placed.bodies)
        return features.radius if rounded else features.half
    return surface.radius if isinstance(surface, SphereSurface | MeshSurface) else 0.0


def _mass_and_velocity(surface: Surface, placed: Placement) -> tuple[float, Floats]:
    """Return the mass (kg) of the part and the velocity (3,) of its centre of mass, m/s; an infinite mass for the ground."""
    part = surface if isinstance(surface, Rod) else surface.on.part
    if not isinstance(part, Body | Rod):
        return np.inf, np.zeros(3)
    frames = placed.frames_of(part)
    mass = placed.frames.mass[frames]
    total = float(mass.sum())
    return max(total, 1e-300), mass @ placed.v[frames] / max(total, 1e-300)


def check_depths(model: ModelData, placed: Placement) -> Iterator[str]:
    """Yield messages about contacts that are too soft for their loads (the deepest pair), and surfaces without a contact."""
    for worst in _deepest_estimates(estimate_contacts(model, placed)):
        if worst.depth > DEEP_CONTACT * worst.radius > 0.0:
            yield (
                f"{worst.label} come to a depth of some {worst.depth:.2g} m, {worst.depth / worst.radius:.2g} of "
                f"{worst.measure}; give a greater stiffness than {_stiffness(worst)}"
            )
    yield from check_meshes(model, placed)
    used = {surface for entry in model.contacts.values() for surface in entry.references}
    for surface in surfaces_on_parts(model):
        if surface not in used:
            yield f"{surface.word} '{surface.name}' collides with nothing; name it in add_contact, or remove it"


def check_meshes(model: ModelData, placed: Placement) -> Iterator[str]:
    """Yield a message for each mesh that has very many triangles near the surface that touches it."""
    for entry in model.contacts.values():
        for pair in islice(entry.pairs, MAX_PAIRS):
            mesh = next((surface for surface in pair if isinstance(surface, MeshSurface)), None)
            other = pair.a if pair.b is mesh else pair.b
            if mesh is None or isinstance(other, MeshSurface | PlaneSurface):
                continue
            size = _radius(other, placed, entry.radius, False)
            near = min(np.pi * size**2 / _mean_area(mesh), float(len(mesh.corners[1])))
            if near > MANY_TRIANGLES:
                yield (
                    f"contact '{entry.name}': {pair}: some {near:.2g} triangles lie within the size of "
                    f"{describe_surface(other)}, "
                    f"{size:.3g} m, and are checked in each step; use a mesh of larger triangles, some {0.2 * size:.2g} m wide"
                )


def _mean_area(mesh: MeshSurface) -> float:
    """Return the mean area of a triangle, m^2."""
    vertices, triangles = mesh.corners
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    return float(0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).mean())


def _stiffness(estimate: ContactEstimate) -> str:
    """Return the stiffness, or the text of a law, for messages."""
    return (
        estimate.entry.law
        if estimate.entry.coefficients
        else f"{contact_law(estimate.entry, estimate.pair)[1]:.3g}"
    )


def _extreme_estimates(
    estimates: Iterable[ContactEstimate], measure: Callable[[ContactEstimate], float]
) -> list[ContactEstimate]:
    """Return the pair with the greatest measure of each contact."""
    extremes: dict[str, ContactEstimate] = {}
    for estimate in estimates:
        before = extremes.get(estimate.entry.name)
        if before is None or measure(estimate) > measure(before):
            extremes[estimate.entry.name] = estimate
    return list(extremes.values())


def _deepest_estimates(estimates: Iterable[ContactEstimate]) -> list[ContactEstimate]:
    """Return the deepest pair of each contact."""
    return _extreme_estimates(estimates, lambda estimate: estimate.depth)


def contact_advice(model: ModelData, placed: Placement, dt: float) -> list[str]:
    """Return advice on a scene: the expected depth of each contact, and contacts too fast for the step."""
    messages, estimates = [], list(estimate_contacts(model, placed))
    for estimate in _deepest_estimates(estimates):
        if estimate.entry.law == "barrier":
            continue
        of_radius = (
            f", {estimate.depth / estimate.radius:.2g} of {estimate.measure}" if estimate.radius > 0.0 else ""
        )
        messages.append(
            f"{estimate.label} come to a depth of some {estimate.depth_by_weight:.2g} m by weight and "
            f"{estimate.depth_by_speed:.2g} m by the velocities at t = 0{of_radius}"
        )
    return messages + check_steps(estimates, dt) + check_stations(estimates, model, placed)


def check_steps(estimates: Iterable[ContactEstimate], dt: float) -> list[str]:
    """Return a message for each contact whose shortest touch lasts only a few steps, with a step that is small enough."""
    return [
        f"{estimate.label} touch for some {estimate.duration:.2g} s, {estimate.duration / dt:.2g} steps of dt = {dt:g} s; take "
        f"dt = {_round_down(estimate.duration / RESOLVING_STEPS):g} s, or a smaller stiffness"
        for estimate in _extreme_estimates(estimates, lambda estimate: -estimate.duration)
        if estimate.duration < RESOLVING_STEPS * dt * (1.0 - 1e-9)
    ]


def check_stations(estimates: Iterable[ContactEstimate], model: ModelData, placed: Placement) -> list[str]:
    """Return a message for each contact of crossing rods with too few contact points, and how many are enough.

    Too few are fewer than `RIPPLES` on the contact width.
    """
    worst: dict[str, tuple[float, str]] = {}
    for estimate in estimates:
        if not np.isfinite(estimate.width) or estimate.width == 0.0:
            continue
        longest = max(
            float(segments_of(x, placed, 1.0).length.max()) for x in estimate.pair if isinstance(x, Rod)
        )
        m = count_stations(estimate.entry, estimate.pair, longest, placed, model)
        apart = longest / (m * estimate.width)
        if apart * RIPPLES > 1.0 + 1e-9 and apart > worst.get(estimate.entry.name, (0.0, ""))[0]:
            need = int(np.ceil(RIPPLES * longest / estimate.width))
            worst[estimate.entry.name] = (
                apart,
                f"{estimate.label} touch over {estimate.width:.2g} m at the depth to expect, "
                f"their stations are {longest / m:.2g} m apart: "
                f"the force ripples where a crossing slides along; take stations={need}, or shorter elements",
            )
    return [line for _, line in worst.values()]


def count_stations(entry: Contact, pair: Pair, length: float, placed: Placement, model: ModelData) -> int:
    """Return the number of intervals of an element of this length (m).

    It is the number that the user gave. By default it follows from the expected depth of rods that cross at right angles; for
    contact with a mesh an interval is at most half of the radius long.
    """
    if isinstance(pair.a, MeshSurface):
        radius = sum(_radius(estimate, placed, entry.radius, False) for estimate in pair)
        return entry.stations or int(np.clip(np.ceil(length / (ON_MESHES * radius) - 1e-9), 1, ON_RODS))
    estimate = estimate_contact(entry, pair, placed, model, square=True)
    return entry.stations or default_stations(length, estimate.radius, estimate.depth)


def default_stations(length: float, radius: float, depth: float) -> int:
    """Return the number of intervals of an element for rods that cross.

    An interval is a tenth of the contact width 2 sqrt(2 rho depth) of two crossing rods, rho being the sum of their radii.
    """
    width = 2.0 * np.sqrt(2.0 * radius * depth)
    return (
        ON_RODS if width == 0.0 else int(np.clip(np.ceil(length / (INTERVAL_FRACTION * width)), 1, ON_RODS))
    )


def _round_down(x: float) -> float:
    """Round down to one significant digit."""
    unit = 10.0 ** np.floor(np.log10(x))
    return float(f"{np.floor(x / unit) * unit:.1g}")


def warn_of_friction_at_rest(model: ModelData, planes: bool) -> None:
    """Warn about a contact whose friction an equilibrium omits, before it is computed.

    planes: True if friction on planes is omitted, too.
    """
    for entry in model.contacts.values():
        on_planes = any(
            surfaces and all(isinstance(surface, PlaneSurface) for surface in surfaces)
            for surfaces in (entry.a, entry.b)
        )
        if entry.friction[0] > 0.0 and (planes or not on_planes):
            why = (
                "method='newton' includes it" if on_planes else "an equilibrium has friction on planes alone"
            )
            doubt = (
                f"contact '{entry.name}' has friction, which this equilibrium omits: {why}. To include it, run `simulate` "
                "with damping until the model is at rest"
            )
            return warn_about_model(model.name, [doubt])


def warn_of_coarse_steps(model: ModelData, placed: Placement, dt: float) -> None:
    """Warn before a run, in one warning, about contacts that the step or the contact points do not resolve."""
    estimates = list(estimate_contacts(model, placed))
    warn_about_model(model.name, check_steps(estimates, dt) + check_stations(estimates, model, placed))
