"""Comparisons: a known difference is reported with its size.

Parts, points and times are found or rejected with a message.
"""

import csv
import json

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from rigid import quaternions
from rodsim import Box, MassProperties, Model, ModelError, Section, compare, simulate
from rodsim.cli.main import main
from rodsim.comparing.material_points import along
from rodsim.comparing.time_alignment import Series, aligned, spline_error
from rodsim.results import ResultError
from rodsim.results.part_energies import energies_by_part
from tests.support.studies import coloured

SCENE = """
name: swinging rod
gravity: [0, 0, -9.81]
rods:
  - name: arm
    curve: [[0, 0, 0], [1, 0, 0]]
    section: {type: circular, radius: 0.05, material: {E: 1.0e9, nu: 0.3, density: 1000}}
    n_elements: 2
joints:
  - {name: pin, kind: spherical, a: ground, b: {rod: arm, s: 0}}
run: {t_end: 0.02, dt: 0.002}
"""


def flying(velocity=(1, 0, 0), spin=(0, 0, 0), dt=0.01, every=1, name="stone", t_end=0.2, shape=None):
    """A free body with constant velocity, independent of the step."""
    model = Model("flight")
    ball = shape or MassProperties(2.0, (0.3, 0.3, 0.3))
    model.add_body(name, ball, velocity=velocity, angular_velocity=spin)
    return simulate(model, t_end, dt, output_every=every)


def section():
    return Section.from_stiffness(
        EA=3e4, GA=2e4, GJ=50, EI=(80, 60), mass_per_length=2.0, inertia_per_length=(0.02, 0.01, 0.01)
    )


def row_of(comparison, quantity):
    return next(row for row in comparison.rows if row.quantity == quantity)


def test_comparison_of_a_result_with_itself_has_no_difference():
    result = flying(spin=(1.0, 2.0, 3.0))
    comparison = compare(result, result)
    assert {row.kind for row in comparison.rows} == {"point", "turn", "energy", "part energy"}
    assert all(row.largest == row.final == row.rms == row.relative == 0.0 for row in comparison.rows)
    assert comparison.within(1e-40)


def test_distance_of_bodies_grows_with_their_relative_velocity():
    comparison = compare(flying((1.0, 0.0, 0.0)), flying((1.0, 0.3, 0.4)))
    row = row_of(comparison, "stone")
    # |A - B| = t/2: the largest at the end, the root mean square by the trapezoidal rule with 20 intervals
    assert row.largest == row.final == pytest.approx(0.1, abs=1e-13)
    assert row.at == pytest.approx(0.2)
    assert row.rms == pytest.approx(0.1 * np.sqrt(1 / 3 + 1 / (6 * 20**2)), rel=1e-12)
    assert (row.scale, row.relative) == pytest.approx((0.2, 0.5))
    assert row_of(comparison, "kinetic energy").largest == pytest.approx(0.25)


def test_relative_rotations_are_counted_beyond_whole_revolutions():
    fast, slow = flying(spin=(0.0, 0.0, 40.0)), flying(spin=(0.0, 0.0, 38.0))
    rotation = row_of(compare(fast, slow), "stone, turn")
    # 8 and 7.6 rad, less the error that both have with steps of 0.4 rad of a scheme of order 2
    assert rotation.final == pytest.approx(0.4, rel=0.06)
    ball = MassProperties(2.0, (0.3, 0.3, 0.3))
    askew = Model("askew")
    askew.add_body("stone", ball, orientation=4 * (0.5,), velocity=(1, 0, 0), angular_velocity=(0, 0, 40))
    assert row_of(compare(fast, simulate(askew, 0.2, 0.01)), "stone, turn").largest < 1e-12


def test_bound_applies_to_points_and_rotations():
    spinning, faster = flying(spin=(0, 0, 1.0)), flying(spin=(0, 0, 2.0))
    rotated = compare(spinning, faster)
    assert rotated.worst("point") < 1e-12
    assert rotated.worst("turn") == pytest.approx(0.2, rel=1e-3)
    assert not rotated.within(0.19)
    assert rotated.within(0.21)
    assert not compare(flying(), flying((1.0, 0.3, 0.4))).within(0.49)


