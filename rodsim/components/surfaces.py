"""Entries for surfaces on parts, to which contacts refer: spheres, solids, planes, meshes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rigid import quaternions
from rigid.checks import array, shown
from rigid.errors import ModelError
from rigid.mesh_mass_properties import check_closed
from rigid.solids import Cuboid, Features, Hull, Revolved, Solid, Stadium
from rigid.system import Floats, Ints
from rigid.triangle_surfaces import triangle_surface
from rodsim.components.base import (
    DIRECTION,
    NOT_NEGATIVE,
    POINT,
    POSITIVE,
    CheckContext,
    Component,
    ParameterType,
    choice,
    component,
    parameter,
)
from rodsim.components.model_parts import Anchor, Body


@component
class SurfaceComponent(Component):
    """Base class of surfaces on parts."""

    on: Anchor

    def with_rigid_rods(self, changed: dict[str, Any], section: Callable[[Anchor], Floats]) -> Any:
        vertices = getattr(self, "vertices", None)
        if "on" in changed and vertices is not None:  # the body's axes are not those of the section
            changed = changed | {"vertices": quaternions.rotate(section(self.on), vertices)}
        return super().with_rigid_rods(changed, section)


@component
class SphereSurface(SurfaceComponent):
    """A sphere, or a point, that can touch other surfaces."""

    key, word, list_description, table = "spheres", "sphere", "spheres and points that can touch", "spheres"
    tables_without_namesakes = ("planes", "solids", "meshes")
    on: Anchor = parameter(POINT, "centre: a point of a body, a rod, a driven frame or the ground")
    radius: float = parameter(NOT_NEGATIVE, "radius; 0: a point [m]")


@component
class PlaneSurface(SurfaceComponent):
    """A plane that bounds a half-space."""

    key, word, list_description, table = "planes", "plane", "planes, each the face of a half-space", "planes"
    tables_without_namesakes = ("spheres", "solids", "meshes")
    on: Anchor = parameter(POINT, "a point of the plane, on the ground or the part that carries it")
    normal: Floats = parameter(DIRECTION, "outward normal of the half-space, world direction at t = 0 [1]")


def _check_vertices(context: CheckContext, what: str, value: Any) -> Floats:
    """Check points (n, 3), m, at least one."""
    points = array(context.owner, what, value, (None, 3))
    if not len(points):
        raise ModelError(
            f"{context.owner}: {what} is empty; give points (n, 3), or remove it to use the body's own shape"
        )
    return points


@component
class SolidSurface(SurfaceComponent):
    """A convex body that can touch: a body's shape, or the hull of points."""

    key, word, table = "solids", "solid", "solids"
    list_description = "convex bodies that can touch"
    tables_without_namesakes = ("spheres", "planes", "meshes")
    on: Anchor = parameter(POINT, "body whose shape is used; with vertices, their origin")
    vertices: Floats | None = parameter(
        ParameterType("points", _check_vertices),
        "points whose convex hull is used, in the axes of the part; default: the shape of the body [m]",
        None,
    )
    radius: float = parameter(
        NOT_NEGATIVE,
        "rounding radius: the size of a shape is unchanged, vertices are centres of balls [m]",
        0.0,
    )

    @classmethod
    def complete(cls, context: CheckContext, values: dict[str, Any]) -> None:
        owner, on, vertices = context.owner, values["on"], values["vertices"]
        if vertices is None:
            _check_shape(owner, on)
        _features_of(owner, on, vertices, values["radius"])

    def features(self, bodies: Mapping[str, Body]) -> Features:
        """Return the geometric features of the solid, from its point, in the axes of its part.

        `bodies`: current bodies of the model, since the shape of a body may have been replaced.
        """
        on, owner = self.on, f"{self.word} '{self.name}'"
        if isinstance(on.part, Body):
            on = replace(on, part=bodies[on.part.name])
        if self.vertices is None:
            _check_shape(owner, on)
        return _features_of(owner, on, self.vertices, self.radius)

    @property
    def is_capsule(self) -> bool:
        """True if the solid is a capsule, the points within a radius of a segment."""
        if self.vertices is not None:
            return len(self.vertices) == 2 and self.radius > 0.0 and bool(np.ptp(self.vertices, axis=0).any())
        return isinstance(_solid_of(self.on), Stadium)

    @property
    def is_box(self) -> bool:
        """True if the solid is the shape of a body made by Box, rounded or not."""
        return self.vertices is None and isinstance(_solid_of(self.on), Cuboid)

    @property
    def is_hull(self) -> bool:
        """True if the solid is the convex hull of vertices or of a mesh, and not a point, line or plate."""
        solid = _solid_of(self.on) if self.vertices is None else Hull(self.vertices)
        return isinstance(solid, Hull) and not solid.is_flat

    @property
    def is_round(self) -> bool:
        """True if the solid is a cylinder, a cone or another body of revolution with corners."""
        return self.vertices is None and isinstance(_solid_of(self.on), Revolved)


