"""rodsim: geometrically exact rods and rigid multibody systems with structure-preserving integrators.

from rodsim import Box, Material, Model, Section, simulate
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discretization.time.integrate import Start, Trajectory, integrate
    from rigid import signals
    from rigid.charts import multibody_system, rotating_body
    from rigid.errors import ConvergenceError, InitialVelocityWarning, ModelError
    from rigid.inertia import Box, Cone, Cylinder, MassProperties, PointMass, Sphere
    from rigid.mechanical import MechanicalSystem, Symmetry
    from rigid.surface import Mesh
    from rigid.symbolic import Part, symbolic_system, system_of
    from rodsim.laws import Law
    from rodsim.materials import Material
    from rodsim.model import Model
    from rodsim.results.audit import audit
    from rodsim.results.local_audit import local_audit
    from rodsim.results.result import Result
    from rodsim.sections import Section
    from rodsim.simulation import simulate

__version__ = "0.1.0"

# Name -> module: imported when first asked for, so that `import rodsim` and the command's help are quick.
_WHERE = {
    "Box": "rigid.inertia",
    "Cone": "rigid.inertia",
    "ConvergenceError": "rigid.errors",
    "Cylinder": "rigid.inertia",
    "InitialVelocityWarning": "rigid.errors",
    "Law": "rodsim.laws",
    "MassProperties": "rigid.inertia",
    "Material": "rodsim.materials",
    "Mesh": "rigid.surface",
    "Model": "rodsim.model",
    "ModelError": "rigid.errors",
    "MechanicalSystem": "rigid.mechanical",
    "Part": "rigid.symbolic",
    "PointMass": "rigid.inertia",
    "Result": "rodsim.results.result",
    "Section": "rodsim.sections",
    "Sphere": "rigid.inertia",
    "Start": "discretization.time.integrate",
    "Symmetry": "rigid.mechanical",
    "Trajectory": "discretization.time.integrate",
    "audit": "rodsim.results.audit",
    "integrate": "discretization.time.integrate",
    "local_audit": "rodsim.results.local_audit",
    "multibody_system": "rigid.charts",
    "rotating_body": "rigid.charts",
    "simulate": "rodsim.simulation",
    "symbolic_system": "rigid.symbolic",
    "system_of": "rigid.symbolic",
}

__all__ = [
    "Box",
    "Cone",
    "ConvergenceError",
    "Cylinder",
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
    "Result",
    "Section",
    "Sphere",
    "Start",
    "Symmetry",
    "Trajectory",
    "audit",
    "integrate",
    "local_audit",
    "multibody_system",
    "rotating_body",
    "signals",
    "simulate",
    "symbolic_system",
    "system_of",
]


def __getattr__(name: str) -> Any:
    if name == "signals":
        return importlib.import_module("rigid.signals")
    if name in _WHERE:
        return getattr(importlib.import_module(_WHERE[name]), name)
    raise AttributeError(f"module 'rodsim' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
