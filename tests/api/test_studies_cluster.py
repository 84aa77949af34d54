"""Studies on real workers.

Workers and drivers die, cases fail, and the table is bit-identical to that of the undisturbed study.
"""

import os
import pickle
import subprocess
import sys
import time
from concurrent.futures import Future
from pathlib import Path

import dask
import distributed
import numpy as np
import psutil
import pytest
from distributed.utils import get_mp_context

from rodsim import Result
from rodsim.cli.main import main
from rodsim.studies import StudyError, StudyStopped, Sweep, sweep, workers
from rodsim.studies.case_keys import program
from rodsim.studies.cases import Case, Recipe, pack, run_batch, run_packed
from rodsim.studies.study_runner import read_study
from rodsim.studies.study_targets import FunctionTarget
from tests.support.crashing_cases import cases_killing_workers, cases_with_failures

SCENE = Path(__file__).parents[2] / "examples" / "scenes" / "flying_spaghetti.yaml"
PARAMETERS = {"sections.spaghetti.EI": [100.0, 200.0, 400.0], "run.dt": [0.1, 0.05]}
MEASURES = {"far": "final rods.spaghetti.end.displacement.norm", "E": "final energy.total"}
SQUARES = [float(x * x) for x in range(12) if x not in (5, 7)]  # of `cases_killing_workers`


def listening_ports(x):
    """Ports on which the study and its workers listen, and numbers of library threads of a worker."""
    study = psutil.Process(os.getppid())
    connections = [
        c for process in (study, *study.children(recursive=True)) for c in process.net_connections("inet")
    ]
    ports = sum(c.status == psutil.CONN_LISTEN for c in connections)
    return {"ports": ports, "threads": float(os.environ["OMP_NUM_THREADS"])}


