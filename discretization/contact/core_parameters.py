"""Build the blocks of numbers of cores of surfaces that `rigid.kinematics.cores` reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import scipy  # submodules are loaded on first use

from discretization.contact.table import BOX, CAPSULE, HULL, ROUND, ROUND_AXIS, Contacts
from rigid.hull_faces import faces_of, shares_of
from rigid.kinematics import cores
from rigid.system import Floats, Ints

RIM_POINTS = 32  # points on a rim of a body of revolution as a hull: between two the rim is .0048 of its radius too small
RIM_RADIUS_FACTOR = (
    0.5  # fraction of the stiffness of each of these points: a lying body has the stiffness of the law
)
_MAX_CACHED = 1024  # number of cached cores
_SIGNS = np.array([[i, j, k] for i in (-1.0, 1.0) for j in (-1.0, 1.0) for k in (-1.0, 1.0)])


def core_blocks(contacts: Contacts, surfaces: Ints) -> Iterator[tuple[Ints, Floats]]:
    """Yield, for each distinct row of surfaces (k, cores), the indices (r,) of equal rows and the blocks of its cores."""
    if not surfaces.shape[1]:
        yield np.arange(len(surfaces)), np.zeros(0)
        return
    unique, row = np.unique(surfaces, axis=0, return_inverse=True)
    for k, cores_of_row in enumerate(unique.tolist()):
        blocks = (
            core_numbers(contacts, cores_of_row[0])
            if len(cores_of_row) == 1
            else np.concatenate(hull_pair_parameters(contacts, cores_of_row))
        )
        yield np.flatnonzero(row.reshape(-1) == k), blocks


def as_hull_on_mesh(contacts: Contacts, surface: int) -> Floats:
    """Return the numbers of a surface that is treated as a hull in contact with meshes."""
    numbers = core_numbers(contacts, surface)
    return as_faceted_hull(numbers) if numbers[cores.SORT] == cores.ROUND else numbers


def hull_pair_parameters(contacts: Contacts, surfaces: Sequence[int]) -> list[Floats]:
    """Return the numbers of two surfaces whose contact is one of two hulls.

    Bodies of revolution have facets; those of the second surface do not rotate with it.
    """
    numbers = [core_numbers(contacts, surface) for surface in surfaces]
    return [
        as_faceted_hull(core, sort) if core[cores.SORT] == cores.ROUND else core
        for core, sort in zip(numbers, (cores.POLYTOPE, cores.FACETS), strict=True)
    ]


def as_faceted_hull(core: Floats, sort: int = cores.FACETS) -> Floats:
    """Return the numbers of a body of revolution as the hull of points on its rims."""
    return np.frombuffer(_facets(core.tobytes(), sort))


@lru_cache(_MAX_CACHED)
def _facets(core: bytes, sort: int) -> bytes:
    """Cached part of `as_faceted_hull`: arrays as bytes are hashable."""
    X = np.frombuffer(core)
    corners = X[cores.PROFILE : cores.PROFILE + 2 * int(X[cores.CORNERS])].reshape(-1, 2)
    turns = 2.0 * np.pi * np.arange(RIM_POINTS) / RIM_POINTS
    around = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    rings = [np.column_stack([r * around, np.full(len(turns), z)]) for r, z in corners if r > 0.0]
    tips = [[[0.0, 0.0, z]] for r, z in corners if r == 0.0]
    vertices = np.concatenate([*rings, *tips])
    hull = scipy.spatial.ConvexHull(vertices)
    faces = faces_of(hull)
    planes = np.column_stack([faces.normals, faces.heights])
    shares = np.full(len(vertices), RIM_RADIUS_FACTOR)
    return _of_hull(X[: cores.SORT], vertices, shares, faces.edges, planes, sort).tobytes()


def core_numbers(contacts: Contacts, surface: int) -> Floats:
    """Return the centre of a surface, from the origin of its frame, followed by its block."""
    kind, first = int(contacts.kind[surface]), int(contacts.first[surface])
    X = contacts.X[first : int(contacts.first[surface + 1])]
    return np.frombuffer(_block(kind, X.tobytes()))


@lru_cache(_MAX_CACHED)
def _block(kind: int, coordinates: bytes) -> bytes:
    """Cached part of `core_numbers`: arrays as bytes are hashable."""
    X = np.frombuffer(coordinates).reshape(-1, 3)
    relative = X - X[0]
    if kind == ROUND:
        return _of_profile(X[0], relative[4:, [0, 2]]).tobytes()
    if kind == CAPSULE:
        centre = 0.5 * (X[0] + X[1])
        return _of_hull(centre, X - centre, np.full(2, 0.5), np.array([[0, 1]]), np.zeros((0, 4))).tobytes()
    vertices = {BOX: lambda: _SIGNS * np.diag(relative[1:]), HULL: lambda: relative[4:]}[kind]()
    hull = scipy.spatial.ConvexHull(vertices)
    faces = faces_of(hull)
    planes = np.column_stack([faces.normals, faces.heights])
    return _of_hull(X[0], vertices, shares_of(hull), faces.edges, planes).tobytes()


def _of_hull(
    centre: Floats,
    vertices: Floats,
    shares: Floats,
    edges: Ints,
    planes: Floats,
    sort: int = cores.POLYTOPE,
) -> Floats:
    """Return the centre and block of a hull; planes (f, 4): normals and heights of its faces."""
    counts = [len(vertices), len(edges), len(planes)]
    return _complete(centre, sort, [counts, vertices.ravel(), shares, edges.ravel(), planes.ravel()])


def _of_profile(centre: Floats, profile: Floats) -> Floats:
    """Return the centre and block of a body of revolution; profile (c, 2): radii and heights of its corners."""
    return _complete(centre, cores.ROUND, [ROUND_AXIS, [len(profile)], profile.ravel()])


def _complete(centre: Floats, sort: int, parts: list[Any]) -> Floats:
    """Return the centre, the sort of core, the total size, then the parts of the block."""
    block = np.concatenate([np.asarray(part, float) for part in parts])
    return np.concatenate([centre, [sort, 5 + len(block)], block])
