"""LAPACK's band solver inside compiled code.

scipy ships LAPACK with C-callable entry points; their addresses are given to the linker of the compiler
under names of ours, so that kernels which call them can be cached. The matrix is stored column by column,
(N, 3 band + 1) in C order, entry (i, j) at [j, 2 band + i - j].
"""

import llvmlite.binding
from numba import types

from rigid.compilation.decorators import inner_kernel
from rigid.compilation.lapack import lapack_addresses

_NAMES = ("dgbtrf", "dgbtrs")
for _name, _address in zip(_NAMES, lapack_addresses(*_NAMES), strict=True):
    llvmlite.binding.add_symbol(f"rodsim_{_name}", _address)

_i = types.CPointer(types.int32)
_d = types.CPointer(types.float64)
# dgbtrf(m, n, kl, ku, ab, ldab, ipiv, info)
_dgbtrf = types.ExternalFunction("rodsim_dgbtrf", types.void(_i, _i, _i, _i, _d, _i, _i, _i))
# dgbtrs(trans, n, kl, ku, nrhs, ab, ldab, ipiv, b, ldb, info)
_dgbtrs = types.ExternalFunction("rodsim_dgbtrs", types.void(_i, _i, _i, _i, _i, _d, _i, _i, _d, _i, _i))

INTEGERS = 8  # length of the int32 scratch array


@inner_kernel
def band_factor(values, size, band, pivots, integers):
    """LU factors in place of values (size * (3 band + 1),); pivots (size,) int32. Returns LAPACK's info."""
    integers[0], integers[1], integers[2], integers[3] = size, band, 3 * band + 1, 0
    _dgbtrf(
        integers[0:1].ctypes,
        integers[0:1].ctypes,
        integers[1:2].ctypes,
        integers[1:2].ctypes,
        values.ctypes,
        integers[2:3].ctypes,
        pivots.ctypes,
        integers[3:4].ctypes,
    )
    return integers[3]


@inner_kernel
def band_solve(values, size, band, pivots, rhs, integers):
    """Solve in place of rhs (size,) with the factors of `band_factor`."""
    integers[0], integers[1], integers[2], integers[3], integers[4] = size, band, 3 * band + 1, 0, 1
    integers[5] = 78  # 'N'
    _dgbtrs(
        integers[5:6].ctypes,
        integers[0:1].ctypes,
        integers[1:2].ctypes,
        integers[1:2].ctypes,
        integers[4:5].ctypes,
        values.ctypes,
        integers[2:3].ctypes,
        pivots.ctypes,
        rhs.ctypes,
        integers[0:1].ctypes,
        integers[3:4].ctypes,
    )


# apart: with a kernel for both, all that `em` links would be compiled with one more
@inner_kernel
def band_solve_transposed(values, size, band, pivots, rhs, integers):
    """The same with the transposed matrix."""
    integers[0], integers[1], integers[2], integers[3], integers[4] = size, band, 3 * band + 1, 0, 1
    integers[5] = 84  # 'T'
    _dgbtrs(
        integers[5:6].ctypes,
        integers[0:1].ctypes,
        integers[1:2].ctypes,
        integers[1:2].ctypes,
        integers[4:5].ctypes,
        values.ctypes,
        integers[2:3].ctypes,
        pivots.ctypes,
        rhs.ctypes,
        integers[0:1].ctypes,
        integers[3:4].ctypes,
    )
