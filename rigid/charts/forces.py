"""Forces in a chart that have no potential, compiled: loads, pressure, the resistance of dissipations; by duals, pulled back."""

from rigid.charts.condensed import spread
from rigid.charts.interactions import add_duals_of, put_poses, put_rates
from rigid.compilation.decorators import inner_kernel
from rigid.interactions.kinds import dual_at, frame
from rigid.kinematics.chart_frames import DUAL, END, QUATERNION, ROWS, START, STEP, load_at
from rigid.kinematics.poses import (
    ZERO,
    add_mean_pulled,
    add_pulled,
    clear,
    direction,
    load_quat,
    mean_pose,
    on_point,
    pose,
)
from rigid.kinematics.quaternion_maps import E_transposed, add_quat, quat_dot, quat_mean
from rigid.linear_algebra import cross, times
from rigid.mechanics.mechanical import system_function
from rigid.system import FORCE


@inner_kernel
def add_moment(m, y, q0, q1, F, f, out):
    """out += a moment on frame f: 2 E(qbar)^T m (000 (128)); of directors, as the angular velocity is
    sum d_k x d(d_k)/dt/2, the duals m x dbar_k/2."""
    to = F.each[f].orientation
    if to < 0:
        return
    if F.chart == QUATERNION:
        quat = quat_mean(load_quat(q0, to), load_quat(q1, to))
        scale = quat_dot(quat, quat) if F.by_torque else 1.0 + 0j
        add_quat(2.0 / scale, E_transposed(quat, m), to, out)
    else:
        half = times(0.5, m)
        add_mean_pulled((ZERO, cross(half, y[1]), cross(half, y[2]), cross(half, y[3])), q0, q1, F, f, out)


@inner_kernel
def add_working(q0, q1, D, out):
    """out += what acts as a load but by its dual, as energies do: minus that."""
    I, against = D.working, D.scratch[ROWS, 0, 0]
    for which in range(I.kinds.size):
        kind = I.kinds[which]
        for e in range(kind.first, kind.last):
            against[0] = -1.0
            add_duals_of(I, D, kind, e, q0, q1, against, out)


@inner_kernel
def fill_loads(q0, q1, signal, D, out):
    """Loads on the mean of the poses at q0 and q1."""
    F, loads = D.frames, D.loads
    clear(out)
    for k in range(loads.size):
        f = loads[k].frame
        y = mean_pose(pose(q0, F, f), pose(q1, F, f))
        value = times(1.0 + 0j, load_at(signal, 3 * k))
        if loads[k].following == 1:
            value = direction(y, value)
        if loads[k].kind == FORCE:
            add_mean_pulled(on_point(value, load_at(loads[k].X, 0)), q0, q1, F, f, out)
        else:
            add_moment(value, y, q0, q1, F, f, out)
    add_working(q0, q1, D, out)


@system_function("force")
def force(q, signal, D, out):
    """Generalised forces of loads whose values (l, 3) stand in `signal`."""
    fill_loads(q, q, signal, D, out)


@system_function("discrete_force")
def discrete_force(q0, q1, signal, D, out):
    """The same over a step: they act on the mean pose, following ones along its directors, so that their work is
    f . (p1 - p0), m . sum dbar_k x (d_k1 - d_k0)/2."""
    fill_loads(q0, q1, signal, D, out)


@system_function("resistance")
def resistance(q, w, D, out):
    """Viscous forces against the rates w; w . out is the power they take. What settles resists as over the step about q."""
    S, I = D.scratch, D.dissipating
    clear(out)
    for which in range(I.kinds.size):
        kind = I.kinds[which]
        over_step = kind.settle != 0 and S[STEP, 0, 0, 0] != 0.0
        dual = dual_at(kind.dual if over_step else kind.bend)
        for e in range(kind.first, kind.last):
            own = I.each[e]
            S[ROWS, 0, 0, 0] = 1.0
            put_poses(q, D, own, kind.arity, S[START])
            put_rates(q, w, D, own, kind.arity, S[END])
            if over_step:
                spread(kind.arity, 0.5 / S[STEP, 0, 0, 0], S)
                S[ROWS, 0, 0, 0] = S[STEP, 0, 0, 0]
            dual(S[START], S[END], I.numbers[own.first : own.last], S[ROWS, 0, 0], S[DUAL])
            for k in range(kind.arity):
                add_pulled(frame(S[DUAL], k), q, D.frames, own.frames[k], 1.0, out)


@system_function("discrete_resistance")
def discrete_resistance(q0, q1, frequency, D, out):
    """Viscous forces against the change of the strains over a step times frequency[0] = 1/h; (q1 - q0) . out is what the
    step dissipates."""
    I = D.dissipating
    clear(out)
    for which in range(I.kinds.size):
        kind = I.kinds[which]
        for e in range(kind.first, kind.last):
            add_duals_of(I, D, kind, e, q0, q1, frequency, out)
