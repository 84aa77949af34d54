"""Kinds of a script with many anchors: a tendon that passes a dozen points, and the limit."""

from __future__ import annotations

import numpy as np
import pytest

import rodsim
from rodsim import Box, Model, ModelError, Result, Section, audit, equilibrium, simulate
from rodsim.interactions import distance, push_distance


def tendon_of(points, name):
    """k (l - rest)^2/2 of the length l of a line through several anchors, with a rest length from outside."""

    @rodsim.interaction(name, frames=points, numbers=("k",), inputs=("rest",))
    class Tendon:
        def value(y, X):
            l = 0j
            for j in range(points - 1):
                l += distance(y, y, j, j + 1)[0]
            return 0.5 * X[0] * (l - X[1]) * (l - X[1])

        def dual(y0, y1, X, out):
            l = 0j
            for j in range(points - 1):
                l0, l1, _ = distance(y0, y1, j, j + 1)
                l += 0.5 * (l0 + l1)
            for j in range(points - 1):
                push_distance(out, y0, y1, j, j + 1, X[0] * (l - X[1]))

    return Tendon


POINTS = 12
TENDON = tendon_of(POINTS, "tendon through twelve points")
SECTION = Section.from_stiffness(
    EA=1e4, GA=5e3, GJ=5.0, EI=(5.0, 5.0), mass_per_length=0.5, inertia_per_length=(2e-4, 1e-4, 1e-4)
)


def finger(rest, k=2000.0):
    """A clamped rod with a tendon through eyes beside its nodes."""
    model = Model("finger")
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], SECTION, POINTS - 1, up=(0, 0, 1))
    model.add_joint("root", "clamp", rod.start)
    eyes = [rod.at(j / (POINTS - 1), (0, 0.02, 0)) for j in range(POINTS)]
    model.add_interaction("tendon", TENDON, *eyes, k=k, rest=rest)
    return model


def test_tendon_through_twelve_points_bends_a_rod_to_an_arc():
    """In equilibrium its force T bends the rod by the moment T times its offset, everywhere."""
    rest = equilibrium(finger(0.95, k=100.0))
    r = rest.rod("rod").r[-1]
    turned = np.diff(np.arctan2(np.diff(r[:, 1]), np.diff(r[:, 0])))
    assert turned == pytest.approx(turned.mean(), rel=1e-3)
    length = np.linalg.norm(np.diff(r, axis=0), axis=1).sum()
    bend = turned.mean() * (POINTS - 1) / length  # curvature, 1/m
    tension = bend * 5.0 / 0.02
    eyes = length * (1.0 - 0.02 * bend)  # the tendon is on the inside
    assert tension == pytest.approx(100.0 * (eyes - 0.95), rel=2e-2)


def test_work_of_a_tendon_is_exact_and_resumed_runs_are_identical(tmp_path):
    whole, parts = tmp_path / "whole.vtkhdf", tmp_path / "parts.vtkhdf"
    pull = "1 - 0.02*sin(20*t)"
    result = simulate(finger(pull), 0.1, 0.002, output=whole, output_every=5, progress=False)
    assert result.energy["total"] == pytest.approx(result.work, abs=1e-12)
    assert np.abs(result.work).max() > 1e-3
    assert audit(result).ok
    simulate(finger(pull), 0.05, 0.002, output=parts, output_every=5, progress=False)
    simulate(finger(pull), 0.1, 0.002, output=parts, output_every=5, resume=True, progress=False)
    one, other = (Result.load(path).state() for path in (whole, parts))
    assert all(np.array_equal(x, y) for x, y in zip(one, other, strict=True))


@pytest.mark.parametrize("integrator", ["em", "EML-kappa"])
def test_chain_of_bodies_on_one_line_conserves_momenta(integrator):
    """As many anchors as there may be."""
    kind = tendon_of(32, "line of 32")
    model = Model("chain")
    bodies = [
        model.add_body(
            f"{k}", Box(0.1, 0.1, 0.1, mass=1.0), (k, 0.1 * (k % 3), 0), angular_velocity=(0, 0.1 * k, 1)
        )
        for k in range(32)
    ]
    model.add_interaction("line", kind, *bodies, k=50.0, rest=30.0)
    result = simulate(model, 0.05, 0.01, integrator, output_every=1, progress=False)
    assert np.ptp(result.linear_momentum, axis=0).max() < 1e-12
    assert np.ptp(result.angular_momentum, axis=0).max() < 1e-10
    assert np.ptp(result.energy["total"] - result.work) < 1e-11


def test_more_frames_than_the_limit_are_refused():
    with pytest.raises(ModelError, match="frames = 65"):
        tendon_of(65, "too long")
