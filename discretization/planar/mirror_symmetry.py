"""Check frames and joints for mirror symmetry about a plane, and compute the directions of frames in the plane.

For one model of a few bodies these are some hundred operations on three numbers each. They are compiled because one such
operation in numpy takes longer than all of them compiled.
"""

from rigid.compilation.decorators import inline_kernel, kernel
from rigid.kinematics.rotations import load4, rotated
from rigid.lanes import root
from rigid.linear_algebra import cross, dot, load3, minus, store3, times

SYMMETRY_TOLERANCE = 1e-12  # tolerance, relative to the largest value of the same quantity
NOTHING, POSITIONS, WEIGHT, SPINS, VELOCITIES, INERTIA = range(6)
NO_AXIS, UNDECIDED = -1, -2  # returned instead of an axis
_ROUND_OFF = 1e-14  # components of unit vectors below this count as zero
_INDEPENDENT = 1e-10  # squared relative size above which a second independent direction is certain
_LEANING = 0.9  # if the normal's component along axis 0 is larger, axis 1 gives the first direction


@inline_kernel
def conjugate(q):
    """Return the inverse of a unit quaternion."""
    return q[0], -q[1], -q[2], -q[3]


@inline_kernel
def _across(a, n):
    """Return the component of a across the unit vector n."""
    return minus(a, times(dot(a, n), n))


@inline_kernel
def _length(a):
    """Return the length of a vector."""
    return root(dot(a, a))


@inline_kernel
def _largest(a):
    """Return the largest absolute component of a vector."""
    return max(abs(a[0]), abs(a[1]), abs(a[2]))


@kernel
def model_extents(r, moving):
    """Return the extent of the frames `moving` and the largest distance of all from the origin, m.

    Both are largest components along the axes of space; the extent is measured from the first frame of `moving`.
    """
    extent, distance, first = 0.0, 0.0, load3(r[moving[0]])
    for f in moving:
        position = load3(r[f])
        extent, distance = max(extent, _largest(minus(position, first))), max(distance, _largest(position))
    return extent, distance


@kernel
def common_normal(vectors, gram):
    """Return the axis of space, 0 to 2, that is normal to these vectors (k, 3) and to those of earlier calls.

    Returns UNDECIDED if the vectors do not fix a plane yet, NO_AXIS if no axis of space is normal to them. gram (3, 3)
    accumulates the sums of products; it is zero before the first call.
    """
    size = 0.0
    for k in range(vectors.shape[0]):
        size = max(size, _length(load3(vectors[k])))
    if size == 0.0:
        return UNDECIDED
    for k in range(vectors.shape[0]):
        for i in range(3):
            for j in range(3):
                gram[i, j] += vectors[k, i] / size * (vectors[k, j] / size)
    none = 0
    while none < 3 and gram[none, none] != 0.0:
        none += 1
    if none == 3:
        return NO_AXIS
    i, j = (1 if none == 0 else 0), (1 if none == 2 else 2)
    trace = gram[0, 0] + gram[1, 1] + gram[2, 2]
    planar = gram[i, i] * gram[j, j] - gram[i, j] ** 2 > _INDEPENDENT * trace**2
    return none if planar else UNDECIDED


@kernel
def find_asymmetry(poses, rates, inertia, moving, gravity, normal, offset, extent):
    """Return the first property that is not its own mirror image, or NOTHING.

    The order is: PLACES of the frames `moving`, WEIGHT (gravity), then SPINS, VELOCITIES and INERTIA of these frames.

    poses: r, quat; rates: v, Omega; inertia (n, 3, 3); normal (3,) and offset (m, from the origin) of the plane; extent: size
    of the model, m.
    """
    (r, quat), (v, Omega) = poses, rates
    n, fastest, spinning = load3(normal), 0.0, 0.0
    for f in moving:
        if abs(dot(load3(r[f]), n) - offset) > SYMMETRY_TOLERANCE * extent:
            return POSITIONS
        fastest, spinning = max(fastest, _length(load3(v[f]))), max(spinning, _length(load3(Omega[f])))
    if abs(dot(load3(gravity), n)) > SYMMETRY_TOLERANCE * _length(load3(gravity)):
        return WEIGHT
    for f in moving:
        if _largest(_across(rotated(load4(quat[f]), load3(Omega[f])), n)) > SYMMETRY_TOLERANCE * spinning:
            return SPINS
    for f in moving:
        if abs(dot(load3(v[f]), n)) > SYMMETRY_TOLERANCE * fastest:
            return VELOCITIES
    for f in moving:
        J, body_normal = inertia[f], rotated(conjugate(load4(quat[f])), n)
        spin = dot(load3(J[0]), body_normal), dot(load3(J[1]), body_normal), dot(load3(J[2]), body_normal)
        if _length(_across(spin, body_normal)) > SYMMETRY_TOLERANCE * (J[0, 0] + J[1, 1] + J[2, 2]):
            return INERTIA
    return NOTHING


