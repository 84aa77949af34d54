"""What is wrong with a study from Python is told before workers are started."""

import os
import subprocess
import sys
import textwrap
import types
from pathlib import Path

import pytest

from rodsim import Model, simulate
from rodsim.studies import StudyError, sweep, workers
from tests.support.cords import hanging

ROOT = Path(__file__).parents[2]


def running(E):
    return simulate(hanging(E), 0.1, 0.05)


def as_scene(E):
    material = {"E": E, "nu": 0.4, "density": 1e3}
    section = {"type": "circular", "radius": 0.01, "material": material}
    return {
        "rods": [{"name": "a.cord", "curve": [[0, 0, 0], [1, 0, 0]], "section": section}],
        "joints": [{"name": "root", "kind": "clamp", "a": {"rod": "a.cord", "s": 0}}],
        "run": {"t_end": 0.1, "dt": 0.05},
    }


def failing(E):
    raise RuntimeError("of its own")


@pytest.fixture
def no_workers(monkeypatch):
    """Nothing may be started."""
    monkeypatch.setattr("concurrent.futures.ProcessPoolExecutor", lambda *_: pytest.fail("a worker started"))


# whatever the model is
MISSPELT = {
    "finale rods.a.cord.end.r.z": "'finale' is no reduction; did you mean 'final'",
    "rods.a.cord.end.r.z": "is no reduction",
    "at soon energy.total": "at which time",
    "final rods.a.cord.end.q.z": "there is no 'q'",
    "final rods.a.cord.ende.r.z": "no place on a rod",
    "final rods.a.cord.end.r": "has 3 components",
    "final rod.a.cord.end.r.z": "not known",
    "max joints.root.force": "has 3 components",
    "max joints.root.torque.x": "there is no 'torque'",
    "max energy.totals": "not known",
}
# that the model of a function does not have
NOT_THERE = {
    "final rods.cord.end.r.z": "there is no rod 'cord'; did you mean 'a.cord'",
    "max joints.root.angle": "there is no 'angle'",
    "max joints.rot.force.x": "there is no joint 'rot'; did you mean 'root'",
}


@pytest.mark.parametrize(
    ("function", "told"),
    [(running, MISSPELT), (failing, MISSPELT), (hanging, MISSPELT | NOT_THERE), (as_scene, MISSPELT | NOT_THERE)],
)  # fmt: skip
def test_a_misspelt_measure_or_part_is_told_before_workers_start(function, told, no_workers):
    for measure, words in told.items():
        with pytest.raises(StudyError, match=words):
            sweep(function, {"E": [1e6, 2e6]}, {"y": measure}, t_end=0.1, dt=0.05)


def test_only_a_function_that_runs_nothing_is_called_to_see_its_model():
    calls = []

    def made(E):
        calls.append(E)
        return hanging(E)

    def run(E):
        calls.append(E)
        return simulate(Model("m"), 0.1, 0.05)

    for function, times in ((made, 2), (run, 1)):
        calls.clear()
        sweep(function, {"E": [1e6]}, ["final energy.total"], workers=0, progress=False, t_end=0.1, dt=0.05)
        assert calls == [1e6] * times


def test_what_some_model_has_is_not_refused_where_the_model_is_not_known():
    quantities = """energy.total drift.linear_momentum angular_momentum[2] rods.x.end.r.z rods.x.y.z@0.3.Omega[1]
    rods.end.end.largest.K bodies.a.b@1,0,0.quat.w joints.x.force.norm joints.x.angle joints.x.angles[1]
    joints.x.displacement_rate joints.a.b.multipliers[5] drives.x.work"""
    measures = [f"final {quantity}" for quantity in quantities.split()]
    found = sweep(failing, {"E": [1e6]}, measures, workers=0, progress=False)
    assert found.failed == {0: "RuntimeError: of its own"}


# --- the guard


SCRIPT = """
import sys
from rodsim.studies import sweep
from tests.support.cords import hanging

def go():
    sweep(hanging, {"E": [1e6]}, ["final rods.a.cord.end.r.z"], t_end=0.1, dt=0.05, workers=1, progress=False)
"""


def run(tmp_path, end):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT + textwrap.dedent(end))
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, env=environment, cwd=ROOT, timeout=120
    )


def test_a_script_without_a_guard_is_told_so_at_once(tmp_path):
    done = run(tmp_path, "for k in range(2):\n    go()")
    assert done.returncode == 1
    told = done.stderr.strip().splitlines()[-1]
    assert told.startswith("rodsim.studies.errors.StudyError: ")
    assert "script.py', line " in told
    assert told.endswith('put what the script does under `if __name__ == "__main__":`')


NAME = 'if __name__ == "__main__":\n    '
BARE = ["go()", "for k in range(2):\n    go()", "class A:\n    x = go()", f"{NAME}x = 1\ngo()"]
GUARDED = [f"{NAME}go(\n    )", f"{NAME}for k in (1,):\n        go()", "if sys:\n    x = 1\n    go()"]


@pytest.mark.parametrize("end", BARE + GUARDED)
def test_a_script_is_told_so_where_no_condition_stands_around_its_study(
    tmp_path, monkeypatch, no_workers, end
):
    """As the script of a process of its own, in this one."""
    script, main = tmp_path / "script.py", types.ModuleType("__main__")
    script.write_text(SCRIPT + end)
    main.__file__ = str(script)
    monkeypatch.setitem(sys.modules, "__main__", main)
    words = "a worker started" if end in GUARDED else r"script\.py', line \d+: workers import this script"
    with pytest.raises((StudyError, pytest.fail.Exception), match=words):
        exec(compile(script.read_text(), script, "exec"), vars(main))


def test_a_worker_that_imports_a_script_says_what_is_missing(monkeypatch):
    import multiprocessing

    monkeypatch.setattr(multiprocessing.current_process(), "_inheriting", True, raising=False)
    with pytest.raises(StudyError, match="a worker imports the script that started it"):
        workers.check_guard()
