"""The names of `em` and its kin: `em`, `em4`, `em6`, `em8`, each also with `-ggl`, and `em-d(rho)`; what they promise."""

from __future__ import annotations

import re
from typing import NamedTuple

from rigid.errors import ModelError

NAMES = ("em", "em4", "em6", "em8", "em-ggl", "em4-ggl", "em6-ggl", "em8-ggl", "em-d(rho)")
_DISSIPATING = re.compile(r"\s*em([468]?)(-ggl)?-d\s*(?:\(\s*(?:rho\s*=)?([^()]*)\))?\s*")


class EmIntegrator(NamedTuple):
    """What `discretization.time.stepper` is told."""

    order: int
    hidden: bool
    rho: float | None = None  # spectral radius at infinity; None: nothing dissipates

    @property
    def promises(self) -> frozenset[str]:
        """What it keeps of any model, in the words of `Scheme.joined`; "energy" of `em-d` with what it takes out itself."""
        kept = {"energy", "linear momentum", "angular momentum", "position"}
        return frozenset(kept | {"velocity"} if self.hidden else kept)


def em_integrator(name: str) -> EmIntegrator | None:
    """The one of this name; None for another integrator.

    Raises ModelError where what `em-d` is asked for does not exist.
    """
    if name in NAMES[:-1]:
        return EmIntegrator(int(name[2]) if name[2:3].isdigit() else 2, name.endswith("-ggl"))
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
    return EmIntegrator(2, False, rho)
