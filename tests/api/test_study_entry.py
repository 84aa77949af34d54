"""Errors in a study defined in Python are reported before workers start."""

import pytest

from rodsim import Model, simulate
from rodsim.studies import StudyError, sweep
from tests.support.hanging_cords import hanging
from tests.support.processes import said


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
    """Fail if anything is started."""
    monkeypatch.setattr("concurrent.futures.ProcessPoolExecutor", lambda *_: pytest.fail("a worker started"))


# for any model
MISSPELT = {
    "finale rods.a.cord.end.r.z": "'finale' is not a reduction; did you mean 'final'",
    "rods.a.cord.end.r.z": "is not a reduction",
    "at soon energy.total": "at which time",
    "final rods.a.cord.end.q.z": "there is no 'q'",
    "final rods.a.cord.ende.r.z": "not a position on a rod",
    "final rods.a.cord.end.r": "has 3 components",
    "final rod.a.cord.end.r.z": "not known",
    "max joints.root.force": "has 3 components",
    "max joints.root.torque.x": "there is no 'torque'",
    "max energy.totals": "not known",
}
# measures that the model of a function does not have
NOT_THERE = {
    "final rods.cord.end.r.z": "there is no rod 'cord'; did you mean 'a.cord'",
    "max joints.root.angle": "there is no 'angle'",
    "max joints.rot.force.x": "there is no joint 'rot'; did you mean 'root'",
}


@pytest.mark.parametrize(
    ("function", "messages"),
    [(running, MISSPELT), (failing, MISSPELT), (hanging, MISSPELT | NOT_THERE), (as_scene, MISSPELT | NOT_THERE)],
)  # fmt: skip
def test_misspelt_measure_or_part_is_reported_before_workers_start(function, messages, no_workers):
    for measure, words in messages.items():
        with pytest.raises(StudyError, match=words):
            sweep(function, {"E": [1e6, 2e6]}, {"y": measure}, t_end=0.1, dt=0.05)


def test_only_model_functions_are_called_for_validation():
    calls = []

    def model_function(E):
        calls.append(E)
        return hanging(E)

    def run_function(E):
        calls.append(E)
        return simulate(Model("m"), 0.1, 0.05)

    for function, times in ((model_function, 2), (run_function, 1)):
        calls.clear()
        sweep(function, {"E": [1e6]}, ["final energy.total"], workers=0, progress=False, t_end=0.1, dt=0.05)
        assert calls == [1e6] * times


def test_measures_are_not_rejected_if_the_model_is_unknown():
    quantities = """energy.total drift.linear_momentum angular_momentum[2] rods.x.end.r.z rods.x.y.z@0.3.Omega[1]
    rods.end.end.largest.K bodies.a.b@1,0,0.quat.w joints.x.force.norm joints.x.angle joints.x.angles[1]
    joints.x.displacement_rate joints.a.b.multipliers[5] drives.x.work"""
    measures = [f"final {quantity}" for quantity in quantities.split()]
    study = sweep(failing, {"E": [1e6]}, measures, workers=0, progress=False)
    assert study.failed == {0: "RuntimeError: of its own"}


# --- scripts


SCRIPT = """
from rodsim.studies import sweep

class Scale:
    k = 3.0

def case(x, scale):
    return {"y": x * scale.k}

print(sweep(case, {"x": [1, 2], "scale": [Scale()]}, workers=1, progress=False).frame.y.tolist())
"""


@pytest.mark.slow
def test_study_script_needs_no_main_guard(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    assert said(str(script)) == "[3.0, 6.0]"
