"""Measure the compile time of the kernels of each family: python -m benchmarks.compiling [TASK ...]

Each task of `rodsim compile` runs in a separate process with an empty cache. The table has the processor time of
the task and of the kernels of each family in it, in s. `SECONDS` of `rigid.compilation.compile_notices` has the
numbers of these tasks, rounded to 5 s and at least 5 s:

    model: em, time step: schemes, tree: pictures, planar: planar, contact: contact, statics: statics,
    modes: modes, picture: pictures
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from typing import Any

from numba.core import event

from rigid.compilation.compile_notices import FamilyListener
from rodsim.compiling.families import FAMILIES


class _Timer(FamilyListener):
    """Listener that adds up the processor time of the outermost kernels by families."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds: dict[str, float] = {}
        self._family, self._began = "", 0.0

    def on_start(self, started: Any) -> None:
        """Store the time at which an outermost kernel begins."""
        if self.depth == 0:
            self._family, self._began = "others", time.process_time()
        super().on_start(started)

    def on_end(self, ended: Any) -> None:
        """Add the time of an outermost kernel to its family."""
        super().on_end(ended)
        if self.depth == 0:
            spent = time.process_time() - self._began
            self.seconds[self._family] = self.seconds.get(self._family, 0.0) + spent

    def began(self, family: str) -> None:
        """Store the family of the outermost kernel."""
        self._family = family


def measure(task: str) -> None:
    """Run a task in this process and print its times as JSON."""
    timer = _Timer()
    event.register("numba:compile", timer)
    began = time.process_time()
    FAMILIES[task]()
    print(json.dumps({"all": time.process_time() - began} | timer.seconds))


def main(tasks: list[str]) -> None:
    """Measure the tasks, each in a separate process, and print the table."""
    for task in tasks or list(FAMILIES):
        with tempfile.TemporaryDirectory() as folder:
            environment = os.environ | {"NUMBA_CACHE_DIR": folder, "OPENBLAS_NUM_THREADS": "1"}
            command = [sys.executable, "-m", "benchmarks.compiling", "--in-this-process", task]
            completed = subprocess.run(
                command, env=environment, stdout=subprocess.PIPE, text=True, check=True
            )
        times = json.loads(completed.stdout)
        print(
            f"{task:10} " + ", ".join(f"{name} {seconds:.1f}" for name, seconds in times.items()), flush=True
        )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--in-this-process"]:
        measure(sys.argv[2])
    else:
        main(sys.argv[1:])
