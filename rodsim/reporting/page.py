"""Write a result as one self-contained HTML file (`report`).

The page contains plotly.js, the scripts of `static/` and all data. Its content security policy allows these scripts by their
hashes and no connection at all: no content of a result file can load or run anything.
"""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

import numpy as np

from rodsim.extras import extra
from rodsim.reporting import result_sections
from rodsim.reporting import time_curves as curves
from rodsim.reporting.contacts import ContactCurves, contact_curves
from rodsim.reporting.embedded_data import script_json
from rodsim.reporting.joints import JointLoads, joint_loads, most_loaded
from rodsim.reporting.markup import Safe, figure, join, section, tag, text
from rodsim.reporting.motion import Motion, motion, motion_data, thicken_rods
from rodsim.reporting.strain_extremes import extremes
from rodsim.reporting.surfaces import coarse_bodies
from rodsim.reporting.tables import describe_model, model_tables
from rodsim.reporting.thinning import MOST_MARKS, Thinning, thinning
from rodsim.results.atomic_write import atomic_file, check_target
from rodsim.results.audit import audit as make_audit
from rodsim.results.audit_report import Audit
from rodsim.results.curves import COLORS, Curve, components, energies, outputs, residuals, sensors
from rodsim.results.drawing import Drawing
from rodsim.results.errors import ResultError, check_path
from rodsim.results.labels import digits_for
from rodsim.results.result import Result, ResultLike, opened

SCRIPTS = ("decode", "motion", "player", "charts", "strains", "main")
NO_MOMENT = 1e-9  # moments below this fraction of force times model size are round-off
RUN, STATICS, MODES = "run", "statics", "modes"


class _Parts(NamedTuple):
    """Contents of the page."""

    result: Result
    kind: str
    axis: str  # label of the slider's variable
    thin: Thinning
    motion: Motion | None
    audit: Audit
    joints: list[JointLoads]
    contacts: list[ContactCurves]


def report(result: ResultLike, path: Path | str) -> Path:
    """Write the report of a result: one page that needs no network.

    Parameters
    ----------
    result : Result, Path or str
        A result, or the path of a result file.
    path : Path or str
        File to write, .html.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    ResultError
        If `result` is not a result or has no output, `path` does not end in .html, or plotly is missing.
    FileNotFoundError, OSError
        If the result cannot be read, or the page cannot be written.

    Examples
    --------
    >>> from rodsim import report
    >>> report("run.vtkhdf", "run.html").name
    'run.html'
    """
    path = check_path("report", path)
    if path.suffix.lower() not in (".html", ".htm"):
        raise ResultError(f"report to '{path}': a report is a web page; end it in .html")
    result = opened("report", result)
    check_target(path, result.path)
    plotly_js = _plotly_js()
    with result.keep_open():
        page = _page(_parts(result), plotly_js)
    with atomic_file(path, result.path) as file:
        file.write_text(page, encoding="utf-8")
    return path


def _plotly_js() -> str:
    """Return the source of plotly.js; raise an error with advice if plotly is not installed."""
    return str(extra("plotly.offline", "report", "a report").get_plotlyjs())


def _parts(result: Result) -> _Parts:
    """Collect the contents of the page from a result."""
    layout, described = result.layout, result.description
    kind, axis = RUN, "t (s)"
    if "statics" in described:
        kind, axis = (
            STATICS,
            "load factor" if described["statics"]["method"] == "newton" else "length of the path",
        )
    elif described.get("run", {}).get("integrator") == "modes":
        kind, axis = MODES, "mode + phase"
    thin = thinning(layout, result.n_outputs)
    drawn = Drawing(layout).n_points or layout.bodies or layout.joints
    moving = motion(result, thin) if drawn else None
    joints = joint_loads(result, thin.joint_outputs) if kind == RUN else []
    contacts = contact_curves(result, thin.joint_outputs) if kind == RUN else []
    return _Parts(result, kind, axis, thin, moving, make_audit(result), joints, contacts)


