"""Cases of studies that kill their workers, or do not end. A new worker imports this file, which imports nothing heavy."""

import os
import signal
import sys
import time
from pathlib import Path


def cases_killing_workers(x, folder):
    """A case that kills its worker once, one that always does, one that fails; the others are squares."""
    if x == 3 and not list(Path(folder).glob("death*")):
        (Path(folder) / f"death{time.time_ns()}").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if x == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    if x == 7:
        raise ValueError("seven")
    return {"y": float(x * x)}


def cases_with_failures(x, folder):
    """The first case kills its worker once, one never ends, one exits the program."""
    if x == 0 and not (Path(folder) / "died").exists():
        (Path(folder) / "died").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if x == 1:
        time.sleep(1000.0)
    if x == 2:
        sys.exit(3)
    return {"y": float(x)}
