"""Format small HTML tables for notebooks: names given by users are escaped, long tables are cut with a note."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

MOST_ROWS = 12
_LEFT = "text-align:left;vertical-align:top"


def text(value: Any) -> str:
    """Format a value for reading: numbers to five digits, vectors in brackets."""
    if isinstance(value, bool | np.bool_ | str) or value is None:
        return str(value)
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating):
        return f"{float(value) + 0.0:.5g}"  # no -0
    if isinstance(value, np.ndarray | list | tuple):
        return "[" + ", ".join(text(x) for x in value) + "]"
    return str(value)


def table(
    header: Sequence[str], rows: Iterable[Sequence[Any]], many: int | None = None, most: int = MOST_ROWS
) -> str:
    """Return an HTML table of rows under a header, at most the first `most` rows.

    `many`: total number of rows, if `rows` are cut already.
    """
    all_rows = list(rows)
    count = len(all_rows) if many is None else many
    head = "".join(f'<th style="{_LEFT}">{html.escape(x)}</th>' for x in header)
    body = "".join(
        "<tr>" + "".join(f'<td style="{_LEFT}">{html.escape(text(x))}</td>' for x in row) + "</tr>"
        for row in all_rows[:most]
    )
    left = count - min(len(all_rows), most)
    more = f'<tr><td style="{_LEFT}" colspan="{len(header)}">and {left} more</td></tr>' if left > 0 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}{more}</tbody></table>"


def page(title: str, *parts: str) -> str:
    """Return HTML parts under a title."""
    return f"<div><b>{html.escape(title)}</b>{''.join(parts)}</div>"


def some(names: Sequence[str]) -> str:
    """Return the first `MOST_ROWS` names in a line, and how many more there are."""
    more = f" and {len(names) - MOST_ROWS} more" if len(names) > MOST_ROWS else ""
    return ", ".join(names[:MOST_ROWS]) + more


def line(words: str) -> str:
    """Return a line of text as an HTML element."""
    return f"<div>{html.escape(words)}</div>"
