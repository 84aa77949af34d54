"""Contact of bodies of revolution with hulls, boxes, capsules, each other and meshes.

They are treated as hulls whose facets do not rotate with them.

The second body is the hull of points on its rims. `rigid.kinematics.facets` determines their positions from its axis a in the
axes d_k of the first body. With w from the origin of the first to a point of the axis,

    u_k = d_k . w,   a_k = d_k . a                                                                                    (1)

determine all that matters of both poses. V is that of `hulls`, or of `mesh_hulls`, in the axes of the first body: of a hull,
or a mesh, at rest there and a hull with the axes t1(a), t2(a) and a. V1 - V0 is the sum of its duals times the changes of u,
t1, t2 and a. The axes t1 and t2 change by their `mean_slopes` times the change of a. Since (1) is bilinear, by the product rule
the work is exact, momenta are conserved, and no moment acts about a. Of two bodies of revolution, the facets of the first
rotate with it, and carry those of the second along.
"""

from rigid.compilation.decorators import inline_kernel
from rigid.interactions.contact.contact_sums import NOTHING, has_failed
from rigid.interactions.contact.hulls import A, core_on_core, energy_of_cores, second
from rigid.interactions.contact.mesh_hulls import energy_of_hull_on_mesh, hull_on_mesh
from rigid.interactions.kinds import Kind, add_dual, dual_function, frame, no_bend, value_function, vector
from rigid.kinematics.facets import facet_axes, mean_slopes, next_axis
from rigid.kinematics.poses import ZERO, mean_pose, on_direction, on_point, point
from rigid.linear_algebra import average, dot, minus, plus, times

AXIS = (0j, 0j, 1.0 + 0j)  # axis of a body of revolution in its frame
AT_REST = (ZERO, (1.0 + 0j, 0j, 0j), (0j, 1.0 + 0j, 0j), AXIS)


@inline_kernel
def _seen(pose, w):
    """Return the components of a vector w in the axes of a pose."""
    return dot(pose[1], w), dot(pose[2], w), dot(pose[3], w)


@inline_kernel
def _outside(pose, f):
    """Return the vector with the components f in the axes of a pose."""
    return plus(times(f[0], pose[1]), plus(times(f[1], pose[2]), times(f[2], pose[3])))


@inline_kernel
def _placed(u, a, axes, X):
    """Return the pose of the faceted hull in the axes of the first body; X: centre of the round body in its frame."""
    back = plus(times(X[0], axes[0]), plus(times(X[1], axes[1]), times(X[2], a)))
    return minus(u, back), axes[0], axes[1], a


@inline_kernel
def facets_of(one, other, centre):
    """Return the pose of the faceted hull for one state; `centre`: centre of the round body in its frame."""
    u, a = _seen(one, minus(point(other, centre), one[0])), _seen(one, other[3])
    return _placed(u, a, facet_axes(a, next_axis(a), 0.0), centre)


@inline_kernel
def facets_in_step(poses_a, poses_b, centre):
    """Return the poses of the faceted hull at both ends of a step, the means and the slopes that `transform_to_space` needs."""
    (one0, one1), (other0, other1) = poses_a, poses_b
    w0, w1 = minus(point(other0, centre), one0[0]), minus(point(other1, centre), one1[0])
    a0, a1 = _seen(one0, other0[3]), _seen(one1, other1[3])
    axis = next_axis(plus(a0, a1))
    axes0 = facet_axes(a0, axis, 0.0)
    axes1 = facet_axes(a1, axis, axes0[2].real)
    placed = _placed(_seen(one0, w0), a0, axes0, centre), _placed(_seen(one1, w1), a1, axes1, centre)
    means = average(w0, w1), mean_pose(one0, one1), average(other0[3], other1[3])
    return placed, means, mean_slopes(a0, a1, axis, axes0, axes1)


