"""The pages of the documentation for tests: their blocks of code and other content."""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"])
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LEFT_OUT = re.compile(r"^\s*\.\.\.", re.MULTILINE)  # a placeholder line: a sketch
SKIP = re.compile(r"<!-- not run: [^>]+ -->\s*\Z")  # before a block, with the reason


class Block(NamedTuple):
    """A fenced block of a page."""

    language: str
    code: str
    line: int  # of its first line of code, counted from 1


def blocks(page: Path, *languages: str) -> list[Block]:
    """The blocks of a page in these languages, without those marked as not run and without sketches."""
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    return [
        Block(match.group(1), match.group(2), text.count("\n", 0, match.start()) + 2)
        for match in FENCE.finditer(text)
        if match.group(1) in languages
        and not SKIP.search(text[: match.start()])
        and not LEFT_OUT.search(match.group(2))
    ]


def named(page: Path) -> str:
    """Path of the page in the repository."""
    return page.relative_to(ROOT).as_posix()
