"""Lists of pairs that may touch: what they hold, in which order, and how long it takes to make them."""

from __future__ import annotations

import numpy as np
import pytest

from discretization.contact.nearest import distances, passing
from discretization.contact.search import candidates, parts_of
from discretization.contact.table import (
    BOTH,
    FIRST,
    SECOND,
    Contacts,
    Pair,
    Rod,
    Sphere,
    contacts_of,
    points_of,
)
from rigid.errors import ModelError

LINEAR = (0.0, 1e3, 1.0, 0.0)


def heap(
    n_spheres: int, n_rods: int, n_elements: int, side: int = BOTH, seed: int = 3
) -> tuple[Contacts, np.ndarray]:
    """Spheres and rods in a box, every pair of them, and the rods with themselves; where their points are."""
    way = np.random.default_rng(seed)
    surfaces: list[Sphere | Rod] = [Sphere(1 + k, (0, 0, 0), 0.05) for k in range(n_spheres)]
    points = [way.uniform(-1, 1, (1, 3)) for _ in range(n_spheres)]
    for k in range(n_rods):
        first = 1 + n_spheres + k * (n_elements + 1)
        walk = np.cumsum(way.normal(0.0, 0.08, (n_elements + 1, 3)), axis=0)
        lengths = np.full(n_elements, 0.05)
        surfaces.append(Rod(np.arange(first, first + n_elements + 1), lengths, 0.02))
        points.append(way.uniform(-1, 1, 3) + walk)
    count = len(surfaces)
    pairs = [Pair(i, j, LINEAR, side=side) for i in range(count) for j in range(i, count)]
    pairs = [each for each in pairs if each.one != each.other or each.one >= n_spheres]
    return contacts_of(surfaces, pairs), np.concatenate(points)


def sampled(a: np.ndarray, b: np.ndarray, n: int = 200) -> float:
    """The distance of two segments (2, 3), by points of both."""
    s = np.linspace(0, 1, n + 1)[:, None]
    x, y = ((1 - s) * each[0] + s * each[1] for each in (a, b))
    return float(np.linalg.norm(x[:, None] - y[None], axis=2).min())


def distance(a: np.ndarray, b: np.ndarray) -> float:
    out = np.empty(1)
    distances(np.concatenate([a, b]), np.array([[0, 1, 2, 3]]), out)
    return float(out[0])


def test_distances_of_segments_are_the_least() -> None:
    way = np.random.default_rng(0)
    for k in range(60):
        a, b = way.normal(size=(2, 2, 3))
        if k % 4 == 1:  # parallel
            b = a + way.normal(size=3) + 0.3 * way.normal() * (a[1] - a[0])
        elif k % 4 == 2:  # a sphere
            a[1] = a[0]
        elif k % 4 == 3:  # in a plane, one on the end of the other
            b[0] = a[1] + 0.1 * (a[1] - a[0])
        least = sampled(a, b)
        assert distance(a, b) <= least + 1e-14
        assert distance(a, b) > least - 2e-2
        assert distance(a, b) == pytest.approx(distance(b, a), abs=1e-14)


def test_a_list_has_all_pairs_nearer_than_reach_and_skin_and_no_other() -> None:
    contacts, points = heap(30, 6, 12)
    parts, skin = parts_of(contacts), 0.07
    listed = candidates(contacts, points, skin)
    found = {(*ends[:2], *ends[2:]) for ends in listed.ends.tolist()}
    assert len(found) == len(listed.pair)
    expected = set()
    for u in range(len(parts.surface)):
        for v in range(len(parts.surface)):
            i, j = parts.surface[u], parts.surface[v]
            if i == j:  # further along the rod than pi times its radius
                if i < 30 or abs(u - v) * 0.05 - 0.05 < np.pi * 0.02:
                    continue
            elif contacts.kind[i] > contacts.kind[j] or (contacts.kind[i] == contacts.kind[j] == 0 and i > j):
                continue  # spheres come first, and once
            apart = distance(points[parts.ends[u]], points[parts.ends[v]])
            if apart < contacts.radius[i] + contacts.radius[j] + skin:
                expected.add((*parts.ends[u].tolist(), *parts.ends[v].tolist()))
    assert found == expected
    assert len(expected) > 100


def test_the_order_is_that_of_pairs_sides_stations_and_partners() -> None:
    contacts, points = heap(30, 6, 12)
    listed = candidates(contacts, points, 0.07)
    keys = np.stack([listed.pair, listed.side, listed.ends[:, 0], listed.ends[:, 2]])
    order = np.lexsort(keys[::-1])
    assert np.array_equal(order, np.arange(len(order)))
    again = candidates(contacts, points.copy(), 0.07)
    assert all(np.array_equal(a, b) for a, b in zip(listed, again, strict=True))


@pytest.mark.parametrize("side", [FIRST, SECOND, BOTH])
def test_stations_are_on_the_sides_that_are_asked_for(side: int) -> None:
    contacts, points = heap(0, 2, 8, side)
    contacts = contacts._replace(
        pairs=np.array([[0, 1]]),
        **{name: getattr(contacts, name)[:1] for name in ("law", "loss", "stations", "side")},
    )
    points[9:] += points[4] - points[13] + [0.01, 0, 0.02]
    listed = candidates(contacts, points, 0.1)
    assert set(listed.side.tolist()) == {FIRST: {0}, SECOND: {1}, BOTH: {0, 1}}[side]
    assert np.array_equal(listed.ends[:, 0] >= 9, listed.side == 1)
    assert np.array_equal(listed.ends[:, 2] < 9, listed.side == 1)


