"""Description of the model in words and tables, from the data stored in a result."""

from __future__ import annotations

from typing import Any

import numpy as np

from discretization.constrained_strains import rigid_points
from discretization.interaction_table import springs_of, torsions_of
from discretization.system import System
from rodsim.building.joint_rows import DRIVE
from rodsim.components.surfaces import SURFACES_ON_PARTS
from rodsim.reporting.markup import Safe, count, facts, join, number, span, table, vector
from rodsim.results.gear_history import GEAR
from rodsim.results.layout import Layout, RodLayout
from rodsim.results.result import Result

_STIFFNESSES = ("EA", "GA₂", "GA₃", "GJ", "EI₂", "EI₃")


def describe_model(result: Result) -> str:
    """Return the numbers of parts and the gravity of the model in two sentences."""
    layout, described = result.layout, result.description
    parts = [
        count(n, one, many)
        for n, one, many in (
            (len(layout.rods), "rod", "rods"),
            (len(layout.bodies), "rigid body", "rigid bodies"),
            (sum(joint.kind not in (DRIVE, GEAR) for joint in layout.joints), "joint", "joints"),
            (
                len(described.get("springs", {})) + len(described.get("torsion_springs", {})),
                "spring",
                "springs",
            ),
            (len(described.get("others", {})), "other element", "other elements"),
            (len(described.get("loads", {})) + len(described.get("line_loads", {})), "load", "loads"),
            (len(described.get("gears", {})), "gear", "gears"),
            (len(described.get("contacts", {})), "contact", "contacts"),
            (len(layout.drives), "drive", "drives"),
            (len(described.get("sensors", {})), "sensor", "sensors"),
            (len(described.get("controllers", {})), "controller", "controllers"),
            (len(described.get("events", {})), "event", "events"),
        )
        if n
    ]
    listed_parts = (
        ", ".join(parts[:-1]) + (" and " if len(parts) > 1 else "") + parts[-1] if parts else "nothing"
    )
    elements = sum(len(rod.elements) for rod in layout.rods)
    elements_note = f" ({count(elements, 'rod element')})" if elements else ""
    return f"{listed_parts}{elements_note}. {_gravity(layout)}."


def _gravity(layout: Layout) -> str:
    """Describe magnitude and direction of gravity."""
    if layout.gravity is None:
        return "Gravity is not known"
    if not np.any(layout.gravity):
        return "No gravity"
    return (
        f"Gravity {number(float(np.linalg.norm(layout.gravity)))} m/s², along {vector(_unit(layout.gravity))}"
    )


def _unit(x: Any) -> Any:
    return x / np.linalg.norm(x)


def model_tables(result: Result) -> Safe:
    """Return all tables of the model."""
    layout, described = result.layout, result.description
    return join(
        [
            facts(_integration(described)),
            table(
                [
                    "body",
                    "mass (kg)",
                    "principal moments of inertia (kg m²)",
                    "position at t = 0 (m)",
                    "size (m)",
                ],
                _bodies(layout, described),
                "Rigid bodies",
                "bodies",
            ),
            table(
                ["rod", "length (m)", "elements", "kind", "section (m)", "mass (kg)", "mass a length (kg/m)"],
                [_rod(layout, rod, described) for rod in layout.rods],
                "Rods",
                "rods",
            ),
            table(
                [
                    "rod",
                    *(f"{name} ({'N' if k < 3 else 'N m²'})" for k, name in enumerate(_STIFFNESSES)),
                    "viscous",
                ],
                _sections(layout),
                "Section stiffnesses against stretch, shear, twist and bending; axis 1 is along the rod",
                "rods",
            ),
            table(
                ["joint", "kind", "between", "and", "equations"],
                _joints(layout, described),
                "Joints",
                "joints",
            ),
            table(
                ["spring", "from", "to", "stiffness", "damping", "unstretched"],
                _springs(layout.system, described),
                "Springs and dampers (N/m, N s/m, m; torsion: N m/rad, N m s/rad, rad)",
                "springs",
            ),
            table(
                ["element", "kind", "numbers"],
                _interactions(described),
                "Bushings, laws, limits, drag, friction, pressure",
            ),
            table(["gear", "constant sum"], _gears(described), "Gears", "gears"),
            table(
                ["surface", "kind", "on", "numbers"], _surfaces(described), "Surfaces that touch", "surfaces"
            ),
            table(["contact", "of", "and", "numbers"], _contacts(described), "Contacts", "contacts"),
            table(["load", "kind", "on", "value"], _loads(described), "Loads", "loads"),
            table(["drive", "of", "change from t = 0"], _drives(described), "Prescribed motion", "drives"),
            table(["sensor", "of", "numbers"], _sensors(described), "Sensors", "sensors"),
            table(
                ["controller", "law", "inputs", "outputs", "period (s)"],
                _controllers(described),
                "Controllers",
            ),
            table(["event", "when", "what happens"], _events(described), "Events"),
        ]
    )


