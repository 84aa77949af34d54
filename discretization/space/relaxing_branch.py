"""A branch that relaxes, at a point of a rod: with it and its stiffness a material is the standard linear solid.

A spring C1 and a dashpot C1 tau in a row stand beside the stiffness C of the rod. With q the elastic strain of the branch,
e - q is that of the dashpot:

    stress C e + C1 q,   dq/dt = de/dt - q/tau,   energy q . C1 q/2,   power lost q . C1 q/tau                          (1)

Over a step, bars for means of its ends, a = h/(2 tau),

    q1 - q0 = e1 - e0 - h qbar/tau,   that is   qbar = (q0 + (e1 - e0)/2)/(1 + a),   q1 = 2 qbar - q0                  (2)

and the stress C1 qbar does the work C1 qbar . (e1 - e0) = (q1 . C1 q1 - q0 . C1 q0)/2 + h qbar . C1 qbar/tau exactly. It is
that of a viscosity and a constant in the step,

    C1 qbar = (D (e1 - e0) + s)/h,   D = h C1/(2 (1 + a)),   s = h C1 q0/(1 + a)                                        (3)
"""

from rigid.compilation import small_kernel


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
def relax_branch(material, ends, h, q):
    """(2): q0 becomes q1; what is lost per length. material: C1, tau; ends: strains at start and end."""
    (C1, tau), (start, end) = material, ends
    share = 1.0 / (1.0 + 0.5 * h / tau)
    lost = 0.0
    for i in range(6):
        for j in range(6):
            mean_i = share * (q[i] + 0.5 * (end[i] - start[i]))
            mean_j = share * (q[j] + 0.5 * (end[j] - start[j]))
            lost += h / tau * mean_i * C1[i, j] * mean_j
    for i in range(6):
        q[i] = 2.0 * share * (q[i] + 0.5 * (end[i] - start[i])) - q[i]
    return lost
