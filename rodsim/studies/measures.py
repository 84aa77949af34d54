"""Measures of a result: named reductions of quantities, as `final rods.cord.end.r.z`, or functions of the result.

initial, final, max, min, mean, range       over all outputs; the mean is an integral over time
largest                                     largest absolute value
rms                                         square root of the time mean of the square
at T                                        value at the time T (s), interpolated linearly between outputs
time-of-max, time-of-min                    time of the maximum or minimum, s
frequency                                   frequency of the highest peak of the spectrum, Hz

Quantities are scalar histories of a result by path:

    energy.KIND, work, dissipation, constraint ...      columns of the audit table; algorithmic: dissipated by `em-d`, J
    linear_momentum, angular_momentum                   vectors
    drift.energy                                        |E - E0 - (W - D - A)|, A dissipated by `em-d`
    drift.linear_momentum, drift.angular_momentum       |P - P1|, P1 after the last work of loads; 0 before
    rods.NAME.PLACE.FIELD                               PLACE: start, middle, end, or largest over the rod; NAME@0.3.FIELD
    bodies.NAME.FIELD, bodies.NAME@X,Y,Z.FIELD          a point in the body's axes, m
    joints.NAME.FIELD, drives.NAME.work
    contacts.NAME.FIELD                                 gap, depth, normal_force, energy, force ...
    sensors.NAME.FIELD                                  value, rate, reading, rate_reading
    controllers.NAME.OUTPUT                             by the name of an output
    distance(A, B)                                      between surfaces or points, m, see `Result.distance`

The path of a vector ends with .x, .y, .z, .w, .norm or [k].
"""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rodsim.components.point_syntax import Point, leading_position, parse_point, parse_position
from rodsim.results.rod_interpolation import rod_length
from rodsim.studies.errors import StudyError, near

if TYPE_CHECKING:
    from rigid.system import Floats
    from rodsim.results.layout import Layout
    from rodsim.results.result import Result

Measure = str | Callable[["Result"], float]
MAX_PARTS = 20  # parts whose motion is sampled
FEWEST = 8  # smallest number of outputs of a spectrum
PADDING = 8  # zero padding: ratio of the length of the transform to the number of outputs


def _mean(t: Floats, x: Floats) -> float:
    """Return the mean over time by the trapezoidal rule; the last value if the run has no length."""
    if len(t) < 2 or t[-1] == t[0]:
        return float(x[-1])
    return float(np.diff(t) @ (x[1:] + x[:-1]) / 2.0 / (t[-1] - t[0]))


def frequency_peak(t: Floats, x: Floats) -> float:
    """Return the frequency (Hz) of the highest peak of the amplitude spectrum; nan if the history is constant or too short.

    The least-squares straight line is subtracted, the rest is tapered by a Hann window and padded with zeros. The peak is the
    vertex of a parabola through the logarithms of the amplitudes at three frequencies. If the outputs are not evenly spaced, the
    history is first interpolated linearly.
    """
    if len(t) < FEWEST:
        return float("nan")
    even = np.linspace(t[0], t[-1], len(t))
    y = x if np.allclose(t, even, rtol=0.0, atol=1e-9 * (t[-1] - t[0])) else np.interp(even, t, x)
    detrended = y - np.polyval(np.polyfit(even - even[0], y, 1), even - even[0])
    if np.abs(detrended).max() <= 1e-12 * np.abs(y).max():
        return float("nan")
    n = PADDING * len(even)
    amplitude = np.abs(np.fft.rfft(detrended * np.hanning(len(even)), n))
    k = int(np.argmax(amplitude[1:-1])) + 1
    low, mid, high = np.log(np.maximum(amplitude[k - 1 : k + 2], 1e-300))
    bend = low - 2.0 * mid + high
    offset = 0.5 * (low - high) / bend if bend < 0.0 else 0.0
    return float((k + offset) / (n * (even[1] - even[0])))


REDUCTIONS: dict[str, Callable[[Floats, Floats], Any]] = {
    "initial": lambda t, x: x[0],
    "final": lambda t, x: x[-1],
    "max": lambda t, x: x.max(),
    "min": lambda t, x: x.min(),
    "mean": _mean,
    "range": lambda t, x: x.max() - x.min(),
    "largest": lambda t, x: np.abs(x).max(),
    "rms": lambda t, x: math.sqrt(_mean(t, x**2)),
    "time-of-max": lambda t, x: t[np.argmax(x)],
    "time-of-min": lambda t, x: t[np.argmin(x)],
    "frequency": frequency_peak,
}
_UNITS = {"time-of-max": "s", "time-of-min": "s", "frequency": "Hz"}
_FORM = "write it as 'final rods.NAME.end.r.z', 'at 1.5 energy.elastic' or 'max joints.NAME.force.norm'"


