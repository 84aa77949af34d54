"""Threads that share a step of a model that is solved by fronts: its matrix, its elements, its factors and solutions.

A front is ready when its children are (`discretization.linear.fronts`), in the second half of a solution when its parent is.
Each thread goes through those that are its own, in order, and waits where it needs another's. Which are its own is fixed
beforehand: parts of the tree that do not hang on each other are dealt out by the time they take, what is above them goes with the
part that takes longest. Elements are dealt out by parts that have no frame in common (`discretization.assembly.element_lanes`);
those that lie between, and all else of the equations, is done by the thread of the march. Each sum is made by one thread, in the
order in which one thread makes it alone: the number of threads changes no bit.

The thread of a march has others beside it while it marches (`at_work`). It gives them work by a number, does its own share and
waits until all are done. A share that fails ends all of them: a pivot that is too small, an element that folds.
"""

from __future__ import annotations

import contextlib
import heapq
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import typeof, types

from discretization.assembly.element_lanes import ElementLanes, add_elements, add_groups, no_elements
from discretization.linear.fronts import (
    Fronts,
    begin_front,
    begin_reduction,
    eliminate_front,
    fronts_factor,
    fronts_solve,
    no_fronts,
    reduce_rows,
    scratch_length,
    solve_columns,
    take_child,
    take_rows,
)
from rigid.compilation.decorators import address_of, compiled, function_at, inner_kernel, released_kernel
from rigid.lanes import WIDTH
from rigid.references import by_reference, place_of, reference_at
from rigid.shared_words import APART, sleeping, tell, wait_for, word_at
from rigid.system import Floats, Ints

# kinds of work: the matrix to zero, of elements the residual alone or the matrix, too, factors, a solution
CLEAR, RESIDUAL, TANGENT, FACTOR, SOLVE = range(5)
# Words. AT_WORK: odd while there are others; LEADER: address of `_led`; PLACE: of the team; GIVEN: number of the work that was
# given last, by twos, and its kind; FAILED: number of the last one that cannot be done; then for each thread the number of the
# one that it has done, ABSENT before it is there.
AT_WORK, LEADER, PLACE, GIVEN, KIND, FAILED, DONE = range(0, 7 * APART, APART)
ABSENT = -1
_FLOPS, _ENTRIES = 14.0, 1.0  # operations and entries of a panel in a nanosecond
_MOST_PARTS = 16  # of the tree, a thread


@by_reference
class Team(NamedTuple):
    """Threads with what they work on: arrays of a workspace (`discretization.assembly.workspace`)."""

    elements: ElementLanes
    fronts: Fronts
    dr: Floats
    R1: Floats
    q1: Floats
    residual: Floats
    values: Floats
    panels: Floats
    pivots: np.ndarray
    rhs: Floats
    outer: Floats
    owner: Ints  # (k,) thread of a front
    each: Ints  # (k,) fronts, thread by thread, in the order of elimination
    first: Ints  # (threads + 1,) where those of a thread begin
    reached: Ints  # (k,) number of the work that came as far as this front: of a solution, one more on the way back
    words: Ints  # (DONE + threads APART,)
    step: Floats  # (1,) h
    sleep: Ints  # (2,) of `wait_for`
    columns: Floats  # (threads, 12, 12, 8) scratch of elements
    scratch: Floats  # (threads, `scratch_length` + 8)


def alone() -> Ints:
    """Words where there is but one thread."""
    return np.zeros(0, np.int64)


def _nobody() -> Team:
    """One that is never at work, as its type is asked for."""
    none, numbers, rows = np.zeros(0, np.int64), np.zeros(0), np.zeros((0, 0))
    return Team(
        elements=no_elements(), fronts=no_fronts(), dr=rows, R1=np.zeros((0, 3, 3)), q1=rows, residual=numbers, values=numbers,
        panels=numbers, pivots=np.zeros(0, np.int32), rhs=numbers, outer=numbers, owner=none, each=none, first=none, reached=none,
        words=none, step=numbers, sleep=none, columns=np.zeros((0, 12, 12, WIDTH)), scratch=rows
    )  # fmt: skip


def team_of(fronts: Fronts, threads: int, work: Any) -> Team:
    """So many threads, two or more, for these fronts, on the arrays of a workspace."""
    owner = _owners(fronts, threads)
    shared = {name: getattr(work, name) for name in _SHARED}
    team = Team(
        **shared,
        fronts=fronts,
        owner=owner,
        each=np.argsort(owner, kind="stable"),
        first=np.searchsorted(np.sort(owner), np.arange(threads + 1)),
        reached=np.zeros(len(owner), np.int64),
        words=np.zeros(DONE + threads * APART, np.int64),
        step=np.zeros(1),
        sleep=sleeping(),
        columns=np.zeros((threads, 12, 12, WIDTH)),
        scratch=np.zeros((threads, scratch_length(fronts) + 8)),
    )
    team.words[LEADER] = address_of(_led)
    _serve(team, 0, -1, 0)  # compiled here, not by a thread that others wait for
    return team