def _integration(described: dict[str, Any]) -> list[tuple[str, object]]:
    """Return label and value of the settings of the run, the equilibria or the modes."""
    run, statics = described.get("run", {}), described.get("statics")
    if statics:
        factors = statics["load_factor"]
        reached = f"{number(min(factors))} to {number(max(factors))}" if factors else ""
        return [("equilibria by", statics["method"]), ("load factors", reached), ("points", len(factors))]
    if run.get("integrator") == "modes":
        return [("modes", len(described.get("modes", [])))]
    return [
        ("integrator", run.get("integrator")),
        ("chart", run.get("chart")),
        (
            "time between outputs" if "error" in run else "step h",
            f"{number(run['dt'])} s" if "dt" in run else None,
        ),
        ("error asked", number(run["error"]) if "error" in run else None),
        ("end", f"{number(run['t_end'])} s" if "t_end" in run else None),
        ("steps between outputs", run.get("output_every")),
        ("tolerance", number(run["tolerance"]) if "tolerance" in run else None),
        ("gravity", f"{vector(described['gravity'])} m/s²" if "gravity" in described else None),
    ]


def _bodies(layout: Layout, described: dict[str, Any]) -> list[list[object]]:
    """Return the rows of the table of rigid bodies."""
    rows: list[list[object]] = []
    for body in layout.bodies:
        entry = described.get("bodies", {})
        entry = entry.get(body.name, {}) if isinstance(entry, dict) else {}
        inertia = np.linalg.eigvalsh(entry["inertia"]) if "inertia" in entry else None
        size = np.ptp(body.vertices, axis=0) if len(body.vertices) else None
        rows.append(
            [
                body.name,
                entry.get("mass"),
                None if inertia is None else vector(inertia),
                vector(entry["position"]) if "position" in entry else None,
                None if size is None else " × ".join(number(x, 4) for x in size),
            ]
        )
    return rows


def _rod(layout: Layout, rod: RodLayout, described: dict[str, Any]) -> list[object]:
    """Return the row of a rod in the table of rods."""
    entry = described.get("rods", {})
    entry = entry.get(rod.name, {}) if isinstance(entry, dict) else {}
    length = float(entry.get("length", rod.arclength[-1]))
    mass = None if layout.system is None else float(layout.system.frames.mass[rod.frames].sum())
    return [
        f"{rod.name} (closed)" if rod.closed else rod.name,
        length,
        len(rod.elements),
        entry.get("element"),
        _form(rod),
        mass,
        None if mass is None else mass / length,
    ]


def _form(rod: RodLayout) -> str | None:
    """Return the shape of a rod's section with its size (m); None if it is not known."""
    if np.all(rod.sides > 0):
        return f"{span(rod.sides[:, 0], 4)} × {span(rod.sides[:, 1], 4)}"
    return f"round, radius {span(rod.radius, 4)}" if np.any(rod.radius > 0) else None


