"""`buckling`: load factors at which an equilibrium stops to be the only one near by.

Loads that grow with a factor f move a model along equilibria x(f), from x(0) under its constant loads. Where

    K(x(f)) phi + G^T y = 0,   G phi = 0                                                                      (1)

has a solution it may buckle. Linear buckling takes K(f) = K(0) + f K', with K' of the stresses that the loads cause in the
shape x(0): of rest strains that are less by those strains. Then f is found of (1) itself: the path is followed by Newton's
method, the eigenvalue of K(f) phi = w^2 M phi next to zero by inverse iteration, its root by secants.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import ArpackError, LinearOperator, eigs

from discretization.linearisation import applied
from discretization.linearisation.equations import Linearised
from discretization.linearisation.moving import angles, moved
from discretization.linearisation.saddle import Saddle
from discretization.measures import constraint_residual, element_states
from discretization.system import System
from rigid import checks, quaternions
from rigid.errors import ConvergenceError, ModelError
from rigid.system import Floats, State
from rodsim.building import Built
from rodsim.linear import linearise
from rodsim.modal_analysis import model_size
from rodsim.model import Model

GRAVITY = "gravity"
ITERATIONS = 30
CONVERGED = 1e-12  # of the model's size: last correction of an equilibrium; of a factor: its last change
STEP = 1e-5  # of the model's size: displacements of the central differences for strains


class Buckling(NamedTuple):
    """The lowest positive factors, k of them."""

    factors: Floats  # (k,) of (1)
    linear: Floats  # (k,) of K(0) + f K'
    shapes: NDArray  # (k, n, 6) displacement and turn of every frame, largest displacement 1
    states: list[State]  # equilibria at the factors


class _Loaded(NamedTuple):
    """A model whose loads grow with a factor."""

    built: Built
    constant: Floats  # (l, 3)
    growing: Floats
    gravity: tuple[Floats, Floats]  # constant, growing

    def at(self, factor: float) -> tuple[Built, dict[str, Floats]]:
        """The model with its weight, and its loads, at this factor."""
        system = self.built.system._replace(gravity=self.gravity[0] + factor * self.gravity[1])
        values = self.constant + factor * self.growing
        names = list(self.built.layout.description["loads"])
        return self.built._replace(system=system), dict(zip(names, values, strict=True))

    def linear(self, state: State, factor: float) -> Linearised:
        """About a state under the loads of this factor."""
        built, loads = self.at(factor)
        return linearise(built, state, loads=loads)

    def settled(self, state: State, factor: float) -> tuple[State, Linearised]:
        """The equilibrium next to a state, and the linear equations there."""
        size = model_size(state)
        for _ in range(ITERATIONS):
            lin = self.linear(state, factor)
            x = Saddle(lin.K, lin.G).solve(-lin.force, -constraint_residual(self.built.system, state))
            by_frame = lin.of_frames(x)
            change = max(float(np.abs(by_frame[:, :3]).max()), size * float(np.abs(by_frame[:, 3:]).max()))
            state = moved(self.built.system, state, by_frame)
            if change <= 1e3 * CONVERGED * size:  # quadratic: what follows would be below CONVERGED
                return state, self.linear(state, factor)
            if not np.isfinite(change) or change > 10 * size:
                break
        raise ConvergenceError(
            t=factor,
            h=0.0,
            iterations=ITERATIONS,
            residual=change,
            message=(
                f"model '{self.built.layout.name}': no equilibrium found at load factor {factor:.6g}; where it has a limit "
                'point before, follow it by equilibrium(method="arc-length")'
            ),
        )


def buckling(
    model: Model | Built, n: int = 1, *, constant: Sequence[str] = (), t: float = 0.0, nonlinear: bool = True
) -> Buckling:
    """The n lowest factors of the model's loads and weight at which it buckles.

    constant: names of loads, or "gravity", that do not grow; t: when loads are evaluated, s. nonlinear=False: factors of
    linear buckling alone.
    Raises ModelError where a load that grows has no potential (a follower load, a moment): the model may then begin to
    flutter first, ask `modes`.
    """
    built = model.build() if isinstance(model, Model) else model
    n = checks.count("buckling", "n", n)
    loaded = _loaded(built, constant, t)
    still = np.zeros_like(built.state.v)
    state, lin = loaded.settled(built.state._replace(v=still, Omega=still), 0.0)
    _check_potential(loaded, state)
    factors, shapes = _linear(loaded, state, lin, n)
    if not nonlinear:
        return Buckling(factors, factors, _scaled(lin, shapes), [state] * len(factors))
    found = [_refined(loaded, state, lin, factor, phi) for factor, phi in zip(factors, shapes, strict=True)]
    order = np.argsort([factor for factor, _, _ in found])
    return Buckling(
        np.array([found[k][0] for k in order]),
        factors,
        _scaled(lin, np.array([found[k][1] for k in order])),
        [found[k][2] for k in order],
    )


def _loaded(built: Built, constant: Sequence[str], t: float) -> _Loaded:
    names = list(built.layout.description["loads"])
    values = built.load_values(np.array([checks.number("buckling", "t", t)]))[0]
    stays = [constant] if isinstance(constant, str) else list(constant)
    for name in stays:
        if name not in [*names, GRAVITY]:
            raise ModelError(f"buckling: there is no load '{name}'; there are {', '.join([*names, GRAVITY])}")
    kept = np.array([name in stays for name in names], bool)[:, None]
    g, none = built.system.gravity, np.zeros(3)
    gravity = (g, none) if GRAVITY in stays else (none, g)
    loaded = _Loaded(built, np.where(kept, values, 0.0), np.where(kept, 0.0, values), gravity)
    if not np.any(loaded.growing) and not np.any(gravity[1]):
        raise ModelError(f"model '{built.layout.name}': no load grows with the factor; add one, or gravity")
    return loaded


def _check_potential(loaded: _Loaded, state: State) -> None:
    reasons = loaded.linear(state, 1.0).unsymmetric
    if reasons:
        raise ModelError(
            f"buckling: {', '.join(reasons)} has no potential, so that K is not symmetric and the model may flutter before "
            "it buckles; ask `modes` under growing loads, or keep it `constant`"
        )


def _linear(loaded: _Loaded, state: State, lin: Linearised, n: int) -> tuple[Floats, Floats]:
    """Factors and shapes of K(0) + f K'."""
    saddle = Saddle(lin.K, lin.G)
    grown, none = (
        applied.applied(
            loaded.at(f)[0].system, state, np.array(list(loaded.at(f)[1].values())).reshape(-1, 3)
        )
        for f in (1.0, 0.0)
    )
    direction = lin.of_frames(saddle.solve((grown - none)[lin.frames].ravel()))
    size = model_size(state)
    largest = max(float(np.abs(direction[:, :3]).max()), size * float(np.abs(direction[:, 3:]).max()))
    if largest == 0.0:
        raise ModelError(
            f"model '{loaded.built.layout.name}': its loads move nothing, and cannot make it buckle"
        )
    stressed = loaded._replace(built=_stressed(loaded.built, state, direction, STEP * size / largest))
    change = csr_matrix(stressed.linear(state, 1.0).K - lin.K)
    # P(-K') is symmetric in the product of K(0) on the motions that the joints allow, to which P always leads back
    inverted = LinearOperator(
        (lin.size, lin.size), matvec=lambda x: -saddle.solve(change @ np.ravel(x)), dtype=float
    )
    start = inverted.matvec(saddle.solve(np.random.default_rng(1).standard_normal(lin.size)))
    free = lin.free
    many = min(n + 4, free - 2)
    if many < n:
        raise ModelError(
            f"buckling: n = {n} of a model with {free} freedoms; give at most {max(free - 2, 0)}"
        )
    try:
        inverse, phi = eigs(inverted, many, v0=start, which="LR", ncv=min(4 * many + 20, lin.size))
    except ArpackError as error:
        raise ModelError(
            f"model '{loaded.built.layout.name}': no buckling factors found ({error}); is it held, and stable without loads?"
        ) from None
    inverse, phi = inverse.real, phi.real
    use = np.flatnonzero(inverse > 1e-9 * np.abs(inverse).max())
    if not len(use):
        raise ModelError(
            f"model '{loaded.built.layout.name}': its loads do not make it buckle, only minus these might"
        )
    use = use[np.argsort(-inverse[use])][:n]
    return 1.0 / inverse[use], phi.T[use]


