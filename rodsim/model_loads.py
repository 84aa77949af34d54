"""The part of `Model` that adds loads along rods."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from rigid.checks import flag, shown, word
from rigid.errors import ModelError
from rigid.system import FORCE, MOMENT
from rodsim.building.distributed_loads import DistributedEntry, make_distributed
from rodsim.model_gears import Gears
from rodsim.parts.model_parts import Rod

KINDS = {"force": FORCE, "moment": MOMENT}


class LineLoads(Gears):
    """Distributed loads."""

    def add_distributed_load(
        self,
        name: str,
        rod: Rod,
        value: Any,
        kind: str = "force",
        following: bool = False,
        between: ArrayLike = (0.0, 1.0),
    ) -> DistributedEntry:
        """Load a rod along its length, between two fractions of it, which get nodes.

        rod: a `Rod`. kind: "force" (N/m) or "moment" (N m/m), per length of the rod without stress. value: a constant
        (3,), a signal
        `.along(direction)`, or a function (s, t) -> (3,), s the fraction of the length. following: components in the axes
        (d1, d2, d3) of the sections, with which they turn: a pressure normal to a rod that is not sheared is (0, -p, 0).
        between: the two fractions, (2,).

        Raises ModelError where `rod` is no rod of this model, or the fractions do not increase within [0, 1].
        """
        self._new_among(self.loads, "load", name)
        self._new_among(self.line_loads, "distributed load", name)
        owner = f"load '{name}'"
        if not isinstance(rod, Rod):
            raise ModelError(f"{owner}: {shown(rod)} is no rod; give one, or use add_force at a point")
        self._check_mine(owner, rod)
        number = KINDS[word(owner, "kind", kind, KINDS)]
        entry = make_distributed(
            owner, name, number, rod, value, flag(owner, "following", following), between
        )
        self.line_loads[name] = entry
        return entry