def named_measures(measures: Mapping[str, Measure] | Sequence[str] | None) -> dict[str, Measure]:
    """Return the measures by name; texts in a list are their own names. Raise StudyError unless all are texts or callable."""
    named: dict[str, Measure]
    named = dict(measures) if isinstance(measures, Mapping) else {text: text for text in measures or ()}
    for name, what in named.items():
        if not isinstance(what, str) and not callable(what):
            raise StudyError(
                f"measure '{name}' = {what!r:.60}: give words as 'final energy.total', or a function"
            )
    return named


class ParsedMeasure(NamedTuple):
    """A parsed measure: quantity, unit and reduction."""

    quantity: Quantity
    unit: str
    reduce: Callable[[Floats, Floats], Any]


def parse(text: str, layout: Layout, end: float | None = None) -> ParsedMeasure:
    """Parse the measure `text` for results with this layout; `end`: end time of the run (s), None if it is not known."""
    word, named, reduce = _reduction(text, end)
    try:
        quantity_read = quantity(named, layout)
    except StudyError as error:
        raise StudyError(f"measure '{text}': {error}") from None
    return ParsedMeasure(quantity_read, _UNITS.get(word, quantity_read.unit), reduce)


def check_words(text: str) -> None:
    """Raise StudyError if a measure is invalid for every model; used if the model is not known before a run."""
    _, named, _ = _reduction(text, None)
    try:
        check_possible(named)
    except StudyError as error:
        raise StudyError(f"measure '{text}': {error}") from None


def _reduction(text: str, end: float | None) -> tuple[str, str, Callable[[Floats, Floats], Any]]:
    """Split a measure into its word and its quantity; return both and the reduction."""
    word, _, named = " ".join(text.split()).partition(" ")
    if word == "at":
        time, _, named = named.partition(" ")
        if not re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", time) or not named:
            raise StudyError(f"measure '{text}': at which time? {_FORM}")
        reduce = _at(text, float(time))
        if end is not None:
            reduce(np.array([0.0, end]), np.zeros(2))
    elif word in REDUCTIONS and named:
        reduce = REDUCTIONS[word]
    else:
        known = [*REDUCTIONS, "at"]
        why = f"'{word}' of what?" if word in known else f"'{word}' is not a reduction; {near(word, known)};"
        raise StudyError(f"measure '{text}': {why} {_FORM}")
    return word, named, reduce


def _at(text: str, time: float) -> Callable[[Floats, Floats], Any]:
    """Return the reduction to the value at `time` (s), interpolated linearly; it raises StudyError outside the run."""

    def reduce(t: Floats, x: Floats) -> float:
        slack = 1e-9 * max(abs(t[0]), abs(t[-1]))
        if not t[0] - slack <= time <= t[-1] + slack:
            raise StudyError(
                f"measure '{text}': the run goes from {t[0]:g} to {t[-1]:g} s; take a time between"
            )
        return float(np.interp(time, t, x))

    return reduce


def measure(result: Result, measures: Mapping[str, Measure]) -> dict[str, float]:
    """Return all measures of a result by name."""
    numbers: dict[str, float] = {}
    for name, what in measures.items():
        if isinstance(what, str):
            named = parse(what, result.layout)
            numbers[name] = float(named.reduce(result.t, named.quantity.read(result)))
        else:
            numbers |= numbers_of(name, what(result))
    return numbers


def numbers_of(name: str, value: Any) -> dict[str, float]:
    """Return what a function of the user returned, a number or (nested) numbers by name, as one mapping of numbers."""
    if isinstance(value, Mapping):
        return {f"{key}": number for k, x in value.items() for key, number in numbers_of(str(k), x).items()}
    array = np.asarray(value)
    if array.ndim or not isinstance(array.item(), numbers.Real):
        raise StudyError(f"measure '{name}': it gave {value!r:.80}; return a number, or numbers by name")
    return {name: float(array.item())}


# --- motion


