"""Shared models and helpers: moved joints."""

import numpy as np

from rodsim import Model
from tests.support.statics_models import section

FORCE, MOMENT = np.array([30.0, -20.0, 50.0]), np.array([3.0, 5.0, -7.0])
STRONG = {"EA": 1e7, "GA": 1e7, "GJ": 1e4, "EI": 1e4}


def cantilever():
    """A rod clamped at its start, with a force and a moment at its end."""
    model = Model("cantilever")
    rod = model.add_rod("rod", [(0.3, 0.1, 0), (1.3, 0.1, 0)], section(**STRONG), 4)
    model.add_joint("clamp", "clamp", rod.start)
    model.add_force("force", rod.end, FORCE)
    model.add_moment("moment", rod.end, MOMENT)
    return model
