"""The history of a gear: what it does to each of the joints that it couples."""

from __future__ import annotations

from typing import Any

from rigid.system import Floats
from rodsim.results.errors import ResultError
from rodsim.results.joint_history import JointHistory
from rodsim.results.layout import JointLayout
from rodsim.results.sources import Source

GEAR = "gear"


class GearHistory(JointHistory):
    """A gear r_0 q_0 + r_1 q_1 + ... = const: forces -lam r_k that do no work together.

    A force here is that of a coordinate: a torque (N m) about the joint's axis, or a force (N) along it, on b, its opposite
    on a.
    """

    @property
    def each(self) -> list[dict[str, Any]]:
        """Joint, coordinate (`of`) and ratio of each coordinate."""
        found: list[dict[str, Any]] = self._source.layout.description["gears"][self.name]
        return found

    def on(self, joint: str, of: str | None = None) -> Floats:
        """(T,) N m of an angle, N of a displacement: what the gear does to b of this joint along its coordinate."""
        mine = [own for own in self.each if own["joint"] == joint and of in (None, own["of"])]
        if len(mine) != 1:
            known = ", ".join(f"{own['of']} of '{own['joint']}'" for own in self.each)
            raise ResultError(f"gear '{self.name}': on {joint!r}, of = {of!r}; it couples {known}")
        force: Floats = -mine[0]["ratio"] * self.multipliers[:, 0]
        return force

    def table(self) -> dict[str, Floats]:
        """Columns (T,) by name: the force on each coordinate."""
        words = {"angle": "torque", "displacement": "force"}
        return {
            f"{words[own['of']]}_on_{own['joint']}": self.on(own["joint"], own["of"]) for own in self.each
        }

    @property
    def _wrench(self) -> tuple[Floats, Floats]:
        raise ResultError(
            f"gear '{self.name}': acts on several joints; `.on(joint)` tells what it does to one"
        )


def history_of(source: Source, layout: JointLayout) -> JointHistory:
    """The history of a joint, a drive or a gear."""
    return (GearHistory if layout.kind == GEAR else JointHistory)(source, layout)
