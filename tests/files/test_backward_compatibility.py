"""Result files of earlier versions can be read, audited, resumed and used as initial states.

Version 0.1.0 has one file of each solver and scheme, 0.3.0 those with a different storage of states. Each
scene has a run (NAME.vtkhdf) and its first half (NAME-half.vtkhdf), which this version resumes.
"""

import shutil
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from rodsim import Adaptive, Model, Result, simulate
from rodsim.cli.main import main
from rodsim.scenes import read_scene

HERE = Path(__file__).parent
SCENES = sorted(f"{path.parent.name}/{path.stem}" for path in HERE.glob("written_by_*/*.yaml"))
RUNS = [name for name in SCENES if (HERE / f"{name}-half.vtkhdf").exists()]
LARGEST = 1e-10  # difference of computed values, relative to the largest
# joint forces: with `em4` solvers of the same equations differ by 8e-11, and one ulp of gravity causes 2e-11
LARGEST_OF_FORCES = 1e-9

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def difference(one: np.ndarray, other: np.ndarray) -> float:
    assert one.shape == other.shape
    return float(np.abs(one - other).max(initial=0.0) / max(1.0, np.abs(other).max(initial=0.0)))


def loaded(name: str) -> Result:
    return Result.load(HERE / f"{name}.vtkhdf")


def test_reference_files_cover_every_scheme_solver_and_result_kind():
    runs = [loaded(name).description.get("run", {}) for name in SCENES]
    assert {run.get("integrator", "em") for run in runs} >= {"em", "em4", "em-ggl", "em-d(0.5)", "GGL-EM"}
    assert {run.get("solver") for run in runs} == {None, "planar", "tree, 3 bodies"}
    assert set(SCENES) - set(RUNS) == {"written_by_0_1_0/at-rest"}
    assert {name.partition("/")[0] for name in SCENES} == {"written_by_0_1_0", "written_by_0_3_0"}


@pytest.mark.parametrize("name", SCENES)
def test_file_of_an_earlier_version_passes_the_audit(name, capsys):
    assert main(["audit", str(HERE / f"{name}.vtkhdf")]) == 0, capsys.readouterr().out
    assert loaded(name).n_outputs > 0


@pytest.mark.parametrize("name", RUNS)
def test_run_of_an_earlier_version_is_resumed(name, tmp_path):
    file = Path(shutil.copy(HERE / f"{name}-half.vtkhdf", tmp_path / "run.vtkhdf"))
    assert main(["run", str(HERE / f"{name}.yaml"), "-o", str(file), "--resume", "--quiet"]) == 0
    resumed, expected = Result.load(file), loaded(name)
    assert difference(resumed.t, expected.t) < 1e-14
    for field in ("r", "quat", "v", "Omega"):
        one, other = (getattr(result.states(slice(None)), field) for result in (resumed, expected))
        assert difference(one, other) < LARGEST, field
    for joint in expected.joints:  # files of that version have no force at t = 0
        one, other = (result.joint(joint).force[1:] for result in (resumed, expected))
        assert difference(one, other) < LARGEST_OF_FORCES, joint


@pytest.mark.parametrize("name", RUNS)
def test_run_starts_from_a_file_of_an_earlier_version(name):
    half, settings = loaded(f"{name}-half"), read_scene(HERE / f"{name}.yaml")["run"]
    run = partial(
        simulate,
        Model.load(HERE / f"{name}.yaml"),
        half.t[-1],
        settings["dt"] if "dt" in settings else Adaptive(settings["error"], output_dt=settings["output_dt"]),
        settings.get("integrator", "em"),
        chart=settings.get("chart"),
        progress=False,
    )
    of_file, of_this = (run(start=start).states(slice(None)) for start in (half, run()))
    for field in ("r", "quat", "v", "Omega"):
        assert difference(getattr(of_file, field), getattr(of_this, field)) < LARGEST, field


def test_run_starts_from_an_equilibrium_of_an_earlier_version():
    run = simulate(
        Model.load(HERE / "written_by_0_1_0" / "at-rest.yaml"),
        0.05,
        0.01,
        start=loaded("written_by_0_1_0/at-rest"),
        progress=False,
    )
    assert (
        difference(
            run.states(slice(None)).r, np.broadcast_to(run.state(0).r, (run.n_outputs, *run.state(0).r.shape))
        )
        < 1e-9
    )
