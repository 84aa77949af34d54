"""Elements in lanes: each has the forces, tangent and strains that the formulas of one element give."""

import numpy as np
import pytest

from discretization.assembly import element_lanes
from discretization.space.se3_element import E0, START, discrete_forces, start_of_step
from rodsim import Model
from tests.support.element_lanes import SECTION
from tests.support.steps_in_lanes import H, assembled, begun, in_a_step


def stirred(n, full=False, viscous=False, consistent=False, turn=0.05):
    """System, numbering, state and workspace of rods of n and 2 elements on a ground, in the middle of a step."""
    rng = np.random.default_rng(n)
    model = Model("stirred", gravity=(0, 0, -9.81))
    mass = "consistent" if consistent else "lumped"
    rod = model.add_rod("rod", [(0, 0, 0), (0.1 * n, 0.02 * n, 0)], SECTION, n_elements=n, mass=mass)
    model.add_rod("other", [(0, 0, 1), (0.1, 0, 1)], SECTION, n_elements=2, mass=mass)
    model.add_joint("clamp", "clamp", rod.end)
    built = model.build()
    state, elements = built.state, built.system.elements
    factor = 0.1 * rng.standard_normal((len(elements.length), 6, 6))
    if full:
        factor = factor @ factor.swapaxes(1, 2)
        elements = elements._replace(stiffness=elements.stiffness + 1e3 * factor)
    if viscous:
        elements = elements._replace(damping=0.01 * elements.stiffness)
    elements = elements._replace(strain0=0.1 * rng.standard_normal(elements.strain0.shape))
    system = built.system._replace(elements=elements)
    return in_a_step(system, state, turn, rng)


def of_elements(system, numbering, state, work):
    """What of residual and matrix is the elements'."""
    none = system.elements._replace(
        stiffness=np.zeros_like(system.elements.stiffness),
        damping=np.zeros_like(system.elements.damping),
    )
    empty, couples = system._replace(elements=none), work.elements.couples
    begun(empty, numbering, state, work)
    without = assembled(
        empty, numbering, state, work._replace(elements=work.elements._replace(couples=False))
    )
    begun(system, numbering, state, work)
    found = assembled(system, numbering, state, work)
    assert (found[2], without[2], work.elements.couples) == (0, 0, couples)
    return found[0] - without[0], found[1] - without[1]


def dense(numbering, values):
    """The matrix of a band."""
    n, band = numbering.size, numbering.band
    out, width = np.zeros((n, n)), 3 * band + 1
    for j in range(n):
        for i in range(max(0, j - band), min(n, j + band + 1)):
            out[i, j] = values[j * width + 2 * band + i - j]
    return out


def one_by_one(system, numbering, state, work):
    """Residual, matrix and changes of strain from the formulas of one element."""
    elements, n = system.elements, numbering.size
    residual, matrix, changes = np.zeros(n), np.zeros((n, n)), []
    for m, (a, b) in enumerate(elements.frames):
        C, D = elements.stiffness[m], elements.damping[m]
        material = elements.length[m], C, D, not np.any((abs(C) + abs(D)) * (1 - np.eye(6)))
        e0 = state.r[b] - state.r[a]
        e1 = e0 + (work.dr[b] - work.dr[a])
        A, B = (tuple(work.R0[f].ravel()) for f in (a, b))
        start, strain1, K = np.zeros(START), np.zeros(6), np.zeros((9, 9))
        poses = A, B, tuple(state.quat[a]), tuple(state.quat[b]), tuple(e0)
        start_of_step(poses, material, elements.strain0[m], H, start)
        ends = (
            tuple(work.R1[a].ravel()),
            tuple(work.R1[b].ravel()),
            tuple(work.q1[a]),
            tuple(work.q1[b]),
            tuple(e1),
        )
        status, f, torque_a, torque_b = discrete_forces(
            (A, B, tuple(e0)), ends, start, material, H, True, strain1, K
        )
        assert status == 0
        coupling = elements.coupling[m]
        rate = (work.dr[b] - work.dr[a]) / H - (state.v[b] - state.v[a])
        f = np.array(f) - 2.0 * coupling / H * rate
        K[:3, :3] -= 2.0 * coupling / H**2 * np.eye(3)
        # forces of both frames from those of e, and the same of the columns
        spread = np.zeros((12, 9))
        spread[0:3, 0:3], spread[6:9, 0:3] = -np.eye(3), np.eye(3)
        spread[3:6, 3:6] = spread[9:12, 6:9] = np.eye(3)
        places = np.concatenate([numbering.frame[a] + np.arange(6), numbering.frame[b] + np.arange(6)])
        moving = places < n
        forces, tangent = H * spread @ np.concatenate([f, torque_a, torque_b]), H * spread @ K @ spread.T
        residual[places[moving]] += forces[moving]
        matrix[np.ix_(places[moving], places[moving])] += tangent[np.ix_(moving, moving)]
        changes.append(strain1 - start[E0 : E0 + 6])
    return residual, matrix, np.array(changes)