def test_body_points_with_different_names_are_compared():
    shape = MassProperties(2.0, (0.3, 0.3, 0.3), center=(0.1, 0.0, 0.0))
    a = flying(spin=(0, 0, 3.0), shape=shape)
    b = flying(spin=(0, 0, 3.0), shape=shape, name="pebble")
    comparison = compare(a, b, ["stone@0.2,0,0=pebble@0.2,0.1,0"])
    assert row_of(comparison, "stone@0.2,0,0 = pebble@0.2,0.1,0").largest == pytest.approx(0.1, rel=1e-12)
    # from the reference point, which is 0.1 m from the centre of mass, at the origin at t = 0
    assert comparison.points[0].a[0] == pytest.approx([0.2, 0.0, 0.0], abs=1e-14)


@pytest.mark.parametrize(
    "half_angle", [1e-9, 5e-3 * (1 - 1e-12), 5e-3 * (1 + 1e-12), 0.02, 1.5]
)  # by series up to an angle of 0.01
def test_interpolation_between_nodes_is_an_arc_of_constant_strain(half_angle):
    # an arc of radius 1 and angle 2 `half_angle` without torsion: at a third of it
    def at(angle):
        r = np.array([np.sin(angle), 1 - np.cos(angle), 0.0])
        return r, quaternions.from_axis_angle([0.0, 0.0, 1.0], angle)

    (r0, q0), (r1, q1) = at(0.0), at(2 * half_angle)
    r, quat, inside = along(np.array([0.0, 1.0]), np.array([[r0, r1]]), np.array([[q0, q1]]), 1 / 3)
    exact = at(2 * half_angle / 3)
    assert inside
    assert r[0] == pytest.approx(exact[0], abs=1e-15 + 1e-14 * half_angle)
    assert np.abs(quat[0] @ exact[1]) == pytest.approx(1.0, abs=1e-15)


def test_comparison_reports_the_interpolation_error():
    spin = (0.0, 0.0, 9.0)
    shape = MassProperties(2.0, (0.3, 0.3, 0.3), center=(0.5, 0.0, 0.0))
    every, seldom = flying(spin=spin, shape=shape), flying(spin=spin, shape=shape, every=2)
    exact = compare(every, seldom)
    assert row_of(exact, "stone").largest == 0.0  # the outputs of one are among those of the other
    assert not any("splines" in note for note in exact.notes)
    other = flying(spin=spin, shape=shape, every=3, t_end=0.21)  # at none of the same times but 0, 0.06 ...
    comparison = compare(seldom, other)
    row = row_of(comparison, "stone")
    assert 0.0 < row.largest < 3 * row.interpolation < 0.01
    assert any("splines" in note for note in comparison.notes)
    assert any("as far as both reach" in note for note in comparison.notes)


def test_spline_error_is_estimated_from_every_second_value():
    t = np.linspace(0.0, 3.0, 61)
    fine = np.linspace(0.0, 3.0, 1001)
    missed = np.abs(CubicSpline(t, np.sin(t))(fine) - np.sin(fine)).max()
    assert spline_error(Series(t, np.sin(t))) == pytest.approx(missed, rel=0.6)


def test_energies_of_parts_sum_to_those_of_the_model():
    model = Model("two", gravity=(0.0, 1.0, -9.81))
    arm = model.add_rod("arm", [(0, 0, 0), (1, 0, 0)], section(), 4, mass="consistent")
    leg = model.add_rod("leg", [(0, 2, 0), (0, 3, 0)], section(), 2)
    box = model.add_body("box", Box(0.2, 0.1, 0.3, mass=2.0), position=(1.1, 0, 0))
    model.add_joint("wall", "clamp", arm.start)
    model.add_joint("hook", "spherical", arm.end, box)
    model.add_joint("pin", "spherical", model.ground, leg.start)
    result = simulate(model, 0.1, 0.01)
    parts = energies_by_part(result)
    assert set(parts) == {"arm", "leg", "box"}
    for kind in ("kinetic", "elastic", "gravity"):
        energy = result.energy[kind]
        total = sum(getattr(part, kind) for part in parts.values())
        assert total == pytest.approx(energy, abs=1e-13 * np.abs(energy).max())
    assert np.ptp(parts["arm"].elastic) > 1e-3 < np.ptp(parts["leg"].kinetic)


