"""History of a gear: its forces and torques on the joints that it couples."""

from __future__ import annotations

from typing import Any

from rigid.system import Floats
from rodsim.results.array_sources import Source
from rodsim.results.errors import ResultError
from rodsim.results.joint_history import JointHistory
from rodsim.results.layout import JointLayout

GEAR = "gear"


class GearHistory(JointHistory):
    """Hold the history of a gear r_0 q_0 + r_1 q_1 + ... = const; the sum of the work of its forces -lam r_k is zero.

    The force of a coordinate is a torque (N m) about the axis of the joint, or a force (N) along it. It acts on part b of the
    joint; part a receives the opposite.
    """

    @property
    def each(self) -> list[dict[str, Any]]:
        """Keys "joint", "of" (kind of coordinate) and "ratio" of each coupled coordinate."""
        gears: list[dict[str, Any]] = self._source.layout.description["gears"][self.name]
        return gears

    def on(self, joint: str, of: str | None = None) -> Floats:
        """Return the force (T,) of the gear on part b of a joint along its coordinate: N m for an angle, N for a displacement.

        Parameters
        ----------
        joint : str
            Name of the joint.
        of : {"angle", "displacement"}, optional
            Coordinate of the joint; needed only if the gear couples both.

        Returns
        -------
        (T,) array
            Torque, N m, or force, N.

        Raises
        ------
        ResultError
            If the gear does not couple this coordinate, or couples several of this joint.
        """
        gears_of_joint = [gear for gear in self.each if gear["joint"] == joint and of in (None, gear["of"])]
        if len(gears_of_joint) != 1:
            known = ", ".join(f"{gear['of']} of '{gear['joint']}'" for gear in self.each)
            raise ResultError(f"gear '{self.name}': on {joint!r}, of = {of!r}; it couples {known}")
        force: Floats = -gears_of_joint[0]["ratio"] * self.multipliers[:, 0]
        return force

    def table(self) -> dict[str, Floats]:
        """Return columns (T,) by name: the force or torque on each coordinate."""
        names = {"angle": "torque", "displacement": "force"}
        return {
            f"{names[gear['of']]}_on_{gear['joint']}": self.on(gear["joint"], gear["of"])
            for gear in self.each
        }

    @property
    def _wrench(self) -> tuple[Floats, Floats]:
        raise ResultError(
            f"gear '{self.name}': acts on several joints; `.on(joint)` returns its action on one"
        )


def history_of(source: Source, layout: JointLayout) -> JointHistory:
    """Return the history of a joint, a drive or a gear."""
    return (GearHistory if layout.kind == GEAR else JointHistory)(source, layout)


def joint_of_rows(joints: list[JointLayout], number: int) -> JointLayout | None:
    """Return the joint or drive with this number in `Constraints.joint`; None for a string that does not stretch.

    Rows of strings are numbered after joints and drives, before gears.
    """
    with_rows = [joint for joint in joints if joint.kind != GEAR]
    return with_rows[number] if number < len(with_rows) else None
