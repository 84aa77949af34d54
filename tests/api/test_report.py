"""The report page shows the data of the result.

Audit verdicts, positions, extremes, and how much was thinned.
"""

import json

import numpy as np
import pytest

from rodsim import Box, Material, Model, Result, Section, audit, equilibrium, modes, report, signals, simulate
from rodsim.cli.main import main
from rodsim.linear import mode_shapes
from rodsim.reporting import thinning as thinned
from rodsim.reporting.embedded_data import packed, script_json, unpacked
from rodsim.reporting.joints import joint_loads
from rodsim.reporting.motion import motion
from rodsim.reporting.strain_extremes import extremes
from rodsim.reporting.surfaces import coarse_bodies
from rodsim.reporting.thinning import thinning
from rodsim.results.layout import BodyLayout, Layout, RodLayout
from tests.support.html_reader import Reader
from tests.support.reports import NASTY, model
from tests.support.results_sample import long_rod, sample_layout, write
from tests.support.statics_models import cantilever, section

LIMIT = 15e6  # bytes
SOFT = section(EA=1e4, GA=1e4, GJ=50.0, EI=50.0)


@pytest.fixture(scope="module")
def hanging_result(tmp_path_factory):
    """A result file."""
    path = tmp_path_factory.mktemp("report") / "hung.vtkhdf"
    return simulate(model(), 0.3, 0.01, output=path)


@pytest.fixture(scope="module")
def page(hanging_result):
    return report(hanging_result, hanging_result.path.with_suffix(".html")).read_text(encoding="utf-8")


def test_report_shows_the_audit_verdicts(hanging_result, page):
    text = Reader(page).text
    audited = audit(hanging_result)
    for verdict in audited.verdicts:
        word = {True: "kept", False: "NOT KEPT", None: "–"}[verdict.kept]
        assert f"{verdict.law} {word} {verdict.measured}" in text
    assert f"Newton: {audited.newton_mean:.2f} iterations a step, at most {audited.newton_max}" in text


def test_report_shows_violated_laws_at_its_top(tmp_path):
    layout = sample_layout()
    write(tmp_path / "a.vtkhdf", layout, range(3))  # random energy tables: no law is satisfied
    broken = [v.law for v in audit(Result.load(tmp_path / "a.vtkhdf")).verdicts if v.kept is False]
    text = Reader(report(tmp_path / "a.vtkhdf", tmp_path / "a.html").read_text("utf-8")).text
    assert broken
    assert f"Not kept: {', '.join(broken)}" in text
    assert all(f"{law} NOT KEPT" in text for law in broken)


def test_report_values_along_rods_belong_to_their_rod(tmp_path):
    write(tmp_path / "a.vtkhdf", sample_layout(), range(2))
    result = Result.load(tmp_path / "a.vtkhdf")
    N1 = motion(result, thinning(result.layout, 2)).fields["N1"]
    ring = result.rod("ring").N[..., 0]
    assert N1[:, -len(ring[0]) :] == pytest.approx(0.5 * (ring + np.roll(ring, 1, 1)), rel=1e-5, abs=1e-6)


def test_report_positions_equal_those_of_the_result(hanging_result, page):
    data = Reader(page).data("motion-data")
    r = unpacked(data["r"])
    expected = np.concatenate(
        [hanging_result.rod("cord").r, hanging_result.body("box").center_of_mass[:, None]], axis=1
    )
    assert r == pytest.approx(expected, abs=1e-6)
    spring = unpacked(data["lines"][0]["ends"])
    assert spring[:, 0, 1] == pytest.approx(hanging_result.body("box").center_of_mass, abs=1e-6)
    assert unpacked(data["joints"])[:, 0] == pytest.approx(hanging_result.rod("cord").r[:, -1], abs=1e-6)
    assert data["joint_trace"]["text"] == ["revolute joint 'hinge'"]
    bending = unpacked(data["fields"]["K2"]["values"])
    n = hanging_result.rod("cord").K.shape[1]
    K2 = hanging_result.rod("cord").along("K", np.linspace(0, 1, n + 1))[..., 1]
    assert bending[:, : n + 1] == pytest.approx(K2, rel=1e-5, abs=1e-8)