def _sections(layout: Layout) -> list[list[object]]:
    """Return the rows of the table of section stiffnesses; empty if the result has no system."""
    if layout.system is None:
        return []
    every = layout.system.rods.points
    stiffnesses = np.einsum("kii->ki", every.stiffness).copy()
    for point, components in rigid_points(layout.system).values():
        stiffnesses[point, components] = np.inf
    rows: list[list[object]] = []
    for rod in layout.rods:
        stiffness = stiffnesses[rod.elements]
        viscous = bool(np.any(every.damping[rod.elements]))
        cells = ("rigid" if np.isinf(column[0]) else Safe(span(column, 4)) for column in stiffness.T)
        rows.append([rod.name, *cells, viscous])
    return rows


def _joints(layout: Layout, described: dict[str, Any]) -> list[list[object]]:
    """Return the rows of the table of joints."""
    entries = described.get("joints", {})
    entries = entries if isinstance(entries, dict) else {}
    rows: list[list[object]] = []
    for joint in layout.joints:
        entry = entries.get(joint.name, {})
        rows.append([joint.name, joint.kind, entry.get("a"), entry.get("b"), joint.rows[1] - joint.rows[0]])
    return rows


def _springs(system: System | None, described: dict[str, Any]) -> list[list[object]]:
    """Return the rows of the table of springs and torsion springs."""
    rows: list[list[object]] = []
    columns: Any = (("springs", springs_of, "length0"), ("torsion_springs", torsions_of, "angle0"))
    for kind, of, reference in columns:
        entries = described.get(kind, {})
        stored: Any = None if system is None else of(system.others)
        for k, (name, entry) in enumerate(entries.items()):
            known = stored is not None and k < len(stored.stiffness)
            rows.append(
                [
                    name,
                    entry["a"],
                    entry["b"],
                    _constant(entry["stiffness"], None),
                    float(stored.damping[k]) if known else None,
                    _constant(
                        entry.get("length" if kind == "springs" else "angle"),
                        float(getattr(stored, reference)[k]) if known else None,
                    ),
                ]
            )
    return rows


def _constant(value: Any, stored: float | None) -> float | str | None:
    """Return a described number, or the stored one if none is described; "varies" for a function of time."""
    if value is None or isinstance(value, int | float):
        return float(value) if stored is None and value is not None else stored
    return "varies"


def _interactions(described: dict[str, Any]) -> list[list[object]]:
    """Return the rows of the table of other interactions: bushings, limits, drag, friction and so on."""
    return [
        [name, str(entry.get("kind", "")), _numbers({k: v for k, v in entry.items() if k != "kind"})]
        for name, entry in described.get("others", {}).items()
    ]


def _gears(described: dict[str, Any]) -> list[list[object]]:
    """Return the rows of the table of gears."""
    return [
        [name, _sum([(term["ratio"], f"{term['of']} of '{term['joint']}'") for term in terms])]
        for name, terms in described.get("gears", {}).items()
    ]


def _surfaces(described: dict[str, Any]) -> list[list[object]]:
    """Return the rows of the table of contact surfaces."""
    return [
        [name, word, entry["on"], _numbers({k: v for k, v in entry.items() if k != "on"})]
        for key, word in ((kind.key, kind.word) for kind in SURFACES_ON_PARTS)
        for name, entry in described.get(key, {}).items()
    ]


def _contacts(described: dict[str, Any]) -> list[list[object]]:
    """Return the rows of the table of contacts."""
    rows: list[list[object]] = []
    for name, entry in described.get("contacts", {}).items():
        sides = [", ".join(entry.get(side, ["each other"])) for side in "ab"]
        rows.append(
            [name, *sides, _numbers({k: v for k, v in entry.items() if k not in ("a", "b", "ignore")})]
        )
    return rows