@dataclass(frozen=True)
class MotionSamples:
    """Sampler of a result: largest displacement of a point (m), then positions of bodies and of start, middle and end of rods.

    `times`: sample times (s); None: only the last output. Of more than 20 parts, 20 evenly spaced ones are sampled.
    """

    times: tuple[float, ...] | None

    def __call__(self, result: Result) -> Iterator[float]:
        from rodsim.comparing.material_points import default_points, motion, parts_of

        names = parts_of(result)
        points = {text: parse_point(text, names).part for text in default_points(result, result)}
        parts = list(dict.fromkeys(points.values()))
        few = np.unique(np.linspace(0, len(parts) - 1, min(len(parts), MAX_PARTS)).round().astype(int))
        chosen = {parts[k] for k in few}
        at = self._outputs(result)
        path_length, samples = 0.0, []
        for text, part in points.items():
            if part in chosen:
                r = motion(result, "the result", text).r
                path_length = max(path_length, float(np.linalg.norm(r - r[0], axis=1).max()))
                samples.append(r[at].ravel())
        return iter([path_length, *np.concatenate(samples).tolist()])

    def _outputs(self, result: Result) -> list[int]:
        """Return the indices of the outputs at the sample times; raise StudyError if a time has no output."""
        if self.times is None:
            return [-1]
        t = result.t
        indices = [int(np.argmin(np.abs(t - time))) for time in self.times]
        missed = [
            time for time, k in zip(self.times, indices, strict=True) if abs(t[k] - time) > 1e-9 * t[-1]
        ]
        if missed:
            raise StudyError(
                f"there is no output at t = {missed[0]:g} s; choose dt and output_every that have one"
            )
        return indices


# --- quantities

UNITS_OF_COLUMNS = {"work": "J", "dissipation": "J", "algorithmic": "J"}
AT_POINT = {"r": "m", "displacement": "m", "quat": ""}
AT_NODE = {"v": "m/s", "Omega": "rad/s", "omega": "rad/s"}
ON_ELEMENT = {"Gamma": "", "K": "1/m", "N": "N", "M": "N m"}
OF_BODY = {"r": "m", "displacement": "m", "v": "m/s", "quat": "", "Omega": "rad/s", "omega": "rad/s"}
OF_JOINT = {"force": "N", "moment": "N m", "offset": "m", "multipliers": ""}
OF_CONTACT = {
    "gap": "m",
    "depth": "m",
    "normal_force": "N",
    "tangential_force": "N",
    "slip_rate": "m/s",
    "energy": "J",
    "loss_rate": "W",
    "touching": "",
    "sliding": "",
    "force": "N",
    "point": "m",
}
OF_COORDINATES = {
    "angle": ("rad", "angle_rate"),
    "angles": ("rad", "angle_rates"),
    "displacement": ("m", "displacement_rate"),
}
PLACES = {"start": 0.0, "middle": 0.5, "end": 1.0}
LARGEST = "largest"
_COMPONENTS = {"x": 0, "y": 1, "z": 2}
_OF_QUATERNION = {"w": 0, "x": 1, "y": 2, "z": 3}

Read = Callable[["Result"], "Floats"]


class Quantity(NamedTuple):
    """A scalar history: its path, its unit, and `read`, which returns the values (T,) of a result."""

    text: str
    unit: str
    read: Read


class _Field(NamedTuple):
    unit: str
    length: int | None  # number of components of a vector; None: a scalar
    read: Read


def quantity(text: str, layout: Layout) -> Quantity:
    """Return the quantity that `text` names in results with this layout; raise StudyError with alternatives if there is none."""
    pair = re.fullmatch(r"distance\(([^()]+),\s+([^()]+)\)", text)
    if pair or text.startswith("distance("):
        return Quantity(text, "m", _distance(text, pair, layout))
    head, _, path = text.partition(".")
    field, ending = _READERS[head](text, path, layout) if head in _READERS else _model_field(text)
    return Quantity(text, field.unit, _component(text, field, ending))


_ON_ROD = re.compile(rf"@|\.({'|'.join([*PLACES, LARGEST])})\.")


def check_possible(text: str) -> None:
    """Raise StudyError if no model can have the quantity, for any names of its parts (which may contain points)."""
    from rigid.joints import JOINTS
    from rodsim.results.gear_history import GEAR

    head, _, path = text.partition(".")
    names = [path[: match.start()] for match in re.finditer(r"[.@]", path)] or [path]
    names.sort(key=lambda name: not _ON_ROD.match(path, len(name)))  # report the error of the likeliest name
    kinds = [*sorted(JOINTS, key=lambda kind: -len(JOINTS[kind].coordinates)), GEAR]
    problems = []
    for name in names:
        for kind in kinds if head == "joints" else kinds[:1]:
            try:
                quantity(text, _any_layout(name, kind, head))
                return
            except StudyError as error:
                problems.append(error)
    raise problems[0]