def test_report_lists_the_model_parameters(hanging_result, page):
    text = Reader(page).text
    for words in (
        "box 1 (0.001667, 0.004167, 0.004167) (1.1, 0, 0) 0.2 × 0.1 × 0.1",
        "cord 3000 2000 2000 5 8 6 no",
        "string the ground body 'box' 40 1 ",
        "hinge revolute rod 'cord', s = 1 body 'box' 5",
        "Triangle: peak 1, t_peak 0.02, t_end 0.04, t_start 0 along (0, 2, 0)",
        "em with h = 0.01 s",
        "Gravity 9.81 m/s², along (0, 0, -1)",
    ):
        assert words in text


def test_report_counts_joints_drives_and_gears_separately(tmp_path):
    wheels = Model("wheels")
    for k, name in enumerate(("small", "large")):
        wheel = wheels.add_body(name, Box(0.1, 0.1, 0.1, density=100), position=(k, 0, 0))
        wheels.add_joint(f"axle of {name}", "revolute", wheels.ground, wheel, at=(k, 0, 0), axis=(0, 0, 1))
    wheels.add_drive("motor", "axle of small", signals.SpinUp(1.0, 0.1))
    wheels.add_gear("teeth", ["axle of small", "axle of large"], [20, 30])
    line = [[0, 1, 0], [1, 1, 0]]
    rod = wheels.add_rod("rod", line, Section.circular(0.01, Material(E=1e6, nu=0.3, density=1000)), 2)
    wheels.add_distributed_load("wind", rod, signals.Sine(1.0, 2.0).along((0, 0, 1)), between=(0.5, 1))
    wheels.add_distributed_load("gusts", rod, lambda s, t: (0.0, 0.0, s * t))
    path = report(simulate(wheels, 0.02, 0.01), tmp_path / "wheels.html")
    content = Reader(path.read_text(encoding="utf-8"))
    assert "1 rod, 2 rigid bodies, 2 joints, 2 loads, 1 gear and 1 drive (2 rod elements)." in content.text
    assert "motor angle of joint 'axle of small' SpinUp: speed 1, t_end 0.1" in content.text
    assert "wind force a length rod 'rod', 0.5 to 1 of it Sine: amplitude 1, frequency 2" in content.text
    assert "gusts force a length rod 'rod', 0 to 1 of it callable" in content.text
    assert "teeth 20 × angle of 'axle of small' + 30 × angle of 'axle of large'" in content.text
    assert ("td", {"class": "short"}) in content.tags


def test_report_extremes_cover_all_elements_and_outputs(hanging_result, monkeypatch):
    monkeypatch.setattr("rodsim.reporting.strain_extremes.BLOCK", 500)  # several blocks
    rod = hanging_result.rod("cord")
    rows = {row.words: row for row in extremes(hanging_result)}
    assert set(rows) >= {"stretch Γ₁", "bending K₂", "torque M₁", "shear force N₃"}
    s = np.concatenate([[0.0], rod.s_element, [1.0]])
    for words, field, c in (("bending K₂", "K", 1), ("normal force N₁", "N", 0)):
        values = rod.along(field, s)[..., c]
        for end, at in ((rows[words].low, values.argmin()), (rows[words].high, values.argmax())):
            k, place = np.unravel_index(at, values.shape)
            assert end == pytest.approx((values[k, place], s[place], hanging_result.t[k]))


def test_report_joint_maxima_equal_those_of_the_histories(hanging_result, page):
    text = Reader(page).text
    for name in hanging_result.joints:
        joint = hanging_result.joint(name)
        size = np.linalg.norm(joint.force, axis=1).max()
        assert f"{name} {joint.kind} {size:.5g}" in text
    some = np.array([0, 3, 30])
    for loads in joint_loads(hanging_result, some):
        expected = np.linalg.norm(hanging_result.joint(loads.name).moment, axis=1)[some]
        assert loads.moment == pytest.approx(expected, abs=1e-12)


def test_report_escapes_names(tmp_path):
    result = simulate(model(NASTY, NASTY), 0.02, 0.01)
    page = report(result, tmp_path / "a.html").read_text(encoding="utf-8")
    content = Reader(page)
    assert [tag for tag, _ in content.tags].count("script") == 4
    assert not any(tag in ("img", "iframe", "object", "a") and "src" in a for tag, a in content.tags)
    assert not any(key.startswith("on") for _, a in content.tags for key in a)
    assert content.text.count(NASTY) >= 3
    assert content.data("motion-data")["rods"][0]["name"] == NASTY


