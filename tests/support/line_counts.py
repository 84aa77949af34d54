"""Count lines of code: python -m tests.support.line_counts [FOLDER]

A line counts if it contains code: neither blank nor comment nor part of a docstring. Prints a table by package: files, lines of
code, total lines, docstrings.
"""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PACKAGES = ("rigid", "discretization", "rodsim", "tests", "benchmarks", "examples")
_DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
_SPACE = {
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.COMMENT,
    tokenize.ENDMARKER,
}


class Lines(NamedTuple):
    """Numbers of files and lines."""

    files: int = 0
    code: int = 0
    total: int = 0
    docstrings: int = 0

    def plus(self, other: Lines) -> Lines:
        """Return the sum of both."""
        return Lines(*(a + b for a, b in zip(self, other, strict=True)))


def _docstrings(tree: ast.Module) -> Iterator[ast.expr]:
    """Yield the docstrings of a module, its classes and its functions."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(node, _DOCUMENTED) and body and isinstance(body[0], ast.Expr):
            value = body[0].value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield value


def count_lines(text: str) -> Lines:
    """Count the lines of one file's text."""
    docstrings = list(_docstrings(ast.parse(text)))
    documented = {
        line for docstring in docstrings for line in range(docstring.lineno, (docstring.end_lineno or 0) + 1)
    }
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _SPACE:
            code.update(range(token.start[0], token.end[0] + 1))
    return Lines(1, len(code - documented), text.count("\n"), len(docstrings))


def table(folder: Path = ROOT) -> dict[str, Lines]:
    """Return the counts of each package, over the files that git knows."""
    listed = subprocess.run(
        ["git", "ls-files", "*.py"], cwd=folder, check=True, capture_output=True, text=True
    ).stdout.split("\n")[:-1]
    counts = {}
    for package in PACKAGES:
        lines = Lines()
        for name in listed:
            if name.startswith(f"{package}/"):
                lines = lines.plus(count_lines((folder / name).read_text(encoding="utf-8")))
        counts[package] = lines
    return counts


if __name__ == "__main__":
    print(f"{'':16}{'files':>8}{'code':>8}{'lines':>8}{'docstrings':>12}")
    for name, counts in table(*map(Path, sys.argv[1:2])).items():
        print(f"{name:16}{counts.files:8}{counts.code:8}{counts.total:8}{counts.docstrings:12}")
