"""Check the laws of a kind at random poses when a script registers it; each error names the law, its violation and a remedy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from rigid import quaternions
from rigid.errors import ModelError
from rigid.interactions.kinds import COMPLEX_STEP, Kind
from rigid.system import Floats
from rodsim.interactions import kernel_calls
from rodsim.interactions.compile_errors import explain
from rodsim.interactions.user_functions import ANCHOR

TRIES = 4  # number of random configurations
RATE = 10.0  # 1/s, reciprocal of the length of a step
# 1/s, reciprocal of the length of a very short step; relative change of a state in it that counts
FAST_RATE, RATE_STEP = 1e9, 1e-4
ROUNDOFF = 1e-11  # relative round-off of an identity
SLOPE = 1e-6  # relative error of a finite difference
_STEPS = 1e-4, 1e-5, 1e-6, 1e-7, 1e-8  # relative steps of differences
# sizes of the steps, relative to rotations of half a radian and displacements of a third of the length
_NEAR = 1.0, 1e-3

Ends = tuple[Any, Any, Floats]


def _samples(kind: Kind, count: int, X: Floats | None, length: float, seed: int = 1) -> Iterator[Ends]:
    """Yield random poses at both ends of a step, and parameters.

    Anchors are about `length` (m) apart, on lever arms and rotated. Parameters after the anchors are X, by default random.
    """
    rng = np.random.default_rng(seed)
    n = kind.arity
    for _ in range(TRIES):
        numbers = rng.uniform(0.5, 1.5, count) if X is None else X
        r = length * (np.arange(n)[:, None] * _unit(rng) + 0.2 * rng.normal(size=(n, 3)))
        quat = quaternions.normalize(rng.normal(size=(n, 4)))
        levers = [
            np.concatenate([0.2 * length * rng.normal(size=3), _axes(rng.normal(size=4)).ravel()])
            for _ in range(n)
        ]
        for near in _NEAR:
            rotation = np.concatenate([np.ones((n, 1)), near * 0.25 * rng.normal(size=(n, 3))], axis=1)
            quat1 = quaternions.multiply(quaternions.normalize(rotation), quat)
            r1 = r + near * length * 0.2 * rng.normal(size=(n, 3))
            yield complex_poses(r, quat), complex_poses(r1, quat1), np.concatenate([*levers, numbers])


def _unit(rng: np.random.Generator) -> Floats:
    """Return a random unit vector (3,)."""
    x = rng.normal(size=3)
    unit_vector: Floats = x / np.linalg.norm(x)
    return unit_vector


def _axes(quat: Floats) -> Floats:
    """Return the rotation matrix (3, 3) of a quaternion that need not be normalised."""
    return quaternions.to_matrix(quaternions.normalize(quat))


def complex_poses(r: Floats, quat: Floats) -> Any:
    """Return poses (n, 4, 3), complex, of positions (n, 3) and orientations (n, 4)."""
    y = np.zeros((len(r), 4, 3), complex)
    y[:, 0], y[:, 1:] = r, quaternions.to_matrix(quat).swapaxes(1, 2)
    return y


def _size(f: Any) -> float:
    """Return the largest magnitude in an array, 0 if it is empty."""
    return float(np.abs(f).max(initial=0.0))


def _finite(owner: str, role: str, values: Any) -> None:
    """Raise ModelError if values are not finite or not real."""
    if not np.all(np.isfinite(values)):
        raise ModelError(
            f"{owner}: `{role}` is not finite at poses drawn at random; give numbers (sample=) and a length= at which it is, or "
            "guard its divisions"
        )
    if np.abs(np.imag(values)).max(initial=0.0) > 0.0:
        raise ModelError(f"{owner}: `{role}` of real poses is not real; remove complex constants")


def check_energy(owner: str, kind: Kind, count: int, X: Floats | None, length: float, free: bool) -> None:
    """Raise ModelError for the first law of an energy that does not hold."""
    _check_compiles(owner, kind, ("value", "dual"))
    for y0, y1, numbers in _samples(kind, count, X, length):
        V0, V1 = kernel_calls.value(kind, y0, numbers), kernel_calls.value(kind, y1, numbers)
        f = kernel_calls.dual(kind, y0, y1, numbers)
        _finite(owner, "value", [V0, V1])
        _finite(owner, "dual", f)
        size = abs(V0) + abs(V1) + _size(f) * length
        _check_gradient(owner, kind, y0, numbers, length)
        _check_law_holds(
            owner,
            "out . (y1 - y0) = value(y1) - value(y0)",
            np.sum(f * (y1 - y0)) - (V1 - V0),
            size,
            "let `dual` take products by averages over both ends, functions of one number by divided differences (`slopes`)",
        )
        _check_law_holds(
            owner,
            "dual(y1, y0) = dual(y0, y1)",
            kernel_calls.dual(kind, y1, y0, numbers) - f,
            _size(f),
            "let both ends count alike in `dual`",
        )
        _check_analytic(owner, "dual", kind, numbers, (y0, y1), length)
        moved = kernel_calls.value(kind, _displaced(y0, length), numbers)
        _check_law_holds(
            owner,
            "a common displacement leaves its value",
            moved - V0,
            size,
            "let it depend on differences of places alone; one that is tied to the ground has an anchor there",
        )
        if free:
            _check_momenta(owner, f, y0, y1, length)


def check_dissipation(
    owner: str, kind: Kind, count: int, X: Floats | None, length: float, free: bool, linear: bool = True
) -> None:
    """Raise ModelError for the first law of a dissipation that does not hold, or of a force that may do work.

    linear: True if its dual is linear in the rates.
    """
    _check_compiles(owner, kind, ("dual", "bend"))
    for y0, y1, numbers in _samples(kind, count, X, length):
        dy = y1 - y0
        f = kernel_calls.dual(kind, y0, y1, numbers, RATE)
        _finite(owner, "step_dual", f)
        dissipated = float(np.sum(f * dy).real)
        size = _size(f) * _size(dy)
        if not kind.works and dissipated < -ROUNDOFF * size:
            raise ModelError(
                f"{owner}: a step takes {dissipated:.3g} J away (law: out . (y1 - y0) >= 0); "
                "change the sign of `step_dual`, or let it be linear in the change with a matrix that is not negative; declare "
                "works=True if the interaction drives the motion"
            )
        if not kind.works:
            _check_law_holds(
                owner,
                "step_dual(y1, y0) = -step_dual(y0, y1)",
                kernel_calls.dual(kind, y1, y0, numbers, RATE) + f,
                _size(f),
                "let it be odd in the change, its other factors averages over both ends; declare works=True for a force that "
                "does not vanish at rest",
            )
        if kind.works or not linear:
            _check_law_holds(
                owner,
                "step_dual(y1, y0, -h) = step_dual(y0, y1, h)",
                kernel_calls.dual(kind, y1, y0, numbers, -RATE) - f,
                _size(f),
                "let both ends count alike in `step_dual`, and let it be a function of the change over h",
            )
        _check_analytic(owner, "step_dual", kind, numbers, (y0, y1), length, RATE)
        _check_rate(owner, kind, (y0, dy), numbers, length, linear and not kind.works)
        _check_law_holds(
            owner,
            "a common displacement leaves its dual",
            kernel_calls.dual(kind, _displaced(y0, length), _displaced(y1, length), numbers, RATE) - f,
            _size(f),
            "let it depend on differences of places alone",
        )
        if free:
            _check_momenta(owner, f, y0, y1, length)


def check_evolving(owner: str, kind: Kind, count: int, X: Floats | None, length: float, free: bool) -> None:
    """Raise ModelError for the first law of a kind with internal states that does not hold; states are the last parameters."""
    _check_compiles(owner, kind, ("dual",))
    for y0, y1, numbers in _samples(kind, count, X, length):
        f, x1 = (
            kernel_calls.dual(kind, y0, y1, numbers, RATE),
            kernel_calls.updated_states(kind, y0, y1, numbers, RATE),
        )
        if not np.all(np.isfinite(x1)):
            raise ModelError(
                f"{owner}: `evolve` has no solution at poses drawn at random; let its rows depend on all of x1, smoothly, and "
                "give numbers (sample=) and a length= at which they have one"
            )
        _finite(owner, "step_dual", f)
        _check_analytic(owner, "step_dual", kind, numbers, (y0, y1), length, RATE)
        moved = (_displaced(y0, length), _displaced(y1, length), numbers, RATE)
        for changed, here in (
            (kernel_calls.dual(kind, *moved), f),
            (kernel_calls.updated_states(kind, *moved), x1),
        ):
            _check_law_holds(
                owner,
                "a common displacement leaves its dual and its states",
                changed - here,
                max(_size(f), _size(x1)),
                "let it depend on differences of places alone; one that is tied to the ground has an anchor there",
            )
        if not kind.works:
            dissipated, rounding = _dissipated_energy(kind, y0, y1, numbers)
            if dissipated < -rounding:
                raise ModelError(
                    f"{owner}: a step takes {dissipated:.3g} J away (law: out . (y1 - y0) >= the change of value); "
                    "let `step_dual` and `evolve` be "
                    "its discrete derivatives, to the poses and to x, and what is lost not negative"
                )
        if free:
            _check_momenta(owner, f, y0, y1, length)


def _dissipated_energy(kind: Kind, y0: Any, y1: Any, X: Floats) -> tuple[float, float]:
    """Return the energy that a step dissipates, J, and its round-off; stored energy includes that of the internal states."""
    f, x1 = kernel_calls.dual(kind, y0, y1, X, RATE), kernel_calls.updated_states(kind, y0, y1, X, RATE)
    at_end = np.concatenate([X[: -kind.n_internal], x1])
    stored = [kernel_calls.stored_energy(kind, y, numbers).real for y, numbers in ((y0, X), (y1, at_end))]
    dissipated = float(np.sum(f * (y1 - y0)).real) - (stored[1] - stored[0])
    return dissipated, ROUNDOFF * (_size(f) * _size(y1 - y0) + float(np.abs(stored).max()))


def with_step_properties(kind: Kind, count: int, X: Floats | None, length: float) -> Kind:
    """Return the kind with facts about its internal states: whether they conserve energy and whether they jump in a short step.

    Both are tested at the random poses of the other checks. A kind without states is returned as it is.
    """
    if not kind.n_internal:
        return kind
    assert kind.state_equations is not None
    conserves, reverses = not kind.works, False
    for y0, y1, numbers in _samples(kind, count, X, length):
        if conserves:
            dissipated, rounding = _dissipated_energy(kind, y0, y1, numbers)
            conserves = abs(dissipated) <= rounding
        x0, x1 = numbers[-kind.n_internal :], kernel_calls.updated_states(kind, y0, y0, numbers, FAST_RATE)
        reverses |= _size(x1 - x0) > RATE_STEP * _size(x0)
    return kind._replace(
        state_equations=kind.state_equations._replace(conserves=conserves, reverses=reverses)
    )


def frames_with_torque(kind: Kind, count: int, X: Floats | None, length: float) -> tuple[bool, ...]:
    """Return, for each frame, True if the kind exerts a torque on it even with the anchor at the frame's origin."""
    has_torque = np.zeros(kind.arity, bool)
    for y0, y1, numbers in _samples(kind, count, X, length, seed=2):
        numbers = numbers.copy()
        for k in range(kind.arity):
            numbers[ANCHOR * k : ANCHOR * k + 3] = 0.0
        f = kernel_calls.dual(kind, y0, y1, numbers)
        has_torque |= np.abs(f[:, 1:]).max(axis=(1, 2)) > 0.0
    return tuple(bool(x) for x in has_torque)


