"""The counted angles of geared joints, and what else is counted, in a Cayley energy-momentum step: given at its start, taken over
at its end.
"""

from __future__ import annotations

from discretization.assembly.by_duals import begin_counted, end_counted
from discretization.assembly.given_motions import _kind_of, _put_pair
from discretization.assembly.workspace import EPS
from rigid.compilation import inner_kernel
from rigid.interactions.kinds import value_at


@inner_kernel
def begin_gears(numbering, state, work):
    """Each angle is the one nearest to that at the start; its rounding."""
    gears, duals = work.gears, work.by_duals
    for k in range(gears.entry.shape[0]):
        angle, c = state.own[gears.first + k], duals.interacting.each[gears.entry[k]].row
        work.noise[numbering.row[c]] += 2.0 * EPS * work.scale[c] * gears.size[k] * abs(angle)
        duals.interacting.numbers[gears.branch[k]] = angle
        duals.at_end[gears.branch[k]] = angle
    begin_counted(numbering, state, work)


@inner_kernel
def end_gears(state, work):
    """The angles of r1, R1: not sums of changes, so that no rounding piles up."""
    gears, own = work.gears, work.by_duals
    for k in range(gears.entry.shape[0]):
        e = gears.entry[k]
        entry, kind = own.interacting.each[e], _kind_of(own.interacting, e)
        _put_pair(work.r1, work.R1, own, e, own.end)
        value_of_kind = value_at(kind.value)
        value_of_kind(own.end, own.at_end[entry.first : entry.last], own.g)
        state.own[gears.first + k] = own.g[0].real / gears.size[k]
    end_counted(state, work)
