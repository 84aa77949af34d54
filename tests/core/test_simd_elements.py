"""Rod elements and spans in SIMD lanes have the forces, tangent and strains of single ones."""

import numpy as np
import pytest

from discretization.assembly import element_lanes
from discretization.assembly.rod_spans import span_work, strains_over_step
from discretization.space.closed_form_spans import STRAINS_END, STRAINS_START
from discretization.space.se3_element import E0, START, discrete_forces, start_of_step
from rodsim import Model
from tests.support.assembly import dense
from tests.support.element_lanes import SECTION
from tests.support.simd_steps import H, assembled, begun, in_a_step


def mid_iteration(n, element="se3", full=False, viscous=False, consistent=False, size=0.05, with_fixed=False):
    """System, numbering, state and workspace of rods of n and 2 elements or spans, in the middle of a step."""
    rng = np.random.default_rng(n)
    model = Model("stirred", gravity=(0, 0, -9.81))
    order = 1 if element == "se3" else int(element[-2])
    settings = {"element": element, "mass": "consistent" if consistent else "lumped"}
    rod = model.add_rod("rod", [(0, 0, 0), (0.1 * n, 0.02 * n, 0)], SECTION, n_elements=order * n, **settings)
    model.add_rod("other", [(0, 0, 1), (0.1 * order, 0, 1)], SECTION, n_elements=2 * order, **settings)
    model.add_joint("clamp", "clamp", rod.end)
    built = model.build()
    name = "elements" if element == "se3" else "spans"
    table, frames = getattr(built.system, name), built.system.frames
    if full:
        factor = 0.1 * rng.standard_normal(table.stiffness.shape)
        table = table._replace(stiffness=table.stiffness + 1e3 * factor @ factor.swapaxes(1, 2))
    if viscous:
        some = (np.arange(len(table.stiffness)) >= order)[:, None, None]
        table = table._replace(damping=0.01 * some * table.stiffness)
    table = table._replace(strain0=0.1 * rng.standard_normal(table.strain0.shape))
    if with_fixed:  # a fixed frame has no unknowns in the matrix
        first_frame = np.arange(len(frames.fixed)) == table.frames[0, 0]
        frames = frames._replace(fixed=np.where(first_frame, 1, frames.fixed))
    system = built.system._replace(frames=frames, **{name: table})
    return in_a_step(system, built.state, size, rng)


def element_contributions(system, numbering, state, work):
    """Contribution of the elements to residual and matrix."""
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
    assembled_values = assembled(system, numbering, state, work)
    assert (assembled_values[2], without[2], work.elements.couples) == (0, 0, couples)
    return assembled_values[0] - without[0], assembled_values[1] - without[1]


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
        ends = *(tuple(work.R1[f].ravel()) for f in (a, b)), *(tuple(work.q1[f]) for f in (a, b)), tuple(e1)
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
        rows = np.concatenate([numbering.frame[a] + np.arange(6), numbering.frame[b] + np.arange(6)])
        moving = rows < n
        forces, tangent = H * spread @ np.concatenate([f, torque_a, torque_b]), H * spread @ K @ spread.T
        residual[rows[moving]] += forces[moving]
        matrix[np.ix_(rows[moving], rows[moving])] += tangent[np.ix_(moving, moving)]
        changes.append(strain1 - start[E0 : E0 + 6])
    return residual, matrix, np.array(changes)


@pytest.mark.parametrize(
    ("n", "how"),
    [
        (1, {}),
        (6, {"full": True}),
        (7, {"viscous": True}),
        (13, {"full": True, "viscous": True, "consistent": True}),
        (14, {"size": 0.3}),
    ],
)
def test_elements_in_simd_lanes_equal_single_elements(n, how):
    system, numbering, state, work = mid_iteration(n, **how)
    forces, entries = element_contributions(system, numbering, state, work)
    residual, matrix, changes = one_by_one(system, numbering, state, work)
    assert np.abs(forces - residual).max() < 1e-14 * np.abs(work.residual).max()
    found_matrix = dense(numbering, entries)
    assert np.abs(found_matrix - matrix).max() < 1e-14 * np.abs(work.values).max()
    # no values outside the pattern of the matrix
    assert np.count_nonzero(entries) == np.count_nonzero(found_matrix)
    elements = work.elements
    strains = elements.strain1 - elements.start[:, element_lanes.E0 : element_lanes.E0 + 6]
    strains = strains.swapaxes(1, 2).reshape(-1, 6)
    assert np.abs(strains[: len(changes)] - changes).max() < 1e-14


