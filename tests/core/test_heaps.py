"""Many rods or balls in contact: bands with far blocks, conservation in a heap, and no missed or crossed pair."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from benchmarks.heaps import Settling, balance, heap, settling
from discretization.assembly import multifrontal_selection
from discretization.assembly.multifrontal_selection import count_contacting_parts
from discretization.contact.closest_points import distances, mark_crossings
from discretization.contact.neighbour_search import candidates
from discretization.contact.table import points_of
from discretization.linear import band_gmres
from discretization.linear.band_gmres import acting_blocks, far_blocks, solve_with_far_blocks
from discretization.linear.narrow_band import narrow_factor, narrow_scratch
from discretization.linear.sparse import sparse_release
from discretization.state_measures import energies, momenta
from discretization.time.contact_stepper import ContactStepper
from discretization.time.newton import correct, may_reuse_factors
from discretization.time.stepper import Stepper
from rodsim import Material, Model, Section, simulate
from rodsim import Sphere as Ball
from tests.support.assembly import dense
from tests.support.heaps import HALF, RADIUS, H, lattice, listed
from tests.support.newton_iterations import assembled_workspace, iterate

FEW = (0, 24), (6, 42), (12, 36)  # first unknowns
MANY = tuple((6 * k, 6 * k + 120) for k in range(20))  # more rows than the iteration has steps


class Coupled:
    """A band with pairs of far blocks, the second of which is zero."""

    def __init__(self, strength: float, n: int = 48, joined: tuple[tuple[int, int], ...] = FEW):
        rng, width = np.random.default_rng(4), 3 * HALF + 1
        i, j = np.indices((n, n))
        self.full = np.where(np.abs(i // 6 - j // 6) <= 1, rng.normal(size=(n, n)), 0.0) + 12.0 * np.eye(n)
        columns = np.zeros((n, width))
        for column in range(n):
            rows = np.arange(max(0, column - HALF), min(n, column + HALF + 1))
            columns[column, 2 * HALF + rows - column] = self.full[rows, column]
        pairs = np.array(sorted([*joined, *(pair[::-1] for pair in joined)]))
        self.far, entries = far_blocks(pairs[:, 0], pairs[:, 1], columns.size, width - 1)
        self.values = np.concatenate([columns.ravel(), np.zeros(entries), np.full(64, np.nan)])
        for (row, column), place in zip(pairs, self.far.place, strict=True):
            block = strength * rng.normal(size=(6, 6)) * ({row, column} != set(joined[1]))
            self.full[row : row + 6, column : column + 6] = block
            self.values[place + np.arange(6)[:, None] + (width - 1) * np.arange(6)] = block
        self.band = self.values[: columns.size].copy()
        blocks, rows = np.zeros((2, len(pairs)), np.int64)
        self.acting = blocks, rows, np.zeros(2, np.int64)
        acting_blocks(self.values, self.far, *self.acting)
        self.pivots, self.first = np.zeros(n, np.int32), np.zeros(n, np.int32)
        scratch = np.zeros(narrow_scratch(HALF))
        assert narrow_factor(self.values, n, HALF, self.pivots, self.first, scratch) == 0
        self.noise = rng.uniform(1e-14, 1e-12, n)

    def solved(self, rhs: np.ndarray, handle: int = -7) -> np.ndarray:
        x = rhs.copy()
        factors = self.values, np.zeros((0, 2), np.int64), self.pivots, self.first, self.band
        assert solve_with_far_blocks(handle, self.far, HALF, factors, self.acting, self.noise, 4.0, x) == 0
        return x


@pytest.mark.parametrize("strength", [0.0, 0.3, 3.0])
def test_far_blocks_are_solved_with_their_band(strength: float) -> None:
    coupled = Coupled(strength)
    acts = 4 if strength else 0
    assert coupled.acting[2].tolist() == [acts, acts]  # zero blocks do not count
    for rhs in np.random.default_rng(1).normal(size=(2, 48)):
        residual = (coupled.full @ coupled.solved(rhs) - rhs) / coupled.noise
        assert np.linalg.norm(residual) < 1.01 * band_gmres.RELATIVE * np.linalg.norm(rhs / coupled.noise)
    assert coupled.acting[2][0] == acts  # by the iteration


def test_failed_gmres_iteration_falls_back_to_a_full_factorisation() -> None:
    coupled = Coupled(30.0, 240, MANY)
    try:
        for rhs in np.random.default_rng(1).normal(size=(2, 240)):
            assert np.abs(coupled.full @ coupled.solved(rhs) - rhs).max() < 1e-11
            assert coupled.acting[2][0] == band_gmres.FULL_MATRIX
    finally:
        sparse_release(-7)


def test_matrix_of_rods_in_contact_is_the_derivative_of_the_residual() -> None:
    """One plane is fixed, another belongs to a body."""
    model, section = Model("crossing"), Section.circular(RADIUS, Material(E=1e6, nu=0.3, density=1000.0))
    table = model.add_body("table", Ball(0.1, density=1000.0), position=(0.0, 0.0, -0.5))
    low = model.add_rod("low", [(-0.1, 0.0, 0.0), (0.1, 0.0, 0.0)], section, 2)
    high = model.add_rod("high", [(0.02, -0.1, 1.98 * RADIUS), (0.02, 0.1, 1.98 * RADIUS)], section, 2)
    planes = [
        model.add_plane("top", table.at((0.0, 0.0, 0.5 - 0.99 * RADIUS)), (0.001, 0.0, 1.0)),
        model.add_plane("floor", model.ground.at((0.0, 0.0, -0.99 * RADIUS)), (0.0, 0.0, 1.0)),
    ]
    model.add_contact("below", low, planes, stiffness=1e8)
    model.add_contact("across", low, high, stiffness=1e8, stations=4)
    built, numbering = listed(model, H)
    work = assembled_workspace(built, numbering, H, np.random.default_rng(3), 1e-4)
    matrix, saved = dense(numbering, work.values), (work.dr.copy(), work.psi.copy())
    columns = []
    for j in range(numbering.size):
        ends = []
        for sign in (1.0, -1.0):
            work.dr[:], work.psi[:] = saved
            work.rhs[:] = 0.0
            work.rhs[j] = sign * 1e-8
            correct(built.system, numbering, work)
            iterate(built.system, numbering, built.state, work, H, tangent=False)
            ends.append(work.residual[: numbering.size].copy())
        columns.append((ends[0] - ends[1]) / 2e-8)
    assert np.abs(matrix - np.array(columns).T).max() < 1e-6 * np.abs(matrix).max()


def run_heap(steps: int, rho: float | None = None) -> tuple[ContactStepper, list]:
    """rho: that of `em-d`."""
    model = lattice()
    system, state = model.build().system, model.build().state
    stepper = ContactStepper(system, H, lambda subsystem: Stepper(subsystem, H, rho=rho))
    states = [stepper.start(state)]
    for k in range(steps):
        states.append(stepper.advance(states[-1], k, 1)[0])
    return stepper, states


def test_rods_with_far_blocks_conserve_energy_and_momenta_and_miss_no_pair() -> None:
    stepper, states = run_heap(60)
    system, contacts = stepper.system, stepper.contacts
    energy = [energies(system, state) for state in states]
    assert max(value.spring for value in energy) > 0.1 * energy[0].total
    total = np.array([value.total for value in energy])
    assert np.abs(total - total[0]).max() < 2e-13 * total[0]
    P, L = (np.array([momenta(system, state)[i] for state in states]) for i in (0, 1))
    assert np.abs(P - P[0]).max() < 1e-13 * np.abs(P).max()
    assert np.abs(L - L[0]).max() < 1e-13 * np.abs(L).max()
    first = np.arange(len(contacts.frames))[contacts.length > 0.0]
    u, v = np.array([pair for pair in combinations(first, 2) if pair[0] // 3 != pair[1] // 3]).T
    pairs = np.stack([u, u + 1, v, v + 1], axis=1)
    touched = 0
    for state in states:
        points, distance = points_of(contacts, state.r, state.quat), np.empty(len(pairs))
        distances(points, pairs, distance)
        candidate_pairs = {tuple(ends) for ends in np.sort(stepper._list_of(state).ends[:, [0, 2]]).tolist()}
        near = pairs[distance < 2.0 * RADIUS][:, [0, 2]]
        assert {tuple(ends) for ends in near.tolist()} <= candidate_pairs
        touched += len(near)
        assert distance.min() > 1.2 * RADIUS  # and nothing passed
        assert len(candidates(contacts, points, 0.0).pair) == 2 * len(near)
    assert touched > 50


@pytest.mark.parametrize("rho", [None, 0.5])
def test_bands_and_columns_give_the_same_motion(rho: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    stepper, states = run_heap(40, rho)
    inner = stepper._list_of(states[-1]).stepper
    assert len(inner.numbering.far.row) > 0
    assert inner.numbering.band == HALF  # that of the rods
    monkeypatch.setattr(multifrontal_selection, "_PARTS", 9)
    other, directly = run_heap(40, rho)
    assert len(other._list_of(directly[-1]).stepper.numbering.far.row) == 0
    assert states[-1].r == pytest.approx(directly[-1].r, abs=1e-13)
    assert states[-1].v == pytest.approx(directly[-1].v, abs=1e-10)


@pytest.mark.parametrize("shape", [(1, 1, 12), (3, 1, 4), (4, 4, 4)], ids=str)
def test_contacts_leave_the_band_only_if_they_widen_it(shape: tuple[int, int, int]) -> None:
    """Balls in contact: a stack and a wall are narrow bands, a heap is a wide one."""
    model = Model("balls")
    for i, j, k in np.ndindex(shape):
        ball = model.add_body(f"{i} {j} {k}", Ball(0.05, mass=1.0), position=0.0999 * np.array([i, j, k]))
        model.add_sphere(f"of {i} {j} {k}", ball, 0.05)
    model.add_contact("all", list(model.spheres.values()), stiffness=1e4)
    built = model.build()
    stepper = ContactStepper(built.system, H, lambda subsystem: Stepper(subsystem, H))
    of_list = stepper._list_of(stepper.start(built.state)).stepper
    assert count_contacting_parts(of_list.system) == np.prod(shape)
    assert (len(of_list.numbering.far.row) == 0) == (shape != (4, 4, 4))


def test_resumed_run_with_far_blocks_is_bitwise_equal() -> None:
    stepper, states = run_heap(40)
    lists = {state.memory.tobytes() for state in states}
    for k in (17, 30):
        later = ContactStepper(stepper.system, H, lambda subsystem: Stepper(subsystem, H))
        first_state = later.start(states[k])
        assert len(later._list_of(first_state).stepper.numbering.far.row) > 0
        end, _ = later.advance(first_state, k, 40 - k)
        assert all(np.array_equal(one, other) for one, other in zip(end, states[-1], strict=True))
    assert len(lists) > 1


def test_factors_are_reused_if_two_more_corrections_converge() -> None:
    """With the contraction of the last correction alone, 60 steps take 152 iterations.

    The remaining residual comes from a few contacts that open or close.
    """
    stepper, states = run_heap(0)
    assert stepper.advance(states[0], 0, 60)[1].iterations <= 125
    assert may_reuse_factors(1e4, 1e8, 4.0)
    assert not may_reuse_factors(1e8, 1e11, 4.0)
    assert not may_reuse_factors(1e2, 5e3, 4.0)


def test_falling_heap_resumes_bitwise_from_its_file(tmp_path: Path) -> None:
    def lines(file: Path, *steps: int) -> list[Settling]:
        stirred = heap(10, 3, rubbing=True, h=1e-3)
        return [report for count in steps for _, report in settling(stirred, count, 10, file)]

    uninterrupted, parts = lines(tmp_path / "one.npz", 30), lines(tmp_path / "two.npz", 20, 30)
    assert len(parts) == 3
    assert [report._replace(step=0.0) for report in parts] == [
        report._replace(step=0.0) for report in uninterrupted
    ]
    assert uninterrupted[-1].lost > 0.0
    assert not uninterrupted[-1].at_rest


@pytest.mark.parametrize("rubbing", [False, True])
def test_heap_in_a_box_conserves_the_energy_balance(rubbing: bool) -> None:
    """Planes are checked against every element, most of which touch none."""
    change, least = balance(200, rubbing, count=10, elements=3)
    assert change < 2e-13
    assert least >= 0.0
    assert rubbing or least == 0.0


# --- lists of pairs


def test_every_near_pair_of_balls_interacts() -> None:
    """Balls of all sizes bounce off each other; their energy is that of all pairs, listed or not."""
    rng, k, n = np.random.default_rng(3), 1e4, 100
    radii, centers, spheres = np.geomspace(0.01, 0.25, n), np.zeros((n, 3)), []
    model = Model("balls")
    i, j = np.triu_indices(n, 1)
    for b in range(n):
        while True:
            centers[b] = rng.uniform(-1, 1, 3)
            gaps = np.linalg.norm(centers[:b] - centers[b], axis=1) - radii[:b] - radii[b]
            if gaps.min(initial=1.0) > 0.0:
                break
        body = model.add_body(f"{b}", Ball(radii[b], mass=1.0), centers[b], velocity=rng.normal(size=3))
        spheres.append(model.add_sphere(f"{b}", body, radii[b]))
    model.add_contact("all", spheres, stiffness=k)
    result = simulate(model, 0.3, 2e-3, output_every=5, progress=False)
    r = np.array([result.body(f"{b}").r for b in range(n)])
    gap = np.linalg.norm(r[i] - r[j], axis=2) - (radii[i] + radii[j])[:, None]
    energy = 0.5 * k * np.sum(np.maximum(-gap, 0.0) ** 2, axis=0)
    contact = result.contact("all")
    assert contact.touching.tolist() == np.sum(gap < 0.0, axis=0).tolist()
    assert contact.energy == pytest.approx(energy, rel=1e-10)
    assert result.energy["spring"] == pytest.approx(energy, rel=1e-10)
    assert contact.gap == pytest.approx(gap.min(axis=0), abs=1e-13)
    assert contact.touching.sum() > 50
    assert np.unique(np.argwhere(gap < 0.0)[:, 0]).size > 25  # pairs


@pytest.mark.parametrize(
    ("displacement", "passed"),
    [
        ((0.0, 0.0, -0.6), True),  # through
        ((0.0, 0.0, -0.3), True),  # into the other
        ((0.0, 0.0, -0.2), False),  # nearer
        ((0.0, 0.0, 0.3), False),  # away
        ((3.0, 0.0, 0.0), False),  # along
        ((0.0, 0.35, -0.18), True),  # along the other that it touches, by more than their distance
        ((0.0, 0.25, -0.14), False),
    ],
)
def test_possible_penetration_is_detected(displacement: tuple[float, float, float], passed: bool) -> None:
    """Crossing segments, one of which moves from 0.3 above the other; they touch at 0.2."""
    one = np.array([[-1.0, 0, 0.3], [1.0, 0, 0.3]])
    other = np.array([[0.0, -1.0, 0], [0.0, 1.0, 0]])
    points = np.stack([np.vstack([one + shift, other]) for shift in (np.zeros(3), np.array(displacement))])
    for ends in ([[0, 1, 2, 3]], [[2, 3, 0, 1]]):
        for order in (1, -1):  # in time
            out = np.zeros(1, np.uint8)
            mark_crossings(np.ascontiguousarray(points[::order]), np.array(ends), np.array([0.2]), out)
            assert bool(out[0]) == passed
