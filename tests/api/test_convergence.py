"""`converge`: orders, the choice, and its predicted errors; without a cluster."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from rodsim import Box, Model, simulate
from rodsim.cli.main import main
from rodsim.scenes import SceneError
from rodsim.studies import StudyError, cheapest_scheme, converge, convergence
from rodsim.studies.cases import Outcome
from rodsim.studies.convergence import MOTION, Convergence, Refinement, SchemeChoice, plan_of, scheme_variants
from rodsim.studies.measures import MotionSamples
from rodsim.studies.refinement import Choice, Plan, Run, choose, distance, series
from tests.support.studies import base_of

LIMIT = np.array([[1.0, 2.0, 3.0], [0.0, -1.0, 0.5]])
ALONG = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])  # one component of one point
ASLANT = np.array([[0.6, 0.6, 0.52915], [0.5, 0.0, 0.1]])  # a distance of 1 whose components are 0.6
# errors of mesh and step at the first level, their mixed term, orders
FIELDS = {
    "both alike": (1e-3 * ALONG, 1e-3 * ALONG, 0 * ALONG, 2, 2),
    "together more than alone": (1e-3 * ALONG, 1e-3 * ALONG, 1e-2 * ALONG, 2, 2),
    "of opposite signs": (1e-3 * ALONG, -9e-4 * ALONG, 0 * ALONG, 2, 2),
    "of opposite signs together": (1e-3 * ALONG, 1e-3 * ALONG, -5e-3 * ALONG, 2, 2),
    "aslant": (1e-3 * ASLANT, 2e-3 * ASLANT, 0 * ALONG, 2, 2),
    "of high order in space": (1e-2 * ALONG, 1e-3 * ASLANT, 1e-3 * ALONG, 4, 2),
    "of high order in time": (1e-3 * ALONG, 3e-3 * ASLANT, 1e-3 * ALONG, 2, 4),
    "of the mesh alone": (1e-2 * ASLANT, 0 * ALONG, 0 * ALONG, 2, 2),
}


def plan(elements=10, order=1, n_steps=200, between=10, levels=4, motion=True, every=10):
    return Plan(Run({"rod": elements}, 0.01, every), levels, {"rod": order}, n_steps, between, motion)


class Exact:
    """Runs with known errors; `noise`: of runs finer than all levels."""

    def __init__(self, planned, name, noise=0.0):
        self.plan, self.noise, self.rows = planned, noise, []
        self.a, self.b, self.c, self.p, self.q = FIELDS[name]

    def value(self, row):
        m, s = self.plan.factors(row)
        values = LIMIT + self.a * m**-self.p + self.b * s**-self.q + self.c * m**-self.p * s**-self.q
        if self.noise and max(m, s) > 8.0:
            seed = [row.elements["rod"], round(1e9 * row.dt)]
            values = values + self.noise * np.random.default_rng(seed).standard_normal(values.shape)
        return values

    def error(self, row):
        return distance(self.value(row), LIMIT)

    def __call__(self, rows):
        self.rows += rows
        return [{MOTION: self.value(row)} for row in rows]

    def sequences(self):
        n = self.plan.n_mesh
        samples = [x[MOTION] for x in self(self.plan.runs())]
        factors = 2.0 ** np.arange(n)
        mesh = series(MOTION, 10 * factors, samples[:n], 1.0)
        step = series(MOTION, 0.01 / factors, [samples[0], *samples[n:]], 1.0)
        return {MOTION: mesh}, {MOTION: step}


def choose_and_run(name, error, planned=None, noise=0.0):
    """The choice, its run, and all runs."""
    runs = Exact(planned or plan(), name, noise)
    choice, _ = choose(runs.plan, *runs.sequences(), {MOTION: 1.0}, error, runs)
    row = Run(choice.elements, choice.dt, 1)
    return choice, row, runs


@pytest.mark.parametrize("error", [1e-3, 2e-4, 1e-5])
@pytest.mark.parametrize("name", FIELDS)
def test_accepted_choice_is_within_the_error_bound(name, error):
    choice, row, runs = choose_and_run(name, error)
    assert choice.ok
    assert runs.error(row) <= choice.checked * (1 + 1e-9)
    assert choice.checked <= error


@pytest.mark.parametrize("error", [1e-3, 2e-4, 1e-5])
@pytest.mark.parametrize(
    "name", ["both alike", "together more than alone", "aslant", "of high order in space"]
)
def test_choice_needs_at_most_three_times_the_minimal_work(name, error):
    _, row, runs = choose_and_run(name, error)
    needed = np.inf
    for m in np.geomspace(0.25, 60.0, 60):
        for s in np.geomspace(0.25, 60.0, 60):
            other = runs.plan.finer(m, s)
            if runs.error(other) <= error:
                needed = min(needed, other.work)
    assert row.work <= 3.0 * needed


@pytest.mark.parametrize("name", ["both alike", "aslant"])
def test_choice_reports_its_mesh_and_step_errors(name):
    choice, row, runs = choose_and_run(name, 1e-4)
    m, s = runs.plan.factors(row)
    size = [np.linalg.norm(x, axis=1).max() for x in (runs.a, runs.b)]
    assert choice.mesh_error == pytest.approx(1.1 * size[0] / m**2, rel=1e-9)
    assert choice.step_error == pytest.approx(1.1 * size[1] / s**2, rel=1e-9)
    assert choice.estimated == pytest.approx(choice.checked / 1.1, rel=1e-9)


def test_unreachable_error_bound_is_reported_as_missed(monkeypatch, capsys):
    """Runs finer than all levels give nothing new: their noise is three times the requested error."""
    error = 5e-6
    choice, _, runs = choose_and_run("both alike", error, noise=3 * error)
    assert not choice.ok
    assert error < choice.checked < 30 * error  # reported as measured
    planned = plan()
    runs = Exact(planned, "both alike", noise=3 * error)

    class Known(Refinement):
        def run(self, rows, how):
            self.rates.append(1.0)
            samples = [np.concatenate([[1.0], x[MOTION].ravel()]) for x in runs(rows)]
            return SimpleNamespace(
                outcomes=[Outcome(k, "", {}, samples=tuple(x)) for k, x in enumerate(samples)]
            )

    missed = Known(SimpleNamespace(file="scene"), planned, {}, error).choice({})
    assert not missed.ok
    assert "MISSED" in missed.text()
    monkeypatch.setattr(convergence, "converge", lambda *_, **__: missed)
    assert main(["converge", "scene.yaml", "--quiet"]) == 3
    assert "MISSED" in capsys.readouterr().out


@pytest.mark.parametrize(("order", "expected"), [(4, 4 / 3), (2, 4 / 3), (1, 2.0), (0, 2.0)])
def test_error_estimate_from_one_refinement_assumes_at_most_order_2(order, expected):
    """One refinement removes the part 1 - 2^-p of the error; order 1 if all levels are exact."""
    levels = [LIMIT + (order > 0) * 2.0 ** (-order * k) * ALONG for k in range(4)]
    refinement = series("x", np.arange(4.0), levels, 1.0)
    assert refinement.error_of(1e-3) == pytest.approx(expected * 1e-3, rel=1e-9)


def test_worst_of_several_measures_is_reported_and_decides():
    """One measure is exact on all levels, the other has noise that no refinement removes."""
    good, bad = Exact(plan(), "both alike"), Exact(plan(), "both alike", noise=1.5e-5)
    sequences = [
        {"good": a[MOTION], "bad": b[MOTION]} for a, b in zip(good.sequences(), bad.sequences(), strict=True)
    ]

    def run(rows):
        return [{"good": good.value(row), "bad": bad.value(row)} for row in rows]

    for names in (("good", "bad"), ("bad", "good")):
        choice, _ = choose(plan(), *sequences, dict.fromkeys(names, 1.0), 5e-6, run)
        assert not choice.ok
        assert choice.checked > 5e-6


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("error", [1e-4, 1.3e-4, 1.7e-4])
def test_meshes_are_divisible_by_the_order_and_refined_by_integer_factors(order, error):
    _, _, runs = choose_and_run("both alike", error, plan(elements=2 * order, order=order))
    assert {run.elements["rod"] % order for run in runs.rows} == {0}
    current, finer, sooner = runs.rows[-3:]
    assert finer.elements["rod"] == 2 * current.elements["rod"]
    assert (finer.dt, sooner.dt, sooner.elements) == (current.dt, current.dt / 2, finer.elements)


@pytest.mark.parametrize("motion", [True, False])
@pytest.mark.parametrize(
    ("n_steps", "between", "every"), [(200, 10, 1), (203, 7, 7), (203, 10, 2), (1000, 50, 2), (7, 1, 1)]
)
def test_all_runs_end_at_t_end_and_have_outputs_at_the_sample_times(n_steps, between, every, motion):
    planned = plan(n_steps=n_steps, between=between, motion=motion, every=every if not motion else between)
    t_end = n_steps * planned.first.dt
    for s in (0.25, 0.4, 0.99, 1.0, 1.01, 1.7, 2.0, 3.3, 11.9):
        row = planned.finer(1.0, s)
        assert planned.factors(row)[1] >= s * (1 - 1e-9)
        n = t_end / row.dt
        assert n == pytest.approx(round(n), abs=1e-6)
        for t in planned.times:
            k = t / (row.dt * row.every)
            assert k == pytest.approx(round(k), abs=1e-6)
        if not motion and s >= 1.0:  # measures use the same outputs
            assert row.dt * row.every == pytest.approx(planned.first.dt * planned.first.every)


SCENE = """
name: falling
gravity: [0, 0, -9.81]
sections:
  soft: {type: stiffness, EA: 1.0e4, GA: 5.0e3, GJ: 5, EI: 5, mass_per_length: 1, inertia_per_length: [2.0e-3, 1.0e-3, 1.0e-3]}
