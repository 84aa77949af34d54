"""Linear models of small motions: inputs and outputs, state space, frequency response, mode shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rodsim.small_motions.linear_models import ForceInput as ForceInput
    from rodsim.small_motions.linear_models import MotionOutput as MotionOutput
    from rodsim.small_motions.linear_models import VaryingInput as VaryingInput
    from rodsim.small_motions.linear_models import frequency_response as frequency_response
    from rodsim.small_motions.linear_models import state_space as state_space
    from rodsim.small_motions.linear_reactions import JointForceOutput as JointForceOutput
    from rodsim.small_motions.modal_results import mode_shapes as mode_shapes
    from rodsim.small_motions.rotors import Unbalance as Unbalance
else:
    from rodsim.lazy_exports import lazy_names

    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "rodsim.small_motions.linear_models": "VaryingInput ForceInput MotionOutput frequency_response state_space",
            "rodsim.small_motions.linear_reactions": "JointForceOutput",
            "rodsim.small_motions.modal_results": "mode_shapes",
            "rodsim.small_motions.rotors": "Unbalance",
        },
    )
