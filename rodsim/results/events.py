"""Events that end a run before its end time: surfaces come into contact, or closer than a distance.

Events are evaluated in the state after each step. The run ends with the first step at whose end one of them holds. That state
and the one before are outputs, so that the event time lies between the last two (`ContactHistory.first_contact`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rigid import checks
from rigid.errors import ModelError
from rigid.system import State
from rodsim._compat import accept_old_arguments
from rodsim.results.contact_gaps import CONTACTS, ContactGaps
from rodsim.results.distances import Distance
from rodsim.results.errors import ResultError
from rodsim.results.layout import Layout


@dataclass(frozen=True, init=False)
class ContactBegins:
    """End a run when one of these contacts begins to act.

    Parameters
    ----------
    *contacts : str
        Names, as passed to `Model.add_contact`. Without names: any contact of the model. A contact with a barrier law acts
        below its activation distance.

    Raises
    ------
    ModelError
        If a name is not a string.

    Examples
    --------
    >>> from rodsim import ContactBegins
    >>> str(ContactBegins("floor"))
    "contact 'floor' begins"
    """

    contacts: tuple[str, ...]

    def __init__(self, *contacts: str) -> None:
        for name in contacts:
            if not isinstance(name, str):
                raise ModelError(
                    f"ContactBegins: {checks.shown(name)} is not a name; give names of contacts, or none"
                )
        object.__setattr__(self, "contacts", contacts)

    def __str__(self) -> str:
        if not self.contacts:
            return "a contact begins"
        return f"contact {' or '.join(repr(name) for name in self.contacts)} begins"

    def described(self) -> dict[str, Any]:
        """Return the event as plain data, in the form used by scenes.

        Returns
        -------
        dict
            {"contact_begins": [names of the contacts]}.
        """
        return {"contact_begins": list(self.contacts)}


@dataclass(frozen=True, init=False)
class DistanceBelow:
    """End a run when two surfaces or points are closer to each other than a distance.

    Parameters
    ----------
    a, b : str
        Names of surfaces, rods and bodies, or points, as in `Result.distance`. No contact between them is required.
    distance : float, default 0.0
        Distance, m. With 0 the surfaces touch.

    Raises
    ------
    ModelError
        If the distance is negative or not a number.

    Examples
    --------
    >>> from rodsim import DistanceBelow
    >>> str(DistanceBelow("ball", "floor", 0.01))
    'ball and floor closer than 0.01 m'
    """

    a: str
    b: str
    distance: float

    @accept_old_arguments
    def __init__(self, a: str, b: str, distance: float = 0.0) -> None:
        distance = checks.number("DistanceBelow", "distance", distance, at_least=0.0)
        for name, value in (("a", a), ("b", b), ("distance", distance)):
            object.__setattr__(self, name, value)

    def __str__(self) -> str:
        return f"{self.a} and {self.b} closer than {self.distance:g} m"

    def described(self) -> dict[str, Any]:
        """Return the event as plain data, in the form used by scenes.

        Returns
        -------
        dict
            {"distance_below": [a, b], "distance": distance in m}.
        """
        return {"distance_below": [self.a, self.b], "distance": self.distance}


Event: TypeAlias = ContactBegins | DistanceBelow


def event_from(data: Mapping[str, Any]) -> Event:
    """Return the event that `described` has converted to `data`."""
    if data.get("distance_below") is not None:
        a, b = data["distance_below"]
        return DistanceBelow(a, b, data.get("distance", 0.0))
    return ContactBegins(*(data.get("contact_begins") or ()))


def events_of_scene(run: Any) -> list[Event]:
    """Return the events of the `run` of a scene (`rodsim.scenes.schema.RunScene`)."""
    return [event_from(event.model_dump()) for event in run.events]


def checked_events(events: object) -> tuple[Event, ...]:
    """Return the events as a tuple. Raise ModelError if `events` is neither an event nor a sequence of events."""
    checked = [events] if isinstance(events, Event) else events
    if not isinstance(checked, Sequence) or not all(isinstance(event, Event) for event in checked):
        raise ModelError(
            f"simulate: events = {checks.shown(events)} is not a list of events; give [ContactBegins('contact')] or "
            "[DistanceBelow('a', 'b', 0.01)]"
        )
    return tuple(checked)


class Watch:
    """Evaluate events in the states of one model. Raises ModelError if an event names a part that does not exist."""

    def __init__(
        self,
        events: Sequence[Event],
        layout: Layout,
        stopped: Callable[[State], int | None] | None = None,
    ) -> None:
        """Watch for events; `stopped`: returns the first of many states in which the run has been stopped otherwise."""
        self.events, self._stopped = tuple(events), stopped
        self._below = [_below(event, layout) for event in events]

    def _evaluate(self, states: State) -> NDArray[np.bool_]:
        """Return for each event and each state whether the event holds, (events, states)."""
        return np.array([below(states) for below in self._below])

    def first(self, states: State) -> int | None:
        """Return the index of the first of many states in which an event holds; None if there is none."""
        holding = np.flatnonzero(self._evaluate(states).any(axis=0)).tolist() if self.events else []
        first = holding[:1]
        stopped = None if self._stopped is None else self._stopped(states)
        return min(first + ([] if stopped is None else [stopped]), default=None)

    def holding(self, state: State) -> tuple[Event, ...]:
        """Return the events that hold in a state."""
        if not self.events:
            return ()
        holds = self._evaluate(many(state))[:, 0]
        return tuple(event for event, holds_now in zip(self.events, holds, strict=True) if holds_now)

    def check_start(self, state: State) -> None:
        """Raise ModelError if an event holds before the first step."""
        for event in self.holding(state):
            raise ModelError(
                f"simulate: events: {event}: this holds at t = 0 already; begin further apart, or name surfaces without contact"
            )


def _below(event: Event, layout: Layout) -> Callable[[State], NDArray[np.bool_]]:
    """Return a function that returns for each of many states whether the event holds."""
    known = list(layout.description.get(CONTACTS, {}))
    if isinstance(event, DistanceBelow):
        try:
            distance = Distance(layout, event.a, event.b).of
        except ResultError as error:
            raise ModelError(f"simulate: events: {error}") from None
        return lambda states: np.asarray(np.asarray(distance(states)) < event.distance)
    missing = [name for name in event.contacts if name not in known]
    if missing or not known:
        raise ModelError(
            f"simulate: events: there is no contact {missing[0] if missing else 'at all'!r}; "
            + (f"there are {', '.join(known)}" if known else "add one, or give DistanceBelow('a', 'b')")
        )
    gaps_of = [ContactGaps(layout, name) for name in event.contacts or known]
    return lambda states: np.asarray(np.min([gaps.beyond(states) for gaps in gaps_of], axis=0) < 0.0)


def many(state: State) -> State:
    """Return one state with a leading axis of length 1."""
    return State(*(array[None] for array in state))