def test_inner_vertices_are_subtracted_once() -> None:
    straight = np.stack([np.linspace(0, 1, 6), np.zeros(6), np.zeros(6)], axis=1)
    for closed in (False, True):
        lengths = np.full(6 if closed else 5, 0.2)
        contacts = contacts_of(
            [Sphere(7, (0, 0, 0), 2.0), Rod(np.arange(1, 7), lengths, 0.01)], [Pair(1, 0, LINEAR)]
        )
        listed = candidates(contacts, np.vstack([[[0.5, 0.3, 0.0]], straight]), 0.0)
        assert np.array_equal(listed.ends[:, 0], np.zeros(len(lengths)))
        assert np.array_equal(listed.ends[:, 2], np.arange(1, 1 + len(lengths)))
        assert listed.minus.tolist() == [1, 1, 1, 1, 1, 1] if closed else [1, 1, 1, 1, 0]
        assert listed.ends[-1, 3] == (1 if closed else 6)


def test_what_is_left_of_a_rod_with_itself_has_ends() -> None:
    ring = 2 * np.pi * np.arange(12) / 12
    points = np.stack([np.cos(ring), np.sin(ring), 0 * ring], axis=1)
    rod = Rod(np.arange(1, 13), np.full(12, 2 * np.pi / 12), 0.5)  # pi radii are three segments
    listed = candidates(contacts_of([rod], [Pair(0, 0, LINEAR)]), points, 5.0)
    of_first = listed.ends[:, 0] == 0
    assert listed.ends[of_first, 2].tolist() == [4, 5, 6, 7, 8]
    assert listed.minus[of_first].tolist() == [1, 1, 1, 1, 0]
    assert np.bincount(listed.ends[:, 0]).tolist() == [5] * 12


def test_parts_of_any_size_are_found() -> None:
    way = np.random.default_rng(5)
    small = [Sphere(1 + k, (0, 0, 0), 1e-3) for k in range(200)]
    long = Rod([300, 301], [20.0], 0.01)
    contacts = contacts_of([*small, long], [Pair(k, 200, LINEAR) for k in range(200)])
    points = np.vstack([way.uniform(-10, 10, (200, 3)) * [1, 0.004, 0.004], [[-10, 0, 0], [10, 0, 0]]])
    listed = candidates(contacts, points, 0.005)
    near = np.linalg.norm(points[:200, 1:], axis=1) < 0.011 + 0.005
    assert np.array_equal(listed.ends[:, 0], np.flatnonzero(near))
    assert 0 < near.sum() < 200


def test_points_turn_with_their_frames() -> None:
    contacts = contacts_of([Sphere(1, (0.5, 0, 0), 0.1), Sphere(0, (0, 0, 2.0), 0.1)], [Pair(0, 1, LINEAR)])
    quat = np.array([[1, 0, 0, 0], [np.sqrt(0.5), 0, 0, np.sqrt(0.5)]])
    r = np.array([[0, 0, 0], [1.0, 2.0, 3.0]])
    assert points_of(contacts, r, quat) == pytest.approx(np.array([[1.0, 2.5, 3.0], [0, 0, 2.0]]))
    many = points_of(contacts, np.stack([r, r + 1.0]), np.stack([quat, quat]))
    assert many[1] == pytest.approx(many[0] + [[1, 1, 1], [1, 1, 1]])


@pytest.mark.parametrize(
    ("by", "passed"),
    [
        ((0.0, 0.0, -0.6), True),  # through
        ((0.0, 0.0, -0.3), True),  # into the other
        ((0.0, 0.0, -0.2), False),  # nearer
        ((0.0, 0.0, 0.3), False),  # away
        ((3.0, 0.0, 0.0), False),  # along
        ((0.0, 0.35, -0.18), True),  # along the other that it touches, further than they are apart
        ((0.0, 0.25, -0.14), False),
    ],
)
def test_what_could_have_passed_is_seen(by: tuple[float, float, float], passed: bool) -> None:
    """Crossing segments, one of which moves from 0.3 above the other; they touch at 0.2."""
    one = np.array([[-1.0, 0, 0.3], [1.0, 0, 0.3]])
    other = np.array([[0.0, -1.0, 0], [0.0, 1.0, 0]])
    points = np.stack([np.vstack([one + shift, other]) for shift in (np.zeros(3), np.array(by))])
    for ends in ([[0, 1, 2, 3]], [[2, 3, 0, 1]]):
        for order in (1, -1):  # in time
            out = np.zeros(1, np.uint8)
            passing(np.ascontiguousarray(points[::order]), np.array(ends), np.array([0.2]), out)
            assert bool(out[0]) == passed


def test_pairs_that_cannot_be_are_refused() -> None:
    ball, rod = Sphere(1, (0, 0, 0), 0.1), Rod([2, 3], [1.0], 0.1)
    for pairs, said in (
        ([Pair(0, 2, LINEAR)], "names surface 2"),
        ([Pair(0, 0, LINEAR)], "cannot touch itself"),
        ([Pair(0, 1, LINEAR), Pair(1, 0, LINEAR)], "2 times"),
    ):
        with pytest.raises(ModelError, match=said):
            contacts_of([ball, rod], pairs)


def test_an_empty_table_lists_nothing() -> None:
    assert not len(candidates(contacts_of(), np.zeros((0, 3)), 0.1).pair)
    assert not len(candidates(contacts_of([Sphere(1, (0, 0, 0), 0.1)]), np.zeros((1, 3)), 0.1).pair)
