"""Temporary files of a study, in one folder that is removed even if the study is killed."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

SCRATCH = "RODSIM_SCRATCH"  # environment variable of workers with the path of the folder
# script of a separate process that waits until the study has ended, for any reason, and removes the folder
_CLEAR_UP = """
import os, shutil, sys, time
sys.stdin.read()
for _ in range(20):
    shutil.rmtree(sys.argv[1], ignore_errors=True)
    if not os.path.exists(sys.argv[1]):
        break
    time.sleep(0.2)
"""


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """Provide a temporary folder that is removed at the end of the block or of this process."""
    folder = tempfile.mkdtemp(prefix="rodsim-")
    waiting = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _CLEAR_UP, folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # signals to the process group do not reach it
    )
    try:
        yield Path(folder)
    finally:
        waiting.communicate()


def temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """Return a temporary folder for one case, inside the study's folder if a worker runs the case."""
    return tempfile.TemporaryDirectory(prefix="rodsim-", dir=os.environ.get(SCRATCH))
