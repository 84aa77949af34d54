"""Rods with self-contact that are bent tighter than their radius.

The message has the rod, the time and a remedy.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from rodsim import Material, Model, Section, audit, simulate
from rodsim.results.tight_bends import curvatures, tight_bends
from rodsim.warnings import ModelCheckWarning

RADIUS = 0.01
SECTION = Section.circular(RADIUS, Material(E=1e6, nu=0.4, density=1000.0))


def ring(n: int, radius: float) -> np.ndarray:
    angle = 2 * np.pi * np.arange(n) / n
    return radius * np.column_stack([np.cos(angle), np.sin(angle), 0 * angle])


def test_curvatures_of_a_polygon_about_a_circle_and_of_a_fold() -> None:
    """With sides tangent to the circle of 2 m: 1/2 at each node of a closed polygon; of a square corner by
    hand.
    """
    about = ring(12, 2.0 / np.cos(np.pi / 12))
    assert curvatures(about, True) == pytest.approx(np.full(12, 0.5), rel=1e-12)
    assert curvatures(np.stack([about, 2 * about]), False).shape == (2, 10)
    assert curvatures(2 * about, False) == pytest.approx(np.full(10, 0.25), rel=1e-12)
    corner = np.array([[0.0, 0, 0], [3, 0, 0], [3, 1, 0], [3, 0.5, 0]])
    assert curvatures(corner, False) == pytest.approx([1.0, np.inf])
    assert curvatures(np.array([[0.0, 0, 0], [1, 0, 0], [5, 0, 0]]), False) == pytest.approx([0.0])


def wound(bend: float, itself: bool = True) -> Model:
    """A rod at rest on an arc of this radius (m), and a straight rod of the same kind far away."""
    model = Model("wound")
    angle = np.linspace(0, np.pi, 60)
    arc = bend * np.column_stack([np.cos(angle), np.sin(angle), 0 * angle])
    straight = model.add_rod("straight", [(1, 0, 0), (1.2, 0, 0)], SECTION, 4)
    rod = model.add_rod("hair pin", arc, SECTION, 12)
    model.add_contact("itself", *([rod] if itself else [rod, straight]), stiffness=1e5, stations=2)
    return model


def audit_warnings(model: Model) -> list[str]:
    with warnings.catch_warnings(record=True) as all_of_them:
        warnings.simplefilter("always")
        simulate(model, 2e-4, 1e-4, progress=False)
    return [str(w.message) for w in all_of_them if "tighter" in str(w.message)]


@pytest.mark.parametrize(("bend", "itself"), [(1.1 * RADIUS, True), (0.9 * RADIUS, False)])
def test_gently_bent_rods_give_no_warning(bend: float, itself: bool) -> None:
    assert audit_warnings(wound(bend, itself)) == []


def test_rods_bent_tighter_than_their_radius_are_reported_with_time_and_remedy(tmp_path) -> None:
    model = wound(0.9 * RADIUS)
    with pytest.warns(
        ModelCheckWarning, match="model 'wound': rod 'hair pin' .*from t = 0 s on, .*smaller radius="
    ):
        result = simulate(model, 2e-4, 1e-4, output=tmp_path / "a.vtkhdf", output_every=1, progress=False)
    (bend,) = result.tight_bends
    tight = RADIUS * curvatures(result.rod("hair pin").r, False)
    k, node = np.unravel_index(tight.argmax(), tight.shape)
    assert (bend.rod, bend.t, bend.at, bend.node) == ("hair pin", 0.0, result.t[k], node + 1)
    assert bend.tightest == tight.max() == pytest.approx(1 / 0.9, rel=0.05)
    (verdict,) = [v for v in audit(result).verdicts if v.law == "rods through themselves"]
    assert str(bend) in verdict.measured
    assert verdict.kept is None


def test_first_and_tightest_bend_are_reported() -> None:
    """The rod is bent more from output to output, tighter than its radius from the second output on."""
    model = wound(1.1 * RADIUS)
    built = model.build()
    r = np.asarray(built.state.r)

    class Shrinking:
        layout, n_outputs = built.layout, 3

        def read(self, name: str, key: object = ...) -> np.ndarray:
            return (np.stack([r, 0.8 * r, 0.6 * r]) if name == "r" else np.array([0.0, 1.0, 2.0]))[key]

    (bend,) = tight_bends(Shrinking())
    assert (bend.t, bend.at) == (1.0, 2.0)
    assert bend.tightest == pytest.approx(1 / (1.1 * 0.6), rel=0.05)
