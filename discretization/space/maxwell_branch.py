"""Maxwell branch at a point of a rod: together with the stiffness of the rod it makes a standard linear solid.

A spring C1 and a dashpot C1 tau in series act in parallel to the stiffness C of the rod. If q is the elastic strain of the
branch, e - q is the strain of the dashpot:

    stress C e + C1 q,   dq/dt = de/dt - q/tau,   energy q . C1 q/2,   power lost q . C1 q/tau                          (1)

Over a step, with bars for means of its two ends and a = h/(2 tau),

    q1 - q0 = e1 - e0 - h qbar/tau,   that is   qbar = (q0 + (e1 - e0)/2)/(1 + a),   q1 = 2 qbar - q0                  (2)

and the stress C1 qbar does the work C1 qbar . (e1 - e0) = (q1 . C1 q1 - q0 . C1 q0)/2 + h qbar . C1 qbar/tau exactly. It is
the stress of a viscosity D plus a constant s/h during the step,

    C1 qbar = (D (e1 - e0) + s)/h,   D = h C1/(2 (1 + a)),   s = h C1 q0/(1 + a)                                        (3)

If a scheme evaluates forces at one time in the step, (e1 - e0)/h is the rate at that time, and all of this holds unchanged.
`relaxing` makes q condensed internal variables of a viscous element; they follow the materials of its points (viscosity, C1,
tau) among its numbers.
"""

from discretization.space.rod_gauss_points import BEHIND, FIRST, FREQUENCY, POINT, order_of, weight_of
from rigid.compilation.decorators import inline_kernel
from rigid.interactions.kinds import Condensed, Kind, stress_function


@inline_kernel
def begin_branch(material, q, h, out, behind):
    """Write the step viscosity damping + D of (3), row by row, to `out`, and s to `out[behind:]`.

    material: viscosity, C1, tau; q: elastic strain of the branch (6,) at the start of the step.
    """
    damping, C1, tau = material
    factor = h / (1.0 + 0.5 * h / tau)
    for i in range(6):
        s = 0.0
        for j in range(6):
            out[6 * i + j] = damping[i, j] + 0.5 * factor * C1[i, j]
            s += C1[i, j] * q[j]
        out[behind + i] = factor * s


@inline_kernel
def relax_branch(material, change, h, q):
    """Advance the branch strain q from q0 to q1 by (2), in place, and return the energy lost per length.

    material: C1, tau; change: e1 - e0.
    """
    C1, tau = material
    factor = 1.0 / (1.0 + 0.5 * h / tau)
    dissipated = 0.0
    for i in range(6):
        for j in range(6):
            mean_i = factor * (q[i] + 0.5 * change[i])
            mean_j = factor * (q[j] + 0.5 * change[j])
            dissipated += h / tau * mean_i * C1[i, j] * mean_j
    for i in range(6):
        q[i] = 2.0 * factor * (q[i] + 0.5 * change[i]) - q[i]
    return dissipated


MATERIAL, STIFFNESS, TIME = (
    73,
    36,
    72,
)  # numbers of a point that follow those of the viscosity; offsets of C1 and tau among them


@inline_kernel
def places_of(X, g):
    """Return three offsets in X for point g: its viscosity, its branch material and its branch strain q."""
    p = order_of(X)
    behind = FIRST + POINT * p
    return FIRST + POINT * g, behind + MATERIAL * g, behind + MATERIAL * p + 6 * g


@inline_kernel
def branch_energy_at(X, g):
    """Return the energy of the branch at point g."""
    _, material, strain = places_of(X, g)
    energy = 0.0
    for i in range(6):
        for j in range(6):
            energy += X[strain + i] * X[material + STIFFNESS + 6 * i + j] * X[strain + j]
    return 0.5 * weight_of(X, g) * energy


@stress_function
def begin(h, X, out):
    """Apply (3) to all points at the start of a step, and write the energy of their branches to `out[0]`."""
    out[0] = 0.0
    for g in range(order_of(X)):
        at, material, strain = places_of(X, g)
        X[at + FREQUENCY] = 1.0 / h[0].real
        tau = X[material + TIME]
        if tau > 0.0:
            damping = X[material : material + STIFFNESS].reshape(6, 6)
            C1 = X[material + STIFFNESS : material + TIME].reshape(6, 6)
            begin_branch((damping, C1, tau), X[strain : strain + 6], h[0].real, X[at : at + POINT], BEHIND)
            out[0] += branch_energy_at(X, g)


@stress_function
def evolve(change, X, out):
    """Advance the branches of all points by (2), and write the energy that they gained to `out[0]`."""
    out[0] = 0.0
    for g in range(order_of(X)):
        at, material, strain = places_of(X, g)
        tau = X[material + TIME]
        if tau > 0.0:
            of_point, before = X[at + BEHIND : at + FREQUENCY], branch_energy_at(X, g)
            for i in range(6):  # overwrites s, which is no longer needed
                of_point[i] = change[6 * g + i].real
            C1 = X[material + STIFFNESS : material + TIME].reshape(6, 6)
            relax_branch((C1, tau), of_point, 1.0 / X[at + FREQUENCY], X[strain : strain + 6])
            out[0] += branch_energy_at(X, g) - before


def relaxing(viscous: Kind, strains: Kind) -> Kind:
    """Return the kind of a viscous element whose points have Maxwell branches; strains: the kind whose rows are its strains."""
    return viscous._replace(
        n_internal=strains.rows, condensed=Condensed(strains.value, begin, evolve, strains.rows)
    )
