"""Tasks for processes that compile: success, failure and a killed process."""

import os
import signal
import sys
import time


def quick():
    """Compile a small kernel of the program."""
    from rigid.linear_algebra import dot

    assert dot((1.0, 2.0, 3.0), (1.0, 2.0, 3.0)) == 14.0


def nothing():
    """Compile nothing."""


def fails():
    """Raise an error."""
    raise ValueError("no such thing")


def is_killed():
    """Kill the process, as a machine without memory does."""
    os.kill(os.getpid(), signal.SIGKILL)


def ends():
    """End the process with an exit code and a last message."""
    print("first word\nlast word", file=sys.stderr, flush=True)
    os._exit(7)


def on_a_full_disk():
    """Compile while no file can grow any more."""
    import resource

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
    quick()


def notes():
    """Append the process id to the file named by RODSIM_TESTS_NOTE."""
    with open(os.environ["RODSIM_TESTS_NOTE"], "a") as file:
        file.write(f"{os.getpid()}\n")


def waits():
    """Write the process id and do not end."""
    notes()
    time.sleep(600)
