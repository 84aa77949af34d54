"""Planar SE(3) rod element of two frames: the spatial element evaluated with the structural zero.

Frames are rotated by angles against a common basis of the plane. Vectors have ZERO (`rigid.structural_zero`) as their third
component; rotations about the third axis have ZERO in the entries that mix it with the others. With these arguments invariants,
strains, forces and tangent of `discretization.space.se3_element` are those of the plane: two components of a force, one of a
torque, three strains.

Only the relative angle theta has a separate formula. Rotations in a step are Cayley numbers psi = 2 tan(angle/2): theta changes
by 2 atan(x), and tau = tan(theta/2) to

    (tau + x)/(1 - tau x),   x = (psi_b - psi_a)/(2 + psi_a psi_b/2)                                        (1)

Numbers are SIMD lanes (`rigid.lanes`) of eight elements. A branch is taken for all eight together, by the largest value.
"""

from discretization.space.se3_element import (
    AtStart,
    forces_over_step,
    invariants,
    strains_of,
    tangent_over_step,
)
from discretization.space.se3_element import linear_part as linear_part_in_space
from discretization.space.se3_element import with_damping as with_damping_in_space
from discretization.space.strain_functions import strain_functions
from rigid.compilation.decorators import always_inline_kernel, inline_kernel
from rigid.lanes import largest, root
from rigid.structural_zero import ZERO

# Columns of the element data that are constant in a step: y, tau, constant part of w (4 in `se3_element`), strains,
# dw/d(strains at the end), e, L.
Y1, Y2, TAU, W1, W2, W3, E1, E2, E3, C11, C12, C13, C22, C23, C33, EX, EY, LENGTH, START = range(19)


@inline_kernel
def _rotation(c, s):
    """Return the matrix of the rotation by the angle with this cosine and sine."""
    return c, -s, ZERO, s, c, ZERO, ZERO, ZERO, 1.0


@inline_kernel
def _in_space(E):
    """Return (Gamma, K) in space from three planar strains."""
    return (E[0], E[1], ZERO), (ZERO, ZERO, E[2])


@inline_kernel
def _blocks(c11, c12, c13, c21, c22, c23, c31, c32, c33):
    """Return the blocks NN, NM, MN, MM of a matrix (3, 3) for planar strains."""
    return (
        (c11, c12, ZERO, c21, c22, ZERO, ZERO, ZERO, ZERO),
        (ZERO, ZERO, c13, ZERO, ZERO, c23, ZERO, ZERO, ZERO),
        (ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, c31, c32, ZERO),
        (ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, c33),
    )


@inline_kernel
def _in_plane(part):
    """Return the constant part of w (3,) and the upper half of dw/d(strains at the end), row by row, in the plane."""
    wN, wM, (NN, NM, _, MM) = part
    return (wN[0], wN[1], wM[2]), (NN[0], NN[1], NM[2], NN[4], NM[5], MM[8])


@always_inline_kernel
def start_of_step(frame_a, frame_b, e, length):
    """Return y (2,), tau and the strains (3,) at the start of a step.

    frames: cosine and sine of half their angle, then of their angle.
    """
    wa, za, ca, sa = frame_a
    wb, zb, cb, sb = frame_b
    turns = (wa, ZERO, ZERO, za), (wb, ZERO, ZERO, zb)
    y, k, s, u, _ = invariants(
        _rotation(ca, sa), _rotation(cb, sb), turns[0], turns[1], (e[0], e[1], ZERO), length
    )
    f, _, p, _ = strain_functions(u)
    Gamma, K = strains_of(y, k, s, u, f, p, length)
    return (y[0], y[1]), 0.5 * k[2], (Gamma[0], Gamma[1], K[2])


@always_inline_kernel
def linear_part(C, strain0, E):
    """Return the constant part of w (3,) and dw/d(strains at the end) without damping: upper half, row by row; C (9,)."""
    blocks = _blocks(C[0], C[1], C[2], C[3], C[4], C[5], C[6], C[7], C[8])
    return _in_plane(linear_part_in_space(_in_space(E), _in_space(strain0), blocks))


@always_inline_kernel
def with_damping(w, c, D, E, h):
    """Add damping to the constant part w (3,) and to the upper half c of dw/d(strains at the end); D (9,)."""
    wN, wM = _in_space(w)
    part = wN, wM, _blocks(c[0], c[1], c[2], c[1], c[3], c[4], c[2], c[4], c[5])
    blocks = _blocks(D[0], D[1], D[2], D[3], D[4], D[5], D[6], D[7], D[8])
    return _in_plane(with_damping_in_space(part, _in_space(E), blocks, h))


@always_inline_kernel
def forces(start, frame_a, frame_b, e1, length):
    """Evaluate an element at the end of a step.

    Returns the status (1 if a relative rotation passed pi), force n on b (2,) and torques on a and b, the strains at the end,
    and the arguments of `tangent`.

    start: y, tau, constant part of w, dw/d(strains at the end), e, all at the start; frames: cosine and sine at the start and
    at the end, then psi.
    """
    (y1, y2), tau0, w, (c11, c12, c13, c22, c23, c33), e0 = start
    ca0, sa0, ca, sa, pa = frame_a
    cb0, sb0, cb, sb, pb = frame_b
    product = 1.0 + 0.25 * pa * pb
    x = 0.5 * (pb - pa) / product  # (1)
    denominator = 1.0 - tau0 * x
    status = 1 if largest(-product) >= 0.0 or largest(-denominator) >= 0.0 else 0
    tau = (tau0 + x) / denominator
    half0, half1 = 1.0 / root(1.0 + tau0 * tau0), 1.0 / root(1.0 + tau * tau)
    wN, wM = _in_space(w)
    at_start = AtStart((y1, y2, ZERO), (ZERO, ZERO, 2.0 * tau0), ZERO, tau0 * tau0, half0, wN, wM)
    C = _blocks(c11, c12, c13, c12, c22, c23, c13, c23, c33)
    poses0 = _rotation(ca0, sa0), _rotation(cb0, sb0), (e0[0], e0[1], ZERO)
    relative = (1.0, ZERO, ZERO, ZERO), (half1, ZERO, ZERO, half1 * tau)
    poses1 = _rotation(ca, sa), _rotation(cb, sb), relative[0], relative[1], (e1[0], e1[1], ZERO)
    _, (Gamma, K), (n, on_a, on_b), evaluated = forces_over_step(poses0, poses1, at_start, length, C, False)
    return status, (n[0], n[1], on_a[2], on_b[2]), (Gamma[0], Gamma[1], K[2]), (poses1, evaluated, C)


@always_inline_kernel
def tangent(length, evaluation):
    """Return the derivatives (4, 4), row by row, of forces and torques of `forces` with respect to (e1, angles of a, b)."""
    poses1, evaluated, C = evaluation
    ne, na, nb, te, ta, tb, ue, ua, ub = tangent_over_step(poses1, evaluated, length, C, False)
    return (
        ne[0], ne[1], na[2], nb[2],
        ne[3], ne[4], na[5], nb[5],
        te[6], te[7], ta[8], tb[8],
        ue[6], ue[7], ua[8], ub[8],
    )  # fmt: skip
