"""Define mass, centre of mass and inertia of rigid bodies, given as numbers or computed from a shape.

A shape has its own axes and reference point; the solver's frame has its origin at the centre of mass and the same axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from rigid.checks import array, number, numbers, shown, vector
from rigid.errors import ModelError
from rigid.solids import Ball, Cuboid, Revolved, Solid, Stadium
from rigid.system import Floats, Ints

_NO_VERTICES, _NO_FACES = np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64)
_DIAGONAL = np.diag_indices(3)

# corners of a box in units of half its edges, and its triangles
_SIGNS = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])
_QUADS = (0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)
_FACES = np.array([t for a, b, c, d in _QUADS for t in ((a, b, c), (a, c, d))])

_ZERO = 1e-12  # moments below this fraction of the largest moment count as zero

# How finely a round surface is drawn. A result file holds every vertex at every output, so the default is coarse.
Fineness = Literal["coarse", "fine"]
_AROUND = {"coarse": 20, "fine": 64}  # triangles around an axis
_SPLITS = {"coarse": 1, "fine": 3}  # halvings of the edges of an icosahedron: 42 and 642 vertices


@dataclass(eq=False)
class MassProperties:
    """Describe a rigid body by its mass, centre of mass and inertia, and optionally its surface.

    `Box`, `Sphere`, `Cylinder`, `Capsule`, `Cone`, `Mesh` and `PointMass` are subclasses that compute all of it.

    Parameters
    ----------
    mass : float
        kg.
    inertia : array_like
        Moments of inertia about the centre of mass, kg m^2: (3,) principal moments about the axes of the shape, or a
        symmetric (3, 3) matrix. Principal moments may be zero: all three for a point, one for a straight line. Such a body
        never spins about these axes, and a model that requires such a rotation is rejected when it is built.
    center : array_like, shape (3,), optional
        Position of the centre of mass relative to the reference point, in the axes of the shape, m. Default: the reference point.
    vertices : array_like, shape (nv, 3), optional
        Vertices of the surface that is drawn, relative to the reference point, m.
    faces : array_like of int, shape (nf, 3), optional
        Triangles of vertex numbers, counter-clockwise seen from outside.
    solid : Solid, optional
        Shape for contact.
    density : float, default 0.0
        Density from which the mass was computed, kg/m^3; 0 if it was not given.

    Attributes
    ----------
    without_inertia : (3, 3) array
        Projection matrix onto the axes about which the moment of inertia is zero.

    Raises
    ------
    ModelError
        If the mass is not positive, the inertia is not symmetric or has a negative principal moment, or the principal moments
        violate the triangle inequality.

    Examples
    --------
    >>> from rodsim import MassProperties
    >>> MassProperties(2.0, (0.1, 0.2, 0.25), center=(0, 0, 0.1))
    <MassProperties: 2 kg, principal moments 0.1, 0.2, 0.25 kg m^2>
    """

    mass: float
    inertia: Floats
    center: Floats = field(default_factory=lambda: np.zeros(3))
    vertices: Floats = field(default_factory=lambda: _NO_VERTICES)
    faces: Ints = field(default_factory=lambda: _NO_FACES)
    without_inertia: Floats = field(init=False)
    solid: Solid | None = None
    density: float = 0.0

    def __post_init__(self) -> None:
        self.mass = positive_mass("mass properties", self.mass)
        self.center = vector("mass properties", "center", self.center)
        entries = numbers(self.inertia)
        if entries is None or entries.shape not in ((3,), (3, 3)):
            raise ModelError(
                f"mass properties: inertia = {shown(self.inertia)}; give 3 moments or a symmetric 3 x 3 matrix"
            )
        J = array("mass properties", "inertia", self.inertia, entries.shape)
        principal: Sequence[float] | Floats
        if J.ndim == 1:
            principal, moments, J = sorted(J.tolist()), J, np.zeros((3, 3))
            J[_DIAGONAL] = moments
        elif np.abs(J - J.T).max() <= 1e-9 * np.abs(J).max():
            principal = np.linalg.eigvalsh(J)
        else:
            raise ModelError(
                f"mass properties: inertia = {shown(self.inertia)} is not symmetric; give a symmetric 3 x 3 matrix"
            )
        if principal[0] < -1e-12 * principal[2] or principal[2] < 0.0:
            raise ModelError(
                f"mass properties: principal moments {np.array(principal)} are not all positive or zero"
            )
        if principal[2] > (principal[0] + principal[1]) * (1 + 1e-9):
            raise ModelError(
                f"mass properties: principal moments {np.array(principal)} break the triangle inequality J3 <= J1 + J2; "
                "no body has such an inertia"
            )
        self.inertia, self.without_inertia = _filled(0.5 * (J + J.T), self.mass, principal)
        self.vertices = array("mass properties", "vertices", self.vertices, (None, 3))
        self.faces = vertex_numbers("mass properties", self.faces, len(self.vertices))

    def __repr__(self) -> str:
        triangles = f", {len(self.faces)} triangles" if len(self.faces) else ""
        moments = ", ".join(f"{J:.5g}" for J in self.principal_moments)
        return f"<{type(self).__name__}: {self.mass:.5g} kg, principal moments {moments} kg m^2{triangles}>"

    @property
    def principal_moments(self) -> Floats:
        """(3,) principal moments about the centre of mass, ascending, kg m^2."""
        return np.linalg.eigvalsh(self.inertia)

    @property
    def principal_axes(self) -> Floats:
        """(3, 3) unit principal axes as columns, in the order of `principal_moments`, a right-handed set."""
        axes = np.linalg.eigh(self.inertia)[1]
        axes[:, 2] *= np.sign(np.linalg.det(axes))
        return axes


def _filled(J: Floats, mass: float, principal: Sequence[float] | Floats) -> tuple[Floats, Floats]:
    """Replace zero principal moments of J by positive numbers; return J and the projection (3, 3) onto their axes.

    `principal`: (3,) principal moments of J. A body without spin about these axes at the start and without torque about them
    never spins about them; for a line this holds because the other two moments are equal. The motion therefore does not depend
    on the numbers inserted.
    """
    if principal[0] > 2.0 * _ZERO * principal[2]:  # clearly not zero, with any rounding
        return J, np.zeros((3, 3))
    moments, axes = np.linalg.eigh(J)
    if moments[2] == 0.0:
        return 1e-6 * mass * np.eye(3), np.eye(3)
    e = axes[:, :1]
    if moments[0] > _ZERO * moments[2]:
        return J, np.zeros((3, 3))
    return J + (moments[2] - moments[0]) * (e @ e.T), e @ e.T


def vertex_numbers(owner: str, faces: ArrayLike, n_vertices: int) -> Ints:
    """Return `faces` as vertex numbers, (nf, 3). Raise ModelError if one is not an integer from 0 to `n_vertices` - 1."""
    # viewed as unsigned integers, negative numbers are larger than all others
    if (
        isinstance(faces, np.ndarray)
        and faces.dtype == np.int64
        and faces.shape[1:] == (3,)
        and (not len(faces) or faces.view(np.uint64).max() < n_vertices)
    ):
        return faces.copy()
    values = array(owner, "faces", faces, (None, 3))
    # check before the conversion to integers, which would truncate 0.5
    if values.size and (np.any(values != np.round(values)) or values.min() < 0 or values.max() >= n_vertices):
        raise ModelError(
            f"{owner}: vertex numbers from {values.min():g} to {values.max():g}; "
            f"give whole numbers from 0 to {n_vertices - 1}"
        )
    return values.astype(np.int64)


def positive_mass(owner: str, mass: float) -> float:
    """Return the mass, kg. Raise ModelError if it is not positive."""
    if number(owner, "mass", mass) == 0.0:
        raise ModelError(
            f"{owner}: mass = 0, so that no force makes it move in one way; join its neighbours to each other without it (by "
            "a joint with more freedom, a distance, a spring), or give it a small mass"
        )
    return number(owner, "mass", mass, positive=True)


def mass_of(owner: str, volume: float, density: float | None, mass: float | None) -> float:
    """Return the mass from either the density or the mass, kg. Raise ModelError if both or neither are given."""
    if (density is None) == (mass is None):
        raise ModelError(
            f"{owner}: give either density or mass, not {'both' if mass is not None else 'neither'}"
        )
    if mass is not None:
        return positive_mass(owner, mass)
    return number(owner, "density", density, positive=True) * volume


class Box(MassProperties):
    """Describe a homogeneous box. Its reference point is its centre.

    Parameters
    ----------
    x, y, z : float
        Lengths of the edges along its axes, m.
    density : float, optional
        kg/m^3. Give either `density` or `mass`.
    mass : float, optional
        kg.

    Raises
    ------
    ModelError
        If a size is not positive, or both or neither of density and mass are given.

    Examples
    --------
    >>> from rodsim import Box
    >>> Box(0.2, 0.1, 0.1, density=500.0)
    <Box: 1 kg, principal moments 0.0016667, 0.0041667, 0.0041667 kg m^2, 12 triangles>
    """

    def __init__(
        self, x: float, y: float, z: float, density: float | None = None, mass: float | None = None
    ) -> None:
        a, b, c = (
            number("Box", name, value, positive=True) for name, value in zip("xyz", (x, y, z), strict=True)
        )
        m, edges = mass_of("Box", a * b * c, density, mass), np.array([a, b, c])
        square = edges**2
        super().__init__(
            m,
            m / 12 * (a * a + b * b + c * c - square),
            np.zeros(3),
            _SIGNS * edges / 2,
            _FACES,
            solid=Cuboid(edges),
            density=density or 0.0,
        )
        self.x, self.y, self.z = a, b, c


class PointMass(MassProperties):
    """Describe a point with mass and without moments of inertia.

    Hold it by its centre alone, by what leaves it free to rotate: spherical joints, distances, springs.

    Parameters
    ----------
    mass : float
        kg.

    Raises
    ------
    ModelError
        If the mass is not positive.

    Examples
    --------
    >>> from rodsim import PointMass
    >>> PointMass(0.5)
    <PointMass: 0.5 kg>
    """

    def __init__(self, mass: float) -> None:
        super().__init__(positive_mass("PointMass", mass), np.zeros(3))

    def __repr__(self) -> str:
        return f"<PointMass: {self.mass:.5g} kg>"


class Sphere(MassProperties):
    """Describe a homogeneous solid sphere. Its reference point is its centre.

    Parameters
    ----------
    radius : float
        m.
    density : float, optional
        kg/m^3. Give either `density` or `mass`.
    mass : float, optional
        kg.
    surface : {"coarse", "fine"}, default "coarse"
        How finely the surface is drawn. It has no effect on mass or contact.

    Raises
    ------
    ModelError
        If a size is not positive, or both or neither of density and mass are given.

    Examples
    --------
    >>> from rodsim import Sphere
    >>> Sphere(0.1, mass=2.0)
    <Sphere: 2 kg, principal moments 0.008, 0.008, 0.008 kg m^2, 80 triangles>
    """

    def __init__(
        self,
        radius: float,
        density: float | None = None,
        mass: float | None = None,
        surface: Fineness = "coarse",
    ) -> None:
        r = number("Sphere", "radius", radius, positive=True)
        m = mass_of("Sphere", 4 / 3 * np.pi * r**3, density, mass)
        vertices, faces = _icosphere(_SPLITS[_fineness("Sphere", surface)])
        inertia = np.full(3, 0.4 * m * r**2)
        super().__init__(m, inertia, np.zeros(3), r * vertices, faces, solid=Ball(r), density=density or 0.0)
        self.radius, self.surface = r, surface


class Cylinder(MassProperties):
    """Describe a homogeneous solid cylinder about its z axis. Its reference point is its centre.

    Parameters
    ----------
    radius, height : float
        m.
    density : float, optional
        kg/m^3. Give either `density` or `mass`.
    mass : float, optional
        kg.
    surface : {"coarse", "fine"}, default "coarse"
        How finely the surface is drawn. It has no effect on mass or contact.

    Raises
    ------
    ModelError
        If a size is not positive, or both or neither of density and mass are given.

    Examples
    --------
    >>> from rodsim import Cylinder
    >>> Cylinder(radius=0.1, height=0.3, mass=2.0)
    <Cylinder: 2 kg, principal moments 0.01, 0.02, 0.02 kg m^2, 80 triangles>
    """

    def __init__(
        self,
        radius: float,
        height: float,
        density: float | None = None,
        mass: float | None = None,
        surface: Fineness = "coarse",
    ) -> None:
        r = number("Cylinder", "radius", radius, positive=True)
        h = number("Cylinder", "height", height, positive=True)
        m = mass_of("Cylinder", np.pi * r**2 * h, density, mass)
        across = m * (3 * r**2 + h**2) / 12
        profile = Revolved(np.array([0, r, r, 0]), np.array([-h / 2, -h / 2, h / 2, h / 2]))
        vertices, faces = _revolve(profile.radii, profile.heights, _AROUND[_fineness("Cylinder", surface)])
        inertia = np.array([across, across, m * r**2 / 2])
        super().__init__(m, inertia, np.zeros(3), vertices, faces, solid=profile, density=density or 0.0)
        self.radius, self.height, self.surface = r, h, surface


class Capsule(MassProperties):
    """Describe a homogeneous solid cylinder about its z axis with a half ball on each end.

    Its reference point is its centre.

    Parameters
    ----------
    radius : float
        Radius of the cylinder and of the half balls, m.
    length : float
        Length of the cylinder, between the centres of the half balls, m.
    density : float, optional
        kg/m^3. Give either `density` or `mass`.
    mass : float, optional
        kg.
    surface : {"coarse", "fine"}, default "coarse"
        How finely the surface is drawn. It has no effect on mass or contact.

    Raises
    ------
    ModelError
        If a size is not positive, or both or neither of density and mass are given.

    Examples
    --------
    >>> from rodsim import Capsule
    >>> Capsule(radius=0.1, length=0.3, mass=2.0).radius
    0.1
    """

    def __init__(
        self,
        radius: float,
        length: float,
        density: float | None = None,
        mass: float | None = None,
        surface: Fineness = "coarse",
    ) -> None:
        r = number("Capsule", "radius", radius, positive=True)
        h = number("Capsule", "length", length, positive=True)
        volumes = np.pi * r**2 * np.array([h, 4 / 3 * r])
        m = mass_of("Capsule", float(volumes.sum()), density, mass)
        rod, balls = m * volumes / volumes.sum()
        # the centre of a half ball is 3/8 r beyond its face
        across = rod * (3 * r**2 + h**2) / 12 + balls * (0.4 * r**2 + h**2 / 4 + 3 / 8 * h * r)
        n_around = _AROUND[_fineness("Capsule", surface)] // 2
        rise = np.linspace(0.0, np.pi / 2, n_around // 4 + 1)
        radii = r * np.concatenate([np.sin(rise), np.cos(rise)])
        heights = r * np.concatenate([-np.cos(rise), np.sin(rise)]) + np.repeat([-h / 2, h / 2], len(rise))
        vertices, faces = _revolve(radii, heights, n_around)
        inertia = np.array([across, across, rod * r**2 / 2 + balls * 0.4 * r**2])
        super().__init__(
            m, inertia, np.zeros(3), vertices, faces, solid=Stadium(r, h), density=density or 0.0
        )
        self.radius, self.length, self.surface = r, h, surface


class Cone(MassProperties):
    """Describe a homogeneous solid cone on its apex: a top on its tip.

    Its reference point is the apex, at the origin of its axes; its base is at z = height.

    Parameters
    ----------
    radius : float
        Radius of the base, m.
    height : float
        Distance from the apex to the base, m.
    density : float, optional
        kg/m^3. Give either `density` or `mass`.
    mass : float, optional
        kg.
    surface : {"coarse", "fine"}, default "coarse"
        How finely the surface is drawn. It has no effect on mass or contact.

    Raises
    ------
    ModelError
        If a size is not positive, or both or neither of density and mass are given.

    Examples
    --------
    >>> from rodsim import Cone
    >>> Cone(radius=0.1, height=0.2, mass=1.0).center
    array([0.  , 0.  , 0.15])
    """

    def __init__(
        self,
        radius: float,
        height: float,
        density: float | None = None,
        mass: float | None = None,
        surface: Fineness = "coarse",
    ) -> None:
        r = number("Cone", "radius", radius, positive=True)
        h = number("Cone", "height", height, positive=True)
        m = mass_of("Cone", np.pi * r**2 * h / 3, density, mass)
        across = 3 / 80 * m * (4 * r**2 + h**2)
        profile = Revolved(np.array([0, r, 0]), np.array([0, h, h]))
        vertices, faces = _revolve(profile.radii, profile.heights, _AROUND[_fineness("Cone", surface)])
        inertia = np.array([across, across, 0.3 * m * r**2])
        super().__init__(
            m, inertia, np.array([0, 0, 0.75 * h]), vertices, faces, solid=profile, density=density or 0.0
        )
        self.radius, self.height, self.surface = r, h, surface


def _fineness(owner: str, surface: str) -> Fineness:
    """Return the surface keyword. Raise ModelError if it is not valid."""
    if surface not in ("coarse", "fine"):
        raise ModelError(f"{owner}: surface = {surface!r}; give 'coarse' or 'fine'")
    return surface  # type: ignore[return-value]


def _icosphere(splits: int) -> tuple[Floats, Ints]:
    """Return vertices and triangles of a unit sphere of 20 * 4**splits nearly equal triangles: an icosahedron with
    halved edges.
    """
    g = (1 + np.sqrt(5)) / 2
    corners = np.array([(0, a, b * g) for a in (-1, 1) for b in (-1, 1)])
    vertices = np.concatenate([np.roll(corners, k, axis=1) for k in range(3)]) / np.sqrt(1 + g**2)
    near = np.linalg.norm(vertices[:, None] - vertices, axis=2) < 1.1  # an edge is 1.05 long
    faces = np.array(
        [
            # counter-clockwise from outside
            (i, j, k) if np.linalg.det(vertices[[i, j, k]]) > 0 else (i, k, j)
            for i in range(12)
            for j in range(i)
            for k in range(j)
            if near[i, j] and near[j, k] and near[k, i]
        ]
    )
    for _ in range(splits):
        a, b, c = faces.T
        edges = np.concatenate([np.stack(pair, axis=1) for pair in ((a, b), (b, c), (c, a))])
        ends, edge_of = np.unique(np.sort(edges, axis=1), axis=0, return_inverse=True)
        middles = vertices[ends].sum(axis=1)
        ab, bc, ca = len(vertices) + edge_of.reshape(3, -1)
        vertices = np.concatenate([vertices, middles / np.linalg.norm(middles, axis=1, keepdims=True)])
        triangles = ((a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca))
        faces = np.concatenate([np.stack(triangle, axis=1) for triangle in triangles])
    return vertices, faces


def _revolve(radii: ArrayLike, heights: ArrayLike, n: int) -> tuple[Floats, Ints]:
    """Return vertices and triangles of a surface of revolution about z.

    The profile (`radii`, `heights`) starts and ends on the axis and runs from bottom to top; `n`: number of points around the
    axis.
    """
    radii, heights = np.asarray(radii, float), np.asarray(heights, float)
    angle = 2 * np.pi * np.arange(n) / n
    rings = [
        np.stack([r * np.cos(angle), r * np.sin(angle), np.full(n, z)], axis=1)
        for r, z in zip(radii, heights, strict=True)
    ][1:-1]
    vertices = np.concatenate([[[0, 0, heights[0]]], *rings, [[0, 0, heights[-1]]]])
    k, following, last = np.arange(n), (np.arange(n) + 1) % n, len(vertices) - 1
    faces = [np.stack([np.zeros(n, int), 1 + following, 1 + k], axis=1)]
    for ring in range(len(rings) - 1):
        a, b = 1 + ring * n, 1 + (ring + 1) * n
        faces += [
            np.stack([a + k, a + following, b + following], axis=1),
            np.stack([a + k, b + following, b + k], axis=1),
        ]
    top = 1 + (len(rings) - 1) * n
    faces.append(np.stack([top + k, top + following, np.full(n, last)], axis=1))
    return vertices, np.concatenate(faces)