def test_round_off_of_forces_is_that_of_the_stiffness():
    system, numbering, state, work = mid_iteration(9)
    stored = work.elements
    without = stored._replace(scale=np.zeros_like(stored.scale))
    expected, actual = np.zeros((2, *work.noise.shape))
    for noise, elements in ((actual, stored), (expected, without)):
        begun(system, numbering, state, work._replace(elements=elements))
        noise[:] = work.noise
    epsilon = np.finfo(float).eps
    for (a, b), L, C in zip(
        system.elements.frames, system.elements.length, np.abs(system.elements.stiffness), strict=True
    ):
        force = H * epsilon * C[:3].max()
        moment = force * L + H * epsilon * C[3:].max() / L
        for f in (a, b):
            expected[numbering.frame[f] + np.arange(6)] += np.repeat([force, moment], 3)
    n = numbering.size
    assert np.allclose(actual[:n], expected[:n], rtol=1e-13)


def alone(system, numbering, work):
    """Workspace with spans evaluated one by one."""
    return work._replace(spans=span_work(system, numbering, eight=False))


SPANS = [
    (2, {}),
    (6, {"full": True}),
    (7, {"viscous": True}),
    (14, {"full": True, "viscous": True, "consistent": True, "size": 0.12}),
    (9, {"with_fixed": True}),
    (7, {"element": "relative(4)", "viscous": True}),
]


@pytest.mark.parametrize(("n", "how"), SPANS)
def test_spans_in_simd_lanes_equal_single_spans(n, how):
    model = mid_iteration(n, **{"element": "relative(2)"} | how)
    system, numbering, state, work = model
    one_by_one = alone(system, numbering, work)
    assert len(work.spans.lanes.order) == -(-(n + 2) // 8)
    assert len(work.spans.alone) == len(one_by_one.spans.lanes.order) == 0
    residual, matrix, status = assembled(system, numbering, state, one_by_one)
    forces, entries, status_of_eight = assembled(*model)
    assert status == status_of_eight == 0
    assert np.abs(forces - residual).max() < 1e-14 * np.abs(residual).max()
    assert np.abs(entries - matrix).max() < 1e-14 * np.abs(matrix).max()
    assert np.array_equal(entries != 0.0, matrix != 0.0)  # no values outside the pattern of the matrix


@pytest.mark.parametrize(("n", "how"), [SPANS[3], SPANS[5]])
def test_strains_of_both_ends_of_a_step_equal_those_of_single_spans(n, how):
    system, numbering, state, work = mid_iteration(n, **{"element": "relative(2)"} | how)
    poses = state.r, work.dr, work.R0, work.R1
    both = []
    for spans in (work.spans, alone(system, numbering, work).spans):
        strains = {}
        for m in spans.sequence:
            strains_over_step(system.spans, spans, poses, m, 1.0 / H)
            strains[m] = spans.K[STRAINS_START : STRAINS_END + 1, : 6 * spans.order[m]].copy()
        both.append([strains[m] for m in range(len(strains))])
    assert np.abs(np.array(both[0]) - np.array(both[1])).max() < 1e-13


def test_changed_parameters_are_used():
    system, numbering, state, work = mid_iteration(6, "relative(2)", viscous=True)
    numbers, viscosity = work.spans.numbers, work.spans.viscosity
    for k in range(2):
        numbers[-60:], viscosity[-60:] = (1.0 + k) * numbers[-60:], 0.3 + viscosity[-60:]
        one_by_one = alone(system, numbering, work)
        one_by_one.spans.numbers[:], one_by_one.spans.viscosity[:] = numbers, viscosity
        residual, _, _ = assembled(system, numbering, state, one_by_one)
        forces, _, _ = assembled(system, numbering, state, work)
        assert np.abs(forces - residual).max() < 1e-14 * np.abs(residual).max()


def test_scattered_blocks_are_addressed():
    model = mid_iteration(9)
    rows = model[3].elements.rows
    assert rows.any()
    _, entries, _ = assembled(*model)
    rows[:] = element_lanes.APART
    assert np.array_equal(assembled(*model)[1], entries)


@pytest.mark.parametrize("row", [0, 7, 8, 10])
@pytest.mark.parametrize("element", ["se3", "relative(2)"])
def test_folded_element_is_reported(element, row):
    system, numbering, state, work = mid_iteration(9, element)
    assert assembled(system, numbering, state, work)[2] == 0
    end = 1 if element == "se3" else 2 if row != 8 else 0  # frame 0 also belongs to the neighbour
    table = system.elements if element == "se3" else system.spans
    work.q1[table.frames[row, end]] *= -1.0  # the opposite quaternion of the same rotation: half angle + pi
    assert assembled(system, numbering, state, work)[2] == 1


def test_few_or_nonlinear_spans_use_the_scalar_path():
    assert mid_iteration(1, "relative(2)")[3].spans.alone.tolist() == [0, 1, 2]
    system, numbering, _, work = mid_iteration(9, "relative(2)")
    assert work.spans.alone.size == 0
    spans = system.spans._replace(law=np.where(np.arange(len(system.spans.weight)) < 2, 0, -1))
    spans = spans._replace(parameters=np.full((len(spans.weight), 2), 2.0))
    groups = span_work(system._replace(spans=spans), numbering)
    assert groups.alone.tolist() == [0]
    assert groups.lane.tolist() == [-1, *range(10)]
