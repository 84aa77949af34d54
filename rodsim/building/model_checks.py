"""Warn about valid models that are probably mistakes: joints across a gap, inconsistent units."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from discretization.state_measures import element_strains
from discretization.system import System
from rigid import quaternions
from rigid.joints import holds_all
from rigid.system import Floats, State
from rigid.vectors import lengths
from rodsim.building.contact_checks import check_depths
from rodsim.building.meshing import RodMesh
from rodsim.building.placement import Placement
from rodsim.components.model_data import ModelData
from rodsim.components.model_parts import Anchor, Body, Rod, section_at
from rodsim.components.model_warnings import warn_about_model
from rodsim.results.layout import Layout, RodLayout

GAP = 0.1  # largest distance of a body from the point of such a joint, as a fraction of the body's size
THICK, SLENDER = 0.5, 1e5  # largest radius over length, and length over radius, of a rod
SOFTEST, STIFFEST = 1e3, 1e13  # Pa: a soft gel has 1e3, diamond 1.1e12
LIGHTEST = 25.0  # kg/m^3, least density except for foams; the densest solid has 22.6 g/cm^3
AWAY = 100.0  # largest distance of a point of a section from the rod's axis, in radii
FASTEST = 1e6  # rad/s: ten times the fastest turbines
LARGE = 0.2  # strain above which a linear law is doubtful
STRETCHED = 1e-3  # RMS stretch along a rod; less is the accuracy to which users draw curves
SAMPLES = 200  # number of intervals along a rod in which its drawn curve is sampled
_STRAIGHT = 1e-6  # rad, and fraction of a length: round-off of drawn curves
_MAX_LINES = 3  # largest number of lines of one kind in a message


def warn_of_probable_mistakes(
    model: ModelData, placed: Placement, layout: Layout, system: System, state: State
) -> None:
    """Warn of all probable mistakes in one warning, which points at the call of `Model.build`."""
    messages = [
        *_first_messages(gaps(model, placed)),
        *_first_messages(units(model.rods, placed.meshes)),
        *_first_messages(densities(model)),
        *_first_messages(offsets(model, placed.meshes)),
        *_first_messages(spins(model, placed, state)),
        *_first_messages(check_depths(model, placed)),
    ]
    bent = [rod for rod in layout.rods if _may_be_strained(model.rods[rod.name])]
    if bent:
        strain = element_strains(system, state)
        cure = "is the stress-free shape as long as the rod, in the same unit?"
        messages += _first_messages(strains(bent, strain, "at t = 0", cure))
    warn_about_model(model.name, messages)


def linear_rods(layout: Layout, system: System) -> list[RodLayout]:
    """Return the rods with a linear law."""
    linear = system.rods.linear
    return [rod for rod in layout.rods if linear[rod.elements].all()]


def warn_of_strains(layout: Layout, system: System, state: State) -> None:
    """Warn of rods with a linear law whose strains at rest are beyond its range; the warning points at `equilibrium`."""
    rods = linear_rods(layout, system)
    if not rods:
        return
    strain = element_strains(system, state)
    cure = "are E, sizes and loads in one system of units? If they are, give the section a law (`with_law`)"
    warn_about_model(layout.name, _first_messages(strains(rods, strain, "at rest", cure)))


def warn_of_stretched_starts(model: ModelData, layout: Layout, mass: Floats, v: Floats) -> None:
    """Warn of rods whose drawn curve probably stretches them at t = 0 by mistake; the warning points at `simulate`.

    mass (n,), kg, and v (n, 3), m/s, are those of the frames.
    """
    warn_about_model(model.name, _first_messages(stretched_starts(model, layout, mass, v)))


def _first_messages(lines: Iterator[str]) -> list[str]:
    """Return the first lines of one kind, with the number of the others."""
    messages = list(lines)
    remainder = len(messages) - _MAX_LINES
    return messages if remainder <= 0 else [*messages[:_MAX_LINES], f"the same of {remainder} more"]


# --- joints


def gaps(model: ModelData, placed: Placement) -> Iterator[str]:
    """Yield a message for each joint without degrees of freedom that holds a body at a point outside of it.

    A point that was given in the body's own axes is taken as intended. The distance of a point is measured from the bounding box
    of the body's surface, in its axes.
    """
    for entry in model.joints.values():
        bodies = [x for x in (entry.a, entry.b) if isinstance(x, Body) and len(x.properties.vertices)]
        if not bodies or not holds_all(entry.kind):
            continue
        anchor = next((x for x in (entry.a, entry.b) if isinstance(x, Anchor)), None)
        point = placed.place(anchor).world if entry.at is None and anchor is not None else entry.at
        if point is None:
            continue
        for body in bodies:
            low, high = body.properties.vertices.min(axis=0), body.properties.vertices.max(axis=0)
            inside = quaternions.rotate(quaternions.conjugate(body.orientation), point - body.position)
            gap = float(np.linalg.norm(inside - np.clip(inside, low, high)))
            size = float((high - low).max())
            if gap > GAP * size:
                where = f"the point of {anchor}" if anchor is not None else "its point"
                cure = "joint.at" if anchor is None else "anchor.position"
                yield (
                    f"{entry.kind} joint '{entry.name}' holds {body} across a gap of {gap:.3g} m from {where}, where the "
                    f"body's size is {size:.3g} m; place it there (in a scene `position: {{at: ...}}`, in Python "
                    f"`position={cure}`), or hold it by a point of its own, `{body.name}.at(...)`"
                )


# --- rods


def units(rods: Mapping[str, Rod], meshes: Mapping[str, RodMesh]) -> Iterator[str]:
    """Yield a message for each rod whose radius, length or stiffness is probably in another system of units."""
    for name, rod in rods.items():
        length, radius = rod.stress_free.length, meshes[name].radius
        known = radius[radius > 0.0]
        if len(known):
            if known.max() > THICK * length:
                yield (
                    f"{rod}: its radius, {known.max():.3g} m, is more than half of its length, {length:.3g} m; "
                    "give both in m, or use a rigid body"
                )
            elif length > SLENDER * known.min():
                yield (
                    f"{rod}: its length, {length:.3g} m, is {length / known.min():.2g} times its radius, "
                    f"{known.min():.3g} m; give both in m"
                )
        E = section_at(rod, 0.5).modulus
        if E > 0.0 and not SOFTEST <= E <= STIFFEST:
            unit = "GPa or MPa" if E < SOFTEST else "a smaller unit"
            yield f"{rod}: E = {E:.3g} Pa is that of no solid; is it given in {unit}? Give it in Pa"


def densities(model: ModelData) -> Iterator[str]:
    """Yield a message for each rod or body whose density is that of no solid in kg/m^3."""
    for rod in model.rods.values():
        section = section_at(rod, 0.5)
        # area of a section that is made of a material: EA = E A
        known = section.modulus > 0.0 and not section.is_inextensible
        area = section.stiffness[0, 0] / section.modulus if known else np.inf
        yield from _too_light(str(rod), section.mass_per_length / area)
    for body in model.bodies.values():
        yield from _too_light(str(body), body.properties.density)


def _too_light(owner: str, density: float) -> Iterator[str]:
    """Yield a message if a density is too small to be in kg/m^3."""
    if 0.0 < density < LIGHTEST:
        yield (
            f"{owner}: its density, {density:.3g} kg/m^3, is that of no solid; is it given in g/cm^3? Give it in "
            f"kg/m^3, {1e3 * density:.4g}"
        )


def offsets(model: ModelData, meshes: Mapping[str, RodMesh]) -> Iterator[str]:
    """Yield a message for each point of a section that is far outside of its rod: its offset is probably in another unit."""
    reported = set()
    for entry in model.entries:
        for anchor in entry.references:
            if not isinstance(anchor, Anchor) or not isinstance(anchor.part, Rod):
                continue
            distance, radius = (
                float(np.linalg.norm(anchor.X)),
                float(meshes[anchor.part.name].radius.max(initial=0.0)),
            )
            length = anchor.part.stress_free.length
            if (distance > length or 0.0 < AWAY * radius < distance) and (
                entry.name,
                anchor.part.name,
            ) not in reported:
                reported.add((entry.name, anchor.part.name))
                of = f"radius {radius:.3g} m and " if radius else ""
                yield (
                    f"{entry.word} '{entry.name}' acts {distance:.3g} m from the axis of {anchor.part}, which has {of}length "
                    f"{length:.3g} m; give the offset in m"
                )


def spins(model: ModelData, placed: Placement, state: State) -> Iterator[str]:
    """Yield a message for each part that rotates faster at t = 0 than any machine."""
    parts: list[Body | Rod] = [*model.bodies.values(), *model.rods.values()]
    for part in parts:
        rate = float(lengths(state.Omega[placed.frames_of(part)]).max())
        if rate > FASTEST:
            yield f"{part} rotates with {rate:.3g} rad/s at t = 0, faster than any machine. Check that the unit is rad/s."


def stretched_starts(model: ModelData, layout: Layout, mass: Floats, v: Floats) -> Iterator[str]:
    """Yield a warning for each rod drawn as a curve whose stretch has more energy than its bending, weight and motion.

    Such a rod is far from equilibrium: its axial energy becomes vibrations at once. A rod is skipped if its stretch is probably
    intended: it has `rest_strains` or a curved stress-free shape, or is given by two callables with a common parameter. A
    straight rod is skipped as well: it may be pulled, or carry a longitudinal wave.

    mass (n,), kg, and v (n, 3), m/s, are those of the frames.
    """
    gravity = float(np.linalg.norm(model.gravity))
    for rod_layout in layout.rods:
        rod = model.rods[rod_layout.name]
        free = rod.stress_free.curve
        if rod.stress_free is rod.initial or rod.rest_strains is not None or free.by_callable:
            continue
        s = np.linspace(0.0, 1.0, SAMPLES + 1)
        length, step = rod.stress_free.length, rod.stress_free.length / SAMPLES
        r = rod.initial_frames(s)[0]
        edges = np.diff(r, axis=0)
        stretch = lengths(edges) / step - 1.0
        tangents = edges / lengths(edges)[:, None]
        bends = lengths(np.diff(tangents, axis=0)).sum()
        straight = np.ptp(np.diff(rod.stress_free.frames(s)[0], axis=0), axis=0).max() < _STRAIGHT * step
        size = float(np.sqrt(np.mean(stretch**2)))
        if size < STRETCHED or bends < _STRAIGHT or not (straight or rod.initial.curve.by_callable):
            continue
        section = section_at(rod, 0.5)
        EA, EI = section.stiffness[0, 0], max(section.stiffness[4, 4], section.stiffness[5, 5])
        of_nodes = mass[rod_layout.frames]
        other_energies = (
            0.5 * EI * np.sum(np.diff(tangents, axis=0) ** 2) / step
            + gravity * of_nodes.sum() * np.ptp(r, axis=0).max()
            + 0.5 * of_nodes @ np.sum(v[rod_layout.frames] ** 2, axis=1)
        )
        energy = 0.5 * EA * size**2 * length
        if energy <= other_energies:
            continue
        mean = float(stretch.mean())
        cure = f"draw it as long as its stress-free shape, {length:.4g} m (it is {length * (1.0 + mean):.4g} m long)"
        if np.ptp(stretch) > size:  # the stretch is uneven along the rod
            cure = "let s of the curve be the fraction of its length" + (
                "" if abs(mean) < STRETCHED else f", and {cure}"
            )
        yield (
            f"{rod} is stretched at t = 0 by its drawn curve: by {mean:.2%} on average, from {stretch.min():.2%} to "
            f"{stretch.max():.2%}, which is {energy:.3g} J, and {other_energies:.3g} J are in its bending, "
            f"weight and motion. If this is not meant, start from its `equilibrium`, or {cure}"
        )


def _may_be_strained(rod: Rod) -> bool:
    """Return True if a rod may be strained at t = 0: it has a separate stress-free shape or `rest_strains`."""
    return rod.stress_free is not rod.initial or rod.rest_strains is not None


def surface_strains(rod: RodLayout, K: Floats) -> Floats:
    """Return the largest strain (n,) at the surface of a rod's elements, from twist and curvatures K (n, 3), 1/m.

        round: R |K|        rectangle: ((|K2| h/2 + |K3| w/2)^2 + (K1 min(w, h))^2)^(1/2)

    with the width w along d2 and the height h along d3; the last term is the shear of a thin strip in torsion, an upper bound
    for thicker rectangles. Radius and sides are those of the thicker end of each element.
    """
    ends = np.stack([np.arange(len(K)), (np.arange(len(K)) + 1) % len(rod.radius)])
    radius, (w, h) = rod.radius[ends].max(axis=0), rod.sides[ends].max(axis=0).T
    bent = 0.5 * (np.abs(K[:, 1]) * h + np.abs(K[:, 2]) * w)
    of_rectangles = np.hypot(bent, K[:, 0] * np.minimum(w, h))
    return np.where(np.minimum(w, h) > 0.0, of_rectangles, radius * lengths(K))


def strains(
    rods: Sequence[RodLayout], strain: Floats, when: str, cure: str, bearable: float = LARGE
) -> Iterator[str]:
    """Yield a message for each rod whose strains, at the axis or at the surface, are beyond the range of a linear law.

    `strain`: (n, 6) strains at all points of the model; `when`: time in words; `cure`: advice in words; `bearable`: largest
    strain without a message.
    """
    for rod in rods:
        rod_strain = strain[rod.elements]
        for what, size in (
            ("stretch and shear", lengths(rod_strain[:, :3]).max()),
            ("bending and twist at the surface", surface_strains(rod, rod_strain[:, 3:]).max()),
        ):
            if size > bearable:
                yield f"rod '{rod.name}': {when} its {what} come to {size:.3g}, a strain that few solids bear; {cure}"
                break
