"""`em` and its kin by name: `em`, `em4`, `em6`, `em8`, each also with `-ggl`, and `em-d(rho)`; what they are and promise.

`KIN` is the one list: who runs, audits, derives, completes or describes an integrator asks it. Another scheme on frames is a file
of its own and an entry here: its name, and what makes an `EmIntegrator` of what a user writes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from rigid.errors import ModelError

_KEPT = frozenset({"energy", "linear momentum", "angular momentum", "position"})
_DISSIPATING = re.compile(r"\s*em([468]?)(-ggl)?-d\s*(?:\(\s*(?:rho\s*=)?([^()]*)\))?\s*")


class EmIntegrator(NamedTuple):
    """What `discretization.time.stepper` is told, and what others ask."""

    order: int
    hidden: bool = False  # with hidden constraints, G v = 0
    rho: float | None = None  # spectral radius at infinity of `em-d`; None: it has none of its memory
    # what it keeps of any model, in the words of `Scheme.joined`; "energy" of `em-d` with what it takes out itself
    promises: frozenset[str] = _KEPT
    fractions: tuple[float, ...] = ()  # of the substeps of a step; none: those of `composition` for its order
    equations: Any = None  # in the place of those of `em`: a function of `newton`, see `newton.equations_of`

    @property
    def of_substeps(self) -> bool:
        """Whether it is made of steps of `em` or `em-ggl`."""
        return self.rho is None and self.equations is None

    @property
    def plain(self) -> bool:
        """Whether it is `em`, or one of its compositions that shortcuts know."""
        return self.of_substeps and not self.hidden and not self.fractions

    @property
    def steps(self) -> dict[str, Any]:
        """What `Stepper` is told besides the order."""
        return {
            "hidden": self.hidden, "rho": self.rho, "fractions": self.fractions, "equations": self.equations
        }  # fmt: skip


Read = Callable[[str], EmIntegrator | None]  # what a user writes; None: another one


def _named(name: str, order: int, hidden: bool) -> Read:
    made = EmIntegrator(order, hidden, promises=_KEPT | {"velocity"} if hidden else _KEPT)
    return lambda text: made if text == name else None


def _dissipating(name: str) -> EmIntegrator | None:
    match = _DISSIPATING.fullmatch(name)
    if match is None:
        return None
    if match[1]:
        raise ModelError(
            f"integrator '{name}': em-d(rho) dissipates, so it cannot take the negative substeps of order {match[1]}; use "
            f"em-d(rho), or em{match[1]}{match[2] or ''} without dissipation"
        )
    if match[2]:
        raise ModelError(
            f"integrator '{name}': em-d(rho) has no hidden constraints; use em-d(rho), or em-ggl without dissipation"
        )
    try:
        rho = float(match[3] or "")
    except ValueError:
        rho = float("nan")
    if not 0.0 <= rho <= 1.0:
        raise ModelError(
            f"integrator '{name}': rho is the spectral radius at infinity, a number from 0 (what a step cannot resolve dies in "
            "two steps) to 1 (em); give it, for instance em-d(0.8)"
        )
    return EmIntegrator(2, rho=rho)


# by what a user is told to write
KIN: dict[str, Read] = {
    f"em{order if order > 2 else ''}{kin}": _named(f"em{order if order > 2 else ''}{kin}", order, bool(kin))
    for kin in ("", "-ggl")
    for order in (2, 4, 6, 8)
} | {"em-d(rho)": _dissipating}


def em_integrator(name: str) -> EmIntegrator | None:
    """The one of this name; None for another integrator.

    Raises ModelError where what is asked of it does not exist, as of `em-d`.
    """
    return next((found for read in KIN.values() if (found := read(name)) is not None), None)
