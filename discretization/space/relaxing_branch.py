"""A branch that relaxes, at a point of a rod: with it and its stiffness a material is the standard linear solid.

A spring C1 and a dashpot C1 tau in a row stand beside the stiffness C of the rod. With q the elastic strain of the branch,
e - q is that of the dashpot:

    stress C e + C1 q,   dq/dt = de/dt - q/tau,   energy q . C1 q/2,   power lost q . C1 q/tau                          (1)

Over a step, bars for means of its ends, a = h/(2 tau),

    q1 - q0 = e1 - e0 - h qbar/tau,   that is   qbar = (q0 + (e1 - e0)/2)/(1 + a),   q1 = 2 qbar - q0                  (2)

and the stress C1 qbar does the work C1 qbar . (e1 - e0) = (q1 . C1 q1 - q0 . C1 q0)/2 + h qbar . C1 qbar/tau exactly. It is
that of a viscosity and a constant in the step,

    C1 qbar = (D (e1 - e0) + s)/h,   D = h C1/(2 (1 + a)),   s = h C1 q0/(1 + a)                                        (3)

Where a scheme takes forces at one place in the step, (e1 - e0)/h is the rate there, and all of this holds as it stands. As
condensed own variables of a viscous element (`relaxing`) q stands behind what the points are made of: viscosity, C1, tau.
"""

from discretization.space.rod_points import BEHIND, FIRST, FREQUENCY, POINT, order_of, weight_of
from rigid.compilation.decorators import small_kernel
from rigid.interactions.kinds import Condensed, Kind, stress_function


@small_kernel
def begin_branch(material, q, h, out, behind):
    """(3) and the viscosity beside it, row by row, into out; s into out[behind:]. material: viscosity, C1, tau."""
    damping, C1, tau = material
    share = h / (1.0 + 0.5 * h / tau)
    for i in range(6):
        s = 0.0
        for j in range(6):
            out[6 * i + j] = damping[i, j] + 0.5 * share * C1[i, j]
            s += C1[i, j] * q[j]
        out[behind + i] = share * s


@small_kernel
def relax_branch(material, change, h, q):
    """(2): q0 becomes q1; what is lost per length. material: C1, tau; change: e1 - e0."""
    C1, tau = material
    share = 1.0 / (1.0 + 0.5 * h / tau)
    lost = 0.0
    for i in range(6):
        for j in range(6):
            mean_i = share * (q[i] + 0.5 * change[i])
            mean_j = share * (q[j] + 0.5 * change[j])
            lost += h / tau * mean_i * C1[i, j] * mean_j
    for i in range(6):
        q[i] = 2.0 * share * (q[i] + 0.5 * change[i]) - q[i]
    return lost


MATERIAL, STIFFNESS, TIME = (
    73,
    36,
    72,
)  # numbers of a point behind those of the viscosity; places of C1 and tau


@small_kernel
def places_of(X, g):
    """Of point g: its numbers of the viscosity, its material, q."""
    p = order_of(X)
    behind = FIRST + POINT * p
    return FIRST + POINT * g, behind + MATERIAL * g, behind + MATERIAL * p + 6 * g


@small_kernel
def kept_at(X, g):
    """Energy of the branch at point g."""
    _, material, own = places_of(X, g)
    energy = 0.0
    for i in range(6):
        for j in range(6):
            energy += X[own + i] * X[material + STIFFNESS + 6 * i + j] * X[own + j]
    return 0.5 * weight_of(X, g) * energy


@stress_function
def begin(h, X, out):
    """(3) of all points, and the energy of their branches."""
    out[0] = 0.0
    for g in range(order_of(X)):
        at, material, own = places_of(X, g)
        X[at + FREQUENCY] = 1.0 / h[0].real
        tau = X[material + TIME]
        if tau > 0.0:
            damping = X[material : material + STIFFNESS].reshape(6, 6)
            C1 = X[material + STIFFNESS : material + TIME].reshape(6, 6)
            begin_branch((damping, C1, tau), X[own : own + 6], h[0].real, X[at : at + POINT], BEHIND)
            out[0] += kept_at(X, g)


@stress_function
def evolve(change, X, out):
    """(2) of all points, and what the energy of their branches has gained."""
    out[0] = 0.0
    for g in range(order_of(X)):
        at, material, own = places_of(X, g)
        tau = X[material + TIME]
        if tau > 0.0:
            of_point, before = X[at + BEHIND : at + FREQUENCY], kept_at(X, g)
            for i in range(6):  # in the place of s, which has served
                of_point[i] = change[6 * g + i].real
            C1 = X[material + STIFFNESS : material + TIME].reshape(6, 6)
            relax_branch((C1, tau), of_point, 1.0 / X[at + FREQUENCY], X[own : own + 6])
            out[0] += kept_at(X, g) - before


def relaxing(viscous: Kind, strains: Kind) -> Kind:
    """The kind of a viscous element whose points have branches; strains: its strains as rows."""
    return viscous._replace(own=strains.rows, condensed=Condensed(strains.value, begin, evolve, strains.rows))
