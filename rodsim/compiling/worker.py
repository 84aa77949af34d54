"""Process of `rodsim compile` that compiles one family after the other."""

from __future__ import annotations

import gc
import importlib
import json
import os
import sys
import time
import warnings
from typing import Any, TextIO


def main() -> None:
    """Compile the families that are requested on standard input, until it ends.

    Answers go to the original standard output. What else is printed goes to standard error.
    """
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    gc.disable()  # the compiler leaves little garbage among millions of objects; the search takes a tenth of its time
    serve(sys.stdin, answers)


def serve(requests: TextIO, answers: TextIO) -> None:
    """Answer each request, the address MODULE:FUNCTION of a task, by a line of JSON."""
    for request in requests:
        answers.write(json.dumps(_compiled(request.strip())) + "\n")
        answers.flush()


def _compiled(address: str) -> dict[str, Any]:
    """Call the function at an address.

    Return the number of kernels compiled, processor time (s), the error, and why compiled code is not kept, each "" if there is
    none.
    """
    from numba.core import event

    from rigid.compilation.cache_folder import why_not_cached

    module, _, function = address.partition(":")
    began, fault = time.process_time(), ""
    with event.install_recorder("numba:compile") as recorder:
        try:
            getattr(importlib.import_module(module), function)()
        except Exception as error:  # any error is reported, and the next family compiled
            fault = f"{type(error).__name__}: {error}"
    seconds = time.process_time() - began
    kernels = len(recorder.buffer) // 2
    return {"kernels": kernels, "seconds": seconds, "fault": fault, "not_kept": why_not_cached()}
