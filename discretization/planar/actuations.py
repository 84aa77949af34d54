"""Rest strains that vary: stresses that are constant in a step, and their work, `discretization.assembly.actuated_elements` (1).

The strains at the end of a step are those with which the next one begins: the work of a step is added there. At the end of a
loop they are evaluated for it alone.
"""

from discretization.planar.element import E1, LENGTH, START, W1
from discretization.planar.element_lanes import begin_elements
from discretization.planar.step import load_state_in_plane
from rigid.compilation.decorators import internal_kernel
from rigid.lanes import WIDTH, load, store


@internal_kernel
def begin_actuations(tables, work, values):
    """Subtract the stresses of the actuations from those that are constant in the step; call it after `begin_elements`.

    The stresses and the strains at the start are stored for `work_of_step`.
    """
    stress = work.actuated
    for group in range(work.starts.shape[0]):
        for i in range(3):
            store(0.0, stress, (3 * group + i) * WIDTH)
    actuated = tables.actuated
    for k in range(actuated.shape[0]):
        stress[actuated[k, 1], actuated[k, 2], actuated[k, 3]] += (
            values[actuated[k, 0], 0] * tables.actuation[k]
        )
    for group in range(work.starts.shape[0]):
        for i in range(3):
            at, row = (3 * group + i) * WIDTH, (group * START + i) * WIDTH
            store(load(work.starts, row + E1 * WIDTH), work.strain0, at)
            constant = load(work.starts, row + W1 * WIDTH) - load(stress, at)
            store(constant, work.starts, row + W1 * WIDTH)


@internal_kernel
def work_of_step(work):
    """Return the work of the actuations in the step of `begin_actuations`, J, after `begin_elements` at its end."""
    total, sums = 0.0 * load(work.strain0, 0), work.actuated.shape[0] - 1
    for group in range(work.starts.shape[0]):
        length = load(work.starts, (group * START + LENGTH) * WIDTH)
        for i in range(3):
            at, row = (3 * group + i) * WIDTH, (group * START + E1 + i) * WIDTH
            total = total + length * load(work.actuated, at) * (
                load(work.starts, row) - load(work.strain0, at)
            )
    store(total, work.actuated, 3 * sums * WIDTH)
    done = 0.0
    for j in range(WIDTH):
        done += work.actuated[sums, 0, j]
    return done


@internal_kernel
def work_of_last_step(tables, state, work, h):
    """Return `work_of_step` at the end of a loop, J, from the state, with the bits of a step that begins there."""
    if not tables.aligned:
        load_state_in_plane(tables, state, work)
    begin_elements(tables, state, work, h)
    return work_of_step(work)
