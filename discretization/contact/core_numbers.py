"""Cores of surfaces as the blocks of numbers that `rigid.kinematics.cores` reads."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import scipy  # its parts are loaded when they are asked for

from discretization.contact.table import BOX, CAPSULE, HULL, ROUND, ROUND_AXIS, Contacts
from rigid.hull_faces import faces_of, shares_of
from rigid.kinematics import cores
from rigid.system import Floats, Ints

_KEPT = 1024  # cores
_SIGNS = np.array([[i, j, k] for i in (-1.0, 1.0) for j in (-1.0, 1.0) for k in (-1.0, 1.0)])


def core_blocks(contacts: Contacts, surfaces: Ints) -> Iterator[tuple[Ints, Floats]]:
    """Of rows of surfaces (k, cores), for each row that there is: which (r,) are so, and the blocks, one behind the other."""
    if not surfaces.shape[1]:
        yield np.arange(len(surfaces)), np.zeros(0)
        return
    every, row = np.unique(surfaces, axis=0, return_inverse=True)
    for k, own in enumerate(every.tolist()):
        yield np.flatnonzero(row.reshape(-1) == k), np.concatenate([core_numbers(contacts, i) for i in own])


def core_numbers(contacts: Contacts, surface: int) -> Floats:
    """The centre of a surface, from the origin of its frame, and its block."""
    kind, first = int(contacts.kind[surface]), int(contacts.first[surface])
    X = contacts.X[first : int(contacts.first[surface + 1])]
    return np.frombuffer(_block(kind, X.tobytes()))


@lru_cache(_KEPT)
def _block(kind: int, places: bytes) -> bytes:
    X = np.frombuffer(places).reshape(-1, 3)
    behind = X - X[0]
    if kind == ROUND:
        return _of_profile(X[0], behind[4:, [0, 2]]).tobytes()
    if kind == CAPSULE:
        centre = 0.5 * (X[0] + X[1])
        return _of_hull(centre, X - centre, np.full(2, 0.5), np.array([[0, 1]]), np.zeros((0, 4))).tobytes()
    vertices = {BOX: lambda: _SIGNS * np.diag(behind[1:]), HULL: lambda: behind[4:]}[kind]()
    hull = scipy.spatial.ConvexHull(vertices)
    faces = faces_of(hull)
    planes = np.column_stack([faces.normals, faces.heights])
    return _of_hull(X[0], vertices, shares_of(hull), faces.edges, planes).tobytes()


def _of_hull(centre: Floats, vertices: Floats, shares: Floats, edges: Ints, planes: Floats) -> Floats:
    counts = [len(vertices), len(edges), len(planes)]
    return _complete(
        centre, cores.POLYTOPE, [counts, vertices.ravel(), shares, edges.ravel(), planes.ravel()]
    )


def _of_profile(centre: Floats, profile: Floats) -> Floats:
    return _complete(centre, cores.ROUND, [ROUND_AXIS, [len(profile)], profile.ravel()])


def _complete(centre: Floats, sort: int, parts: list[Any]) -> Floats:
    block = np.concatenate([np.asarray(part, float) for part in parts])
    return np.concatenate([centre, [sort, 5 + len(block)], block])
