"""Define mechanical systems by equations of motion, symbolic or as functions, and integrate them with `integrate`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discretization.time.integrate import Start as Start
    from discretization.time.integrate import Trajectory as Trajectory
    from rigid.charts.multibody import multibody_system as multibody_system
    from rigid.charts.multibody import rotating_body as rotating_body
    from rigid.mechanics.mechanical_system import MechanicalSystem as MechanicalSystem
    from rigid.mechanics.mechanical_system import Symmetry as Symmetry
    from rigid.symbolic.systems import PotentialTerm as PotentialTerm
    from rigid.symbolic.systems import symbolic_system as symbolic_system
    from rigid.symbolic.systems import system_from_object as system_from_object
    from rodsim.integration import integrate as integrate
else:
    from rodsim.lazy_exports import lazy_names

    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "discretization.time.integrate": "Start Trajectory",
            "rigid.charts.multibody": "multibody_system rotating_body",
            "rigid.mechanics.mechanical_system": "MechanicalSystem Symmetry",
            "rigid.symbolic.systems": "PotentialTerm symbolic_system system_from_object",
            "rodsim.integration": "integrate",
        },
    )