def test_joint_forces_are_compared_at_outputs():
    """A force that grows as a t equals the mean of its means over the steps on both sides, for any step."""

    def pushed_result(dt):
        model = Model("pushed")
        box = model.add_body("box", Box(0.2, 0.1, 0.3, mass=2.0))
        model.add_joint("wall", "clamp", box.at((0, 0, 0)))
        model.add_force("push", box.at((0, 1e-14, 0)), lambda t: np.multiply.outer(t, [5.0, 0.0, 0.0]))
        return simulate(model, 0.24, dt, output_every=2)

    comparison = compare(pushed_result(0.01), pushed_result(0.02))
    row = row_of(comparison, "joint wall, force")
    assert row.scale == pytest.approx(5.0 * 0.24, rel=1e-6)
    # positions have a round-off of 1e-15 m; in its first step a clamp closes this gap with the force 4 m/h^2 1e-15 m
    assert row.largest < 1e-9
    # the moment of a lever arm that is round-off is not compared either if all frames coincide
    assert not any(row.quantity == "joint wall, moment" for row in comparison.rows)


def test_unmatched_parts_of_both_files_are_reported():
    with pytest.raises(
        ResultError, match=r"A \(one\) has body 'stone'; B \(two\) has body 'pebble'; give points"
    ):
        compare(flying(), flying(name="pebble"), names=("one", "two"))
    both = Model("both")
    for k, name in enumerate(("stone", "pebble")):
        both.add_body(name, Box(0.1, 0.1, 0.1, mass=1.0), position=(0, k, 0))
    comparison = compare(flying(), simulate(both, 0.2, 0.01))
    assert any("not in both: pebble" in note for note in comparison.notes)


def test_comparison_without_common_times_is_rejected():
    one, two = (Series(np.array(t), np.array(t)) for t in ((0.0, 1.0, 2.0), (3.0, 4.0)))
    with pytest.raises(ResultError, match=r"one covers t = 0 to 2 s and two covers t = 3 to 4 s"):
        aligned(one, two, ("one", "two"))


def test_the_command_compares_a_scene_with_its_rigid_twin(tmp_path, capsys):
    scene = tmp_path / "swing.yaml"
    scene.write_text(SCENE)
    table, picture = tmp_path / "t.csv", tmp_path / "p.png"
    command = ["compare", str(scene), "--rigid", "--plot", str(picture), "-o", str(table)]
    assert main([*command, "--within", "0.9"]) == 0
    out = capsys.readouterr().out
    assert "rod 'arm': strains, section law" in out
    assert "within 0.9" in out
    assert main([*command, "--within", "1e-9"]) == 4
    assert coloured(picture) > 300
    rows = list(csv.DictReader(table.open()))
    assert {row["kind"] for row in rows} == {"point", "turn", "energy", "part energy", "joint force"}
    assert all(float(row["relative"]) >= 0.0 for row in rows)
    assert main(["compare", str(scene), "--dt", "0.001", "--json"]) == 0
    assert json.loads(capsys.readouterr().out.split("wrote")[-1].split("within 1e-09\n")[-1])["rows"]


def test_compare_command_reports_invalid_input_and_output(tmp_path, capsys):
    scene = tmp_path / "swing.yaml"
    scene.write_text(SCENE)
    result = tmp_path / "a.vtkhdf"
    model = Model("flight")
    model.add_body("stone", Box(1, 1, 1, mass=1.0), velocity=(1, 0, 0))
    simulate(model, 0.02, 0.01, output=result)
    assert main(["compare", str(result), str(result), "--within", "1e-12"]) == 0
    assert main(["compare", str(result), str(result), "-o", str(tmp_path / "t.doc")]) == 2
    assert "end it in .csv, .json or .txt" in capsys.readouterr().err
    assert main(["compare", str(result), str(scene)]) == 2
    assert "no part is in both" in capsys.readouterr().err


def test_invalid_bound_is_rejected():
    with pytest.raises(ModelError, match="within"):
        compare(flying(), flying()).within(-1.0)
