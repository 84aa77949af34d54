"""Connect a study to a Dask scheduler and its workers: a local cluster, a running cluster, or this process alone."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from rodsim.extras import extra
from rodsim.studies.errors import StudyError, StudyStopped
from rodsim.studies.importing import check_guard
from rodsim.studies.scratch import SCRATCH, scratch_folder

LOOK = 1.0  # interval between attempts to connect, s
PATIENCE = 60.0  # waiting time for a scheduler that does not answer and for workers, s


class Place(NamedTuple):
    """Description of a worker: program version, host and cache folder."""

    program: str
    host: str
    cache: str  # folder of compiled code


def place() -> Place:
    """Import the modules that cases need and return the description of this worker; runs on the worker."""
    import socket

    import rodsim.simulation
    from rigid.compilation.cache_folder import CACHE_DIRECTORY
    from rodsim.studies.keys import program

    assert rodsim.simulation is not None
    return Place(program(), socket.gethostname(), CACHE_DIRECTORY)


class Cluster:
    """Cluster of a study: local with `workers` processes, running already at `scheduler`, or this process if `workers` is 0.

    By default a local cluster with one process for each core.
    """

    def __init__(self, scheduler: str | None = None, workers: int | None = None) -> None:
        self.scheduler, self.workers = scheduler, workers
        if scheduler is not None and workers is not None:
            raise StudyError(
                f"workers = {workers}: the scheduler at {scheduler} has its own; leave one of both out"
            )
        self._client: Any = None
        self._opened = contextlib.ExitStack()
        if not self.here:
            extra("distributed", "studies", "a study")
            if scheduler is None:
                extra("cryptography", "studies", "a study with workers of its own")

    @property
    def here(self) -> bool:
        """Return whether cases run in this process."""
        return self.workers == 0

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.drop()

    def client(self) -> Any:
        """Return the client of the cluster; the first call, and the first after `drop`, starts or connects to the cluster."""
        if self._client is None:
            with contextlib.ExitStack() as opened:
                self._client = opened.enter_context(self._connected())
                self._opened = opened.pop_all()
        return self._client

    def drop(self) -> None:
        """Close the client, and stop the cluster if it is local."""
        self._client = None
        self._opened.close()

    @contextlib.contextmanager
    def _connected(self) -> Iterator[Any]:
        """Provide a client of the given scheduler or of a local cluster, which is stopped at the end."""
        from distributed import Client

        for part in ("client", "core", "comm", "nanny", "utils_perf", "batched"):  # reported by rodsim
            logging.getLogger(f"distributed.{part}").setLevel(logging.CRITICAL)
        if self.scheduler is not None:
            with _reached(self.scheduler) as client:
                yield client
            return
        import dask

        # the cluster never writes data to disk
        settings = {
            "distributed.worker.memory.target": False,
            "distributed.worker.memory.spill": False,
            "distributed.worker.memory.transfer": False,
            # if a worker dies twice within this time, Dask ends the nanny that restarts it, and starts none
            "distributed.deploy.lost-worker-timeout": "365 days",
            # Dask always starts HTTP servers; these have no pages
            "distributed.scheduler.http.routes": [],
            "distributed.worker.http.routes": [],
        }
        with dask.config.set(settings), self._local() as local, Client(local) as client:
            yield client

    @contextlib.contextmanager
    def _local(self) -> Iterator[Any]:
        """Provide a local cluster of single-threaded processes with TLS and a temporary folder of its own."""
        import dask
        from dask.system import CPU_COUNT
        from distributed import LocalCluster

        check_guard()
        threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
        with (
            scratch_folder() as scratch,
            dask.config.set({"temporary-directory": str(scratch)}),  # temporary folder of the scheduler
            LocalCluster(
                n_workers=self.workers or CPU_COUNT,
                threads_per_worker=1,
                processes=True,
                security=True,  # TLS with keys of this run: anyone who can connect can run code as this user
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",  # any free port: None would use 8787
                scheduler_kwargs={"dashboard": False},
                silence_logs=logging.CRITICAL,
                local_directory=str(scratch),
                env={**dict.fromkeys(threads, "1"), SCRATCH: str(scratch)},
            ) as cluster,
        ):
            yield cluster


@contextlib.contextmanager
def _reached(address: str) -> Iterator[Any]:
    """Provide a client of a running scheduler; raise StudyStopped if none answers."""
    from distributed import Client

    began = time.monotonic()
    while True:
        try:
            client = Client(address, timeout=min(10.0, PATIENCE))
            break
        except ValueError as error:
            raise StudyError(f"scheduler '{address}': {error}; give one as tcp://HOST:8786") from None
        except OSError:
            if time.monotonic() - began > PATIENCE:
                raise StudyStopped(
                    f"no scheduler answers at '{address}'; start one with `dask scheduler`"
                ) from None
            time.sleep(LOOK)
    try:
        yield client
    finally:
        with contextlib.suppress(Exception):  # the scheduler may be gone
            client.close(timeout=5.0)
