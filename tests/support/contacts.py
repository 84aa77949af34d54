"""Contact interactions for tests: poses in contact, parameters, duals of any arity."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discretization.contact.core_parameters import as_faceted_hull, core_numbers
from discretization.contact.mesh_search import triangle_parameters, with_ridges
from discretization.contact.table import Hull, Mesh, Round, contacts_of
from discretization.interaction_kinds import INTERACTIONS
from rigid import quaternions
from rigid.interactions.kinds import EXPECTED, MAX_FRAMES, SEEN, WITH_SEEN
from rigid.mechanics.mechanical_system import call

EPS = 1e-40
CONTACTS = {kind.name.removeprefix("contact of "): kind for kind in INTERACTIONS}  # and all others
PLANE_SPHERE, PLANE_CIRCLE, PLANE_ROD = (CONTACTS[f"a plane and a {x}"] for x in ("sphere", "circle", "rod"))
SPHERES, RODS, SPHERE_ROD = (CONTACTS[x] for x in ("spheres", "rods", "a sphere and a rod"))
_SHAPES = "capsule", "box", "mesh", "hull"
SPHERE_CAPSULE, SPHERE_BOX, SPHERE_MESH, SPHERE_CORE = (CONTACTS[f"a sphere and a {x}"] for x in _SHAPES)
CAPSULE_ROD, BOX_ROD, MESH_ROD, CORE_ROD = (CONTACTS[f"a {x} and a rod"] for x in _SHAPES)
CAPSULES, BOXES, HULLS, EDGES = (CONTACTS[x] for x in ("capsules", "boxes", "hulls", "two edges"))
MESH_HULL, MESH_ROUND = (CONTACTS[f"a mesh and a {x}"] for x in ("hull", "round body"))
ROUND_HULLS = CONTACTS["a hull and a round body"]

LINEAR = np.array([0.0, 3e3, 1.0, 0.0])
HERTZ = np.array([0.0, 2e4, 1.5, 0.0])
BARRIER = np.array([1.0, 50.0, 0.0, 0.2])
POLYNOMIAL = np.array([2.0, 3e3, -5e3, 4e4])
LAWS = {"linear": LINEAR, "hertz": HERTZ, "barrier": BARRIER, "polynomial": POLYNOMIAL}
RHO = {
    "linear": 0.3,
    "hertz": 0.3,
    "barrier": 0.05,
    "polynomial": 0.3,
}  # at the distance of `touch` all are active


def value(kind, y, X):
    out = np.zeros(3, complex)
    call(kind.value, (all_poses(y), X, out))
    return out[0]


def dual(kind, y0, y1, X, lam=1.0, function="dual"):
    out = np.zeros((MAX_FRAMES, 4, 3), complex)
    lam = np.array(np.atleast_1d(lam), complex)
    call(getattr(kind, function), (all_poses(y0), all_poses(y1), X, lam, out))
    return out[: kind.arity]


def work(f, y0, y1):
    return np.sum(f.real * (y1 - y0))


def all_poses(y):
    """Poses in an array that fits the poses of any kind."""
    out = np.zeros((MAX_FRAMES, 4, 3), complex)
    out[: len(y)] = y
    return out


def turned(rng, angle):
    """Random directors (rows) of a frame rotated by this angle."""
    n = rng.normal(size=3)
    n /= np.linalg.norm(n)
    return quaternions.to_matrix(np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * n])).T


def posed(positions, rng, angle=1.0):
    """Poses (arity, 4, 3) at these positions."""
    return np.array([np.vstack([place, turned(rng, angle)]) for place in positions], float)


class Touch(NamedTuple):
    """An interaction at both ends of a step."""

    kind: Any
    X: Any
    y0: Any
    y1: Any


def moved(y, rng, size, angle=0.05):
    """Poses after a step with random motion."""
    out = np.array(y, float)
    out[:, 0] += size * rng.normal(size=(len(y), 3))
    for k in range(len(y)):
        out[k, 1:] = out[k, 1:] @ turned(rng, angle).T
    return out


def touch(kind, law="linear", seed=0, step=0.02):
    """An interaction in contact at both ends of a step."""
    rng, rho = np.random.default_rng(seed), RHO[law]
    block, lever = np.concatenate([LAWS[law], [rho]]), np.array([0.1, -0.05, 0.08])
    height = 0.15 if law == "barrier" else 0.25
    if kind in (PLANE_SPHERE, PLANE_CIRCLE, PLANE_ROD):
        R, centre = turned(rng, 0.8), rng.normal(size=3)
        N, P = np.array([0.6, 0.0, 0.8]), np.array([0.2, 0.1, -0.3])
        n, p = N @ R, centre + P @ R
        aside = np.cross(n, [1.0, 0.0, 0.0])
        plane = np.vstack([centre, R])[None]
        if kind is not PLANE_ROD:
            other = posed([p + height * n + 0.3 * aside], rng)
            other[:, 0] -= lever @ other[0, 1:]
            X = np.concatenate([block, N, P, lever])
            if kind is PLANE_CIRCLE:
                X = np.concatenate([X, [0.48, -0.6, 0.64], [0.03 if law == "barrier" else 0.1]])
        else:
            other = posed([p + height * n - 0.3 * aside, p + 1.05 * height * n + 0.4 * aside], rng)
            X = np.concatenate([block, N, P, [4.0, 0.7]])
        y0 = np.concatenate([plane, other])
    elif kind is SPHERES:
        y0 = posed([(0, 0, 0), (0.6 * height, 0, 0.8 * height)], rng)
        y0[:, 0] -= np.array([lever @ y0[0, 1:], 2 * lever @ y0[1, 1:]])
        X = np.concatenate([block, lever, 2 * lever])
    elif kind is SPHERE_ROD:
        y0 = posed([(0.1, 0.6 * height, 0.8 * height), (-0.2, 0, 0), (0.5, 0.02, 0)], rng)
        y0[0, 0] -= lever @ y0[0, 1:]
        X = np.concatenate([block, lever, [1.0]])
    elif kind in CAPSULE_KINDS:
        X, y0 = _capsule_numbers(kind, height, block, lever, rng)
    elif kind in (*BOX_KINDS, HULLS, ROUND_HULLS, EDGES):
        X, y0 = _box_numbers(kind, height, block, lever, rng)
    elif kind in MESH_KINDS:
        X, y0 = _mesh_numbers(kind, height, block, lever, rng)
        step = min(step, 0.05)  # not on the other side
    elif kind in CORE_KINDS:
        X, y0 = _core_numbers(kind, height, block, lever, rng)
    else:
        h = 0.95 * height
        y0 = posed([(0.1, -0.2, h), (0.15, 0.5, 1.02 * h), (-0.2, 0, 0), (0.5, 0.02, 0)], rng)
        X = np.concatenate([block, [5.0, 0.7, 1.0]])
    return Touch(kind, X, y0, moved(y0, rng, step))


BOX_KINDS = (SPHERE_BOX, BOXES, BOX_ROD)
MESH_KINDS = (SPHERE_MESH, MESH_ROD, MESH_HULL, MESH_ROUND)
CAPSULE_KINDS = (SPHERE_CAPSULE, CAPSULE_ROD, CAPSULES)
SPHERE_ROUND, ROUND_ROD = (kind._replace(name=f"{kind.name}, round") for kind in (SPHERE_CORE, CORE_ROD))
CORE_KINDS = (SPHERE_CORE, CORE_ROD, SPHERE_ROUND, ROUND_ROD, HULLS, ROUND_HULLS)
ENERGIES = (PLANE_SPHERE, PLANE_CIRCLE, PLANE_ROD, SPHERES, SPHERE_ROD, RODS)
ENERGIES += (*CAPSULE_KINDS, *BOX_KINDS, *CORE_KINDS, *MESH_KINDS, EDGES)
SIGNS = np.array([(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
PRISM = np.array([(x, y, z) for z in (-0.2, 0.2) for x, y in ((-0.3, -0.2), (0.3, -0.2), (0.1, 0.3))])
CYLINDER = np.array([(-0.36, -0.2), (0.36, -0.2), (0.36, 0.2), (-0.36, 0.2)])
CONE = np.array([(-0.3, -0.2), (0.3, -0.2), (0.25, 0.1), (0.0, 0.3)])  # truncated below, pointed above


def core_block(surface):
    """The parameters of a hull or a body of revolution."""
    return core_numbers(contacts_of([surface]), 0)


def _core_numbers(kind, height, block, lever, rng):
    """Parameters and poses: the other shape is above an edge, or a rim, of a core, and moves from one of its sides to another."""
    of_rod, round_one = kind in (CORE_ROD, ROUND_ROD), kind in (SPHERE_ROUND, ROUND_ROD)
    core = core_block(Round(0, lever, CONE, 0.0) if round_one else Hull(0, lever + PRISM, 0.0))
    y = posed([(0.0, 0.0, 0.0)], rng)
    edge, out = ((-0.15, 0.2, 0.1), (-0.5, 0.7, 0.4)) if round_one else ((0.1, -0.2, 0.2), (0.0, -0.7, 0.7))
    edge, out = edge @ y[0, 1:], out / np.linalg.norm(out) @ y[0, 1:]
    along = np.cross(out, y[0, 2]) + 0.3 * y[0, 2]
    ends = [edge + 0.95 * height * out - 0.2 * along, edge + height * out + 0.4 * along]
    y[0, 0] -= lever @ y[0, 1:]
    if of_rod:
        return np.concatenate([block, [5.0, 0.7], core]), np.concatenate([y, posed(ends, rng)])
    ball = posed([0.6 * ends[0] + 0.4 * ends[1]], rng)
    ball[:, 0] -= lever @ ball[0, 1:]
    return np.concatenate([block, lever, core]), np.concatenate([ball, y])


def _box_numbers(kind, height, block, lever, rng):
    """Parameters and poses: the other shape is above an edge of the last; for two boxes an edge crosses it, and a corner is
    close.
    """
    half, core = np.array([0.2, 0.15, 0.3]), np.array([0.25, 0.3, 0.2])
    if kind is BOX_ROD:
        y = posed([(0.0, 0.0, 0.0)], rng)
        edge, out = core * (0.4, 1.0, 1.0) @ y[0, 1:], (0.5 * y[0, 2] + 0.8 * y[0, 3]) / np.hypot(0.5, 0.8)
        along = np.cross(out, y[0, 1]) + 0.3 * y[0, 1]
        nodes = posed([edge + 0.95 * height * out - 0.2 * along, edge + height * out + 0.4 * along], rng)
        y[0, 0] -= lever @ y[0, 1:]
        return np.concatenate([block, [5.0, 0.7], lever, core]), np.concatenate([y, nodes])
    y = posed([(0.0, 0.0, 0.0)] * 2, rng)
    edge, tangent = core * (0.4, 1.0, 1.0) @ y[1, 1:], y[1, 1]
    out = (0.5 * y[1, 2] + 0.8 * y[1, 3]) / np.hypot(0.5, 0.8)
    if kind is SPHERE_BOX:
        y[0, 0] = edge + 0.95 * height * out
        X = np.concatenate([block, lever, lever, core])
    else:
        across = np.cos(0.9) * tangent + np.sin(0.9) * np.cross(out, tangent)
        side = np.cross(out, across)
        y[0, 1:] = (
            across,
            (side + out) / 2**0.5,
            (out - side) / 2**0.5,
        )  # on the edge between two of its faces
        near = half * (
            0.4 if kind is EDGES else 0.8,
            -1.0,
            -1.0,
        )  # of that edge, for hulls close to its end
        y[0, 0] = edge + 0.9 * height * out - near @ y[0, 1:]
        X = np.concatenate([block, lever, half, lever, core])
        if kind is EDGES:
            ends = half * [(-1, -1, -1), (1, -1, -1)], core * [(-1, 1, 1), (1, 1, 1)]
            X = np.concatenate([block, *(lever + point for points in ends for point in points)])
        if kind in (HULLS, ROUND_HULLS):
            cores = [core_block(Hull(0, lever + SIGNS * size, 0.0)) for size in (half, core)]
            if kind is ROUND_HULLS:
                cores[1] = as_faceted_hull(core_block(Round(0, lever, CYLINDER, 0.0)))
            X = np.concatenate([block, *cores])
    y[:, 0] -= lever @ y[:, 1:]
    return X, y


def ground(n, height=lambda x, y: 0.0 * x, half=1.0):
    """Vertices and triangles of 2 n^2 triangles above a square."""
    x, y = (
        coordinate.ravel()
        for coordinate in np.meshgrid(*[np.linspace(-half, half, n + 1)] * 2, indexing="ij")
    )
    a = (np.arange(n)[:, None] * (n + 1) + np.arange(n)).ravel()
    lower, upper = np.stack([a, a + n + 1, a + n + 2], axis=1), np.stack([a, a + n + 2, a + 1], axis=1)
    return np.stack([x, y, height(x, y)], axis=1), np.concatenate([lower, upper])


def mesh_numbers(vertices, triangles):
    """Parameters of all triangles."""
    contacts = contacts_of([Mesh(0, np.asarray(vertices, float), np.asarray(triangles), 0.0)])
    return triangle_parameters(contacts, np.arange(len(triangles)))


def _mesh_numbers(kind, height, block, lever, rng):
    """Parameters and poses: the other shape is above hills whose faces, ridges and valleys have its size."""
    mesh = mesh_numbers(*ground(4, lambda x, y: 0.05 * np.sin(7.0 * x + 3.0 * y) * np.cos(5.0 * y), 0.6))
    (y,) = posed([(0.1, -0.2, 0.3)], rng)
    if kind is SPHERE_MESH:
        (one,) = posed([(0.08, 0.03, 0.95 * height) @ y[1:] + y[0]], rng)
        one[0] -= lever @ one[1:]
        return np.concatenate([block, lever, mesh]), np.stack([one, y])
    if kind in (MESH_HULL, MESH_ROUND):
        (one,) = posed([(0.05, 0.02, 0.95 * height + 0.17) @ y[1:] + y[0]], rng, 0.4)
        one[1:] = one[1:] @ y[1:]
        one[0] -= lever @ one[1:]
        core = core_block(Hull(0, lever + SIGNS * (0.2, 0.15, 0.15), 0.0))
        if kind is MESH_ROUND:
            core = as_faceted_hull(core_block(Round(0, lever, CYLINDER * (0.6, 0.75), 0.0)))
        return np.concatenate([block, core, with_ridges(mesh)]), np.stack([y, one])
    ends = np.array([(-0.2, 0.03, 0.95 * height), (0.35, -0.1, height)]) @ y[1:] + y[0]
    return np.concatenate([block, [5.0, 0.7], mesh]), np.concatenate([y[None], posed(ends, rng)])


def _capsule_numbers(kind, height, block, lever, rng):
    """Parameters and poses: the last is a capsule, or a rod, along x below the other shape."""
    below = np.array([(-0.2, 0.0, 0.0), (0.5, 0.02, 0.0)])
    if kind is SPHERE_CAPSULE:
        above = np.array([(0.1, 0.6 * height, 0.8 * height)])
    else:
        above = np.array([(0.05, -0.15, 0.95 * height), (0.2, 0.3, 0.97 * height)])
    if kind is CAPSULE_ROD:
        (one,) = posed([above[0]], rng)
        X = np.concatenate([block, [5.0, 0.7], lever, lever + (above[1] - above[0]) @ one[1:].T])
        one[0] -= lever @ one[1:]
        return X, np.concatenate([one[None], posed(below, rng)])
    y = posed([above[0], below[0]], rng)
    ends = [lever + (points - points[0]) @ at[1:].T for points, at in zip((above, below), y, strict=True)]
    y[:, 0] -= lever @ y[:, 1:]
    return np.concatenate([block, *(points.ravel() for points in ends)]), y


def updated_bristles(kind, y0, y1, X, lam):
    """Internal variables at the end of a step."""
    out = np.zeros((MAX_FRAMES, 4, 3), complex)
    call(kind.condensed.update_internal, (all_poses(y0), all_poses(y1), X, np.array([lam], complex), out))
    return out.ravel()[: kind.n_internal].real


def bristle_energy(kind, y, X):
    """Energy stored in the internal variables."""
    out = np.zeros(1, complex)
    call(kind.condensed.stored_energy, (all_poses(y), X, out))
    return out[0].real


def expecting(lam, rng):
    """Multipliers of a step, with the signs that it expects."""
    multipliers = np.zeros(WITH_SEEN, complex)
    multipliers[0], multipliers[EXPECTED:SEEN] = lam, rng.uniform(-0.6, 0.6, SEEN - EXPECTED)
    return multipliers


def tangent(t, lam, block=6, moves=1.0):
    """Tangent (n, n) of forces and torques to (dr, eta), or of forces to positions alone, and the frames that contribute. A
    fixed
    plane has no entries.
    """
    out, K = np.ones((MAX_FRAMES, 4, 3), complex), np.full((block * MAX_FRAMES,) * 2, np.nan)
    out[0, 3, 0] = moves
    y1, n = all_poses(t.y1), block * t.kind.arity
    call(t.kind.tangent, (all_poses(t.y0), y1, t.X, np.array(np.atleast_1d(lam), complex), out, K))
    assert not y1.imag.any()
    return K[:n, :n], out[: t.kind.arity, 3, 0]


def tangent_by_columns(t, lam, block=6):
    """Return the tangent by complex steps of the dual."""
    columns = []
    for k, j in np.ndindex(t.kind.arity, block):
        y1 = np.array(t.y1, complex)
        if j < 3:
            y1[k, 0, j] += 1j * EPS
        else:
            y1[k, 1:] += 1j * EPS * np.cross(np.eye(3)[j - 3], t.y1[k, 1:])
        f = dual(t.kind, t.y0, y1, t.X, lam)
        torque = np.cross(0.5 * (t.y0 + y1)[:, 1:], f[:, 1:]).sum(axis=1)
        columns.append(np.concatenate([f[:, 0], torque], axis=1)[:, :block].imag.ravel() / EPS)
    return np.array(columns)