@pytest.mark.parametrize(
    ("n", "how"),
    [
        (1, {}),
        (6, {"full": True}),
        (7, {"viscous": True}),
        (13, {"full": True, "viscous": True, "consistent": True}),
        (14, {"turn": 0.3}),
    ],
)
def test_eight_at_a_time_are_the_same_as_one_by_one(n, how):
    system, numbering, state, work = stirred(n, **how)
    found, entries = of_elements(system, numbering, state, work)
    residual, matrix, changes = one_by_one(system, numbering, state, work)
    assert np.abs(found - residual).max() < 1e-14 * np.abs(work.residual).max()
    found_matrix = dense(numbering, entries)
    assert np.abs(found_matrix - matrix).max() < 1e-14 * np.abs(work.values).max()
    # nothing stands where the matrix has no entries
    assert np.count_nonzero(entries) == np.count_nonzero(found_matrix)
    own = work.elements
    strains = own.strain1 - own.start[:, element_lanes.E0 : element_lanes.E0 + 6]
    strains = strains.swapaxes(1, 2).reshape(-1, 6)
    assert np.abs(strains[: len(changes)] - changes).max() < 1e-14


def test_round_off_of_forces_is_that_of_the_stiffness():
    system, numbering, state, work = stirred(9)
    own = work.elements
    without = own._replace(scale=np.zeros_like(own.scale))
    wanted, found = np.zeros((2, *work.noise.shape))
    for noise, elements in ((found, own), (wanted, without)):
        begun(system, numbering, state, work._replace(elements=elements))
        noise[:] = work.noise
    epsilon = np.finfo(float).eps
    for (a, b), L, C in zip(
        system.elements.frames, system.elements.length, np.abs(system.elements.stiffness), strict=True
    ):
        force = H * epsilon * C[:3].max()
        moment = force * L + H * epsilon * C[3:].max() / L
        for f in (a, b):
            wanted[numbering.frame[f] + np.arange(6)] += np.repeat([force, moment], 3)
    n = numbering.size
    assert np.allclose(found[:n], wanted[:n], rtol=1e-13)


def test_blocks_that_are_not_side_by_side_are_found_too():
    model = stirred(9)
    own = model[3].elements
    assert own.rows.any()
    _, beside = of_elements(*model)
    own.rows[:] = element_lanes.APART
    assert np.array_equal(of_elements(*model)[1], beside)


@pytest.mark.parametrize("which", [0, 7, 8, 10])
def test_one_element_that_folds_is_told(which):
    system, numbering, state, work = stirred(9)
    assert assembled(system, numbering, state, work)[2] == 0
    work.q1[system.elements.frames[which, 1]] *= -1.0  # the other of both quaternions of a turn: half + pi
    assert assembled(system, numbering, state, work)[2] == 1
