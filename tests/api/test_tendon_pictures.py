"""Tendons, belts and pulleys in pictures, animations, reports and exported files."""

from dataclasses import replace

import h5py
import numpy as np
import pytest

from rodsim import Cylinder, Drum, Model, Pulley, Sphere, export, render, report, simulate

Y, UPRIGHT = (0, 1, 0), (np.sqrt(0.5), np.sqrt(0.5), 0, 0)
DARK = 85  # largest mean of the three colours of a tendon, of 255; other parts are lighter


def flicked(**output):
    """Return a run in which a rope comes off a pulley, and the outputs at which it is off."""
    model = Model("flicked", gravity=(0, 0, -9.81))
    ball = model.add_body("ball", Sphere(0.05, mass=1.0), position=(1.0, 0, -0.3), velocity=(1.5, 0, 4.0))
    pulley = Pulley("ground@0,0,-0.2", Y, 0.2)
    model.add_tendon("rope", ["ground@-1,0,-0.1", pulley, ball], stiffness=5.0, length=1.5)
    result = simulate(model, 0.4, 0.01, output_every=10, progress=False, **output)
    return result, result.tendon("rope").wrap[:, 0] < 0.0


def drive(**output):
    """Return a run of a crossed belt, and a rope on a drum."""
    model = Model("drive")
    wheels = []
    for k in range(2):
        place = (0.7 * k, 0, 0)
        wheels.append(model.add_body(f"wheel {k}", Cylinder(0.1, 0.05, mass=1.0), place, UPRIGHT))
        model.add_joint(f"hinge {k}", "revolute", "ground", wheels[k], at=place, axis=Y)
    drums = [Drum(wheels[0], Y, 0.1), Drum(wheels[1], (0, -1, 0), 0.2)]
    model.add_belt("belt", drums, stiffness=1e3, pretension=5.0)
    model.add_tendon("rope", ["ground@0,0,1", Drum(wheels[0], Y, 0.1)], 2.0)
    return simulate(model, 0.2, 0.01, output_every=10, progress=False, **output)


def lengths_of_lines(file):
    """Return the length of each line of poly-data by the name of its object."""
    import pyvista

    data = pyvista.read(file)
    lines, lengths, at = data.lines, {}, 0
    for k in range(data.n_lines):
        points = data.points[lines[at + 1 : at + 1 + lines[at]]]
        name = data.field_data["object_names"][data.cell_data["object"][k]]
        lengths[str(name)] = float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
        at += 1 + lines[at]
    return lengths


def test_exported_line_of_a_tendon_has_its_length_on_and_off_the_pulley(tmp_path):
    result, off = flicked()
    files = export(result, tmp_path / "run.pvd")[1:]
    drawn = [lengths_of_lines(file)["rope"] for file in files]
    exact = result.tendon("rope").length
    assert off.tolist() == [False, False, True, True, True]
    assert np.array(drawn)[off] == pytest.approx(exact[off], rel=1e-6)
    assert np.array(drawn)[~off] == pytest.approx(exact[~off], rel=1e-3)  # arcs are polygons
    assert drawn[0] > 1.01 * np.linalg.norm(result.body("ball").r[0] - (-1, 0, -0.1))


def test_line_of_a_belt_runs_around_its_drums_and_a_rope_around_its_drum(tmp_path):
    drawn = lengths_of_lines(export(drive(), tmp_path / "run.pvd")[1])
    span, lean = np.sqrt(0.7**2 - 0.3**2), np.arcsin(0.3 / 0.7)
    belt = 2.0 * span + 0.3 * (np.pi + 2.0 * lean)
    assert drawn["belt"] == pytest.approx(belt, rel=3e-3)
    assert drawn["rope"] == pytest.approx(np.sqrt(1.0 - 0.1**2) + 0.2 * np.pi, rel=3e-3)


def test_lines_have_the_lengths_of_tendons_passed_either_way_and_beside_pulleys_that_are_off(tmp_path):
    model = Model("lines")
    ball = model.add_body("ball", Sphere(0.05, mass=1.0), position=(2.0, 0, -1.0))
    over, right = Pulley("ground@0,0,0", Y, 0.2), Pulley("ground@1,0,0", Y, 0.3)
    ways = {
        "over": ["ground@-1,0,-1", over, right, ball],
        "back": [ball, replace(right, side=-1), replace(over, side=-1), "ground@-1,0,-1"],
        "axis": ["ground@-1,0,-1", over, replace(right, axis=(0, -3, 0), side=-1), ball],
        "off": ["ground@-1,0,-1", over, Pulley("ground@0.5,0,-0.15", Y, 0.05), right, ball],
    }
    for name, points in ways.items():
        model.add_tendon(name, points, 1.0)
    result = simulate(model, 0.01, 0.01, progress=False)
    drawn = lengths_of_lines(export(result, tmp_path / "run.pvd")[1])
    exact = {name: result.tendon(name).length[0] for name in ways}
    assert [drawn[name] for name in ways] == pytest.approx(list(exact.values()), rel=1e-3)
    assert list(exact.values()) == pytest.approx([exact["over"]] * 4, rel=1e-12)
    assert result.tendon("off").wrap[0, 1] < 0.0


@pytest.mark.parametrize("format", ["vtu", "xdmf"])
def test_all_formats_accept_tendons(tmp_path, format):
    assert len(export(flicked()[0], tmp_path / f"run.{format}", format=format)) > 1


def test_result_file_has_a_block_with_the_moving_line_of_each_tendon(tmp_path):
    result, _ = flicked(output=tmp_path / "run.vtkhdf")
    with h5py.File(tmp_path / "run.vtkhdf") as file:
        block = file["VTKHDF/rope"]
        points = block["Points"][:].reshape(result.n_outputs, -1, 3)
    assert points[:, -1] == pytest.approx(result.body("ball").r, abs=1e-6)
    assert np.isfinite(points).all()


def dark_pixels(model_result, **arguments):
    """Return which pixels of a picture are dark and not blue, as bodies are."""
    picture = render(model_result, None, size=(480, 320), labels=False, **arguments).astype(float)
    return (picture.mean(axis=2) < DARK) & (picture[..., 2] < picture[..., 0] + 10)


@pytest.mark.parametrize("engine", ["auto", "matplotlib"])
def test_pictures_draw_tendons_and_pulleys(engine):
    """The rope is dark; from the front it covers a line across the picture that a free ball does not have."""
    model = Model("free", gravity=(0, 0, -9.81))
    model.add_body("ball", Sphere(0.05, mass=1.0), position=(1.0, 0, -0.3))
    without = simulate(model, 0.1, 0.01, progress=False)
    views = {"view": "front", "times": [0.0], "engine": engine}
    dark = dark_pixels(flicked()[0], **views)
    assert dark.any(axis=0).sum() > 200  # columns
    assert not dark_pixels(without, **views).any()


def test_tendons_of_earlier_times_are_lighter():
    """The rope of the last time is dark, that of the first is not."""
    result = flicked()[0]
    one, both = (dark_pixels(result, view="front", times=times) for times in ([0.4], [0.0, 0.4]))
    assert 0.5 * one.sum() < both.sum() < 1.3 * one.sum()


def test_animation_and_report_draw_tendons(tmp_path):
    result = drive()
    figure = result.animate(frames=3)
    assert [trace.name for trace in figure.data] == ["bodies", "tendons"]
    moved = figure.frames[-1].data[1]
    assert np.nanmax(np.abs(np.array(moved.z, float))) == pytest.approx(1.0, abs=1e-6)
    page = report(result, tmp_path / "page.html").read_text()
    assert '"name": "tendons"' in page or '"name":"tendons"' in page
