"""Python in a separate process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def ended(
    *arguments: str, cwd: Path = ROOT, without: tuple[str, ...] = (), **environment: str
) -> subprocess.CompletedProcess[str]:
    """Output of a process with these arguments that ended successfully.

    environment: variables in addition to those of this process, some of which may be removed.
    """
    environment_here = {key: value for key, value in os.environ.items() if key not in without}
    completed = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=environment_here | {"PYTHONPATH": str(ROOT)} | environment,
    )
    assert completed.returncode == 0, completed.stderr
    return completed


def said(*arguments: str, **options: object) -> str:
    """Printed text."""
    return ended(*arguments, **options).stdout.strip()  # type: ignore[arg-type]