def _any_layout(name: str, kind: str, head: str) -> Any:
    """Return an object with the attributes of a layout that `quantity` uses: one part of each type, all with this name."""
    part = SimpleNamespace(name=name, kind=kind, rows=(0, 6))
    one = SimpleNamespace(rods=[part], bodies=[part], joints=[part], drives=[name], description={})
    if head in ("contacts", "sensors", "controllers"):
        one.description = {head: {name: {}}}
    return one


def _fail(text: str, why: str) -> StudyError:
    """Return the error for an invalid quantity."""
    return StudyError(f"quantity '{text}': {why}")


# --- quantities of the whole model


def _model_field(text: str) -> tuple[_Field, str]:
    """Return the field of a quantity of the whole model, and the text behind its name."""
    from rodsim.results.audit_columns import ALGORITHMIC, COLUMNS, ENERGIES

    plain = [*(name for name in COLUMNS if name not in ENERGIES), ALGORITHMIC]
    fields: dict[str, _Field] = {f"energy.{name}": _Field("J", None, _column(name)) for name in ENERGIES}
    fields |= {name: _Field(UNITS_OF_COLUMNS.get(name, ""), None, _column(name)) for name in plain}
    fields["linear_momentum"] = _Field("kg m/s", 3, lambda result: result.linear_momentum)
    fields["angular_momentum"] = _Field("kg m^2/s", 3, lambda result: result.angular_momentum)
    fields["drift.energy"] = _Field("J", None, _energy_drift)
    for name in ("linear_momentum", "angular_momentum"):
        fields[f"drift.{name}"] = _Field(fields[name].unit, None, _momentum_drift(name))
    fitting = [name for name in fields if text == name or re.match(re.escape(name) + r"[.\[]", text)]
    if not fitting:
        known = [*fields, "rods.NAME.end.r", "bodies.NAME.r", "joints.NAME.force", "drives.NAME.work"]
        known += ["contacts.NAME.depth", "sensors.NAME.value", "controllers.NAME.OUTPUT", "distance(A, B)"]
        raise _fail(text, f"not known; {near(text, known, 'there are')}")
    name = max(fitting, key=len)
    return fields[name], text[len(name) :]


def _column(name: str) -> Read:
    return lambda result: result.audit_column(name)


def _energy_drift(result: Result) -> Floats:
    """Return |E - E0 - (W - D - A)| at all outputs (T,), J."""
    exchanged = result.work - result.dissipation - result.algorithmic
    energy = result.audit_column("total") - exchanged
    return np.abs(energy - energy[0])


def _momentum_drift(name: str) -> Read:
    """Return a reader of the change of a momentum since the last output at which the work of the loads changed; 0 before."""

    def read(result: Result) -> Floats:
        momentum, changes = getattr(result, name), np.flatnonzero(np.diff(result.work))
        first = int(changes[-1]) + 1 if len(changes) else 0
        drift = np.linalg.norm(momentum - momentum[first], axis=1)
        drift[:first] = 0.0
        return drift

    return read


# --- quantities of rods, bodies, joints, drives


def _split_name(text: str, path: str, kind: str, names: list[str]) -> tuple[str, str]:
    """Split `path` into the name at its beginning and the text behind it; names may contain points."""
    fitting = [n for n in names if path.startswith(n) and path[len(n) : len(n) + 1] in (".", "@")]
    if fitting:
        name = max(fitting, key=len)
        return name, path[len(name) :]
    if path in names:
        raise _fail(text, f"what of {kind} '{path}'? add a field, as {text}.{_EXAMPLES[kind]}")
    word = re.split(r"[.@\[]", path, maxsplit=1)[0]
    raise _fail(text, f"there is no {kind} '{word}'; {near(word, names, 'there are')}")


_EXAMPLES = {"rod": "end.r.z", "body": "r.z", "joint": "force.norm", "drive": "work", "contact": "depth"}
_EXAMPLES |= {"sensor": "value", "controller": "u"}


def _split_field(text: str, path: str, fields: dict[str, str]) -> tuple[str, str]:
    """Split `path` into the name of a field and the text behind it; raise StudyError for an unknown field."""
    word = re.split(r"[.\[]", path, maxsplit=1)[0]
    if word not in fields:
        raise _fail(text, f"there is no '{word}'; {near(word, fields, 'there are')}")
    return word, path[len(word) :]


