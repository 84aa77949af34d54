"""Studies on real clusters: workers and drivers die, cases fail, and the table is that of the undisturbed study to the bit."""

import os
import socket
import ssl
import subprocess
import sys
import time
from pathlib import Path

import dask
import distributed  # noqa: F401, its settings are read before a test changes one
import numpy as np
import psutil
import pytest
from distributed.utils import get_mp_context

from rodsim import Result
from rodsim.cli.main import main
from rodsim.studies import StudyError, Sweep, dispatch, sweep
from rodsim.studies.cases import Recipe, run_batch
from rodsim.studies.cluster import Cluster
from rodsim.studies.keys import program
from rodsim.studies.study_file import read_study
from tests.support.deadly_cases import deadly, troubled

SCENE = Path(__file__).parents[2] / "examples" / "scenes" / "flying_spaghetti.yaml"
PARAMETERS = {"sections.spaghetti.EI": [100.0, 200.0, 400.0], "run.dt": [0.1, 0.05]}
MEASURES = {"far": "final rods.spaghetti.end.displacement.norm", "E": "final energy.total"}


def listening():
    """(address, port) of every TCP socket on which this process and those that it started listen."""
    me = psutil.Process()
    processes = [me, *me.children(recursive=True)]
    sockets = [socket for each in processes for socket in each.net_connections("inet")]
    return {tuple(each.laddr) for each in sockets if each.status == psutil.CONN_LISTEN}


def answers(address, request=b""):
    """What a port sends to someone who connects without a key."""
    with socket.create_connection(address, timeout=5.0) as connection:
        connection.settimeout(1.0)
        connection.sendall(request)
        try:
            return connection.recv(200)
        except OSError:
            return b""


def admits(address):
    """Whether a server of Dask talks by TLS to someone without its key: it would speak first."""
    stranger = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    stranger.check_hostname, stranger.verify_mode = False, ssl.CERT_NONE
    try:
        with (
            socket.create_connection(address, timeout=5.0) as connection,
            stranger.wrap_socket(connection) as encrypted,
        ):
            return encrypted.recv(1) != b""
    except OSError:
        return False


def test_own_workers_listen_on_this_machine_alone_and_only_to_those_with_a_key(quickly_started):
    before = listening()
    with Cluster(workers=1) as own:
        client = own.client()
        client.wait_for_workers(1)
        ports = listening() - before
        servers = {client.scheduler.address, *client.scheduler_info()["workers"]}
        info = client.scheduler_info()["workers"].values()
        servers |= {worker["nanny"] for worker in info}
        ports_of_servers = set()
        for server in servers:
            protocol, address = server.split("://")
            assert protocol == "tls"
            ports_of_servers.add((address.rpartition(":")[0], int(address.rpartition(":")[2])))
        assert len(ports_of_servers) == 3
        assert ports_of_servers <= ports
        assert {address for address, _ in ports} == {"127.0.0.1"}
        for port in ports:  # Dask's servers greet whoever connects, those with TLS say nothing
            assert answers(port) == b""
        for port in ports - ports_of_servers:
            for path in (b"/", b"/status", b"/info/main/workers.html", b"/json/identity.json", b"/metrics"):
                found = answers(port, b"GET " + path + b" HTTP/1.0\r\n\r\n")
                assert found.startswith((b"HTTP/1.1 404", b"HTTP/1.1 302"))
        assert not any(admits(port) for port in ports_of_servers)


def test_a_worker_with_another_program_refuses():
    with pytest.raises(StudyError, match="install the same"):
        run_batch(Recipe(None, {}, "0.0.0+other"), [])


@pytest.fixture
def quickly_started():
    """Workers that are copies of one process that has imported everything: many die here, and each of them starts in 0.1 s
    instead of 1.5 s. How a user's workers start, the last test has.
    """
    with dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}):
        get_mp_context().set_forkserver_preload(["distributed", "pandas", "rodsim.simulation"])
        yield


