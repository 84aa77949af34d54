"""Resolve links from the documentation to files of the repository.

Pages are also read in the repository, and link to its files. In the site a link to a file that is itself a page leads to
that page; for any other file the path is shown. A path that does not exist is an error of the build.
"""

from __future__ import annotations

import os.path
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)
ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
# files elsewhere that pages of the site include
PAGES = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "benchmarks/README.md": "evidence/benchmarks.md",
}
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:|mailto:|#)([^)#\s]+)(#[^)]*)?\)")


def resolved(text: str, folder: Path, page: Path) -> str:
    """Return `text`, written in `folder`, with links that work on the site page `page` (a path in docs)."""

    def link(match: re.Match[str]) -> str:
        words, target, anchor = match.group(1), match.group(2), match.group(3) or ""
        path = (folder / target).resolve()
        if not path.exists() and path.suffix != ".html":
            LOGGER.warning("there is no '%s' to link to", target, location=str(page))
            return words
        inside = path.relative_to(ROOT).as_posix()
        if inside in PAGES:
            path = DOCS / PAGES[inside]
        if path.is_relative_to(DOCS):
            relative = Path(os.path.relpath(path, page.parent)).as_posix()
            return f"[{words}]({relative}{anchor})"
        plain = words.replace("`", "")
        return f"`{inside}`" if plain.rstrip("/") in (inside, path.name) else f"{words} (`{inside}`)"

    return LINK.sub(link, text)


def listed(index: str, existing: set[str]) -> str:
    """Return the index with the `existing` pages in place of lines `?name` and `?folder/*`.

    `?*` stands for the pages that are not named elsewhere.
    """
    named = set(re.findall(r"^\??([\w/]+)$", index, re.MULTILINE))

    def pages(match: re.Match[str]) -> str:
        name = match.group(1)
        if name.endswith("*"):
            folder = name[:-1]
            fits = sorted(
                page for page in existing if page.startswith(folder) and "/" not in page[len(folder) :]
            )
            fits = [page for page in fits if page not in named and page != "index"]
        else:
            fits = [name] if name in existing else []
        return "".join(f"{page}\n" for page in fits)

    return re.sub(r"^\?([\w/]*\*?)\n", pages, index, flags=re.MULTILINE)


def read(app: Sphinx, name: str, source: list[str]) -> None:
    """Resolve the links of a page, and complete the index."""
    page = DOCS / f"{name}.md"
    if name == "index":
        source[0] = listed(source[0], set(app.env.found_docs))
    if page.exists():
        source[0] = resolved(source[0], page.parent, page)


def included(app: Sphinx, path: Path, parent: str, text: list[str]) -> None:
    """Resolve the links of a file of the repository that a page includes."""
    text[0] = resolved(text[0], (app.srcdir / path).resolve().parent, DOCS / f"{parent}.md")


def setup(app: Sphinx) -> dict[str, Any]:
    """Process every page before it is parsed."""
    app.connect("source-read", read)
    app.connect("include-read", included)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
