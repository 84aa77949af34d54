"""Springs and torsion springs in a Cayley energy-momentum step."""

from __future__ import annotations

from discretization.assembly.workspace import EPS, add_noise, add_pair_forces, turned
from rigid.compilation import inner_kernel
from rigid.interactions import distance
from rigid.interactions.spring import force_of_step
from rigid.interactions.torsion_spring import torque_of_step
from rigid.linear_algebra import add3, add_at, average, load3, minus, outer, plus, times

_pull, _add_tangent = distance.pull, distance.add_tangent
_NONE = (0.0, 0.0, 0.0)


@inner_kernel
def begin_springs(system, numbering, state, work, h):
    """Noise levels of their forces."""
    springs, torsions = system.springs, system.torsions
    for s in range(springs.stiffness.shape[0]):
        level = EPS * abs(h) * springs.stiffness[s] * (1.0 + springs.length0[s])
        a, b = springs.frames[s, 0], springs.frames[s, 1]
        add_noise(work.noise, numbering.frame[a], numbering.frame[b], level, level)
    for s in range(torsions.stiffness.shape[0]):
        level = EPS * abs(h * torsions.stiffness[s]) * (1.0 + abs(state.own[s]))
        a, b = torsions.frames[s, 0], torsions.frames[s, 1]
        add_noise(work.noise, numbering.frame[a], numbering.frame[b], 0.0, level)


@inner_kernel
def spring_ends(springs, state, work, s):
    """d0 and the pairs of `rigid.interactions.kinds`, in the mean of the step and at its end."""
    a, b = springs.frames[s, 0], springs.frames[s, 1]
    xa0, xa1, xa = turned(work, a, load3(springs.Xa[s]))
    xb0, xb1, xb = turned(work, b, load3(springs.Xb[s]))
    e0 = minus(load3(state.r[b]), load3(state.r[a]))
    e1 = plus(e0, minus(load3(work.dr[b]), load3(work.dr[a])))
    d0, d1 = plus(e0, minus(xb0, xa0)), plus(e1, minus(xb1, xa1))
    return d0, (_NONE, _NONE, xa, xb, average(d0, d1)), (_NONE, _NONE, xa1, xb1, d1)


@inner_kernel
def add_springs(system, numbering, state, work, h, tangent):
    """Residual and, on demand, matrix."""
    springs, values = system.springs, work.values
    for s in range(springs.stiffness.shape[0]):
        a, b = springs.frames[s, 0], springs.frames[s, 1]
        d0, mean, end = spring_ends(springs, state, work, s)
        law = springs.stiffness[s], springs.damping[s], springs.length0[s]
        sigma, slope, _ = force_of_step(law, h, d0, end[4])
        sh = (sigma * h, 0.0, 0.0)
        at, bt = numbering.frame[a], numbering.frame[b]
        force, torque_a, torque_b = _pull(sh, mean)
        add_pair_forces(work.residual, at, bt, force, torque_a, torque_b)
        if not tangent:
            continue
        base, sa, sb = numbering.spring_base[s], numbering.frame_stride[a], numbering.frame_stride[b]
        _add_tangent(sh, mean, end, (values, (base[0], base[1], base[2], base[3]), sa, sb))
        force, torque_a, torque_b = _pull((h * slope, 0.0, 0.0), mean)
        force1, torque_a1, torque_b1 = _pull((1.0, 0.0, 0.0), end)
        column_a, column_b = (times(-1.0, force1), torque_a1), (force1, torque_b1)
        row_a, row_b = (times(-1.0, force), torque_a), (force, torque_b)
        for i in range(2):
            for j in range(2):
                add_at(values, base[0], sa, i, j, 1.0, outer(row_a[i], column_a[j]))
                add_at(values, base[1], sb, i, j, 1.0, outer(row_a[i], column_b[j]))
                add_at(values, base[2], sa, i, j, 1.0, outer(row_b[i], column_a[j]))
                add_at(values, base[3], sb, i, j, 1.0, outer(row_b[i], column_b[j]))


@inner_kernel
def torsion_step(torsions, work, alpha, s, h):
    """`torque_of_step` for spring s."""
    a, b = torsions.frames[s, 0], torsions.frames[s, 1]
    u0, u1, _ = turned(work, a, load3(torsions.Ua[s]))
    w0, w1, _ = turned(work, a, load3(torsions.Wa[s]))
    b0, b1, _ = turned(work, b, load3(torsions.Ub[s]))
    law = torsions.stiffness[s], torsions.damping[s], torsions.angle0[s]
    return torque_of_step(law, h, alpha, (u0, w0, b0), (u1, w1, b1))


@inner_kernel
def add_torsions(system, numbering, state, work, h, tangent):
    """Residual and, on demand, matrix."""
    torsions, values = system.torsions, work.values
    for s in range(torsions.stiffness.shape[0]):
        a, b = torsions.frames[s, 0], torsions.frames[s, 1]
        _, _, torque, to_a, to_b = torsion_step(torsions, work, state.own[s], s, h)
        at, bt = numbering.frame[a], numbering.frame[b]
        add3(times(h, torque), work.residual[at + 3 : at + 6])
        add3(times(-h, torque), work.residual[bt + 3 : bt + 6])
        if tangent:
            base, sa, sb = numbering.torsion_base[s], numbering.frame_stride[a], numbering.frame_stride[b]
            add_at(values, base[0], sa, 1, 1, h, to_a)
            add_at(values, base[1], sb, 1, 1, h, to_b)
            add_at(values, base[2], sa, 1, 1, -h, to_a)
            add_at(values, base[3], sb, 1, 1, -h, to_b)
