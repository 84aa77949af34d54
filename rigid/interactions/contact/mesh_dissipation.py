"""Compute the dissipative contact forces of meshes: one force for all contacts of a sphere, a body or an element with a mesh.

The laws are those of `friction`.
"""

from rigid.compilation.decorators import inline_kernel
from rigid.interactions.contact.box_dissipation import dissipation_of_two
from rigid.interactions.contact.friction import store_internal_variables, write_dissipative_duals
from rigid.interactions.contact.mesh_hulls import hull_on_mesh
from rigid.interactions.contact.mesh_points import rod_on_mesh, sphere_on_mesh
from rigid.interactions.contact.round_hulls import round_on_mesh
from rigid.interactions.contact.sphere_rod_dissipation import (
    chord_of,
    dissipation_kind,
    scaled_dual,
    set_weight,
    share_of_first,
)
from rigid.interactions.kinds import add_dual, dual_function, frame
from rigid.kinematics.poses import ZERO


@inline_kernel
def _dissipation_of_sphere_on_mesh(y0, y1, X, lam, out):
    """Compute the dissipative duals of a sphere and a mesh; return the result of `write_dissipative_duals`."""
    out[:] = 0.0
    sums = sphere_on_mesh(y0, y1, X, 1.0 + 0j, share_of_first(X), out)
    return dissipation_of_two(y0, y1, X, lam, sums, out)


@inline_kernel
def _dissipation_of_rod_on_mesh(y0, y1, X, lam, out):
    """Compute the dissipative duals of a mesh and an element of a rod; return the result of `write_dissipative_duals`."""
    out[:] = 0.0
    sums = rod_on_mesh(y0, y1, X, 1.0 + 0j, share_of_first(X), out)
    on_mesh = frame(out, 0)
    set_weight(out, 0, -sums[0])
    end = write_dissipative_duals(y0, y1, X, lam, (1, 3), sums, chord_of(y0, y1, 1), out)
    add_dual(scaled_dual(end[0], on_mesh), out, 0)
    return end


@inline_kernel
def _dissipation_of_hull_on_mesh(y0, y1, X, lam, out):
    """Compute the dissipative duals of a mesh and a hull; return the result of `write_dissipative_duals`."""
    out[:] = 0.0
    poses_a, poses_b = (frame(y0, 0), frame(y1, 0)), (frame(y0, 1), frame(y1, 1))
    sums = hull_on_mesh(poses_a, poses_b, X, 1.0 + 0j, share_of_first(X), out)
    return _dissipation_of_body(y0, y1, X, lam, sums, out)


@inline_kernel
def _dissipation_of_round_on_mesh(y0, y1, X, lam, out):
    """Compute the dissipative duals of a mesh and a body of revolution; return the result of `write_dissipative_duals`."""
    out[:] = 0.0
    sums = round_on_mesh(y0, y1, X, 1.0 + 0j, share_of_first(X), out)
    return _dissipation_of_body(y0, y1, X, lam, sums, out)


@inline_kernel
def _dissipation_of_body(y0, y1, X, lam, sums, out):
    """Add the dissipative duals of a mesh and a body to `out` and return the result of `write_dissipative_duals`.

    `out`: on entry the duals of the potential, on return those of the dissipation. `sums`: contact sums, forces
    on the body.
    """
    on_mesh, on_hull = frame(out, 0), frame(out, 1)
    set_weight(out, 0, -sums[0])
    set_weight(out, 1, sums[0])
    end = write_dissipative_duals(y0, y1, X, lam, (1, 2), sums, ZERO, out)
    add_dual(scaled_dual(end[0], on_mesh), out, 0)
    add_dual(scaled_dual(end[0], on_hull), out, 1)
    return end


@dual_function
def of_sphere_on_mesh(y0, y1, X, lam, out):
    """Compute the dissipative duals of a sphere and a mesh."""
    _dissipation_of_sphere_on_mesh(y0, y1, X, lam, out)


@dual_function
def update_sphere_on_mesh(y0, y1, X, lam, out):
    """Compute the internal variables of the friction of a sphere and a mesh at the end of a step."""
    store_internal_variables(_dissipation_of_sphere_on_mesh(y0, y1, X, lam, out), out)


@dual_function
def of_rod_on_mesh(y0, y1, X, lam, out):
    """Compute the dissipative duals of a mesh and an element of a rod."""
    _dissipation_of_rod_on_mesh(y0, y1, X, lam, out)


@dual_function
def update_rod_on_mesh(y0, y1, X, lam, out):
    """Compute the internal variables of the friction of a mesh and an element of a rod at the end of a step."""
    store_internal_variables(_dissipation_of_rod_on_mesh(y0, y1, X, lam, out), out)


@dual_function
def of_hull_on_mesh(y0, y1, X, lam, out):
    """Compute the dissipative duals of a mesh and a hull."""
    _dissipation_of_hull_on_mesh(y0, y1, X, lam, out)


@dual_function
def update_hull_on_mesh(y0, y1, X, lam, out):
    """Compute the internal variables of the friction of a mesh and a hull at the end of a step."""
    store_internal_variables(_dissipation_of_hull_on_mesh(y0, y1, X, lam, out), out)


@dual_function
def of_round_on_mesh(y0, y1, X, lam, out):
    """Compute the dissipative duals of a mesh and a body of revolution."""
    _dissipation_of_round_on_mesh(y0, y1, X, lam, out)


@dual_function
def update_round_on_mesh(y0, y1, X, lam, out):
    """Compute the internal variables of the friction of a mesh and a body of revolution at the end of a step."""
    store_internal_variables(_dissipation_of_round_on_mesh(y0, y1, X, lam, out), out)


SPHERE_MESH_DISSIPATION = dissipation_kind("a sphere and a mesh", 2, of_sphere_on_mesh, update_sphere_on_mesh)
MESH_ROD_DISSIPATION = dissipation_kind("a mesh and a rod", 3, of_rod_on_mesh, update_rod_on_mesh)
MESH_HULL_DISSIPATION = dissipation_kind("a mesh and a hull", 2, of_hull_on_mesh, update_hull_on_mesh)
MESH_ROUND_DISSIPATION = dissipation_kind(
    "a mesh and a round body", 2, of_round_on_mesh, update_round_on_mesh
)
