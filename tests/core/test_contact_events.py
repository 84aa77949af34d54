"""Distances of surfaces and points, and runs that end at a contact."""

from __future__ import annotations

import numpy as np
import pytest

from rigid import quaternions
from rigid.errors import ModelError
from rodsim import Box, ContactBegins, DistanceBelow, Material, Model, Result, Section, simulate
from rodsim.cli.main import main
from rodsim.results import ResultError, UnknownName, contact_gaps
from rodsim.results.distances import Distance
from rodsim.results.events import Watch
from rodsim.studies.errors import StudyError
from rodsim.studies.measures import check_possible, measure
from tests.support.contact_dissipation import falling
from tests.support.contact_models import ball_on_floor

G, H = 9.81, 1e-3
pytestmark = pytest.mark.filterwarnings("ignore::rodsim.warnings.ModelCheckWarning")  # no contact is added


def parts() -> Model:
    """Two rods, one of them closed, a box with a sphere and a plane off their origins, and a plane on the ground."""
    model, section = Model("parts"), Section.circular(0.01, Material(E=1e6, nu=0.3, density=1000))
    model.add_rod("cord", [(0, 0, 0), (0.4, 0.1, 0.1), (0.8, 0, 0)], section, 6)
    angles = np.linspace(0, 2 * np.pi, 9)[:-1]
    ring = [(0.3 + 0.2 * np.cos(a), 0.5 + 0.2 * np.sin(a), 0.3) for a in angles]
    model.add_rod("ring", [*ring, ring[0]], section, 8, closed=True)
    box = model.add_body("box", Box(0.1, 0.2, 0.3, density=500), position=(1, 0.3, 0.6))
    model.add_sphere("ball", box.at((1.05, 0.3, 0.7)), 0.03)
    model.add_plane("side", box.at((0.95, 0.3, 0.6)), (-1, 0, 0))
    model.add_plane("floor", model.ground.at((0, 0, -0.2)), (0, 0, 1))
    return model


def moved(seed: int = 3):
    """Layout and state with all frames displaced but the ground."""
    built, rng = parts().build(), np.random.default_rng(seed)
    state, free = built.state, built.system.frames.fixed == 0
    r, quat = state.r.copy(), state.quat.copy()
    r[free] += 0.02 * rng.normal(size=(free.sum(), 3))
    quat[free] += 0.3 * rng.normal(size=(free.sum(), 4))
    quat /= np.linalg.norm(quat, axis=1, keepdims=True)
    return built.layout, state._replace(r=r, quat=quat)


def along(layout, state, name: str, n: int = 400):
    """Closely spaced points on the chords of a rod."""
    rod = next(candidate for candidate in layout.rods if candidate.name == name)
    nodes = state.r[rod.frames]
    ends = np.append(nodes, nodes[:1], axis=0) if rod.closed else nodes
    s = np.linspace(0, 1, n)[:, None, None]
    return ((1 - s) * ends[:-1] + s * ends[1:]).reshape(-1, 3)


def test_distance_is_the_minimum_over_sampled_points() -> None:
    layout, state = moved()
    box = layout.bodies[0].frame
    R = quaternions.to_matrix(state.quat[box])
    X = {name: np.array(layout.description["surfaces"][name]["X"]) for name in ("ball", "side")}
    ball, side = state.r[box] + R @ X["ball"], state.r[box] + R @ X["side"]
    n = R @ np.array([-1.0, 0.0, 0.0])
    cord, ring = along(layout, state, "cord"), along(layout, state, "ring")
    rod = layout.rods[0]
    on_chord = [np.interp(0.3 * rod.arclength[-1], rod.arclength, x) for x in state.r[rod.frames].T]
    between = np.linalg.norm(cord[:, None, ::1] - ring[None, ::3], axis=-1).min()
    expected = {
        ("cord", "ring"): between - 0.02,
        ("ball", "cord"): np.linalg.norm(cord - ball, axis=1).min() - 0.04,
        ("ring", "ball"): np.linalg.norm(ring - ball, axis=1).min() - 0.04,
        ("floor", "cord"): cord[:, 2].min() + 0.2 - 0.01,
        ("ring", "side"): ((ring - side) @ n).min() - 0.01,
        ("floor", "ball"): ball[2] + 0.2 - 0.03,
        ("box", "ball"): np.linalg.norm(state.r[box] + R @ layout.bodies[0].reference - ball) - 0.03,
        ("box@0,0,0", "box@0,0.3,0.4"): 0.5,
        ("cord@0.3", "box"): np.linalg.norm(state.r[box] + R @ layout.bodies[0].reference - on_chord),
        ("cord@0", "cord@1"): np.linalg.norm(cord[0] - cord[-1]),
        ("ring@0.9999999", "ring@0"): 0.0,
    }
    for (a, b), value in expected.items():
        distance = Distance(layout, a, b).of(state)
        assert distance == pytest.approx(value, abs=2e-6), (a, b)
        assert Distance(layout, b, a).of(state) == pytest.approx(float(distance), abs=1e-14)


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        ("cord", "cord", "both; give two"),
        ("floor", "side", "are both planes"),
        ("cord@2", "ball", "a fraction"),
        ("box@1,2", "ball", "a point in the body's axes"),
        ("rope", "ball", "or body 'rope'; there are 'ball', 'side', 'floor', 'cord', 'ring', 'box'"),
    ],
)
def test_events_reject_non_surfaces(a: str, b: str, words: str) -> None:
    with pytest.raises((ResultError, UnknownName), match=words):
        Distance(parts().build().layout, a, b)


def dropped() -> Model:
    """A ball that falls by 12.5 mm onto a floor."""
    return ball_on_floor(0.0625, g=G)


