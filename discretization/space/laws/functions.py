"""How the functions of a law are compiled and called, and where its parameters are among the numbers of a point."""

from numba import types

from rigid.compilation import compiled, function_at

C16, F1 = types.complex128, types.float64[::1]
ENERGY = types.complex128(C16, F1, types.int64)
QUOTIENT = types.complex128(C16, C16, F1, types.int64)
energy_at, quotient_at = function_at(ENERGY), function_at(QUOTIENT)
energy_function, quotient_function = compiled(ENERGY), compiled(QUOTIENT)
# of a law in all six strains: W, and the stresses between two ends
STRAINS = types.UniTuple(C16, 6)
DENSITY = types.complex128(STRAINS, F1, types.int64)
STRESS = STRAINS(STRAINS, STRAINS, F1, types.int64)
density_at, stress_at = function_at(DENSITY), function_at(STRESS)
density_function, stress_function = compiled(DENSITY), compiled(STRESS)
PARAMETERS = 46  # place of the parameters behind that of the point, see `rod_points`
