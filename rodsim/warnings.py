"""Export all warnings of the package. Each derives from `ModelWarning`; `warnings.filterwarnings` can select them singly."""

from rigid.errors import (
    DamagedFileWarning,
    InitialVelocityWarning,
    ModelWarning,
    RedundantJointsWarning,
    RoundedForcesWarning,
    UnstableEquilibriumWarning,
)
from rodsim.components.model_warnings import LinearFactorWarning, ModelCheckWarning, StepWarning

__all__ = [
    "DamagedFileWarning",
    "InitialVelocityWarning",
    "LinearFactorWarning",
    "ModelCheckWarning",
    "ModelWarning",
    "RedundantJointsWarning",
    "RoundedForcesWarning",
    "StepWarning",
    "UnstableEquilibriumWarning",
]


def __getattr__(name: str) -> object:
    """Return a warning by its old name, with a `DeprecationWarning`."""
    from rodsim._compat import old_attribute

    return old_attribute(__name__, name)
