"""Kinds of tendons over pulleys: exact discrete derivative, also through lift-off, gradient and its change, length."""

import numpy as np
import pytest

from discretization.interaction_kinds import INTERACTIONS

PER_STOP = 10  # numbers of a stop


def kind_of(poses, word="inextensible"):
    """Return the kind of a tendon over this many stops."""
    name = f"{word} reeved tendon over {len(poses)} stops"
    return next(kind for kind in INTERACTIONS if kind.name == name)


def value_of(kind, poses, X):
    """Return the value of a kind."""
    out = np.zeros(1, complex)
    kind.value(poses.astype(complex), X, out)
    return out[0]


def dual_of(kind, y0, y1, X):
    """Return the dual of a kind between two poses."""
    out = np.zeros(y0.shape, complex)
    kind.dual(y0.astype(complex), y1.astype(complex), X, np.ones(1, complex), out)
    return out


def rotation(rng, size):
    """Return a random rotation matrix by an angle of about `size`."""
    v = rng.normal(size=3) * size
    K = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.linalg.solve(np.eye(3) - 0.5 * K, np.eye(3) + 0.5 * K)


def stops(rng, centres, radii, angles=()):
    """Return random poses of frames and the numbers of a tendon that passes circles in the plane z = 0, or nearly."""
    poses, rows = [], []
    for centre, radius in zip(centres, radii, strict=True):
        R, X = rotation(rng, 2.0), 0.1 * rng.normal(size=3)
        poses.append(np.vstack([np.array(centre) - R @ X, R.T]))
        directions = R.T @ np.array([(0, 0, 1), (1, 0, 0)]).T if radius else np.zeros((3, 2))
        rows.append([*X, *directions.T.ravel(), radius])
    counted = np.zeros(min(len(radii), 8))
    counted[: len(angles)] = angles
    return np.array(poses), np.concatenate([*rows, [0.3, 100.0, 0, 0, 0], counted])


def moved(rng, poses, size):
    """Return the poses after random displacements and rotations."""
    end = poses.copy()
    for y in end:
        y[0] += size * rng.normal(size=3)
        y[1:] = y[1:] @ rotation(rng, size).T
    return end


def check_energy(y0, y1, X):
    """Assert that the elastic tendon does the work of its energy, that of its elongation."""
    kind, at = kind_of(y0, "elastic"), PER_STOP * len(y0)
    stretch = [max(length(y, X) - X[at], 0.0) for y in (y0, y1)]
    work = (dual_of(kind, y0, y1, X).real * (y1 - y0)).sum()
    assert work == pytest.approx(50.0 * (stretch[1] ** 2 - stretch[0] ** 2), abs=1e-11)
    energies = [value_of(kind, y, X).real for y in (y0, y1)]
    assert energies == pytest.approx(50.0 * np.square(stretch), abs=1e-11)


def length(poses, X):
    """Return the length of a tendon."""
    return value_of(kind_of(poses), poses, X).real + X[PER_STOP * len(poses)]


REEVINGS = {
    "one pulley": ([(-2, -1, 0), (0, 0, 0), (2, -1.5, 0)], [0, -0.3, 0], [0.9]),
    "out of plane": ([(2, -1.5, 0.1), (0, 0, 0), (-2, -1, 0.3)], [0, 0.3, 0], [0.9]),
    "two pulleys": ([(-2, -1, 0), (0, 0, 0), (1.5, 0.2, 0.05), (2, -1.5, 0)], [0, -0.3, -0.5, 0], [0.9, 0.9]),
    "crossed": ([(-2, -1, 0), (0, 0, 0), (1.5, 0.2, 0.05), (2, 1.5, 0)], [0, -0.3, 0.5, 0], [0.9, 0.9]),
    "two drums": ([(-2, -1, 0), (0, 0, 0)], [0.4, -0.3], [30.0, 50.0]),
    "drums unwound": ([(-2, -1, 0), (0, 0, 0)], [0.4, -0.3], [-30.0, -50.0]),
    "drum, and off a pulley": ([(-2, -1, 0), (0, -1, 0), (2, 0.5, 0)], [0.4, 0.3, 0], [9.0, 0.0]),
    "turns behind a pulley that is off": (
        [(-2, -1, 0), (0, 1.5, 0), (2, 0.5, 0), (4, -1, 0)],
        [0.4, 0.3, 0.3, 0],
        [9.0, 0.0, 6.0],
    ),
    "eight stops": (
        [(k, (-1) ** k * 0.3, 0.02 * k) for k in range(8)],
        [0, 0.1, -0.2, 0, 0, -0.2, 0.3, 0],
        [0.5] * 4,
    ),
    "ten stops": ([(k, 0.2 * (k % 3), 0.0) for k in range(10)], [0] * 4 + [-0.2] + [0] * 5, [0.9]),
}