def _page(parts: _Parts, plotly_js: str) -> str:
    """Return the HTML of the page."""
    result = parts.result
    static = files("rodsim.reporting") / "static"
    script = "\n".join((static / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS)
    figures = _figures(parts)
    data = None
    if parts.motion is not None:
        data = motion_data(result, parts.thin, parts.motion, labels(result, parts.kind, parts.motion))
    sections = _sections(parts, data, figures)
    return Template((static / "page.html").read_text(encoding="utf-8")).substitute(
        policy=text(_policy(plotly_js, script)),
        title=text(result.layout.name),
        css=(static / "page.css").read_text(encoding="utf-8"),
        kind=text(parts.kind),
        axis=text(parts.axis),
        summary=join(
            [tag("p", _span(parts)), tag("p", describe_model(result)), result_sections.verdict(parts.audit)]
        ),
        links=join(tag("a", title, href=f"#{key}") for key, title, _ in sections),
        sections=join(section(key, title, content) for key, title, content in sections),
        motion_data=script_json(data),
        chart_data=script_json(curves.figure_data(figures)),
        plotly=plotly_js,
        script=script,
    )


def _policy(*scripts: str) -> str:
    """Return a content security policy under which only these scripts run and nothing is loaded."""
    hashes = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{code}'" for code in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "form-action 'none'; base-uri 'none'"
    )


def _sections(
    parts: _Parts, data: dict[str, Any] | None, figures: dict[str, Any]
) -> list[tuple[str, str, Safe]]:
    """Return key, title and content of the sections, in the order of the page."""
    result, thin = parts.result, parts.thin
    rows = thin.words(result.layout, result.n_outputs)
    joint_curves = [key for key in figures if key in _JOINT_TITLES]
    contact_figures = [key for key in figures if key in _CONTACT_TITLES]
    signal_figures = [key for key in figures if key in _SIGNAL_TITLES]
    elsewhere = {*joint_curves, *contact_figures, *signal_figures}
    drawn = _grid({key: _FIGURES.get(key, "Load factor") for key in figures if key not in elsewhere})
    sections: list[tuple[str, str, Safe]] = []
    if data is not None and parts.motion is not None:
        sections.append(
            (
                "motion",
                _TITLES[parts.kind],
                _motion_section(parts, data, result_sections.describe_thinning(rows)),
            )
        )
    tables = [result_sections.modes_table(result.description)] if parts.kind == MODES else []
    sections.append(("model", "Model", join([*tables, model_tables(result)])))
    if parts.kind == STATICS:
        sections.append(
            ("path", "Path of equilibria", join([drawn, result_sections.events_table(result.description)]))
        )
    elif drawn:
        sections.append(("invariants", "Energies, momenta, residuals", drawn))
    if parts.joints:
        table = result_sections.joints_table(parts.joints, len(thin.joint_outputs), result.n_outputs)
        sections.append(
            ("joints", "Joints", join([_grid({key: _JOINT_TITLES[key] for key in joint_curves}), table]))
        )
    if parts.contacts:
        table = result_sections.contacts_table(parts.contacts, len(thin.joint_outputs), result.n_outputs)
        drawn = _grid({key: _CONTACT_TITLES[key] for key in contact_figures})
        sections.append(("contacts", "Contacts", join([drawn, table])))
    if signal_figures:
        drawn = _grid({key: _SIGNAL_TITLES[key] for key in signal_figures})
        sections.append(("signals", "Sensors and controllers", drawn))
    if result.layout.rods:
        pieces = [_strain_figures(result, data)] if data and data["fields"] else []
        sections.append(
            ("rods", "Strains along rods", join([*pieces, result_sections.extremes_table(extremes(result))]))
        )
    sections.append(("audit", "Audit", result_sections.audit_section(parts.audit)))
    sections.append(
        ("thinning", "What was thinned", result_sections.thinning_table(rows, _thinning_notes(parts)))
    )
    sections.append(("origin", "Versions and file", result_sections.origin(result)))
    sections.append(("scene", "Scene", result_sections.scene(result)))
    return sections


_TITLES = {RUN: "Motion", STATICS: "Shapes", MODES: "Mode shapes"}


def _span(parts: _Parts) -> str:
    """Return a sentence on the range of the outputs: equilibria, modes or times."""
    t, n = parts.result.t, parts.result.n_outputs
    if parts.kind == STATICS:
        return f"Equilibria: {n:,} points, {parts.axis} {t[0]:g} to {t[-1]:g}."
    if parts.kind == MODES:
        return (
            f"{len(parts.result.description.get('modes', []))} modes of small motions, one after the other."
        )
    run = parts.result.description.get("run", {})
    h = f"error = {run['error']:g}" if "error" in run else f"h = {run.get('dt', 0.0):g} s"
    method = f", {run['integrator']} with {h}" if "dt" in run and "integrator" in run else ""
    return f"Simulated from t = {t[0]:g} to {t[-1]:g} s{method}; {n:,} outputs."