def _displaced(y: Any, length: float) -> Any:
    """Return the poses after a common displacement of about `length`, m."""
    moved = y.copy()
    moved[:, 0] += length * np.array([0.7, -0.4, 1.1])
    return moved


def _check_compiles(owner: str, kind: Kind, fields: tuple[str, ...]) -> None:
    """Compile these functions of a kind; raise ModelError, with an explanation, if one does not compile."""
    names = {"value": "value", "dual": "dual", "bend": "rate_dual"}
    if fields[0] == "dual":
        names["dual"] = "step_dual"
    for field in fields:
        try:
            function = getattr(kind, field)
            if hasattr(type(function), "address"):
                _ = function.address
        except Exception as error:  # numba raises errors of any type on code that it does not know
            raise ModelError(
                f"{owner}: `{names[field]}` does not compile: {explain(error)}. Write it with numbers, tuples, small "
                "arrays, loops and the helpers of rodsim.interactions"
            ) from error


def _check_law_holds(
    owner: str, law: str, misses: Any, size: float, cure: str, tolerance: float = ROUNDOFF
) -> None:
    """Raise ModelError if a law is violated by more than round-off; `misses`: violation, `size`: size of its terms."""
    violation = _size(np.asarray(misses))
    if not violation <= tolerance * max(size, 1e-300):
        raise ModelError(f"{owner}: misses a law by {violation:.3g} of {size:.3g} (law: {law}); {cure}")