def test_report_allows_no_injection(page):
    content = Reader(page)
    (policy,) = (a["content"] for _, a in content.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert "default-src 'none'" in policy
    assert "unsafe-inline" not in policy.split("script-src")[1].split(";")[0]
    loads = [a for tag, a in content.tags if tag in ("script", "link", "img") and ({"src", "href"} & set(a))]
    assert loads == [{"rel": "icon", "href": "data:,"}]


def test_report_thins_a_long_rod_and_states_the_factor(tmp_path):
    path = report(long_rod(10_001, 3), tmp_path / "long.html")
    text = Reader(path.read_text("utf-8")).text
    assert path.stat().st_size < LIMIT
    assert "nodes of rod 'cable' 10,001 320 1 in 31.3" in text
    assert "Thinned for this page: nodes of rod 'cable': 320 of 10,001." in text
    assert "bending K₂ (1/m) 0 0.00045 0 3.25" in text  # extremes cover what the motion does not show


def test_report_thins_a_long_run_and_states_the_factor(tmp_path, monkeypatch):
    monkeypatch.setattr(thinned, "MOST_FRAMES", 40)
    monkeypatch.setattr(thinned, "MOST_CURVE", 60)
    result = long_rod(4, 100)
    text = Reader(report(result, tmp_path / "long.html").read_text("utf-8")).text
    assert "outputs, motion and strains 100 40 1 in 2.5" in text
    assert "outputs, curves 100 60 1 in 1.67" in text
    thinned_motion = motion(result, thinning(result.layout, 100))
    assert (thinned_motion.t[0], thinned_motion.t[-1]) == (result.t[0], result.t[-1])
    assert set(np.round(np.diff(thinned_motion.t), 6)) == {0.2, 0.3}  # even thinning of outputs 0.1 s apart


@pytest.mark.parametrize(
    ("nodes", "bodies", "outputs"), [(10_001, 0, 10**6), (2, 5000, 10**5), (400, 300, 2000)]
)
def test_report_motion_stays_within_its_size_limit(nodes, bodies, outputs):
    s = np.linspace(0, 1, nodes)
    rods = [RodLayout("a", np.arange(1, nodes + 1), np.arange(nodes - 1), s, s)]
    solids = [BodyLayout(str(k), 1, np.zeros(3), np.zeros((0, 3)), []) for k in range(bodies)]
    layout = Layout("big", rods, solids, [], n_frames=nodes + 1, n_elements=nodes - 1)
    selection = thinning(layout, outputs)
    n_places = len(selection.nodes[0]) + bodies
    size = 4 * len(selection.outputs) * (thinned.POSE * n_places + thinned.FIELDS * len(selection.nodes[0]))
    assert (
        0.5 * thinned.MOTION_BYTES < size <= thinned.MOTION_BYTES
        or len(selection.outputs) == thinned.MOST_FRAMES
    )


def test_report_coarsens_large_surfaces(monkeypatch):
    import pyvista

    monkeypatch.setattr("rodsim.reporting.surfaces.MOST_TRIANGLES", most := 1500)
    ball = pyvista.Sphere(theta_resolution=40, phi_resolution=40)
    faces = ball.faces.reshape(-1, 4)[:, 1:]
    body = BodyLayout("ball", 1, np.zeros(3), ball.points, faces)
    (coarse,) = coarse_bodies([body])
    assert len(faces) > most
    assert 0.8 * most < len(coarse.faces) <= 1.01 * most
    assert np.linalg.norm(coarse.vertices, axis=1) == pytest.approx(0.5, rel=2e-2)


def test_report_arrays_round_trip_and_cannot_close_scripts():
    values = np.arange(12.0).reshape(2, 3, 2) / 7
    assert unpacked(packed(values)) == pytest.approx(values, rel=1e-7)
    assert np.array_equal(unpacked(packed([[1, 2]], "i4")), [[1, 2]])
    assert np.isfinite(unpacked(packed([1e300, -1e300]))).all()
    text = script_json({"a": NASTY, "b": float("nan")})
    assert "<" not in text
    assert json.loads(text) == {"a": NASTY, "b": None}


def test_report_command_overwrites_only_if_requested(hanging_result, capsys):
    page = hanging_result.path.with_name("command.html")
    assert main(["report", str(hanging_result.path), "-o", str(page)]) == 0
    assert "MB" in capsys.readouterr().out
    before = page.stat().st_mtime_ns
    assert main(["report", str(hanging_result.path), "-o", str(page)]) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert page.stat().st_mtime_ns == before
    assert main(["report", str(hanging_result.path), "-o", str(page), "--overwrite"]) == 0
    assert page.stat().st_mtime_ns > before


def test_failed_report_leaves_the_old_page(hanging_result, tmp_path, monkeypatch):
    (tmp_path / "a.html").write_text("old")
    monkeypatch.setattr(
        "rodsim.results.atomic_write.os.replace", lambda *_: (_ for _ in ()).throw(OSError(28, "full"))
    )
    with pytest.raises(OSError, match="No space left"):
        report(hanging_result, tmp_path / "a.html")
    assert [p.name for p in tmp_path.iterdir()] == ["a.html"]
    assert (tmp_path / "a.html").read_text() == "old"


SCENE = """# kept with its comments: <b>
name: drop
bodies: [{name: ball, shape: {type: sphere, radius: 0.1, density: 1000}}]
run: {t_end: 0.02, dt: 0.01}
"""


def test_file_stores_scene_and_versions_and_report_shows_them(tmp_path):
    (tmp_path / "drop.yaml").write_text(SCENE)
    assert main(["run", str(tmp_path / "drop.yaml"), "--quiet"]) == 0
    result = Result.load(tmp_path / "drop.vtkhdf")
    provenance = result.description["provenance"]
    assert provenance["scene"] == SCENE
    assert provenance["versions"]["numpy"] == np.__version__
    page = report(result, tmp_path / "drop.html").read_text("utf-8")
    assert "# kept with its comments: &lt;b&gt;" in page
    assert f"numpy {np.__version__} {np.__version__}" in Reader(page).text


def test_run_resumes_with_other_versions_and_comments(tmp_path):
    scene, result = tmp_path / "drop.yaml", tmp_path / "drop.vtkhdf"
    scene.write_text(SCENE)
    assert main(["run", str(scene), "--quiet"]) == 0
    scene.write_text(SCENE.replace("# kept", "# other"))
    assert main(["run", str(scene), "--quiet", "--resume", "--t-end", "0.05"]) == 0
    assert Result.load(result).n_outputs == 6


def test_report_of_equilibria_shows_load_factors(tmp_path):
    beam_model, _, end = cantilever(SOFT, 1.0, 4)
    beam_model.add_force("pull", end, (0, 0, 40.0))
    equilibria = equilibrium(beam_model, monitors={"w": (end, (0, 0, 1))})
    page = Reader(report(equilibria, tmp_path / "a.html").read_text("utf-8"))
    data, charts = page.data("motion-data"), page.data("chart-data")
    assert data["labels"] == [f"load factor {x:.4g}" for x in equilibria.load_factor]
    # the red lines mark the equilibrium of the slider
    assert charts["monitor0"]["layout"]["meta"]["x"] == pytest.approx(equilibria.monitor("w"))
    assert "Path of equilibria" in page.text
    for verdict in audit(equilibria).verdicts:
        assert verdict.measured in page.text


def test_report_of_modes_shows_frequencies(tmp_path):
    spectrum = modes(cantilever(SOFT, 1.0, 4)[0], 2)
    shapes = mode_shapes(spectrum, phases=4)
    page = Reader(report(shapes, tmp_path / "a.html").read_text("utf-8"))
    labels = page.data("motion-data")["labels"]
    assert labels[0] == f"mode 1, {spectrum.frequency[0]:.4g} Hz, phase 0.00"
    assert labels[7] == f"mode 2, {spectrum.frequency[1]:.4g} Hz, phase 0.75"
    for k, hertz in enumerate(spectrum.frequency):
        assert f"{k + 1} {hertz:.5g}" in page.text
