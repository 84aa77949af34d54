"""The march of planar models (`discretization.planar.march`) for eight runs at once, side by side in lanes: each run to the bit
what it is alone. What it does to frames, hinges and loads is the source of one run, compiled for lanes.
"""

from discretization.planar.arrays import (
    DX,
    DY,
    MPSI,
    MX,
    MY,
    PSI,
)
from discretization.planar.elimination import (
    again_by_hinges,
    back_to_hinges,
    eliminate_hinges,
)
from discretization.planar.joints import add_joint_noise, begin_joints
from discretization.planar.march import (
    LEFT,
    NEGLIGIBLE,
    QUADRATIC,
    SAFE,
    SMALL,
    account,
    commit,
    level_of_frame,
    level_of_hinge,
    wants_matrix,
)
from discretization.planar.step import (
    add_load_noise,
    add_loads,
    begin_bodies,
    put_bodies,
    put_state,
    take_state,
)
from discretization.time.newton import MAX_TURN, STALLED
from discretization.time.run_march import AGAIN, FRESH, OUT, end_step, some_go_on
from rigid.compilation.decorators import inner_kernel, released_kernel
from rigid.lane_arrays import in_lanes
from rigid.lanes import WIDTH, load, most, store, where_less


@inner_kernel
def _evaluate(tables, work, h, values, tangent):
    """Residual and, on demand, matrix at the present increments."""
    put_bodies(tables, work, h, tangent)
    add_loads(tables, work, h, values, tangent)


@inner_kernel
def _levels(own, work):
    """Largest residuals in units of their round-off levels into own.level; runs where one is not finite leave."""
    worst = total = 0.0 * load(own.left, 0)
    for s in range(work.hinges.shape[0]):
        of_frame, size = level_of_frame(work.frames[s])
        of_hinge, gap = level_of_hinge(work.hinges[s])
        worst, total = most(most(worst, of_frame), of_hinge), total + size + gap
    worst = where_less(total, 1e300, worst, 1e300)
    store(worst, own.level, 0)
    store(where_less(worst, 1e300, load(own.left, 0), 1.0), own.left, 0)


@inner_kernel
def _solve(own, tables, work, again):
    """Corrections, as of `discretization.planar.elimination`, and their sizes."""
    size, k = 0.0 * load(own.left, 0), work.hinges.shape[0]
    singular = size
    if again:
        again_by_hinges(tables, work, 0, k)
    else:
        _, least = eliminate_hinges(tables, work, 0, k)
        singular = where_less(0.0, least, singular, 1.0)
    back_to_hinges(tables, work, k - 1, 0)
    for s in range(k):
        size = most(size, abs(work.frames[s, MPSI]))
    store(where_less(0.5, singular, 1e300, size), own.size, 0)


@inner_kernel
def _correct(own, work):
    """Add the corrections of the runs that take them; those that it turns too far leave."""
    takes = load(own.takes, 0)
    for s in range(work.hinges.shape[0]):
        frame = work.frames[s]
        more = (1.0 + 0.25 * frame[PSI] * frame[PSI]) * frame[MPSI]
        frame[DX] = where_less(0.5, takes, frame[DX] + frame[MX], frame[DX])
        frame[DY] = where_less(0.5, takes, frame[DY] + frame[MY], frame[DY])
        frame[PSI] = where_less(0.5, takes, frame[PSI] + more, frame[PSI])
    for j in range(work.lam.shape[0]):
        for i in range(2):
            lam = work.lam[j, i]
            work.lam[j, i] = where_less(0.5, takes, lam + work.more[j, i], lam)


@inner_kernel
def _keep_last(own, last, last_more, work):
    """The corrections of the runs that end with them, as their last ones."""
    ends = load(own.ends, 0)
    for s in range(work.hinges.shape[0]):
        for i in range(3):
            last[s, i] = where_less(0.5, ends, work.frames[s, MX + i], last[s, i])
    for j in range(last_more.shape[0]):
        for i in range(2):
            last_more[j, i] = where_less(0.5, ends, work.more[j, i], last_more[j, i])


@inner_kernel
def _no_last(last, last_more):
    """None, until they are known."""
    for s in range(last.shape[0]):
        for i in range(3):
            last[s, i] = 0.0
    for j in range(last_more.shape[0]):
        for i in range(2):
            last_more[j, i] = 0.0


@inner_kernel
def _take_last(last, last_more, work):
    for s in range(work.hinges.shape[0]):
        for i in range(3):
            work.frames[s, MX + i] = last[s, i]
    for j in range(last_more.shape[0]):
        for i in range(2):
            work.more[j, i] = last_more[j, i]


