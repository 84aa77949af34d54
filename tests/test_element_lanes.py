"""Elements in lanes: each has the forces, tangent and strains that the formulas of one element give."""

import numpy as np
import pytest

from discretization.assembly.element_lanes import add_elements, begin_elements, strain_change
from discretization.assembly.numbering import number
from discretization.assembly.workspace import workspace
from discretization.space.se3_element import E0, START, discrete_forces, start_of_step
from rigid import quaternions
from rodsim import Model, Section

H = 0.01
SECTION = Section.from_stiffness(
    EA=3e3, GA=2e3, GJ=50, EI=(80, 60), mass_per_length=2.0, inertia_per_length=(0.5, 0.6, 0.7)
)


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
    moving = system.frames.fixed == 0
    quat = state.quat + turn * moving[:, None] * rng.standard_normal(state.quat.shape)
    quat /= np.linalg.norm(quat, axis=1)[:, None]
    r = state.r + 0.005 * moving[:, None] * rng.standard_normal(state.r.shape)
    v = 0.3 * moving[:, None] * rng.standard_normal(state.v.shape)
    state = state._replace(r=r, quat=quat, v=v)
    numbering = number(system)
    work = workspace(system, numbering)
    work.dr[moving] = 0.002 * rng.standard_normal((moving.sum(), 3))
    work.psi[moving] = turn * rng.standard_normal((moving.sum(), 3))
    work.R0[:], work.q1[:] = quaternions.to_matrix(quat), cayley(work.psi, quat)
    work.R1[:] = quaternions.to_matrix(work.q1)
    begin_elements(system, state, work, H)
    return system, numbering, state, work


def cayley(psi, quat):
    """Quaternions after turns by these Cayley vectors."""
    turn = np.concatenate([np.ones((len(psi), 1)), 0.5 * psi], axis=1)
    return quaternions.normalize(quaternions.multiply(turn, quat))


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
    work.residual[:] = 0.0
    work.values[:] = 0.0
    assert add_elements(work, H, True) == 0
    residual, matrix, changes = one_by_one(system, numbering, state, work)
    found = [
        [strain_change(work.elements, m, i) for i in range(6)] for m in range(len(system.elements.length))
    ]
    assert np.abs(work.residual[: numbering.size] - residual).max() < 1e-14 * np.abs(residual).max()
    assert np.abs(dense(numbering, work.values) - matrix).max() < 1e-14 * np.abs(matrix).max()
    assert np.abs(found - changes).max() < 1e-14


def test_blocks_that_are_not_side_by_side_are_found_too():
    _, _, _, work = stirred(9)
    assert work.elements.rows.any()
    work.residual[:] = work.values[:] = 0.0
    assert add_elements(work, H, True) == 0
    beside = work.values.copy()
    work.values[:] = 0.0
    work.elements.rows[:] = 0
    assert add_elements(work, H, True) == 0
    assert np.array_equal(work.values, beside)


@pytest.mark.parametrize("which", [0, 7, 8, 10])
def test_one_element_that_folds_is_told(which):
    system, _, _, work = stirred(9)
    work.q1[system.elements.frames[which, 1]] *= -1.0  # the other of both quaternions of a turn: half + pi
    work.residual[:] = 0.0
    assert add_elements(work, H, False) == 1
