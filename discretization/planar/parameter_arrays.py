"""Compute the parameters of frames and of rows in the plane for `discretization.planar.arrays.Tables`.

The kernels are compiled because a model has few frames and rows: one numpy operation takes longer than all of them compiled.
"""

from discretization.assembly.workspace import NEAREST
from discretization.planar.arrays import COINCIDENT, DISTANCE
from rigid.compilation.decorators import inline_kernel, kernel
from rigid.lanes import root

XA, XB, UA, UB = range(4)  # first index of `X`
REACH, ARM, SIZE = range(3)  # first index of `lengths`


@kernel
def frame_parameters(frame, mass, inertia, across, frame_mass, frame_inertia, gyration):
    """Compute masses, inertia about the normal and radii of gyration (k,) of the moving frames `frame`.

    across (k + 1, 3, 3): directions and normal of each frame. Writes `frame_mass` (kg), `frame_inertia` (kg m^2) and
    `gyration` (m).
    """
    for k in range(frame_mass.shape[0]):
        n, J = across[k, 2], inertia[frame[k]]
        frame_mass[k], about = mass[frame[k]], 0.0
        for i in range(3):
            for j in range(3):
                about += n[i] * J[i, j] * n[j]
        frame_inertia[k] = about
        gyration[k] = root((J[0, 0] + J[1, 1] + J[2, 2]) / frame_mass[k])


@inline_kernel
def _component(across, U):
    """Return the component of U along a direction."""
    return across[0] * U[0] + across[2] * U[2] + across[1] * U[1]


@kernel
def row_parameters(rows, points, directions, values, across, X, lengths):
    """Compute components and characteristic lengths of j rows.

    rows: constraint, sort (j,) and elimination indices of a and b (j, 2). points: Xa, Xb (c, 3) of the constraints; directions:
    Ua, Ub (j, 3) of the rows; values (c,) of the constraints. X (4, j, 2): components of XA to UB; lengths (3, j): REACH, ARM,
    SIZE.
    """
    (constraint, sort, joined), (Xa, Xb), (Ua, Ub) = rows, points, directions
    for j in range(constraint.shape[0]):
        c, a, b = constraint[j], across[joined[j, 0]], across[joined[j, 1]]
        for i in range(2):
            X[XA, j, i], X[XB, j, i] = _component(a[i], Xa[c]), _component(b[i], Xb[c])
            X[UA, j, i], X[UB, j, i] = _component(a[i], Ua[j]), _component(b[i], Ub[j])
        reach = _length(Xa[c]) + _length(Xb[c])
        lengths[REACH, j] = max(reach, NEAREST)
        lengths[ARM, j] = reach + (0.0 if sort[j] == COINCIDENT else 1.0)
        lengths[SIZE, j] = root(2.0 * abs(values[c])) if sort[j] == DISTANCE else 1.0


@inline_kernel
def _length(x):
    """Return the length of a vector."""
    return root(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])


@kernel
def hinge_levers(hinges, X, sign, lever):
    """Compute signs (k,) and points (k, 4), on the frame and on the next one, of the hinges of kind HINGE.

    hinges: frames, their items, and whether each frame is side b of its hinge. Frames without such a hinge get points 0 and
    sign 1.
    """
    frames, items, is_b = hinges
    sign[:], lever[:] = 1.0, 0.0
    for h in range(frames.shape[0]):
        k, j = frames[h], items[h]
        own_side, other_side = (XB, XA) if is_b[h] else (XA, XB)
        sign[k] = 1.0 if is_b[h] else -1.0
        for i in range(2):
            lever[k, i], lever[k, 2 + i] = X[own_side, j, i], X[other_side, j, i]


@kernel
def aligned(basis, half, across, factors):
    """Return True if all entries are 0, 1 or -1, so that directions are axes and multipliers are not divided."""
    return _are_signs(basis) and _are_signs(half) and _are_signs(across) and _are_signs(factors)


@inline_kernel
def _are_signs(numbers):
    """Return True if all entries of an array are 0, 1 or -1."""
    other_values = 0
    for x in numbers.flat:
        other_values += x != 0.0 and abs(x) != 1.0
    return other_values == 0
