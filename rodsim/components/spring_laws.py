"""Define the laws of springs and dampers from tables, functions, polynomials and limits.

Each law becomes a piecewise cubic F(x) with straight ends, whose potential and divided differences are exact
(`rigid.interactions.laws`). A law therefore needs no Python calls during a run and causes no error of the energy. A function is
sampled until the cubics between its samples are within a tolerance; the largest error found is stored in `SpringLaw.error`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy  # submodules are imported on first access
from numpy.typing import ArrayLike

from rigid.checks import array, number, word
from rigid.errors import ModelError
from rigid.system import Floats

MOST_PIECES = 4096  # largest number of pieces of a sampled law
INTERPOLATIONS = ("monotone", "smooth", "straight")


@dataclass(frozen=True, eq=False)
class SpringLaw:
    """Describe the force F(x) of a spring against a coordinate x, or of a damper against its rate.

    Use one of the class methods to make a law. Calling the law returns F(x): N for x in m or m/s, N m for x in rad or rad/s. F is
    a piecewise cubic with straight ends.

    Parameters
    ----------
    pieces : scipy.interpolate.PPoly
        Polynomials of degree 3 at most.
    error : float, default 0.0
        Largest difference found between the law and the function it was sampled from.

    Examples
    --------
    >>> from rodsim import SpringLaw
    >>> hard = SpringLaw.polynomial((0.0, 50.0, 0.0, 200.0))
    >>> float(hard(0.5))
    50.0
    """

    pieces: scipy.interpolate.PPoly
    error: float = 0.0  # largest difference found between the law and its function

    def __call__(self, x: ArrayLike) -> Floats:
        """Return F(x) in the shape of x; beyond the knots the law continues in straight lines."""
        x = np.asarray(x, dtype=float)
        first, last = self.pieces.x[[0, -1]]
        inside = np.clip(x, first, last)
        value: Floats = self.pieces(inside) + self.pieces(inside, 1) * (x - inside)
        return value

    @classmethod
    def table(cls, x: Sequence[float], force: Sequence[float], interpolation: str = "monotone") -> SpringLaw:
        """Return the law that interpolates points.

        Parameters
        ----------
        x : sequence of float
            Coordinates or rates, increasing; m, rad, m/s or rad/s.
        force : sequence of float
            Forces at `x`, of the same number; N or N m.
        interpolation : {"monotone", "smooth", "straight"}, default "monotone"
            "monotone": rises and falls only where the points do. "smooth": continuous second derivative. "straight": straight
            lines.

        Returns
        -------
        SpringLaw

        Raises
        ------
        ModelError
            If `x` does not increase, there are fewer than two points, or `x` and `force` differ in length.

        Examples
        --------
        >>> from rodsim import SpringLaw
        >>> float(SpringLaw.table([0, 1, 2], [0, 10, 40], "straight")(1.5))
        25.0
        """
        x_values, values = array("SpringLaw", "x", x, (None,)), array("SpringLaw", "force", force, (None,))
        word("SpringLaw", "interpolation", interpolation, INTERPOLATIONS)
        if len(x_values) < 2 or x_values.shape != values.shape:
            raise ModelError(
                f"SpringLaw: {len(x_values)} values of x and {len(values)} forces; give two or more, as many of both"
            )
        if np.any(np.diff(x_values) <= 0.0):
            where = int(np.argmax(np.diff(x_values) <= 0.0))
            raise ModelError(
                f"SpringLaw: x = {x_values[where + 1]:g} follows {x_values[where]:g}; let x increase"
            )
        if interpolation == "straight" or len(x_values) == 2:
            slopes = np.diff(values) / np.diff(x_values)
            return cls(scipy.interpolate.PPoly(np.array([slopes, values[:-1]]), x_values))
        if interpolation == "smooth":
            return cls(_plain(scipy.interpolate.CubicSpline(x_values, values)))
        return cls(_plain(scipy.interpolate.PchipInterpolator(x_values, values)))

    @classmethod
    def function(
        cls, force: Callable[[float], float], lower: float, upper: float, tolerance: float = 1e-9
    ) -> SpringLaw:
        """Return the law of a function, sampled until the cubics between the samples are within a tolerance.

        Parameters
        ----------
        force : callable
            Function x -> force, N or N m.
        lower, upper : float
            Bounds of x; beyond them the law continues in straight lines. Units m, rad, m/s or rad/s.
        tolerance : float, default 1e-9
            Largest error relative to the largest force. The attribute `error` holds the largest difference found between the
            samples.

        Returns
        -------
        SpringLaw

        Raises
        ------
        ModelError
            If more than MOST_PIECES pieces would be needed, as at a kink or a jump, or `lower` is not below `upper`.

        Examples
        --------
        >>> import numpy as np
        >>> from rodsim import SpringLaw
        >>> round(float(SpringLaw.function(np.sin, -1.0, 1.0)(0.5)), 6)
        0.479426
        """
        lower, upper = number("SpringLaw", "lower", lower), number("SpringLaw", "upper", upper)
        if lower >= upper:
            raise ModelError(f"SpringLaw: lower = {lower:g} is not below upper = {upper:g}")

        def sampled(x_values: Floats) -> Floats:
            return np.array([number("SpringLaw", f"force at {x:g}", force(float(x))) for x in x_values])

        n, error, size = 4, np.inf, 1.0
        while n <= MOST_PIECES:
            x_values = np.linspace(lower, upper, n + 1)
            values = sampled(x_values)
            spline = scipy.interpolate.CubicSpline(x_values, values)
            between = (x_values[:-1, None] + np.diff(x_values)[:, None] * np.array([0.21, 0.5, 0.83])).ravel()
            error = float(np.abs(spline(between) - sampled(between)).max())
            size = float(np.abs(values).max()) or 1.0
            if error <= tolerance * size:
                return cls(_plain(spline), error)
            n *= 2
        raise ModelError(
            f"SpringLaw: with {MOST_PIECES} cubics the force is still off by {error:.3g} of {size:.3g}; give its pieces as "
            "tables, or a tolerance"
        )

    @classmethod
    def polynomial(cls, coefficients: Sequence[float], reach: float = 3.0) -> SpringLaw:
        """Return the law coefficients[0] + coefficients[1] x + ... of degree 3 at most, for |x| < reach.

        Beyond `reach` the law continues in straight lines.

        Parameters
        ----------
        coefficients : sequence of float
            One to four coefficients of 1, x, x^2, x^3; N or N m over powers of the unit of x.
        reach : float, default 3.0
            Bound of |x|; m, rad, m/s or rad/s.

        Returns
        -------
        SpringLaw

        Raises
        ------
        ModelError
            If there are more than four coefficients, or `reach` is not positive.

        Examples
        --------
        >>> from rodsim import SpringLaw
        >>> float(SpringLaw.polynomial((1.0, 2.0))(10.0))
        21.0
        """
        c = array("SpringLaw", "coefficients", coefficients, (None,))
        reach = number("SpringLaw", "reach", reach, positive=True)
        if not 1 <= len(c) <= 4:
            raise ModelError(f"SpringLaw: {len(c)} coefficients; give one to four, or a function")
        moved = np.poly1d(c[::-1])(np.poly1d([1.0, -reach])).coeffs  # coefficients in u = x + reach
        pieces = np.zeros((4, 2))
        pieces[4 - len(moved) :, 0], pieces[4 - len(c) :, 1] = moved, c[::-1]
        return cls(scipy.interpolate.PPoly(pieces, np.array([-reach, 0.0, reach])))

    @classmethod
    def limit(
        cls,
        stiffness: float,
        width: float,
        lower: float | None = None,
        upper: float | None = None,
    ) -> SpringLaw:
        """Return a stop: no force between `lower` and `upper`, and a spring beyond them.

        The force is stiffness gap^2/(2 width) over `width`, from there stiffness (gap - width/2).

        Parameters
        ----------
        stiffness : float
            Stiffness beyond the stop, N/m or N m/rad.
        width : float
            Gap over which the force begins smoothly, m or rad.
        lower, upper : float, optional
            Positions of the stops, m or rad. Give at least one.

        Returns
        -------
        SpringLaw

        Raises
        ------
        ModelError
            If `lower` is not below `upper`, neither is given, or `stiffness` or `width` is not positive.

        Examples
        --------
        >>> from rodsim import SpringLaw
        >>> stop = SpringLaw.limit(100.0, 0.1, upper=1.0)
        >>> [round(float(stop(x)), 3) for x in (0.5, 1.1, 1.2)]
        [0.0, 5.0, 15.0]
        """
        k = number("SpringLaw.limit", "stiffness", stiffness, positive=True)
        w = number("SpringLaw.limit", "width", width, positive=True)
        if lower is None and upper is None:
            raise ModelError("SpringLaw.limit: has neither lower nor upper. Give at least one of them.")
        low = None if lower is None else number("SpringLaw.limit", "lower", lower)
        high = None if upper is None else number("SpringLaw.limit", "upper", upper)
        if low is not None and high is not None and low >= high:
            raise ModelError(f"SpringLaw.limit: lower = {low:g} is not below upper = {high:g}")
        knots: list[float] = []
        pieces: list[list[float]] = []
        a = 0.5 * k / w
        if low is not None:
            knots += [low - w, low]
            pieces += [[-a, k, -a * w * w]]  # -a (w - u)^2
        if low is not None and high is not None:
            pieces += [[0.0, 0.0, 0.0]]
        if high is not None:
            knots += [high, high + w]
            pieces += [[a, 0.0, 0.0]]
        return cls(scipy.interpolate.PPoly(np.array(pieces).T, np.array(knots)))

    def described(self) -> dict[str, object]:
        """Return the numbers of the law as plain data, fit for JSON.

        Returns
        -------
        dict
            "knots" (n + 1 values of x), "coefficients" (a list of n numbers for each power of the distance from the knot before,
            the highest first) and "error".
        """
        return {
            "knots": self.pieces.x.tolist(),
            "coefficients": self.pieces.c.tolist(),
            "error": self.error,
        }


def check_resists(owner: str, law: SpringLaw) -> None:
    """Raise ModelError unless a damper's force opposes every rate."""
    knots = law.pieces.x
    rates = np.unique(np.concatenate([np.linspace(a, b, 9) for a, b in pairwise(knots)]))
    rates = np.concatenate([[2 * rates[0] - rates[-1]], rates, [2 * rates[-1] - rates[0]]])
    force = law(rates)
    at_rest = float(law(0.0))
    if abs(at_rest) > 1e-9 * np.abs(force).max():
        raise ModelError(f"{owner}: its damper has the force {at_rest:.3g} at rest; let it be zero there")
    wrong = rates * force < -1e-12 * np.abs(rates).max() * np.abs(force).max()
    if wrong.any():
        x = rates[np.argmax(wrong)]
        raise ModelError(
            f"{owner}: at the rate {x:.3g} its damper pushes along ({law(x):.3g}); it must resist"
        )


def _plain(spline: scipy.interpolate.PPoly) -> scipy.interpolate.PPoly:
    """Return a spline of a derived class as a PPoly."""
    return scipy.interpolate.PPoly(spline.c, spline.x)
