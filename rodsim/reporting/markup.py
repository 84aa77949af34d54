"""Build HTML. All text from files is escaped here; no other module puts text into the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

import numpy as np
from numpy.typing import ArrayLike

MOST_ROWS = 100  # largest number of rows of a table; a note gives the number of omitted rows
SHORT = 24  # texts up to this length are not wrapped; long names next to them may be broken anywhere


class Safe(str):
    """HTML text; any text of another type is escaped."""


def text(value: object) -> Safe:
    """Return a value as HTML, escaped unless it is Safe."""
    return value if isinstance(value, Safe) else Safe(escape(str(value)))


def join(pieces: Iterable[object], between: str = "") -> Safe:
    """Join pieces, each escaped unless it is Safe."""
    return Safe(between.join(text(piece) for piece in pieces))


def tag(name: str, content: object, **attributes: object) -> Safe:
    """Return <name attributes>content</name>; the argument `class_` becomes class, `data_x` becomes data-x."""
    attributes_text = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"' for key, value in attributes.items()
    )
    return Safe(f"<{name}{attributes_text}>{text(content)}</{name}>")


def section(key: str, title: str, *content: object) -> Safe:
    """Return a section with a title; `key`: its anchor."""
    return tag("section", join([tag("h2", title), *content]), id=key)


def table(
    columns: Sequence[str], rows: Sequence[Sequence[object]], caption: str = "", plural: str = "rows"
) -> Safe:
    """Return a table with numbers aligned right; only the first MOST_ROWS rows, and a note on the others. No rows: empty."""
    if not rows:
        return Safe("")
    head = tag("thead", tag("tr", join(tag("th", name) for name in columns)))
    body = tag("tbody", join(tag("tr", join(_cell(value) for value in row)) for row in rows[:MOST_ROWS]))
    title = tag("caption", caption) if caption else Safe("")
    markup = tag("div", tag("table", join([title, head, body])), class_="table")
    if len(rows) > MOST_ROWS:
        markup = join(
            [
                markup,
                tag(
                    "p",
                    f"The first {MOST_ROWS} of {len(rows)} {plural}; {len(rows) - MOST_ROWS} more are in the result.",
                    class_="note",
                ),
            ]
        )
    return markup


def facts(rows: Iterable[tuple[str, object]]) -> Safe:
    """Return a list of labels and values; rows without a value (None or "") are omitted."""
    present = [(key, value) for key, value in rows if value is not None and value != ""]
    return tag("dl", join(join([tag("dt", key), tag("dd", value)]) for key, value in present))


def figure(key: str, title: str, note: str = "", wide: bool = False) -> Safe:
    """Return a figure with the space for a chart that the scripts draw from the data called `key`."""
    under = tag("p", note, class_="note") if note else Safe("")
    return tag(
        "figure",
        join([tag("figcaption", title), tag("div", Safe(""), class_="chart", id=f"chart-{key}"), under]),
        class_="wide" if wide else "half",
    )


def number(value: float, digits: int = 5) -> str:
    """Return a number as text with `digits` significant digits: 1.5, 210000, 2.1e+11."""
    return f"{float(value):.{digits}g}"


def vector(values: ArrayLike, digits: int = 4) -> str:
    """Return a vector as text "(x, y, z)"; components below 1e-12 of the largest are written as 0."""
    array = np.asarray(values, dtype=float).ravel()
    largest = np.abs(array).max(initial=0.0)
    shown = np.where(np.abs(array) <= 1e-12 * largest, 0.0, array) + 0.0
    return "(" + ", ".join(f"{x:.{digits}g}" for x in shown) + ")"


def span(values: ArrayLike, digits: int = 5) -> str:
    """Return the common value of all values as text, or their range 'low … high'; '–' if there are none."""
    array = np.asarray(values, dtype=float).ravel()
    if not array.size:
        return "–"
    low, high = array.min(), array.max()
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        return number(array[0], digits)
    return f"{number(low, digits)} … {number(high, digits)}"


def count(n: int, one: str, many: str = "") -> str:
    """Return a number with a noun: '1 rod', '3 rods', '10,000 elements'."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def _cell(value: object) -> Safe:
    """Return a cell of a table, unless it is one; values that are numbers, or begin with a digit, are aligned right."""
    if isinstance(value, Safe) and value.startswith("<td"):
        return value
    if isinstance(value, bool) or value is None:
        return tag("td", "–" if value is None else ("yes" if value else "no"))
    if isinstance(value, float | np.floating):
        return tag("td", number(float(value)), class_="number")
    if isinstance(value, int | np.integer):
        return tag("td", f"{value:,}", class_="number")
    content = str(value)
    first = content.lstrip("(-−")[:1]
    if first.isdigit():
        return tag("td", value, class_="number")
    return tag("td", value, class_="short") if len(content) <= SHORT else tag("td", value)