def test_run_ends_with_the_step_of_first_contact_and_interpolates_its_time() -> None:
    result = simulate(dropped(), 1.0, H, events=[ContactBegins("on")], output_every=20, progress=False)
    exact = np.sqrt(2 * 0.0125 / G)  # .05048 s
    assert np.all(np.diff(result.step)[:-2] == 20)
    assert result.step[-2:].tolist() == [50, 51]
    gap = result.contact("on").gap
    assert gap[-2] > 0.0 > gap[-1]
    assert result.contact("on").first_contact == pytest.approx(exact, abs=G * H**2 / (G * exact))
    assert result.distance("ball", "floor") == pytest.approx(gap, abs=1e-15)


@pytest.mark.parametrize("integrator", ["em", "EML-kappa"])
def test_contact_of_spheres_ends_a_run_in_every_scheme(integrator: str) -> None:
    touch = [ContactBegins()]
    result = simulate(falling(), 0.1, H, integrator, events=touch, output_every=50, progress=False)
    assert result.step.tolist() == [0, 38, 39]
    events = [ContactBegins(), DistanceBelow("one", "other", 0.01)]
    run = simulate(falling(), 0.1, H, integrator, events=events, progress=False)
    distance = run.distance("one", "other")
    assert distance[-2] >= 0.01 > distance[-1]
    assert run.ended_by == (events[1],)
    assert result.ended_by == (events[0],)


def test_resumed_run_after_an_event_is_bitwise_equal(tmp_path) -> None:
    path, touch = tmp_path / "run.vtkhdf", [ContactBegins()]

    def to(**settings) -> Result:
        return simulate(dropped(), 0.1, H, output_every=10, progress=False, **settings)

    ended = to(events=touch, output=path)
    assert ended.step[-1] == 51
    resumed = to(events=touch, output=path, resume=True)
    assert resumed.n_outputs == ended.n_outputs
    went_on, uninterrupted = to(output=path, resume=True), to()
    assert went_on.step[-1] == 100
    assert (len(resumed.ended_by), went_on.ended_by) == (1, ())
    for a, b in zip(went_on.state(), uninterrupted.state(), strict=True):
        np.testing.assert_array_equal(a, b)
    assert Result.load(path).step.tolist() == [0, 10, 20, 30, 40, 50, 51, 60, 70, 80, 90, 100]


def test_impossible_event_is_rejected_before_a_file_is_created(tmp_path) -> None:
    path = tmp_path / "run.vtkhdf"
    for event, words in (
        (ContactBegins("fall"), "no contact 'fall'; there are on"),
        (DistanceBelow("ball", "wall"), "no surface, rod or body 'wall'"),
        (DistanceBelow("ball", "floor", 0.2), "holds at t = 0 already"),
        ("on", r"give \[ContactBegins"),
    ):
        with pytest.raises(ModelError, match=words):
            simulate(dropped(), 0.1, H, events=[event], output=path, progress=False)  # type: ignore[arg-type]
    assert not path.exists()


def test_slow_motion_skips_distance_computations(monkeypatch) -> None:
    count, original = [], contact_gaps.MinimumGap.least
    monkeypatch.setattr(
        contact_gaps.MinimumGap, "least", lambda *arguments: count.append(1) or original(*arguments)
    )
    model = falling()
    state = simulate(model, 0.03, H, output_every=1, progress=False).states(slice(0, 31))
    count.clear()
    watch = Watch([ContactBegins("both")], model.build().layout)
    assert watch.first(state) is None
    assert len(count) < 12  # of 31 states


def test_measures_know_distances_and_contacts() -> None:
    result = simulate(dropped(), 0.08, H, output_every=1, progress=False)
    measures = measure(result, {"gap": "min distance(ball, floor)", "deep": "max contacts.on.depth"})
    assert measures["gap"] == pytest.approx(-measures["deep"], abs=1e-15)
    assert measures["deep"] > 1e-3
    for text in ("distance(ball, floor)", "contacts.on.force.z"):
        check_possible(text)
    for text in ("distance(ball)", "contacts.on.colour"):
        with pytest.raises(StudyError):
            check_possible(text)
    with pytest.raises(StudyError, match="no surface"):
        measure(result, {"gap": "min distance(ball, roof)"})


def test_scene_declares_its_end_events(tmp_path, capsys) -> None:
    scene = tmp_path / "drop.yaml"
    text = """
gravity: [0, 0, -9.81]
bodies: [{name: ball, shape: {type: sphere, radius: 0.05, density: 1000}, position: [0, 0, 0.0625]}]
spheres: [{name: ball, on: ball, radius: 0.05}]
planes: [{name: floor, on: {ground: [0, 0, 0]}, normal: [0, 0, 1]}]
contacts: [{name: land, a: [ball], b: [floor], stiffness: 1.0e+4}]
run: {t_end: 1, dt: 0.001, events: [EVENT]}
"""
    scene.write_text(text.replace("EVENT", "{contact_begins: [land]}"))
    assert main(["run", str(scene)]) == 0
    assert "ended at t = 0.051 s: contact 'land' begins" in capsys.readouterr().out
    either = "{contact_begins: []}, {distance_below: [ball, floor], distance: 0.01}"
    scene.write_text(text.replace("EVENT", either))
    assert main(["run", str(scene), "--overwrite"]) == 0
    assert "ended at t = 0.023 s: ball and floor closer than 0.01 m" in capsys.readouterr().out
    scene.write_text(text.replace("EVENT", "{distance: 0.01}"))
    assert main(["run", str(scene), "--overwrite"]) == 2
    assert "give one of contact_begins and distance_below" in capsys.readouterr().err
    plot = ["plot", str(tmp_path / "drop.vtkhdf"), "--what", "distance", "--points", "ball", "floor"]
    assert main(plot) == 0
