"""Pieces of HTML. Whatever comes from a file is escaped here, and nowhere else is text put into the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

import numpy as np
from numpy.typing import ArrayLike

MOST_ROWS = 100  # of a table; what is left out is said
SHORT = 24  # letters that stay on one line beside long names, which may be broken anywhere


class Safe(str):
    """HTML; every other text is escaped."""


def text(value: object) -> Safe:
    """A value as HTML."""
    return value if isinstance(value, Safe) else Safe(escape(str(value)))


def join(pieces: Iterable[object], between: str = "") -> Safe:
    """Pieces one after the other."""
    return Safe(between.join(text(piece) for piece in pieces))


def tag(name: str, content: object, **attributes: object) -> Safe:
    """<name attributes>content</name>; `class_` is class, `data_x` is data-x."""
    words = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"' for key, value in attributes.items()
    )
    return Safe(f"<{name}{words}>{text(content)}</{name}>")


def section(key: str, title: str, *content: object) -> Safe:
    """A section with an anchor."""
    return tag("section", join([tag("h2", title), *content]), id=key)


def table(
    columns: Sequence[str], rows: Sequence[Sequence[object]], caption: str = "", plural: str = "rows"
) -> Safe:
    """A table; numbers (given as numbers or as Safe) to the right. Of many rows the first, and how many are left out."""
    if not rows:
        return Safe("")
    head = tag("thead", tag("tr", join(tag("th", name) for name in columns)))
    body = tag("tbody", join(tag("tr", join(_cell(value) for value in row)) for row in rows[:MOST_ROWS]))
    title = tag("caption", caption) if caption else Safe("")
    found = tag("div", tag("table", join([title, head, body])), class_="table")
    if len(rows) > MOST_ROWS:
        found = join(
            [
                found,
                tag(
                    "p",
                    f"The first {MOST_ROWS} of {len(rows)} {plural}; {len(rows) - MOST_ROWS} more are in the result.",
                    class_="note",
                ),
            ]
        )
    return found


def facts(rows: Iterable[tuple[str, object]]) -> Safe:
    """What something is, line by line; without those that have nothing to say."""
    kept = [(key, value) for key, value in rows if value is not None and value != ""]
    return tag("dl", join(join([tag("dt", key), tag("dd", value)]) for key, value in kept))


def figure(key: str, title: str, note: str = "", wide: bool = False) -> Safe:
    """Room for a chart, drawn from the data called `key`."""
    under = tag("p", note, class_="note") if note else Safe("")
    return tag(
        "figure",
        join([tag("figcaption", title), tag("div", Safe(""), class_="chart", id=f"chart-{key}"), under]),
        class_="wide" if wide else "half",
    )


def number(value: float, digits: int = 5) -> str:
    """A number for reading: 1.5, 210000, 2.1e+11."""
    return f"{float(value):.{digits}g}"


def vector(values: ArrayLike, digits: int = 4) -> str:
    """(x, y, z); what is nothing beside the largest is 0."""
    array = np.asarray(values, dtype=float).ravel()
    largest = np.abs(array).max(initial=0.0)
    shown = np.where(np.abs(array) <= 1e-12 * largest, 0.0, array) + 0.0
    return "(" + ", ".join(f"{x:.{digits}g}" for x in shown) + ")"


def span(values: ArrayLike, digits: int = 5) -> str:
    """The number that all values are, or 'from ... to ...'."""
    array = np.asarray(values, dtype=float).ravel()
    if not array.size:
        return "–"
    low, high = array.min(), array.max()
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        return number(array[0], digits)
    return f"{number(low, digits)} … {number(high, digits)}"


def count(n: int, one: str, many: str = "") -> str:
    """'1 rod', '3 rods', '10,000 elements'."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def _cell(value: object) -> Safe:
    if isinstance(value, bool) or value is None:
        return tag("td", "–" if value is None else ("yes" if value else "no"))
    if isinstance(value, float | np.floating):
        return tag("td", number(float(value)), class_="number")
    if isinstance(value, int | np.integer):
        return tag("td", f"{value:,}", class_="number")
    words = str(value)
    first = words.lstrip("(-−")[:1]
    if first.isdigit():
        return tag("td", value, class_="number")
    return tag("td", value, class_="short") if len(words) <= SHORT else tag("td", value)
