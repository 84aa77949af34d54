"""Driven joints in the plane: prescribed motion of a step, and the work of every drive.

A driven angle has a prescribed direction on frame a, which rotates in the plane; a driven displacement has a prescribed value.
The work of a step is the multiplier times the mean, over both ends, of the row in which the driven quantity is replaced by its
change in the step (`discretization.assembly.prescribed_motions` (1)).
"""

from discretization.drives import WORK
from discretization.internal_variables import DRIVE
from discretization.planar.arrays import ANGLE, MPSI, PSI
from discretization.planar.joints import at_both_ends, set_end_rotation
from rigid.compilation.decorators import internal_kernel
from rigid.linear_algebra import dot


@internal_kernel
def begin_drives(tables, state, work, values):
    """Write the driven directions and values at the end of the step, their means and their changes into `work`.

    values: prescribed numbers of the step as `discretization.drives` defines them, after those of the loads.
    """
    for d in range(tables.driven.shape[0]):
        j, at, before = tables.driven[d], tables.signals + 3 * d, tables.drives + DRIVE * d
        across = tables.across[tables.joined[j, 0]]
        for i in range(2):
            start = end = 0.0
            for c in range(3):
                start += across[i, c] * state.internal[before + c]
                end += across[i, c] * values[at, c]
            work.end[j, i], work.mean[j, i] = end, 0.5 * (start + end)
            work.change[d, i] = end - start
        work.value[j] = values[at + 1, 0]
        work.change[d, 2] = values[at + 1, 0] - state.internal[before + 3]


@internal_kernel
def account_drives(tables, state, work, h):
    """Add the work of the step, including the final Newton correction, to the drives' numbers; return its sum, J."""
    total = 0.0
    for d in range(tables.driven.shape[0]):
        j, mean = tables.driven[d], -work.change[d, 2]
        if tables.sort[j] == ANGLE:
            a, b = work.frames[tables.joined[j, 0]], work.frames[tables.joined[j, 1]]
            for frame in (a, b):
                set_end_rotation(frame, frame[PSI] + (1.0 + 0.25 * frame[PSI] * frame[PSI]) * frame[MPSI])
            a0, a1, _ = at_both_ends(a, work.change[d])
            b0, b1, _ = at_both_ends(b, tables.Ub[j])
            mean = 0.5 * (dot(a0, b0) + dot(a1, b1))
        drive_work = (work.lam[j, 0] + work.impulse_correction[j, 0]) / h * mean
        state.internal[tables.drives + DRIVE * d + WORK] += drive_work
        total += drive_work
    return total


@internal_kernel
def end_drives(tables, state, values):
    """Copy the prescribed motion at the end of the step into the state, after its work has been recorded."""
    for d in range(tables.driven.shape[0]):
        at, first = tables.signals + 3 * d, tables.drives + DRIVE * d
        for i in range(3):
            state.internal[first + i], state.internal[first + 4 + i] = values[at, i], values[at + 2, i]
        state.internal[first + 3], state.internal[first + 7] = values[at + 1, 0], values[at + 1, 1]
