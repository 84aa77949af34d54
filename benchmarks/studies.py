"""Measure the overhead of a study, and its failure tolerance: `python -m benchmarks.studies overhead|kills|places`.

overhead    1000 cases of a run of 10 to 25 ms: in this process, on one worker, on two, interleaved
kills       200 cases; a worker is killed every so many seconds and the scheduler once; the table is compared with
            that of the undisturbed study
places      two workers with separate folders and caches of compiled code, as on two machines
"""

from __future__ import annotations

import argparse
import contextlib
import filecmp
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil
from distributed import Client

from rodsim.scenes.reading import read
from rodsim.studies.case_keys import program
from rodsim.studies.cases import Recipe, run_batch
from rodsim.studies.study import Parameter, Study
from rodsim.studies.study_runner import run_study
from rodsim.studies.study_schema import DesignEntry, ParameterEntry
from rodsim.studies.study_targets import FunctionTarget, scene_target
from rodsim.studies.workers import open_workers, run_cases

SCENE = Path(__file__).parent.parent / "examples" / "scenes" / "flying_spaghetti.yaml"
FAR = {"far": "final rods.spaghetti.end.displacement.norm"}


def study(n: int, t_end: float) -> Study:
    """n runs of the spaghetti, of about 10 time units for each second."""
    entry = ParameterEntry(path="sections.spaghetti.EI", low=100.0, high=1000.0, n=n)
    source = read(SCENE)
    parameter = Parameter("EI", entry)
    base = scene_target(
        source.file,
        source.data,
        source.lines,
        None,
        {"EI": parameter.places},
        {"t_end": t_end, "output_every": 1000},
    )
    return Study("benchmark", base, {"EI": parameter}, DesignEntry(), dict(FAR))


# --- overhead


def wait_case(x: float) -> dict[str, float]:
    """A case that takes 10 ms of wall time and no processor time."""
    time.sleep(0.01)
    return {"y": x}


def waiting_study(n: int) -> Study:
    """Cases that wait: on a busy machine the overhead of a study can be distinguished from its cases."""
    entry = ParameterEntry(low=0.0, high=1.0, n=n)
    return Study("waiting", FunctionTarget(wait_case, {}), {"x": Parameter("x", entry)}, DesignEntry(), {})


