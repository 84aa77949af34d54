"""Compute discrete derivatives of V, g, T(q, v) and T*(q, p) between the ends of a step.

    D f . (y1 - y0) = f(y1) - f(y0),   D f -> f' as the step shrinks

A system may define its own discrete derivatives (in terms of invariants: Gonzalez' G-equivariant ones). Otherwise Gonzalez'
midpoint formula is used, and for functions of two arguments its partitioned form. Sources: Gonzalez 1996; 000 (71), (129)-(131).
"""

from typing import NamedTuple

from discretization.time.dense_algebra import difference, inner, mean, multiply, multiply_transposed, solve
from discretization.time.scratch_vectors import PerConstraint, PerCoordinate, scratch
from rigid.compilation.decorators import inline_kernel, internal_kernel
from rigid.mechanics.mechanical_system import (
    CONSTANT_MASS,
    DISCRETE_CONSTRAINTS,
    DISCRETE_KINETIC,
    DISCRETE_POTENTIAL,
    INVERSE_MASS,
    PRODUCTS,
)

_TINY = 1e-28  # |q1 - q0|^2/|q|^2 below which the correction is only round-off


class Contractions(NamedTuple):
    """Scratch vectors of contractions with derivatives of G and W."""

    u: PerCoordinate  # W a
    w: PerCoordinate  # W b
    unit: PerConstraint
    slope: PerCoordinate


class Differences(NamedTuple):
    """Scratch vectors of Gonzalez' formula."""

    middle: PerCoordinate  # (q0 + q1)/2
    change: PerCoordinate  # q1 - q0
    slope: PerCoordinate  # derivative at the midpoint
    image: PerCoordinate  # A(q) a
    value: PerCoordinate  # value of V, one number
    g0: PerConstraint
    g1: PerConstraint


class Means(NamedTuple):
    """Scratch vectors of partitioned derivatives."""

    v: PerCoordinate  # (v0 + v1)/2
    image: PerCoordinate  # A(q1) v


class Hidden(NamedTuple):
    """Scratch vectors of the gradients of gam . G A p."""

    w: PerCoordinate  # A p
    f: PerCoordinate  # G^T gam
    u: PerCoordinate  # A f
    slope: PerCoordinate


contractions, differences = scratch(Contractions), scratch(Differences, above=(Contractions,))
means, hidden = scratch(Means, above=(Differences,)), scratch(Hidden, above=(Contractions,))
DERIVATIVES = Means, Hidden  # callers of the kernels of this module place their scratch above these


@inline_kernel
def correction_factor(change, q0, q1):
    """Return 1/|q1 - q0|^2, or 0 if q0 and q1 coincide to round-off."""
    square, size = inner(change, change), 0.0
    for i in range(q0.size):
        size += q0[i].real * q0[i].real + q1[i].real * q1[i].real
    return 1.0 / square if square.real > _TINY * size else 0j


@internal_kernel
def discrete_gradient(fn, D, q0, q1, work, out):
    """Compute out (n,) = D V."""
    if D.flags & DISCRETE_POTENTIAL:
        fn.discrete_gradient(q0, q1, D, out)
        return
    w = differences(work, D)
    mean(q0, q1, w.middle)
    difference(q1, q0, w.change)
    fn.gradient(w.middle, D, out)
    value = w.value[:1]
    fn.potential(q1, D, value)
    gap = value[0]
    fn.potential(q0, D, value)
    gap = (gap - value[0] - inner(out, w.change)) * correction_factor(w.change, q0, q1)
    for i in range(D.n):
        out[i] += gap * w.change[i]


@internal_kernel
def pull_back(fn, D, q, lam, work, out):
    """Compute out (n,) = G(q)^T lam."""
    if D.flags & PRODUCTS:
        fn.pull(q, lam, D, out)
        return
    fn.jacobian(q, D, work.jacobian)
    multiply_transposed(work.jacobian, lam, out)


@internal_kernel
def discrete_pull_back(fn, D, q0, q1, lam, work, out):
    """Compute out (n,) = (D g)^T lam."""
    if D.flags & PRODUCTS:
        fn.discrete_pull(q0, q1, lam, D, out)
        return
    discrete_jacobian(fn, D, q0, q1, work, work.jacobian)
    multiply_transposed(work.jacobian, lam, out)