_SHARED = "elements", "dr", "R1", "q1", "residual", "values", "panels", "pivots", "rhs", "outer"


def _owners(fronts: Fronts, threads: int) -> Ints:
    """(k,) thread of each front."""
    height, inner = np.diff(fronts.first).astype(float), fronts.inner
    flops = 2.0 / 3.0 * (height**3 - (height - inner) ** 3)  # of a panel, roughly
    cost = flops / _FLOPS + height**2 / _ENTRIES
    whole = cost.copy()  # with all that is under it
    for f, parent in enumerate(fronts.parent.tolist()):
        if parent >= 0:
            whole[parent] += whole[f]
    owner = np.full(len(cost), -1)
    load = [(0.0, thread) for thread in range(threads)]
    for f in sorted(_parts(fronts, cost, whole, threads), key=lambda f: (-whole[f], f)):
        until, owner[f] = load[0]
        heapq.heapreplace(load, (until + whole[f], int(owner[f])))
    heaviest = np.zeros(len(cost))
    for f, parent in enumerate(fronts.parent.tolist()):  # what is above them goes with the heaviest
        if parent >= 0 and owner[f] >= 0 and whole[f] > heaviest[parent]:
            heaviest[parent], owner[parent] = whole[f], owner[f]
    for f in range(len(cost) - 1, -1, -1):
        if owner[f] < 0:
            owner[f] = owner[fronts.parent[f]]
    return owner


def _parts(fronts: Fronts, cost: Floats, whole: Floats, threads: int) -> list[int]:
    """Roots of the parts of the tree that are dealt out: those with which all is done first."""
    waiting = [(-whole[f], f) for f in np.flatnonzero(fronts.parent < 0).tolist()]
    heapq.heapify(waiting)
    above, best, found = 0.0, np.inf, []
    most = max(_MOST_PARTS * threads, len(waiting))
    while waiting and len(waiting) <= most:
        until = above + _longest([-own for own, _ in waiting], threads)
        if until < best:
            best, found = until, [f for _, f in waiting]
        _, f = heapq.heappop(waiting)
        above += cost[f]
        for child in fronts.child[fronts.first_child[f] : fronts.first_child[f + 1]].tolist():
            heapq.heappush(waiting, (-whole[child], child))
        if above > best:
            break
    return found


def _longest(times: list[float], threads: int) -> float:
    """Of the sums, where the longest goes to who has least so far."""
    load = [0.0] * threads
    for own in sorted(times, reverse=True):
        heapq.heapreplace(load, load[0] + own)
    return max(load)


@inner_kernel
def _missing(team, f, thread, number):
    """Wait for a front of another thread; whether it will not come."""
    return (
        team.owner[f] != thread
        and wait_for(team.reached, f, number, team.words, FAILED, number, team.sleep) != 0
    )


@inner_kernel
def _factor_share(team, thread, number):
    """Its fronts of a factorisation."""
    F, panels, scratch = team.fronts, team.panels, team.scratch[thread]
    for place in range(team.first[thread], team.first[thread + 1]):
        f = team.each[place]
        begin_front(team.values, F, f, panels)
        for k in range(F.first_child[f], F.first_child[f + 1]):
            if _missing(team, F.child[k], thread, number):
                return
            take_child(F, f, F.child[k], panels)
        if eliminate_front(F, f, panels, team.pivots, scratch) != 0:
            tell(team.words, FAILED, number)
            return
        tell(team.reached, f, number)


@inner_kernel
def _solve_share(team, thread, number):
    """Its fronts of a solution, there and back."""
    F, panels, x = team.fronts, team.panels, team.scratch[thread]
    begin, end = team.first[thread], team.first[thread + 1]
    for place in range(begin, end):
        f = team.each[place]
        begin_reduction(F, f, team.rhs, x)
        for k in range(F.first_child[f], F.first_child[f + 1]):
            if _missing(team, F.child[k], thread, number):
                return
            take_rows(F, F.child[k], team.outer, x)
        reduce_rows(F, f, panels, team.pivots, team.rhs, team.outer, x)
        tell(team.reached, f, number)
    for place in range(end - 1, begin - 1, -1):
        f = team.each[place]
        if F.parent[f] >= 0 and _missing(team, F.parent[f], thread, number + 1):
            return
        solve_columns(F, f, panels, team.rhs, x)
        tell(team.reached, f, number + 1)


