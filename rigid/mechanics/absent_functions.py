"""The functions of a system that has nothing at all: they serve where a system has no potential, no constraints, no loads,
or where its flags say that a function is not called.
"""

from rigid.mechanics.mechanical import Functions, system_function


@system_function("gradient")
def no_vector(q, D, out):
    """Zero, for functions with one vector argument."""
    for i in range(out.size):
        out[i] = 0.0


@system_function("jacobian")
def no_matrix(q, D, out):
    """Zero, for functions that fill a matrix."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = 0.0


@system_function("curvature")
def no_contraction(q, a, b, D, out):
    """Zero, for contracted derivatives."""
    for i in range(out.size):
        out[i] = 0.0


@system_function("force")
def no_force(q, signal, D, out):
    """Zero, for systems without external forces."""
    for i in range(out.size):
        out[i] = 0.0


@system_function("pull")
def no_product(q, x, D, out):
    """Never called: the flags say so."""


@system_function("discrete_gradient")
def no_discrete_gradient(q0, q1, D, out):
    """Never called: the flags say so."""


@system_function("discrete_force")
def no_discrete_force(q0, q1, signal, D, out):
    """Never called: the flags say so."""


@system_function("discrete_jacobian")
def no_discrete_jacobian(q0, q1, D, out):
    """Never called: the flags say so."""


@system_function("discrete_kinetic")
def no_discrete_kinetic(q0, v0, q1, v1, D, out_q, out_v):
    """Never called: the flags say so."""


NOTHING = Functions(
    mass=no_matrix,
    mass_gradient=no_contraction,
    inverse_mass=no_matrix,
    inverse_mass_gradient=no_contraction,
    potential=no_vector,
    gradient=no_vector,
    constraints=no_vector,
    jacobian=no_matrix,
    curvature=no_contraction,
    force=no_force,
    discrete_gradient=no_discrete_gradient,
    discrete_jacobian=no_discrete_jacobian,
    discrete_kinetic=no_discrete_kinetic,
    discrete_coenergy=no_discrete_kinetic,
    mass_product=no_product,
    mass_solve=no_product,
    inverse_mass_product=no_product,
    rate=no_product,
    pull=no_product,
    second=no_contraction,
    inverse_mass_rate=no_contraction,
    discrete_pull=no_contraction,
    discrete_force=no_discrete_force,
    resistance=no_product,
    discrete_resistance=no_contraction,
)
