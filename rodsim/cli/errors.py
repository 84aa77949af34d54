"""What a user can cause, in words; everything else is a defect of ours and shows a traceback."""

from __future__ import annotations

import sys
from pathlib import Path

from rigid.errors import ConvergenceError, ModelError
from rodsim.cli.exit_codes import NOT_CONVERGED
from rodsim.results.errors import ResultError
from rodsim.scenes.errors import SceneError

USER_ERRORS = (SceneError, ModelError, ResultError, OSError)


def words(error: BaseException) -> str:
    """The message of an error, on as many lines as it has problems."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"'{error.filename}': {error.strerror}"
    return str(error)


def not_converged(error: ConvergenceError, output: Path) -> int:
    """Tell why it ended and where the rest is; the exit code."""
    print(f"rodsim: {error}", file=sys.stderr)
    print(f"rodsim: what was computed before is in '{output}'", file=sys.stderr)
    return NOT_CONVERGED
