"""rodsim: geometrically exact rods and rigid multibody systems with structure-preserving integrators.

from rodsim import Box, Material, Model, Section, simulate
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discretization.time.integrate import Start, Trajectory, integrate
    from rigid import signals
    from rigid.charts.multibody import multibody_system, rotating_body
    from rigid.errors import (
        ConvergenceError,
        DamagedFileWarning,
        InitialVelocityWarning,
        ModelError,
        RedundantJointsWarning,
        RoundedForcesWarning,
        UnstableEquilibriumWarning,
    )
    from rigid.inertia import Box, Capsule, Cone, Cylinder, MassProperties, PointMass, Sphere
    from rigid.mechanics.mechanical import MechanicalSystem, Symmetry
    from rigid.surface import Mesh
    from rigid.symbolic.systems import Part, symbolic_system, system_of
    from rodsim.comparing.comparison import Comparison, compare
    from rodsim.interactions import measures
    from rodsim.interactions.registering import interaction
    from rodsim.many_runs import simulate_many
    from rodsim.model import Model
    from rodsim.parts.materials import Material
    from rodsim.parts.model_warnings import DoubtfulModelWarning, StepWarning
    from rodsim.parts.sections import Section
    from rodsim.parts.spring_laws import Law
    from rodsim.reporting.page import report
    from rodsim.results.audit import audit
    from rodsim.results.local_audit import local_audit
    from rodsim.results.result import Result
    from rodsim.scenes.plain import read_scene
    from rodsim.simulation import simulate
    from rodsim.small_motions.linear_equations import linearise
    from rodsim.small_motions.linear_models import Probe, Push, frequency_response, state_space
    from rodsim.small_motions.linear_reactions import Reaction
    from rodsim.small_motions.modal_analysis import modes
    from rodsim.small_motions.modal_results import mode_shapes
    from rodsim.small_motions.steady_rotations import steady_rotation
    from rodsim.statics.equilibria import equilibrium
    from rodsim.statics.linear_buckling import buckling
    from rodsim.stops import first_touch, nearer
    from rodsim.studies.convergence import converge
    from rodsim.studies.scheme_choice import cheapest_scheme
    from rodsim.studies.sweeping import sweep

__version__ = "0.1.1"

# Name -> module: imported when first asked for, so that `import rodsim` and the command's help are quick.
_WHERE = {
    "Box": "rigid.inertia",
    "Capsule": "rigid.inertia",
    "Comparison": "rodsim.comparing.comparison",
    "Cone": "rigid.inertia",
    "ConvergenceError": "rigid.errors",
    "Cylinder": "rigid.inertia",
    "DamagedFileWarning": "rigid.errors",
    "DoubtfulModelWarning": "rodsim.parts.model_warnings",
    "InitialVelocityWarning": "rigid.errors",
    "Law": "rodsim.parts.spring_laws",
    "MassProperties": "rigid.inertia",
    "Material": "rodsim.parts.materials",
    "MechanicalSystem": "rigid.mechanics.mechanical",
    "Mesh": "rigid.surface",
    "Model": "rodsim.model",
    "ModelError": "rigid.errors",
    "Part": "rigid.symbolic.systems",
    "RedundantJointsWarning": "rigid.errors",
    "RoundedForcesWarning": "rigid.errors",
    "UnstableEquilibriumWarning": "rigid.errors",
    "Probe": "rodsim.small_motions.linear_models",
    "Reaction": "rodsim.small_motions.linear_reactions",
    "Push": "rodsim.small_motions.linear_models",
    "PointMass": "rigid.inertia",
    "Result": "rodsim.results.result",
    "Section": "rodsim.parts.sections",
    "Sphere": "rigid.inertia",
    "Start": "discretization.time.integrate",
    "StepWarning": "rodsim.parts.model_warnings",
    "Symmetry": "rigid.mechanics.mechanical",
    "Trajectory": "discretization.time.integrate",
    "audit": "rodsim.results.audit",
    "buckling": "rodsim.statics.linear_buckling",
    "equilibrium": "rodsim.statics.equilibria",
    "first_touch": "rodsim.stops",
    "compare": "rodsim.comparing.comparison",
    "converge": "rodsim.studies.convergence",
    "cheapest_scheme": "rodsim.studies.scheme_choice",
    "frequency_response": "rodsim.small_motions.linear_models",
    "integrate": "discretization.time.integrate",
    "interaction": "rodsim.interactions.registering",
    "linearise": "rodsim.small_motions.linear_equations",
    "local_audit": "rodsim.results.local_audit",
    "mode_shapes": "rodsim.small_motions.modal_results",
    "modes": "rodsim.small_motions.modal_analysis",
    "nearer": "rodsim.stops",
    "multibody_system": "rigid.charts.multibody",
    "read_scene": "rodsim.scenes.plain",
    "report": "rodsim.reporting.page",
    "rotating_body": "rigid.charts.multibody",
    "simulate": "rodsim.simulation",
    "simulate_many": "rodsim.many_runs",
    "state_space": "rodsim.small_motions.linear_models",
    "steady_rotation": "rodsim.small_motions.steady_rotations",
    "sweep": "rodsim.studies.sweeping",
    "symbolic_system": "rigid.symbolic.systems",
    "system_of": "rigid.symbolic.systems",
}

_MODULES = {"measures": "rodsim.interactions.measures", "signals": "rigid.signals"}

__all__ = [
    "Box",
    "Capsule",
    "Comparison",
    "Cone",
    "ConvergenceError",
    "Cylinder",
    "DamagedFileWarning",
    "DoubtfulModelWarning",
    "InitialVelocityWarning",
    "Law",
    "MassProperties",
    "Material",
    "MechanicalSystem",
    "Mesh",
    "Model",
    "ModelError",
    "Part",
    "PointMass",
    "Probe",
    "Push",
    "Reaction",
    "RedundantJointsWarning",
    "Result",
    "RoundedForcesWarning",
    "Section",
    "Sphere",
    "Start",
    "StepWarning",
    "Symmetry",
    "Trajectory",
    "UnstableEquilibriumWarning",
    "audit",
    "buckling",
    "cheapest_scheme",
    "compare",
    "converge",
    "equilibrium",
    "first_touch",
    "frequency_response",
    "integrate",
    "interaction",
    "linearise",
    "local_audit",
    "measures",
    "mode_shapes",
    "modes",
    "multibody_system",
    "nearer",
    "read_scene",
    "report",
    "rotating_body",
    "signals",
    "simulate",
    "simulate_many",
    "state_space",
    "steady_rotation",
    "sweep",
    "symbolic_system",
    "system_of",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES and name not in _WHERE:
        raise AttributeError(f"module 'rodsim' has no attribute '{name}'")
    if name in _MODULES:
        found = importlib.import_module(_MODULES[name])
    else:
        found = getattr(importlib.import_module(_WHERE[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