def _rod_field(text: str, path: str, layout: Layout) -> tuple[_Field, str]:
    """Return the field of a quantity of a rod, and the text behind it."""
    name, path = _split_name(text, path, "rod", [rod.name for rod in layout.rods])
    position, path = _split_rod_position(text, path)
    fields = {**AT_NODE, **ON_ELEMENT} if position is None else {**AT_POINT, **AT_NODE, **ON_ELEMENT}
    word, ending = _split_field(text, path, fields)
    if position is None:
        if ending:
            raise _fail(text, f"'{LARGEST}' is of the norm; remove {ending}")
        return _Field(fields[word], None, _largest_reader(name, word)), ""
    length = 4 if word == "quat" else 3
    if word in AT_POINT:
        return _Field(fields[word], length, _point_reader(f"{name}@{position!r}", word)), ending
    return _Field(fields[word], length, _interpolating_reader(name, word, position)), ending


def _split_rod_position(text: str, path: str) -> tuple[float | None, str]:
    """Return the position as a fraction of the length (None: largest over the rod), and the text behind it."""
    position, remaining = leading_position(path)
    if position:
        fraction = Point("", position, parse_position(position)).fraction
        if fraction is None:
            raise _fail(text, f"'@{position}' is not a fraction of the length; give a number from 0 to 1")
        return fraction, remaining[1:]
    word, _, path = path.removeprefix(".").partition(".")
    if word == LARGEST:
        return None, path
    if word not in PLACES:
        positions = [*PLACES, LARGEST]
        raise _fail(
            text, f"'{word}' is not a position on a rod; {near(word, positions, 'there are')}, or NAME@0.3"
        )
    return PLACES[word], path


def _point_reader(point: str, word: str) -> Read:
    """Return a reader of position, displacement or quaternion of a point of a rod or body."""

    def read(result: Result) -> Floats:
        from rodsim.comparing.material_points import motion

        history = motion(result, "the result", point)
        if word == "displacement":
            return history.r - history.r[0]
        return history.quat if word == "quat" else history.r

    return read


def _interpolating_reader(name: str, word: str, fraction: float) -> Read:
    """Return a reader that interpolates linearly: between nodes, or between elements as `RodHistory.along` does."""

    def read(result: Result) -> Floats:
        rod = result.rod(name)
        if word in ON_ELEMENT:
            return rod.along(word, fraction)[:, 0]
        values, at = getattr(rod, word), rod.arclength
        if rod.layout.closed:  # append the first node at the end
            values, at = (
                np.append(values, values[:, :1], axis=1),
                np.append(at, rod_length(result.layout, rod.layout)),
            )
        at = at / at[-1]
        k = min(int(np.searchsorted(at, fraction, "right")) - 1, len(at) - 2)
        x = (fraction - at[k]) / (at[k + 1] - at[k])
        return (1.0 - x) * values[:, k] + x * values[:, k + 1]

    return read


def _largest_reader(name: str, word: str) -> Read:
    """Return a reader of the largest norm over the rod: at nodes, or on elements and at both ends."""

    def read(result: Result) -> Floats:
        rod = result.rod(name)
        values = getattr(rod, word)
        if word in ON_ELEMENT and not rod.layout.closed:
            values = np.append(values, rod.along(word, (0.0, 1.0)), axis=1)
        return np.linalg.norm(values, axis=2).max(axis=1)

    return read


def _distance(text: str, pair: re.Match[str] | None, layout: Layout) -> Read:
    """Return a reader of the distance of two surfaces or points; `pair`: match of both names, None if the text has no pair."""
    from rodsim.results.distances import surface_by_name
    from rodsim.results.errors import ResultError

    if pair is None:
        raise _fail(
            text, "give two surfaces or points and a space behind the comma, as distance(ball, cord@0.5)"
        )
    a, b = pair[1].strip(), pair[2].strip()
    if layout.description:  # otherwise the model is not known yet
        try:
            surface_by_name(layout, a), surface_by_name(layout, b)
        except ResultError as error:
            raise _fail(text, str(error)) from None
    return lambda result: result.distance(a, b)


def _body_field(text: str, path: str, layout: Layout) -> tuple[_Field, str]:
    """Return the field of a quantity of a body or of one of its points, and the text behind it."""
    name, path = _split_name(text, path, "body", [body.name for body in layout.bodies])
    position, remaining = leading_position(path)
    if path.startswith("@") and position.count(",") != 2:
        raise _fail(text, f"give a point of the body as {name}@0.1,0,0")
    fields = AT_POINT if position else OF_BODY
    word, ending = _split_field(text, remaining[1:], fields)
    length = 4 if word == "quat" else 3
    if position:
        return _Field(fields[word], length, _point_reader(f"{name}@{position}", word)), ending
    if word == "displacement":
        return _Field("m", 3, lambda result: result.body(name).r - result.body(name).r[0]), ending
    return _Field(fields[word], length, lambda result: getattr(result.body(name), word)), ending


