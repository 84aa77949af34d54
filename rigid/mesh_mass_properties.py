"""Compute the mass properties of a body from its closed surface, by the divergence theorem.

With the signed tetrahedra (origin, a, b, c) of volume V = a . (b x c)/6: centre (a + b + c)/4 and second
moment int x x^T = V/20 (a a^T + b b^T + c c^T + s s^T), s = a + b + c.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from rigid.checks import array, number, shown
from rigid.errors import ModelError
from rigid.inertia import MassProperties, mass_of, vertex_numbers
from rigid.solids import Hull
from rigid.system import Floats, Ints


class Mesh(MassProperties):
    """Describe a homogeneous body inside a closed surface. Its reference point is the origin of the coordinates.

    Parameters
    ----------
    source : str, path or pair of array_like
        A file that meshio reads (STL, OBJ, PLY, VTK ...; triangles and quadrilaterals), or vertices (nv, 3), m, and
        triangles (nf, 3) of vertex numbers.
    density : float, optional
        kg/m^3. Give either `density` or `mass`.
    mass : float, optional
        kg.
    scale : float, default 1.0
        Multiplies the coordinates: 0.001 for millimetres.

    Raises
    ------
    ModelError
        If the surface is not closed, not consistently oriented or encloses nothing, the file cannot be read, or both or
        neither of density and mass are given.

    Examples
    --------
    >>> from rodsim import Mesh
    >>> corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    >>> Mesh((corners, [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]), density=6.0).mass
    1.0
    """

    def __init__(
        self,
        source: str | Path | tuple[ArrayLike, ArrayLike],
        density: float | None = None,
        mass: float | None = None,
        scale: float = 1.0,
    ) -> None:
        owner = f"Mesh '{source}'" if isinstance(source, str | Path) else "Mesh"
        vertices, faces = (
            read_triangles(owner, source) if isinstance(source, str | Path) else triangles_of(owner, source)
        )
        vertices = number(owner, "scale", scale, positive=True) * vertices
        if not np.all(np.isfinite(vertices)):
            index = int(np.argmin(np.isfinite(vertices).all(axis=1)))
            raise ModelError(f"{owner}: vertex {index} is {vertices[index]}; give finite coordinates")
        vertices, faces = merge_vertices(vertices, faces)
        check_closed(owner, faces)
        # use a point inside the surface as origin: about a distant point the inertia of the body would be lost to round-off
        origin = vertices.mean(axis=0)
        volume, center, second = _moments(vertices - origin, faces)
        extent = np.ptp(vertices, axis=0).max(initial=0.0)
        if volume < 0:
            faces, volume = faces[:, ::-1], -volume
            second = -second
        if volume <= 1e-12 * extent**3:
            raise ModelError(
                f"{owner}: the surface encloses a volume of {volume:.3g} m^3; give a closed surface of a solid"
            )
        m = mass_of(owner, volume, density, mass)
        about_center = second / volume - np.outer(center, center)
        about_center = 0.5 * (
            about_center + about_center.T
        )  # sums of products are symmetric only up to rounding
        inertia = m * (np.trace(about_center) * np.eye(3) - about_center)
        super().__init__(
            m, inertia, origin + center, vertices, faces, solid=Hull(vertices), density=density or 0.0
        )


def triangles_of(owner: str, source: tuple[ArrayLike, ArrayLike]) -> tuple[Floats, Ints]:
    """Check vertices and triangles given as arrays; return vertices (v, 3) and faces (f, 3). Raise ModelError if they
    are not valid.
    """
    if not isinstance(source, tuple | list) or len(source) != 2:
        raise ModelError(
            f"{owner}: {shown(source)}; give a file, or vertices (nv, 3) and triangles (nf, 3) of vertex numbers"
        )
    vertices = array(owner, "vertices", source[0], (None, 3))
    faces = vertex_numbers(owner, source[1], len(vertices))
    if not (len(vertices) and len(faces)):
        raise ModelError(
            f"{owner}: {len(vertices)} vertices and {len(faces)} triangles; give a closed surface"
        )
    return vertices, faces


def read_triangles(owner: str, path: str | Path) -> tuple[Floats, Ints]:
    """Read vertices (v, 3) and triangles (f, 3) of a file; quadrilaterals become two triangles. Raise ModelError if
    there are none.
    """
    import meshio

    if not Path(path).is_file():
        raise ModelError(f"{owner}: no such file")
    try:
        with np.errstate(all="ignore"):  # its STL reader tries to read a text header as a number of faces
            mesh = meshio.read(path)
    except (Exception, SystemExit) as error:
        raise ModelError(f"{owner}: meshio cannot read it: {error}") from error
    faces = []
    for block in mesh.cells:
        if block.type == "triangle":
            faces.append(block.data)
        elif block.type == "quad":
            faces += [block.data[:, [0, 1, 2]], block.data[:, [0, 2, 3]]]
    if not faces:
        raise ModelError(f"{owner}: holds no triangles or quadrilaterals; give the surface of the body")
    # binary files hold single precision: their coordinates are exact in double precision; moments need double precision
    return np.asarray(mesh.points[:, :3], float), np.concatenate(faces)


def merge_vertices(vertices: Floats, faces: Ints) -> tuple[Floats, Ints]:
    """Merge vertices of equal coordinates (STL files repeat them); remove degenerate faces and unused vertices.

    Return vertices (v, 3) and faces (f, 3).
    """
    digits = np.round(vertices / max(np.ptp(vertices, axis=0).max(initial=0.0), 1e-300), 9)
    _, first, inverse = np.unique(digits, axis=0, return_index=True, return_inverse=True)
    faces = inverse.reshape(-1)[faces]
    distinct = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    used, faces = np.unique(faces[distinct], return_inverse=True)
    return vertices[first][used], faces.reshape(-1, 3)


def check_closed(owner: str, faces: Ints) -> None:
    """Raise ModelError if a surface has holes, or faces oriented against their neighbours."""
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    directed, times = np.unique(edges, axis=0, return_counts=True)
    if np.any(times > 1):
        raise ModelError(
            f"{owner}: {int((times > 1).sum())} edges are run through twice in the same direction; orient the faces alike"
        )
    forward = set(map(tuple, directed))
    open_edges = sum((b, a) not in forward for a, b in forward)
    if open_edges:
        raise ModelError(
            f"{owner}: the surface is not closed, {open_edges} edges belong to one face only; close the holes"
        )


def _moments(vertices: Floats, faces: Ints) -> tuple[float, Floats, Floats]:
    """Return the signed volume, the centre of mass (3,) and the second moment int x x^T dV (3, 3)."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    volumes = np.einsum("fi,fi->f", a, np.cross(b, c)) / 6
    volume = float(volumes.sum())
    s = a + b + c
    center = volumes @ s / (4 * volume) if volume else np.zeros(3)
    second = sum(np.einsum("f,fi,fj->ij", volumes, x, x) for x in (a, b, c, s)) / 20
    return volume, center, np.asarray(second)
