"""Compute stiffness and inertia of cross-sections from their outlines.

A section consists of regions: polygons with holes, each with a Young's modulus and a density. At the point x = (x2, x3) the
strain along the rod is Gamma1 + K2 x3 - K3 x2. With the moments of inertia about the centre c of the axial stiffness,

    N1 = EA (Gamma1 + K2 c3 - K3 c2),   (M2, M3) = [[EI22, -EI23], [-EI23, EI33]] (K2, K3) + moments of N1 at c       (1)
    EI22 = int E (x3 - c3)^2,   EI33 = int E (x2 - c2)^2,   EI23 = int E (x2 - c2) (x3 - c3)                           (2)

Shear forces without torsion act at the shear centre s, and the torque about it is GJ K1:

    (N2, N3) = GA (Gamma2 - K1 s3, Gamma3 + K1 s2),   M1 = GJ K1 + torque of (N2, N3) at s                             (3)

Strains of two lines at the distance c are related by Gamma_c = Gamma + K x c, which moves both parts to one point.
Integrals over polygons are exact, by Green's theorem.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rigid import checks
from rigid.errors import ModelError
from rigid.system import Floats
from rodsim.extras import extra

ELEMENTS = 1000  # triangles of a mesh for torsion and shear: errors of about 1e-6
_ROUNDING = 1e-12  # relative to the size of a section: nearer points are one
_EXTRA = ("sectionproperties.analysis", "sections")


class Region(NamedTuple):
    """A polygon with holes, of one material."""

    outline: Floats  # (k, 2) m, corners in order
    holes: tuple[Floats, ...]
    modulus: float  # Young's modulus, Pa
    density: float  # kg/m^3


class Moments(NamedTuple):
    """Integral of a weight over a section, its centre, and its second moments about the centre."""

    total: float
    center: Floats  # (2,) m
    second: Floats  # (2, 2): integrals of weight (x - c) (x - c)^T


class Shear(NamedTuple):
    """Constants of torsion and shear."""

    torsion: float  # J, m^4, or GJ, N m^2
    areas: Floats  # (2, 2) m^2, or shear stiffnesses, N
    center: Floats  # (2,) m, shear centre


class SectionNumbers(NamedTuple):
    """Numbers of a `Section`, about its centre of mass."""

    stiffness: Floats  # (6, 6)
    mass_per_length: float
    inertia: Floats  # (3,) kg m
    product_of_inertia: float
    center: tuple[float, float]  # m, from the origin


def outline(owner: str, what: str, points: Any) -> Floats:
    """Return the corners (k, 2) of a polygon counterclockwise; ModelError unless its boundary is closed and simple."""
    corners = checks.array(owner, what, points, (None, 2))
    if len(corners) and np.array_equal(corners[0], corners[-1]):
        corners = corners[:-1]
    if len(corners) < 3:
        raise ModelError(
            f"{owner}: {what} has {len(corners)} different corners, which enclose nothing; give three or more"
        )
    step = np.roll(corners, -1, axis=0) - corners
    size = np.ptp(corners, axis=0).max()
    short = np.flatnonzero(np.hypot(*step.T) <= 1e-12 * size)
    if len(short):
        raise ModelError(
            f"{owner}: {what} has the corner {corners[short[0]].tolist()} twice in a row; give it once"
        )
    crossing = _crossing(corners, step)
    if crossing is not None:
        raise ModelError(
            f"{owner}: {what} crosses or touches itself at its sides {crossing[0]} and {crossing[1]}, so that it encloses no "
            "single area. Give the corners of the boundary in order; a thin wall has two faces"
        )
    return corners if _signed_area(corners) > 0.0 else corners[::-1].copy()


def check_holes(owner: str, boundary: Floats, holes: Sequence[Floats]) -> None:
    """Raise ModelError if a hole is not inside the boundary, or two holes overlap."""
    for k, hole in enumerate(holes):
        if not all(_inside(point, boundary) for point in hole) or _cross_each_other(hole, boundary):
            raise ModelError(
                f"{owner}: hole {k} is not inside the boundary; move it in, or cut it from the corners"
            )
        for j, other in enumerate(holes[:k]):
            if _inside(hole[0], other) or _inside(other[0], hole) or _cross_each_other(hole, other):
                raise ModelError(f"{owner}: holes {j} and {k} overlap. Join them to a single hole")


def moments(regions: Sequence[Region], weight: str) -> Moments:
    """Return the integrals of a weight, "modulus" or "density" or "area", over the regions; about their common centre."""
    parts = []
    for region in regions:
        factor = 1.0 if weight == "area" else float(getattr(region, weight))
        parts += [(factor, region.outline), *((-factor, hole) for hole in region.holes)]
    base = regions[0].outline.mean(axis=0)  # integrals about a near point lose no digits
    integrals = [(sign, *_integrals(corners - base)) for sign, corners in parts]
    total = sum(sign * area for sign, area, _, _ in integrals)
    if total == 0.0:
        return Moments(0.0, np.zeros(2), np.zeros((2, 2)))
    center = np.sum([sign * first for sign, _, first, _ in integrals], axis=0) / total
    second = np.sum([sign * matrix for sign, _, _, matrix in integrals], axis=0)
    return Moments(float(total), base + center, second - total * np.outer(center, center))


def section_numbers(regions: Sequence[Region], shear: Shear, origin: Floats | None) -> SectionNumbers:
    """Return stiffness and inertia about the centre of mass, by (1) to (3).

    `shear`: GJ, the shear stiffnesses (2, 2) and the shear centre. `origin`: point of the rod's curve in the coordinates of the
    outlines, m; None: the centre of the axial stiffness.
    """
    axial, inert = moments(regions, "modulus"), moments(regions, "density")
    uniform = len({(region.modulus, region.density) for region in regions}) == 1
    at = axial.center if uniform or inert.total == 0.0 else inert.center
    bending = np.zeros((6, 6))
    (I33, I23), (_, I22) = axial.second
    bending[0, 0] = axial.total
    bending[4:, 4:] = [[I22, -I23], [-I23, I33]]
    twisting = np.zeros((6, 6))
    twisting[1:3, 1:3] = 0.5 * (shear.areas + shear.areas.T)
    twisting[3, 3] = shear.torsion
    stiffness = moved(bending, axial.center - at) + moved(twisting, shear.center - at)
    (J33, J23), (_, J22) = inert.second
    offset = at - (axial.center if origin is None else origin)
    offset[np.abs(offset) <= _ROUNDING * np.ptp(regions[0].outline, axis=0).max()] = 0.0
    return SectionNumbers(
        0.5 * (stiffness + stiffness.T),
        inert.total,
        np.array([J22 + J33, J22, J33]),
        -float(J23),
        (float(offset[0]), float(offset[1])),
    )


def moved(stiffness: Floats, offset: Floats) -> Floats:
    """Return the stiffness (6, 6) of a line from that of the line at `offset` (2,), m, from it: A^T C A."""
    x2, x3 = offset
    A = np.eye(6)
    A[:3, 3:] = [[0.0, x3, -x2], [-x3, 0.0, 0.0], [x2, 0.0, 0.0]]  # K x c
    return np.asarray(A.T @ stiffness @ A)


def solved_shear(owner: str, boundary: Floats, holes: Sequence[Floats]) -> Shear:
    """Return J, shear areas and shear centre of a homogeneous polygon, computed by the library sectionproperties."""
    analysis = extra(*_EXTRA, f"{owner} without torsion_constant")
    pre, shapely = extra("sectionproperties.pre", _EXTRA[1], owner), extra("shapely", _EXTRA[1], owner)
    size = float(np.ptp(boundary, axis=0).max())  # the mesher wants numbers of about 1
    polygon = shapely.Polygon(boundary / size, [hole / size for hole in holes])
    geometry = pre.Geometry(polygon)
    geometry.create_mesh(mesh_sizes=_mesh_size(polygon))
    return shear_of(analysis.Section(geometry), size)[0]


def regions_of(shape: Any, unit: float, E: float, density: float) -> tuple[Region, ...]:
    """Return the regions of a geometry of sectionproperties.

    `unit`: metres per unit of length of the geometry. E, density: those of its regions without a material. Moduli of materials
    are in N per square unit, densities in kg per cubic unit.
    """
    regions = []
    for part in getattr(shape, "geoms", [shape]):
        default = part.material.name == "default"
        regions.append(
            Region(
                unit * np.array(part.geom.exterior.coords, float)[:-1],
                tuple(unit * np.array(ring.coords, float)[:-1] for ring in part.geom.interiors),
                E if default else float(part.material.elastic_modulus) / unit**2,
                density if default else float(part.material.density) / unit**3,
            )
        )
    return tuple(regions)


def meshed(owner: str, shape: Any) -> Any:
    """Return the `Section` of sectionproperties for a geometry or a section of that library, with a mesh."""
    analysis = extra(*_EXTRA, owner)
    pre = extra("sectionproperties.pre", _EXTRA[1], owner)
    if isinstance(shape, analysis.Section):
        return shape
    if not isinstance(shape, pre.Geometry):
        raise ModelError(
            f"{owner}: {checks.shown(shape)} is not a section of sectionproperties; give a Geometry, CompoundGeometry or Section"
        )
    if not shape.mesh:
        shape = copy.deepcopy(shape)
        parts = getattr(shape, "geoms", [shape])
        shape.create_mesh(mesh_sizes=[_mesh_size(part.geom, len(parts)) for part in parts])
    return analysis.Section(shape)


def shear_of(section: Any, unit: float) -> tuple[Shear, bool]:
    """Return torsion and shear constants of a section of sectionproperties, and whether they contain Young's moduli.

    Without materials: J, m^4, and shear areas, m^2 (Poisson's ratio 0). With materials: GJ, N m^2, and shear stiffnesses, N; both
    are those with Young's moduli, divided by 2 (1 + nu) of the whole section.
    """
    props = section.section_props
    if props.area is None:
        section.calculate_geometric_properties()
    if props.j is None:
        section.calculate_warping_properties()
    composite = bool(section.is_composite())
    factor = 1.0 / (2.0 * (1.0 + props.nu_eff)) if composite else 1.0
    flexibility = np.array([[1.0 / props.a_sx, 1.0 / props.a_sxy], [1.0 / props.a_sxy, 1.0 / props.a_sy]])
    # moduli in N per square unit: E times an area is in N, times J in N unit^2
    areas = factor * np.linalg.inv(flexibility) * (1.0 if composite else unit**2)
    torsion = factor * props.j * unit ** (2 if composite else 4)
    return Shear(float(torsion), areas, unit * np.array(section.get_sc(), float)), composite


def _mesh_size(polygon: Any, parts: int = 1) -> float:
    """Return the area of the largest triangle: about `ELEMENTS` in all, and two across a thin wall."""
    wall = 2.0 * polygon.area / polygon.length
    return float(min(parts * polygon.area / ELEMENTS, 0.25 * wall**2))


def _signed_area(corners: Floats) -> float:
    """Return the area of a polygon, positive if its corners are counterclockwise."""
    return _integrals(corners - corners[0])[0]


def _integrals(corners: Floats) -> tuple[float, Floats, Floats]:
    """Return area, first moments (2,) and second moments (2, 2) of a polygon about the origin, positive in either sense."""
    a, b = corners, np.roll(corners, -1, axis=0)
    double = a[:, 0] * b[:, 1] - b[:, 0] * a[:, 1]  # twice the areas of the triangles with the origin
    area = 0.5 * float(double.sum())
    first = (double[:, None] * (a + b)).sum(axis=0) / 6.0
    total = a + b
    second = np.einsum("k,ki,kj->ij", double, a, a) + np.einsum("k,ki,kj->ij", double, b, b)
    second = (second + np.einsum("k,ki,kj->ij", double, total, total)) / 24.0
    return area, first, second


def _crossing(corners: Floats, step: Floats) -> tuple[int, int] | None:
    """Return two sides of a polygon, not neighbours, that have a point in common, or two neighbours that fold back."""
    n = len(corners)
    for k in range(n):
        following = step[(k + 1) % n]
        if _cross(step[k], following) == 0.0 and step[k] @ following < 0.0:
            return k, (k + 1) % n
        far = np.array([j for j in range(k + 2, n) if not (k == 0 and j == n - 1)], int)
        if not len(far):
            continue
        touches = _segments_meet(corners[k], step[k], corners[far], step[far])
        if touches.any():
            return k, int(far[np.argmax(touches)])
    return None


def _segments_meet(p: Floats, d: Floats, q: Floats, e: Floats) -> Any:
    """Return which segments q + [0, 1] e (k, 2) have a point in common with the segment p + [0, 1] d."""
    a, b = _cross(d, q - p), _cross(d, q + e - p)
    c, f = _cross(e, p - q), _cross(e, p + d - q)
    proper = (np.minimum(a, b) <= 0.0) & (np.maximum(a, b) >= 0.0)
    proper &= (np.minimum(c, f) <= 0.0) & (np.maximum(c, f) >= 0.0)
    low, high = np.minimum(p, p + d), np.maximum(p, p + d)
    boxes = np.all((np.minimum(q, q + e) <= high) & (np.maximum(q, q + e) >= low), axis=1)
    return proper & boxes


def _cross(a: Floats, b: Floats) -> Any:
    """Return the cross product of vectors (..., 2) of the plane."""
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def _cross_each_other(a: Floats, b: Floats) -> bool:
    """Return whether the boundaries of two polygons have a point in common."""
    step_a, step_b = np.roll(a, -1, axis=0) - a, np.roll(b, -1, axis=0) - b
    return any(_segments_meet(p, d, b, step_b).any() for p, d in zip(a, step_a, strict=True))


def _inside(point: Floats, corners: Floats) -> bool:
    """Return whether a point is inside a polygon: a ray from it crosses the boundary an odd number of times."""
    a, b = corners, np.roll(corners, -1, axis=0)
    upward = (a[:, 1] > point[1]) != (b[:, 1] > point[1])
    with np.errstate(divide="ignore", invalid="ignore"):
        x = a[:, 0] + (point[1] - a[:, 1]) * (b[:, 0] - a[:, 0]) / (b[:, 1] - a[:, 1])
    return bool(np.count_nonzero(upward & (point[0] < x)) % 2)