@inline_kernel
def transform_to_space(sums, step, centre, out):
    """Transform contact sums from the axes of the first body to space, and the duals in `out` to those of both frames.

    On entry row 1 of `out` holds the dual of the pose of the faceted hull. `step`: result of `facets_in_step`.
    """
    _, (w, mean, a), (of_first, of_second) = step
    f, f1, f2, f3 = frame(out, 1)
    f1, f2, f3 = (
        minus(f1, times(centre[0], f)),
        minus(f2, times(centre[1], f)),
        minus(f3, times(centre[2], f)),
    )
    g = (
        f3[0] + dot(f1, of_first[0]) + dot(f2, of_second[0]),
        f3[1] + dot(f1, of_first[1]) + dot(f2, of_second[1]),
        f3[2] + dot(f1, of_first[2]) + dot(f2, of_second[2]),
    )
    out[0], out[1] = 0.0, 0.0
    force = _outside(mean, f)
    add_dual(on_point(force, centre), out, 1)
    add_dual(on_direction(_outside(mean, g), AXIS), out, 1)
    turns = (
        plus(times(f[0], w), times(g[0], a)),
        plus(times(f[1], w), times(g[1], a)),
        plus(times(f[2], w), times(g[2], a)),
    )
    add_dual((times(-1.0, force), turns[0], turns[1], turns[2]), out, 0)
    weighted_point = plus(times(sums[0], mean[0]), _outside(mean, sums[2]))
    return sums[0], _outside(mean, sums[1]), weighted_point, sums[3]


@inline_kernel
def has_contact(sums, out):
    """Return True if there are forces to transform, that is if a contact acts and the step has not failed."""
    return sums[0] != 0.0 and not has_failed(out)


# --- a hull


@value_function
def value_of_round(y, X, out):
    """Compute the potential of a hull and a body of revolution."""
    out[0] = energy_of_cores(AT_REST, facets_of(frame(y, 0), frame(y, 1), vector(X, second(X))), X)


@inline_kernel
def round_on_hull(y0, y1, X, weight, fraction, out):
    """Add the duals of a hull and a body of revolution to `out`, which must be zero; return the contact sums.

    Forces act on the first body. Nothing but duals is written to `out`. `fraction`: fraction of the distance from the first core
    to the second at which both surfaces touch.
    """
    centre = vector(X, second(X))
    step = facets_in_step((frame(y0, 0), frame(y1, 0)), (frame(y0, 1), frame(y1, 1)), centre)
    sums = core_on_core((AT_REST, AT_REST), step[0], X, weight, fraction, out)
    return transform_to_space(sums, step, centre, out) if has_contact(sums, out) else NOTHING


@dual_function
def dual_of_round(y0, y1, X, lam, out):
    """Compute the discrete gradient of the potential of a hull and a body of revolution."""
    out[:] = 0.0
    round_on_hull(y0, y1, X, lam[0], 0.5, out)


# --- a mesh, frame 0


@value_function
def value_of_round_and_mesh(y, X, out):
    """Compute the potential of a mesh and a body of revolution."""
    out[0] = energy_of_hull_on_mesh(AT_REST, facets_of(frame(y, 0), frame(y, 1), vector(X, A)), X)


@inline_kernel
def round_on_mesh(y0, y1, X, weight, fraction, out):
    """Add the duals of a mesh and a body of revolution to `out`, which must be zero; return the contact sums.

    Forces act on the round body. Nothing but duals is written to `out`. `fraction`: fraction of the distance from the round body
    to the mesh at which both surfaces touch.
    """
    centre = vector(X, A)
    step = facets_in_step((frame(y0, 0), frame(y1, 0)), (frame(y0, 1), frame(y1, 1)), centre)
    sums = hull_on_mesh((AT_REST, AT_REST), step[0], X, weight, fraction, out)
    return transform_to_space(sums, step, centre, out) if has_contact(sums, out) else NOTHING


@dual_function
def dual_of_round_and_mesh(y0, y1, X, lam, out):
    """Compute the discrete gradient of the potential of a mesh and a body of revolution."""
    out[:] = 0.0
    round_on_mesh(y0, y1, X, lam[0], 0.5, out)


ROUND_HULLS = Kind(
    "contact of a hull and a round body", 2, 0, value_of_round, dual_of_round, no_bend, one_sided=True
)
MESH_ROUND = Kind(
    "contact of a mesh and a round body", 2, 0, value_of_round_and_mesh, dual_of_round_and_mesh, no_bend,
    one_sided=True,
)  # fmt: skip
