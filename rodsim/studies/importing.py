"""Check that a script is guarded: workers of a local cluster import it, and without a guard each would start a cluster."""

from __future__ import annotations

import ast
import multiprocessing
import sys
from pathlib import Path
from types import FrameType

from rodsim.studies.errors import StudyError

CURE = 'put what the script does under `if __name__ == "__main__":`'


def check_guard() -> None:
    """Raise StudyError if the running script would start the study again when a worker imports it."""
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise StudyError(f"a worker imports the script that started it, which starts workers again; {CURE}")
    main = sys.modules.get("__main__")
    file, spec = getattr(main, "__file__", None), getattr(main, "__spec__", None)
    if file is None or (spec is not None and spec.name.endswith("__main__")):
        return  # a notebook, or `python -m package`: workers do not import it
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_globals is vars(main) and frame.f_code.co_name == "<module>":
            if not guarded(Path(file), frame.f_lineno):
                raise StudyError(
                    f"'{file}', line {frame.f_lineno}: workers import this script, and would each begin with the study anew; "
                    f"{CURE}"
                )
            return
        frame = frame.f_back


def guarded(file: Path, line: int) -> bool:
    """Return whether a line of a script is inside an `if` statement; True if the script cannot be read or parsed."""
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return True
    return any(
        isinstance(node, ast.If) and node.lineno <= line <= (node.end_lineno or node.lineno)
        for node in ast.walk(tree)
    )