def _stressed(built: Built, state: State, direction: Floats, f: float) -> Built:
    """The model with the stresses of a displacement `direction` (n, 6) in its present shape; differences at +-f of it."""
    system = built.system
    ends = [moved(system, state, sign * f * direction) for sign in (1.0, -1.0)]
    strain = (element_states(system, ends[0])[0] - element_states(system, ends[1])[0]) / (2 * f)
    m = len(system.elements.length)
    longer = (_lengths(system, ends[0]) - _lengths(system, ends[1])) / (2 * f)
    turned = (angles(system, ends[0]) - angles(system, ends[1])) / (2 * f)
    return built._replace(
        system=system._replace(
            elements=system.elements._replace(strain0=system.elements.strain0 - strain[:m]),
            spans=system.spans._replace(strain0=system.spans.strain0 - strain[m:]),
            springs=system.springs._replace(length0=system.springs.length0 - longer),
            torsions=system.torsions._replace(angle0=system.torsions.angle0 - turned),
        )
    )


def _lengths(system: System, state: State) -> Floats:
    """Of all springs."""
    a, b = system.springs.frames.T
    p, q = (
        state.r[k] + quaternions.rotate(state.quat[k], X)
        for k, X in ((a, system.springs.Xa), (b, system.springs.Xb))
    )
    return np.linalg.norm(q - p, axis=1)


