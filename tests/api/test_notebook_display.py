"""Notebook output: complete, short and escaped tables, and the motion as a figure."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rodsim import Box, Material, Model, Section, Sphere, audit, compare, simulate
from rodsim.html_tables import MOST_ROWS, table, text
from tests.support.html_reader import Reader
from tests.support.results_sample import BOX_FACES, N_OPEN, N_RING, in_memory, long_rod

RUBBER = Material(E=2e6, nu=0.45, density=1100, damping_time=0.01)


def small_model(moving=True):
    model = Model("small", gravity=(0, 0, -9.81))
    rod = model.add_rod("cord", [(0, 0, 0), (1, 0, 0)], Section.circular(0.01, RUBBER), n_elements=4)
    block = model.add_body("block", Box(0.1, 0.1, 0.1, density=500), position=(1.05, 0, 0))
    model.add_body("ball", Sphere(0.1, mass=2.0), position=(0, 3, 0), velocity=(0, 0, 1) if moving else None)
    model.add_joint("pin", "clamp", rod.start)
    model.add_joint("glue", "weld", rod.end, block)
    model.add_spring("string", model.ground.at((1, 0, 1)), block.at((0, 0, 0)), stiffness=10.0)
    model.add_mass_damping("air", rod, 0.1)
    return model


def test_html_of_a_model_shows_parts_and_joints():
    rows = Reader(small_model()._repr_html_()).rows
    assert ["cord", "1", "4 se3", "radius 0.01 m, 0.34558 kg/m", ""] in rows
    assert ["block", "0.5", "[1.05, 0, 0]", ""] in rows
    assert ["ball", "2", "[0, 3, 0]", "v = [0, 0, 1] m/s"] in rows
    assert ["glue", "weld", "rod 'cord', s = 1", "body 'block'"] in rows
    assert ["pin", "clamp", "rod 'cord', s = 0", "the ground"] in rows
    assert ["springs", "1", "string"] in rows
    assert ["mass dampings", "1", "air"] in rows
    assert "joints" not in [row[0] for row in rows]  # they have a separate table


def test_html_of_a_model_lists_interactions_by_kind():
    model = small_model()
    rod = model.rods["cord"]
    model.add_pressure("wind", rod, 10.0, normal=(0, 0, 1))
    model.add_bushing("rubber", rod.start, rod.end, stiffness=np.eye(6))
    model.add_limit("stop", rod.start, rod.end, stiffness=1.0, width=0.1, upper=2.0, of="length")
    for name, y in (("axle", 3), ("shaft", 4)):
        wheel = model.add_body(f"wheel {name}", Sphere(0.1, mass=2.0), position=(0, y, 0))
        model.add_joint(name, "revolute", model.ground, wheel, at=(0, y, 0), axis=(0, 0, 1))
    model.add_joint_damping("rust", "axle", turning=0.1)
    model.add_gear("mesh", ["axle", "shaft"], (2, 1))
    rows = Reader(model._repr_html_()).rows
    for kind, name in (
        ("pressures", "wind"),
        ("bushings", "rubber"),
        ("limits", "stop"),
        ("joint dampings", "rust"),
        ("gears", "mesh"),
    ):
        assert [kind, "1", name] in rows


def test_html_of_a_large_model_is_truncated_with_a_note():
    model = Model("long")
    for k in range(200):
        model.add_body(f"body {k}", Box(0.1, 0.1, 0.1, density=500), position=(k, 0, 0))
    page = model._repr_html_()
    rows = Reader(page).rows
    assert len(rows) == 1 + MOST_ROWS + 1
    assert rows[-1] == [f"and {200 - MOST_ROWS} more"]
    assert len(page) < 5000


def test_html_of_an_empty_model_shows_what_to_add():
    assert "add_rod" in Reader(Model("empty")._repr_html_()).words


EVIL = "<script>alert('&')</script>"


def test_names_are_escaped_in_html(tmp_path):
    model = Model(EVIL)
    rod = model.add_rod(EVIL, [(0, 0, 0), (1, 0, 0)], Section.circular(0.01, RUBBER), n_elements=2)
    model.add_joint(EVIL, "clamp", rod.start)
    result = simulate(model, 0.01, 0.01)
    for page in (model._repr_html_(), result._repr_html_(), audit(result)._repr_html_()):
        assert "<script" not in page
        assert EVIL in Reader(page).words


def test_html_of_a_section_shows_stiffness_and_coupling():
    plain = Section.circular(0.01, RUBBER)
    rows = {row[0]: row[1:] for row in Reader(plain._repr_html_()).rows}
    assert rows["EA"] == [text(plain.stiffness[0, 0]), "N"]
    assert rows["EI3"] == [text(plain.stiffness[5, 5]), "N m²"]
    assert rows["GJ"] == [text(plain.stiffness[3, 3]), "N m²"]
    assert rows["damping time"] == ["0.01", "s"]
    assert rows["radius"] == ["0.01", "m"]
    assert "stiffness" not in rows
    coupled = Section.rectangle(0.02, 0.01, RUBBER).with_centers(stiffness=(0.003, 0.0))
    shown_rows = Reader(coupled._repr_html_()).rows
    assert ["width (d2), height (d3)", "[0.02, 0.01]", "m"] in shown_rows
    matrix = [row[1:] for row in shown_rows if len(row) == 7][1:]
    assert matrix == [[text(x) for x in row] for row in coupled.stiffness]
    assert "softening moment = 2" in Reader(plain.with_law("softening", moment=2.0)._repr_html_()).words
    energy = replace(
        plain, law_expression="EA*Gamma1**2", law_parameters=(3.0,)
    )  # as created by `with_energy`
    assert "stored energy W = EA*Gamma1**2, parameters [3]" in Reader(energy._repr_html_()).words


def test_html_of_a_result_shows_time_span_and_energies():
    result = simulate(small_model(), 0.1, 0.01)
    page = Reader(result._repr_html_())
    assert "11 outputs, t = 0 to 0.1 s, em, dt = 0.01 s" in page.words
    assert [row[0] for row in page.rows if row[0].startswith("t = ")] == ["t = 0", "t = 0.1"]
    last = page.rows[-1]
    energies = [result.energy[name][-1] for name in result.energy.dtype.names]
    assert last[1:] == [text(x) for x in (*energies, result.work[-1], result.dissipation[-1])]
    assert ["cord", "5", "4", "1"] in page.rows


def test_html_of_an_audit_shows_every_verdict():
    audited = audit(simulate(small_model(), 0.1, 0.01))
    rows = Reader(audited._repr_html_()).rows
    assert [row[0] for row in rows[1:]] == [verdict.law for verdict in audited.verdicts]
    assert {row[1] for row in rows[1:]} == {"kept", "-"}


def test_html_of_modes_shows_one_row_for_each():
    from rodsim import modes

    spectrum = modes(small_model(moving=False), 14, anyway=True)
    rows = Reader(spectrum._repr_html_()).rows
    assert [row[1] for row in rows[1:]] == [text(f) for f in spectrum.frequency]
    assert len(rows) == 15


def test_html_of_a_comparison_shows_rows_and_notes():
    model = small_model(moving=False)
    comparison = compare(simulate(model, 0.1, 0.01), simulate(model.as_rigid(), 0.1, 0.01))
    seen = Reader(comparison._repr_html_())
    assert [row[:3] for row in seen.rows[1:]] == [
        [x.quantity, text(x.largest), text(x.at)] for x in comparison.rows
    ]
    assert comparison.notes
    assert all(f"note: {note}" in seen.words for note in comparison.notes)


def test_code_of_the_page_on_arrays_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[2] / "docs" / "tutorials" / "notebooks.md").read_text()
    code = re.search(r"```python\n(.*?)```", page, re.DOTALL)[1]
    names = {"result": simulate(small_model(moving=False), 1.0, 0.05)}
    exec(code, names)
    assert (tmp_path / "run.nc").stat().st_size > 1000
    for name in re.findall(r"^\| ([a-z_, ]+)(?=[,;| ])", page, re.MULTILINE):
        for word in set(name.replace(",", " ").split()) - {"name", "drive_work"}:
            assert word in names["data"], word


def test_html_numbers_are_short_and_zero_is_unsigned():
    assert [text(x) for x in (-0.0, 1 / 3, np.float64(2e-9), 12, True, None, (1.0, 2.5))] == [
        "0", "0.33333", "2e-09", "12", "True", "None", "[1, 2.5]",
    ]  # fmt: skip
    assert "and 3 more" in table(("a",), [[1]] * MOST_ROWS, many=MOST_ROWS + 3)
    assert "and 3 more" in table(("a",), [[1]] * (MOST_ROWS + 3))
    assert "more" not in table(("a",), [[1]] * MOST_ROWS)


# --- the motion as a figure


@pytest.fixture(scope="module")
def sample():
    return in_memory(40)


def trace_points(trace):
    return np.stack([np.asarray(trace[axis]) for axis in "xyz"], axis=1)


def test_animation_frames_show_rods_and_bodies_at_their_positions(sample):
    from rigid.quaternions import rotate

    figure = sample.animate(frames=14)
    assert len(figure.frames) == 14
    chosen = [sample.index_at(float(frame.name)) for frame in figure.frames]
    assert chosen[0] == 0
    assert chosen[-1] == 39
    assert max(np.diff(chosen)) - min(np.diff(chosen)) <= 1
    box = sample.body("box")
    for i, frame in zip(chosen, figure.frames, strict=True):
        lines, bodies = map(trace_points, frame.data)
        ring = sample.rod("ring").r[i]
        np.testing.assert_allclose(lines[:N_OPEN], sample.rod("whip").r[i], rtol=1e-6, atol=1e-6)
        assert np.all(np.isnan(lines[N_OPEN]))  # a gap separates the rods
        np.testing.assert_allclose(lines[N_OPEN + 1 : -1], [*ring, ring[0]], rtol=1e-6, atol=1e-6)
        corners = box.center_of_mass[i] + rotate(box.quat[i], sample.layout.bodies[0].vertices)
        np.testing.assert_allclose(bodies, corners, rtol=1e-6, atol=1e-6)
    mesh = figure.data[1]
    assert np.array_equal(np.stack([mesh.i, mesh.j, mesh.k], axis=1), BOX_FACES)
    assert len(lines) == N_OPEN + N_RING + 3


def test_animation_axes_have_equal_scale_and_contain_the_motion(sample):
    figure = sample.animate(frames=10)
    scene = figure.layout.scene
    ranges = np.array([scene[f"{axis}axis"].range for axis in "xyz"], dtype=float)
    ratio = np.array([scene.aspectratio[axis] for axis in "xyz"])
    assert scene.aspectmode == "manual"
    np.testing.assert_allclose(ratio / np.ptp(ranges, axis=1), ratio[0] / np.ptp(ranges[0]), rtol=1e-12)
    everything = np.concatenate([trace_points(trace) for frame in figure.frames for trace in frame.data])
    assert np.all(np.nanmin(everything, axis=0) >= ranges[:, 0])
    assert np.all(np.nanmax(everything, axis=0) <= ranges[:, 1])


def test_animation_slider_has_one_step_for_each_frame(sample):
    figure = sample.animate(frames=7)
    steps = figure.layout.sliders[0].steps
    assert [list(step.args[0]) for step in steps] == [[frame.name] for frame in figure.frames]
    play, stop = figure.layout.updatemenus[0].buttons
    assert play.args[0] is None
    assert play.args[1]["fromcurrent"]
    assert play.args[1]["frame"]["duration"] * 7 == pytest.approx(2000)  # 2 s, slow enough to be followed
    assert list(stop.args[0]) == [None]


def test_figure_falls_back_to_a_picture_without_plotly(sample, monkeypatch):
    import base64
    import io

    import IPython.display
    import plotly.io
    from PIL import Image

    figure = sample.animate(frames=3)
    monkeypatch.setattr(plotly.io.renderers, "default", "plotly_mimetype")
    shown = []
    monkeypatch.setattr(IPython.display, "display", lambda bundle, raw: shown.append((bundle, raw)))
    figure._ipython_display_()
    [(bundle, raw)] = shown
    assert raw
    assert set(bundle) == {"application/vnd.plotly.v1+json", "image/png"}
    picture = np.asarray(Image.open(io.BytesIO(base64.b64decode(bundle["image/png"]))).convert("RGB")) / 255
    for color in np.array([(222, 98, 50), (66, 104, 160)]) / 255:  # shaded colours of rods and bodies
        fraction = picture @ color / np.linalg.norm(color)
        alike = fraction > 0.985 * np.maximum(np.linalg.norm(picture, axis=2), 1e-9)
        assert np.count_nonzero(alike & (picture.min(axis=2) < 0.7)) > 100
    monkeypatch.setattr(plotly.io.renderers, "render_on_display", False)
    figure._ipython_display_()
    assert len(shown) == 1


def test_long_rod_is_thinned_in_an_animation_but_keeps_its_ends():
    result = long_rod(10_001, 2)
    line = trace_points(result.animate(frames=2).frames[1].data[0])
    assert len(line) < 2000
    assert np.all(np.isnan(line[-1]))
    np.testing.assert_allclose(line[[0, -2]], result.rod("cable").r[1, [0, -1]], rtol=1e-6, atol=1e-6)
