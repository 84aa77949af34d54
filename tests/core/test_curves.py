"""Curves: arc length, frames along them, finely winding callables, rejected input."""

import numpy as np
import pytest
from scipy.special import ellipe

from rigid import quaternions
from rodsim import ModelError
from rodsim.components.curve_frames import frames_along
from rodsim.components.space_curves import Curve, curve_of

FRACTIONS = np.linspace(0, 1, 41)


def helix(turns, radius=1.0, rise=0.1):
    """Callable and exact length of a helix."""
    angle = 2 * np.pi * turns
    length = np.hypot(angle * radius, rise * turns)
    return lambda s: (radius * np.cos(angle * s), radius * np.sin(angle * s), rise * turns * s), length


def wave(s):
    """A closed non-planar curve."""
    a = 2 * np.pi * s
    return np.cos(a), np.sin(a), 0.3 * np.sin(2 * a)


SHAPES = {
    "line": Curve("line", [(0, 0, 0), (1, 2, 3)]),
    "points": Curve("points", [(0, 0, 0), (1, 2, 0), (2, 0, 1), (3, 1, 0), (7, 0, 0)]),
    "helix": Curve("helix", helix(3)[0]),
    "closed": Curve("closed", wave, closed=True),
}


@pytest.mark.parametrize("turns", [0.25, 5, 50, 500])
def test_length_of_a_helix_of_many_turns(turns):
    curve, length = helix(turns)
    assert Curve("helix", curve).length == pytest.approx(length, rel=1e-10)


def test_length_of_an_ellipse_is_the_elliptic_integral():
    """The flat ends bend sharply: 3 x 0.3 m."""
    ellipse = Curve(
        "ellipse", lambda s: (3 * np.cos(2 * np.pi * s), 0.3 * np.sin(2 * np.pi * s), 0), closed=True
    )
    assert ellipse.length == pytest.approx(4 * 3 * ellipe(1 - 0.1**2), rel=1e-10)


def test_length_of_a_spline_through_few_points_is_that_of_fine_chords():
    """The sum of chords is too short with order 2; extrapolated from two subdivisions, with order 4."""
    curve = SHAPES["points"]

    def chords(n):
        return np.linalg.norm(
            np.diff(frames_along("points", curve, np.linspace(0, 1, n + 1))[0], axis=0), axis=1
        ).sum()

    assert (4 * chords(8000) - chords(4000)) / 3 == pytest.approx(curve.length, rel=1e-10)


@pytest.mark.parametrize("name", SHAPES)
def test_fractions_are_those_of_the_arc_length(name):
    r, _ = frames_along(name, SHAPES[name], np.linspace(0, 1, 2001))
    chords = np.linalg.norm(np.diff(r, axis=0), axis=1)
    pieces = SHAPES[name].length / 2000
    # a chord of an arc is shorter by (curvature length)^2/24 of itself
    assert np.all(chords <= pieces * (1 + 1e-9))
    assert np.all(chords >= pieces * (1 - 1e-3))


@pytest.mark.parametrize("name", SHAPES)
def test_first_director_is_the_tangent_and_neighbours_are_on_the_same_side(name):
    """Central differences of the positions converge to it with order 2."""
    distance = []
    for n in (4000, 8000):
        r, quat = frames_along(name, SHAPES[name], np.linspace(0, 1, n + 1))
        assert np.abs(np.linalg.norm(quat, axis=1) - 1).max() < 1e-14
        assert np.sum(quat[1:] * quat[:-1], axis=1).min() > 0
        central = r[2:] - r[:-2]
        central /= np.linalg.norm(central, axis=1)[:, None]
        distance.append(np.abs(quaternions.to_matrix(quat)[1:-1, :, 0] - central).max())
    assert distance[1] < 1e-4
    assert distance[1] < max(distance[0] / 3.5, 1e-11)  # a line is exact but for rounding


@pytest.mark.parametrize("name", ["line", "points", "helix"])
def test_frames_along_open_curves_do_not_spin_about_the_tangent(name):
    """The rate of twist is of the order of the distance between nodes, squared."""
    _, quat = frames_along(name, SHAPES[name], np.linspace(0, 1, 4001))
    rotation = quaternions.to_rotation_vector(
        quaternions.multiply(quaternions.conjugate(quat[:-1]), quat[1:])
    )
    assert np.abs(rotation[:, 0]).max() < 1e-5 * max(np.abs(rotation).max(), 1e-3)


