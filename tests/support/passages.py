"""Take the prose out of Python and Markdown: paragraphs with the lines of their source, and names."""

from __future__ import annotations

import ast
import inspect
import io
import re
import tokenize
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

CODE = re.compile(r"``.+?``|`[^`]*`|\$[^$]+\$|\]\([^)]*\)|https?://\S+")
ARGUMENTS = re.compile(r"(Parameters|Arguments|Returns|Attributes|Fields):")  # items end with semicolons
COLUMNS = re.compile(r"\S {3,}\S|^[\w, ]+ : ")  # a row of a table, a numbered formula, an argument
MARKER = re.compile(r"(?:[-*+] |\d+\. |>+ )?\s*")


class Passage(NamedTuple):
    """A paragraph without its line breaks: text, and for each source line its number and offset."""

    kind: str
    text: str
    numbers: tuple[int, ...]
    offsets: tuple[int, ...]

    def line(self, offset: int) -> int:
        """Return the number of the source line of a character."""
        return self.numbers[bisect_right(self.offsets, offset) - 1]


def paragraphs(kind: str, lines: Iterable[tuple[int, str]]) -> Iterator[Passage]:
    """Join the lines of each paragraph; blank lines, list items, table rows and changes of indentation separate them."""
    rows: list[tuple[int, str]] = []
    indent = 0

    def joined() -> Iterator[Passage]:
        if rows:
            offsets = [0]
            for _, text in rows[:-1]:
                offsets.append(offsets[-1] + len(text) + 1)
            code = CODE.sub(lambda match: "X" * len(match[0]), " ".join(text for _, text in rows))
            yield Passage(
                "table" if rows[0][1][0] == "|" else kind, code, tuple(n for n, _ in rows), tuple(offsets)
            )
            rows.clear()

    for number, line in lines:
        body = line.strip()
        start = len(line) - len(line.lstrip())
        marker = MARKER.match(body)
        assert marker is not None
        if not body or marker[0] or body[0] in "|#" or start != indent or COLUMNS.search(body):
            yield from joined()
        if body.startswith((">>>", "...", "---", "===", "```", ":::")):
            yield from joined()
        elif body:
            rows.append((number, body))
            indent = start + len(marker[0])
    yield from joined()


def python_passages(source: str, nodes: list[ast.AST]) -> Iterator[Passage]:
    """Yield docstrings, comments and literal texts of three words and more."""
    docstrings, parts = set(), set()
    for node in nodes:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                docstrings.add(id(first.value))
                lines = inspect.cleandoc(str(first.value.value)).split("\n")
                yield from paragraphs("docstring", enumerate(lines, first.lineno))
                yield Passage("opening", lines[0], (first.lineno,), (0,))
    for node in nodes:
        text = ""
        if isinstance(node, ast.JoinedStr):
            parts.update(id(part) for part in node.values)
            text = "".join(part.value if isinstance(part, ast.Constant) else "X" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            text = node.value if id(node) not in parts else ""
        if text.count(" ") > 1:
            yield from paragraphs("message", ((node.lineno, line) for line in text.split("\n")))
    comments = {
        token.start[0]: (token.string.lstrip("#"), token.line.lstrip().startswith("#"))
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    }
    block: list[tuple[int, str]] = []
    for number, (text, alone) in comments.items():
        if block and not (alone and number == block[-1][0] + 1):
            yield from paragraphs("comment", block)
            block = []
        block.append((number, text))
    yield from paragraphs("comment", block)


def names(nodes: list[ast.AST]) -> Iterator[tuple[int, str]]:
    """Yield the line and name of each variable, argument, function and class where it is defined."""
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.lineno, node.name


def page_lines(source: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a Markdown page; those of code, formulas, directives and comments are empty."""
    fence, before, in_list = "", "", False
    for number, line in enumerate(source.split("\n"), 1):
        mark, indented = line.lstrip()[:3], line.startswith("    ")
        if line and not indented:
            in_list = bool(MARKER.match(line)[0]) or (in_list and line[0] == " ")
        code = indented and not in_list and before in ("", "code")
        before = "code" if code else line
        if mark in ("```", "~~~") or line.strip() == "$$":
            fence = "" if fence and mark.startswith(fence) else fence or mark
            yield number, ""
        else:
            yield number, "" if fence or code or mark.startswith((":", "<!-", "![", "[![")) else line


def sentences(passage: Passage) -> Iterator[tuple[int, str]]:
    """Yield the offset and text of each sentence."""
    start = 0
    ends = r";|$" if ARGUMENTS.match(passage.text) else r"[.!?][\")\]*]*\s+(?=[^a-z])|$"
    for end in [match.end() for match in re.finditer(ends, passage.text)]:
        yield start, passage.text[start:end]
        start = end
