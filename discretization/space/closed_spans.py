"""What a closed form of a span gives `em`: discrete forces, their derivatives and the strains at both ends of the step.

    forces(r, dr, R0, R1, frames, X, D, ratio, tangent, K)

of positions r (n, 3) at the start, their increments dr, rotations R0, R1 (n, 3, 3), the span's frames, its numbers X and
those of its viscosity D, which counts times `ratio` = 1/h, or 0. Into K (MATRIX_ROWS, 6 MOST_FRAMES) go, with 6 columns a
frame (force, torque), the derivatives of the forces to dr and eta, one row for each of these, on demand; behind them the
strains at start and end, 6 a point, and the forces.
"""

from numba import types

from discretization.space.interpolation import MOST
from rigid.compilation import function_at

F1, F2, F3 = types.float64[::1], types.float64[:, ::1], types.float64[:, :, ::1]
I1 = types.int64[::1]
FORCES = types.void(F2, F2, F3, F3, I1, F1, F1, types.float64, types.boolean, F2)
forces_at = function_at(FORCES)
STRAINS_START, STRAINS_END, FORCE = 6 * (MOST + 1), 6 * (MOST + 1) + 1, 6 * (MOST + 1) + 2
MATRIX_ROWS = FORCE + 1