def overhead(cases: Study, repeats: int) -> None:
    """Seconds for each case: in a loop in this process; on 1 and 2 workers, measured after the first outcome
    of a case that is not the first of its structure.
    """
    n = len(cases.cases)
    recipe = Recipe(cases.base, cases.measures, program())
    run_batch(recipe, cases.cases[:3])  # code is loaded
    print(f"{n} cases, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    for _ in range(repeats):
        began = time.perf_counter(), time.process_time()
        run_batch(recipe, cases.cases[: n // 5])
        alone = 5 * (time.perf_counter() - began[0]) / n
        used = 5 * (time.process_time() - began[1]) / n
        walls = {}
        for workers in (1, 2):
            walls[workers], start, inside, processor = _timed(recipe, cases, workers)
            print(
                f"  {workers} workers: {1e3 * walls[workers] / n:.2f} ms a case (here alone {1e3 * alone:.2f}); "
                f"overhead {1e3 * (workers * walls[workers] / n - inside):.2f} ms a case and worker; processor: "
                f"{1e3 * processor[1]:.2f} ms a case in the workers (here alone {1e3 * used:.2f}), "
                f"{1e3 * processor[0]:.2f} in the driver; start {start:.1f} s",
                flush=True,
            )
        print(f"  speed-up of two workers {walls[1] / walls[2]:.2f}, load {os.getloadavg()[0]:.1f}")


def _timed(recipe: Recipe, cases: Study, workers: int) -> tuple[float, float, float, tuple[float, float]]:
    """Wall seconds of all cases at the pace of the last three quarters, seconds before them, mean inside a
    case; processor seconds of a case in the driver, with the scheduler, and in the workers.
    """
    times: list[float] = []
    inside: list[float] = []
    used: list[tuple[float, float]] = []
    first = len(cases.cases) // 4  # all workers have loaded their code by then

    def duration(outcome: Any) -> None:
        times.append(time.perf_counter())
        inside.append(outcome.seconds)
        if len(times) in (first + 1, len(cases.cases)):
            used.append((time.process_time(), _of_children()))

    began = time.perf_counter()
    with open_workers(workers=workers) as opened:
        run_cases(opened, recipe, cases.cases, duration)
    # batches arrive complete; measured from a time when all workers had loaded their code
    remaining = len(times) - 1 - first
    wall = (times[-1] - times[first]) * len(times) / remaining
    mean = sum(inside[first + 1 :]) / remaining
    driver, other_processes = ((last - before) / remaining for before, last in zip(*used, strict=True))
    return wall, times[first] - began, mean, (driver, other_processes)


def _of_children() -> float:
    """Processor seconds of the child processes."""
    return sum(sum(child.cpu_times()[:2]) for child in psutil.Process().children(recursive=True))


# --- kills


def kills(n: int, t_end: float, every: float, scheduler_at: float) -> bool:
    """Run undisturbed, then with kills: a worker every `every` seconds and the scheduler once; return whether
    the tables are equal.
    """
    with tempfile.TemporaryDirectory() as name:
        quiet, disturbed = Path(name, "quiet"), Path(name, "disturbed")
        began = time.monotonic()
        run_study(study(n, t_end), quiet, progress=False)
        print(f"undisturbed: {time.monotonic() - began:.0f} s, load {os.getloadavg()[0]:.1f}", flush=True)
        port = _free_port()
        stop = threading.Event()
        site = _Site(port, disturbed / "cases.jsonl")
        site.start()
        killer = threading.Thread(target=_kill, args=(site, every, scheduler_at, stop), daemon=True)
        killer.start()
        began = time.monotonic()
        run_study(study(n, t_end), disturbed, scheduler=f"tcp://127.0.0.1:{port}", progress=False)
        stop.set()
        killer.join()
        site.close()
        print(
            f"disturbed: {time.monotonic() - began:.0f} s, killed: {site.killed}, load {os.getloadavg()[0]:.1f}"
        )
        same = all(
            filecmp.cmp(quiet / file, disturbed / file, shallow=False)
            for file in ("table.csv", "table.parquet")
        )
        print("tables are bit-identical" if same else "TABLES DIFFER")
        return same


class _Site:
    """A scheduler and two workers in separate processes, as a user starts them; a process that dies is
    restarted.
    """

    def __init__(self, port: int, journal: Path) -> None:
        self.port, self.journal, self.killed = port, journal, {"workers": 0, "schedulers": 0}
        self.scheduler: Any = None
        self.workers: list[Any] = []

    def start(self) -> None:
        """Start the processes that are not running."""
        if self.scheduler is None or self.scheduler.poll() is not None:
            self.scheduler = _process("scheduler", "--port", str(self.port), "--no-dashboard")
        self.workers = [worker for worker in self.workers if worker.poll() is None]
        while len(self.workers) < 2:
            self.workers.append(_worker(self.port))

    def close(self) -> None:
        """End all processes."""
        for process in [*self.workers, self.scheduler]:
            with contextlib.suppress(psutil.NoSuchProcess):
                for child in psutil.Process(process.pid).children(recursive=True):
                    child.kill()
            process.kill()
            process.wait()


def _kill(site: _Site, every: float, scheduler_at: float, stop: threading.Event) -> None:
    while not (site.journal.exists() and site.journal.stat().st_size) and not stop.wait(0.2):
        site.start()  # the clock starts at the first case
    began = last = time.monotonic()
    while not stop.wait(0.2):
        now = time.monotonic()
        if now - last > every:
            last = now
            with contextlib.suppress(psutil.NoSuchProcess, IndexError):
                # the computing process: a child of the nanny, which starts another
                victim = psutil.Process(site.workers[site.killed["workers"] % 2].pid).children()[-1]
                victim.send_signal(signal.SIGKILL)
                site.killed["workers"] += 1
                print(
                    f"  {now - began:4.0f} s: a worker killed, {_lines(site.journal)} cases done", flush=True
                )
        if site.killed["schedulers"] == 0 and now - began > scheduler_at:
            site.scheduler.kill()
            site.scheduler.wait()
            site.killed["schedulers"] += 1
            print(
                f"  {now - began:4.0f} s: the scheduler killed, {_lines(site.journal)} cases done", flush=True
            )
        site.start()


def _lines(file: Path) -> int:
    return len(file.read_text().splitlines())


def _process(*command: str, cwd: str | None = None, **environment: str) -> Any:
    env = {**os.environ, "PYTHONPATH": str(SCENE.parents[2]), **environment}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_" + command[0], *command[1:]], cwd=cwd, env=env, **quiet
    )


def _worker(port: int, cwd: str | None = None, **environment: str) -> Any:
    options = ("--nthreads", "1", "--no-dashboard", "--death-timeout", "20")
    return _process("worker", f"tcp://127.0.0.1:{port}", *options, cwd=cwd, **environment)


def _free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


# --- places


@contextlib.contextmanager
def two_workers(warm: Path | None) -> Iterator[tuple[str, list[Path]]]:
    """A scheduler with two workers that share nothing on a disk: address, their folders. `warm`: a cache to begin with."""
    port = _free_port()
    with tempfile.TemporaryDirectory() as name:
        folders = [Path(name, "one"), Path(name, "two")]
        scheduler = _process("scheduler", "--port", str(port), "--no-dashboard")
        workers = []
        for folder in folders:
            (folder / "tmp").mkdir(parents=True)
            if warm is not None:
                shutil.copytree(warm, folder / "cache")
            environment = {
                "NUMBA_CACHE_DIR": str(folder / "cache"),
                "TMPDIR": str(folder / "tmp"),
                "HOME": str(folder),
            }
            workers.append(_worker(port, str(folder), **environment))
        try:
            yield f"tcp://127.0.0.1:{port}", folders
        finally:
            for process in [*workers, scheduler]:
                for child in psutil.Process(process.pid).children(recursive=True):
                    child.kill()
                process.kill()
                process.wait()


def compare_places(n: int, t_end: float, warm: Path | None) -> bool:
    """Compare the table of two separate workers with that of one process; print what each has compiled."""
    with tempfile.TemporaryDirectory() as name, two_workers(warm) as (address, folders):
        local_folder, cluster_folder = Path(name, "here"), Path(name, "there")
        with Client(address) as client:
            client.wait_for_workers(2, timeout=600)
            run_study(study(n, t_end), cluster_folder, scheduler=client, progress=False)
            batches = client.run(lambda dask_worker: dask_worker.state.executed_count)
        print(f"batches done by the workers: {list(batches.values())}")
        run_study(study(n, t_end), local_folder, progress=False)
        for folder in folders:
            files = [file for file in folder.rglob("*") if file.is_file()]
            compiled = sum(file.suffix == ".nbc" for file in files)
            other_files = [
                str(file.relative_to(folder))
                for file in files
                if "cache" not in file.relative_to(folder).parts
            ]
            print(f"{folder.name}: {compiled} compiled functions, other files {other_files}")
        same = filecmp.cmp(local_folder / "table.csv", cluster_folder / "table.csv", shallow=False)
        print("tables are bit-identical" if same else "TABLES DIFFER")
        return same


def main(argv: Sequence[str] | None = None) -> int:
    """Print the measurements."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.studies", description=__doc__)
    parser.add_argument("what", choices=["overhead", "kills", "places"])
    parser.add_argument("-n", type=int, help="cases")
    parser.add_argument("--t-end", type=float, help="of each run")
    parser.add_argument("--every", type=float, default=10.0, help="s between kills of a worker")
    parser.add_argument("--scheduler-at", type=float, default=25.0, help="s until the scheduler is killed")
    parser.add_argument(
        "--warm", type=Path, help="places: both begin with a copy of this cache, and need not compile"
    )
    parser.add_argument(
        "--waiting", action="store_true", help="overhead: cases wait 10 ms and compute nothing"
    )
    parser.add_argument("--repeats", type=int, default=2)
    arguments = parser.parse_args(argv)
    if arguments.what == "overhead":
        n = arguments.n or 1000
        overhead(
            waiting_study(n) if arguments.waiting else study(n, arguments.t_end or 0.5), arguments.repeats
        )
        return 0
    if arguments.what == "kills":
        return (
            0
            if kills(arguments.n or 200, arguments.t_end or 60.0, arguments.every, arguments.scheduler_at)
            else 1
        )
    return 0 if compare_places(arguments.n or 40, arguments.t_end or 2.0, arguments.warm) else 1


if __name__ == "__main__":
    raise SystemExit(main())
