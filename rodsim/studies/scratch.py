"""Temporary files of a study: in one folder, which is removed even where the study is killed."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

SCRATCH = "RODSIM_SCRATCH"  # environment of workers: the folder
# a process of its own: it waits until the study has ended, however that came, and clears up
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
    """A folder of this process, removed at the end of the block or of the process."""
    folder = tempfile.mkdtemp(prefix="rodsim-")
    waiting = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _CLEAR_UP, folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # a signal to all of a group is not for it
    )
    try:
        yield Path(folder)
    finally:
        waiting.communicate()


def temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """A folder for one case: in that of the study, where a worker runs it."""
    return tempfile.TemporaryDirectory(prefix="rodsim-", dir=os.environ.get(SCRATCH))
