"""Audit, extremes, modes and origin of a result as HTML."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from typing import Any

import numpy as np

from rodsim.provenance import versions
from rodsim.reporting.contacts import ContactCurves
from rodsim.reporting.joints import JointLoads
from rodsim.reporting.markup import Safe, count, facts, join, number, table, tag
from rodsim.reporting.strain_extremes import Extremes
from rodsim.results.audit_report import Audit
from rodsim.results.equilibrium_text import describe_start
from rodsim.results.journal import existing
from rodsim.results.result import Result

LARGEST_TEXT = 600_000  # largest number of characters of a scene or description in a page
_VERDICT_WORDS = {True: ("kept", "kept"), False: ("NOT KEPT", "broken"), None: ("–", "untold")}
_HASHED = 2_000_000_000  # size in bytes above which a file is not hashed


def verdict(audit: Audit) -> Safe:
    """Return the verdict of the audit in one line, for the head of the page."""
    judged = [v for v in audit.verdicts if v.kept is not None]
    broken = [v.law for v in judged if v.kept is False]
    if broken:
        return tag("p", f"Not kept: {', '.join(broken)}", class_="verdict broken")
    if not judged:
        return tag("p", "No law that could be judged", class_="verdict untold")
    return tag("p", f"All {len(judged)} laws that can be judged were kept", class_="verdict kept")


def audit_section(audit: Audit) -> Safe:
    """Return the table of all verdicts, in the words and numbers of `rodsim audit`."""
    rows = [
        [v.law, tag("td", _VERDICT_WORDS[v.kept][0], class_=_VERDICT_WORDS[v.kept][1]), v.measured]
        for v in audit.verdicts
    ]
    newton = (
        f"Newton: {audit.newton_mean:.2f} iterations a step, at most {audit.newton_max}; "
        f"{audit.halvings} steps halved."
    )
    measured = f"Recomputed from the states at all {audit.n_outputs:,} outputs of {audit.n_steps:,} steps. "
    verdict_table = table(["law", "verdict", "measured"], rows, plural="laws")
    return join([verdict_table, tag("p", measured + newton, class_="note")])


def extremes_table(extremes: list[Extremes]) -> Safe:
    """Return the table of smallest and largest strains and stresses, with position and time."""
    rows = [
        [
            row.rod,
            f"{row.words} ({row.unit})" if row.unit else row.words,
            *(x for end in (row.low, row.high) for x in (end.value, end.s, end.t)),
        ]
        for row in extremes
    ]
    columns = ["rod", "component", "smallest", "at s (m)", "at t", "largest", "at s (m)", "at t"]
    return table(columns, rows, "Extremes over all elements and all outputs, nothing thinned", "components")


def joints_table(joints: list[JointLoads], outputs: int, of: int) -> Safe:
    """Return the table of largest forces and moments of joints; `outputs` of `of` outputs were evaluated."""
    rows = [
        [
            joint.name if joint.determined else f"{joint.name} (one of many solutions: redundant joints)",
            joint.kind,
            float(joint.force.max()),
            float(joint.moment.max()),
        ]
        for joint in joints
    ]
    evaluated = "all outputs" if outputs == of else f"{outputs:,} of {of:,} outputs"
    columns = ["joint", "kind", "largest |force| (N)", "largest |moment| (N m)"]
    return table(columns, rows, f"Largest forces and moments at {evaluated}", "joints")


def contacts_table(contacts: list[ContactCurves], outputs: int, of: int) -> Safe:
    """Return the table of largest forces, depths, stored energy and dissipation of contacts, at `outputs` of `of` outputs."""
    rows = [
        [
            contact.name,
            int(np.count_nonzero(contact.touching)),
            int(contact.touching.max(initial=0)),
            *(
                float(x.max(initial=0.0))
                for x in (
                    contact.normal,
                    contact.tangential,
                    contact.depth,
                    contact.energy,
                    contact.loss_rate,
                )
            ),
        ]
        for contact in contacts
    ]
    evaluated = "all outputs" if outputs == of else f"{outputs:,} of {of:,} outputs"
    columns = [
        "contact",
        "outputs at which it touches",
        "most pairs",
        "normal force (N)",
        "friction (N)",
        "depth (m)",
    ]
    columns += ["energy stored (J)", "rate of loss (W)"]
    return table(columns, rows, f"The largest at {evaluated}", "contacts")


def modes_table(described: dict[str, Any]) -> Safe:
    """Return the table of modes: frequency, growth and kind."""
    rows = [
        [k + 1, float(mode["Hz"]), float(mode["growth"]), mode["kind"]]
        for k, mode in enumerate(described.get("modes", []))
    ]
    return table(["mode", "frequency (Hz)", "growth (1/s)", "kind"], rows, "Modes", "modes")


def events_table(described: dict[str, Any]) -> Safe:
    """Return the table of limit points and bifurcations along a path of equilibria."""
    rows = [
        [
            event["kind"],
            float(event["load_factor"]),
            ", ".join(f"{name} = {number(x, 6)}" for name, x in event["monitors"].items()),
        ]
        for event in described.get("statics", {}).get("events", [])
    ]
    return table(["event", "load factor", "monitors"], rows, "Events", "events")


def thinning_table(rows: list[tuple[str, int, int]], notes: list[str]) -> Safe:
    """Return the table of what the page omits; `rows`: name, numbers in the result and in the page; `notes`: lines below it."""
    body: list[list[object]] = [
        [what, total, shown, "all" if shown == total else f"1 in {total / shown:.3g}"]
        for what, total, shown in rows
    ]
    content = [
        table(
            ["of the result", "there are", "in this page", "that is"], body, "What this page holds", "rods"
        ),
    ]
    thinned = [row for row in rows if row[2] < row[1]]
    summary = (
        "Pictures and curves of this page are thinned; the audit and the extremes of strains use everything."
        if thinned
        else "Nothing was thinned: every output and every node is in this page."
    )
    return join([tag("p", summary), *content, *(tag("p", line, class_="note") for line in notes)])


def describe_thinning(rows: list[tuple[str, int, int]]) -> str:
    """Return the thinning in one line; empty if nothing was thinned."""
    thinned = [(what, total, drawn) for what, total, drawn in rows if drawn < total]
    if not thinned:
        return ""
    shown = "; ".join(f"{what}: {drawn:,} of {total:,}" for what, total, drawn in thinned[:4])
    suffix = f"; and {len(thinned) - 4} more" if len(thinned) > 4 else ""
    return f"Thinned for this page: {shown}{suffix}."


def origin(result: Result) -> Safe:
    """Return the versions that computed the result and made this page, and the facts of the file."""
    now = versions()
    recorded = result.description.get("provenance", {}).get("versions", {})
    rows = [
        [name, recorded.get(name, "not stored in the file"), now.get(name)] for name in {**now, **recorded}
    ]
    return join(
        [
            table(
                ["", "computed with", "this page made with"], [*rows, ["plotly", "–", _plotly()]], "Versions"
            ),
            facts(_file_facts(result)),
        ]
    )


def scene(result: Result) -> Safe:
    """Return the scene file, and the model as it was built, as JSON."""
    text = result.description.get("provenance", {}).get("scene")
    pieces: list[Safe] = []
    if isinstance(text, str):
        pieces.append(tag("p", "The scene file that this result was computed from:"))
        pieces.append(tag("pre", _cut(text), class_="scene"))
    else:
        pieces.append(tag("p", "The model was built in Python, or by a version that did not store scenes."))
    built = {key: value for key, value in result.description.items() if key != "provenance"}
    listing = tag("pre", _cut(json.dumps(built, indent=1)))
    pieces.append(
        tag("details", join([tag("summary", "The model as it was built, in numbers (JSON)"), listing]))
    )
    return join(pieces)


def _file_facts(result: Result) -> list[tuple[str, object]]:
    """Return label and value of facts of the result: time of the page, fingerprint, start, file and its SHA-256."""
    described = result.description
    start = described.get("start")
    start_words = describe_start(start) if start else None
    rows: list[tuple[str, object]] = [
        ("page made", datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")),
        ("system", described.get("fingerprint")),
        ("began with", start_words),
    ]
    if result.path is not None:
        path = existing(result.path)
        stat = path.stat()
        changed = datetime.fromtimestamp(stat.st_mtime, UTC).strftime("%Y-%m-%d %H:%M UTC")
        rows += [
            ("file", path.name),
            ("size", count(stat.st_size, "byte")),
            ("last written", changed),
        ]
        if stat.st_size <= _HASHED:
            with path.open("rb") as file:
                rows.append(("SHA-256", hashlib.file_digest(file, "sha256").hexdigest()))
    return rows


def _plotly() -> str:
    import plotly

    return str(plotly.__version__)


def _cut(text: str) -> str:
    """Return a text limited to LARGEST_TEXT characters, with a note of how many are missing."""
    if len(text) <= LARGEST_TEXT:
        return text
    return f"{text[:LARGEST_TEXT]}\n... {len(text) - LARGEST_TEXT:,} more characters are in the result"