@pytest.mark.slow
def test_cases_of_killed_workers_are_done_by_others_and_killers_and_failures_told(quickly_started, tmp_path):
    with dask.config.set({"distributed.scheduler.allowed-failures": 0}):  # a worker takes long to start
        found = sweep(deadly, {"x": list(range(12)), "folder": [str(tmp_path)]}, workers=2, progress=False)
    table = found.frame
    assert len(list(tmp_path.glob("death*"))) == 1
    assert list(found.failed) == [5, 7]
    assert found.failed[7] == "ValueError: seven"
    assert "died 1 times" in found.failed[5]
    done = table[table.error == ""]
    assert list(done.y) == [float(x * x) for x in range(12) if x not in (5, 7)]


@pytest.mark.slow
def test_a_study_on_one_worker_outlives_its_death_and_cases_that_do_not_end(
    quickly_started, tmp_path, monkeypatch, capfd
):
    """The first case of a structure is sent to one worker, whose address never comes back."""
    monkeypatch.setattr(dispatch, "QUIET", 1.0)
    found = sweep(troubled, {"x": list(range(5)), "folder": [str(tmp_path)]}, workers=1, limit=1.5)
    assert (tmp_path / "died").exists()
    assert list(found.failed) == [1, 2]
    assert found.failed[1] == "it took longer than the limit of 1.5 s"
    assert "leave sys.exit out" in found.failed[2]
    assert [found.outcomes[k].measures["y"] for k in (0, 3, 4)] == [0.0, 3.0, 4.0]
    told = capfd.readouterr().err.splitlines()
    assert any("no case has ended for" in line for line in told)
    assert len(told) < 60


@pytest.mark.slow
def test_a_scene_is_swept_kept_and_not_done_again(quickly_started, tmp_path, capsys):
    folder = tmp_path / "out"
    more = {"folder": folder, "t_end": 1.0, "workers": 1, "progress": False}
    first = sweep(SCENE, PARAMETERS, MEASURES, keep={"largest": "far"}, **more)
    assert not first.failed
    kept = [first.result_file(k) for k in range(6)]
    assert sum(file is not None for file in kept) == 1
    best = int(np.argmax(first.frame.far))
    r = Result.load(kept[best]).rod("spaghetti").r
    assert np.linalg.norm(r[-1, -1] - r[0, -1]) == pytest.approx(first.frame.far[best], rel=1e-12)
    tables = [(folder / name).read_bytes() for name in ("table.csv", "table.parquet")]
    journal = (folder / "cases.jsonl").read_text().splitlines()

    began = time.monotonic()
    again = sweep(SCENE, PARAMETERS, MEASURES, keep={"largest": "far"}, **more)
    assert time.monotonic() - began < 5.0  # no cluster is started for nothing
    assert (folder / "cases.jsonl").read_text().splitlines() == journal
    assert [(folder / name).read_bytes() for name in ("table.csv", "table.parquet")] == tables
    assert again.dataset["far"].dims == ("sections.spaghetti.EI", "run.dt")
    assert again.dataset["far"].attrs["units"] == "m"

    one_more = {**PARAMETERS, "sections.spaghetti.EI": [100.0, 400.0, 800.0]}
    wider = sweep(SCENE, one_more, MEASURES, **{**more, "workers": 0})
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
def test_a_killed_study_resumes_and_its_table_is_that_of_one_undisturbed(tmp_path, capsys):
    """The driver holds the scheduler: both are killed at once."""
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
    done = journal.read_text().splitlines()
    assert len(done) < 30
    assert not (killed / "table.csv").exists()
    for _ in range(100):
        if not list(scratch.glob("*")):
            break
        time.sleep(0.1)
    assert not list(scratch.glob("*"))  # its workers have ended, and its temporary files are gone
    assert main([*command[3:], "--workers", "0", "-o", str(killed), "--plot", "EI", "far"]) == 0
    assert (killed / "EI-far.png").exists()
    assert journal.read_text().splitlines()[: len(done)] == done
    assert "30 cases, 0 failed" in capsys.readouterr().out
    whole = read_study(tmp_path / "study.yaml")
    # no cluster at all
    here = Sweep(whole, run_batch(Recipe(whole.base, whole.measures, program()), whole.cases))
    for file in here.write(tmp_path):
        assert (killed / file.name).read_bytes() == file.read_bytes()
