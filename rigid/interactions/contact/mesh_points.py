"""Contact of spheres and stations of rods with both sides of a rigid triangle mesh: see `mesh_features`."""

from rigid.compilation.decorators import inline_kernel
from rigid.interactions.contact.contact_sums import (
    NOTHING,
    add,
    add_on_station,
    along,
    mark_failed,
    origin,
    share_of,
)
from rigid.interactions.contact.mesh_features import box_around, is_clear_of_box, pieces
from rigid.interactions.contact.planes import store_on_node
from rigid.interactions.kinds import (
    Kind,
    add_dual,
    dual_function,
    frame,
    no_bend,
    value_function,
    vector,
    whole,
)
from rigid.kinematics.poses import on_point, point
from rigid.linear_algebra import average, dot, minus, plus, times

CENTRE, MESH = 5, 8  # offsets in X of the centre of a sphere and of its mesh
# offsets in X of the number of stations of an element, followed by its length, and of its mesh
STATIONS, MESH_OF_ROD = 5, 7


@inline_kernel
def inside(y, x):
    """Return the coordinates of a point x in the axes of the frame y."""
    w = minus(x, y[0])
    return dot(y[1], w), dot(y[2], w), dot(y[3], w)


@inline_kernel
def _outside(y, f):
    """Return the vector with the components f in the axes of the frame y."""
    return plus(times(f[0], y[1]), plus(times(f[1], y[2]), times(f[2], y[3])))


@inline_kernel
def push_from_mesh(x0, x1, poses, j, X, at, weight, fraction, out):
    """Add the dual of the mesh of frame j in contact with a point; return the contact sums, forces on the point.

    `poses`: poses of frame j at both ends of the step. `at`: offset of the mesh in X. `fraction`: fraction of the distance from
    the point to the mesh at which both surfaces touch, measured from the point.
    """
    a, b = poses
    sums = pieces(X, at, inside(a, x0), inside(b, x1))
    if sums[0].real != sums[0].real:
        mark_failed(out)
        return NOTHING
    if sums[0] == 0.0:
        return NOTHING
    w = average(minus(x0, a[0]), minus(x1, b[0]))
    mean = average(a[0], b[0]), average(a[1], b[1]), average(a[2], b[2]), average(a[3], b[3])
    force, f = _outside(mean, sums[1]), times(weight, sums[1])
    for i in range(3):
        out[j, 0, i] += weight * force[i]
        for k in range(3):
            out[j, 1 + k, i] -= f[k] * w[i]
    weighted_point = minus(times(sums[0], average(x0, x1)), times(fraction, _outside(mean, sums[2])))
    return weight * sums[0], times(weight, force), times(weight, weighted_point), weight * sums[3]


@inline_kernel
def _energy(x, y, X, at):
    """Return the potential of a point x and the mesh of the frame y; `at`: offset of the mesh in X."""
    u = inside(y, x)
    return pieces(X, at, u, u)[4]


# --- a sphere


@value_function
def value_of_sphere_and_mesh(y, X, out):
    """Compute the potential of a sphere and a mesh."""
    out[0] = _energy(point(frame(y, 0), vector(X, CENTRE)), frame(y, 1), X, MESH)


@inline_kernel
def sphere_on_mesh(y0, y1, X, weight, fraction, out):
    """Add the duals of a sphere and a mesh to `out`, and nothing else; return the contact sums."""
    local = vector(X, CENTRE)
    x0, x1 = point(frame(y0, 0), local), point(frame(y1, 0), local)
    sums = push_from_mesh(x0, x1, (frame(y0, 1), frame(y1, 1)), 1, X, MESH, weight, fraction, out)
    add_dual(on_point(times(-1.0, sums[1]), local), out, 0)
    return sums


@dual_function
def dual_of_sphere_and_mesh(y0, y1, X, lam, out):
    """Compute the discrete gradient of the potential of a sphere and a mesh."""
    out[:] = 0.0
    sphere_on_mesh(y0, y1, X, lam[0], 0.5, out)


# --- an element of a rod, frames 1 and 2


@value_function
def value_of_mesh_and_rod(y, X, out):
    """Compute the potential of a mesh and an element of a rod."""
    m, out[0] = whole(X[STATIONS]), 0.0
    for i in range(m + 1):
        out[0] += share_of(i, X, STATIONS) * _energy(along(y, 1, i / m), frame(y, 0), X, MESH_OF_ROD)


@inline_kernel
def _out_of_reach(y, X):
    """Return True if no face is within the reach of the element."""
    mesh = frame(y, 0)
    low, high = box_around(X, inside(mesh, origin(y, 1)), inside(mesh, origin(y, 2)))
    return is_clear_of_box(X, MESH_OF_ROD, low, high)


@inline_kernel
def rod_on_mesh(y0, y1, X, weight, fraction, out):
    """Add the dual of the mesh, and forces and weights of the nodes of an element, to `out`; return the contact sums."""
    if _out_of_reach(y0, X) and _out_of_reach(y1, X):
        return NOTHING
    m, total, poses = whole(X[STATIONS]), NOTHING, (frame(y0, 0), frame(y1, 0))
    for i in range(m + 1):
        s, station_weight = i / m, weight * share_of(i, X, STATIONS)
        sums = push_from_mesh(
            along(y0, 1, s), along(y1, 1, s), poses, 0, X, MESH_OF_ROD, station_weight, fraction, out
        )
        if sums[0] != 0.0:
            add_on_station(out, 1, s, sums)
            total = add(total, sums)
    return total


@dual_function
def dual_of_mesh_and_rod(y0, y1, X, lam, out):
    """Compute the discrete gradient of the potential of a mesh and an element of a rod."""
    out[:] = 0.0
    rod_on_mesh(y0, y1, X, lam[0], 0.5, out)
    for k in range(1, 3):
        store_on_node(out, k)


SPHERE_MESH = Kind(
    "contact of a sphere and a mesh", 2, 0, value_of_sphere_and_mesh, dual_of_sphere_and_mesh, no_bend,
    one_sided=True,
)  # fmt: skip
MESH_ROD = Kind(
    "contact of a mesh and a rod", 3, 0, value_of_mesh_and_rod, dual_of_mesh_and_rod, no_bend,
    one_sided=True, turning=1,
)  # fmt: skip