def _check_gradient(owner: str, kind: Kind, y: Any, X: Floats, length: float) -> None:
    """Raise ModelError if the dual at equal ends is not the gradient of the value.

    Derivatives are compared along displacements and rotations of each frame, the only possible directions.
    """
    f = kernel_calls.dual(kind, y, y, X)
    _finite(owner, "dual", f)
    z = kernel_calls.unit_motions(y)
    by_steps = (
        np.array([kernel_calls.value(kind, y + 1j * COMPLEX_STEP * motion, X).imag for motion in z])
        / COMPLEX_STEP
    )
    gradient = np.array([np.sum(f * motion).real for motion in z])
    size = max(_size(by_steps), _size(gradient))
    _check_law_holds(
        owner,
        "dual(y, y) is the gradient of value",
        gradient - by_steps,
        size,
        "compare `dual` at equal ends with the derivatives of `value`, an analytic function (no abs, no norm of numpy)",
    )


def _check_analytic(
    owner: str, role: str, kind: Kind, X: Floats, ends: tuple[Any, Any], length: float, lam: float = 1.0
) -> None:
    """Raise ModelError if a complex step of the pose at the end of a step of length 1/lam does not give the dual's derivative.

    Differences of several steps are compared, since the best one depends on how fast the dual changes.
    """
    y0, y1 = ends

    def function(end: Any) -> Any:
        return kernel_calls.dual(kind, y0, end, X, lam)

    rng = np.random.default_rng(3)
    z = rng.normal(size=y1.shape)
    z[:, 0] *= length
    by_step = function(y1 + 1j * COMPLEX_STEP * z).imag / COMPLEX_STEP
    size = max(_size(by_step), _size(function(y1)))
    misses = [_size(by_step - (function(y1 + h * z) - function(y1 - h * z)).real / (2 * h)) for h in _STEPS]
    law = f"a complex step of `{role}` is its derivative"
    cure = "let it be an analytic function: no abs, no .real, no conj, roots by `norm`"
    _check_law_holds(owner, law, min(misses), size, cure, SLOPE)


