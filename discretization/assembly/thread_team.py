"""Share a step of a model solved by fronts among threads: clear matrix, assemble elements, factorise, solve.

A front is ready when its children are done (`discretization.linear.multifrontal`), in back substitution when its parent is
done. Each thread processes its assigned fronts in order and waits if it needs a front of another thread. The assignment is
fixed in advance. Independent subtrees of the elimination tree are assigned to threads by their estimated cost; a front above
them goes to the thread of its most expensive child. Elements are assigned by parts that have no common frame
(`discretization.assembly.element_lanes`). The elements between these parts, and all other terms of the equations, are processed
by the thread of the time loop. Each sum is made by one thread, in the order in which a single thread makes it: results are
bit-identical for any number of threads.

The other threads run while the time loop does (`running_threads`). The thread of the time loop publishes a job by a number,
processes its own part and waits until all others are done. If one part fails, because of a too small pivot or an inverted
element, all end.
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
from discretization.linear.multifrontal import (
    Fronts,
    assemble_child,
    assemble_rows,
    begin_front,
    begin_reduction,
    eliminate_front,
    fronts_factor,
    fronts_solve,
    no_fronts,
    reduce_rows,
    scratch_length,
    solve_columns,
)
from rigid.atomic_flags import APART, load_flag, sleep_arguments, store_flag, wait_for
from rigid.compilation.decorators import address_of, compiled, function_at, internal_kernel, nogil_kernel
from rigid.lanes import WIDTH
from rigid.system import Floats, Ints
from rigid.tuple_references import by_reference, place_of, reference_at

# kinds of jobs: clear the matrix, elements (residual alone, or residual and matrix), factorise, solve
CLEAR, RESIDUAL, TANGENT, FACTOR, SOLVE = range(5)
# Words, atomic integers shared by the threads. AT_WORK: odd while other threads run; LEADER: address of `_led`; PLACE: address of
# the team; GIVEN: number of the last published job, in steps of two; KIND: kind of that job; FAILED: number of the last job that
# failed; from DONE on, for each thread: number of the last job it has done, NOT_RUNNING before it runs.
AT_WORK, LEADER, PLACE, GIVEN, KIND, FAILED, DONE = range(0, 7 * APART, APART)
NOT_RUNNING = -1
_FLOPS, _ENTRIES = 14.0, 1.0  # floating-point operations per ns, panel entries per ns
_MOST_PARTS = 16  # maximum number of subtrees per thread


@by_reference
class ThreadTeam(NamedTuple):
    """Threads and the arrays they work on, which belong to a workspace (`discretization.assembly.workspace`)."""

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
    owner: Ints  # (k,) thread a front is assigned to
    sequence: Ints  # (k,) fronts, thread by thread, in the order of elimination
    first: Ints  # (threads + 1,) first entry of a thread in `sequence`
    reached: Ints  # (k,) last job that has processed this front; plus one after back substitution
    words: Ints  # (DONE + threads APART,) shared words, see above
    step: Floats  # (1,) step h, s
    sleep: Ints  # (2,) sleep settings of `wait_for`
    columns: Floats  # (threads, 12, 12, 8) scratch of the elements
    scratch: Floats  # (threads, `scratch_length` + 8) scratch of the fronts


def alone() -> Ints:
    """Return the empty array of words that means a single thread."""
    return np.zeros(0, np.int64)


def _empty_team() -> ThreadTeam:
    """Return a team without threads, from which the numba type is inferred."""
    none, numbers, rows = np.zeros(0, np.int64), np.zeros(0), np.zeros((0, 0))
    return ThreadTeam(
        elements=no_elements(), fronts=no_fronts(), dr=rows, R1=np.zeros((0, 3, 3)), q1=rows, residual=numbers, values=numbers,
        panels=numbers, pivots=np.zeros(0, np.int32), rhs=numbers, outer=numbers, owner=none, sequence=none, first=none,
        reached=none, words=none, step=numbers, sleep=none, columns=np.zeros((0, 12, 12, WIDTH)), scratch=rows
    )  # fmt: skip


def create_team(fronts: Fronts, threads: int, work: Any) -> ThreadTeam:
    """Create a team of two or more threads for these fronts, on the arrays of a workspace."""
    owner = _owners(fronts, threads)
    shared = {name: getattr(work, name) for name in _SHARED}
    team = ThreadTeam(
        **shared,
        fronts=fronts,
        owner=owner,
        sequence=np.argsort(owner, kind="stable"),
        first=np.searchsorted(np.sort(owner), np.arange(threads + 1)),
        reached=np.zeros(len(owner), np.int64),
        words=np.zeros(DONE + threads * APART, np.int64),
        step=np.zeros(1),
        sleep=sleep_arguments(),
        columns=np.zeros((threads, 12, 12, WIDTH)),
        scratch=np.zeros((threads, scratch_length(fronts) + 8)),
    )
    team.words[LEADER] = address_of(_led)
    _serve(team, 0, -1, 0)  # compile here, not in a thread that others wait for
    return team


_SHARED = "elements", "dr", "R1", "q1", "residual", "values", "panels", "pivots", "rhs", "outer"


def _owners(fronts: Fronts, threads: int) -> Ints:
    """Return the thread (k,) that each front is assigned to."""
    height, inner = np.diff(fronts.first).astype(float), fronts.inner
    flops = 2.0 / 3.0 * (height**3 - (height - inner) ** 3)  # estimated operations of a panel
    cost = flops / _FLOPS + height**2 / _ENTRIES
    subtree_cost = cost.copy()  # cost of the subtree
    for f, parent in enumerate(fronts.parent.tolist()):
        if parent >= 0:
            subtree_cost[parent] += subtree_cost[f]
    owner = np.full(len(cost), -1)
    load = [(0.0, thread) for thread in range(threads)]
    for f in sorted(_parts(fronts, cost, subtree_cost, threads), key=lambda f: (-subtree_cost[f], f)):
        until, owner[f] = load[0]
        heapq.heapreplace(load, (until + subtree_cost[f], int(owner[f])))
    heaviest = np.zeros(len(cost))
    for f, parent in enumerate(fronts.parent.tolist()):  # parents go to the thread of the costliest child
        if parent >= 0 and owner[f] >= 0 and subtree_cost[f] > heaviest[parent]:
            heaviest[parent], owner[parent] = subtree_cost[f], owner[f]
    for f in range(len(cost) - 1, -1, -1):
        if owner[f] < 0:
            owner[f] = owner[fronts.parent[f]]
    return owner


def _parts(fronts: Fronts, cost: Floats, subtree_cost: Floats, threads: int) -> list[int]:
    """Return the roots of the subtrees assigned to threads: the split with the shortest estimated total time."""
    waiting = [(-subtree_cost[f], f) for f in np.flatnonzero(fronts.parent < 0).tolist()]
    heapq.heapify(waiting)
    above, best, roots = 0.0, np.inf, []
    most = max(_MOST_PARTS * threads, len(waiting))
    while waiting and len(waiting) <= most:
        until = above + _longest([-load for load, _ in waiting], threads)
        if until < best:
            best, roots = until, [f for _, f in waiting]
        _, f = heapq.heappop(waiting)
        above += cost[f]
        for child in fronts.child[fronts.first_child[f] : fronts.first_child[f + 1]].tolist():
            heapq.heappush(waiting, (-subtree_cost[child], child))
        if above > best:
            break
    return roots


def _longest(times: list[float], threads: int) -> float:
    """Return the largest load, ns, if the longest remaining task always goes to the thread with the smallest load."""
    load = [0.0] * threads
    for duration in sorted(times, reverse=True):
        heapq.heapreplace(load, load[0] + duration)
    return max(load)


@internal_kernel
def _wait_for_front(team, f, thread, number):
    """Wait for a front of another thread; return whether it will not come because a part of the job failed."""
    return (
        team.owner[f] != thread
        and wait_for(team.reached, f, number, team.words, FAILED, number, team.sleep) != 0
    )


@internal_kernel
def _factor_part(team, thread, number):
    """Factorise the fronts of this thread."""
    F, panels, scratch = team.fronts, team.panels, team.scratch[thread]
    for place in range(team.first[thread], team.first[thread + 1]):
        f = team.sequence[place]
        begin_front(team.values, F, f, panels)
        for k in range(F.first_child[f], F.first_child[f + 1]):
            if _wait_for_front(team, F.child[k], thread, number):
                return
            assemble_child(F, f, F.child[k], panels)
        if eliminate_front(F, f, panels, team.pivots, scratch) != 0:
            store_flag(team.words, FAILED, number)
            return
        store_flag(team.reached, f, number)


@internal_kernel
def _solve_part(team, thread, number):
    """Do forward and back substitution for the fronts of this thread."""
    F, panels, x = team.fronts, team.panels, team.scratch[thread]
    begin, end = team.first[thread], team.first[thread + 1]
    for place in range(begin, end):
        f = team.sequence[place]
        begin_reduction(F, f, team.rhs, x)
        for k in range(F.first_child[f], F.first_child[f + 1]):
            if _wait_for_front(team, F.child[k], thread, number):
                return
            assemble_rows(F, F.child[k], team.outer, x)
        reduce_rows(F, f, panels, team.pivots, team.rhs, team.outer, x)
        store_flag(team.reached, f, number)
    for place in range(end - 1, begin - 1, -1):
        f = team.sequence[place]
        if F.parent[f] >= 0 and _wait_for_front(team, F.parent[f], thread, number + 1):
            return
        solve_columns(F, f, panels, team.rhs, x)
        store_flag(team.reached, f, number + 1)


@internal_kernel
def _clear_part(team, thread):
    """Clear the part of the matrix of this thread."""
    threads, n = team.scratch.shape[0], team.values.size
    for i in range(n * thread // threads, n * (thread + 1) // threads):
        team.values[np.uintp(i)] = 0.0


@internal_kernel
def _assemble_part(team, tangent, thread, number):
    """Assemble the element parts of this thread."""
    parts, threads = team.elements.parts, team.scratch.shape[0]
    count = parts.size - 1
    begin, end = parts[count * thread // threads], parts[count * (thread + 1) // threads]
    if add_groups(team, begin, end, team.columns[thread], team.step[0], tangent) != 0:
        store_flag(team.words, FAILED, number)


@internal_kernel
def _do_part(team, kind, thread, number):
    """Process the part of this thread in a job of this kind."""
    if kind == CLEAR:
        _clear_part(team, thread)
    elif kind in (RESIDUAL, TANGENT):
        _assemble_part(team, kind == TANGENT, thread, number)
    elif kind == FACTOR:
        _factor_part(team, thread, number)
    else:
        _solve_part(team, thread, number)


def _lead(place: Any, kind: Any, h: Any) -> Any:
    """Run a job on all threads, the calling one being the first; return 0, or 1 if the job failed."""
    team = _team_at(place)
    words, team.step[0] = team.words, h
    number = words[GIVEN] + 2
    words[KIND] = kind
    store_flag(words, GIVEN, number)
    _do_part(team, kind, 0, number)
    for thread in range(1, team.scratch.shape[0]):
        wait_for(words, DONE + thread * APART, number, words, AT_WORK, words[AT_WORK] + 1, team.sleep)
    return 1 if load_flag(words, FAILED) >= number else 0


@nogil_kernel
def _serve(team, thread, session, number):
    """Process the part of this thread in each job after `number`, until `words[AT_WORK]` exceeds `session`."""
    words = team.words
    words[PLACE] = place_of(team)  # the address as seen by any thread will do
    store_flag(words, DONE + thread * APART, number)
    while wait_for(words, GIVEN, number + 2, words, AT_WORK, session + 1, team.sleep) == 0:
        number += 2
        _do_part(team, words[KIND], thread, number)
        store_flag(words, DONE + thread * APART, number)


_TEAM = typeof(_empty_team())
_team_at = reference_at(_TEAM)
_LEAD = types.int64(types.int64, types.int64, types.float64)
_led = compiled(_LEAD)(_lead)
_lead_at = function_at(_LEAD)


@contextlib.contextmanager
def running_threads(team: ThreadTeam | None) -> Iterator[None]:
    """Run the other threads of the team during a time loop; they have ended when the context ends, also after an exception.

    If some thread cannot be started, the time loop runs on a single thread.
    """
    if team is None:
        yield
        return
    words = team.words
    session, number = int(words[AT_WORK]) + 1, int(words[GIVEN])
    words[DONE::APART] = NOT_RUNNING
    workers = [
        threading.Thread(target=_serve, args=(team, thread, session, number), daemon=True)
        for thread in range(1, len(team.scratch))
    ]
    try:
        words[AT_WORK] = session
        if not _start_all(words, workers):
            words[AT_WORK] = session + 1
        yield
    finally:
        words[AT_WORK] = session + 1
        for worker in workers:
            if worker.ident is not None:
                worker.join()


def _start_all(words: Ints, workers: Sequence[threading.Thread]) -> bool:
    """Start the threads and wait until all serve; return False if one cannot be started.

    Once they serve, nothing can end them early.
    """
    try:
        for worker in workers:
            worker.start()
    except RuntimeError:  # the operating system has no more threads
        return False
    while np.any(words[DONE + APART :: APART] == NOT_RUNNING):
        if not all(worker.is_alive() for worker in workers):
            return False
        time.sleep(0.0)
    return True


@internal_kernel
def _in_threads(words):
    """Return whether the other threads are running."""
    return words.size > 0 and words[AT_WORK] % 2 == 1


@internal_kernel
def _run_job(words, kind, h):
    """Run a job of this kind on all threads and return the status of `_lead`."""
    return _lead_at(words[LEADER])(words[PLACE], kind, h)


@internal_kernel
def clear_matrix(numbering, work):
    """Set all matrix entries to zero, in threads if there are any."""
    if _in_threads(work.team):
        _run_job(work.team, CLEAR, 0.0)
        return
    for i in range(numbering.n_values):
        work.values[i] = 0.0


@internal_kernel
def add_all_elements(work, h, tangent):
    """Add residual and, if `tangent`, matrix of all elements, in threads if there are any; return as `add_elements` does."""
    if not _in_threads(work.team):
        return add_elements(work, h, tangent)
    lanes = work.elements
    if _run_job(work.team, TANGENT if tangent else RESIDUAL, h) != 0:
        return 1
    between = lanes.parts[lanes.parts.size - 1]
    return add_groups(work, between, lanes.diagonal.shape[0], lanes.columns, h, tangent)


@internal_kernel
def factor_by_fronts(numbering, work):
    """Factorise the matrix of a workspace by fronts, in threads if there are any; return the status of `fronts_factor`."""
    if _in_threads(work.team):
        return _run_job(work.team, FACTOR, 0.0)
    return fronts_factor(work.values, numbering.fronts, work.panels, work.pivots, work.multipliers)


@internal_kernel
def solve_by_fronts(numbering, work):
    """Solve by fronts in place of `work.rhs`, in threads if there are any."""
    if _in_threads(work.team):
        _run_job(work.team, SOLVE, 0.0)
    else:
        fronts_solve(numbering.fronts, work.panels, work.pivots, work.rhs, work.outer, work.multipliers)
