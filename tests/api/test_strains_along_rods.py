"""Strains and stresses at any point of a rod agree in results, measures, files and reports.

Second-order accurate, also at the ends.
"""

import h5py
import numpy as np
import pytest

from rodsim import Model, Result, Section, audit, equilibrium
from rodsim.reporting.strain_extremes import extremes
from rodsim.results.drawing import Drawing
from rodsim.results.rod_interpolation import rod_interpolation_to, rod_length
from rodsim.studies.measures import measure
from tests.support.results_sample import without_digests

ELEMENTS = ("se3", "lagrange(2)", "lagrange(3)")
SOFT = Section.from_stiffness(
    EA=1e5, GA=1e5, GJ=40.0, EI=30.0, mass_per_length=2.0, inertia_per_length=(2e-3, 1e-3, 1e-3)
)


def hanging(n, element="se3", output=None):
    """A clamped rod of 1 m that bends under its weight."""
    model = Model("hanging", gravity=(0, 0, -9.81))
    rod = model.add_rod("arm", [(0, 0, 0), (1, 0, 0)], SOFT, n, element=element)
    model.add_joint("clamp", "clamp", rod.start)
    return equilibrium(model, output=output)


def test_moments_are_interpolated_and_extrapolated_linearly():
    rod = hanging(4).rod("arm")
    M = rod.M[-1]  # at 1/8, 3/8, 5/8, 7/8
    moments = rod.along("M", (0.0, 0.125, 0.3125, 1.0))[-1]
    assert moments == pytest.approx(
        np.stack([1.5 * M[0] - 0.5 * M[1], M[0], (M[0] + 3 * M[1]) / 4, 1.5 * M[3] - 0.5 * M[2]])
    )
    alone = hanging(1).rod("arm")
    assert np.array_equal(alone.along("M", (0.0, 0.3, 1.0))[-1], np.repeat(alone.M[-1], 3, axis=0))


@pytest.mark.parametrize("element", ELEMENTS)
def test_moment_at_a_clamp_converges_with_order_2(element):
    errors = []
    for n in (12, 24, 48):
        result = hanging(n, element)
        clamp_moment = np.linalg.norm(result.joint("clamp").moment[-1])
        errors.append(abs(np.linalg.norm(result.rod("arm").along("M", 0.0)[-1, 0]) / clamp_moment - 1.0))
    assert errors[0] < 1e-2  # half an element away it is 8e-2
    assert np.log2(errors[0] / errors[1]) > 1.8
    assert np.log2(errors[1] / errors[2]) > 1.8


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("field", ["Gamma", "K", "N", "M"])
def test_strains_agree_in_results_measures_files_and_reports(element, field, tmp_path):
    result = hanging(6, element, tmp_path / "a.vtkhdf")
    rod = result.rod("arm")
    fractions = rod.arclength / rod.arclength[-1]
    at_nodes = rod.along(field, fractions)[-1]
    with h5py.File(tmp_path / "a.vtkhdf") as file:
        n = len(fractions)
        drawn = file[f"VTKHDF/arm/PointData/{field}"][-n:]
    assert drawn == pytest.approx(at_nodes, rel=1e-6, abs=1e-6 * np.abs(at_nodes).max())
    words = {k: f"final rods.arm.{place}.{field}[{c}]" for k, (place, c) in enumerate(
        (place, c) for place in ("start", "end") for c in range(3))}  # fmt: skip
    measured = list(measure(result, words).values())
    assert measured == [*at_nodes[0], *at_nodes[-1]]
    largest = measure(result, {"x": f"final rods.arm.largest.{field}"})["x"]
    assert largest == pytest.approx(np.linalg.norm(at_nodes, axis=1).max(), rel=1e-12)  # at the clamp
    assert audit(Result.load(tmp_path / "a.vtkhdf")).ok


def test_report_shows_the_largest_moment_at_the_clamp():
    result = hanging(6)
    largest = {x.words: x for x in extremes(result)}
    moments = result.rod("arm").along("M", (0.0, 1.0))[-1]
    moved = (x for words, x in largest.items() if "bending moment" in words)
    (bending,) = (x for x in moved if abs(x.high.value - x.low.value) > 1.0)
    end = max(bending.low, bending.high, key=lambda x: abs(x.value))
    assert end.s == 0.0
    assert abs(end.value) == pytest.approx(np.abs(moments[0]).max(), rel=1e-14)


def test_strain_positions_are_element_midpoints_or_gauss_points():
    assert hanging(4).rod("arm").s_element == pytest.approx([0.125, 0.375, 0.625, 0.875])
    of_two, d = hanging(4, "lagrange(2)").rod("arm"), 0.25 / np.sqrt(3.0)
    assert of_two.s_element == pytest.approx([0.25 - d, 0.25 + d, 0.75 - d, 0.75 + d])


def test_strains_of_a_closed_rod_are_periodic():
    model = Model("ring")
    angle = np.linspace(0.0, 2.0 * np.pi, 41)[:-1]
    points = np.stack([np.cos(angle), np.sin(angle), np.zeros(40)], axis=-1)
    model.add_rod("ring", points, SOFT, 8, closed=True)
    layout = model.build().layout
    (rod,) = layout.rods
    strains = np.zeros((8, 6))
    strains[:, 4] = np.arange(8.0)
    K2 = Drawing(layout).arrays(model.build().state, strains, strains)[1]["K"][:, 1]
    assert pytest.approx([3.5, 0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5]) == K2
    at = rod_length(layout, rod) * np.array([0.25, 7.75]) / 8  # near the first node, in elements
    assert rod_interpolation_to(layout, rod, at).of(strains[:, 4:5])[:, 0] == pytest.approx([1.75, 5.25])
    assert rod_length(layout, rod) == pytest.approx(model.rods["ring"].stress_free.length, rel=1e-12)


def test_files_with_element_means_pass_the_audit(tmp_path):
    """Files of older versions store element means; a changed array is detected in the others."""
    path = tmp_path / "a.vtkhdf"
    hanging(6, output=path)
    with h5py.File(path, "r+") as file:
        without_digests(file)
        for name in ("Points", "PointData"):  # a picture of one block
            file.move(f"VTKHDF/arm/{name}", f"VTKHDF/{name}")
        file["VTKHDF/PointData/K"][-7] *= 0.9  # at the clamp
    assert not audit(Result.load(path)).ok
    with h5py.File(path, "r+") as file:
        del file["rodsim"].attrs["lines_along_rods"]
    assert audit(Result.load(path)).ok
