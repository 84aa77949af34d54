"""List the invariants that an integrator declares for a model, for every integrator and chart.

    energy               T*(q, p) + V; for the `em` family T(v) + V; with loads, drives and dampers: E - E0 = W - D
    generalised energy   p . v - T(q, v) + V, with loads, drives and dampers in the same way
    linear momentum      P, if no external force acts
    angular momentum     L, if no external force or moment acts
    symplectic           the two-form dq ^ dp
    position             g(q) = 0
    velocity             G W p = 0; for `em-ggl` G v = 0

Schemes declare them (`Scheme.joined`, `Scheme.invariants`, `EmIntegrator.invariants`). Tests assert them for some models, and the
audit checks them for every result.
"""

from __future__ import annotations

from discretization.time.em_family import em_integrator
from discretization.time.integrators import parse

INVARIANTS = (
    "energy",
    "generalised energy",
    "linear momentum",
    "angular momentum",
    "symplectic",
    "position",
    "velocity",
)
_OF_SINGLE_BODIES = {"momentum": ("linear momentum", "angular momentum")}


def declared_invariants(
    integrator: str, chart: str | None = None, joined: bool = True, curved: bool = False
) -> frozenset[str]:
    """Return the invariants, a subset of `INVARIANTS`, that `integrator` conserves in `chart`, a name of
    `mechanical_stepper.CHARTS`.

    `em` has its own coordinates and ignores `chart`.

    joined: True if interactions act between bodies, or there are rods; more is conserved for single bodies. curved: True if there
    are screws or gears, whose g is not a polynomial, or drives. Invariants that a quadrature conserves are not conserved for them
    (`interaction_groups.is_curved`). Raises ModelError for a name that is not an integrator.
    """
    em_scheme = em_integrator(integrator)
    if em_scheme is not None:
        return em_scheme.invariants
    scheme = parse(integrator)
    conserved = scheme.joined.directors if chart == "director" else scheme.joined.quaternions
    if not joined:
        conserved = conserved.union(
            *(_OF_SINGLE_BODIES.get(invariant, (invariant,)) for invariant in scheme.invariants)
        )
    return conserved - scheme.quadrature_invariants if curved else conserved