def test_a_closed_curve_closes_with_its_twist_spread_evenly():
    n = 2000
    _, quat = frames_along("closed", SHAPES["closed"], np.arange(n) / n)
    following = np.roll(quat, -1, axis=0)
    rotation = quaternions.to_rotation_vector(quaternions.multiply(quaternions.conjugate(quat), following))
    assert np.ptp(rotation[:, 0]) < 1e-5 * np.abs(rotation).max()


def test_up_is_the_third_director_at_the_start():
    _, quat = frames_along("line", SHAPES["line"], FRACTIONS, up=(0, 1, 0))
    d1, _, d3 = quaternions.to_matrix(quat[0]).T
    across = np.array([0, 1, 0]) - d1[1] * d1
    assert d3 == pytest.approx(across / np.linalg.norm(across), abs=1e-14)


def test_curve_with_a_corner_is_sampled_next_to_it():
    """The corner is rounded over the distance of some samples, of which there are thousands."""
    corner = Curve("corner", lambda s: (s, abs(s - 0.5), 0))
    r, _ = frames_along("corner", corner, np.array([0.0, 0.25, 0.75, 1.0]))
    assert corner.length == pytest.approx(np.sqrt(2), rel=1e-4)
    assert np.abs(r - [(0, 0.5, 0), (0.25, 0.25, 0), (0.75, 0.25, 0), (1, 0.5, 0)]).max() < 1e-4


def test_single_precision_noise_of_a_callable_is_not_taken_for_windings():
    """Values of single precision: 32 elements on an arc of 1 rad and 1 m."""
    arc = Curve("arc", lambda s: np.array([np.sin(s), np.cos(s), 0], dtype=np.float32))
    r, _ = frames_along("arc", arc, np.linspace(0, 1, 33))
    assert arc.length == pytest.approx(1, rel=1e-5)
    assert np.linalg.norm(r, axis=1) == pytest.approx(1, abs=1e-6)


REFUSED = {
    "stands still": lambda: Curve("rod 'a'", lambda s: (s**2, 0, 0)),
    "curve at s = 0.5": lambda: Curve("rod 'a'", lambda s: (s, 0, 0) if s < 0.5 else (s, 0)),
    "the length 0": lambda: Curve("rod 'a'", lambda s: (1, 2, 3)),
    "winds too finely": lambda: Curve("rod 'a'", helix(123_456)[0]),
    "points 1 and 2": lambda: Curve("rod 'a'", [(0, 0, 0), (1, 0, 0), (1, 0, 0), (2, 0, 0)]),
    "at least 2 points": lambda: Curve("rod 'a'", [(0, 0, 0)]),
    "not where it begins": lambda: Curve("rod 'a'", lambda s: (s, s**2, 0), closed=True),
    "along the rod": lambda: frames_along("rod 'a'", SHAPES["line"], FRACTIONS, up=(1, 2, 3)),
    "give more elements": lambda: frames_along(
        "rod 'a'", Curve("rod 'a'", helix(20)[0]), np.linspace(0, 1, 21)
    ),
}


@pytest.mark.parametrize("words", REFUSED)
def test_curves_without_length_or_tangent_are_rejected(words):
    with pytest.raises(ModelError, match=f"rod 'a'.*{words}"):
        REFUSED[words]()


def test_points_closer_than_round_off_of_the_curve_are_named():
    with pytest.raises(
        ModelError, match=r"points 1 and 2 of the curve are 1 m apart, which is negligible compared with"
    ):
        Curve("rod 'far'", [(0, 0, 0), (1e20, 0, 0), (1e20, 1, 0), (1e20, 2e19, 0)])


def test_equal_curves_share_read_only_frames():
    points = np.array([(0.0, 0.0, 0.0), (1.0, 2.0, 0.5), (2.0, 0.0, 1.0), (3.0, 1.0, 0.0)])
    one, copied = curve_of("one", points), points.copy()
    assert curve_of("another", points.tolist()) is one
    assert curve_of("closed", points, closed=True) is not one
    points[1] += 1.0  # of its user
    assert curve_of("moved", points) is not one
    copied_curve = Curve("copied_curve", copied)
    for _ in range(2):
        for settings in ({}, {"twist": 0.3}, {"up": (0.0, 1.0, 1.0)}):
            frames = frames_along("rod", one, FRACTIONS, **settings)
            for array, other in zip(
                frames, frames_along("rod", copied_curve, FRACTIONS, **settings), strict=True
            ):
                assert array.tobytes() == other.tobytes()
                array[:] = 7.0
