"""Currents and waves: velocities of a fluid as functions of place and time, see `rigid.interactions.flow_fields`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # submodules are loaded on first access
from numpy.typing import ArrayLike

from rigid import checks
from rigid.checks import number, shown, vector
from rigid.errors import ModelError
from rigid.interactions import formula_programs
from rigid.interactions.flow_fields import FORMULA, POWER_LAW, ROW, TABLE, UNIFORM
from rigid.system import Floats
from rodsim.expressions import (
    ARRAY_FUNCTIONS,
    canonical,
    evaluated,
    names_in,
    parameters_of,
    parsed,
    tree_of,
)

DEEP = 1e200  # depth of deep water, m: a number that compiled code can multiply


@dataclass(frozen=True)
class PowerLaw:
    """A current or wind that grows with height: velocity ((z - base)/height)^exponent, zero below the base.

    Parameters
    ----------
    velocity : array_like, shape (3,)
        Velocity at the reference height, m/s.
    height : float
        Height of reference above the base, m.
    exponent : float, default 1/7
        Exponent; 0.14 is usual over land and sea.
    base : float, default 0.0
        Height, against gravity from the origin, at which the velocity is zero, m.

    Raises
    ------
    ModelError
        If a number is not finite, the height is not positive, or the exponent is negative.

    Examples
    --------
    >>> from rodsim import fluids
    >>> fluids.PowerLaw((10, 0, 0), height=10.0).at(80.0).round(3).tolist()
    [13.459, 0.0, 0.0]
    """

    velocity: Any
    height: float
    exponent: float = 1.0 / 7.0
    base: float = 0.0

    def __post_init__(self) -> None:
        owner = "PowerLaw"
        object.__setattr__(self, "velocity", vector(owner, "velocity", self.velocity))
        object.__setattr__(self, "height", number(owner, "height", self.height, positive=True))
        object.__setattr__(self, "exponent", number(owner, "exponent", self.exponent, at_least=0.0))
        object.__setattr__(self, "base", number(owner, "base", self.base))

    def at(self, z: ArrayLike) -> Floats:
        """Return the velocity at a height.

        Parameters
        ----------
        z : array_like
            Heights, m.

        Returns
        -------
        array, shape (..., 3)
            Velocities, m/s.
        """
        above = np.maximum((np.asarray(z, float) - self.base) / self.height, 0.0)
        grown: Floats = np.where(above > 0.0, above**self.exponent, 0.0)[..., None] * self.velocity
        return grown

    def numbers(self) -> list[float]:
        """Return the numbers of the current as compiled code reads them.

        Returns
        -------
        list of float
            Law, number of rows, and rows of four numbers (`rigid.interactions.flow_fields`).
        """
        return [POWER_LAW, 2, self.exponent, *self.velocity, self.base, self.height, 0.0, 0.0]


@dataclass(frozen=True)
class Profile:
    """A current or wind as a table over height: linear between its heights, constant below the first and above the last.

    Parameters
    ----------
    z : array_like, shape (n,)
        Increasing heights, against gravity from the origin, m; negative below it.
    velocity : array_like, shape (n, 3)
        Velocities at these heights, m/s.

    Raises
    ------
    ModelError
        If heights do not increase, or a number is missing or not finite.

    Examples
    --------
    >>> from rodsim import fluids
    >>> fluids.Profile([-200, 0], [[0.2, 0, 0], [1.0, 0, 0]]).at(-50.0).tolist()
    [0.8, 0.0, 0.0]
    """

    z: Any
    velocity: Any

    def __post_init__(self) -> None:
        owner = "Profile"
        z = checks.array(owner, "z", self.z, (None,))
        velocity = checks.array(owner, "velocity", self.velocity, (None, 3))
        if len(z) != len(velocity) or len(z) < 2:
            raise ModelError(
                f"{owner}: {len(z)} heights and {len(velocity)} velocities. Give a velocity (3,) for each of two or more heights"
            )
        if (k := int(np.argmin(np.diff(z)))) >= 0 and not z[k + 1] > z[k]:
            raise ModelError(
                f"{owner}: the height z[{k + 1}] = {z[k + 1]:g} m is not above z[{k}] = {z[k]:g} m. Sort the table by height"
            )
        object.__setattr__(self, "z", z)
        object.__setattr__(self, "velocity", velocity)

    def at(self, z: ArrayLike) -> Floats:
        """Return the velocity at a height.

        Parameters
        ----------
        z : array_like
            Heights, m.

        Returns
        -------
        array, shape (..., 3)
            Velocities, m/s.
        """
        heights = np.asarray(z, float)
        return np.stack([np.interp(heights, self.z, column) for column in self.velocity.T], axis=-1)

    def numbers(self) -> list[float]:
        """Return the numbers of the current as compiled code reads them.

        Returns
        -------
        list of float
            Law, number of rows, and rows of four numbers (`rigid.interactions.flow_fields`).
        """
        return [TABLE, len(self.z), *np.column_stack([self.z, self.velocity]).ravel()]


@dataclass(frozen=True)
class Formula:
    """A current or wind as a function of place and time: three formulas of x, y, z and t.

    Parameters
    ----------
    velocity : sequence of str, length 3
        Components of the velocity, m/s, as formulas of the coordinates x, y, z (m) and the time t (s). They may contain pi,
        + - * / ** and sqrt, exp, log, sin, cos, tan, sinh, cosh, tanh, atan.

    Raises
    ------
    ModelError
        If there are not three formulas, or one cannot be read, contains another name, or needs more than eight operands at once.

    Notes
    -----
    The acceleration of the fluid, dU/dt + (U . grad) U, pushes the displaced volume; other currents have none.

    Examples
    --------
    >>> from rodsim import fluids
    >>> shear = fluids.Formula(["0.5*exp(z/20)", "0.1*sin(2*pi*t/30)", "0"])
    >>> shear.at([0.0, 0.0, -20.0], 7.5).round(3).tolist()
    [0.184, 0.1, 0.0]
    """

    velocity: Any

    def __post_init__(self) -> None:
        owner, texts = "Formula", self.velocity
        if isinstance(texts, str) or not isinstance(texts, Sequence) or len(texts) != 3:
            raise ModelError(f"{owner}: velocity = {shown(texts)}; give three formulas of x, y, z and t")
        for text in texts:
            if unknown := parameters_of(canonical(owner, text, VARIABLES), VARIABLES):
                raise ModelError(
                    f"{owner}: {shown(text)} contains '{unknown[0]}'; a formula may contain {', '.join(VARIABLES)} and pi"
                )
        object.__setattr__(self, "velocity", tuple(canonical(owner, text, VARIABLES) for text in texts))
        self.numbers()

    @property
    def varies(self) -> bool:
        """True if the velocity depends on the time."""
        return any("t" in names_in(parsed(text)) for text in self.velocity)

    def at(self, place: ArrayLike, t: float = 0.0) -> Floats:
        """Return the velocity at places.

        Parameters
        ----------
        place : array_like, shape (..., 3)
            Places, m.
        t : float, default 0.0
            Time, s.

        Returns
        -------
        array, shape (..., 3)
            Velocities, m/s.
        """
        x = np.asarray(place, float)
        values = {
            "x": x[..., 0],
            "y": x[..., 1],
            "z": x[..., 2],
            "t": number("Formula", "t", t),
            "pi": math.pi,
        }
        functions: dict[str, Any] = {**ARRAY_FUNCTIONS, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh}
        columns = [evaluated(parsed(text), values, functions) for text in self.velocity]
        return np.stack([np.broadcast_to(column, x.shape[:-1]) for column in columns], axis=-1)

    def numbers(self) -> list[float]:
        """Return the numbers of the current as compiled code reads them.

        Returns
        -------
        list of float
            Law, number of rows, and three programs (`rigid.interactions.formula_programs`), padded to rows of four numbers.
        """
        programs: list[float] = []
        for text in self.velocity:
            words = _program(text)
            programs += [len(words), *words]
        programs += [0.0] * (-len(programs) % ROW)
        return [FORMULA, len(programs) // ROW, *programs]


VARIABLES = ("x", "y", "z", "t")
_OPERATIONS = {"neg": "NEGATIVE", "add": "SUM", "sub": "DIFFERENCE", "mul": "PRODUCT", "div": "QUOTIENT"}


def _program(text: str) -> list[float]:
    """Return the program of a formula (`rigid.interactions.formula_programs`); ModelError if it needs too many operands."""
    words: list[float] = []

    def write(node: Any, depth: int) -> None:
        """Append the program of a node with `depth` operands below it."""
        word, *operands = node
        if depth >= formula_programs.DEPTH:
            raise ModelError(
                f"Formula: {shown(text)} needs more than {formula_programs.DEPTH} operands at once. Write it with fewer brackets"
            )
        if word == "num":
            words.extend([formula_programs.CONSTANT, operands[0]])
        elif word == "strain":
            words.extend([formula_programs.VARIABLE, operands[0]])
        elif word == "pow":
            exponent = operands[1][1]
            if not float(exponent).is_integer():
                write(operands[0], depth)
                words.extend([formula_programs.POWER, exponent])
            elif exponent < 0:
                write(("div", ("num", 1.0), ("pow", operands[0], ("num", -exponent))), depth)
            else:
                write(operands[0], depth)
                words.extend([formula_programs.WHOLE_POWER, exponent])
        else:
            for k, operand in enumerate(operands):
                write(operand, depth + k)
            words.append(getattr(formula_programs, _OPERATIONS.get(word, word.upper())))

    write(tree_of(text, VARIABLES), 0)
    return words


@dataclass(frozen=True)
class AiryWave:
    """A regular wave of small amplitude on a surface at rest; its surface is at height/2 cos(k s - 2 pi t/period + phase).

    Above the mean level the velocity is that at the level. Several waves add.

    Parameters
    ----------
    height : float
        From trough to crest, m.
    period : float
        Period, s.
    direction : array_like, shape (3,), default (1, 0, 0)
        Direction of travel; its horizontal part counts.
    phase : float, default 0.0
        Phase at the origin at t = 0, rad.

    Raises
    ------
    ModelError
        If a number is not finite, the height is negative, or the period is not positive.

    Notes
    -----
    R. G. Dean and R. A. Dalrymple, Water Wave Mechanics for Engineers and Scientists (1991), chapter 3.

    Examples
    --------
    >>> from rodsim import fluids
    >>> wave = fluids.AiryWave(height=2.0, period=8.0)
    >>> round(wave.wave_number(9.81), 5), round(wave.wave_number(9.81, depth=10.0), 5)
    (0.06288, 0.08862)
    """

    height: float
    period: float
    direction: Any = (1.0, 0.0, 0.0)
    phase: float = 0.0

    def __post_init__(self) -> None:
        owner = "AiryWave"
        object.__setattr__(self, "height", number(owner, "height", self.height, at_least=0.0))
        object.__setattr__(self, "period", number(owner, "period", self.period, positive=True))
        object.__setattr__(self, "direction", checks.direction(owner, "direction", self.direction))
        object.__setattr__(self, "phase", number(owner, "phase", self.phase))

    def wave_number(self, gravity: float, depth: float | None = None) -> float:
        """Return the wave number k of w^2 = g k tanh(k depth).

        Parameters
        ----------
        gravity : float
            Size of the acceleration of gravity, m/s^2.
        depth : float, optional
            Depth of the water, m; by default deep water.

        Returns
        -------
        float
            Wave number, rad/m.
        """
        deep = (2.0 * math.pi / self.period) ** 2 / gravity
        if depth is None:
            return deep
        k = deep / math.sqrt(math.tanh(min(deep * depth, 50.0)))  # within 5 % (Eckart)
        for _ in range(50):
            tanh = math.tanh(k * depth)
            residual, slope = k * tanh - deep, tanh + k * depth * (1.0 - tanh * tanh)
            k -= residual / slope
            if abs(residual) <= 4e-16 * deep:
                break
        return k

    def numbers(self, up: Floats, gravity: float, depth: float | None, build_up: float) -> list[float]:
        """Return the numbers of the wave as compiled code reads them.

        Parameters
        ----------
        up : array, shape (3,)
            Direction against gravity.
        gravity : float
            Size of the acceleration of gravity, m/s^2.
        depth : float or None
            Depth of the water, m; None: deep water.
        build_up : float
            Time over which the wave grows, s.

        Returns
        -------
        list of float
            Direction, wave number, frequency, amplitude, phase, depth, time (`rigid.interactions.flow_fields`).
        """
        e = self.direction - (self.direction @ up) * up
        size = float(np.linalg.norm(e))
        if size < 1e-6:
            raise ModelError(
                f"AiryWave: its direction {self.direction.tolist()} is vertical. Give a horizontal direction"
            )
        k = self.wave_number(gravity, depth)
        frequency = 2.0 * math.pi / self.period
        deep = DEEP if depth is None else depth
        return [*(e / size), k, frequency, 0.5 * self.height, self.phase, deep, build_up]


@dataclass(frozen=True)
class Polar:
    """Coefficients of lift, drag and moment of a section over the angle of attack, linear between its angles.

    Parameters
    ----------
    angle : array_like, shape (n,)
        Increasing angles of attack, degrees. A polar from -180 to 180 covers every angle; another one refuses an angle beyond it.
    lift, drag : array_like, shape (n,)
        Coefficients on the area chord times length.
    moment : array_like, shape (n,), optional
        Coefficient about the centre of `Model.add_airfoil`, positive nose up, on that area times the chord; by default zero.

    Raises
    ------
    ModelError
        If lengths differ, angles do not increase, a number is not finite, or the drag is negative.

    Examples
    --------
    >>> from rodsim import fluids
    >>> fluids.Polar([-10, 0, 10], lift=[-1, 0, 1], drag=[0.02, 0.01, 0.02]).at(5.0).tolist()
    [0.5, 0.015, 0.0]
    """

    angle: Any
    lift: Any
    drag: Any
    moment: Any = None

    def __post_init__(self) -> None:
        angle = checks.array("Polar", "angle", self.angle, (None,))
        if len(angle) < 2 or np.diff(angle).min() <= 0.0 or angle[0] < -180.0 or angle[-1] > 180.0:
            raise ModelError(
                f"Polar: angle = {shown(self.angle)}. Give two or more increasing angles from -180 to 180 degrees"
            )
        object.__setattr__(self, "angle", angle)
        for name in ("lift", "drag", "moment"):
            given = getattr(self, name)
            values = np.zeros(len(angle)) if given is None else checks.array("Polar", name, given, (None,))
            if len(values) != len(angle):
                raise ModelError(
                    f"Polar: {len(angle)} angles, but {len(values)} values of {name}. Give one for each angle"
                )
            object.__setattr__(self, name, values)
        if self.drag.min() < 0.0:
            raise ModelError(
                f"Polar: the drag {self.drag.min():g} is negative. Drag coefficients are zero or positive"
            )

    def at(self, angle: float) -> Floats:
        """Return the coefficients of lift, drag and moment at an angle of attack.

        Parameters
        ----------
        angle : float
            Angle of attack, degrees; within the polar.

        Returns
        -------
        array, shape (3,)
            Coefficients.
        """
        return np.array([np.interp(angle, self.angle, x) for x in (self.lift, self.drag, self.moment)])

    def numbers(self) -> list[float]:
        """Return the polar as compiled code reads it.

        Returns
        -------
        list of float
            Number of rows, and rows of angle (rad) and three coefficients (`rigid.interactions.airfoil`).
        """
        rows = np.column_stack([np.radians(self.angle), self.lift, self.drag, self.moment])
        return [len(rows), *rows.ravel()]


def ellipsoid_added_mass(semi_axes: ArrayLike, density: float) -> Floats:
    """Return the added mass of an ellipsoid in an unbounded fluid without viscosity.

    The integrals a_0 = a b c int_0^inf dx/((a^2 + x) D), D = sqrt((a^2 + x)(b^2 + x)(c^2 + x)), and likewise b_0 and c_0, give
    the added mass along the first axis, rho V a_0/(2 - a_0). The added moment of inertia about it is

        rho V/5 (b^2 - c^2)^2 (c_0 - b_0)/(2 (b^2 - c^2) + (b^2 + c^2)(b_0 - c_0))

    Parameters
    ----------
    semi_axes : array_like, shape (3,)
        Semi-axes a, b, c, m.
    density : float
        Density rho of the fluid, kg/m^3.

    Returns
    -------
    array, shape (6,)
        Added masses along the three axes, kg, and moments of inertia about them, kg m^2: `added_mass` of
        `Model.add_submerged_body` for a point at the centre and a body whose axes are those of the ellipsoid.

    Raises
    ------
    ModelError
        If a number is not positive.

    Notes
    -----
    H. Lamb, Hydrodynamics, 6th ed. (1932), articles 114 and 115.

    Examples
    --------
    >>> from rodsim import fluids
    >>> fluids.ellipsoid_added_mass((1, 1, 1), 1000.0).round(2).tolist()
    [2094.4, 2094.4, 2094.4, 0.0, 0.0, 0.0]
    """
    axes = vector("ellipsoid_added_mass", "semi_axes", semi_axes)
    if axes.min() <= 0.0:
        raise ModelError(f"ellipsoid_added_mass: semi_axes = {axes.tolist()}. Give three positive lengths")
    mass = (
        number("ellipsoid_added_mass", "density", density, positive=True) * 4.0 / 3.0 * math.pi * axes.prod()
    )
    squares = axes**2
    across = [np.delete(squares, k) for k in range(3)]
    shares = np.array(
        [2.0 / 3.0 * axes.prod() * scipy.special.elliprd(*across[k], squares[k]) for k in range(3)]
    )
    moments = []
    for k in range(3):
        (b, c), (b0, c0) = across[k], np.delete(shares, k)
        if abs(b - c) < 1e-6 * (b + c):  # nearly a body of revolution, which takes no fluid along
            moments.append(0.0)
            continue
        moments.append(0.2 * mass * (b - c) ** 2 * (c0 - b0) / (2.0 * (b - c) + (b + c) * (b0 - c0)))
    return np.concatenate([mass * shares / (2.0 - shares), moments])


CURRENTS: dict[str, Any] = {"power law": PowerLaw, "profile": Profile, "formula": Formula}
Current = PowerLaw | Profile | Formula


def check_current(owner: str, what: str, value: Any) -> Floats | Current:
    """Return a current: a velocity (3,), or one of `CURRENTS`."""
    return value if isinstance(value, Current) else vector(owner, what, value)


def current_numbers(current: Floats | Current | None) -> list[float]:
    """Return the numbers of a current; None: there is none."""
    if isinstance(current, Current):
        return current.numbers()
    return [UNIFORM, 1, 0.0, *(np.zeros(3) if current is None else current)]


def check_waves(owner: str, what: str, value: Any) -> tuple[AiryWave, ...]:
    """Return waves; one wave stands for a list of one."""
    waves = [value] if isinstance(value, AiryWave) else value
    if not isinstance(waves, Sequence) or not all(isinstance(wave, AiryWave) for wave in waves):
        raise ModelError(
            f"{owner}: {what} = {shown(value)}. Give fluids.AiryWave(height, period), or a list of them"
        )
    return tuple(waves)
