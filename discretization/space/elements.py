"""Arrays of the two-frame rod elements: pairs of frames with a stored energy.

The energy of an element is L/2 (e - e0)^T C (e - e0) with e = (Gamma, K), the SE(3) strains of
`se3_element`; its viscous stress is D de/dt.
"""

from __future__ import annotations

from typing import NamedTuple

from rigid.system import Floats, Ints


class Elements(NamedTuple):
    """Rod elements between two frames; the frames a and b are at the ends of an element."""

    frames: Ints  # (m, 2) frames a, b at the ends
    length: Floats  # (m,) stress-free length, m
    stiffness: Floats  # (m, 6, 6) stiffness C, maps (Gamma, K) - strain0 to (N, M)
    damping: Floats  # (m, 6, 6) viscosity D, maps the strain rate to the viscous part of (N, M)
    strain0: Floats  # (m, 6) strains (Gamma, K) of the stress-free shape
    coupling: Floats  # (m,) mass coupling, kg: kinetic energy - coupling |v_b - v_a|^2/2; 0: lumped mass, mass/6: consistent
