"""Which surfaces are so deep in each other that load steps come to nothing, since these would press them through each other."""

from __future__ import annotations

from discretization.statics.rest import Rest
from discretization.statics.touching import Deepest, TouchingRest
from rodsim.building.build import Built
from rodsim.results.contact_gaps import CONTACTS, PAIRS
from rodsim.small_motions.linear_equations import frame_names

DEEP = 0.5  # of the sum of their radii


def pressed_in_words(built: Built, rest: Rest) -> str:
    """The pair of rods or capsules, how deep it is and the cure; "" where none is so deep."""
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
    """Its name; pairs come contact by contact."""
    before = 0
    for name, told in built.layout.description[CONTACTS].items():
        before += int(told[PAIRS])
        if own.pair < before:
            return str(name)
    raise IndexError(own.pair)
