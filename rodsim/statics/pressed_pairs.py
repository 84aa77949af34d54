"""Name surfaces that overlap so deeply that load steps fail, since further steps would press them through each other."""

from __future__ import annotations

from discretization.statics.rest import Rest
from discretization.statics.touching import Deepest, TouchingRest
from rodsim.building.build import Built
from rodsim.results.contact_gaps import CONTACTS, PAIRS
from rodsim.small_motions.linear_equations import frame_names

DEEP = 0.5  # depth relative to the sum of the radii


def pressed_in_words(built: Built, rest: Rest) -> str:
    """Return a message with the deepest pair of rods or capsules, its depth and the cure; "" if no pair is that deep."""
    own = rest.deepest() if isinstance(rest, TouchingRest) else None
    if own is None or own.apart > (1.0 - DEEP) * own.reach:
        return ""
    name = frame_names(built.layout)
    one, other = (name(frame) for frame in own.frames)
    return (
        f"contact '{_contact_of(built, own)}': {one}, and {other} are {own.reach - own.apart:.3g} m deep in each other there, "
        f"whose axes are {own.reach:.3g} m apart where they touch, and would go through each other; give the contact a larger "
        "`stiffness`, or smaller loads"
    )


def _contact_of(built: Built, own: Deepest) -> str:
    """Return the name of the contact of a pair; pairs are numbered contact by contact."""
    before = 0
    for name, told in built.layout.description[CONTACTS].items():
        before += int(told[PAIRS])
        if own.pair < before:
            return str(name)
    raise IndexError(own.pair)
