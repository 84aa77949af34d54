"""`steady_rotation`: the shape that a model takes where everything turns about one axis, as a state.

Newton's method on the balance in axes that turn (`discretization.linearisation.inertia`), with the linear equations' own
matrices; spin grows in steps, its square evenly.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_matrix

from discretization.linearisation import eigen
from discretization.linearisation.moving import moved
from discretization.linearisation.saddle import Saddle
from discretization.measures import constraint_residual
from rigid import checks
from rigid.errors import ConvergenceError, ModelError
from rigid.system import Floats, State
from rodsim.building import Built
from rodsim.linear import linearise
from rodsim.modal_analysis import model_size
from rodsim.model import Model

ITERATIONS = 25
CONVERGED = 1e-11  # of the model's size: last correction
STALLED = 1e-9  # of the model's size: below, corrections that fall no further are round-off
FREE = (
    1e-12  # of the highest frequency's square: what is taken for the stiffness of motions that cost nothing
)
LARGEST = 0.5  # rad, or part of the model's size: of one correction


def steady_rotation(
    model: Model | Built,
    spin: ArrayLike,
    about: ArrayLike = (0.0, 0.0, 0.0),
    steps: int = 4,
    state: State | None = None,
) -> State:
    """The state of the model when everything, fixed parts too, turns with `spin` (3,), rad/s, about an axis through `about`.

    Its velocities are zero: they are those in the axes. Give the same `spin` and `about` to `linearise` and `modes`.
    state: where to begin, by default the initial one; steps: in which the spin's square grows.
    Raises ConvergenceError where no such shape is found, ModelError where nothing holds the model in the axes.
    """
    built = model.build() if isinstance(model, Model) else model
    full = checks.vector("steady_rotation", "spin", spin)
    steps = checks.count("steady_rotation", "steps", steps)
    state = built.state if state is None else state
    still = np.zeros_like(state.v)
    state = state._replace(v=still, Omega=still)
    size = model_size(state)
    for k in range(1, steps + 1):
        part = np.sqrt(k / steps) * full
        change = np.inf
        for _ in range(ITERATIONS):
            before, (state, change) = change, _newton(built, state, part, about)
            if change <= CONVERGED * size or STALLED * size > change > 0.5 * before:
                break
        else:
            raise ConvergenceError(
                t=k / steps,
                h=0.0,
                iterations=ITERATIONS,
                residual=change,
                message=(
                    f"model '{built.layout.name}': no shape found that turns with {part} rad/s: the last correction was "
                    f"{change:.3g} m; use more `steps`"
                ),
            )
    return state


def _newton(built: Built, state: State, spin: Floats, about: ArrayLike) -> tuple[State, float]:
    """One correction, and how large it was, m."""
    lin = linearise(built, state, spin=spin, about=about)
    g = constraint_residual(built.system, state)
    # beside a motion that costs nothing and that nothing pushes, such as a turn about a bar, K is singular
    shift = FREE * float(eigen.squares(lin).reshape(-1, 6)[:, :3].max())
    try:
        x = Saddle(csr_matrix(lin.K + shift * lin.M), lin.G).solve(-lin.force, -lin.below(g))
    except ModelError:
        raise ModelError(
            f"model '{built.layout.name}': nothing holds it in axes that turn with {spin} rad/s; join it to the ground"
        ) from None
    by_frame = lin.of_frames(x)
    size = model_size(state)
    change = max(float(np.abs(by_frame[:, :3]).max()), size * float(np.abs(by_frame[:, 3:]).max()))
    by_frame *= min(1.0, LARGEST * size / change) if change > 0.0 else 1.0
    return moved(built.system, state, by_frame), change
