"""How the functions of a law are compiled and called."""

from numba import types

from rigid.compilation import compiled, function_at

C16, F1 = types.complex128, types.float64[::1]
ENERGY = types.complex128(C16, F1, types.int64)
QUOTIENT = types.complex128(C16, C16, F1, types.int64)
energy_at, quotient_at = function_at(ENERGY), function_at(QUOTIENT)
energy_function, quotient_function = compiled(ENERGY), compiled(QUOTIENT)
PARAMETERS = 46  # place of the parameters behind that of the point, see `rod_points`
