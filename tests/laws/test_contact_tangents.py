"""Contact tangents of rods, for which kernels have closed forms, compared with complex steps of their forces."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.contact_dissipation import ALL, ELEMENT, PLANE_ROD_DISSIPATION, ROD_DISSIPATIONS, H, lossy
from tests.support.contacts import LAWS, PLANE_ROD, RODS, Touch, expecting, tangent, tangent_by_columns, touch

LOSSES = {"all": ALL, "friction": {"mu": (0.5, 0.3)}, "normal": {"b": 0.4}}
SLIDING = pytest.mark.parametrize("sliding", [0.0, 1.0])


def random_friction(kind, loses, sliding, seed, step):
    """Random contact with friction; the bristle is soft or stiff in turn."""
    changes = {"internal": (0.01, -0.02, 0.015, sliding), "kt": 20.0 if seed % 2 else 2e3}
    return lossy(kind, "hertz", seed, step, **LOSSES[loses] | changes)[0]


def steps(kind, law, sliding):
    """Yield steps that touch at both ends, by the elastic law or by dissipation."""
    for seed in range(6):
        for step in (1e-4, 0.02):
            yield (
                touch(PLANE_ROD, law, seed, step)
                if law in LAWS
                else random_friction(kind, law, sliding, seed, step)
            )


def agree(computed, exact):
    return np.abs(computed - exact).max() <= 1e-12 * np.abs(exact).max()


@pytest.mark.parametrize("moves", [0.0, 1.0])
@SLIDING
@pytest.mark.parametrize("law", [*LAWS, *LOSSES])
def test_plane_contact_tangent_equals_complex_step_columns(law, sliding, moves):
    """Sticking and sliding; for a fixed plane only the tangent of the rod."""
    for t in steps(PLANE_ROD_DISSIPATION, law, sliding):
        matrix, acts = tangent(t, 1 / H, moves=moves)
        exact, first = tangent_by_columns(t, 1 / H), 0 if moves else 6
        assert np.abs(matrix[first:, first:] - exact[first:, first:]).max() <= 1e-12 * np.abs(exact).max()
        assert np.abs(exact[first:]).max() > 0.0
        assert acts.tolist() == [moves, 1.0, 1.0]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("minus", [0.0, 1.0])
def test_rod_contact_tangent_equals_complex_step_columns(minus, law):
    """Positions between the ends of the segment, past its end, where a step continues behind it, and without contact."""
    rng, passed = np.random.default_rng(2), 0
    for seed in range(12):
        t = touch(RODS, law, seed)
        along = t.y0[3, 0] - t.y0[2, 0]
        t.X[-1] = minus
        t.y0[:2, 0] += 0.5 * (seed % 4) * along
        t.y1[:2, 0] += (0.5 * (seed % 4) + 0.2 * rng.normal()) * along
        exact = tangent_by_columns(t, 0.7, 3)
        assert agree(tangent(t, 0.7, 3)[0], exact)
        passed += exact.any()
    assert passed >= 6


def window(t, nodes, *rows):
    """Return the step of this element over a row of this many nodes."""
    X = t.X.copy()
    X[-17] = nodes
    return Touch(ROD_DISSIPATIONS[2, nodes], X, *rows)


@SLIDING
@pytest.mark.parametrize("loses", LOSSES)
def test_window_tangent_equals_complex_step_columns(loses, sliding):
    """Four nodes with contact between two of them; sticking, sliding, and without contact."""
    moments = []
    for t in steps(ELEMENT, loses, sliding):
        along = t.y0[3, 0] - t.y0[2, 0]
        rows = [np.insert(y, [2, 4], y[[2, 3]], axis=0) for y in (t.y0, t.y1)]
        for y in rows:
            y[2, 0], y[5, 0] = y[3, 0] - along, y[4, 0] + along
        rows_of_window = window(t, 4, *rows)
        exact, (matrix, acts) = tangent_by_columns(rows_of_window, 1 / H), tangent(rows_of_window, 1 / H)
        assert agree(matrix, exact)
        idle = np.repeat(acts == 0.0, 6)
        assert idle.sum() >= 12  # two nodes without contact
        assert not matrix[idle].any()
        assert not matrix[:, idle].any()
        moments.append(np.abs(exact[3::6, 3::6]).max())
        rows[0][:2, 0, 2] += 9.0
        matrix, acts = tangent(rows_of_window._replace(y1=rows[0]), 1 / H)
        assert not matrix.any()
        assert not acts.any()
    assert max(moments) > 0.0 or loses == "normal"


def test_window_tangent_follows_the_expected_signs():
    """Compare with complex steps of the dual for sliding, impact and rotation."""
    rng = np.random.default_rng(5)
    for seed in range(4):
        t, _ = lossy(ELEMENT, "hertz", seed, 0.02, **ALL | {"internal": (0.01, -0.02, 0.015, 1.0)})
        multipliers = expecting(1 / H, rng)
        expected, plain = tangent_by_columns(t, multipliers), tangent_by_columns(t, 1 / H)
        assert agree(tangent(t, multipliers)[0], expected)
        assert np.abs(plain - expected).max() > 1e-3 * np.abs(expected).max()


@pytest.mark.parametrize("end", [False, True])
def test_window_tangent_equals_complex_steps_at_nodes_and_last_station(end):
    """Stations on both sides of a vertex, some of which pass it in the step; one station on a frame without a bristle."""
    for seed in range(4):
        t, _ = lossy(ELEMENT, "hertz", seed, 1e-2, **ALL)
        rows = [np.insert(y, 3, y[3], axis=0) for y in (t.y0, t.y1)]
        for y, along in zip(rows, (0.0, 0.02), strict=True):
            y[3, 0] = 0.5 * (y[2, 0] + y[4, 0]) + [along, 0.0, 0.02]  # as much as the row bends
            if end:
                y[:2, 0] += [[0.0, 0.0, 2.0], [0.0, -0.5, 0.0]]
        rows_of_window = window(t, 3, *rows)
        exact = tangent_by_columns(rows_of_window, 1 / H)
        assert agree(tangent(rows_of_window, 1 / H)[0], exact)
        assert np.abs(exact).max() > 0.0
