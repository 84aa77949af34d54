"""What a joint, a spring or a load may hold on to: checked, with errors that name both."""

from __future__ import annotations

from typing import Any

from rigid import checks
from rigid.checks import shown
from rigid.errors import ModelError
from rodsim.parts.entries import Contents, Held
from rodsim.parts.model_parts import Anchor, Body, Driven, Ground, Rod


class Attaching(Contents):
    """Parts, and the checks of those who attach to them."""

    @staticmethod
    def _new_among(table: dict[str, Any], what: str, name: str) -> None:
        checks.name(f"name of the {what}", name)
        if name in table:
            raise ModelError(f"there is already a {what} '{name}'; choose another name")

    def _anchor(self, owner: str, thing: Any) -> Anchor:
        if isinstance(thing, Body | Driven):
            thing = thing.at((0.0, 0.0, 0.0))
        if not isinstance(thing, Anchor):
            what = thing if isinstance(thing, Ground | Rod) else shown(thing)
            raise ModelError(
                f"{owner}: {what} is not a point; use body.at(...), rod.at(s) or model.ground.at(...)"
            )
        self._check_mine(owner, thing.part)
        return thing

    def _holder(self, owner: str, thing: Any) -> Held:
        if isinstance(thing, Rod):
            raise ModelError(f"{owner}: say where on rod '{thing.name}': rod.start, rod.end or rod.at(s)")
        if not isinstance(thing, Anchor | Ground | Body | Driven):
            raise ModelError(f"{owner}: {shown(thing)} is not a body, an anchor or the ground; give one")
        self._check_mine(owner, thing.part if isinstance(thing, Anchor) else thing)
        return thing

    def _check_mine(self, owner: str, part: Ground | Body | Rod | Driven) -> None:
        mine: dict[str, Any] = {**self.bodies, **self.rods, **self.driven, self.ground.name: self.ground}
        if mine.get(part.name) is not part:
            raise ModelError(f"{owner}: {part} belongs to another model; use parts of this one")

    @staticmethod
    def _check_apart(owner: str, a: Any, b: Any) -> None:
        pa, pb = (x.part if isinstance(x, Anchor) else x for x in (a, b))
        same_node = isinstance(pa, Rod) and isinstance(a, Anchor) and isinstance(b, Anchor) and a.s != b.s
        if pa is pb and not same_node:
            raise ModelError(f"{owner}: joins {pa} to itself; give two parts")

    def _new(self, name: str) -> None:
        checks.name("name of the part", name)
        if name == self.ground.name:
            raise ModelError("'ground' is the name of the ground; choose another one")
        for what, table in (("body", self.bodies), ("rod", self.rods), ("driven frame", self.driven)):
            if name in table:
                raise ModelError(f"there is already a {what} '{name}'; choose another name")
