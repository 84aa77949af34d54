"""Rod elements as plain arrays: pairs of frames with a stored energy.

The energy of an element is L/2 (e - e0)^T C (e - e0) with e = (Gamma, K), the SE(3) strains of
`se3_element`; its viscous stress is D de/dt.
"""

from __future__ import annotations

from typing import NamedTuple

from rigid.system import Floats, Ints


class Elements(NamedTuple):
    """Rod elements, each between the frames a and b at its ends."""

    frames: Ints  # (m, 2)
    length: Floats  # (m,) m, of the stress-free element
    stiffness: Floats  # (m, 6, 6) maps (Gamma, K) - strain0 to (N, M)
    damping: Floats  # (m, 6, 6) maps the strain rate to the viscous part of (N, M)
    strain0: Floats  # (m, 6) strains (Gamma, K) of the stress-free shape
    coupling: Floats  # (m,) kg, kinetic energy - coupling |v_b - v_a|^2/2; 0: lumped mass, mass/6: consistent