@internal_kernel
def constraint_rate(fn, D, q, w, work, out):
    """Compute out (m,) = G(q) w."""
    if D.flags & PRODUCTS:
        fn.rate(q, w, D, out)
        return
    fn.jacobian(q, D, work.other)
    multiply(work.other, w, out)


@internal_kernel
def constraint_curvature(fn, D, q, w, z, work, out):
    """Compute out (m,) = g''(q) (w, z), the change of G(q) w along z."""
    if D.flags & PRODUCTS:
        fn.second(q, w, z, D, out)
        return
    scratch = contractions(work, D)
    for c in range(D.m):
        for l in range(D.m):
            scratch.unit[l] = 0.0
        scratch.unit[c] = 1.0
        fn.curvature(q, w, scratch.unit, D, scratch.slope)
        out[c] = inner(scratch.slope, z)


@internal_kernel
def mass_times(fn, D, q, v, work, out):
    """Compute out (n,) = M(q) v."""
    if D.flags & PRODUCTS:
        fn.mass_product(q, v, D, out)
        return
    fn.mass(q, D, work.square)
    multiply(work.square, v, out)


@internal_kernel
def discrete_jacobian(fn, D, q0, q1, work, out):
    """Compute out (m, n) = D g."""
    if D.flags & DISCRETE_CONSTRAINTS:
        fn.discrete_jacobian(q0, q1, D, out)
        return
    w = differences(work, D)
    mean(q0, q1, w.middle)
    difference(q1, q0, w.change)
    fn.jacobian(w.middle, D, out)
    fn.constraints(q0, D, w.g0)
    fn.constraints(q1, D, w.g1)
    factor = correction_factor(w.change, q0, q1)
    for k in range(D.m):
        gap = w.g1[k] - w.g0[k] - inner(out[k], w.change)
        for i in range(D.n):
            out[k, i] += gap * factor * w.change[i]


@internal_kernel
def add_gonzalez_of_form(fn, D, mass, q0, q1, a, weight, work, out):
    """Add weight times Gonzalez' discrete derivative in q of a . A(q) a/2 to out; A = M if `mass`, else W."""
    w = differences(work, D)
    mean(q0, q1, w.middle)
    difference(q1, q0, w.change)
    form_gradient(fn, D, mass, w.middle, a, a, work, w.slope)
    gap = 0j
    apply_form(fn, D, mass, q1, a, work, w.image)
    gap += inner(a, w.image)
    apply_form(fn, D, mass, q0, a, work, w.image)
    gap -= inner(a, w.image)
    factor = 0.5 * (gap - inner(w.slope, w.change)) * correction_factor(w.change, q0, q1)
    for i in range(D.n):
        out[i] += weight * (0.5 * w.slope[i] + factor * w.change[i])


@internal_kernel
def apply_form(fn, D, mass, q, a, work, out):
    """Compute out = M(q) a if `mass`, else W(q) a."""
    if mass:
        mass_times(fn, D, q, a, work, out)
    else:
        velocity_of(fn, D, q, a, work, out)


@internal_kernel
def form_gradient(fn, D, mass, q, a, b, work, out):
    """Compute out = gradient of a . M(q) b if `mass`, else of a . W(q) b."""
    if mass:
        fn.mass_gradient(q, a, b, D, out)
    elif D.flags & INVERSE_MASS:
        fn.inverse_mass_gradient(q, a, b, D, out)
    else:
        # W = M^-1: dW = -W dM W
        scratch = contractions(work, D)
        velocity_of(fn, D, q, a, work, scratch.u)
        velocity_of(fn, D, q, b, work, scratch.w)
        fn.mass_gradient(q, scratch.u, scratch.w, D, out)
        for i in range(D.n):
            out[i] = -out[i]


@internal_kernel
def velocity_of(fn, D, q, p, work, out):
    """Compute out = W(q) p, the velocity of momentum p."""
    if D.flags & PRODUCTS:
        if D.flags & INVERSE_MASS:
            fn.inverse_mass_product(q, p, D, out)
        else:
            fn.mass_solve(q, p, D, out)
        return
    divide_by_mass(fn, D, q, p, D.flags & INVERSE_MASS != 0, work, out)