@kernel
def joint_distances_from_plane(frames, points, axes, poses, pointed, normal, offset, directions, up):
    """Return the largest distance (m) of a point of the constraints `pointed` from the plane.

    Writes `directions` (2, c, 3), Ua and Ub in space, and `up` (2, c), their components along the normal.

    frames (c, 2); points: Xa, Xb; axes: Ua, Ub; poses: r, quat.
    """
    (Xa, Xb), (Ua, Ub), (r, quat) = points, axes, poses
    n, distance = load3(normal), 0.0
    for k in pointed:
        a, b = frames[k, 0], frames[k, 1]
        pa, pb = rotated(load4(quat[a]), load3(Xa[k])), rotated(load4(quat[b]), load3(Xb[k]))
        for i in range(2):
            f, p = (a, pa) if i == 0 else (b, pb)
            distance = max(distance, abs(dot(load3(r[f]), n) + dot(p, n) - offset))
    for k in range(len(frames)):
        u, w = (
            rotated(load4(quat[frames[k, 0]]), load3(Ua[k])),
            rotated(load4(quat[frames[k, 1]]), load3(Ub[k])),
        )
        store3(u, directions[0, k])
        store3(w, directions[1, k])
        up[0, k], up[1, k] = dot(u, n), dot(w, n)
    return distance


@kernel
def compute_plane_directions(quat, basis, pairs, normals, frame, across, half):
    """Write the body-fixed directions of each frame and the coefficients of its planar half angle.

    across (k, 3, 3): two directions, along which components are taken, and the normal of the plane. half (k, 8): coefficients
    of w and z of the quaternion p of the planar rotation. It is defined by quat = p o q, with q the quaternion of the rotation
    from these directions to those of the plane.

    quat (n, 4); basis (3, 3); pairs (m, 2): ends of rod elements, which get the same normal, so that the rotation from one to
    the next is that of the element; frame (k,): frame numbers in elimination order. normals (n, 3) is scratch.
    """
    n = load3(basis[2])
    for f in range(quat.shape[0]):
        body_normal = rotated(conjugate(load4(quat[f])), n)
        body_normal = _rounded(body_normal[0]), _rounded(body_normal[1]), _rounded(body_normal[2])
        store3(_unit(body_normal), normals[f])
    for m in range(pairs.shape[0]):
        store3(load3(normals[pairs[m, 0]]), normals[pairs[m, 1]])
    for k in range(frame.shape[0]):
        body_normal = load3(normals[frame[k]])
        leaning = abs(body_normal[0]) > _LEANING  # never true for frames of rods
        first = (0.0, 1.0, 0.0) if leaning else (1.0, 0.0, 0.0)
        first = _unit(minus(first, times(body_normal[1] if leaning else body_normal[0], body_normal)))
        store3(first, across[k, 0])
        store3(cross(body_normal, first), across[k, 1])
        store3(body_normal, across[k, 2])
        q = _quaternion(basis, across[k])
        half[k, 0], half[k, 1], half[k, 2], half[k, 3] = q
        half[k, 4] = 0.0 * q[0] - dot(n, (q[1], q[2], q[3]))
        by = cross(n, (q[1], q[2], q[3]))
        for i in range(3):
            half[k, 5 + i] = 0.0 * q[1 + i] + q[0] * n[i] + by[i]


@inline_kernel
def _rounded(x):
    """Return x, or 0 if its absolute value is below `_ROUND_OFF`."""
    return 0.0 if abs(x) < _ROUND_OFF else x


@inline_kernel
def _unit(a):
    """Return the unit vector along a."""
    size = _length(a)
    return a[0] / size, a[1] / size, a[2] / size


@inline_kernel
def _entry(basis, across, i, j):
    """Return entry (i, j) of the rotation matrix basis^T across."""
    return 0.0 + basis[0, i] * across[0, j] + basis[1, i] * across[1, j] + basis[2, i] * across[2, j]


@inline_kernel
def _quaternion(basis, across):
    """Return the unit quaternion of the rotation matrix basis^T across, as `rigid.quaternions.from_matrix` does."""
    r00, r11, r22 = _entry(basis, across, 0, 0), _entry(basis, across, 1, 1), _entry(basis, across, 2, 2)
    trace = r00 + r11 + r22
    ww, xx = 1.0 + trace, 1.0 + 2.0 * r00 - trace
    yy, zz = 1.0 + 2.0 * r11 - trace, 1.0 + 2.0 * r22 - trace
    r01, r10 = _entry(basis, across, 0, 1), _entry(basis, across, 1, 0)
    r02, r20 = _entry(basis, across, 0, 2), _entry(basis, across, 2, 0)
    r12, r21 = _entry(basis, across, 1, 2), _entry(basis, across, 2, 1)
    wx, wy, wz = r21 - r12, r02 - r20, r10 - r01
    xy, yz, zx = r01 + r10, r12 + r21, r20 + r02
    largest = max(ww, xx, yy, zz)
    if ww == largest:
        q = ww, wx, wy, wz
    elif xx == largest:
        q = wx, xx, xy, zx
    elif yy == largest:
        q = wy, xy, yy, yz
    else:
        q = wz, zx, yz, zz
    q = _normalized(q)
    if q[0] < 0.0:
        q = -q[0], -q[1], -q[2], -q[3]
    return _normalized(q)


@inline_kernel
def _normalized(q):
    """Return the quaternion q divided by its length."""
    size = root(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return q[0] / size, q[1] / size, q[2] / size, q[3] / size