@pytest.mark.parametrize("name", REEVINGS)
@pytest.mark.parametrize("size", [1e-4, 0.15])
def test_discrete_derivative_does_the_work_of_the_length_without_force_and_moment(name, size):
    rng = np.random.default_rng(1)
    y0, X = stops(rng, *REEVINGS[name])
    y1 = moved(rng, y0, size)
    dual = dual_of(kind_of(y0), y0, y1, X).real
    assert (dual * (y1 - y0)).sum() == pytest.approx(length(y1, X) - length(y0, X), abs=5e-14)
    assert dual[:, 0].sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-15)
    moment = np.cross(0.5 * (y0 + y1), dual).sum(axis=(0, 1))
    assert moment == pytest.approx(np.zeros(3), abs=2e-15)
    X[PER_STOP * len(y0)] = 0.99 * length(y0, X)
    check_energy(y0, y1, X)
    X[PER_STOP * len(y0)] = length(y0, X) + 1e-9  # the step makes it taut, or leaves it slack
    check_energy(y0, y1, X)


@pytest.mark.parametrize(("before", "after"), [(0.1, 0.9), (0.9, 0.1), (0.15, 0.3)])
def test_discrete_derivative_is_exact_where_the_tendon_comes_off_and_lies_on_again(before, after):
    rng = np.random.default_rng(2)
    centres = [(-2, -0.05, 0), (-0.5, 0, 0), (0.5, 0, 0), (2, 0.1, 0)]
    y0, X = stops(rng, centres, [0, -0.3, -0.3, 0], [0.1, 0.1])
    y1 = moved(rng, y0, 0.01)
    for y, up in ((y0, before), (y1, after)):
        y[3, 0, 1] += up
    forces = [dual_of(kind_of(y), y, y, X)[1:3, 0] for y in (y0, y1)]
    touched = [np.any(force != 0.0, axis=1).tolist() for force in forces]  # of both pulleys
    assert touched[0] != touched[1]
    dual = dual_of(kind_of(y0), y0, y1, X).real
    assert (dual * (y1 - y0)).sum() == pytest.approx(length(y1, X) - length(y0, X), abs=5e-15)
    check_energy(y0, y1, X)
    assert dual[:, 0].sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-15)
    assert np.cross(0.5 * (y0 + y1), dual).sum(axis=(0, 1)) == pytest.approx(np.zeros(3), abs=2e-15)


@pytest.mark.parametrize("name", REEVINGS)
def test_gradient_and_its_change_are_the_derivatives_of_the_length(name):
    rng = np.random.default_rng(3)
    y, X = stops(rng, *REEVINGS[name])
    kind, z = kind_of(y), rng.normal(size=y.shape)
    gradient = dual_of(kind, y, y, X).real
    along = value_of(kind, y + 1e-60j * z, X).imag / 1e-60
    assert (gradient * z).sum() == pytest.approx(along, abs=1e-14)
    stepped = y + 1e-60j * z
    change = dual_of(kind, stepped, stepped, X).imag / 1e-60
    bend = np.zeros(y.shape, complex)
    kind.bend(y.astype(complex), z.astype(complex), X, np.ones(1, complex), bend)
    assert bend.real == pytest.approx(change, abs=1e-14)


def test_length_is_that_of_spans_and_arcs():
    """A belt once around two wheels of radii 1 and 2 at a distance of 5, cut open at two points of its straight parts."""
    span, lean = np.sqrt(25.0 - 1.0), np.arcsin(0.2)
    centres = [(0, 0, 0), (5, 0, 0)]
    away = np.array([-np.sin(lean), -np.cos(lean), 0])  # from a centre to the lower point of contact
    ends = [5 * 0.5 * np.array([1, 0, 0]) + 1.5 * away] * 2
    y, X = stops(
        np.random.default_rng(4), [ends[0], centres[1], centres[0], ends[1]], [0, 2.0, 1.0, 0], [3.5, 2.7]
    )
    expected = 2.0 * span + 2.0 * (np.pi + 2.0 * lean) + 1.0 * (np.pi - 2.0 * lean)
    assert length(y, X) == pytest.approx(expected, abs=1e-14)


