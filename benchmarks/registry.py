"""All cases by name: B1 to B4 of rodsim, then test models and examples of the peers (EX-..., PE-...)."""

from __future__ import annotations

from benchmarks.cases import (
    B1,
    B2,
    B2_SPACE,
    B3_5,
    B3_5_OBLIQUE,
    B3_5_SPACE,
    B3_20,
    B3_20_OBLIQUE,
    B3_100,
    B3_100_OBLIQUE,
    B3_500,
    B4,
    ChainCase,
    RodCase,
    TopCase,
)
from benchmarks.frame_cases import FRAMES
from benchmarks.frames import Frame
from benchmarks.mechanism_cases import MECHANISMS
from benchmarks.mechanisms import Mechanism
from benchmarks.slender import Slender
from benchmarks.slender_cases import SLENDER

Case = RodCase | ChainCase | TopCase | Mechanism | Frame | Slender
CASES: dict[str, Case] = {
    case.name: case
    for case in (
        *(B1, B2, B2_SPACE, B3_5, B3_5_SPACE, B3_5_OBLIQUE, B3_20, B3_20_OBLIQUE, B3_100, B3_100_OBLIQUE),
        *(B3_500, B4),
        *(*MECHANISMS, *FRAMES, *SLENDER),
    )
}