@inner_kernel
def _clear_share(team, thread):
    """Its part of the matrix."""
    threads, n = team.scratch.shape[0], team.values.size
    for i in range(n * thread // threads, n * (thread + 1) // threads):
        team.values[np.uintp(i)] = 0.0


@inner_kernel
def _element_share(team, tangent, thread, number):
    """Its parts of the elements."""
    parts, threads = team.elements.parts, team.scratch.shape[0]
    count = parts.size - 1
    begin, end = parts[count * thread // threads], parts[count * (thread + 1) // threads]
    if add_groups(team, begin, end, team.columns[thread], team.step[0], tangent) != 0:
        tell(team.words, FAILED, number)


@inner_kernel
def _share(team, kind, thread, number):
    if kind == CLEAR:
        _clear_share(team, thread)
    elif kind in (RESIDUAL, TANGENT):
        _element_share(team, kind == TANGENT, thread, number)
    elif kind == FACTOR:
        _factor_share(team, thread, number)
    else:
        _solve_share(team, thread, number)


def _lead(place: Any, kind: Any, h: Any) -> Any:
    """A work of all threads, of which this one is the first; 0, or 1 where it cannot be done."""
    team = _team_at(place)
    words, team.step[0] = team.words, h
    number = words[GIVEN] + 2
    words[KIND] = kind
    tell(words, GIVEN, number)
    _share(team, kind, 0, number)
    for thread in range(1, team.scratch.shape[0]):
        wait_for(words, DONE + thread * APART, number, words, AT_WORK, words[AT_WORK] + 1, team.sleep)
    return 1 if word_at(words, FAILED) >= number else 0


@released_kernel
def _serve(team, thread, hired, number):
    """Do the share of each work that comes behind this number, as long as the team is that which was hired then."""
    words = team.words
    words[PLACE] = place_of(team)  # any of them will do
    tell(words, DONE + thread * APART, number)
    while wait_for(words, GIVEN, number + 2, words, AT_WORK, hired + 1, team.sleep) == 0:
        number += 2
        _share(team, words[KIND], thread, number)
        tell(words, DONE + thread * APART, number)


_TEAM = typeof(_nobody())
_team_at = reference_at(_TEAM)
_LEAD = types.int64(types.int64, types.int64, types.float64)
_led = compiled(_LEAD)(_lead)
_lead_at = function_at(_LEAD)


@contextlib.contextmanager
def at_work(team: Team | None) -> Iterator[None]:
    """Context of a march: the other threads of the team are there, and gone behind it, whatever ended it. Where not all of them
    can be had, it marches alone.
    """
    if team is None:
        yield
        return
    words = team.words
    hired, number = int(words[AT_WORK]) + 1, int(words[GIVEN])
    words[DONE::APART] = ABSENT
    others = [
        threading.Thread(target=_serve, args=(team, thread, hired, number), daemon=True)
        for thread in range(1, len(team.scratch))
    ]
    try:
        words[AT_WORK] = hired
        if not _all_there(words, others):
            words[AT_WORK] = hired + 1
        yield
    finally:
        words[AT_WORK] = hired + 1
        for other in others:
            if other.ident is not None:
                other.join()


def _all_there(words: Ints, others: Sequence[threading.Thread]) -> bool:
    """Start them and wait until they serve, from where on nothing can end them early; False: one cannot be had."""
    try:
        for other in others:
            other.start()
    except RuntimeError:  # the system has no more
        return False
    while np.any(words[DONE + APART :: APART] == ABSENT):
        if not all(other.is_alive() for other in others):
            return False
        time.sleep(0.0)
    return True


@inner_kernel
def _in_threads(words):
    """Whether they are there."""
    return words.size > 0 and words[AT_WORK] % 2 == 1


@inner_kernel
def _done(words, kind, h):
    """What `_lead` says of a work of this kind."""
    return _lead_at(words[LEADER])(words[PLACE], kind, h)


@inner_kernel
def clear_matrix(numbering, work):
    """All entries zero."""
    if _in_threads(work.team):
        _done(work.team, CLEAR, 0.0)
        return
    for i in range(numbering.n_values):
        work.values[i] = 0.0


@inner_kernel
def add_all_elements(work, h, tangent):
    """As `add_elements`."""
    if not _in_threads(work.team):
        return add_elements(work, h, tangent)
    own = work.elements
    if _done(work.team, TANGENT if tangent else RESIDUAL, h) != 0:
        return 1
    between = own.parts[own.parts.size - 1]
    return add_groups(work, between, own.diagonal.shape[0], own.columns, h, tangent)


@inner_kernel
def factor_by_fronts(numbering, work):
    """`fronts_factor` of a workspace."""
    if _in_threads(work.team):
        return _done(work.team, FACTOR, 0.0)
    return fronts_factor(work.values, numbering.fronts, work.panels, work.pivots, work.multipliers)


@inner_kernel
def solve_by_fronts(numbering, work):
    """`fronts_solve` in place of `work.rhs`."""
    if _in_threads(work.team):
        _done(work.team, SOLVE, 0.0)
    else:
        fronts_solve(numbering.fronts, work.panels, work.pivots, work.rhs, work.outer, work.multipliers)
