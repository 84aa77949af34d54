"""Build the friction and loss interactions of one state: those of `discretization.contact.contact_patches` with the state's
bristles.
"""

from __future__ import annotations

import numpy as np

from discretization.contact.contact_patches import find_patches, loss_interactions, match_patches
from discretization.contact.neighbour_search import candidates
from discretization.contact.table import Contacts, points_of
from discretization.interaction_table import groups_of
from rigid.interactions.contact.friction import N_INTERNAL
from rigid.interactions.kinds import Group
from rigid.system import Floats, State


def friction_groups(contacts: Contacts, state: State, bristles: Floats) -> list[Group]:
    """Return groups of the loss interactions in one state; their rows are numbers of the windows.

    bristles (b, 6): as stored in the state, by the windows of the list that it remembers. If the state has no such list, the
    interactions have no bristles.
    """
    points = np.ascontiguousarray(points_of(contacts, state.r, state.quat))
    windows = find_patches(contacts, candidates(contacts, points, 0.0))
    if not windows:
        return []
    losses, _ = loss_interactions(contacts, windows)
    reference, used = state.memory[-(points.size + 1) :], bristles[bristles[:, 0] > 0.0]
    if len(used) and len(reference) == points.size + 1 and reference[-1] > 0.0:
        reference_points = reference[:-1].reshape(-1, 3).copy()
        listed_windows = find_patches(contacts, candidates(contacts, reference_points, float(reference[-1])))
        to = match_patches(points, [listed_windows[int(number) - 1] for number in used[:, 0]], windows)
        for k, bristle in zip(to, used, strict=True):
            if k >= 0:
                losses.numbers[losses.first[k + 1] - N_INTERNAL : losses.first[k + 1]] = bristle[
                    1 : 1 + N_INTERNAL
                ]
    return groups_of(losses, np.arange(len(windows)))
