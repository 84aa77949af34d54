"""Shapes in which heavy lines hang: the catenary between two points, free or partly on a level bed.

With c = H/w, the horizontal tension over the weight per length, and arc length sigma from the lowest point, horizontal and
vertical positions are

    x = c asinh(sigma/c),   z = (c^2 + sigma^2)^(1/2) - c                                                              (1)

A free line of length L between points at the horizontal distance D and the height difference v has (L^2 - v^2)^(1/2) =
2 c sinh(D/(2 c)), and its lowest point at the distance D/2 - c artanh(v/L) from a. If it would hang below the bed, a part of it
lies there, and the tension in that part is H. The parts that hang from heights h_i above the bed have the lengths and widths

    S_i = (h_i^2 + 2 h_i c)^(1/2),   X_i = c arcosh(1 + h_i/c),   D - X_a - X_b = L - S_a - S_b                        (2)

In a uniform current u the drag acts across the line. With the tension T over the weight per length, its direction t, and the drag
number q = rho d C_d/(2 w),

    r' = t,   T' = up - q |u_n| u_n,   u_n = u - (u . t) t                                                              (3)

is integrated from a, and T there is found so that the line ends at b. A part on a level bed without friction lies in the plane
of the bed, and the bed carries what is vertical in (3). The line touches down and lifts off tangentially, with a horizontal T:
these conditions determine where it does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy  # submodules are imported on first access
from numpy.typing import ArrayLike

from rigid.checks import direction, number, vector
from rigid.errors import ModelError
from rigid.system import Floats
from rodsim.components.space_curves import VectorisedCurve

_OWNER = "catenary"
_STEEPEST = 1e-9  # smallest horizontal distance of the ends, over the length of the line
_LARGEST_SAG = 600.0  # largest D/(2 c); sinh of more overflows
_PARTS = 4  # number of steps in which the drag of a current grows
_ON_BED = 1e-9  # largest height above the bed of an end that lies on it, over the length of the line
_MISSED = 1e-8  # largest distance of the end of a line in a current from b, over its length


class Catenary(VectorisedCurve):
    """Curve of a line that hangs between two points, as a function of the fraction s of its length.

    a, b: ends (3,), m; length: m; up: unit vector against the weight; bed: height, m, of a level bed; None: no bed.
    """

    NOT_IN_KEYS = ("given",)

    def __init__(self, a: Floats, b: Floats, length: float, up: Floats, bed: float | None):
        self.a, self.length, self.up = a, length, up
        self.given: dict[str, Any] | None = None  # keys of the curve in a scene
        self.rise = float((b - a) @ up)
        across = b - a - self.rise * up
        self.distance = float(np.linalg.norm(across))
        self._check_length(float(np.linalg.norm(b - a)))
        self.along = across / self.distance
        self.c, self.at_a = self._free()
        self.hanging_a, self.on_bed = 0.0, -1.0  # -1: no part lies on the bed
        if bed is None:
            return
        heights = float(a @ up) - bed, float(b @ up) - bed
        if min(heights) < -1e-12 * max(self.length, *map(abs, heights)):
            raise ModelError(
                f"{_OWNER}: an end is {-min(heights):.3g} m below the bed; give a lower bed, or higher ends"
            )
        h_a, h_b = (max(h, 0.0) for h in heights)
        # lowest point of a free line, if it lies between the ends
        dips = -self.length < self.at_a < 0.0
        if dips and self._height(0.0) - self._height(self.at_a) < -h_a:
            self._lay_down(h_a, h_b)

    def _check_length(self, straight: float) -> None:
        """Raise ModelError if the line is too short, or its ends are above each other."""
        if self.length <= straight:
            raise ModelError(
                f"{_OWNER}: length = {self.length:g} m is not more than the distance of the ends, {straight:g} m; give a longer "
                "line, or draw it straight"
            )
        if self.distance <= _STEEPEST * self.length:
            raise ModelError(
                f"{_OWNER}: one end is above the other; draw the line as points, down and up again"
            )

    def _free(self) -> tuple[float, float]:
        """Return c and the arc length at a, from the lowest point, of a line without a bed."""
        ratio = np.sqrt(self.length**2 - self.rise**2) / self.distance

        def excess(u: float) -> float:
            return float(np.log(np.sinh(u) / u) - np.log(ratio))

        if excess(_LARGEST_SAG) < 0.0:
            raise ModelError(
                f"{_OWNER}: the line is {self.length / self.distance:.3g} times as long as its ends are apart; give a shorter one"
            )
        # sinh(u)/u > 1 + u^2/6 gives a lower bound of every solution
        lowest = min(1e-8, 0.5 * np.sqrt(6.0 * max(ratio - 1.0, 1e-300)))
        u = scipy.optimize.brentq(excess, lowest, _LARGEST_SAG, xtol=1e-300, rtol=1e-15)
        c = self.distance / (2.0 * u)
        return c, c * float(np.sinh(np.arctanh(self.rise / self.length) - u))

    def _lay_down(self, h_a: float, h_b: float) -> None:
        """Find c by (2) of a line that lies on the bed in part."""

        def hanging(c: float, h: float) -> tuple[float, float]:
            return float(np.sqrt(h * h + 2.0 * h * c)), float(c * np.arccosh(1.0 + h / c))

        def misfit(c: float) -> float:
            (S_a, X_a), (S_b, X_b) = hanging(c, h_a), hanging(c, h_b)
            return (self.distance - X_a - X_b) - (self.length - S_a - S_b)

        least = 1e-12 * self.length
        if misfit(least) <= 0.0:
            raise ModelError(
                f"{_OWNER}: length = {self.length:g} m is more than both heights above the bed and the distance of the ends, "
                f"{h_a + h_b + self.distance:g} m: it would lie in heaps; give a shorter line"
            )
        most = self.c
        while misfit(most) > 0.0:
            most *= 2.0
        self.c = float(scipy.optimize.brentq(misfit, least, most, xtol=1e-300, rtol=1e-15))
        self.hanging_a, hanging_b = hanging(self.c, h_a)[0], hanging(self.c, h_b)[0]
        self.on_bed = self.length - self.hanging_a - hanging_b
        self.at_a = -self.hanging_a

    def _height(self, sigma: Any) -> Any:
        """Return z of (1); without cancellation near the lowest point."""
        return sigma * sigma / (np.sqrt(self.c * self.c + sigma * sigma) + self.c)

    def __call__(self, s: ArrayLike) -> Floats:
        """Return points (..., 3), m, at fractions s, of any shape, of the length."""
        sigma = self.at_a + self.length * np.asarray(s, dtype=float)
        lying = np.zeros_like(sigma)
        if self.on_bed >= 0.0:  # the part on the bed has sigma = 0
            lying = np.clip(sigma, 0.0, self.on_bed)
            sigma = sigma - lying
        x = self.c * (np.arcsinh(sigma / self.c) - np.arcsinh(self.at_a / self.c)) + lying
        z = self._height(sigma) - self._height(self.at_a)
        return self.a + x[..., None] * self.along + z[..., None] * self.up


class LineInCurrent(VectorisedCurve):
    """Curve (3) of a line that hangs between two points in a uniform current, as a function of the fraction s of its length.

    start: T at a without a current; current: u, m/s; drag: q, s^2/m^2; the other arguments are those of `Catenary`.
    """

    NOT_IN_KEYS = ("given", "path")

    def __init__(
        self,
        ends: tuple[Floats, Floats],
        length: float,
        up: Floats,
        start: Floats,
        current: Floats,
        drag: float,
    ):
        self.a, self.b = ends
        self.length, self.up, self.current, self.drag = length, up, current, drag
        self.given: dict[str, Any] | None = None  # keys of the curve in a scene
        tension, solved = start, False
        for part in np.linspace(0.0, 1.0, _PARTS + 1)[1:]:  # the current grows, so that the root is near
            root = scipy.optimize.root(lambda T, part=part: self._misfit(T, part), tension, tol=1e-10)
            tension, solved = root.x, bool(np.abs(root.fun).max() < _MISSED)
        if not solved:
            raise ModelError(
                f"{_OWNER}: no shape of the line in this current was computed; give a smaller current or drag, or draw the line "
                "without them"
            )
        self.path = self._integrated(tension, 1.0).sol

    def _integrated(self, tension: Floats, part: float) -> Any:
        """Integrate (3), with lengths over that of the line, from T at a, with this part of the drag."""
        return self._along(np.concatenate([np.zeros(3), tension]), (0.0, 1.0), part)

    def _along(self, start: Floats, span: tuple[float, float], part: float, lies: bool = False) -> Any:
        """Integrate (3) from r and T at one fraction of the length to another; lies: whether that part is on the bed."""
        q, up = part * self.drag, self.up

        def rates(_: float, y: Floats) -> Floats:
            T = y[3:] - (y[3:] @ up) * up if lies else y[3:]
            t = T / np.linalg.norm(T)
            across = self.current - (self.current @ t) * t
            force = up - q * np.linalg.norm(across) * across
            return np.concatenate([t, force - (force @ up) * up if lies else force])

        return scipy.integrate.solve_ivp(
            rates, span, start, method="DOP853", rtol=1e-10, atol=1e-12, dense_output=True
        )

    def _misfit(self, tension: Floats, part: float) -> Floats:
        """Return the distance (3,) of the end from b, over the length."""
        end: Floats = self._integrated(tension, part).y[:3, -1] - (self.b - self.a) / self.length
        return end

    def __call__(self, s: ArrayLike) -> Floats:
        """Return points (..., 3), m, at fractions s, of any shape, of the length."""
        fractions = np.asarray(s, dtype=float)
        points = self.path(fractions.ravel())[:3].T.reshape(*fractions.shape, 3)
        return self.a + self.length * points


class LineOnBedInCurrent(LineInCurrent):
    """Curve (3) of a line in a uniform current that hangs from one end or from both and lies on a level bed between.

    resting: the line without a current, from a to b; the other arguments are those of `LineInCurrent`.
    """

    NOT_IN_KEYS = ("given", "pieces")

    def __init__(
        self, ends: tuple[Floats, Floats], resting: Catenary, bed: float, current: Floats, drag: float
    ):
        self.a, self.b = ends
        self.length, self.up, self.current, self.drag = resting.length, resting.up, current, drag
        self.given: dict[str, Any] | None = None  # keys of the curve in a scene
        self.bed = bed
        self.hangs = resting.hanging_a > 0.0  # from a, too
        along, side = resting.along, np.cross(resting.up, resting.along)
        self._axes = np.array([along, side, resting.up] if self.hangs else [along, side])
        tension = np.array([resting.c, 0.0, -resting.hanging_a][: len(self._axes)]) / self.length
        lengths = [resting.hanging_a, resting.on_bed] if self.hangs else [resting.on_bed]
        unknowns, solved = np.concatenate([tension, np.array(lengths) / self.length]), False
        for part in np.linspace(0.0, 1.0, _PARTS + 1)[1:]:
            root = scipy.optimize.root(lambda x, part=part: self._misfits(x, part), unknowns, tol=1e-10)
            unknowns, solved = root.x, bool(np.abs(root.fun).max() < _MISSED)
        if not solved or unknowns[-1] < 0.0 or (self.hangs and unknowns[-2] < 0.0):
            raise ModelError(
                f"{_OWNER}: no shape of the line on the bed was computed in this current. Give a smaller current or drag, "
                "or draw the line without them"
            )
        self.pieces = self._parts(unknowns, 1.0)

    def _parts(self, unknowns: Floats, part: float) -> list[Any]:
        """Integrate the parts that hang from a, lie, and hang from b, each with its first fraction of the length."""
        n = len(self._axes)
        start, at, out = np.concatenate([np.zeros(3), unknowns[:n] @ self._axes]), 0.0, []
        lengths = unknowns[n:] if self.hangs else (0.0, *unknowns[n:])
        for end, lies in ((lengths[0], False), (lengths[0] + lengths[1], True), (1.0, False)):
            if end != at:
                out.append((at, self._along(start, (at, end), part, lies)))
                start, at = out[-1][1].y[:, -1], float(end)
        return out

    def _misfits(self, unknowns: Floats, part: float) -> Floats:
        """Return the distance of the end from b, over the length, and height and vertical T where the line touches down."""
        parts = self._parts(unknowns, part)
        misfit: Floats = parts[-1][1].y[:3, -1] - (self.b - self.a) / self.length
        if self.hangs:
            down = parts[0][1].y[:, -1]
            depth = (float(self.a @ self.up) - self.bed) / self.length
            misfit = np.concatenate([misfit, [down[:3] @ self.up + depth, down[3:] @ self.up]])
        return misfit

    def __call__(self, s: ArrayLike) -> Floats:
        """Return points (..., 3), m, at fractions s, of any shape, of the length."""
        fractions = np.asarray(s, dtype=float)
        flat, points = fractions.ravel(), np.zeros((fractions.size, 3))
        for first, piece in self.pieces:
            use = flat >= first
            if use.any():
                points[use] = piece.sol(flat[use])[:3].T
        return self.a + self.length * points.reshape(*fractions.shape, 3)


class Reversed(VectorisedCurve):
    """A curve from its end to its start."""

    NOT_IN_KEYS = ("given",)

    def __init__(self, curve: LineOnBedInCurrent):
        self.curve, self.a, self.length = curve, curve.b, curve.length
        self.given: dict[str, Any] | None = None  # keys of the curve in a scene

    def __call__(self, s: ArrayLike) -> Floats:
        """Return points (..., 3), m, at fractions s, of any shape, of the length."""
        return self.curve(1.0 - np.asarray(s, dtype=float))


def _in_current(
    ends: tuple[Floats, Floats], resting: Catenary, bed: float | None, current: Floats, drag: float
) -> LineInCurrent | Reversed:
    """Return the line in a current, which may lift it off the bed; `resting`: the line without it."""
    if resting.on_bed >= 0.0 and bed is not None:
        try:
            if (
                resting.hanging_a <= _ON_BED * resting.length
                or float(ends[1] @ resting.up) > bed + _ON_BED * resting.length
            ):
                return LineOnBedInCurrent(ends, resting, bed, current, drag)
            # the part that hangs from b has no length: begin there
            backwards = Catenary(ends[1], ends[0], resting.length, resting.up, bed)
            return Reversed(LineOnBedInCurrent(ends[::-1], backwards, bed, current, drag))
        except ModelError:
            line = _free_in_current(ends, resting, current, drag)
            if np.min(line(np.linspace(0.0, 1.0, 201)) @ resting.up) > bed - _ON_BED * resting.length:
                return line
            raise
    return _free_in_current(ends, resting, current, drag)


def _free_in_current(
    ends: tuple[Floats, Floats], resting: Catenary, current: Floats, drag: float
) -> LineInCurrent:
    """Return the line in a current without a bed, which begins with the tension of the one without a current."""
    tension = (resting.c * resting.along + resting.at_a * resting.up) / resting.length
    return LineInCurrent(ends, resting.length, resting.up, tension, current, drag)


def catenary(
    a: ArrayLike,
    b: ArrayLike,
    length: float,
    bed: float | None = None,
    up: ArrayLike = (0.0, 0.0, 1.0),
    current: ArrayLike | None = None,
    drag: float = 0.0,
) -> Catenary | LineInCurrent | Reversed:
    """Return the curve of a heavy line between two points, for `Model.add_rod`.

    The line does not stretch and has no stiffness in bending. A part of it may lie on a level bed without friction. In a uniform
    current it is dragged sideways where it hangs and where it lies.

    Parameters
    ----------
    a, b : array_like, shape (3,)
        Ends of the line, m.
    length : float
        Length of the line, m; more than the distance of the ends.
    bed : float, optional
        Height of the bed along `up`, m. By default there is none.
    up : array_like, shape (3,), default (0, 0, 1)
        Direction against the weight.
    current : array_like, shape (3,), optional
        Velocity of the current, m/s.
    drag : float, default 0.0
        Drag across the line over its weight, rho d C_d/(2 w), s^2/m^2, with the density rho and the diameter d; w is the weight
        per length in the fluid, N/m.

    Returns
    -------
    callable
        Function of s in [0, 1], the fraction of the length from a, to a point (3,), m.

    Raises
    ------
    ModelError
        If the line is shorter than the distance of its ends, or longer than can lie on the bed without heaps; if an end is below
        the bed or above the other end. If no shape in the current is computed.

    Examples
    --------
    >>> from rodsim import curves
    >>> curves.catenary((0, 0, 0), (2, 0, 0), 2.4)(0.5).round(4)
    array([ 1.    ,  0.    , -0.5847])
    """
    ends, upwards = (vector(_OWNER, "a", a), vector(_OWNER, "b", b)), direction(_OWNER, "up", up)
    total = number(_OWNER, "length", length, positive=True)
    made_bed = None if bed is None else number(_OWNER, "bed", bed)
    made: Any = Catenary(*ends, total, upwards, made_bed)
    factor = number(_OWNER, "drag", drag, at_least=0.0)
    if current is not None and factor > 0.0:
        made = _in_current(ends, made, made_bed, vector(_OWNER, "current", current), factor)
    upward = vector(_OWNER, "up", up).tolist()
    made.given = {
        "type": "catenary",
        "a": made.a.tolist(),
        "b": vector(_OWNER, "b", b).tolist(),
        "length": made.length,
    }
    made.given |= {"up": upward} | ({} if bed is None else {"bed": float(bed)})
    if current is not None:
        made.given |= {"current": vector(_OWNER, "current", current).tolist(), "drag": factor}
    line: Catenary | LineInCurrent | Reversed = made
    return line