def test_local_workers_use_no_port_and_one_thread(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    me = psutil.Process()
    before = sum(c.status == psutil.CONN_LISTEN for c in me.net_connections("inet"))
    frame = sweep(listening_ports, {"x": [0]}, workers=1, progress=False).frame
    assert (frame.ports[0], frame.threads[0]) == (before, 1)
    assert os.environ["OMP_NUM_THREADS"] == "7"


def test_worker_with_different_code_refuses_cases():
    with pytest.raises(StudyError, match="install the same"):
        run_batch(Recipe(None, {}, "0.0.0+other"), [])


@pytest.mark.slow
def test_cases_of_killed_workers_are_rescheduled_and_failures_reported(tmp_path):
    result = sweep(
        cases_killing_workers, {"x": list(range(12)), "folder": [str(tmp_path)]}, workers=2, progress=False
    )
    table = result.frame
    assert len(list(tmp_path.glob("death*"))) == 1
    assert list(result.failed) == [5, 7]
    assert result.failed[7] == "ValueError: seven"
    assert "died 3 times" in result.failed[5]
    assert list(table[table.error == ""].y) == SQUARES


@pytest.mark.slow
def test_study_survives_death_of_its_worker_and_hanging_cases(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(workers, "QUIET", 1.0)
    result = sweep(
        cases_with_failures, {"x": list(range(5)), "folder": [str(tmp_path)]}, workers=1, limit=1.5
    )
    assert (tmp_path / "died").exists()
    assert list(result.failed) == [1, 2]
    assert result.failed[1] == "it took longer than the limit of 1.5 s"
    assert "remove sys.exit" in result.failed[2]
    assert [result.outcomes[k].measures["y"] for k in (0, 3, 4)] == [0.0, 3.0, 4.0]
    lines = capfd.readouterr().err.splitlines()
    assert any("no case has ended for" in line for line in lines)
    assert len(lines) < 60


# --- Dask


@pytest.mark.slow
def test_study_survives_killed_dask_workers_and_keeps_the_client_open(tmp_path):
    """Workers are forks of a process that has imported everything: each starts in 0.1 s instead of 1.5 s."""
    settings = {
        "distributed.worker.multiprocessing-method": "forkserver",
        "distributed.scheduler.allowed-failures": 0,
        "distributed.deploy.lost-worker-timeout": "365 days",
    }
    with dask.config.set(settings):
        get_mp_context().set_forkserver_preload(["distributed", "pandas", "rodsim.simulation"])
        options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
        with (
            distributed.LocalCluster(**options, silence_logs=50) as cluster,
            distributed.Client(cluster) as client,
        ):
            values = {"x": list(range(12)), "folder": [str(tmp_path)]}
            result = sweep(cases_killing_workers, values, scheduler=client, progress=False)
            assert list(result.failed) == [5, 7]
            assert "died 3 times" in result.failed[5]
            assert list(result.frame[result.frame.error == ""].y) == SQUARES
            assert client.status == "running"
            by_address = sweep(
                lambda x: {"y": x}, {"x": [3]}, scheduler=cluster.scheduler_address, progress=False
            )
            assert list(by_address.frame.y) == [3]


class Restarted:
    """Workers whose first scheduler is lost with all its state after one batch, or whose every scheduler is
    lost. The second scheduler is lost before it accepts anything.
    """

    deaths, losses = (), (OSError,)

    def __init__(self, for_good=False):
        self.for_good, self.runs, self.lost = for_good, [], 0

    def start(self, most):
        pass

    places = 3

    def submit(self, function, recipe, cases, saved_files):
        if self.lost == 1:
            raise OSError("no scheduler")
        future = Future()
        self.runs.append([case.number for case in pickle.loads(cases)])
        if self.for_good or (len(self.runs) > 1 and not self.lost):
            future.cancel()
            future.set_running_or_notify_cancel()
        else:
            future.set_result(function(recipe, cases, saved_files))
        return future

    def ended(self, future, usable):
        pass

    def reconnect(self):
        self.lost += 1
        if self.for_good:
            raise StudyStopped("gone")


def test_cases_of_a_lost_scheduler_are_rerun_and_counted_once():
    recipe = Recipe(FunctionTarget(lambda x: {"y": x}, {}), {}, program())
    cases = [Case(k, f"k{k}", "one structure", {"x": k}) for k in range(6)]
    restarted, outcomes = Restarted(), []
    workers.run_cases(restarted, recipe, cases, outcomes.append)
    assert restarted.lost == 2
    assert sorted(outcome.number for outcome in outcomes) == list(range(6))
    assert {outcome.measures["y"] for outcome in outcomes} == set(range(6))
    assert restarted.runs[0] == [
        0
    ]  # the first case of a structure runs alone: the others load its compiled code
    with pytest.raises(StudyStopped, match="gone"):
        workers.run_cases(Restarted(for_good=True), recipe, cases, outcomes.append)


def test_unresponsive_scheduler_is_reported(monkeypatch):
    monkeypatch.setattr(workers, "PATIENCE", 0.1)
    with pytest.raises(StudyStopped, match=r"no scheduler answers at .tcp://127\.0\.0\.1:1"):
        sweep(lambda x: {"y": x}, {"x": [1]}, scheduler="tcp://127.0.0.1:1", progress=False)
    with pytest.raises(StudyError, match="unknown address scheme"):
        sweep(lambda x: {"y": x}, {"x": [1]}, scheduler="nonsense://x", progress=False)
    with pytest.raises(StudyError, match="has its own; remove one of them"):
        sweep(lambda x: {"y": x}, {"x": [1]}, scheduler="tcp://127.0.0.1:1", workers=2, progress=False)


def test_batch_behind_a_hanging_case_moves_to_another_process(monkeypatch):
    """The process is ended after its outcomes are sent."""
    ends = []
    monkeypatch.setattr("rodsim.studies.cases.LEAST_GRACE", 0.1)
    monkeypatch.setattr("threading.Timer", lambda seconds, call, arguments: ends.append(call) or Future())
    monkeypatch.setattr(Future, "start", lambda self: None, raising=False)

    def case(x):
        time.sleep(2.0 if x == 1 else 0.0)
        return {"y": x}

    recipe = Recipe(FunctionTarget(case, {}), {}, program(), limit=0.1)
    cases = [Case(k, f"k{k}", "", {"x": k}) for k in range(3)]
    outcomes, usable = run_packed(pack(recipe), pack(cases), frozenset())
    assert [outcome.error for outcome in outcomes] == ["", "it took longer than the limit of 0.1 s"]
    assert not usable
    assert ends == [os._exit]


# --- results, journals


@pytest.mark.slow
def test_scene_study_saves_results_and_reuses_cases(tmp_path, capsys):
    folder = tmp_path / "out"
    options = {"folder": folder, "t_end": 1.0, "workers": 1, "progress": False}
    first = sweep(SCENE, PARAMETERS, MEASURES, keep={"largest": "far"}, **options)
    assert not first.failed
    files = [first.result_file(k) for k in range(6)]
    assert sum(file is not None for file in files) == 1
    best = int(np.argmax(first.frame.far))
    r = Result.load(files[best]).rod("spaghetti").r
    assert np.linalg.norm(r[-1, -1] - r[0, -1]) == pytest.approx(first.frame.far[best], rel=1e-12)
    tables = [(folder / name).read_bytes() for name in ("table.csv", "table.parquet")]
    journal = (folder / "cases.jsonl").read_text().splitlines()

    began = time.monotonic()
    repeated = sweep(SCENE, PARAMETERS, MEASURES, keep={"largest": "far"}, **options)
    assert time.monotonic() - began < 5.0  # no worker is started without need
    assert (folder / "cases.jsonl").read_text().splitlines() == journal
    assert [(folder / name).read_bytes() for name in ("table.csv", "table.parquet")] == tables
    assert repeated.dataset["far"].dims == ("sections.spaghetti.EI", "run.dt")
    assert repeated.dataset["far"].attrs["units"] == "m"

    one_more = {**PARAMETERS, "sections.spaghetti.EI": [100.0, 400.0, 800.0]}
    wider = sweep(SCENE, one_more, MEASURES, **{**options, "workers": 0})
    assert len((folder / "cases.jsonl").read_text().splitlines()) == len(journal) + 2
    both = wider.frame.merge(first.frame, on=list(PARAMETERS))
    assert len(both) == 4
    assert np.array_equal(both.far_x, both.far_y)


STUDY = f"""
name: killed
scene: {SCENE}
parameters:
  EI: {{path: sections.spaghetti.EI, low: 100, high: 1000, n: 30}}
measures: {{far: final rods.spaghetti.end.displacement.norm}}
t_end: 10
"""


@pytest.mark.exact
@pytest.mark.slow
def test_killed_study_resumes_with_the_uninterrupted_table(tmp_path, capsys):
    """Workers end with the killed study and leave no files."""
    (tmp_path / "study.yaml").write_text(STUDY)
    command = [sys.executable, "-m", "rodsim", "sweep", str(tmp_path / "study.yaml"), "--quiet"]
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    where = {**os.environ, "PYTHONPATH": str(SCENE.parents[2]), "TMPDIR": str(scratch)}
    killed = tmp_path / "killed"
    study = subprocess.Popen([*command, "--workers", "1", "-o", killed], env=where, stderr=subprocess.DEVNULL)
    journal = killed / "cases.jsonl"
    while not (journal.exists() and len(journal.read_text().splitlines()) > 3):
        assert study.poll() is None
        time.sleep(0.02)
    study.kill()
    study.wait()
    lines = journal.read_text().splitlines()
    assert len(lines) < 30
    assert not (killed / "table.csv").exists()
    for _ in range(100):
        if not list(scratch.glob("*")):
            break
        time.sleep(0.1)
    assert not list(scratch.glob("*"))  # its workers have ended, and its temporary files are gone
    assert main([*command[3:], "--workers", "0", "-o", str(killed), "--plot", "EI", "far"]) == 0
    assert (killed / "EI-far.png").exists()
    assert journal.read_text().splitlines()[: len(lines)] == lines
    assert "30 cases, 0 failed" in capsys.readouterr().out
    complete_study = read_study(tmp_path / "study.yaml")
    # no workers at all
    undisturbed = Sweep(
        complete_study,
        run_batch(Recipe(complete_study.base, complete_study.measures, program()), complete_study.cases),
    )
    for file in undisturbed.write(tmp_path):
        assert (killed / file.name).read_bytes() == file.read_bytes()
