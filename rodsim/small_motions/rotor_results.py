"""Hold and evaluate the whirl of a rotor over its speed: critical speeds, stability, tables, picture. `campbell` returns it."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy  # submodules are loaded lazily
from numpy.typing import NDArray

from rigid import checks, quaternions
from rigid.errors import ModelError
from rigid.system import Floats, State
from rodsim.building.build import Built, built_from
from rodsim.building.restart import linearisation_point
from rodsim.building.starting_states import StartLike
from rodsim.components.bearings import Bearing
from rodsim.components.model_parts import part_of
from rodsim.extras import extra
from rodsim.model import Model
from rodsim.small_motions.modal_analysis import Modes, modes

MORE = 8  # modes computed at each speed in addition to those that are followed
TILT = 0.1  # length by which a rotation counts as a displacement, relative to the size of the model
REFINED = 1e-10  # relative accuracy of critical speeds and stability limits


class CriticalSpeed(NamedTuple):
    """A speed at which the frequency of a mode is a multiple of it."""

    speed: float  # rad/s
    multiple: float  # frequency over speed
    mode: int  # index of the mode
    whirl: str  # "forward", "backward", "planar", "axial" or "torsional"


class Rotor(NamedTuple):
    """A model whose parts rotate about one axis with given ratios of speeds."""

    model: Model
    start: StartLike | None
    built: Built
    frames: Mapping[int, float]  # frames that rotate, and the ratios of their speeds
    ratios: Mapping[str, float]  # the same for names of parts
    axis: Floats
    size: float  # of the model, m

    def at(self, speed: float) -> tuple[Model, Built, State]:
        """Return the model with the tables of its bearings at a speed, and the state in which the rotors rotate with it."""
        model, built = self.model, self.built
        tables = {
            name: dataclasses.replace(entry, speed=self._speed_in(entry, speed))
            for name, entry in model.others.items()
            if isinstance(entry, Bearing) and entry.speeds is not None
        }
        if tables:
            model = copy.copy(model)
            model.others = {**model.others, **tables}
            built = built_from("campbell", model)
        state = built.state
        if self.start is not None:
            point = linearisation_point("campbell", built, self.start)
            built, state = point.built, point.state
        Omega = np.zeros_like(state.Omega)
        for frame, ratio in self.frames.items():
            back = quaternions.conjugate(built.state.quat[frame])
            Omega[frame] = quaternions.rotate(back, speed * ratio * self.axis)
        return model, built, state._replace(v=np.zeros_like(state.v), Omega=Omega)

    def _speed_in(self, bearing: Bearing, speed: float) -> float:
        """Return the speed of the shaft relative to the support about the axis of a bearing, rad/s."""
        ratios = [self.ratios.get(part_of(end).name, 0.0) for end in (bearing.a, bearing.b)]
        along = float(np.sign(np.asarray(bearing.axis) @ self.axis))
        return along * speed * (ratios[1] - ratios[0]) + 0.0

    def modes_at(self, speed: float, n: int) -> Modes:
        """Return the `n` modes nearest to zero at a speed; ModelError if a rotor is not round."""
        _, built, state = self.at(speed)
        result = modes(built, n, start=state)
        if np.any(result.linear.motion.W):  # all parts rotate with one speed, and supports are isotropic
            raise ModelError(
                f"campbell: a rotor of model '{self.model.name}' is not round about its axis: inertia or stiffness change as it "
                "rotates. Make them equal in both directions, or compute modes with a spin, in axes that rotate with it"
            )
        return result


@dataclass(frozen=True, eq=False)
class Campbell:
    """Modes of a rotor over its speed, and its response to unbalance. `campbell` returns it.

    Attributes
    ----------
    speeds : ndarray (s,)
        Speeds of the rotor, rad/s.
    values : ndarray (s, n)
        Eigenvalues, 1/s, complex; each column follows one mode.
    whirl : ndarray (s, n)
        Whirl from -1 (backward circles) over 0 (lines) to 1 (forward circles).
    directions : tuple of tuple of str
        "forward", "backward", "planar", "axial" or "torsional" for each speed and mode.
    points : tuple of str
        Points of the response to unbalance.
    response : ndarray (s, p, 2)
        Complex amplitudes of the displacements along y and z at the points, m; empty without unbalance.
    axis, y, z : ndarray (3,)
        Axis of rotation, and the directions across it; the rotor rotates from y to z.
    """

    speeds: Floats
    values: NDArray
    whirl: Floats
    directions: tuple[tuple[str, ...], ...]
    points: tuple[str, ...]
    response: NDArray
    axis: Floats
    y: Floats
    z: Floats
    rotor: Rotor = dataclasses.field(repr=False)
    shapes: NDArray = dataclasses.field(repr=False)  # (s, n, frames, 6) complex
    grows: NDArray = dataclasses.field(repr=False)  # (s, n) whether a mode grows

    @property
    def omega(self) -> Floats:
        """Whirl frequencies (s, n), rad/s."""
        return np.abs(self.values.imag)

    @property
    def frequency(self) -> Floats:
        """Whirl frequencies (s, n), Hz."""
        return self.omega / (2.0 * np.pi)

    @property
    def growth(self) -> Floats:
        """Growth rates (s, n), 1/s: positive if a mode grows."""
        return np.asarray(self.values.real)

    @property
    def damping(self) -> Floats:
        """Damping ratios -Re/|lambda| (s, n)."""
        return -self.values.real / np.maximum(np.abs(self.values), 1e-300) + 0.0

    @property
    def log_decrement(self) -> Floats:
        """Logarithmic decrements -2 pi Re/|Im| (s, n); infinite for motions that do not oscillate."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.omega > 0.0, -2.0 * np.pi * self.values.real / self.omega, np.inf)

    @property
    def amplitude(self) -> Floats:
        """Major semi-axes (s, p) of the orbits under unbalance, m."""
        Y, Z = self.response[..., 0], self.response[..., 1]
        return 0.5 * (np.abs(Y + 1j * Z) + np.abs(Y - 1j * Z))

    @property
    def phase(self) -> Floats:
        """Angles (s, p) by which the forward motion leads the y axis at t = 0, rad; negative if it lags behind an unbalance."""
        return np.asarray(np.angle(self.response[..., 0] + 1j * self.response[..., 1]))

    def critical_speeds(self, multiple: float = 1.0) -> tuple[CriticalSpeed, ...]:
        """Return the speeds at which a frequency is `multiple` times the speed, in ascending order.

        Crossings between two of the speeds are refined with the equations at the speeds between. An unbalance excites forward
        whirl at the multiple 1, and backward whirl only if the bearings are not isotropic.

        Parameters
        ----------
        multiple : float, default 1.0
            Frequency over speed: 2 for a shaft with two flats, the number of blades for a fan.

        Returns
        -------
        tuple of CriticalSpeed
            Speed (rad/s), multiple, index of the mode and direction of its whirl.
        """
        ratio = checks.number("critical_speeds", "multiple", multiple, positive=True)
        crossings = []
        gap = self.omega - ratio * self.speeds[:, None]
        for s, k in np.argwhere((gap[:-1] > 0.0) != (gap[1:] > 0.0)):
            speed, value, _ = self._crossing(int(s), int(k), lambda x, W: abs(x.imag) - ratio * W)
            if abs(value.imag) > 0.0:
                word = self.directions[s if self.speeds[s] > 0.0 else s + 1][k]
                crossings.append(CriticalSpeed(speed, ratio, int(k), word))
        return tuple(sorted(crossings))

    @property
    def stability_limit(self) -> float:
        """Lowest speed at which a mode grows, rad/s; infinite if none does up to the highest speed."""
        unstable = np.flatnonzero(self.grows.any(axis=1))
        if not len(unstable):
            return float("inf")
        s = int(unstable[0])
        if s == 0:
            return float(self.speeds[0])
        limits = []
        for k in np.flatnonzero(self.grows[s]):
            if self.growth[s - 1, k] >= 0.0:  # zero up to round-off: without damping
                return float(self.speeds[s - 1])
            limits.append(self._crossing(s - 1, int(k), lambda x, W: x.real)[0])
        return min(limits)

    def _crossing(self, s: int, k: int, gap: Any) -> tuple[float, complex, NDArray]:
        """Return the speed between numbers s and s + 1 where gap(lambda, speed) of mode k is zero, with lambda and shape."""
        before = (self.values[s, k], self.shapes[s, k])
        after = (self.values[s + 1, k], self.shapes[s + 1, k])
        first, last = self.speeds[s], self.speeds[s + 1]

        def followed(speed: float) -> tuple[complex, NDArray]:
            """Return the eigenvalue and shape at a speed that are closest to those at the nearer end."""
            if speed in (first, last):
                return before if speed == first else after
            part = (speed - first) / (last - first)
            nearby = self.rotor.modes_at(speed, self.values.shape[1] + MORE)
            near = (1.0 - part) * before[0] + part * after[0], before[1] if part < 0.5 else after[1]
            cost = mode_differences(nearby, np.array([near[0]]), near[1][None], self.rotor.size)[0]
            best = int(np.argmin(cost))
            return nearby.values[best], nearby.shapes[best]

        def zero(speed: float) -> float:
            return float(gap(followed(speed)[0], speed))

        speed = float(scipy.optimize.brentq(zero, first, last, xtol=REFINED * last, rtol=1e-12, maxiter=60))
        return speed, *followed(speed)

    def text(self) -> str:
        """Return a summary: modes at the lowest and the highest speed, critical speeds, stability, largest response."""
        rpm = 30.0 / np.pi
        lines = [f"{'mode':>4}" + "".join(f"  {f'at {W * rpm:.6g} rpm':>34}" for W in self.speeds[[0, -1]])]
        for k in range(self.values.shape[1]):
            columns = [
                f"  {self.frequency[s, k]:10.5g} Hz {self.directions[s][k]:>9} {self.log_decrement[s, k]:10.3g}"
                for s in (0, -1)
            ]
            lines.append(f"{k + 1:4d}" + "".join(columns))
        lines.append("(frequency, whirl, logarithmic decrement)")
        for critical in self.critical_speeds():
            lines.append(
                f"critical speed {critical.speed:.6g} rad/s = {critical.speed * rpm:.6g} rpm, mode {critical.mode + 1}, "
                f"{critical.whirl}"
            )
        limit = self.stability_limit
        lines.append(
            f"stable up to {self.speeds[-1] * rpm:.6g} rpm"
            if np.isinf(limit)
            else f"unstable from {limit:.6g} rad/s = {limit * rpm:.6g} rpm"
        )
        for j, point in enumerate(self.points):
            s = int(np.argmax(self.amplitude[:, j]))
            lines.append(
                f"unbalance moves {point} by at most {self.amplitude[s, j]:.4g} m, at {self.speeds[s] * rpm:.6g} rpm"
            )
        return "\n".join(lines)

    @property
    def frame(self) -> Any:
        """A table (pandas) with a row for each speed and mode."""
        pandas = extra("pandas", "studies", "Campbell.frame")
        s, n = self.values.shape
        return pandas.DataFrame(
            {
                "speed": np.repeat(self.speeds, n),
                "mode": np.tile(np.arange(n), s),
                "frequency": self.frequency.ravel(),
                "growth": self.growth.ravel(),
                "damping": self.damping.ravel(),
                "log_decrement": self.log_decrement.ravel(),
                "whirl": self.whirl.ravel(),
                "direction": [word for row in self.directions for word in row],
            }
        )

    def to_xarray(self) -> Any:
        """Return the data as a Dataset (xarray) over speed, mode and point, with units."""
        xr = extra("xarray", "notebook", "Campbell.to_xarray")
        lists = {
            "frequency": (self.frequency, "Hz"),
            "growth": (self.growth, "1/s"),
            "damping": (self.damping, "1"),
            "log_decrement": (self.log_decrement, "1"),
            "whirl": (self.whirl, "1"),
        }
        variables = {name: (("speed", "mode"), x, {"units": unit}) for name, (x, unit) in lists.items()}
        for name, x, unit in (("amplitude", self.amplitude, "m"), ("phase", self.phase, "rad")):
            variables[name] = (("speed", "point"), x, {"units": unit})
        coords = {
            "speed": ("speed", self.speeds, {"units": "rad/s"}),
            "mode": np.arange(self.values.shape[1]),
            "point": list(self.points),
        }
        return xr.Dataset(variables, coords)

    def plot(self, path: str | Path, multiples: Iterable[float] = (1.0,)) -> Path:
        """Draw the Campbell diagram, the logarithmic decrements and the response to unbalance in one picture.

        Parameters
        ----------
        path : str or Path
            File, .png, .pdf or .svg.
        multiples : iterable of float, default (1.0,)
            Multiples of the speed whose lines are drawn, with the critical speeds on them.

        Returns
        -------
        Path
        """
        from rodsim.small_motions.rotor_plots import draw

        return draw(
            self, Path(path), [checks.number("plot", "multiples", x, positive=True) for x in multiples]
        )


def mode_differences(candidates: Modes, values: NDArray, shapes: NDArray, size: float) -> Floats:
    """Return the differences (n, k) of modes (n) from candidates (k): 1 - MAC of shapes, and of eigenvalues."""
    scale = np.array([1.0, 1.0, 1.0, *3 * [TILT * size]])
    x, y = ((s * scale).reshape(len(s), -1) for s in (shapes, candidates.shapes))
    norms = np.linalg.norm(x, axis=1)[:, None] * np.linalg.norm(y, axis=1)
    alike = np.abs(x.conj() @ y.T) / np.maximum(norms, 1e-300)
    apart = np.abs(values[:, None] - candidates.values) / np.maximum(np.abs(values), 1e-300)[:, None]
    return np.asarray(1.0 - alike**2 + np.minimum(apart, 1.0))
