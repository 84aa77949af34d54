"""List the `em` family by name: `em`, `em4`, `em6`, `em8`, each also with `-ggl`, and `em-d(rho)`, with properties and
invariants.

`EM_FAMILY` is the only list: all code that runs, audits, derives, completes or describes an integrator looks it up there. Another
scheme on frames is a file of its own and an entry in `EM_FAMILY`: its name, and a function that makes an `EmIntegrator` from
the text that a user writes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from rigid.errors import ModelError

_KEPT = frozenset({"energy", "linear momentum", "angular momentum", "position"})
_DISSIPATING = re.compile(r"\s*em([468]?)(-ggl)?-d\s*(?:\(\s*(?:rho\s*=)?([^()]*)\))?\s*")


class EmIntegrator(NamedTuple):
    """Parameters of an integrator of the `em` family for `discretization.time.stepper`, and its properties."""

    order: int
    hidden: bool = False  # True with velocity-level constraints, G v = 0
    # spectral radius at infinity of `em-d`; None: another scheme, without its memory
    rho: float | None = None
    # invariants for any model, named as in `Scheme.joined`; for `em-d` "energy" includes its numerical dissipation
    invariants: frozenset[str] = _KEPT
    # substep fractions of a step; empty: those of `composition` for its order
    fractions: tuple[float, ...] = ()
    # replacement for the equations of `em`: a function as `newton.equations_of` describes
    equations: Any = None

    @property
    def is_composition(self) -> bool:
        """Return whether the scheme is made of steps of `em` or `em-ggl`."""
        return self.rho is None and self.equations is None

    @property
    def plain(self) -> bool:
        """Return whether the scheme is `em` or one of the compositions that the structure-exploiting solvers support."""
        return self.is_composition and not self.hidden and not self.fractions

    @property
    def steps(self) -> dict[str, Any]:
        """Return the keyword arguments of `Stepper` besides the order."""
        return {
            "hidden": self.hidden, "rho": self.rho, "fractions": self.fractions, "equations": self.equations
        }  # fmt: skip


# text of the user -> integrator; None: the text names another one
ParseScheme = Callable[[str], EmIntegrator | None]


def _named(name: str, order: int, hidden: bool) -> ParseScheme:
    integrator = EmIntegrator(order, hidden, invariants=_KEPT | {"velocity"} if hidden else _KEPT)
    return lambda text: integrator if text == name else None


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
            f"integrator '{name}': rho is the spectral radius at infinity, a number from 0 (motion that a step does not "
            "resolve decays in two steps) to 1 (em); give it, for instance em-d(0.8)"
        )
    return EmIntegrator(2, rho=rho)


# keys: names as shown to users
EM_FAMILY: dict[str, ParseScheme] = {
    f"em{order if order > 2 else ''}{variant}": _named(
        f"em{order if order > 2 else ''}{variant}", order, bool(variant)
    )
    for variant in ("", "-ggl")
    for order in (2, 4, 6, 8)
} | {"em-d(rho)": _dissipating}


def em_integrator(name: str) -> EmIntegrator | None:
    """Return the integrator of the `em` family with this name; None for another integrator.

    Raises ModelError if the requested variant does not exist, for example a composition of `em-d`.
    """
    return next((integrator for read in EM_FAMILY.values() if (integrator := read(name)) is not None), None)
