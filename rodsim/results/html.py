"""Format results and audits as small HTML tables for notebooks."""

from __future__ import annotations

from typing import Any

from rodsim.html_tables import line, page, some, table, text
from rodsim.results import native_format
from rodsim.results.array_sources import Source
from rodsim.results.audit_columns import ALGORITHMIC, COLUMNS, ENERGIES


def result_html(source: Source, kind: str) -> str:
    """Return an HTML summary of a result: its time span, its parts, and its energies at the first and the last output.

    `kind`: name of the kind of result, shown in the title.
    """
    layout = source.layout
    parts = [line(words) for words in _summary_lines(source)]
    if layout.rods:
        rows = ((rod.name, len(rod.frames), len(rod.elements), rod.arclength[-1]) for rod in layout.rods)
        parts.append(table(("rod", "nodes", "elements", "last node at (m)"), rows))
    if layout.bodies:
        count = len(layout.bodies)
        parts.append(
            line(f"{count} {'body' if count == 1 else 'bodies'}: {some([x.name for x in layout.bodies])}")
        )
    if layout.joints:
        parts.append(table(("joint", "kind"), ((x.name, x.kind) for x in layout.joints)))
    if source.n_outputs:
        parts.append(_energies(source))
    return page(f"{kind} of '{layout.name}'", *parts)


def _summary_lines(source: Source) -> list[str]:
    """Return the lines of the summary: where the result is stored, the number of outputs, time or load span, and integrator."""
    description = source.layout.description
    run: dict[str, Any] = description.get("run", {})
    lines = ["in memory" if source.path is None else str(source.path)]
    if not source.n_outputs:
        return [*lines, "no output yet"]
    t = source.read(native_format.TIME)
    if "statics" in description:
        factors = description["statics"]["load_factor"]
        lines.append(f"{len(t)} equilibria, load factor {text(factors[0])} to {text(factors[-1])}")
    else:
        dt = f"error = {text(run['error'])}" if "error" in run else f"dt = {text(run.get('dt', 0.0))} s"
        by = f", {run['integrator']}, {dt}" if {"integrator", "dt"} <= set(run) else ""
        lines.append(f"{len(t)} outputs, t = {text(t[0])} to {text(t[-1])} s{by}")
    return lines


def _energies(source: Source) -> str:
    """Return an HTML table of the energies, J, at the first and the last output."""
    audited, t = source.read(native_format.AUDIT), source.read(native_format.TIME)
    names = (*ENERGIES, "work", "dissipation")
    values = {name: audited[:, COLUMNS.index(name)] for name in names}
    if source.layout.n_memory:
        values[ALGORITHMIC] = source.read(ALGORITHMIC).sum(axis=1)
    rows = [(f"t = {text(t[k])}", *(column[k] for column in values.values())) for k in (0, -1)]
    return table(("energy (J)", *values), rows)


def audit_html(audit: Any) -> str:
    """Return an HTML table of an audit: for each law whether it was conserved, and the measured value."""
    labels = {True: "kept", False: "NOT KEPT", None: "-"}
    rows = [(verdict.law, labels[verdict.kept], verdict.measured) for verdict in audit.verdicts]
    summary = "all laws that can be judged were kept" if audit.ok else "a law was broken, see NOT KEPT"
    newton = f"Newton: {audit.newton_mean:.2f} iterations a step, at most {audit.newton_max}; {audit.halvings} steps halved"
    title = f"Audit of '{audit.model}': {summary}"
    return page(title, table(("law", "", "measured"), rows, most=len(rows)), line(newton))
