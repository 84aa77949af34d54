"""Registry of the rod elements: names in `add_rod(element=...)` and scenes, and the modules of their kernels.

| word | frames | interpolated |
|---|---|---|
| se3 | 2 | constant strain, the logarithm of the relative pose: `se3_element`; with a nonlinear material: `se3_span` |
| lagrange(p), p = 1 to 4 | p + 1 | positions and directors: `lagrange_element` |
| relative(p), p = 2, 4 | p + 1 | positions and rotation vectors relative to the middle frame: `relative_element` |
| cayley(p), p = 2, 4 | p + 1 | positions and Cayley vectors relative to it: `cayley_element`; former relative(p), for files |
| midpoint | 2 | positions and quaternions, strains in the middle: `midpoint_element` |
| string | 2 | positions alone: stretch without bending, shear and torsion: `string_element` |

Kernels are imported on demand: those that a model does not use are not compiled.
"""

from __future__ import annotations

import importlib
from typing import Any, Final, NamedTuple

from rigid.errors import ModelError

SE3: Final = "se3"
DEFAULT: Final = SE3  # default of `add_rod` and of scenes; measured in docs/evidence/elements.md


class RodElement(NamedTuple):
    """Rod element with p + 1 frames and its kernels."""

    word: str
    order: int
    module: str  # module that has ENERGIES, DISSIPATIONS and STRAINS by order
    closed: str  # module that has `forces`, see `closed_form_spans`; "": `em` uses the duals
    in_lanes: bool = False  # True if that module has `lane_forces`, too
    rotates: bool = True  # False: its frames have positions alone, and no torque acts on them

    def kernels(self) -> Any:
        """Return the module of the kernels, which is compiled on first use."""
        return importlib.import_module(f"discretization.space.{self.module}")

    def forces(self) -> Any:
        """Return the closed form for `em`, which is compiled on first use."""
        return importlib.import_module(f"discretization.space.{self.closed}").forces

    def lane_forces(self) -> Any:
        """Return the closed form for `em` that evaluates eight elements at a time, compiled on first use."""
        return importlib.import_module(f"discretization.space.{self.closed}").lane_forces


# index: number of the element in models and files; add new elements only at the end
BY_NUMBER = (
    *(RodElement(f"lagrange({p})", p, "lagrange_element", "lagrange_forces") for p in (1, 2, 3, 4)),
    *(RodElement(f"cayley({p})", p, "cayley_element", "") for p in (2, 4)),
    RodElement(SE3, 1, "se3_span", "se3_forces"),
    RodElement("midpoint", 1, "midpoint_element", ""),
    *(RodElement(f"relative({p})", p, "relative_element", "relative_forces", True) for p in (2, 4)),
    RodElement("string", 1, "string_element", "string_forces", rotates=False),
)
STRING: Final = "string"
SE3_SPAN = next(k for k, element in enumerate(BY_NUMBER) if element.word == SE3)
_NUMBERS = {SE3: -1} | {element.word: k for k, element in enumerate(BY_NUMBER) if element.word != SE3}
WORDS = tuple(_NUMBERS)


def number_of(owner: str, word: object) -> int:
    """Return the number of the element named `word`; -1 for "se3" with a linear material, which has separate arrays."""
    if not isinstance(word, str) or word.replace(" ", "") not in _NUMBERS:
        raise ModelError(f"{owner}: element = {word!r} is not known; choose one of {', '.join(WORDS)}")
    return _NUMBERS[word.replace(" ", "")]


def order_of(word: str) -> int:
    """Return the number of intervals between frames that the element named `word` spans."""
    number = number_of("rod", word)
    return 1 if number < 0 else BY_NUMBER[number].order
