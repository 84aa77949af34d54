"""Provide null functions for systems without potential, constraints or loads (`NOTHING`).

They also fill the places of functions that are never called because of the flags of a system.
"""

from rigid.mechanics.mechanical_system import Functions, system_function


@system_function("gradient")
def no_vector(q, D, out):
    """Set out to zero; replaces functions with one vector argument."""
    for i in range(out.size):
        out[i] = 0.0


@system_function("jacobian")
def no_matrix(q, D, out):
    """Set out to zero; replaces functions that fill a matrix."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = 0.0


@system_function("curvature")
def no_contraction(q, a, b, D, out):
    """Set out to zero; replaces contracted derivatives."""
    for i in range(out.size):
        out[i] = 0.0


@system_function("force")
def no_force(q, signal, D, out):
    """Set out to zero; replaces the forces of systems without external forces."""
    for i in range(out.size):
        out[i] = 0.0


@system_function("pull")
def no_product(q, x, D, out):
    """Do nothing; the flags ensure that this product is never called."""


@system_function("discrete_gradient")
def no_discrete_gradient(q0, q1, D, out):
    """Do nothing; the flags ensure that this discrete gradient is never called."""


@system_function("discrete_force")
def no_discrete_force(q0, q1, signal, D, out):
    """Do nothing; the flags ensure that this discrete force is never called."""


@system_function("discrete_jacobian")
def no_discrete_jacobian(q0, q1, D, out):
    """Do nothing; the flags ensure that this discrete Jacobian is never called."""


@system_function("discrete_kinetic")
def no_discrete_kinetic(q0, v0, q1, v1, D, out_q, out_v):
    """Do nothing; the flags ensure that these discrete derivatives are never called."""


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
