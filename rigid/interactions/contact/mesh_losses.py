"""What contacts with meshes lose: of a sphere or an element one force of all that it touches of a mesh. See `friction`."""

from rigid.compilation.decorators import small_kernel
from rigid.interactions.contact.box_losses import lost_by_two
from rigid.interactions.contact.friction import resist, store_own
from rigid.interactions.contact.losses import chord_of, loss_kind, scaled_dual, set_weight, share_of_first
from rigid.interactions.contact.mesh_points import rod_on_mesh, sphere_on_mesh
from rigid.interactions.kinds import add_dual, dual_function, frame


@small_kernel
def _lost_by_sphere_on_mesh(y0, y1, X, lam, out):
    out[:] = 0.0
    found = sphere_on_mesh(y0, y1, X, 1.0 + 0j, share_of_first(X), out)
    return lost_by_two(y0, y1, X, lam, found, out)


@small_kernel
def _lost_by_rod_on_mesh(y0, y1, X, lam, out):
    out[:] = 0.0
    found = rod_on_mesh(y0, y1, X, 1.0 + 0j, share_of_first(X), out)
    on_mesh = frame(out, 0)
    set_weight(out, 0, -found[0])
    end = resist(y0, y1, X, lam, (1, 3), found, chord_of(y0, y1, 1), out)
    add_dual(scaled_dual(end[0], on_mesh), out, 0)
    return end


@dual_function
def of_sphere_on_mesh(y0, y1, X, lam, out):
    _lost_by_sphere_on_mesh(y0, y1, X, lam, out)


@dual_function
def sphere_on_mesh_held(y, z, X, lam, out):
    _lost_by_sphere_on_mesh(y, y, X, lam, out)


@dual_function
def sphere_on_mesh_settled(y0, y1, X, lam, out):
    store_own(_lost_by_sphere_on_mesh(y0, y1, X, lam, out), out)


@dual_function
def of_rod_on_mesh(y0, y1, X, lam, out):
    _lost_by_rod_on_mesh(y0, y1, X, lam, out)


@dual_function
def rod_on_mesh_held(y, z, X, lam, out):
    _lost_by_rod_on_mesh(y, y, X, lam, out)


@dual_function
def rod_on_mesh_settled(y0, y1, X, lam, out):
    store_own(_lost_by_rod_on_mesh(y0, y1, X, lam, out), out)


SPHERE_MESH_LOSS = loss_kind(
    "a sphere and a mesh", 2, of_sphere_on_mesh, sphere_on_mesh_held, sphere_on_mesh_settled
)
MESH_ROD_LOSS = loss_kind("a mesh and a rod", 3, of_rod_on_mesh, rod_on_mesh_held, rod_on_mesh_settled)
