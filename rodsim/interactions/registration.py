"""Register a user's class of functions as a kind of interaction: `rodsim.interaction`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np

from discretization.interaction_kinds import INTERACTIONS
from rigid import checks
from rigid.checks import shown
from rigid.errors import ModelError
from rigid.interactions.kinds import MAX_FRAMES, MAX_INTERNAL_VARIABLES, Kind, dissipation, no_bend
from rigid.interactions.pressure import nothing
from rigid.system import Floats
from rodsim.interactions.internal_states import force_at_rest, kind_with_states
from rodsim.interactions.kind_checks import (
    check_dissipation,
    check_energy,
    check_evolving,
    frames_with_torque,
    with_step_properties,
)
from rodsim.interactions.user_functions import ANCHOR, compile_function, digest_of

INPUTS = 3  # largest number of inputs: `Kind.signal`
ENERGY, DISSIPATION = ("value", "dual"), ("step_dual", "rate_dual")
EVOLVING = (("step_dual", "evolve"), ("value", "step_dual", "evolve"))
_RESERVED = ("name", "kind", "axis")  # arguments of `Model.add_interaction`
_ARGUMENTS = {
    "value": ("y", "X"),
    "dual": ("y0", "y1", "X", "out"),
    "step_dual": ("y0", "y1", "h", "X", "out"),
    "rate_dual": ("y", "z", "X", "out"),
}
_WITH_STATES = {
    "value": ("y", "x", "X"),
    "step_dual": ("y0", "y1", "x0", "x1", "h", "X", "out"),
    "evolve": ("y0", "y1", "x0", "x1", "h", "X", "out"),
}
_HOW_WITH_STATES = "def evolve(y0, y1, x0, x1, h, X, out) and def step_dual(y0, y1, x0, x1, h, X, out)"
_HOW = "def value(y, X) and def dual(y0, y1, X, out), or def step_dual(y0, y1, h, X, out) and def rate_dual(y, z, X, out)"


@dataclass(frozen=True, eq=False)
class UserKind:
    """Hold a kind that a script has registered, for `Model.add_interaction`."""

    name: str
    kind: Kind
    # names of the parameters and their lengths; 0: a single number, not a list
    numbers: tuple[tuple[str, int], ...]
    digest: str  # hash of the contents of its functions
    # for each frame: True if it acts on its axes, not only on the position of the anchor
    uses_axes: tuple[bool, ...]
    inputs: tuple[str, ...] = ()  # names of the numbers that come from outside in each step

    @property
    def dissipates(self) -> bool:
        """Return True if the kind is a dissipation, not an energy."""
        return self.kind.value is not None and self.kind.bend is not no_bend

    def packed(self, owner: str, arguments: Mapping[str, Any], inputs: Sequence[float] = ()) -> Floats:
        """Return the parameters X of one interaction from its arguments and the values of its inputs, by default zero.

        ModelError if names or values are wrong.
        """
        known = dict(self.numbers)
        for name in arguments:
            if name not in known:
                raise ModelError(
                    f"{owner}: '{name}' is not a number of '{self.name}'; it has {', '.join(known) or 'none'}"
                )
        parts: list[Floats] = [np.zeros(0)]
        for name, count in self.numbers:
            if name not in arguments:
                raise ModelError(f"{owner}: give {name}=, a number of '{self.name}'")
            value = arguments[name]
            parts.append(
                checks.vector(owner, name, value, count)
                if count
                else np.array([checks.number(owner, name, value)])
            )
        X = np.concatenate(parts)
        if not self.inputs:
            return X
        first_state = len(X) - self.kind.n_internal
        return np.concatenate([X[:first_state], inputs, np.zeros(INPUTS - len(inputs)), X[first_state:]])

    def __repr__(self) -> str:
        what = "dissipation" if self.dissipates else "energy"
        what = "states and forces" if self.kind.state_equations else what
        return f"<interaction '{self.name}': {what} of {self.kind.arity} frames>"


def interaction(
    name: str,
    frames: int,
    numbers: Sequence[str] | Mapping[str, int] = (),
    *,
    free: bool = True,
    sample: Mapping[str, Any] | None = None,
    length: float = 1.0,
    rows: int = 0,
    states: Sequence[str] | Mapping[str, int] = (),
    inputs: Sequence[str] = (),
    works: bool = False,
    linear: bool = True,
) -> Callable[[type], UserKind]:
    """Register a class of functions as a kind of interaction between anchors, for `Model.add_interaction`.

    It is a decorator of a class. A class for an energy V(y, X), J, has

        def value(y, X)                  V
        def dual(y0, y1, X, out)         its discrete derivative: out . (y1 - y0) = V(y1) - V(y0), equal ends give the gradient

    a class for a dissipation

        def step_dual(y0, y1, h, X, out) out . (y1 - y0) is the energy, J, that a step of length h dissipates, never negative
        def rate_dual(y, z, X, out)      dual for the rates z of the poses: out . z is the dissipated power, W; linear in z

    A class for an interaction with internal states x, such as a controller, a filter, or a bead on a line, has

        def evolve(y0, y1, x0, x1, h, X, out)      as many rows as x has numbers, zero for the x1 at the end of the step
        def step_dual(y0, y1, x0, x1, h, X, out)   minus its forces, as above
        def value(y, x, X)                         only if it stores an energy: out . (y1 - y0) less the change of the energy is
                                                   dissipated, never negative; without it its work counts as external work

    At rest its states are those of a step without motion, evolve(y, y, x, x, h, X, out) = 0.

    A kind with inputs, or with `works`, may do work: what it takes from the motion, less the gain of an energy of its states,
    counts as external work, and has any sign.

    y (frames, 4, 3), complex: y[k, 0] is the position of anchor k, m, from an arbitrary origin; y[k, 1:] are the three axes of
    its part. X: the numbers, in their order. out (frames, 4, 3), initially zero: work-conjugate to y, so that out[k, 0] is minus
    the force on anchor k. The functions are compiled; they may use numbers, tuples, small arrays, loops, other functions of the
    script, and the helpers of `rodsim.interactions`. They are called with complex numbers and must be analytic: no abs, and
    comparisons only of real parts.

    The class is checked at random poses, which are the same each time. The checks are: work identity, gradient by complex steps,
    analytic dual, symmetry in the ends (energies), sign, linearity and limit (dissipations), total force and total moment, and
    invariance to a common displacement.

    Parameters
    ----------
    name : str
        Name of the kind, used in files.
    frames : int
        Number of anchors of one interaction, 1 to 64.
    numbers : sequence of str or mapping of str to int, default ()
        Names of the numbers X, or a mapping from names to lengths, {"moment": 3}; 0 stands for a single number.
    free : bool, default True
        True if the total force and the total moment are zero. False for an interaction with something that is not a frame, such
        as the air.
    sample : mapping of str to float or array, optional
        Numbers, and initial states, for the checks. By default random, from 0.5 to 1.5.
    length : float, default 1.0
        Distance between the anchors in the checks, m.
    rows : int, default 0
        Number of rows of a constraint; only 0 is accepted.
    states : sequence of str or mapping of str to int, default ()
        Names of the states x, or a mapping from names to lengths; at most 8 numbers in total. `Model.add_interaction` accepts
        their initial values as it does the numbers.
    inputs : sequence of str, default ()
        Names of up to 3 numbers that follow the others in X and come from outside in each step, such as a voltage.
        `Model.add_interaction` accepts a number, a function of time, the output of a controller or a sensor for each.
    works : bool, default False
        True for a force that may do work, such as that of a propeller or of wind: its work may have any sign.
    linear : bool, default True
        False for a resistance that is not linear in the rates, such as one that grows with their square. `rate_dual` may then be
        any odd or even function of z; modes and linear models use its derivative in the state.

    Returns
    -------
    callable
        Decorator that replaces the class by the registered kind.

    Raises
    ------
    ModelError
        If an argument is wrong, the class lacks a function or has others, a function does not compile, or a law does not hold.
        The message names the law, the size of its violation, and a remedy.

    Examples
    --------
    >>> import rodsim
    >>> from rodsim.interactions import average, dot, minus, push, times
    >>> @rodsim.interaction("quadratic bond", frames=2, numbers=("k",))
    ... class Bond:
    ...     def value(y, X):
    ...         d = minus(y[1, 0], y[0, 0])
    ...         return 0.5 * X[0] * dot(d, d)
    ...
    ...     def dual(y0, y1, X, out):
    ...         d = average(minus(y0[1, 0], y0[0, 0]), minus(y1[1, 0], y1[0, 0]))
    ...         push(out, 1, times(X[0], d))
    ...         push(out, 0, times(-X[0], d))
    >>> Bond
    <interaction 'quadratic bond': energy of 2 frames>
    """
    owner = f"interaction '{checks.name('name of the interaction', name)}'"
    count = checks.count(owner, "frames", frames, 1, MAX_FRAMES)
    widths = _widths(owner, numbers)
    if checks.count(owner, "rows", rows, 0, 3):
        raise ModelError(
            f"{owner}: rows = {rows}, but constraints of a script are not supported; give an energy"
        )
    checks.flag(owner, "free", free)
    checks.number(owner, "length", length, positive=True)

    own_states = _widths(owner, states, "states")
    n_states = _count(own_states)
    if n_states > MAX_INTERNAL_VARIABLES:
        raise ModelError(f"{owner}: has {n_states} states; there may be {MAX_INTERNAL_VARIABLES}")
    if repeated := dict(widths).keys() & dict(own_states).keys():
        raise ModelError(f"{owner}: '{min(repeated)}' is a number and a state; choose another name for one")
    own_inputs = tuple(name for name, _ in _widths(owner, inputs, "inputs"))
    if len(own_inputs) > INPUTS:
        raise ModelError(
            f"{owner}: has {len(own_inputs)} inputs; there may be {INPUTS}. Compute several from one, or use several interactions"
        )
    if repeated := (dict(widths).keys() | dict(own_states).keys()) & set(own_inputs):
        raise ModelError(
            f"{owner}: '{min(repeated)}' is a number or a state, and an input; choose another name for one"
        )
    checks.flag(owner, "works", works)
    checks.flag(owner, "linear", linear)

    drives = works or bool(own_inputs)
    widths_before_states = _count(widths)
    widths += own_states
    total = _count(widths) + INPUTS * bool(own_inputs)

    def decorate(described: type) -> UserKind:
        functions = _functions(owner, described, bool(n_states))
        digest = digest_of(count, functions, n_states)
        check: Callable[..., None]
        if n_states:
            kind, check = kind_with_states(name, count, n_states, functions, digest, drives), check_evolving
        elif "value" in functions:
            made = _compiled(functions, count, digest)
            kind, check = Kind(name, count, 0, made["value"], made["dual"], no_bend), check_energy
        else:
            made, check = _compiled(functions, count, digest), partial(check_dissipation, linear=linear)
            kind = dissipation(name, count, made["step_dual"], made["rate_dual"])
            if drives:
                kind = kind._replace(
                    works=True, state_equations=force_at_rest(name, count, functions, digest)
                )
        user_kind = UserKind(name, kind, widths, digest, (True,) * count, own_inputs)
        X = None
        if sample is not None:
            values = [checks.number(owner, f"sample['{x}']", sample.get(x, 1.0)) for x in own_inputs]
            rest = {x: value for x, value in sample.items() if x not in own_inputs}
            X = user_kind.packed(f"{owner}, sample", rest, values)
        check(owner, kind, total, X, float(length), free)
        uses_axes = frames_with_torque(kind, total, X, float(length))
        kind = with_step_properties(kind, total, X, float(length))
        if drives and "value" in functions and not n_states:  # its energy counts as work
            kind = kind._replace(value=nothing, works=True)
        if own_inputs:
            kind = with_signal(kind, ANCHOR * count + widths_before_states)
        KINDS[name] = registered = replace(user_kind, kind=kind, uses_axes=uses_axes)
        register_kind(registered)
        return registered

    return decorate


def _compiled(functions: Mapping[str, FunctionType], frames: int, digest: str) -> dict[str, Any]:
    """Return the compiled functions of a kind without states, by role."""
    return {role: compile_function(role, function, frames, digest) for role, function in functions.items()}


def with_signal(kind: Kind, offset: int) -> Kind:
    """Return a kind whose inputs are at this offset of its parameters, the same for its forces at rest."""
    equations = kind.state_equations
    if equations is not None:
        equations = equations._replace(at_rest=equations.at_rest._replace(signal=offset))
    return kind._replace(signal=offset, state_equations=equations)


KINDS: dict[str, UserKind] = {}  # kinds registered last in this process, by name
CODES: dict[str, str] = {}  # digests of the kinds in `INTERACTIONS`, which models may have restored


def register_kind(user_kind: UserKind) -> Kind:
    """Register the functions of a kind under its name, again if another kind of that name was registered since."""
    CODES[user_kind.name] = user_kind.digest
    return INTERACTIONS.register(user_kind.kind)


def kinds_with_other_code(described: Mapping[str, Any], codes: Mapping[str, str] = CODES) -> dict[str, str]:
    """Return the interactions of a description whose kind has other code in this process: name of the kind -> its name.

    `codes`: digests of the kinds in this process.
    """
    interactions = described.get("others", {}).items()
    return {
        description["kind"]: name
        for name, description in interactions
        if "code" in description
        and codes.get(description["kind"], description["code"]) != description["code"]
    }


def find_user_kind(owner: str, kind: Any) -> UserKind:
    """Return a registered kind, given as such or by its name; ModelError if there is none."""
    if isinstance(kind, UserKind):
        return kind
    if isinstance(kind, str) and kind in KINDS:
        return KINDS[kind]
    known = ", ".join(f"'{name}'" for name in KINDS) or "none"
    raise ModelError(
        f"{owner}: {shown(kind)} is not a registered interaction; registered: {known}. Register it by @rodsim.interaction, "
        "or import the script that does"
    )


def _count(widths: Sequence[tuple[str, int]]) -> int:
    """Return the total number of parameters."""
    return sum(max(width, 1) for _, width in widths)


def _widths(owner: str, numbers: Any, what: str = "numbers") -> tuple[tuple[str, int], ...]:
    """Return names and lengths of parameters or states; ModelError if a name or a length is invalid."""
    names = dict(numbers) if isinstance(numbers, Mapping) else dict.fromkeys(_words(owner, numbers, what), 0)
    for name, count in names.items():
        if not isinstance(name, str) or not name.isidentifier() or name in _RESERVED:
            raise ModelError(
                f"{owner}: {shown(name)} cannot name a number; choose a word, as for an argument"
            )
        checks.count(f"{owner}, {what}", name, count, 0, 100)
    return tuple(names.items())


def _words(owner: str, numbers: Any, what: str) -> list[Any]:
    """Return the names in a list; ModelError if it is not a list or has a name twice."""
    if isinstance(numbers, str) or not isinstance(numbers, Sequence):
        raise ModelError(f'{owner}: {what} = {shown(numbers)}; give a list of names, or {{"name": length}}')
    words = list(numbers)
    for word in words:
        if words.count(word) > 1:
            raise ModelError(f"{owner}: has two {what} {shown(word)}; choose another name for one")
    return words


def _functions(owner: str, described: Any, evolves: bool) -> dict[str, FunctionType]:
    """Return the functions of a class by their roles; ModelError if one is missing or has other arguments.

    `evolves`: True for a kind with internal states.
    """
    found_functions = {}
    how = _HOW_WITH_STATES if evolves else _HOW
    for role, arguments in (_WITH_STATES if evolves else _ARGUMENTS).items():
        attribute = vars(described).get(role) if isinstance(described, type) else None
        function = getattr(attribute, "__func__", attribute)
        if function is None:
            continue
        if not isinstance(function, FunctionType) or function.__code__.co_argcount != len(arguments):
            raise ModelError(f"{owner}: `{role}` is not a function of {', '.join(arguments)}; write {how}")
        found_functions[role] = function
    if tuple(found_functions) not in (EVOLVING if evolves else (ENERGY, DISSIPATION)):
        has = ", ".join(found_functions) or "nothing"
        raise ModelError(f"{owner}: says {has}; decorate a class with {how}")
    return found_functions
