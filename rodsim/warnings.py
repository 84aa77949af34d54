"""Export all warnings of the package. Each derives from `ModelWarning`; `warnings.filterwarnings` can select them singly."""

from rigid.errors import (
    DamagedFileWarning,
    InitialVelocityWarning,
    ModelWarning,
    RedundantJointsWarning,
    RoundedForcesWarning,
    UnstableEquilibriumWarning,
)
from rodsim.components.model_warnings import DoubtfulModelWarning, LinearFactorWarning, StepWarning

__all__ = [
    "DamagedFileWarning",
    "DoubtfulModelWarning",
    "InitialVelocityWarning",
    "LinearFactorWarning",
    "ModelWarning",
    "RedundantJointsWarning",
    "RoundedForcesWarning",
    "StepWarning",
    "UnstableEquilibriumWarning",
]