rods:
  - {name: arm, curve: [[0, 0, 0], [1, 0, 0]], section: soft, n_elements: 6}
joints:
  - {name: clamp, kind: clamp, a: {rod: arm, s: 0}}
run: {t_end: 0.4, dt: 0.01}
"""


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    file = tmp_path_factory.mktemp("converge") / "scene.yaml"
    file.write_text(SCENE)
    return file


def test_choice_for_a_rod_is_within_the_error_of_a_reference_run(scene):
    convergence = converge(scene, error=2e-3, workers=0, progress=False)
    assert convergence.mesh[0].order == pytest.approx(2.0, abs=0.2)
    assert convergence.step[0].order == pytest.approx(2.0, abs=0.2)
    assert convergence.ok
    assert "kept" in convergence.text()

    def positions(n, dt):
        other = scene.with_name("other.yaml")
        other.write_text(SCENE.replace("n_elements: 6", f"n_elements: {n}"))
        result = simulate(Model.load(other), 0.4, dt, output_every=1, progress=False)
        scale, *values = MotionSamples(tuple(0.02 * k for k in range(1, 21)))(result)
        return scale, np.reshape(values, (-1, 3))

    scale, exact = positions(96, 0.01 / 32)
    _, positions_of_choice = positions(convergence.choice.elements["arm"], convergence.choice.dt)
    error = distance(positions_of_choice, exact) / scale
    assert 0.2 * convergence.choice.checked < error < convergence.choice.checked


def test_converge_prints_json_and_sets_the_exit_code(scene, tmp_path, capsys):
    command = f"converge {scene} --workers 0 --quiet --levels 3 -o {tmp_path / 'out'}".split()
    assert main([*command, "--error", "2e-3", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    choice = printed["choice"]
    assert choice["checked"] == choice["mesh_error"] + choice["step_error"] <= 2e-3
    assert main([*command, "--error", "2e-3", "--plot", str(tmp_path / "a.png")]) == 0
    assert (tmp_path / "a.png").stat().st_size > 5000


def test_measures_are_refined_like_the_motion(scene):
    measures = ["final rods.arm.end.r.z", "largest rods.arm.start.M.norm"]
    convergence = converge(scene, measures, error=2e-2, workers=0, progress=False)
    assert convergence.ok
    assert [x.name for x in convergence.mesh] == measures


def test_plan_starts_with_integer_numbers_of_elements(tmp_path):
    file = tmp_path / "scene.yaml"
    file.write_text(SCENE.replace("n_elements: 6", "n_elements: 7, element: lagrange(3)"))
    planned = plan_of(base_of(file), 3, motion=True)
    assert planned.first.elements == {"arm": 9}
    assert planned.orders == {"arm": 3}
    assert [run.elements["arm"] for run in planned.runs()] == [9, 18, 36, 9, 9]
    assert planned.times[-1] == pytest.approx(0.4)


TWO_BARS = """
gravity: [0, 0, -9.81]
bodies:
  - {name: a, shape: {type: box, size: [0.6, 0.1, 0.05], density: 500}, position: [0.3, 0, 0]}
  - {name: b, shape: {type: box, size: [0.6, 0.05, 0.1], density: 500}, position: [0.9, 0, 0]}
