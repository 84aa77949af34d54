"""Write the table of validation outcomes as text and as HTML."""

from __future__ import annotations

import html
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from rigid.errors import ConvergenceError, ModelError
from rigid.system import Floats
from rodsim.results.atomic_write import atomic_file
from rodsim.validation.case import Case, Outcome, failed, outcomes

COLUMNS = ("case", "quantity", "reference", "value", "error", "tolerance", "", "s")
_STYLE = """body { font: 14px sans-serif; margin: 2em } table { border-collapse: collapse }
td, th { border-bottom: 1px solid #ddd; padding: 3px 8px; text-align: left; vertical-align: top }
.number { font-family: monospace; white-space: nowrap } .PASS { color: #2a7a3a } .FAIL { color: #b00; font-weight: bold }"""


def validate(cases: Iterable[Case], to: TextIO) -> list[Outcome]:
    """Run cases, and write a line for each quantity as soon as it is known; a case that cannot be run has failed."""
    everything: list[Outcome] = []
    to.write(_line(COLUMNS) + "\n")
    for case in cases:
        try:
            results = outcomes(case)
        except (ModelError, ConvergenceError) as error:
            results = failed(case, error)
            to.write(f"{case.name}: {error}\n")
        for k, outcome in enumerate(results):
            to.write(_line(_cells(outcome, first=k == 0)) + "\n")
        to.flush()
        everything += results
    to.write(summary(everything) + "\n")
    return everything


def summary(results: list[Outcome]) -> str:
    """Return one line with the numbers of quantities and cases, and the quantities that fail."""
    bad = [outcome for outcome in results if not outcome.ok]
    seconds = sum({outcome.case: outcome.seconds for outcome in results}.values())
    cases = len({outcome.case for outcome in results})
    failing = f"; FAIL: {', '.join(f'{o.case} {o.quantity}' for o in bad)}" if bad else ""
    return f"{len(results) - len(bad)} of {len(results)} quantities in {cases} cases pass, {seconds:.0f} s{failing}"


def write(results: list[Outcome], folder: Path) -> list[Path]:
    """Write validation.txt and validation.html to `folder`, which is created; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, text in (("validation.txt", as_text(results)), ("validation.html", as_html(results))):
        with atomic_file(folder / name) as file:
            file.write_text(text, encoding="utf-8")
        written.append(folder / name)
    return written


def as_text(results: list[Outcome]) -> str:
    """Format the table as text, with the source and the reason of each tolerance."""
    lines = [_line(COLUMNS)]
    for outcome in results:
        lines += [_line(_cells(outcome)), f"    {outcome.source}; {outcome.why}"]
    return "\n".join([*lines, summary(results)]) + "\n"


def as_html(results: list[Outcome]) -> str:
    """Format the table as a self-contained HTML page."""
    head = "".join(f"<th>{name}</th>" for name in (*COLUMNS, "source; why the tolerance"))
    rows = []
    for outcome in results:
        cells = _cells(outcome)
        classes = ("", "", "number", "number", "number", "number", cells[6], "number", "")
        texts = map(html.escape, (*cells, f"{outcome.source}; {outcome.why}"))
        row = "".join(f'<td class="{name}">{text}</td>' for name, text in zip(classes, texts, strict=True))
        rows.append(f"<tr>{row}</tr>")
    return (
        f"<!doctype html><meta charset='utf-8'><title>Validation of rodsim</title><style>{_STYLE}</style>"
        f"<h1>Validation of rodsim</h1><p>{html.escape(summary(results))}; {time.strftime('%Y-%m-%d')}</p>"
        f"<table><tr>{head}</tr>{''.join(rows)}</table>\n"
    )


def _cells(outcome: Outcome, first: bool = True) -> tuple[str, ...]:
    """Return the cells of one row; the time only in the `first` row of a case."""
    return (
        outcome.case,
        outcome.quantity,
        _shown(outcome.reference),
        _shown(outcome.value),
        f"{outcome.error:.1e}",
        f"{outcome.tolerance:.1e}",
        "PASS" if outcome.ok else "FAIL",
        f"{outcome.seconds:.1f}" if first else "",
    )


def _line(cells: tuple[str, ...]) -> str:
    """Join cells to a line of fixed column widths."""
    widths = (19, 27, 34, 34, 8, 9, 4, 5)
    return "  ".join(f"{cell:{width}s}" for cell, width in zip(cells, widths, strict=True)).rstrip()


def _shown(values: Floats) -> str:
    """Format up to three numbers with six digits; of more than three only the first two, and how many there are."""
    few = len(values) <= 3
    texts = [f"{0.0 if abs(x) < 1e-15 else x:.6g}" for x in values[: 3 if few else 2]]
    return ", ".join(texts) + ("" if few else f", ... ({len(values)})")