def labels(result: Result, kind: str, drawn: Motion) -> list[str]:
    """Return the text next to the slider for each kept output."""
    t = drawn.t
    digits = digits_for(float(t[-1] - t[0]) / max(1, len(t) - 1))
    if kind == MODES:
        modes = result.description.get("modes", [])
        names = []
        for x in t.tolist():
            k = int(x + 1e-9)
            hertz = f", {modes[k - 1]['Hz']:.4g} Hz" if 0 < k <= len(modes) else ""
            names.append(f"mode {k}{hertz}, phase {x - k:.2f}")
        return names
    if kind == STATICS:
        factors = result.description["statics"]["load_factor"]
        nearest = {float(x): f for x, f in zip(result.t, factors, strict=False)}
        return [f"load factor {nearest.get(x, x):.4g}" for x in t.tolist()]
    return [f"t = {x:.{digits}f} s" for x in t.tolist()]


def _figures(parts: _Parts) -> dict[str, Any]:
    """Return the charts (plotly figures) that have data, by key."""
    result, axis, use = parts.result, parts.axis, parts.thin.curve
    if parts.kind == MODES:
        return {}
    if parts.kind == STATICS:
        statics = result.description["statics"]
        figures = {
            f"monitor{k}": curves.path(
                values, statics["load_factor"], parts.thin.outputs, f"{name} (m)", "load factor"
            )
            for k, (name, values) in enumerate(statics.get("monitors", {}).items())
        }
        return {**figures, "energy": curves.over_time(result, energies(result), use, axis, "energy (J)")}
    newton = Curve("mean since the previous output", result.newton_iterations, COLORS[5])
    figures = {
        "energy": curves.over_time(result, energies(result), use, axis, "energy (J)"),
        "balance": curves.balance(result, use, axis, parts.audit.energy_scale),
        "linear": curves.over_time(result, components(result.linear_momentum, "P"), use, axis, "P (kg m/s)"),
        "angular": curves.over_time(
            result, components(result.angular_momentum, "L"), use, axis, "L (kg m²/s)"
        ),
        "residuals": curves.over_time(result, residuals(result), use, axis, "residuals (SI units)", log=True),
        "newton": curves.over_time(result, [newton], use, axis, "Newton iterations a step"),
    }
    figures = {key: drawn for key, drawn in figures.items() if drawn.data}
    if parts.joints:
        t, shown_ = result.t[parts.thin.joint_outputs], most_loaded(parts.joints, curves.JOINTS_DRAWN)
        figures["forces"] = curves.joint_curves(t, [(j.name, j.force) for j in shown_], axis, "|force| (N)")
        arm = parts.motion.size if parts.motion is not None else 1.0
        if any(joint.moment.max() > NO_MOMENT * arm * joint.force.max() for joint in shown_):
            figures["moments"] = curves.joint_curves(
                t, [(j.name, j.moment) for j in shown_], axis, "|moment| (N m)"
            )
    for key, title in (("pressing", "normal"), ("rubbing", "tangential")) if parts.contacts else ():
        t, forces = (
            result.t[parts.thin.joint_outputs],
            [(contact.name, getattr(contact, title)) for contact in parts.contacts],
        )
        if any(np.any(values > 0.0) for _, values in forces):
            figures[key] = curves.joint_curves(t, forces[: curves.JOINTS_DRAWN], axis, f"{title} force (N)")
    for key, lines in (("sensors", sensors(result)), ("outputs", outputs(result))):
        if lines:
            figures[key] = curves.over_time(result, lines, use, axis, _SIGNAL_TITLES[key].lower())
    return figures


_FIGURES = {
    "energy": "Energies",
    "balance": "Energy balance",
    "linear": "Linear momentum",
    "angular": "Angular momentum about the origin",
    "residuals": "Residuals of joints and quaternions",
    "newton": "Newton iterations",
}
_CONTACT_TITLES = {"pressing": "Normal forces", "rubbing": "Friction"}
_SIGNAL_TITLES = {"sensors": "Sensors", "outputs": "Outputs of controllers"}
_JOINT_TITLES = {"forces": "Forces", "moments": "Moments"}