joints:
  - {name: pin, kind: revolute, a: a, b: ground, axis: [0, 1, 0.3], at: [0, 0, 0]}
  - {name: hinge, kind: revolute, a: b, b: a, axis: [0, 1, -0.2], at: [0.6, 0, 0]}
run: {t_end: 0.5, dt: 0.02}
"""


def test_higher_order_is_cheaper_for_small_errors(tmp_path, capsys):
    file = tmp_path / "bars.yaml"
    file.write_text(TWO_BARS)
    command = ["converge", str(file), "--schemes", "em", "em4", "--error", "1e-6", "--workers", "0"]
    assert main([*command, "--quiet", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    em, em4 = (printed["schemes"][name] for name in ("em", "em4"))
    assert printed["best"] == "em4"
    assert em4["choice"]["dt"] > 10 * em["choice"]["dt"]
    assert max(em["choice"]["checked"], em4["choice"]["checked"]) <= 1e-6
    assert em4["seconds"] < em["seconds"]


def convergence_taking(seconds, ok=True, choice=True, notes=()):
    """A convergence result whose choice of ten elements and steps of 0.1 s takes the given time."""
    selected = Choice({"arm": 10}, 0.1, 1e-4, 1e-4, 0.0, ok) if choice else None
    return Convergence("a.yaml", 1e-3, [], [], selected, None, {"arm": 10}, list(notes), seconds / 100.0)


def test_cheapest_scheme_is_the_fastest_within_the_error():
    schemes = {
        "slow": convergence_taking(3.0),
        "missed": convergence_taking(0.1, ok=False),
        "none": convergence_taking(0.1, choice=False, notes=["it does not converge yet"]),
        "fast": convergence_taking(1.0),
        "alike": convergence_taking(1.1),
    }
    chosen = SchemeChoice("a.yaml", 1e-3, schemes, {"other": "is refused"})
    assert chosen.best == "fast"
    assert chosen.refinements["fast"].seconds == pytest.approx(1.0)
    lines = chosen.text().splitlines()
    assert lines[-1] == "cheapest: fast, 1 s; alike within 20% of its time"
    rows = {line.split()[0]: line for line in lines[3:-2]}
    assert rows.keys() == schemes.keys() | {"other"}
    assert "MISSED" in rows["missed"]
    assert "does not converge yet" in rows["none"]
    assert "is refused" in rows["other"]
    assert json.loads(chosen.to_json())["best"] == "fast"
    nobody = SchemeChoice("a.yaml", 1e-3, {"missed": convergence_taking(0.1, ok=False)}, {})
    assert not nobody.ok
    assert "none meets an error of 0.001" in nobody.text()


def test_unsupported_scheme_is_reported_and_others_continue(scene):
    chosen = cheapest_scheme(scene, ["GGL-EM", "em"], error=1e-2, levels=3, workers=0, progress=False)
    assert chosen.best == "em"
    assert "inverse of the mass" in chosen.rejected["GGL-EM"]
    with pytest.raises(StudyError, match=r"no scheme runs: GGL-EM: .* inverse of the mass"):
        cheapest_scheme(scene, ["GGL-EM"], levels=3, workers=0, progress=False)


@pytest.mark.parametrize(
    ("scheme", "variants"),
    [("em", ("em", "em4", "em6", "em8")), ("em4-ggl", ("em-ggl", "em4-ggl", "em6-ggl", "em8-ggl"))],
)
def test_scheme_variants_differ_in_order(scheme, variants):
    assert scheme_variants(scheme) == variants


def test_schemes_without_variants_are_rejected(tmp_path):
    file = tmp_path / "bars.yaml"
    file.write_text(TWO_BARS)
    for scheme in ("em-d(0.8)", "EML"):
        with pytest.raises(StudyError, match="give the schemes to choose from"):
            scheme_variants(scheme)
    with pytest.raises(StudyError, match="schemes is empty"):
        cheapest_scheme(file, [])
    with pytest.raises(SceneError, match="em5"):
        cheapest_scheme(file, ["em", "em5"])


def test_saved_model_is_refined_with_given_settings(tmp_path):
    """`Model.save` writes no run settings."""
    model = Model("swing", gravity=(0, 0, -9.81))
    bar = model.add_body("bar", Box(1, 0.1, 0.1, mass=1), (0.5, 0, 0))
    model.add_joint("pin", "revolute", "ground", bar, at=(0, 0, 0), axis=(0, 1, 0))
    scene = model.save(tmp_path / "swing.yaml")
    settings = {"t_end": 0.4, "dt": 0.05, "workers": 0, "progress": False}
    convergence = converge(scene, ["final bodies.bar.r.z"], error=1e-3, **settings)
    assert "for an error of 0.001: dt = 0.025 s" in convergence.text()