def _solid_of(on: Anchor) -> Solid | None:
    """Return the solid of the body that an anchor is on; None if it has none or the part is not a body."""
    return on.part.properties.solid if isinstance(on.part, Body) else None


def _check_shape(owner: str, on: Anchor) -> None:
    """Raise ModelError if the part has no shape that can touch, or the anchor is not at the origin of the shape."""
    if _solid_of(on) is None:
        raise ModelError(
            f"{owner}: {on.part} has no shape that could touch, as Box, Cylinder, Capsule, Sphere, Cone and Mesh have; give "
            "vertices= (n, 3)"
        )
    if np.any(on.X != 0.0):
        raise ModelError(
            f"{owner}: the shape of {on.part} cannot be moved to a point; give {on.part} itself, or vertices="
        )


def _features_of(owner: str, on: Anchor, vertices: Floats | None, radius: float) -> Features:
    """Return the geometric features of the shape of a body, or of the hull of vertices (n, 3), m, with a rounding radius (m)."""
    solid = _solid_of(on) if vertices is None else Hull(vertices)
    assert solid is not None
    if vertices is None and isinstance(solid, Hull) and radius > 0.0:
        raise ModelError(
            f"{owner}: radius = {radius:g} on a mesh, which has no rounding; remove it, or give vertices= and the radius "
            "around them"
        )
    return solid.features(owner, radius)


def _check_file(context: CheckContext, what: str, value: Any) -> str:
    """Check the name of a mesh file and return it as text."""
    if not isinstance(value, str | Path):
        raise ModelError(
            f"{context.owner}: {what} = {shown(value)}; give the name of a file that meshio reads"
        )
    return str(value)


def _check_count(value: Any) -> int:
    return len(value)


SIDES = ("both", "inside", "outside")


@component
class MeshSurface(SurfaceComponent):
    """A rigid surface of triangles, which all other surfaces can touch from both sides: terrain, a tube, a plate, a nut."""

    key, word, table = "meshes", "mesh", "meshes"
    list_description = "triangulated surfaces that can touch"
    tables_without_namesakes = ("spheres", "solids", "planes")
    on: Anchor = parameter(POINT, "origin of its coordinates; its axes are those of the part")
    file: str | None = parameter(
        ParameterType("mesh file", _check_file),
        "file, relative to the scene: STL, OBJ, PLY, VTK or another format of meshio",
        None,
    )
    vertices: Floats | None = parameter(
        ParameterType("points", _check_vertices, _check_count),
        "vertices in place of a file, in the axes of the part [m]",
        None,
    )
    triangles: Ints | None = parameter(
        ParameterType("triangles", describe=_check_count),
        "three vertex numbers for each triangle, from 0 [1]",
        None,
    )
    scale: float = parameter(POSITIVE, "factor of the coordinates, 0.001 for millimetres [1]", 1.0)
    radius: float = parameter(
        NOT_NEGATIVE, "distance by which the surface is offset from its triangles, on both sides [m]", 0.0
    )
    side: str = parameter(
        choice(*SIDES),
        "side on which all touching parts start; inside and outside need a closed surface",
        SIDES[0],
    )

    @classmethod
    def complete(cls, context: CheckContext, values: dict[str, Any]) -> None:
        owner, file, arrays = context.owner, values["file"], (values["vertices"], values["triangles"])
        if (file is None) == any(array is None for array in arrays) or (
            file is not None and any(array is not None for array in arrays)
        ):
            raise ModelError(f"{owner}: give either a file, or vertices (v, 3) and triangles (t, 3)")
        source = file if file is not None else arrays
        values["vertices"], values["triangles"] = triangle_surface(owner, source, values["scale"])
        if values["side"] != SIDES[0]:
            try:
                check_closed(owner, values["triangles"])
            except ModelError as error:
                raise ModelError(f"{error}, or remove side: a mesh can be touched on both sides") from None

    @property
    def corners(self) -> tuple[Floats, Ints]:
        """Vertices (v, 3), m, from the point of the mesh in the axes of its part, and triangles (t, 3), from a file or arrays."""
        assert self.vertices is not None
        assert self.triangles is not None
        return self.vertices, self.triangles


SURFACES_ON_PARTS: tuple[type[SurfaceComponent], ...] = (
    SphereSurface,
    SolidSurface,
    PlaneSurface,
    MeshSurface,
)