def _joint_field(text: str, path: str, layout: Layout) -> tuple[_Field, str]:
    """Return the field of a quantity of a joint, and the text behind it."""
    from rigid.joints import JOINTS
    from rodsim.results.gear_history import GEAR

    name, path = _split_name(text, path, "joint", [joint.name for joint in layout.joints])
    joint = next(joint for joint in layout.joints if joint.name == name)
    fields = dict(OF_JOINT) if joint.kind != GEAR else {"multipliers": ""}  # a gear acts on several joints
    for known in JOINTS[joint.kind].coordinates if joint.kind in JOINTS else ():
        unit, rate = OF_COORDINATES[known]
        fields |= {known: unit, rate: f"{unit}/s"}
    word, ending = _split_field(text, path.removeprefix("."), fields)
    length = {"force": 3, "moment": 3, "offset": 3, "angles": 2, "angle_rates": 2}.get(word)
    if word == "multipliers":
        length = joint.rows[1] - joint.rows[0]
    return _Field(fields[word], length, lambda result: getattr(result.joint(name), word)), ending


def _drive_field(text: str, path: str, layout: Layout) -> tuple[_Field, str]:
    """Return the field of the work of a drive, and the text behind it."""
    name, path = _split_name(text, path, "drive", list(layout.drives))
    _, ending = _split_field(text, path.removeprefix("."), {"work": "J"})
    return _Field("J", None, lambda result: result.drive_work(name)), ending


def _contact_field(text: str, path: str, layout: Layout) -> tuple[_Field, str]:
    """Return the field of a quantity of a contact, and the text behind it."""
    name, path = _split_name(text, path, "contact", list(layout.description.get("contacts", {})))
    word, ending = _split_field(text, path.removeprefix("."), OF_CONTACT)
    length = 3 if word in ("force", "point") else None
    return _Field(OF_CONTACT[word], length, lambda result: getattr(result.contact(name), word)), ending


def _sensor_field(text: str, path: str, layout: Layout) -> tuple[_Field, str]:
    """Return the field of a sensor, and the text behind it."""
    from rodsim.results.sensor_history import units_of

    described = layout.description.get("sensors", {})
    name, path = _split_name(text, path, "sensor", list(described))
    units = units_of(described[name].get("measure", {}))
    word, ending = _split_field(text, path.removeprefix("."), units)
    return _Field(units[word], None, lambda result: getattr(result.sensor(name), word)), ending


def _controller_field(text: str, path: str, layout: Layout) -> tuple[_Field, str]:
    """Return the field of an output of a controller, and the text behind it."""
    described = layout.description.get("controllers", {})
    name, path = _split_name(text, path, "controller", list(described))
    known = described[name].get("outputs", [path.removeprefix(".")])  # a model that is not known has any
    word, ending = _split_field(text, path.removeprefix("."), dict.fromkeys(known, ""))
    return _Field("", None, lambda result: result.controller(name).output(word)), ending


_READERS = {
    "rods": _rod_field,
    "bodies": _body_field,
    "joints": _joint_field,
    "drives": _drive_field,
    "contacts": _contact_field,
    "sensors": _sensor_field,
    "controllers": _controller_field,
}


# --- components


def _component(text: str, field: _Field, ending: str) -> Read:
    """Return the reader of the component of a field that `ending` names; raise StudyError if there is none."""
    read = field.read
    if field.length is None:
        if ending:
            raise _fail(text, f"is one number at a time; remove '{ending}'")
        return read
    if ending == ".norm":
        return lambda result: np.linalg.norm(read(result), axis=-1)
    names = _OF_QUATERNION if field.length == 4 else _COMPONENTS if field.length == 3 else {}
    index = re.fullmatch(r"\[(\d+)\]", ending)
    k = int(index[1]) if index else names.get(ending.removeprefix("."), -1)
    if not 0 <= k < field.length:
        choices = ", ".join([*(f".{n}" for n in names), ".norm", f"[0] to [{field.length - 1}]"])
        raise _fail(text, f"has {field.length} components; end it with one of {choices}")
    return lambda result: read(result)[..., k]
