"""Split the numbers of a state into kinds: numbers of one kind have one magnitude, and are compared or perturbed together."""

from __future__ import annotations

import numpy as np

from discretization.time.adaptive import N_GROWTH
from rigid.system import Floats, State
from rodsim.results.layout import Layout

# arrays whose columns hold several kinds: where the next kind begins, and the names of the kinds
_COLUMNS = {
    "acc": ((3,), ("of velocities", "of turns")),
    "drive": ((3, 4, 7, 8), ("directions", "values", "rates of directions", "rates of values", "work")),
    "totals": ((1,), ("work", "dissipation")),
    "algorithmic": ((1,), ("in memory", "dissipated")),
    "bristle": ((1, 4, 5), ("windows", "bristles", "sliding", "stiffness")),
    "branch": ((3,), ("shear and stretch", "bending and twist")),
    "remembered": ((3,), ("first half", "second half")),
    "nodes": ((4,), ("sizes", "times")),
    "control": ((1, 3, 4), ("step", "steps", "number of steps", "errors")),
}
_SECOND_SOLUTION = ("r", "quat", "v", "Omega", "rest")  # parts of the second solution of adaptive steps
_CHART = ("q", "p", "v", "lam", "gam")
_FRAME_COLUMNS = ("r", "quat", "v", "Omega")
_STARTING = (
    *_FRAME_COLUMNS,
    "angle",
    "branch",
    "settled",
    "remembered",
    "chart q",
    "chart p",
    "chart v",
    "second r",
    "second quat",
    "second v",
    "second Omega",
)  # kinds on which a step depends


def split_state(state: State, layout: Layout, n: int, m: int) -> dict[str, Floats]:
    """Return views of the numbers of a state by kind, without empty kinds.

    `n`, `m`: numbers of coordinates and constraints of its chart.
    """
    arrays = state._asdict()
    variables, remembered = arrays.pop("internal"), layout.memory.parts(arrays.pop("memory"))
    arrays |= {block: layout.internal.part(variables, block) for block in layout.internal._fields}
    chart, control = (remembered.pop(name, np.zeros(0)) for name in ("chart", "control"))
    remembered["control"], second = control[:N_GROWTH], control[N_GROWTH:]
    arrays |= remembered
    views: dict[str, Floats] = {}
    for name, x in arrays.items():
        boundaries, suffixes = _COLUMNS.get(name, ((), ("",)))
        pieces = np.split(x, boundaries, axis=-1) if boundaries else [x]
        views |= {
            f"{name}, {word}" if word else name: piece for word, piece in zip(suffixes, pieces, strict=True)
        }
    pieces = np.split(chart, np.cumsum([n, n, n, m])) if chart.size else []
    views |= {f"chart {name}": piece for name, piece in zip(_CHART, pieces, strict=False)}
    if second.size:
        frames = len(state.r)
        *frame_pieces, multipliers = np.split(second, np.cumsum([3, 4, 3, 3]) * frames)
        pieces = [*(piece.reshape(frames, -1) for piece in frame_pieces), multipliers]
        views |= {f"second {name}": piece for name, piece in zip(_SECOND_SOLUTION, pieces, strict=True)}
    return {name: x for name, x in views.items() if x.size}


def perturb_state(
    state: State, part: float, gained: tuple[float, float], free: Floats, layout: Layout, n: int, m: int
) -> State:
    """Return a copy of the state in which every number a step depends on is perturbed.

    Each number moves up or down, at random, by `part` of the size of its kind. `gained`: velocity changes in a step, m/s and
    rad/s, which are added to the size of the velocities, since these may be zero. `free` (frames,): 1 for frames that move by
    forces, else 0. `n`, `m`: numbers of coordinates and constraints of the chart.
    """
    generator = np.random.default_rng(0)
    copy = State(*(x.copy() for x in state))
    added = dict(zip(("v", "Omega"), gained, strict=True))
    for name, x in split_state(copy, layout, n, m).items():
        if name.partition(",")[0] not in _STARTING:
            continue
        kind = name.removeprefix("second ")
        size = 1.0 if kind == "quat" else float(np.abs(x).max()) + added.get(kind, 0.0)
        step = part * size * generator.choice([-1.0, 1.0], x.shape)
        x += step * free[:, None] if kind in _FRAME_COLUMNS else step
        if kind == "quat":
            x /= np.linalg.norm(x, axis=-1, keepdims=True)
    return copy
