"""Messages of the command: errors that a user can cause, warnings on models and runs, and failures to converge.

Any other error is a defect of rodsim and shows a traceback.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rigid.errors import ConvergenceError, ModelError, ModelWarning
from rodsim._compat import OldNameWarning
from rodsim.cli.exit_codes import NOT_CONVERGED
from rodsim.cli.scene_advice import in_scene_terms

_OURS = (ModelWarning, OldNameWarning)


def user_error_classes() -> tuple[type[Exception], ...]:
    """Return the classes of errors that a user can cause; they are imported here, because the help has to be quick."""
    from rodsim.results.errors import ResultError
    from rodsim.scenes.errors import SceneError

    return SceneError, ModelError, ResultError, OSError


def words(error: BaseException) -> str:
    """Return the message of an error, with a line for each problem, in terms of scenes and the command line."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"'{error.filename}': {error.strerror}"
    return in_scene_terms(str(error))


@contextmanager
def one_line_warnings() -> Iterator[None]:
    """Print the warnings of rodsim as single lines, each once; other warnings are shown by Python as usual."""
    with warnings.catch_warnings():
        before, shown = warnings.showwarning, set()

        def show(message: Warning | str, category: type[Warning], *location: Any, **options: Any) -> None:
            if not issubclass(category, _OURS):
                before(message, category, *location, **options)
            elif str(message) not in shown:
                shown.add(str(message))
                print(f"rodsim: {in_scene_terms(str(message))}", file=sys.stderr)

        warnings.showwarning = show
        for category in _OURS:
            warnings.simplefilter("always", category)
        yield


def print_not_converged(error: ConvergenceError, output: Path) -> int:
    """Print why the computation failed and whether a result was saved in `output`; return the exit code."""
    print(f"rodsim: {in_scene_terms(str(error))}", file=sys.stderr)
    if error.result is None or error.result.n_outputs:
        print(f"rodsim: what was computed before is in '{output}'", file=sys.stderr)
    else:
        print("rodsim: nothing was computed before, no result was written", file=sys.stderr)
    return NOT_CONVERGED
