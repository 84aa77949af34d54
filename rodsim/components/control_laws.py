"""Control laws: functions (t, h, measured, memory, outputs) of Python or numba, and compiled laws such as `PID`.

A law is data. The functions of this module call its methods, which check inputs and outputs and return what a run needs: its
compiled function, parameters and initial memory.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numba
import numpy as np
import scipy  # submodules are imported on first access
from numpy.typing import ArrayLike

from rigid import checks
from rigid.errors import ModelError
from rigid.system import Floats
from rodsim.components.time_expressions import TIME
from rodsim.expressions import FUNCTIONS, ExpressionError, bound, evaluated, names_in, parsed


class _Law:
    """Base class of the laws of this module."""

    _memory: ClassVar[tuple[float, ...]] = ()  # initial memory

    def _check(self, owner: str, inputs: Sequence[str], n_outputs: int) -> None:
        """Raise ModelError if it does not fit the names of the inputs and the count of outputs."""

    def _parameters(self) -> Floats:
        """Return the parameters that its compiled function receives."""
        return np.zeros(0)

    def _function(self, inputs: Sequence[str]) -> Any:
        """Return its function, of Python or compiled; kernels are imported on demand, since they take time to load."""
        raise NotImplementedError


@dataclass(frozen=True)
class PID(_Law):
    """Return proportional, integral and derivative control of one measured value.

    With the error e = target - y of the first input, at samples h apart,

        u = kp e + ki (sum of e h) + kd de/dt,   low <= u <= high

    The second input, if there is one, is the rate of the first, and de/dt = -dy/dt; else de/dt is the change of e since the last
    sample over h, zero at the first. The sum does not grow while u is at a limit and e would carry it further.

    Parameters
    ----------
    kp, ki, kd : float
        Gains: output over error, over its integral, over its rate.
    target : float, default 0
        Value to be reached.
    low, high : float
        Limits of the output; by default there are none.

    Raises
    ------
    ModelError
        If a gain or the target is not a finite number, or `low` is not below `high`.

    Examples
    --------
    >>> from rodsim import controllers
    >>> controllers.PID(kp=20.0, kd=1.0)
    PID(kp=20.0, ki=0.0, kd=1.0, target=0.0, low=-inf, high=inf)
    """

    kp: float
    ki: float = 0.0
    kd: float = 0.0
    target: float = 0.0
    low: float = -np.inf
    high: float = np.inf

    def __post_init__(self) -> None:
        for argument in ("kp", "ki", "kd", "target"):
            checks.number("PID", argument, getattr(self, argument))
        if not self.low < self.high:
            raise ModelError(f"PID: low = {self.low} is not below high = {self.high}. Exchange them.")

    _memory = (0.0, 0.0, 0.0)  # sum of e h, last error, whether there is a last error

    def _check(self, owner: str, inputs: Sequence[str], n_outputs: int) -> None:
        if len(inputs) not in (1, 2) or n_outputs != 1:
            raise ModelError(
                f"{owner}: PID reads one value, and perhaps its rate, and has one output; got {len(inputs)} inputs and "
                f"{n_outputs} outputs"
            )

    def _parameters(self) -> Floats:
        return np.array([self.kp, self.ki, self.kd, self.target, self.low, self.high], float)

    def _function(self, inputs: Sequence[str]) -> Any:
        from discretization.time.control_kernels import limited_pid

        return limited_pid


@dataclass(frozen=True, eq=False)
class StateFeedback(_Law):
    """Return linear feedback u = K (target - y) of all inputs.

    Parameters
    ----------
    gains : array_like, shape (outputs, inputs)
        Matrix K.
    target : array_like, shape (inputs,), default 0
        Inputs at which the outputs are zero.

    Raises
    ------
    ModelError
        If the shapes do not fit.

    Examples
    --------
    >>> from rodsim import controllers
    >>> controllers.StateFeedback([[10.0, 1.0]]).gains.shape
    (1, 2)
    """

    gains: ArrayLike
    target: ArrayLike = 0.0

    def __post_init__(self) -> None:
        gains = checks.array("StateFeedback", "gains", np.atleast_2d(self.gains), (None, None))
        target = np.asarray(self.target, float)
        if target.ndim == 0:
            target = np.full(gains.shape[1], float(target))
        object.__setattr__(self, "gains", gains)
        object.__setattr__(self, "target", checks.vector("StateFeedback", "target", target, gains.shape[1]))

    def _check(self, owner: str, inputs: Sequence[str], n_outputs: int) -> None:
        if np.shape(self.gains) != (n_outputs, len(inputs)):
            raise ModelError(
                f"{owner}: gains of StateFeedback have shape {np.shape(self.gains)}, expected ({n_outputs}, {len(inputs)}) for "
                f"{n_outputs} outputs and {len(inputs)} inputs"
            )

    def _parameters(self) -> Floats:
        return np.concatenate([np.ravel(self.gains), np.ravel(self.target)])

    def _function(self, inputs: Sequence[str]) -> Any:
        from discretization.time.control_kernels import state_feedback

        return state_feedback


@dataclass(frozen=True, eq=False)
class Table(_Law):
    """Return outputs by linear interpolation over one input, such as the torque of a motor over its speed.

    Beyond its ends a table has its first and its last value.

    Parameters
    ----------
    x : array_like, shape (k,)
        Increasing values of the input.
    y : array_like, shape (k,) or (k, outputs)
        Outputs at these values.

    Raises
    ------
    ModelError
        If there are fewer than two values, they do not increase, or the shapes do not fit.

    Examples
    --------
    >>> from rodsim import controllers
    >>> controllers.Table([0.0, 100.0, 300.0], [8.0, 8.0, 0.0]).y.shape
    (3, 1)
    """

    x: ArrayLike
    y: ArrayLike

    def __post_init__(self) -> None:
        x = checks.array("Table", "x", self.x, (None,))
        if len(x) < 2 or not np.all(np.diff(x) > 0.0):
            raise ModelError(f"Table: x = {checks.shown(self.x)} must be two or more increasing values")
        y = np.asarray(self.y, float)
        y = checks.array("Table", "y", y[:, None] if y.ndim == 1 else y, (len(x), None))
        object.__setattr__(self, "x", x)
        object.__setattr__(self, "y", y)

    def _check(self, owner: str, inputs: Sequence[str], n_outputs: int) -> None:
        if len(inputs) != 1 or np.shape(self.y)[1] != n_outputs:
            raise ModelError(
                f"{owner}: Table reads one input and has {np.shape(self.y)[1]} columns; got {len(inputs)} inputs and {n_outputs} "
                "outputs. Give a column for each output"
            )

    def _parameters(self) -> Floats:
        return np.concatenate([np.ravel(self.x), np.ravel(self.y)])

    def _function(self, inputs: Sequence[str]) -> Any:
        from discretization.time.control_kernels import interpolated

        return interpolated


@dataclass(frozen=True)
class Formula(_Law):
    """Return outputs as formulas of the time and of the inputs, written in the notation of Python.

    An input has the name of its sensor, the rate of the sensor "phi" is phi_rate, the time is t. Functions are those of
    `signals.Expression`. A formula costs some microseconds in each sample.

    Parameters
    ----------
    texts : str or sequence of str
        A formula for each output.

    Raises
    ------
    ModelError
        If a text is not such a formula.

    Examples
    --------
    >>> from rodsim import controllers
    >>> controllers.Formula("20*(0.5 - phi) - 2*phi_rate + sin(t)").texts
    ('20 * (0.5 - phi) - 2 * phi_rate + sin(t)',)
    """

    texts: str | Sequence[str]

    def __post_init__(self) -> None:
        texts = (self.texts,) if isinstance(self.texts, str) else tuple(self.texts)
        object.__setattr__(self, "texts", tuple(ast.unparse(_tree_of(text)) for text in texts))

    def _check(self, owner: str, inputs: Sequence[str], n_outputs: int) -> None:
        if len(self.texts) != n_outputs:
            raise ModelError(
                f"{owner}: Formula has {len(self.texts)} texts for {n_outputs} outputs. Give one for each"
            )
        for text in self.texts:
            _tree_of(text, formula_names(inputs))

    def _function(self, inputs: Sequence[str]) -> Any:
        names = formula_names(inputs)
        trees = [_tree_of(text, names) for text in self.texts]

        def evaluate(t: float, h: float, measured: Floats, memory: Floats, outputs: Floats) -> None:
            values = dict(zip(names, measured.tolist(), strict=True), **{TIME: t})
            for k, tree in enumerate(trees):
                outputs[k] = evaluated(tree, values, FUNCTIONS)

        return evaluate


def _tree_of(text: object, names: Sequence[str] | None = None) -> ast.expr:
    """Return the syntax tree of a formula of these names, by default of any; raise ModelError if it is not one."""
    if not isinstance(text, str):
        raise ModelError(f"Formula: expected a text such as '2*phi', got {checks.shown(text)}")
    try:
        tree = parsed(text)
        known = [TIME, *(names_in(tree) if names is None else names)]
        tree = bound(tree, {}, known)
        evaluated(tree, dict.fromkeys(known, _SAMPLE), dict.fromkeys(FUNCTIONS, lambda *_: _SAMPLE))
        return tree
    except ExpressionError as error:
        raise ModelError(f"Formula: text = {checks.shown(text)}: {error}") from None


@dataclass(frozen=True, eq=False)
class External(_Law):
    """Hold outputs that a caller sets between steps, with `Runner.advance(controls=...)`.

    In `simulate` they keep their initial values, or those of the state from which a run starts.

    Parameters
    ----------
    initial : array_like, shape () or (outputs,), default 0
        Values of the outputs until they are set.

    Raises
    ------
    ModelError
        If a value is not a finite number.

    Examples
    --------
    >>> from rodsim import controllers
    >>> controllers.External(2.0).initial
    array([2.])
    """

    initial: ArrayLike = 0.0

    def __post_init__(self) -> None:
        initial = checks.array("External", "initial", np.atleast_1d(self.initial), (None,))
        object.__setattr__(self, "initial", initial)

    _memory = (0.0,)  # whether the outputs have been set

    def _check(self, owner: str, inputs: Sequence[str], n_outputs: int) -> None:
        count = np.size(self.initial)
        if inputs or count not in (1, n_outputs):
            raise ModelError(
                f"{owner}: External reads no inputs and has one initial value or one for each output; got {len(inputs)} inputs "
                f"and {count} values for {n_outputs} outputs"
            )

    def _parameters(self) -> Floats:
        return np.ravel(self.initial)

    def _function(self, inputs: Sequence[str]) -> Any:
        from discretization.time.control_kernels import held_outputs

        return held_outputs


def lqr(
    system: scipy.signal.StateSpace,
    output_weights: ArrayLike,
    input_weights: ArrayLike,
    *,
    period: float | None = None,
    target: ArrayLike = 0.0,
) -> StateFeedback:
    """Return the feedback of all outputs y of a linear model that minimises the integral of y^T Q y + u^T R u.

    Parameters
    ----------
    system : scipy.signal.StateSpace
        Linear model of `rodsim.linear.state_space`, with as many independent outputs as states: positions and velocities of all
        motions. Its outputs are the inputs of the controller, in this order; its inputs are the outputs of the controller.
    output_weights : array_like, shape (outputs,) or (outputs, outputs)
        Q, or its diagonal.
    input_weights : array_like, shape (inputs,) or (inputs, inputs)
        R, or its diagonal.
    period : float, optional
        Time between samples, s, over which the inputs are held. By default the feedback is that of continuous time.
    target : array_like, shape (outputs,), default 0
        Values of the sensors in the state about which the model is linear.

    Returns
    -------
    StateFeedback

    Raises
    ------
    ModelError
        If the states do not follow from the outputs, or the model cannot be stabilised.

    Examples
    --------
    >>> import numpy as np, scipy
    >>> from rodsim import controllers
    >>> mass = scipy.signal.StateSpace([[0.0, 1.0], [0.0, 0.0]], [[0.0], [1.0]], np.eye(2), np.zeros((2, 1)))
    >>> controllers.lqr(mass, [1.0, 0.0], [1.0]).gains.round(6)
    array([[1.      , 1.414214]])
    """
    A, B, C = (np.asarray(x, float) for x in (system.A, system.B, system.C))
    if C.shape != A.shape or np.linalg.cond(C) > _SINGULAR or np.any(system.D):
        raise ModelError(
            f"lqr: the {len(A)} states do not follow from the {len(C)} outputs. Give as many positions and velocities as states"
        )
    Q, R = (np.diag(x) if np.ndim(x) == 1 else np.asarray(x, float) for x in (output_weights, input_weights))
    try:
        if period is None:
            P = scipy.linalg.solve_continuous_are(A, B, C.T @ Q @ C, R)
            K = np.linalg.solve(R, B.T @ P)
        else:
            period = checks.number("lqr", "period", period, positive=True)
            A, B, *_ = scipy.signal.cont2discrete((A, B, C, system.D), period)
            P = scipy.linalg.solve_discrete_are(A, B, C.T @ Q @ C, R)
            K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
    except (ValueError, np.linalg.LinAlgError) as error:
        raise ModelError(
            f"lqr: no stabilising feedback exists ({error}). Weigh other outputs, or act at another point"
        ) from None
    return StateFeedback(np.linalg.solve(C.T, K.T).T, target)


# accepted by `Model.add_controller`
ControlLaw = PID | StateFeedback | Table | Formula | External | Callable[..., object]
# by word in scenes
LAWS: dict[str, type[Any]] = {
    "pid": PID,
    "state feedback": StateFeedback,
    "table": Table,
    "formula": Formula,
    "external": External,
}
_SAMPLE = 0.6180339887498949  # value of all names and functions with which a formula is tried
_SINGULAR = 1e12  # condition of the matrix of outputs from which on the states do not follow from them


def is_law(value: object) -> bool:
    """Return whether a value is a control law."""
    return callable(value) or isinstance(value, _Law)


def check_law(owner: str, law: ControlLaw, inputs: Sequence[str], n_outputs: int) -> None:
    """Raise ModelError if a law does not fit the names of the inputs and the count of outputs."""
    if isinstance(law, _Law):
        law._check(owner, inputs, n_outputs)


def formula_names(inputs: Sequence[str]) -> list[str]:
    """Return the names of inputs in formulas: that of the sensor, and with `_rate` for its rate."""
    return [name.replace(".", "_") for name in inputs]


def law_parameters(law: ControlLaw) -> Floats:
    """Return the parameters that a compiled law receives."""
    return law._parameters() if isinstance(law, _Law) else np.zeros(0)


def initial_memory(law: ControlLaw) -> tuple[float, ...] | None:
    """Return the initial memory of a law that defines its own; None for a function of the user."""
    return law._memory if isinstance(law, _Law) else None


def law_function(law: ControlLaw, inputs: Sequence[str]) -> Any:
    """Return the function that a run calls: compiled with the signature of `discretization.time.sampling.LAW`, or of Python."""
    if isinstance(law, _Law):
        return law._function(inputs)
    return _compiled_entry(law) if isinstance(law, numba.core.dispatcher.Dispatcher) else law


def _compiled_entry(law: Any) -> Any:
    """Return a numba function (t, h, measured, memory, outputs) compiled as a function that compiled code calls."""
    from discretization.time.sampling import LAW

    def entry(t: Any, h: Any, measured: Any, parameters: Any, memory: Any, outputs: Any) -> int:
        law(t, h, measured, memory, outputs)
        return 0

    return numba.cfunc(LAW)(entry)


def describe_law(law: ControlLaw) -> Any:
    """Return a law as words and numbers; a function of the user as "callable"."""
    if isinstance(law, Formula):
        return {"law": "Formula", "texts": list(law.texts)}
    if not isinstance(law, _Law):
        return "callable"
    values = {field.name: np.asarray(getattr(law, field.name)) for field in fields(law)}
    finite = {name: value.tolist() for name, value in values.items() if np.isfinite(value).all()}
    return {"law": type(law).__name__, **finite}


def law_from_description(description: Any) -> ControlLaw | None:
    """Return the law that `describe_law` describes; None for a function of the user."""
    if not isinstance(description, dict):
        return None
    kind = next((law for law in LAWS.values() if law.__name__ == description.get("law")), None)
    return None if kind is None else kind(**{key: x for key, x in description.items() if key != "law"})


def text_of_law(law: ControlLaw) -> str:
    """Return a short text of a law."""
    if isinstance(law, _Law):
        return type(law).__name__
    return f"function {getattr(law, '__name__', 'of the user')}"
