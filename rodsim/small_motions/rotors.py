"""Whirl of rotors over their speed: Campbell diagram, critical speeds, stability and response to unbalance: `campbell`.

At each speed W the model is linearised about the motion in which the rotors spin with W about the axis and everything else rests,
in axes that do not rotate (`discretization.linearisation`),

    M x'' + (C + W G) x' + (K + W N) x = f,   x = (dr, eta) of all moving frames                                   (1)

G are gyroscopic terms, N the damping of the material of what rotates. A mode x exp(lambda t) with the lateral amplitudes (Y, Z)
of a point moves it along an ellipse. In q = y + i z this is q = q_+ exp(i w t) + q_- exp(-i w t),

    q_+ = (Y + i Z)/2,   conj(q_-) = (Y - i Z)/2,   major semi-axis |q_+| + |q_-|                                  (2)

The whirl (|q_+|^2 - |q_-|^2)/(|q_+|^2 + |q_-|^2), summed over the rotors, is 1 for circles in the direction of the spin (forward)
and -1 for circles against it. An unbalance u = m e at the angle b exerts the rotating force (Y, Z) = u W^2 exp(i b) (1, -i).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy  # submodules are loaded lazily
from numpy.typing import ArrayLike, NDArray

from discretization.characteristic_length import extent
from rigid import checks, quaternions
from rigid.errors import ModelError
from rigid.system import Floats
from rodsim.building.build import built_from
from rodsim.building.placement import Placement
from rodsim.building.starting_states import StartLike
from rodsim.components.bearings import Bearing
from rodsim.components.model_parts import Anchor, Body, Rod, part_of
from rodsim.components.part_lookup import find_point
from rodsim.model import Model
from rodsim.small_motions.linear_models import ForceInput, MotionOutput, Point, frequency_response
from rodsim.small_motions.modal_analysis import DECAYS, GROWS, RIGID
from rodsim.small_motions.rotor_results import MORE, TILT, Campbell, Rotor, mode_differences

EQUAL = 1e-6  # relative difference of eigenvalues below which the direction of whirl is not determined
CIRCLE = 0.01  # whirl below which an orbit counts as a line

RotorsLike: TypeAlias = (
    "str | Body | Rod | Sequence[str | Body | Rod] | Mapping[str, float]"  # names -> ratios of speeds
)


@dataclass(frozen=True)
class Unbalance:
    """An unbalance of a rotor: mass times eccentricity at a point.

    Parameters
    ----------
    on : point, Body or str
        Point of the rotor: "disc", "shaft.end", "shaft@0.5".
    size : float
        Mass times eccentricity, kg m.
    phase : float, default 0.0
        Angle about the axis, rad, from the y axis towards z at t = 0.

    Examples
    --------
    >>> from rodsim.linear import Unbalance
    >>> Unbalance("disc", 1e-4).phase
    0.0
    """

    on: Point
    size: float
    phase: float = 0.0


def campbell(
    model: Model,
    speeds: ArrayLike,
    n: int = 6,
    *,
    rotors: RotorsLike | None = None,
    axis: ArrayLike | None = None,
    unbalance: Unbalance | Sequence[Unbalance] = (),
    points: Sequence[Point] | None = None,
    start: StartLike | None = None,
) -> Campbell:
    """Compute whirl frequencies, critical speeds, stability and unbalance response of a rotor over its speed.

    At each speed the model is linearised about the motion in which the rotors rotate about one axis, and everything else rests.
    Gyroscopic moments, internal damping of viscous rods, and bearings at that speed are included. Motions without stiffness,
    such as the rotation of the rotor, are left out.

    Parameters
    ----------
    model : Model
        The model. Its rotors must be round: their inertia and stiffness do not change as they rotate.
    speeds : array_like (s,)
        Two or more increasing speeds, 0 or more, rad/s.
    n : int, default 6
        Number of modes to follow, from the lowest at the first speed.
    rotors : str, Body, Rod, sequence of these, or mapping of str to float, optional
        Parts that rotate, or their names and the ratios of their speeds. Bodies and rods that are welded to them rotate too.
        Default: the parts that have an angular velocity, with its ratios; if none has, all rods.
    axis : array_like (3,), optional
        Axis of rotation. Default: the direction of that angular velocity, of the axis of the first bearing, or of the rod.
    unbalance : Unbalance or sequence of Unbalance, optional
        Unbalances, whose response is computed at each speed.
    points : sequence of point, Body or str, optional
        Points whose response is computed. Default: those of the unbalances.
    start : Result, Equilibrium, State, str or Path, optional
        State to linearise about, such as the equilibrium under the weight. Default: the initial state of the model.

    Returns
    -------
    Campbell
        Eigenvalues over the speeds, whirl directions, critical speeds, stability limit and response; `plot` draws them.

    Raises
    ------
    ModelError
        If nothing rotates, a part is not round, the state is not an equilibrium, a table of a bearing does not cover a speed, or
        an argument is wrong.

    See Also
    --------
    rodsim.Model.add_bearing : Bearings and seals with full matrices, also as tables over the speed.
    modes : Modes of a model that rotates with one speed.

    Examples
    --------
    >>> from rodsim import Cylinder, Model, campbell
    >>> model = Model("rotor")
    >>> disc = model.add_body("disc", Cylinder(0.2, 0.05, density=7800.0))
    >>> model.add_bearing("shaft", "ground", disc, [0, 1e6, 1e6, 0, 1e4, 1e4], 0.0, "general", axis=(0, 0, 1))
    <bearing 'shaft' of the ground, body 'disc'>
    >>> diagram = campbell(model, [0.0, 100.0, 200.0], 4, rotors="disc")
    >>> diagram.directions[-1][:2]
    ('backward', 'forward')
    """
    owner = "campbell"
    values = checks.numbers(speeds)
    if (
        values is None
        or values.shape != (max(values.size, 2),)
        or not (np.all(np.diff(values) > 0.0) and values[0] >= 0.0 and np.isfinite(values[-1]))
    ):
        raise ModelError(
            f"campbell: speeds = {checks.shown(speeds)}. Give two or more increasing speeds that are not negative, rad/s"
        )
    n = checks.count(owner, "n", n)
    built = built_from(owner, model)
    ratios, direction = _rotating_parts(model, rotors, axis)
    placement = Placement(model)
    frames = {
        int(frame): ratio
        for name, ratio in ratios.items()
        for frame in placement.frames_of(model.rods.get(name) or model.bodies[name])
    }
    rotor = Rotor(model, start, built, frames, ratios, direction, extent(built.state.r))
    y = np.eye(3)[(np.argmax(np.abs(direction)) + 1) % 3]
    y = y - direction * (y @ direction)
    y /= np.linalg.norm(y)
    z = np.cross(direction, y)
    eigenvalues, shapes, grows = _follow(rotor, values, n)
    turning = np.array(sorted(frames))
    whirl, directions = _whirls(shapes[:, :, turning], eigenvalues, np.array([direction, y, z]), rotor.size)
    sources = [unbalance] if isinstance(unbalance, Unbalance) else list(unbalance)
    measured = [source.on for source in sources] if points is None else list(points)
    if points is not None and not sources:
        raise ModelError("campbell: has points, but no unbalance. Give unbalance=[Unbalance(point, kg m)]")
    response = _response(rotor, values, sources, measured, (y, z))
    return Campbell(
        values,
        eigenvalues,
        whirl,
        directions,
        tuple(_name(owner, model, point) for point in measured),
        response,
        direction,
        y,
        z,
        rotor,
        shapes,
        grows,
    )


def _name(owner: str, model: Model, point: Point) -> str:
    """Return the name of a point."""
    return point if isinstance(point, str) else str(find_point(owner, model, point))


def _rotating_parts(
    model: Model, rotors: RotorsLike | None, axis: ArrayLike | None
) -> tuple[dict[str, float], Floats]:
    """Return the names of the parts that rotate with the ratios of their speeds, and the axis."""
    parts: dict[str, Any] = {**model.bodies, **model.rods}
    given = None if axis is None else checks.direction("campbell", "axis", axis)
    rates = {
        name: np.asarray(part.angular_velocity, float)
        for name, part in parts.items()
        if part.angular_velocity is not None
        and not callable(part.angular_velocity)
        and np.any(part.angular_velocity)
    }
    if rotors is None:
        if rates:
            first = next(iter(rates.values()))
            direction = first / np.linalg.norm(first) if given is None else given
            scale = float(first @ direction)
            ratios = {name: float(rate @ direction) / scale for name, rate in rates.items()}
            return _with_welded(model, ratios), direction
        ratios = dict.fromkeys(model.rods, 1.0)
        if not ratios:
            raise ModelError("campbell: nothing rotates. Give rotors=, the names of the parts that rotate")
    elif isinstance(rotors, Mapping):
        ratios = {str(name): checks.number("campbell", f"ratio of '{name}'", x) for name, x in rotors.items()}
    else:
        several = [rotors] if isinstance(rotors, str | Body | Rod) else list(rotors)
        ratios = {part if isinstance(part, str) else part.name: 1.0 for part in several}
    for name in ratios:
        if name not in parts:
            known = ", ".join(f"'{x}'" for x in parts)
            raise ModelError(
                f"campbell: there is no body or rod '{name}'; there are {known}", choices=list(parts)
            )
    return _with_welded(model, ratios), _axis(model, ratios, rates) if given is None else given


def _axis(model: Model, ratios: Mapping[str, float], rates: Mapping[str, Floats]) -> Floats:
    """Return the axis of rotation (3,) that velocities, bearings or rods of the rotors tell."""
    for name in ratios:
        if name in rates:
            return np.asarray(rates[name] / np.linalg.norm(rates[name]))
    for entry in model.others.values():
        if isinstance(entry, Bearing) and part_of(entry.b).name in ratios:
            return np.asarray(entry.axis)
    for name in ratios:
        if name in model.rods:
            return quaternions.to_matrix(model.rods[name].start.orientation)[:, 0]
    raise ModelError("campbell: the axis of rotation is not known. Give axis=(x, y, z)")


def _with_welded(model: Model, ratios: Mapping[str, float]) -> dict[str, float]:
    """Return the ratios with those of all bodies and rods that are welded to the parts."""
    out = dict(ratios)
    welds = [joint for joint in model.joints.values() if joint.kind == "weld"]
    for _ in range(len(welds)):  # each pass adds a part at least, or ends
        before = len(out)
        for joint in welds:
            ends = [part_of(end) for end in (joint.a, joint.b)]
            for one, other in (ends, ends[::-1]):
                if one.name in out and isinstance(other, Body | Rod):
                    out.setdefault(other.name, out[one.name])
        if len(out) == before:
            break
    return out


def _follow(rotor: Rotor, speeds: Floats, n: int) -> tuple[NDArray, NDArray, NDArray]:
    """Return eigenvalues (s, n), shapes (s, n, frames, 6) and whether they grow (s, n) of modes followed over the speeds."""
    values: list[NDArray] = []
    shapes: list[NDArray] = []
    grows: list[NDArray] = []
    for speed in speeds:
        candidates = rotor.modes_at(float(speed), n + MORE)
        kinds = np.array(candidates.kinds)
        if not values:
            use = np.flatnonzero((kinds != RIGID) & ((kinds != DECAYS) | (candidates.omega > 0.0)))[:n]
            if not len(use):
                raise ModelError("campbell: no motion of the rotor oscillates. Give its bearings stiffness")
        else:
            cost = mode_differences(candidates, values[-1], shapes[-1], rotor.size)
            cost[:, kinds == RIGID] = 1e3
            use = scipy.optimize.linear_sum_assignment(cost)[1]
            if len(use) < len(values[-1]):
                raise ModelError(
                    f"campbell: at {speed:g} rad/s there are only {len(use)} modes. Give n={len(use)}"
                )
        values.append(candidates.values[use])
        shapes.append(candidates.shapes[use])
        grows.append(kinds[use] == GROWS)
    return np.array(values), np.array(shapes), np.array(grows)


def _whirls(
    shapes: NDArray, values: NDArray, axes: Floats, size: float
) -> tuple[Floats, tuple[tuple[str, ...], ...]]:
    """Return the whirl (s, n) and the directions of modes with shapes (s, n, frames, 6) of the rotors; axes: axis, y, z."""
    move, rotate = shapes[..., :3] @ axes.T, TILT * size * (shapes[..., 3:] @ axes.T)
    Y, Z = (np.concatenate([move[..., k], rotate[..., k]], axis=-1) for k in (1, 2))
    lateral = np.sum(np.abs(Y) ** 2 + np.abs(Z) ** 2, axis=-1)
    along = [np.sum(np.abs(x[..., 0]) ** 2, axis=-1) for x in (move, rotate)]
    whirl = -2.0 * np.sum((Y.conj() * Z).imag, axis=-1) / np.maximum(lateral, 1e-300)
    words = np.where(whirl > CIRCLE, "forward", np.where(whirl < -CIRCLE, "backward", "planar")).astype(
        object
    )
    for s, row in enumerate(values):
        apart = np.abs(row[:, None] - row) / np.maximum(np.abs(row), 1e-300) + np.eye(len(row))
        words[s, apart.min(axis=1) < EQUAL] = "planar"
    whirl = np.where(words == "planar", 0.0, whirl)
    for share, word in zip(along, ("axial", "torsional"), strict=True):
        use = share > np.maximum(lateral, sum(along) - share)
        words[use], whirl[use] = word, 0.0
    return whirl, tuple(tuple(map(str, row)) for row in words)


def _response(
    rotor: Rotor,
    speeds: Floats,
    sources: Sequence[Unbalance],
    points: Sequence[Point],
    across: tuple[Floats, Floats],
) -> NDArray:
    """Return the complex amplitudes (s, p, 2) of points along y and z under unbalances."""
    out = np.zeros((len(speeds), len(points), 2), complex)
    if not sources:
        return out
    inputs = [ForceInput(source.on, direction) for source in sources for direction in across]
    outputs = [MotionOutput(point, direction) for point in points for direction in across]
    turns = []
    for source in sources:
        anchor = find_point("unbalance", rotor.model, source.on)
        part = anchor.part if isinstance(anchor, Anchor) else anchor
        turns.append(rotor.ratios.get(getattr(part, "name", ""), 0.0))
        if turns[-1] == 0.0:
            raise ModelError(
                f"unbalance on {checks.shown(source.on)}: {part} does not rotate. Give a point of a rotor"
            )
        checks.number("unbalance", "size", source.size)
        checks.number("unbalance", "phase", source.phase)
    if len(set(turns)) > 1:
        raise ModelError(
            "campbell: unbalances on rotors of different speeds have no common frequency. Call campbell for each rotor"
        )
    for s, speed in enumerate(speeds):
        if speed == 0.0:
            continue
        model, _, state = rotor.at(float(speed))
        W = abs(speed * turns[0])
        sense = np.sign(speed * turns[0])
        unit = frequency_response(model, inputs, outputs, [W], state)[0]
        forces = [
            source.size * W * W * np.exp(1j * sense * source.phase) * np.array([1.0, -1j * sense])
            for source in sources
        ]
        out[s] = (unit @ np.concatenate(forces)).reshape(-1, 2)
    return out
