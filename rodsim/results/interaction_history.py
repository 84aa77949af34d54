"""Histories of the states of actuators and user-defined interactions at the outputs of a result."""

from __future__ import annotations

from typing import Any

from rigid.errors import ModelError
from rigid.system import Floats


class InteractionHistory:
    """States of one actuator, or of one interaction of a user-defined kind.

    Parameters
    ----------
    source : Source
        The stored arrays.
    name : str
        Name of the interaction.
    """

    def __init__(self, source: Any, name: str) -> None:
        self._source, self.name = source, name
        described = source.layout.description["others"][name]
        self._widths: dict[str, int] = described["states"]
        self._first: int = described["first_state"]

    @property
    def states(self) -> list[str]:
        """Names of the states."""
        return list(self._widths)

    def state(self, name: str | None = None) -> Floats:
        """Return the values of a state at all outputs.

        Parameters
        ----------
        name : str, optional
            Name of the state, by default the only one.

        Returns
        -------
        array, shape (T,) or (T, k)
            Two axes for a state that was declared with a length k.

        Raises
        ------
        ModelError
            If there is no state of this name, or several and no name is given.
        """
        name = self.states[0] if name is None and len(self.states) == 1 else name
        if name not in self._widths:
            raise ModelError(
                f"interaction '{self.name}' has no state '{name}'. Its states are {', '.join(self.states)}"
            )
        before = self.states[: self.states.index(name)]
        first, width = self._first + sum(max(self._widths[x], 1) for x in before), self._widths[name]
        block: Floats = self._source.layout.internal.part(self._source.read("own"), "settled")
        return block[:, first : first + width] if width else block[:, first]