def _grid(titles: dict[str, str]) -> Safe:
    """Return figures side by side; empty if there are none."""
    if not titles:
        return Safe("")
    return tag("div", join(figure(key, title) for key, title in titles.items()), class_="figures")


def _motion_section(parts: _Parts, data: dict[str, Any], thinned: str) -> Safe:
    """Return the section with the animated motion, its choice of colours, and notes."""
    options = [tag("option", "parts", value="")]
    for name, field in data["fields"].items():
        label = f"{field['words']} ({field['unit']})" if field["unit"] else field["words"]
        options.append(tag("option", label, value=name))
    chosen = _first_color(parts, data)
    options = [Safe(o.replace(f'value="{chosen}"', f'value="{chosen}" selected=""')) for o in options]
    notes = [thinned]
    if parts.motion is not None and (thick := thicken_rods(parts.result, parts.motion)):
        subject = f"Rod '{thick[0]}' is" if len(thick) == 1 else f"{len(thick)} rods are"
        notes.append(f"{subject} drawn thicker than in the model, to be seen.")
    if parts.motion is not None and parts.motion.follows:
        notes.append("The view follows the model, which travels far; the axes show where it is.")
    template = Template((files("rodsim.reporting") / "static" / "motion.html").read_text(encoding="utf-8"))
    return Safe(
        template.substitute(
            options=join(options), note=tag("p", " ".join(n for n in notes if n), class_="note")
        )
    )


def _first_color(parts: _Parts, data: dict[str, Any]) -> str:
    """Return the initial colour: parts ("") if there are several, else the largest strain component of K2, K3, K1, Gamma1."""
    if len(parts.result.layout.rods) + len(parts.result.layout.bodies) > 1:
        return ""
    bending = {k: data["fields"][k]["high"] for k in ("K2", "K3", "K1", "Gamma1") if k in data["fields"]}
    return max(bending, key=lambda name: bending[name], default="")


def _strain_figures(result: Result, data: dict[str, Any]) -> Safe:
    """Return the figures of a strain component over arc length and time, with the choice of rod and component."""
    rods = join(tag("option", rod.name, value=k) for k, rod in enumerate(result.layout.rods))
    fields = {k: v for k, v in data["fields"].items() if k != "speed"} or data["fields"]
    selected = max(
        (k for k in ("K2", "K3", "Gamma1") if k in fields), key=lambda k: fields[k]["high"], default=""
    )
    options = [tag("option", _describe_unit(field), value=name) for name, field in fields.items()]
    options = [Safe(o.replace(f'value="{selected}"', f'value="{selected}" selected=""')) for o in options]
    controls = join(
        [
            tag("label", join(["Rod ", tag("select", rods, id="strain-rod")])),
            tag("label", join(["Component ", tag("select", join(options), id="strain-component")])),
        ]
    )
    note = "At nodes: on straight lines between the middles of elements. The line is where the slider of the motion stands."
    return join(
        [
            tag("div", controls, class_="controls"),
            tag(
                "div",
                join(
                    [
                        figure("strains", "Over place and time", note),
                        figure("profile", "Along the rod at the slider"),
                    ]
                ),
                class_="figures",
            ),
        ]
    )


def _describe_unit(field: dict[str, Any]) -> str:
    """Return the description of a field with its unit."""
    return f"{field['words']} ({field['unit']})" if field["unit"] else str(field["words"])


def _thinning_notes(parts: _Parts) -> list[str]:
    """Return notes on omitted triangles, joint marks and curves of joint forces."""
    layout, lines = parts.result.layout, []
    n_triangles, n_drawn = (
        sum(len(body.faces) for body in bodies) for bodies in (layout.bodies, coarse_bodies(layout.bodies))
    )
    if n_drawn < n_triangles:
        lines.append(f"Surfaces of bodies have {n_triangles:,} triangles; {n_drawn:,} are drawn.")
    if len(layout.joints) > MOST_MARKS:
        lines.append(f"The first {MOST_MARKS} of {len(layout.joints):,} joints are marked in the motion.")
    if len(parts.joints) > curves.JOINTS_DRAWN:
        lines.append(
            f"Forces are drawn of the {curves.JOINTS_DRAWN} joints with the largest of {len(parts.joints):,}; "
            "the table has them all."
        )
    return lines
