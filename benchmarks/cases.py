"""The bench cases B1 to B4: data and converged values, shared by all programs.

Units are SI-like. Quaternions are (w, x, y, z). The converged values at several instants (`reference_paths.py`) come
from refined solutions, checked by an independent discretisation (B1 to B3), or a closed form (B4); `floor` is
the relative error below which they cannot distinguish two programs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import cos, pi, sin

import numpy as np
from numpy.typing import NDArray

from benchmarks.reference_paths import PATHS, Path, Triple

Floats = NDArray[np.float64]


def steps_a_part(t_end: float, h: float, parts: int) -> int:
    """Number of steps of h in each of equal parts of `t_end`; raise ValueError if they do not fit."""
    steps = round(t_end / h / parts)
    if abs(steps * parts * h - t_end) > 1e-9 * t_end:
        raise ValueError(
            f"{parts} equal parts of {t_end} s are not multiples of h = {h}; use h = {t_end / parts / max(steps, 1):.6g}"
        )
    return steps


def _largest_distance(actual: object, expected: object) -> float:
    """Largest distance of two histories (instants, 3)."""
    difference = np.asarray(actual) - np.asarray(expected)
    return float(np.linalg.norm(difference, axis=1).max())


@dataclass(frozen=True)
class RodCase:
    """A straight rod, free or clamped at its start, moved by gravity or by an end load (a triangle in time).

    The load acts at the start node: force f(t) `force`, moment f(t) `moment`, both with inertial components;
    f rises linearly to `peak` at `t_peak` and falls to 0 at `t_unloaded`.
    """

    name: str
    title: str
    start: tuple[float, float, float]
    end: tuple[float, float, float]
    stiffness: tuple[float, float, float, float, float, float]  # EA, GA2, GA3, GJ, EI2, EI3
    mass_per_length: float  # kg/m
    inertia_per_length: tuple[float, float, float]  # kg m, about d1 (the axis), d2, d3
    t_end: float
    t_energy: float  # from here on the total energy is constant
    path: dict[str, Path]  # converged positions of "start", "end" at equal parts of t_end
    floor: float
    clamped: bool = False
    gravity: float = 0.0  # m/s^2, along `down`
    down: Triple = (0.0, 0.0, -1.0)
    peak: float = 0.0
    t_peak: float = 0.0
    t_unloaded: float = 0.0
    force: tuple[float, float, float] = (0.0, 0.0, 0.0)
    moment: tuple[float, float, float] = (0.0, 0.0, 0.0)

    @property
    def length(self) -> float:
        """Length of the rod, m."""
        return float(np.linalg.norm(np.subtract(self.end, self.start)))

    @property
    def axes(self) -> Floats:
        """Section axes in the start configuration as the columns of a rotation matrix, d1 along the rod."""
        d1 = np.subtract(self.end, self.start) / self.length
        d3 = np.array([0.0, 0.0, 1.0])  # both rods lie in the plane z = 0
        return np.column_stack([d1, np.cross(d3, d1), d3])

    def load_factor(self, t: float) -> float:
        """f(t): 0, up to `peak` at `t_peak`, down to 0 at `t_unloaded`, 0 after."""
        if t <= 0.0 or t >= self.t_unloaded:
            return 0.0
        if t <= self.t_peak:
            return self.peak * t / self.t_peak
        return self.peak * (self.t_unloaded - t) / (self.t_unloaded - self.t_peak)

    @property
    def weight(self) -> Floats:
        """Acceleration of gravity (3,), m/s^2."""
        return self.gravity * np.array(self.down)

    @property
    def instants(self) -> int:
        """Number of equal parts of `t_end` that end at a converged position."""
        return len(next(iter(self.path.values())))

    def error(self, start: Floats, end: Floats) -> float:
        """Largest distance of an end (instants, 3) from its converged position at any of the instants, over the length."""
        ends = {"start": start, "end": end}
        return max(_largest_distance(ends[k], positions) for k, positions in self.path.items()) / self.length


@dataclass(frozen=True)
class ChainCase:
    """N rigid bars in a row along x, pinned at the origin, released at rest; spherical joints between them,
    or hinges about `axes`.
    """

    name: str
    title: str
    n_bars: int
    t_end: float
    tip: Path | None = None  # converged positions of the free end at equal parts of t_end
    floor: float = 0.0
    bar_length: float = 1.0
    bar_side: float = 0.1
    density: float = 1000.0
    gravity: float = 9.81
    spin: float = 0.0  # rad/s, initial rotation of the whole chain about z: then the motion is spatial
    axes: Path = ()  # initial hinge axes, one for each bar
    down: Triple = (0.0, 0.0, -1.0)

    @property
    def weight(self) -> Floats:
        """Acceleration of gravity (3,), m/s^2."""
        return self.gravity * np.array(self.down)

    @property
    def mass(self) -> float:
        """Mass of one bar, kg."""
        return self.density * self.bar_length * self.bar_side**2

    @property
    def inertia(self) -> tuple[float, float, float]:
        """Principal moments of one bar about its centre, the first about its axis, kg m^2."""
        across = self.mass / 12.0 * (self.bar_length**2 + self.bar_side**2)
        return self.mass / 6.0 * self.bar_side**2, across, across

    @property
    def energy_scale(self) -> float:
        """Energy to which errors are relative: the weight times half the length of the chain, J."""
        return self.n_bars * self.mass * self.gravity * 0.5 * self.n_bars * self.bar_length

    @property
    def instants(self) -> int:
        """Number of equal parts of `t_end` at which the errors are evaluated."""
        return len(self.tip or (0,))

    def error(self, tip: Floats) -> float:
        """Largest distance of the free end (instants, 3) from its converged positions, relative to a bar
        length; nan if unknown.
        """
        return float("nan") if self.tip is None else _largest_distance(tip, self.tip) / self.bar_length


@dataclass(frozen=True)
class TopCase:
    """A spinning cone, tip down and pinned at the origin, in exact steady precession about z.

    R(t) = Rz(precession t) R0 Rz(spin t), R0 = Rx(tilt); the centre of mass is at R(t) (0, 0, l).
    """

    name: str
    title: str
    t_end: float
    floor: float
    density: float = 2700.0
    height: float = 0.1
    radius: float = 0.05
    tilt: float = pi / 3.0
    precession: float = 10.0
    spin: float = 135.6
    gravity: float = 9.81
    instants: int = 10  # number of equal parts of t_end at which the errors are evaluated

    @property
    def mass(self) -> float:
        """Mass of the cone, kg."""
        return self.density * pi * self.radius**2 * self.height / 3.0

    @property
    def offset(self) -> float:
        """Distance from the pinned tip to the centre of mass, m."""
        return 0.75 * self.height

    @property
    def inertia(self) -> tuple[float, float, float]:
        """Principal moments about the centre of mass, the last about the axis of the cone, kg m^2."""
        across = 3.0 / 20.0 * self.mass * (self.radius**2 + self.height**2 / 4.0)
        return across, across, 3.0 / 10.0 * self.mass * self.radius**2

    @property
    def quat(self) -> tuple[float, float, float, float]:
        """Start orientation Rx(tilt)."""
        return cos(self.tilt / 2.0), sin(self.tilt / 2.0), 0.0, 0.0

    @property
    def omega(self) -> Floats:
        """Start angular velocity, inertial axes, rad/s."""
        axis = np.array([0.0, -sin(self.tilt), cos(self.tilt)])
        return np.array([0.0, 0.0, self.precession]) + self.spin * axis

    @property
    def r(self) -> Floats:
        """Start position of the centre of mass, m."""
        return self.offset * np.array([0.0, -sin(self.tilt), cos(self.tilt)])

    @property
    def v(self) -> Floats:
        """Start velocity of the centre of mass, m/s."""
        return np.cross(self.omega, self.r)

    @property
    def energy_scale(self) -> float:
        """Energy to which errors are relative: the initial kinetic energy, J."""
        return self.energy(self.r, self.v, np.diag(np.array(self.inertia)), self.omega, potential=False)

    def energy(self, r: Floats, v: Floats, inertia: Floats, omega: Floats, potential: bool = True) -> float:
        """Kinetic and, by default, potential energy, J; `inertia`, `omega` in the same axes."""
        kinetic = 0.5 * self.mass * float(v @ v) + 0.5 * float(omega @ inertia @ omega)
        return kinetic + (self.mass * self.gravity * float(r[2]) if potential else 0.0)

    def error(self, r: Floats) -> float:
        """Largest distance of the centre of mass (instants, 3) from its exact positions, relative to
        `offset`.
        """
        phi = self.precession * self.t_end * np.arange(1, self.instants + 1) / self.instants
        across = sin(self.tilt) * np.array([np.sin(phi), -np.cos(phi)])
        exact = self.offset * np.column_stack([*across, np.full_like(phi, cos(self.tilt))])
        return _largest_distance(r, exact) / self.offset


def circular_section(radius: float, E: float, nu: float, shear: float) -> tuple[float, ...]:
    """(EA, GA2, GA3, GJ, EI2, EI3) of a full circular section."""
    G, A, inertia = E / (2.0 * (1.0 + nu)), pi * radius**2, pi * radius**4 / 4.0
    return E * A, shear * G * A, shear * G * A, 2.0 * G * inertia, E * inertia, E * inertia


B1 = RodCase(
    name="B1",
    title="flying spaghetti, ends at t = 1, 2 ... 10, largest error / length",
    start=(6.0, 0.0, 0.0),
    end=(0.0, 8.0, 0.0),
    stiffness=(1e4, 1e4, 1e4, 500.0, 500.0, 500.0),
    mass_per_length=1.0,
    inertia_per_length=(20.0, 10.0, 10.0),
    t_end=10.0,
    t_energy=5.0,
    path=PATHS["B1"],
    floor=1e-5,
    peak=200.0,
    t_peak=2.5,
    t_unloaded=5.0,
    force=(0.1, 0.0, 0.0),
    moment=(0.0, -0.5, -1.0),
)

_RADIUS, _DENSITY = 0.01, 1000.0
B2 = RodCase(
    name="B2",
    title="falling cantilever in its plane, tip at t = 0.2, 0.4 ... 1, largest error / length",
    start=(0.0, 0.0, 0.0),
    end=(1.0, 0.0, 0.0),
    stiffness=circular_section(_RADIUS, E=1e7, nu=0.3, shear=5.0 / 6.0),  # type: ignore[arg-type]
    mass_per_length=_DENSITY * pi * _RADIUS**2,
    inertia_per_length=tuple(_DENSITY * pi * _RADIUS**4 * c for c in (0.5, 0.25, 0.25)),  # type: ignore[arg-type]
    t_end=1.0,
    t_energy=0.0,
    path=PATHS["B2"],
    floor=1e-5,
    clamped=True,
    gravity=9.81,
)


def _unequal(height: float = 0.03, width: float = 0.015, E: float = 1e7, nu: float = 0.3) -> RodCase:
    """B2 with a section of two different stiffnesses, bent about an oblique axis: it bends both ways and
    twists.
    """
    G, A = E / 2.0 / (1.0 + nu), height * width
    I2, I3, torsion = height * width**3 / 12.0, width * height**3 / 12.0, 0.229 * height * width**3
    shear = 5.0 / 6.0 * G * A
    return replace(
        B2,
        name="B2-space",
        title="falling cantilever that bends both ways, tip at t = 0.2, 0.4 ... 1, largest error / length",
        stiffness=(E * A, shear, shear, G * torsion, E * I2, E * I3),
        mass_per_length=_DENSITY * A,
        inertia_per_length=(_DENSITY * (I2 + I3), _DENSITY * I2, _DENSITY * I3),
        path=PATHS["B2-space"],
        down=(0.0, sin(pi / 4.0), -cos(pi / 4.0)),
    )


B2_SPACE = _unequal()
B3_5 = ChainCase(
    "B3-5",
    "5 pinned rigid bars in their plane, free end at t = 0.4, 0.8 ... 2, largest error / bar",
    5,
    2.0,
    tip=PATHS["B3-5"]["end"],
    floor=1e-8,
)
B3_5_SPACE = replace(
    B3_5,
    name="B3-5-space",
    title="5 pinned rigid bars that also rotate about z, free end at t = 0.4, 0.8 ... 2, largest error / bar",
    tip=PATHS["B3-5-space"]["end"],
    spin=1.5,
)
B3_20 = replace(
    B3_5,
    name="B3-20",
    title="20 pinned rigid bars in their plane, free end at t = 0.4, 0.8 ... 2, largest error / bar",
    n_bars=20,
    tip=PATHS["B3-20"]["end"],
)
B3_100 = ChainCase(
    "B3-100",
    "100 pinned rigid bars in their plane, free end at t = 0.1, 0.2 ... 0.5, largest error / bar",
    100,
    0.5,
    tip=PATHS["B3-100"]["end"],
    floor=1e-8,
)


def _oblique(n: int) -> Path:
    """Directions that differ from joint to joint."""
    return tuple((x, y, z) for x, y, z in np.random.default_rng(1).standard_normal((n, 3)).tolist())


_OBLIQUE_DOWN = (1.0 / 86.0**0.5, 2.0 / 86.0**0.5, -9.0 / 86.0**0.5)
B3_5_OBLIQUE = replace(
    B3_5,
    name="B3-5-oblique",
    title="5 bars on hinges about axes that differ, gravity oblique, free end at t = 0.4, 0.8 ... 2, largest error / bar",
    tip=PATHS["B3-5-oblique"]["end"],
    axes=_oblique(5),
    down=_OBLIQUE_DOWN,
)
B3_20_OBLIQUE = replace(
    B3_20,
    name="B3-20-oblique",
    title="20 bars on hinges about axes that differ, gravity oblique, free end at t = 0.4, 0.8 ... 2, largest error / bar",
    tip=PATHS["B3-20-oblique"]["end"],
    axes=_oblique(20),
    down=_OBLIQUE_DOWN,
)
B3_100_OBLIQUE = replace(
    B3_100,
    name="B3-100-oblique",
    title="100 bars on hinges about axes that differ, gravity oblique, free end at t = 0.1, 0.2 ... 0.5, largest error / bar",
    tip=PATHS["B3-100-oblique"]["end"],
    axes=_oblique(100),
    down=_OBLIQUE_DOWN,
)
B3_500 = ChainCase("B3-500", "500 pinned rigid bars to t = 0.2, time a step", 500, 0.2)
B4 = TopCase(
    "B4",
    "heavy top in steady precession, centre of mass at t = 0.2, 0.4 ... 2, largest error / its distance",
    2.0,
    floor=1e-13,
)