def _check_momenta(owner: str, f: Any, y0: Any, y1: Any, length: float) -> None:
    """Raise ModelError if total force or total moment, at the mean of both ends, is not zero."""
    mean = 0.5 * (y0 + y1)
    cure = (
        "take averages over both ends in `dual`, and include the dual of each direction or point that is used; or declare "
        "free=False if the interaction acts on something that is not a frame"
    )
    _check_law_holds(owner, "the sum of its forces is zero", f[:, 0].sum(axis=0), _size(f), cure)
    moment = np.cross(mean, f).sum(axis=(0, 1))
    _check_law_holds(owner, "the sum of its moments is zero", moment, _size(f) * (1.0 + _size(mean)), cure)


def _check_rate(owner: str, kind: Kind, at: tuple[Any, Any], X: Floats, length: float, linear: bool) -> None:
    """Raise ModelError if `rate_dual` is not the limit of `step_dual` in short steps or, with `linear`, not linear in the rates.

    at: poses and rates.
    """
    y, z = at
    f = kernel_calls.rate_dual(kind, y, z, X)
    _finite(owner, "rate_dual", f)
    if linear:
        _check_law_holds(
            owner,
            "rate_dual is linear in z",
            kernel_calls.rate_dual(kind, y, -2.0 * z, X) + 2.0 * f,
            _size(f),
            "let it be a matrix of the poses times z, or declare linear=False",
        )
    short = [
        kernel_calls.dual(kind, y - 0.5 * h * z, y + 0.5 * h * z, X, 1.0 / h)
        for h in np.array(_STEPS) / max(_size(z[:, 0]) / length, _size(z[:, 1:]))
    ]
    law = "step_dual(y, y + h z, h) is rate_dual(y, z) for short steps"
    size = max(_size(f), _size(short[0]))
    _check_law_holds(owner, law, min(_size(x - f) for x in short), size, "divide the change by h", SLOPE)
