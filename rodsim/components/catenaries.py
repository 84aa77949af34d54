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

is integrated from a, and T there is found so that the line ends at b.
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
        q = part * self.drag

        def rates(_: float, y: Floats) -> Floats:
            t = y[3:] / np.linalg.norm(y[3:])
            across = self.current - (self.current @ t) * t
            return np.concatenate([t, self.up - q * np.linalg.norm(across) * across])

        start = np.concatenate([np.zeros(3), tension])
        return scipy.integrate.solve_ivp(
            rates, (0.0, 1.0), start, method="DOP853", rtol=1e-10, atol=1e-12, dense_output=True
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


def catenary(
    a: ArrayLike,
    b: ArrayLike,
    length: float,
    bed: float | None = None,
    up: ArrayLike = (0.0, 0.0, 1.0),
    current: ArrayLike | None = None,
    drag: float = 0.0,
) -> Catenary | LineInCurrent:
    """Return the curve of a heavy line between two points, for `Model.add_rod`.

    The line does not stretch and has no stiffness in bending. A part of it may lie on a level bed without friction, or it may
    hang in a uniform current.

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
        Velocity of the current, m/s; not with a bed that the line would touch.
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
        the bed or above the other end.

    Examples
    --------
    >>> from rodsim import curves
    >>> curves.catenary((0, 0, 0), (2, 0, 0), 2.4)(0.5).round(4)
    array([ 1.    ,  0.    , -0.5847])
    """
    ends, upwards = (vector(_OWNER, "a", a), vector(_OWNER, "b", b)), direction(_OWNER, "up", up)
    total = number(_OWNER, "length", length, positive=True)
    made: Any = Catenary(*ends, total, upwards, None if bed is None else number(_OWNER, "bed", bed))
    factor = number(_OWNER, "drag", drag, at_least=0.0)
    if current is not None and factor > 0.0:
        if made.on_bed >= 0.0:
            raise ModelError(
                f"{_OWNER}: a part of the line lies on the bed, where current= cannot be taken into account; leave current out, "
                "and let an equilibrium have it"
            )
        tension = (made.c * made.along + made.at_a * made.up) / total
        made = LineInCurrent(ends, total, upwards, tension, vector(_OWNER, "current", current), factor)
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
    line: Catenary | LineInCurrent = made
    return line
