"""The whole mechanical system: frames, joints, springs, loads (rigid) and rod elements (discretization)."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import numpy as np

from discretization.others import Others, others_of
from discretization.registered_kinds import in_files
from discretization.space.elements import Elements
from discretization.space.spans import Spans, no_spans
from rigid.references import by_reference
from rigid.system import Constraints, Floats, Frames, Loads, Springs, TorsionSprings


@by_reference
class System(NamedTuple):
    """A model ready for an integrator; frame 0 is the ground."""

    frames: Frames
    elements: Elements
    constraints: Constraints
    springs: Springs
    torsions: TorsionSprings
    loads: Loads
    gravity: Floats  # (3,) m/s^2
    spans: Spans = no_spans()  # rod elements between several frames
    others: Others = others_of()  # bushings, springs with laws: what has no table of its own


def fingerprint(system: System) -> str:
    """SHA-256 of all arrays of the system: two equal ones are the same model to the bit."""
    digest = hashlib.sha256()
    # without spans and others what it was before there were any: runs of older files go on
    late = [part for part in (system.spans, in_files(system.others)) if len(part.kind)]
    for part in (*system[: System._fields.index("spans")], *late):
        # and without columns that the model does not need
        columns = part._asdict().items() if isinstance(part, tuple) else (("", part),)
        defaults = getattr(part, "_field_defaults", {})
        for array in (array for name, array in columns if name not in defaults or len(array)):
            digest.update(repr((array.shape, array.dtype.str)).encode())
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
