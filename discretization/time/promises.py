"""What an integrator promises to keep of a model: one place to ask, whatever the integrator and its chart.

    energy               T*(q, p) + V; of `em` and its kin T(v) + V; with what loads, drives and dampers do: E - E0 = W - D
    generalised energy   p . v - T(q, v) + V, the same way
    linear momentum      P, where nothing from outside acts
    angular momentum     L, the same
    symplectic           the two-form dq ^ dp
    position             g(q) = 0
    velocity             G W p = 0; of `em-ggl` G v = 0

Schemes declare it (`Scheme.joined`, `Scheme.promises`, `EmIntegrator.promises`). Tests assert it of some models, the audit of
every result.
"""

from __future__ import annotations

from discretization.time.em_names import em_integrator
from discretization.time.integrators import parse

PROMISES = (
    "energy",
    "generalised energy",
    "linear momentum",
    "angular momentum",
    "symplectic",
    "position",
    "velocity",
)
_OF_SINGLE_BODIES = {"momentum": ("linear momentum", "angular momentum")}


def promises_of(
    integrator: str, chart: str | None = None, joined: bool = True, curved: bool = False
) -> frozenset[str]:
    """Those of `PROMISES` that `integrator` keeps in `chart`, a name of `mechanical_stepper.CHARTS`; `em` has its own.

    joined: something acts between bodies, or there are rods; single bodies are kept more of.
    curved: there are screws or gears, whose g is no polynomial, or drives: what a quadrature keeps of others it does not keep of
    them (`groups.is_curved`).
    Raises ModelError for a name that is no integrator.
    """
    own = em_integrator(integrator)
    if own is not None:
        return own.promises
    scheme = parse(integrator)
    kept = scheme.joined.directors if chart == "director" else scheme.joined.quaternions
    if not joined:
        kept = kept.union(*(_OF_SINGLE_BODIES.get(each, (each,)) for each in scheme.promises))
    return kept - scheme.by_quadrature if curved else kept