@inner_kernel
def _decide(own, solved, run, most_iterations):
    """What a run does next with its residual."""
    level, iteration = own.level[run], own.iteration[run]
    if level <= NEGLIGIBLE:
        return OUT
    contraction = level / own.before[run]
    if level > solved:
        if contraction > QUADRATIC or level * contraction > LEFT:
            own.wants[run] = 1
        if own.fresh[run] and iteration > 2 and contraction > STALLED and level <= SAFE:
            return OUT
        if iteration == most_iterations:
            own.left[run] = 1.0
            return OUT
    own.foreseen[run] = level * contraction * (contraction if own.wants[run] else 1.0)
    quick = iteration > 0 and contraction <= QUADRATIC and own.foreseen[run] <= LEFT
    own.quick[run] = level <= solved or quick
    return FRESH if own.wants[run] else AGAIN


@inner_kernel
def _go_on(own, solved, run):
    """With the correction that there is."""
    level = own.level[run]
    if own.size[run] >= 1e300 or not own.size[run] <= MAX_TURN:
        own.left[run], own.at[run] = 1.0, OUT
    elif own.quick[run] and (level <= solved or own.size[run] <= SMALL):
        own.ends[run], own.at[run] = 1.0, OUT
    else:
        contraction, fresh = level / own.before[run], own.wants[run]
        quadratic = contraction <= QUADRATIC and own.foreseen[run] * contraction * contraction <= LEFT
        own.wants[run] = wants_matrix(level, own.size[run]) if own.iteration[run] == 0 else not quadratic
        own.takes[run], own.fresh[run], own.before[run] = 1.0, fresh, level
        own.factored[run] += fresh
        own.looked[run], own.at[run] = 0, FRESH
        own.iteration[run] += 1


@inner_kernel
def _newton(views, own, solved, h, most_iterations):
    """Solve the step of all runs that have not left; their last corrections are left in work."""
    tables, work, values, last, last_more = views
    _no_last(last, last_more)
    for run in range(WIDTH):
        own.at[run] = FRESH if own.left[run] == 0.0 else OUT
        own.iteration[run], own.fresh[run], own.looked[run], own.wants[run] = 0, 0, 0, 1
        own.before[run], own.factored[run] = 1e300, 0
    tangent = True
    while True:
        _evaluate(tables, work, h, values, tangent)
        noisy = False
        for run in range(WIDTH):
            own.takes[run] = own.at[run] >= FRESH and own.looked[run] == 0 and own.iteration[run] < 2
            noisy = noisy or own.takes[run] != 0.0
        if noisy:
            add_joint_noise(tables, work, load(own.takes, 0))
        _levels(own, work)
        again, fresh = False, False
        for run in range(WIDTH):
            own.takes[run] = own.ends[run] = 0.0
            if own.left[run] != 0.0:
                own.at[run] = OUT
            if own.at[run] >= FRESH and own.looked[run] == 0:
                own.at[run], own.looked[run] = _decide(own, solved, run, most_iterations), 1
            again, fresh = again or own.at[run] == AGAIN, fresh or own.at[run] == FRESH
        if not again and not fresh:
            break
        if not tangent and not again:
            tangent = True
            continue
        # runs that want a new matrix wait for those that do without
        use = FRESH if tangent and not again else AGAIN
        _solve(own, tables, work, use == AGAIN)
        for run in range(WIDTH):
            if own.at[run] == use:
                _go_on(own, solved, run)
        _keep_last(own, last, last_more, work)
        _correct(own, work)
        tangent = True
        for run in range(WIDTH):
            tangent = tangent and (own.at[run] < FRESH or own.wants[run] != 0)
    _take_last(last, last_more, work)


@released_kernel
def march_planar_runs(own, solved, h, values, most_iterations, kept, counts):
    """As `discretization.time.run_march.march_runs`, of planar models."""
    tables, work, state = in_lanes(own.tables), in_lanes(own.work), in_lanes(own.state)
    every, last, last_more = in_lanes(values), in_lanes(own.last), in_lanes(own.last_more)
    share = values.shape[0] // counts.shape[1]
    for k in range(values.shape[0]):
        if not some_go_on(own):
            return
        signals = every[k]
        take_state(tables, state, work)
        begin_joints(tables, work, h, begin_bodies(tables, work, h))
        add_load_noise(tables, work, h, signals)
        _newton((tables, work, signals, last, last_more), own, solved, h, most_iterations)
        if tables.accounts:
            account(tables, state, work, h, signals)
        commit(work, h)
        put_state(tables, state, work)
        end_step(own, kept, counts, k // share, share)