def _sensors(described: dict[str, Any]) -> list[list[object]]:
    """Return the rows of the table of sensors."""
    rows: list[list[object]] = []
    for name, entry in described.get("sensors", {}).items():
        measured = {key: x for key, x in entry["measure"].items() if key != "of"}
        settings = {key: x for key, x in entry.items() if key in ("noise", "delay")}
        rows.append([name, entry["measure"]["of"].replace("_", " "), _numbers(measured | settings)])
    return rows


def _controllers(described: dict[str, Any]) -> list[list[object]]:
    """Return the rows of the table of controllers."""
    rows: list[list[object]] = []
    for name, entry in described.get("controllers", {}).items():
        law = entry["law"]["law"] if isinstance(entry["law"], dict) else "function of the user"
        names = [", ".join(entry[key]) for key in ("inputs", "outputs")]
        rows.append([name, law, *names, entry.get("period", "each step")])
    return rows


def _events(described: dict[str, Any]) -> list[list[object]]:
    """Return the rows of the table of events."""
    rows: list[list[object]] = []
    for name, entry in described.get("events", {}).items():
        actions = ["the run stops"] if entry["stop"] else []
        actions += [f"{word} {', '.join(entry[word])}" for word in ("release", "engage") if word in entry]
        actions += [f"{output} = {number(value)}" for output, value in entry.get("set", {}).items()]
        rows.append([name, entry["when"], "; ".join(actions)])
    return rows


def _sum(terms: list[tuple[float, str]]) -> str:
    """Return a sum of factors times names as text."""
    terms_text = " + ".join(f"{number(factor)} × {what}" for factor, what in terms)
    return terms_text.replace("+ -", "− ")


def _loads(described: dict[str, Any]) -> list[list[object]]:
    """Return the rows of the table of loads and line loads."""
    rows: list[list[object]] = []
    for name, entry in described.get("loads", {}).items():
        kind = f"{entry['kind']}, following" if entry.get("following") else entry["kind"]
        rows.append([name, kind, entry["on"], _signal(entry.get("value"))])
    for name, entry in described.get("line_loads", {}).items():
        a, b = entry["between"]
        kind = f"{entry['kind']} a length{', following' if entry.get('following') else ''}"
        value = _signal(entry["value"]) if "value" in entry else None  # missing in older files
        rows.append([name, kind, f"rod '{entry['rod']}', {number(a)} to {number(b)} of it", value])
    return rows


def _signal(value: Any) -> str:
    """Return a load or drive value, a signal or a constant, as text."""
    if isinstance(value, dict) and "components" in value:
        return f"({'; '.join(map(_signal, value['components']))})"
    if isinstance(value, dict):
        fields = {k: v for k, v in value.items() if k not in ("signal", "direction")}
        along = f" along {vector(value['direction'])}" if "direction" in value else ""
        return f"{value.get('signal', '')}: {_numbers(fields)}{along}"
    return vector(value) if isinstance(value, list) else str(value)


def _numbers(fields: dict[str, Any]) -> str:
    """Return names and values of fields as text; long lists only by their length."""

    def shown(value: Any) -> str:
        if isinstance(value, dict):
            return f"({_numbers(value)})"
        if isinstance(value, list):
            flat = np.asarray(value, dtype=object).ravel()
            if len(flat) > 12 or not all(isinstance(x, int | float) for x in flat):
                return f"{len(flat)} numbers"
            return vector(flat.astype(float))
        return number(value) if isinstance(value, float | int) else str(value)

    return ", ".join(f"{key} {shown(value)}" for key, value in fields.items())


def _drives(described: dict[str, Any]) -> list[list[object]]:
    """Return the rows of the table of prescribed motions: drives of joints, then driven frames."""
    rows: list[list[object]] = [
        [
            name,
            f"{entry['of']} of joint '{entry['joint']}'",
            _signal(entry["value"]) if "value" in entry else None,
        ]
        for name, entry in described.get("drives", {}).items()
    ]
    return rows + [[name, "motion of the whole frame", None] for name in described.get("driven", {})]