@internal_kernel
def mass_solve(fn, D, q, p, work, out):
    """Compute out = M(q)^-1 p, even if W is another continuation of the inverse."""
    if D.flags & PRODUCTS:
        fn.mass_solve(q, p, D, out)
        return
    divide_by_mass(fn, D, q, p, D.flags & CONSTANT_MASS and D.flags & INVERSE_MASS, work, out)


@internal_kernel
def divide_by_mass(fn, D, q, p, by_inverse, work, out):
    """Compute out = W p if `by_inverse`, else M^-1 p."""
    if by_inverse:
        fn.inverse_mass(q, D, work.square)
        multiply(work.square, p, out)
        return
    for i in range(D.n):
        out[i] = p[i]
    fn.mass(q, D, work.square)
    solve(work.square, out)


@internal_kernel
def discrete_kinetic(fn, D, q0, v0, q1, v1, work, out_q, out_v):
    """Compute out_q, out_v = D_q T, D_v T: in invariants, or partitioned as in 000 (129)-(131)."""
    if D.flags & DISCRETE_KINETIC:
        fn.discrete_kinetic(q0, v0, q1, v1, D, out_q, out_v)
        return
    partitioned(fn, D, True, q0, v0, q1, v1, work, out_q, out_v)


@internal_kernel
def discrete_coenergy(fn, D, q0, p0, q1, p1, work, out_q, out_p):
    """Compute out_q, out_p = D_q T*, D_p T*: in invariants, or partitioned as in 000 (129)-(131)."""
    if D.flags & DISCRETE_KINETIC:
        fn.discrete_coenergy(q0, p0, q1, p1, D, out_q, out_p)
        return
    partitioned(fn, D, False, q0, p0, q1, p1, work, out_q, out_p)


@internal_kernel
def partitioned(fn, D, mass, q0, v0, q1, v1, work, out_q, out_v):
    """Compute partitioned discrete derivatives of v . A(q) v/2, A = M if `mass`, else W: 000 (129)-(131)."""
    n, w = D.n, means(work, D)
    for i in range(n):
        out_q[i] = 0.0
    if D.flags & CONSTANT_MASS == 0:
        add_gonzalez_of_form(fn, D, mass, q0, q1, v0, 0.5, work, out_q)
        add_gonzalez_of_form(fn, D, mass, q0, q1, v1, 0.5, work, out_q)
    mean(v0, v1, w.v)
    apply_form(fn, D, mass, q0, w.v, work, out_v)
    if D.flags & CONSTANT_MASS == 0:
        apply_form(fn, D, mass, q1, w.v, work, w.image)
        for i in range(n):
            out_v[i] = 0.5 * (out_v[i] + w.image[i])


@internal_kernel
def add_hidden_gradient(fn, D, mass, q, p, gam, weight, work, out_q, out_p):
    """Add weight times the gradients of gam . g_v in q and in p to out_q and out_p.

    g_v = G(q) A(q) p with A = M^-1 if `mass`, else W.
    """
    n, scratch = D.n, hidden(work, D)
    pull_back(fn, D, q, gam, work, scratch.f)
    if mass:
        mass_solve(fn, D, q, p, work, scratch.w)
        mass_solve(fn, D, q, scratch.f, work, scratch.u)
    else:
        velocity_of(fn, D, q, p, work, scratch.w)
        velocity_of(fn, D, q, scratch.f, work, scratch.u)
    fn.curvature(q, scratch.w, gam, D, scratch.slope)
    for i in range(n):
        out_p[i] += weight * scratch.u[i]
        out_q[i] += weight * scratch.slope[i]
    if D.flags & CONSTANT_MASS:
        return
    if mass:
        fn.mass_gradient(q, scratch.w, scratch.u, D, scratch.slope)
        for i in range(n):
            out_q[i] -= weight * scratch.slope[i]
    else:
        form_gradient(fn, D, False, q, p, scratch.f, work, scratch.slope)
        for i in range(n):
            out_q[i] += weight * scratch.slope[i]
