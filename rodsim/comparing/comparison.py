"""Compare two results point by point, energy by energy and joint by joint: `compare`."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from discretization.characteristic_length import extent
from rigid import quaternions
from rigid.checks import number, shown
from rigid.system import Floats
from rodsim.comparing.material_points import default_points, describe_parts, motion, parts_of
from rodsim.comparing.time_alignment import Aligned, Pair, Series, aligned
from rodsim.components.point_syntax import parse_point
from rodsim.html_tables import line, page, table, text
from rodsim.results.atomic_write import atomic_file
from rodsim.results.audit_columns import ALGORITHMIC, ENERGIES
from rodsim.results.errors import ResultError, check_path
from rodsim.results.gear_history import GearHistory
from rodsim.results.joint_history import JointHistory
from rodsim.results.part_energies import PartEnergy, energies_by_part
from rodsim.results.result import Result, check_result

if TYPE_CHECKING:
    from rodsim.model import Model

LARGEST_EXCURSION = "the farthest that a point goes in A"
MAX_ROWS = 60  # largest number of rows of the table in text
REPORTED_ERROR = 1e-9  # relative to the scale: smaller interpolation errors are not reported
LONGEST_NAME = 80  # largest number of characters of a result's name in one line


class Row(NamedTuple):
    """Difference of one quantity: norms of differences of vectors over the common times."""

    kind: str  # "point", "turn", "energy", "part energy", "joint force", "sensor", "controller"
    quantity: str
    unit: str
    scale: float  # reference value of relative differences
    of_scale: str  # description of the scale
    largest: float  # largest difference
    at: float  # time of the largest difference, s
    final: float  # difference at the last common time
    rms: float  # root mean square over time
    interpolation: float  # estimated error of interpolation in time

    @property
    def relative(self) -> float:
        """Relative difference largest/scale; 0 if both are zero."""
        return self.largest / self.scale if self.scale > 0.0 else (np.inf if self.largest > 0.0 else 0.0)


@dataclass(frozen=True)
class Comparison:
    """Differences of two results, as `compare` returns them; `a` is the reference.

    Parameters
    ----------
    a, b : str
        Names of the results.
    rows : list of Row
        One for each quantity. Its field `kind` is "point", "turn", "energy", "part energy", "joint force", "sensor" or
        "controller". The others are `quantity`, `unit`, `largest`, `at` (time of the largest difference, s), `final`, `rms`,
        `scale`, `of_scale`, `interpolation` (estimated error of interpolation in time) and `relative` (largest/scale).
    points : list of Pair
        Paths of the points in both results at common times, m.
    energies : list of Pair
        Energies in both results, J.
    forces : list of Pair
        Forces of joints in both results.
    notes : list of str, optional
        Remarks, such as the names of parts that only one result has. By default none.

    Examples
    --------
    >>> from rodsim import compare
    >>> comparison = compare("run.vtkhdf", result)
    >>> comparison.within(1e-9)
    True
    >>> comparison.rows[0].kind, comparison.rows[0].unit
    ('point', 'm')
    """

    a: str
    b: str
    rows: list[Row]
    points: list[Pair]
    energies: list[Pair]
    forces: list[Pair]
    notes: list[str] = field(default_factory=list)

    def __repr__(self) -> str:
        return (
            f"<Comparison of {_short(self.a)} with {_short(self.b)}: {len(self.rows)} quantities, points apart by up to "
            f"{self.worst('point'):.3g} of the way, turns by {self.worst('turn'):.3g} rad>"
        )

    def worst(self, kind: str = "point") -> float:
        """Return the largest relative difference of one kind of quantity.

        Parameters
        ----------
        kind : {"point", "turn", "energy", "part energy", "joint force", "sensor", "controller"}, default "point"
            Kind of the rows.

        Returns
        -------
        float
            Largest difference over its scale; for kind "turn" in rad. 0 if there is no such row.
        """
        return max((row.relative for row in self.rows if row.kind == kind), default=0.0)

    def within(self, tolerance: float) -> bool:
        """Return whether points and rotations differ by no more than a tolerance.

        Parameters
        ----------
        tolerance : float
            Positive. For points relative to the largest displacement of a point in A, for rotations in rad.

        Returns
        -------
        bool

        Raises
        ------
        ModelError
            If `tolerance` is not a positive number.
        """
        limit = number("compare", "within", tolerance, positive=True)
        return max(self.worst("point"), self.worst("turn")) <= limit

    def text(self) -> str:
        """Return the table and the notes as text.

        Returns
        -------
        str
            At most 60 rows; a .csv file has all, see `write`.
        """
        lines = [f"A: {self.a}", f"B: {self.b}", ""]
        rows = self.rows[:MAX_ROWS]
        width = max([len(row.quantity) for row in rows] + [8])
        head = f"{'|A - B| of':{width}s}  {'largest':>10s}  {'at t (s)':>9s}  {'final':>10s}  {'rms':>10s}  {'relative':>9s}"
        lines.append(f"{head}  to")
        for row in rows:
            lines.append(
                f"{row.quantity:{width}s}  {row.largest:10.3e}  {row.at:9.4g}  {row.final:10.3e}  {row.rms:10.3e}  "
                f"{row.relative:9.2e}  {row.scale:.4g} {row.unit}, {row.of_scale}"
            )
        if len(self.rows) > MAX_ROWS:
            lines.append(f"and {len(self.rows) - MAX_ROWS} rows more; a .csv file has all")
        return "\n".join(lines + [f"note: {note}" for note in self.notes])

    def _repr_html_(self) -> str:
        """Return the table and the notes as HTML, for notebooks."""
        header = ("|A - B| of", "largest", "at t (s)", "final", "rms", "relative", "to")
        rows = [
            (
                x.quantity,
                x.largest,
                x.at,
                x.final,
                x.rms,
                x.relative,
                f"{text(x.scale)} {x.unit}, {x.of_scale}",
            )
            for x in self.rows
        ]
        notes = [line(f"note: {note}") for note in self.notes]
        shown = table(header, rows, most=MAX_ROWS)
        return page("Comparison", line(f"A: {self.a}"), line(f"B: {self.b}"), shown, *notes)

    def csv(self) -> str:
        """Return all rows as comma-separated values, with a header line.

        Returns
        -------
        str
            One line for each row: its fields and "relative".
        """
        to = io.StringIO()
        writer = csv.writer(to, lineterminator="\n")
        writer.writerow([*Row._fields, "relative"])
        for row in self.rows:
            writer.writerow([*(repr(x) if isinstance(x, float) else x for x in row), repr(row.relative)])
        return to.getvalue()

    def to_json(self) -> str:
        """Return names, rows and notes as JSON.

        Returns
        -------
        str
            An object with the keys "a", "b", "rows" and "notes".
        """
        rows = [{**row._asdict(), "relative": row.relative} for row in self.rows]
        return json.dumps({"a": self.a, "b": self.b, "rows": rows, "notes": self.notes}, indent=2)

    def write(self, path: Path | str) -> Path:
        """Write the table to a file.

        Parameters
        ----------
        path : Path or str
            File to write, .csv, .json or .txt.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        ResultError
            If `path` has another ending.
        """
        target = check_path("compare", path)
        as_text = {".csv": self.csv, ".json": self.to_json, ".txt": lambda: self.text() + "\n"}
        if target.suffix.lower() not in as_text:
            raise ResultError(
                f"compare: '{target}': no table of kind '{target.suffix}'; end it in .csv, .json or .txt"
            )
        with atomic_file(target) as file:
            file.write_text(as_text[target.suffix.lower()](), encoding="utf-8")
        return target

    def plot(self, path: Path | str) -> Path:
        """Draw positions of points, their distances, energies and joint forces of both results.

        Parameters
        ----------
        path : Path or str
            File to write, .png, .pdf or .svg.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        ResultError
            If `path` has an ending that cannot be drawn.
        """
        from rodsim.comparing.comparison_plot import draw

        title = f"A (full): {self.a}\nB (dashed): {self.b}"
        return draw(title, self.points, self.energies, self.forces, check_path("compare", path))


def compare(
    a: Result | Model | Path | str,
    b: Result | Model | Path | str,
    points: Sequence[str] | None = None,
    names: tuple[str, str] | None = None,
) -> Comparison:
    """Compare two results, for instance of one mechanism with different stiffness, integrator, step or mesh.

    Parameters
    ----------
    a, b : Result, Model, Path or str
        Results, paths of result files, or paths of scenes, which are run; `a` is the reference. One of them may be a `Model`: it
        is run in memory with the end time, step, integrator, chart, tolerance and outputs of the other.
    points : sequence of str, optional
        Material points, as "block", "block@0.1,0,0" (m, body axes), "cord@0.5" (fraction of the length); if the names differ,
        "bar 10@0.1,0,0=cord@1". By default reference points of all bodies, and start, middle and end of all rods that both
        results have.
    names : pair of str, optional
        Names of the results. By default their files.

    Returns
    -------
    Comparison
        `rows` of the largest differences, `text` as a table, `worst` and `within` for tests.

    Raises
    ------
    ResultError
        If no part has the same name in both, a point does not exist, there is no common time, or nothing defines how to run a
        model.
    ModelError, SceneError, ConvergenceError
        If a scene or model that is run raises them.

    Examples
    --------
    >>> from rodsim import compare
    >>> compare("run.vtkhdf", result).worst()
    0.0
    """
    from rodsim.comparing.operands import comparison_results  # loads the modules that run models

    opened = comparison_results(a, b)
    for result in opened:
        check_result("compare", result)
    first, second = opened
    called = names or (_name_of(first, "A"), _name_of(second, "B"))
    files = (f"A ({called[0]})", f"B ({called[1]})")
    notes: list[str] = []
    chosen = _point_pairs(first, second, files, points, notes)
    both = _Comparer(first, second, files, [])
    pairs = _points(both, chosen, notes)
    energies, forces = _energies(both), _forces(both)
    _signals(both)
    rows = both.rows
    inaccurate = [row for row in rows if row.interpolation > REPORTED_ERROR * row.scale]
    if inaccurate:
        worst = max(inaccurate, key=lambda row: row.interpolation / max(row.scale, 1e-300))
        notes.append(
            "outputs are at other times: interpolated by cubic splines, whose own error, estimated from every second output, "
            f"is at most {worst.interpolation:.2g} {worst.unit} ({worst.quantity})"
        )
    for file, result in zip(files, opened, strict=True):
        notes += [f"{file}: {note}" for note in result.description.get("rigid_twin", [])]
    if abs(first.t[-1] - second.t[-1]) > 1e-9 * np.ptp(first.t):
        notes.append(
            f"A ends at t = {first.t[-1]:g} s, B at {second.t[-1]:g} s: compared as far as both reach"
        )
    return Comparison(*called, rows, pairs, energies, forces, notes)


def _short(name: str) -> str:
    """Return a name cut to at most LONGEST_NAME characters."""
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 3]}..."


def _name_of(result: Result, otherwise: str) -> str:
    """Return the name of a result: its file or model, with integrator and step."""
    run = result.description.get("run", {})
    method = ", ".join(
        f"{key} = {run[key]}" for key in ("integrator", "error" if "error" in run else "dt") if key in run
    )
    method = f"rigid twin, {method}" if "rigid_twin" in result.description else method
    location = str(result.path) if result.path else f"{result.layout.name} ({otherwise})"
    return f"{location}: {method}" if method else location


def _point_pairs(
    a: Result, b: Result, files: tuple[str, str], points: Sequence[str] | None, notes: list[str]
) -> list[tuple[str, str]]:
    """Return the pairs of points to compare, by their names in each result; add a note about parts that only one has."""
    if points is not None:
        if isinstance(points, str) or not all(isinstance(text, str) for text in points):
            raise ResultError(f"compare: points = {shown(points)}; give a list of names")
        return [_split_names(text, a, b) for text in points]
    defaults = default_points(a, b)
    available = f"{files[0]} has {describe_parts(a)}; {files[1]} has {describe_parts(b)}"
    if not defaults:
        raise ResultError(
            f"compare: no part is in both by the same name: {available}; give points, as 'part of A@1=part of B@1'"
        )
    unmatched = set(parts_of(a)) ^ set(parts_of(b))
    if unmatched:
        notes.append(f"not in both: {', '.join(sorted(unmatched))}; {available}")
    return [(text, text) for text in defaults]


def _split_names(text: str, a: Result, b: Result) -> tuple[str, str]:
    """Return the names on both sides of "=", unless a part has "=" in its name."""
    known = {*parts_of(a), *parts_of(b)}
    point = parse_point(text, known)
    if "=" not in text or (point.part in known and "=" not in point.where):
        return text, text
    one, _, two = text.partition("=")
    return one.strip(), two.strip()


class _Comparer(NamedTuple):
    """Two results, and the rows of the quantities that have been compared."""

    a: Result
    b: Result
    files: tuple[str, str]  # names of both, for messages
    rows: list[Row]

    def aligned(self, in_a: Floats, in_b: Floats) -> Aligned:
        """Return two histories, at the outputs of a and of b, at common times."""
        return aligned(Series(self.a.t, in_a), Series(self.b.t, in_b), self.files)

    def add(
        self, kind: str, quantity: str, unit: str, scale: float, scale_description: str, aligned: Aligned
    ) -> None:
        """Add the row of the difference of two aligned histories."""
        gap = (
            np.abs(aligned.a - aligned.b)
            if aligned.a.ndim == 1
            else np.linalg.norm(aligned.a - aligned.b, axis=1)
        )
        k, t = int(np.argmax(gap)), aligned.t
        rms = float(np.sqrt(np.diff(t) @ (gap[1:] ** 2 + gap[:-1] ** 2) / 2 / np.ptp(t)))
        measures = float(gap[k]), float(t[k]), float(gap[-1]), rms
        self.rows.append(Row(kind, quantity, unit, scale, scale_description, *measures, aligned.rounding))


def _points(both: _Comparer, chosen: list[tuple[str, str]], notes: list[str]) -> list[Pair]:
    """Compare positions and rotations of points: add rows and notes, and return the paths of the points."""
    pairs, between, rotating = [], [], set()
    path_lengths: list[float] = []
    for texts in chosen:
        motion_a, motion_b = (
            motion(result, file, text)
            for result, file, text in zip((both.a, both.b), both.files, texts, strict=True)
        )
        label = texts[0] if texts[0] == texts[1] else f"{texts[0]} = {texts[1]}"
        between += [
            f"{x.label} of {f[0]}"
            for x, f in zip((motion_a, motion_b), both.files, strict=True)
            if x.between_nodes
        ]
        aligned = both.aligned(motion_a.r, motion_b.r)
        path_lengths.append(float(np.linalg.norm(aligned.a - aligned.a[0], axis=1).max()))
        both.add("point", label, "m", 0.0, LARGEST_EXCURSION, aligned)
        pairs.append(aligned.pair(label))
        # a rigid body has one rotation, reported once for each body; rotations count from the start, regardless of the axes
        both_bodies = motion_a.part in both.a.bodies and motion_b.part in both.b.bodies
        if not both_bodies or (motion_a.part, motion_b.part) not in rotating:
            rotating.add((motion_a.part, motion_b.part))
            _add_rotation(both, label, motion_a.quat, motion_b.quat)
    # one scale for all points: for a point that hardly moves every difference would be large relative to its path
    both.rows[:] = [
        row._replace(scale=max(path_lengths)) if row.kind == "point" else row for row in both.rows
    ]
    if between:
        notes.append(f"between nodes, by the curve of constant strain through both: {', '.join(between)}")
    return pairs


def _add_rotation(both: _Comparer, label: str, qa: Floats, qb: Floats) -> None:
    """Compare rotations since the start: add the row of the angle between R_a(t) R_a(0)^T and R_b(t) R_b(0)^T."""
    since = []
    for quat in (qa, qb):
        rotations = quaternions.multiply(quat, quaternions.conjugate(quat[0]))
        flips = np.sum(rotations[1:] * rotations[:-1], axis=1) < 0
        rotations[1:][np.cumsum(flips) % 2 == 1] *= -1.0
        since.append(rotations)
    aligned = both.aligned(*since)
    ua, ub = quaternions.normalize(aligned.a), quaternions.normalize(aligned.b)
    gap = quaternions.to_rotation_vector(quaternions.multiply(quaternions.conjugate(ua), ub))
    angles = Aligned(aligned.t, gap, 0.0 * gap, 2 * aligned.rounding)
    both.add("turn", f"{label}, turn", "rad", 1.0, "one radian", angles)


def _energies(both: _Comparer) -> list[Pair]:
    """Compare the energies of the models, then those of the parts that both have: add rows, and return the histories."""
    pairs = []
    columns = [*ENERGIES, "work", "dissipation", ALGORITHMIC]
    histories = {name: (both.a.audit_column(name), both.b.audit_column(name)) for name in columns}
    exchanged = max(float(np.ptp(in_a)) for in_a, _ in histories.values())
    scale = "J", exchanged, "the largest change of an energy in A"
    for name, (in_a, in_b) in histories.items():
        if not (np.any(in_a != 0) or np.any(in_b != 0)):
            continue
        aligned = both.aligned(in_a, in_b)
        word = name if name in ("work", "dissipation", ALGORITHMIC) else f"{name} energy"
        both.add("energy", word, *scale, aligned)
        pairs.append(aligned.pair(name))
    energies_a, energies_b = energies_by_part(both.a), energies_by_part(both.b)
    for part in energies_a:
        for kind in PartEnergy._fields if part in energies_b else ():
            in_a, in_b = getattr(energies_a[part], kind), getattr(energies_b[part], kind)
            if np.any(in_a != 0) or np.any(in_b != 0):
                both.add("part energy", f"{part}: {kind}", *scale, both.aligned(in_a, in_b))
    return pairs


def _forces(both: _Comparer) -> list[Pair]:
    """Compare joint forces and moments: add rows, and return the histories of the forces."""
    pairs = []
    results = both.a, both.b
    size = extent(both.a.state(0).r)  # frames at one position still have lever arms: those of their bodies
    if any(len(r.t) < 2 or r.layout.constraints is None for r in results):
        return []
    for name in both.a.joints:
        if name not in both.b.joints:
            continue
        carried_a, carried_b = (_joint_loads(r.joint(name)) for r in results)
        strongest = np.abs(carried_a["force"]).max() * size if "force" in carried_a else 0.0
        for what in [what for what in carried_a if what in carried_b]:
            in_a, in_b = carried_a[what], carried_b[what]
            largest = max(np.abs(in_a).max(initial=0.0), np.abs(in_b).max(initial=0.0))
            if largest == 0.0 or (what == "moment" and largest < REPORTED_ERROR * strongest):
                continue  # a joint that transmits no moment has one of round-off size
            aligned = both.aligned(in_a, in_b)
            scale = float(np.linalg.norm(aligned.a, axis=1).max())
            unit = "N" if what.startswith("force") else "N m"
            both.add("joint force", f"joint {name}, {what}", unit, scale, f"the largest {what} in A", aligned)
            if what == "force":
                pairs.append(aligned.pair(name))
    return pairs


def _signals(both: _Comparer) -> None:
    """Compare values of sensors and outputs of controllers that both results have: add rows."""
    for name in both.a.sensors:
        if name in both.b.sensors:
            in_a, in_b = both.a.sensor(name), both.b.sensor(name)
            _add_signal(both, "sensor", name, in_a.units["value"], in_a.value, in_b.value)
    for name in both.a.controllers:
        outputs = [r.controller(name).table() if name in r.controllers else {} for r in (both.a, both.b)]
        for output in outputs[0].keys() & outputs[1].keys():
            _add_signal(both, "controller", f"{name}.{output}", "", *(x[output] for x in outputs))


def _add_signal(both: _Comparer, kind: str, name: str, unit: str, in_a: Floats, in_b: Floats) -> None:
    """Add the row of a signal, relative to its largest value in A."""
    aligned = both.aligned(in_a, in_b)
    both.add(kind, name, unit, float(np.abs(aligned.a).max(initial=0.0)), "its largest value in A", aligned)


def _joint_loads(joint: JointHistory) -> dict[str, Floats]:
    """Return force and moment of a joint (T, 3); for a gear what it exerts in each coupled joint (T, 1)."""
    if isinstance(joint, GearHistory):
        return {name.replace("_", " ", 2): values[:, None] for name, values in joint.table().items()}
    return {"force": joint.force, "moment": joint.moment}
