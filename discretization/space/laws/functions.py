"""Define how the functions of a section law are compiled and called, and where its parameters are among a point's numbers."""

from numba import types

from rigid.compilation.decorators import compiled, function_at
from rigid.compilation.function_tables import FunctionTable

C16, F1 = types.complex128, types.float64[::1]
ENERGY = types.complex128(C16, F1, types.int64)
QUOTIENT = types.complex128(C16, C16, F1, types.int64)
energy_function, quotient_function = compiled(ENERGY), compiled(QUOTIENT)
# signatures of a law in all six strains: energy W, and the stresses between two ends of a step
STRAINS = types.UniTuple(C16, 6)
DENSITY = types.complex128(STRAINS, F1, types.int64)
STRESS = STRAINS(STRAINS, STRAINS, F1, types.int64)
density_at, stress_at = function_at(DENSITY), function_at(STRESS)
density_function, stress_function = compiled(DENSITY), compiled(STRESS)
PARAMETERS = 44  # offset of the parameters from the first number of the point, see `rod_gauss_points`

# functions by the law number that is stored among the numbers of a point; 0: no law
LAW_FUNCTIONS = FunctionTable("laws", energy=ENERGY, quotient=QUOTIENT, density=DENSITY, stress=STRESS)
# kernels that select the function of a law number, with arguments (number, X)
energy_of_number, quotient_of_number = LAW_FUNCTIONS.reader("energy"), LAW_FUNCTIONS.reader("quotient")
density_of_number, stress_of_number = LAW_FUNCTIONS.reader("density"), LAW_FUNCTIONS.reader("stress")
