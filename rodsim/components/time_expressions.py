"""Define functions of time that are written as formulas: loads and prescribed motions such as "50*sin(2*pi*3*t)"."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rigid.checks import number, shown
from rigid.errors import ModelError
from rigid.signals import Constant, Signal, VectorSignal
from rigid.system import Floats
from rodsim.expressions import (
    ARRAY_FUNCTIONS,
    FUNCTIONS,
    KINKED,
    ExpressionError,
    bound,
    evaluated,
    names_in,
    parsed,
)

TIME = "t"  # name of the time in formulas, s
_STEP = 1e-30  # imaginary step of the derivative: f(t + ih) = f(t) + ih f'(t) + O(h^2), without cancellation


@lru_cache(1000)
def _tree(text: str) -> ast.expr:
    """Return the syntax tree of a formula, which is not to be changed."""
    return parsed(text)


@dataclass(frozen=True)
class Expression(Signal):
    """A formula in the time t, written in the notation of Python.

    It may contain numbers, t, pi, + - * / **, and sqrt, exp, log, sin, cos, tan, asin, acos, atan, atan2, radians, degrees, abs,
    min, max, floor, ceil and round. As a motion it may not contain those with kinks or jumps (abs, atan2 and from min on). Steps
    of a run do not end at kinks of a formula, as they do at those of a `Table`.

    Parameters
    ----------
    text : str
        The formula, such as "50*sin(2*pi*3*t)".

    Raises
    ------
    ModelError
        If the text is not such a formula.

    Examples
    --------
    >>> from rodsim import signals
    >>> float(signals.Expression("2*t**2 + 1")(3.0))
    19.0
    """

    text: str

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise ModelError(
                f"Expression: {shown(self.text)} is not a text; give an expression such as '50*sin(2*pi*3*t)'"
            )
        tree = self._with_owner(lambda: bound(parsed(self.text), {}, [TIME]))
        object.__setattr__(self, "text", ast.unparse(tree))
        self._with_owner(lambda: evaluated(tree, {TIME: 0.0}, FUNCTIONS))  # finds nodes that are not allowed

    def _with_owner(self, action: Callable[[], Any]) -> Any:
        """Return the result of `action`; convert an ExpressionError to a ModelError with the text."""
        try:
            return action()
        except ExpressionError as error:
            raise ModelError(f"Expression: text = {shown(self.text)}: {error}") from None

    def _values_at(self, t: Any, functions: Mapping[str, Callable[..., Any]]) -> Any:
        """Return the values at real or complex times, of their shape."""
        tree = _tree(self.text)
        with np.errstate(all="ignore"):
            return self._with_owner(lambda: evaluated(tree, {TIME: t}, functions)) + np.zeros_like(t)

    def __call__(self, t: ArrayLike) -> Floats:
        times = np.asarray(t, dtype=float)
        return self._check_finite(times, self._values_at(times, ARRAY_FUNCTIONS))

    def rate(self, t: ArrayLike) -> Floats:
        """Return the derivative ds/dt, exact to round-off.

        Parameters
        ----------
        t : array_like
            Times, s.

        Returns
        -------
        array
            Derivative, of the shape of `t`.

        Raises
        ------
        ModelError
            If the formula has functions with kinks or jumps, or the derivative is not finite.
        """
        tree = _tree(self.text)
        kinked = [
            x.func.id for x in ast.walk(tree) if isinstance(x, ast.Call) and isinstance(x.func, ast.Name)
        ]
        kinked = [name for name in kinked if name in KINKED]
        if kinked:
            raise ModelError(
                f"Expression: text = {shown(self.text)} has kinks or jumps, so that nothing can move with it; write it without "
                f"{kinked[0]}"
            )
        times = np.asarray(t, dtype=float)
        return self._check_finite(
            times, np.imag(self._values_at(times + 1j * _STEP, ARRAY_FUNCTIONS)) / _STEP
        )

    def _check_finite(self, times: Floats, values: Any) -> Floats:
        """Return the values; ModelError with the first time at which one is not a finite number."""
        bad = ~np.isfinite(values)
        if np.any(bad):
            where = times[bad].ravel()[0]
            raise ModelError(
                f"Expression: text = {shown(self.text)} is not a finite number at t = {where:g}; write one that is"
            )
        return np.asarray(values)


class Components(VectorSignal):
    """A vector whose components are three functions of time, along the world axes."""

    components: tuple[Signal, ...]

    def __init__(self, components: Sequence[Signal]) -> None:
        """Store the three functions; the direction is nan, since it is not constant."""
        super().__init__(components[0], np.full(3, np.nan))
        object.__setattr__(self, "components", tuple(components))

    def __call__(self, t: ArrayLike) -> Floats:
        return np.stack([one(t) for one in self.components], axis=-1)

    @property
    def corners(self) -> Sequence[float]:
        return [t for one in self.components for t in one.corners]

    @property
    def knots(self) -> Sequence[float]:
        return [t for one in self.components for t in one.knots]

    def rate(self, t: ArrayLike) -> Floats:
        return np.stack([one.rate(t) for one in self.components], axis=-1)


def scalar_signal(owner: str, value: Any) -> Any:
    """Return the function of time that a formula defines; any other value unchanged."""
    if not isinstance(value, str):
        return value
    try:
        made = Expression(value)
    except ModelError as error:
        raise ModelError(f"{owner}: {error}") from None
    return made if TIME in names_in(parsed(value)) else Constant(float(made(0.0)))


def vector_signals(owner: str, value: Any) -> Any:
    """Return a list of signals along the world axes, if one of three components is a formula; any other value unchanged."""
    if not (isinstance(value, list | tuple) and len(value) == 3 and any(isinstance(x, str) for x in value)):
        return value
    parts = [
        scalar_signal(owner, x) if isinstance(x, str) else Constant(number(owner, f"component {k}", x))
        for k, x in enumerate(value)
    ]
    signals = [
        signal.along(axis) for signal, axis in zip(parts, np.eye(3), strict=True) if signal != Constant(0.0)
    ]
    return signals or [Constant(0.0).along(np.eye(3)[0])]


def vector_signal(owner: str, value: Any) -> Any:
    """Return one vector-valued signal, if one of three components is a formula; any other value unchanged."""
    signals = vector_signals(owner, value)
    if signals is value:
        return value
    if len(signals) == 1:
        return signals[0]
    zero = Constant(0.0)
    by_axis = {int(np.argmax(signal.direction)): signal.scalar for signal in signals}
    return Components([by_axis.get(k, zero) for k in range(3)])
