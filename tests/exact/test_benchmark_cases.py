"""The cases of the benchmarks: reference positions confirmed by other methods, errors over the run, non-
planar motions.
"""

import json
import re
from dataclasses import asdict, fields, replace
from itertools import combinations

import numpy as np
import pytest

from benchmarks import picture
from benchmarks.cases import steps_a_part
from benchmarks.measure import measure
from benchmarks.measurement import Measurement
from benchmarks.programs import Program
from benchmarks.reference_paths import PATHS
from benchmarks.references import by_angles, by_steps
from benchmarks.registry import CASES
from benchmarks.report import table
from benchmarks.rodsim_cases import run
from benchmarks.sweeps import SWEEPS


def test_planar_bars_follow_the_pendulum_equations():
    """Angles and a Runge-Kutta method of order 8 against quaternions, joints and em6."""
    pendulums = by_angles(CASES["B3-5"])
    assert pendulums == pytest.approx(np.array(PATHS["B3-5"]["end"]), abs=2e-9)
    assert by_steps(CASES["B3-5"], 5, 0.004, 6)[0] == pytest.approx(pendulums, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "n", "h"),
    [
        ("B1", 40, 0.025),
        ("B2", 20, 0.005),
        ("B2-space", 20, 0.005),
        ("B3-5", 5, 0.01),
        ("B3-5-space", 5, 0.01),
        ("B3-5-oblique", 5, 0.01),
        ("B4", 1, 0.002),
    ],
)
def test_errors_over_the_run_fall_with_the_order_of_em(name, n, h):
    case = CASES[name]
    finer = 1 if name.startswith(("B3", "B4")) else 2
    coarse, fine = run(case, n, h), run(case, finer * n, h / 2)
    assert 3.0 < coarse.error / fine.error < 5.0
    assert abs(coarse.energy_drift) < 1e-11
    assert coarse.steps == round(case.t_end / h)
    assert coarse.whole_s > 0.0


@pytest.mark.parametrize("name", ["B2", "B3-5"])
def test_only_cases_in_space_leave_the_plane(name):
    flat, space = (np.array(PATHS[case]["end"]) for case in (name, f"{name}-space"))
    assert np.abs(flat[:, 1]).max() == 0.0
    assert np.abs(space[:, 1]).max() > 0.3


def test_the_error_is_the_largest_of_all_instants():
    """A run that is right at the end and wrong before is wrong."""
    case = CASES["B3-5"]
    path = np.array(case.tip)
    assert case.error(path) == 0.0
    for k in range(case.instants):
        shifted = path.copy()
        shifted[k] += np.array([0.0, 0.3, 0.4])
        assert case.error(shifted) == pytest.approx(0.5 / case.bar_length)
    rod = CASES["B1"]
    start, end = (np.array(rod.path[name]) for name in ("start", "end"))
    assert rod.error(start, end + np.array([0.0, 0.0, 1.0])) == pytest.approx(1 / rod.length)
    assert rod.error(start + np.array([0.0, 2.0, 0.0]), end) == pytest.approx(2 / rod.length)


def test_steps_that_miss_an_instant_are_rejected():
    assert steps_a_part(2.0, 0.04, 5) == 10
    with pytest.raises(
        ValueError, match=r"5 equal parts of 2.0 s are not multiples of h = 0.03; use h = 0.0307692"
    ):
        steps_a_part(2.0, 0.03, 5)
    for name, sweep in SWEEPS.items():
        case = CASES[name]
        if hasattr(case, "instants"):
            for runs in sweep.values():
                for _, h, _ in runs:
                    steps_a_part(case.t_end, h, case.instants)


def test_summary_line_reports_the_best_run_of_a_peer(capsys):
    """All models of a program are compared together, loops and whole calls separately; below 1 if the peer is
    faster.
    """
    case = CASES["B3-5"]
    own_runs, _ = measure(case, ["none"], repeats=1, quick=True)
    own_runs = [replace(m, wall_s=0.02, whole_s=0.1) for m in own_runs if m.program == "rodsim"]
    error = own_runs[0].error
    peers = [
        replace(own_runs[0], program="Peer", wall_s=0.2, whole_s=0.25, error=error),
        replace(own_runs[0], program="Peer hinges", wall_s=0.01, whole_s=0.03, error=error),
    ]
    table(case, [*own_runs, *peers], [])
    printed = capsys.readouterr().out
    assert "time at equal error: rodsim is 0.5 times as fast as Peer" in printed
    assert "whole at equal error: rodsim is 0.3 times as fast as Peer" in printed


def test_picture_shows_program_fronts_of_cases_run_by_two_programs(tmp_path):
    def ran(program, case, time, error):
        return Measurement(program, case, 4, 0.1, 10, time, error, 0.0, 2.0 * time)

    runs = [
        *(ran("rodsim", "B1", t, 0.1 / t) for t in (1.0, 2.0, 4.0)),
        *(ran("Exudyn beam", "B1", t, 1.0 / t) for t in (2.0, 8.0)),
        ran("rodsim", "B2", 1.0, 0.1),  # no other program
        ran("rodsim em4", "B4", 1.0, 1e-3),
        ran("MuJoCo", "B4", 1.0, 1e-2),
        ran("Exudyn", "B4", 1.0, float("nan")),  # diverged
    ]
    record, target = tmp_path / "runs.json", tmp_path / "errors.svg"
    record.write_text(json.dumps({"runs": [asdict(m) for m in runs]}))
    assert picture.main([str(record), "-o", str(target)]) == 0
    texts = re.findall(r"<!-- (.*?) -->", target.read_text())
    headings = {name: CASES[name].title.partition(",")[0].split()[0] for name in ("B1", "B4")}
    assert {"rodsim", "Exudyn", "MuJoCo", "loop", "whole call"} <= set(texts)
    for heading in headings.values():
        assert any(text.startswith(heading) for text in texts), (heading, texts)
    assert not {"B1", "B2", "B4"} & set(texts)  # panels say what they show
    with pytest.raises(ValueError, match="two programs"):
        picture.draw(runs[:3], target)


def test_every_measured_call_uses_a_different_case(monkeypatch):
    """A program that caches its last models must not be timed on one of them."""
    measured = []

    def run(case, resolution, h, **options):
        measured.append(case)
        return Measurement("rodsim", case.name, resolution, h, 1, 1.0, 0.0, 0.0)

    monkeypatch.setattr(Program, "runner", lambda self, case, module=None: run)
    for name, case in CASES.items():
        measured.clear()
        measure(case, ["none"], repeats=2, quick=True)
        assert len(measured) >= 3
        assert all(a != b for a, b in combinations(measured, 2)), name
        assert all(replace(case, **_differences(case, other)) == other for other in measured)


def _differences(case, other):
    """Return the fields of `other` that differ, after checking that they differ by less than any error compared."""
    changed = {
        f.name: getattr(other, f.name)
        for f in fields(case)
        if getattr(case, f.name) != getattr(other, f.name)
    }
    for name, value in changed.items():
        if name == "density":
            assert value == pytest.approx(case.density, rel=1e-9)
        elif name == "stiffness":
            assert value == pytest.approx(case.stiffness, rel=1e-9)
        else:
            assert name == "bodies"
            assert value[0].mass == pytest.approx(case.bodies[0].mass, rel=1e-9)
            assert value[1:] == case.bodies[1:]
    return changed
