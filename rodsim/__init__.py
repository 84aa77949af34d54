"""rodsim: geometrically exact rods and rigid multibody systems with structure-preserving integrators.

from rodsim import Box, Material, Model, Section, simulate
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rigid import signals
    from rigid.errors import ConvergenceError, ModelError
    from rigid.inertia import Box, Cone, Cylinder, MassProperties, Sphere
    from rigid.surface import Mesh
    from rodsim.materials import Material
    from rodsim.model import Model
    from rodsim.results.audit import audit
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
    "MassProperties": "rigid.inertia",
    "Material": "rodsim.materials",
    "Mesh": "rigid.surface",
    "Model": "rodsim.model",
    "ModelError": "rigid.errors",
    "Result": "rodsim.results.result",
    "Section": "rodsim.sections",
    "Sphere": "rigid.inertia",
    "audit": "rodsim.results.audit",
    "simulate": "rodsim.simulation",
}

__all__ = [
    "Box",
    "Cone",
    "ConvergenceError",
    "Cylinder",
    "MassProperties",
    "Material",
    "Mesh",
    "Model",
    "ModelError",
    "Result",
    "Section",
    "Sphere",
    "audit",
    "signals",
    "simulate",
]


def __getattr__(name: str) -> Any:
    if name == "signals":
        return importlib.import_module("rigid.signals")
    if name in _WHERE:
        return getattr(importlib.import_module(_WHERE[name]), name)
    raise AttributeError(f"module 'rodsim' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