def test_span_out_of_the_plane_pulls_along_the_axis_as_a_straight_one():
    """The derivative to a displacement of the point along the axis is z/s, with s^2 = x^2 + z^2 - R^2."""
    x, z, radius = 2.0, 0.3, 0.5
    y, X = stops(np.random.default_rng(5), [(-x, 0, 0), (0, 0, 0), (x, 0, z)], [0, radius, 0])
    force = dual_of(kind_of(y), y, y, X)[2, 0].real
    assert force[2] == pytest.approx(z / np.sqrt(x**2 + z**2 - radius**2), abs=1e-14)
    in_plane, s = np.sqrt(x**2 - radius**2), np.sqrt(x**2 + z**2 - radius**2)
    assert np.hypot(*force[:2]) == pytest.approx(
        np.hypot(in_plane / s, radius * (1 / s - 1 / in_plane)), abs=1e-14
    )


def test_pulley_behind_one_that_the_tendon_has_come_off_keeps_its_turns():
    y, X = stops(np.random.default_rng(1), *REEVINGS["turns behind a pulley that is off"])
    wraps = np.zeros(4, complex)
    kind_of(y).count(y.astype(complex), X, wraps)
    assert wraps[1].real < 0.0
    assert wraps[2].real == pytest.approx(6.0, abs=1.0)
    touched = dual_of(kind_of(y), y, y, X)[:, 0].any(axis=1)
    assert touched.tolist() == [True, False, True, True]


def columns(kind, y0, y1, X):
    """Return the derivatives of forces and torques on all stops to (dr, eta) of each at the end, by complex steps of the dual."""
    n = len(y0)
    K = np.zeros((6 * n, 6 * n))
    for k in range(n):
        for j in range(6):
            y = y1.astype(complex)
            axis = 1e-60j * np.eye(3)[j % 3]
            y[k, 0] += axis if j < 3 else 0.0
            y[k, 1:] += np.cross(axis, y1[k, 1:]) if j >= 3 else 0.0
            dual = dual_of(kind, y0, y, X)
            torque = np.cross(0.5 * (y0 + y)[:, 1:], dual[:, 1:]).sum(axis=1)
            K[6 * k + j] = np.concatenate([dual[:, 0], torque], axis=1).imag.ravel() / 1e-60
    return K


LIFT_OFF = ([(-2, -0.05, 0), (-0.5, 0, 0), (0.5, 0, 0), (2, 0.4, 0)], [0, -0.3, -0.3, 0], [0.1, 0.1])


@pytest.mark.parametrize("word", ["inextensible", "elastic"])
@pytest.mark.parametrize("name", [*REEVINGS, "through lift-off"])
def test_tangent_is_the_derivative_of_the_dual(name, word):
    rng = np.random.default_rng(6)
    y0, X = stops(rng, *REEVINGS.get(name, LIFT_OFF))
    y1 = moved(rng, y0, 0.02)
    if name not in REEVINGS:
        y1[3, 0, 1] += 0.6
    n, kind = len(y0), kind_of(y0, word)
    X[PER_STOP * n] = 0.9 * length(y0, X)
    K, out = np.zeros((6 * n, 6 * n)), np.zeros((n, 4, 3), complex)
    out[:, 3, 0] = 1.0
    out[0, 3, 0] = 0.0  # the first stop has no unknowns
    kind.tangent(y0.astype(complex), y1.astype(complex), X, np.ones(1, complex), out, K)
    acting = np.repeat(out[:, 3, 0].real, 6) > 0.0
    expected = columns(kind, y0, y1, X)
    assert not acting[:6].any()
    assert acting.sum() >= 6
    assert np.abs(expected[6:, 6:][~acting[6:]]).max(initial=0.0) == 0.0
    both = np.ix_(acting, acting)
    assert K[both] == pytest.approx(expected[both], abs=1e-12 * np.abs(expected).max())
