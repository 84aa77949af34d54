"""Tasks for processes that compile: what is compiled, what fails and what kills its process."""

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
    """Be killed, as by a machine without memory."""
    os.kill(os.getpid(), signal.SIGKILL)


def ends():
    """End the process with an exit code and a last word."""
    print("first word\nlast word", file=sys.stderr, flush=True)
    os._exit(7)


def on_a_full_disk():
    """Compile where no file can grow any more."""
    import resource

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
    quick()


def notes():
    """Add the number of the process to the file that RODSIM_TESTS_NOTE names."""
    with open(os.environ["RODSIM_TESTS_NOTE"], "a") as file:
        file.write(f"{os.getpid()}\n")


def waits():
    """Note the number of the process and do not end."""
    notes()
    time.sleep(600)