def _refined(
    loaded: _Loaded, state: State, lin: Linearised, factor: float, phi: Floats
) -> tuple[float, Floats, State]:
    """The factor of (1) next to a linear one."""
    before, (ratio_before, _) = 0.0, _lowest(lin, lin.M, phi)
    last = np.inf
    for _ in range(ITERATIONS):
        state, here = loaded.settled(state, factor)
        ratio, phi = _lowest(here, lin.M, phi)
        step = -ratio * (factor - before) / (ratio - ratio_before) if ratio != ratio_before else 0.0
        if abs(step) <= CONVERGED * factor or (abs(step) < 1e-4 * factor and abs(step) > 0.5 * last):
            break  # or it falls no further: that is round-off
        before, ratio_before, last = factor, ratio, abs(step)
        factor = max(factor + step, 0.1 * factor)
    else:
        raise ConvergenceError(
            t=factor,
            h=0.0,
            iterations=ITERATIONS,
            residual=last / factor,
            message=f"buckling: the factor near {factor:.6g} was not found; the linear one is all there is",
        )
    return factor, phi, state


def _lowest(here: Linearised, M: csr_matrix, phi: Floats) -> tuple[float, Floats]:
    """The eigenvalue of K(f) against M next to zero, 1/s^2, from its shape near by."""
    saddle = Saddle(here.K, here.G)
    square = np.inf
    for _ in range(12):
        phi = saddle.solve(M @ phi)
        phi = phi / np.sqrt(phi @ (M @ phi))
        before, square = square, float(phi @ (here.K @ phi))
        if abs(square - before) <= 1e-12 * abs(square):
            break
    return square, phi


def _scaled(lin: Linearised, shapes: Floats) -> Floats:
    out = lin.of_frames(shapes)
    largest = np.abs(out[..., :3]).max(axis=(1, 2), keepdims=True)
    return out / np.where(largest > 0, largest, 1.0)
