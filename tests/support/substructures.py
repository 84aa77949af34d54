"""Models and helpers of several test files: substructures."""

import numpy as np

from discretization.linear.substructures import Substructures
from discretization.space.rod_elements import order_of
from tests.support.rods import SPANS, free_rod

HIGHER = [word for word in SPANS if order_of(word) > 1]


def model_of(element):
    """A rod of several elements with joints at both ends and a branch, its masses coupled."""
    model = free_rod(element, 12, mass="consistent")
    rod = model.rods["rod"]
    model.add_joint("pin", "spherical", model.ground, rod.start)
    model.add_joint("hinge", "revolute", model.ground, rod.end, axis=(1, 0, 0))
    return model


def two_panels(rng, inner=5, ends=(2, 3)):
    """Two random substructures that share one end and a third unknown group: values, places, the dense matrix."""
    height, width = inner + sum(ends), 3 * 7 + 1
    outer = [(0, 2), (5, 2)]  # (first unknowns of the ends), the first of two unknowns, the second of three
    n_band, values = 8, np.zeros(8 * width + 2 * height**2 + 64)
    full = np.zeros((n_band + 2 * inner, n_band + 2 * inner))
    S = Substructures(
        start=8 * width + np.array([0, height**2]),
        first=n_band + np.array([0, inner]),
        inner=np.array([inner, inner]),
        height=np.array([height, height]),
        ends=np.array(outer),
        split=np.array([ends[0], ends[0]]),
        corners=np.array([[i + j * (width - 1) + 14 for i in own for j in own] for own in outer]),
    )
    for k in range(2):
        panel = rng.normal(size=(height, height))
        panel[:inner, :inner][np.diag_indices(inner)] = 0.0  # rows must be exchanged
        values[S.start[k] : S.start[k] + height**2] = panel.T.ravel()
        own = np.concatenate(
            [
                S.first[k] + np.arange(inner),
                outer[k][0] + np.arange(ends[0]),
                outer[k][1] + np.arange(ends[1]),
            ]
        )
        full[np.ix_(own, own)] += panel
    return values, S, full, width, n_band
