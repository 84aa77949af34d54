"""The rod elements by their words: what `add_rod(element=...)` and scenes name, and where their kernels are.

| word | frames | interpolated |
|---|---|---|
| se3 | 2 | constant strain, the logarithm of the relative pose: `se3_element`; where its material is beyond linear: `se3_span` |
| lagrange(p), p = 1 to 4 | p + 1 | positions and directors: `lagrange_element` |
| relative(p), p = 2, 4 | p + 1 | positions and rotation vectors seen from the middle frame: `relative_element` |
| cayley(p), p = 2, 4 | p + 1 | the same with Cayley vectors: `cayley_element`; what relative(p) was, for files |
| midpoint | 2 | positions and quaternions, strains in the middle: `midpoint_element` |

Kernels are imported where they are needed: those that a model does not use are not compiled.
"""

from __future__ import annotations

import importlib
from typing import Any, Final, NamedTuple

from rigid.errors import ModelError

SE3: Final = "se3"
DEFAULT: Final = SE3  # of `add_rod` and of scenes; measured in docs/numerics.md


class RodElement(NamedTuple):
    """An element between several frames."""

    word: str
    order: int
    module: str  # with ENERGIES, DISSIPATIONS and STRAINS by order
    closed: str  # with `forces`, see `closed_spans`; "": `em` goes by the duals
    in_lanes: bool = False  # there is `lane_forces`, too

    def kernels(self) -> Any:
        """The module, compiled when first asked for."""
        return importlib.import_module(f"discretization.space.{self.module}")

    def forces(self) -> Any:
        """The closed form of `em`, compiled when first asked for."""
        return importlib.import_module(f"discretization.space.{self.closed}").forces

    def lane_forces(self) -> Any:
        """The same of eight at a time."""
        return importlib.import_module(f"discretization.space.{self.closed}").lane_forces


# by the number that models and files know them by: only ever add at the end
BY_NUMBER = (
    *(RodElement(f"lagrange({p})", p, "lagrange_element", "lagrange_forces") for p in (1, 2, 3, 4)),
    *(RodElement(f"cayley({p})", p, "cayley_element", "") for p in (2, 4)),
    RodElement(SE3, 1, "se3_span", "se3_forces"),
    RodElement("midpoint", 1, "midpoint_element", ""),
    *(RodElement(f"relative({p})", p, "relative_element", "relative_forces", True) for p in (2, 4)),
)
SE3_SPAN = next(k for k, element in enumerate(BY_NUMBER) if element.word == SE3)
_NUMBERS = {SE3: -1} | {element.word: k for k, element in enumerate(BY_NUMBER) if element.word != SE3}
WORDS = tuple(_NUMBERS)


def number_of(owner: str, word: object) -> int:
    """Number of the element of this word; -1 of "se3" with a linear material, which has arrays of its own."""
    if not isinstance(word, str) or word.replace(" ", "") not in _NUMBERS:
        raise ModelError(f"{owner}: element = {word!r} is not known; choose one of {', '.join(WORDS)}")
    return _NUMBERS[word.replace(" ", "")]


def order_of(word: str) -> int:
    """Intervals between frames that an element of this word spans."""
    number = number_of("rod", word)
    return 1 if number < 0 else BY_NUMBER[number].order
