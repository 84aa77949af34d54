"""The part of `Model` that adds external damping, joint friction and pressure."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from rigid.checks import direction, number, shown
from rigid.errors import ModelError
from rigid.signals import vector_function
from rodsim.model_loads import LineLoads
from rodsim.parts.damping_entries import DampingEntry, FrictionEntry, PressureEntry
from rodsim.parts.entries import JointEntry
from rodsim.parts.model_parts import Body, Rod

TURNS = ("revolute", "spherical", "cylindrical", "universal")
SLIDES = ("prismatic", "cylindrical")


class Dampings(LineLoads):
    """External damping, joint friction, pressure."""

    def add_external_damping(
        self, name: str, part: Body | Rod, rate: float, rotation: float | None = None, ambient: Any = None
    ) -> DampingEntry:
        """Slow a body or a rod by what is around it: a force -rate m v on the centre of mass of each body or section, and a
        moment -rotation J omega.

        part: a `Body` or `Rod`. rate: 1/s. rotation: 1/s, the same as `rate` unless it is given. ambient: velocity of what is
        around, m/s, a constant (3,), a signal `.along(direction)` or a function t -> (3,): the force is then
        -rate m (v - ambient), of which rate m ambient counts as a load, whose work is part of `work`, and what -rate m v
        takes as dissipation.
        A free part loses its velocity as exp(-rate t). The momenta of the model are not kept.

        Raises ModelError where `part` is neither, or a rate is negative.
        """
        owner = f"external damping '{name}'"
        self._new_among(self.others, "bushing, spring or damping", name)
        if not isinstance(part, Body | Rod):
            raise ModelError(f"{owner}: {shown(part)} is neither a body nor a rod; give one")
        self._check_mine(owner, part)
        speed = number(owner, "rate", rate, at_least=0.0)
        turn = speed if rotation is None else number(owner, "rotation", rotation, at_least=0.0)
        wind = None if ambient is None else vector_function(owner, ambient)
        entry = DampingEntry(name, part, part, speed, turn, wind)
        self.others[name] = entry
        return entry

    def add_pressure(self, name: str, rod: Rod, pressure: float, normal: ArrayLike) -> PressureEntry:
        """Press on a rod from one side, in the plane with this world normal (3,): a force per current length, N/m,
        pressure x (normal x tangent), which stays across the rod as it moves and grows as it is stretched.

        A closed rod that runs counter-clockwise about the normal is pressed from outside where the pressure is positive: that
        is hydrostatic, and the work is pressure times the change of the area. Between nodes the rod is taken as its chords; of
        a rod that leaves the plane its projection counts. In an equilibrium it acts in full from load factor 0 on. Its work
        is part of `work`. Integrators em, em-ggl and their compositions.

        Raises ModelError where `rod` is none of this model, or `normal` has no direction.
        """
        owner = f"pressure '{name}'"
        self._new_among(self.others, "bushing, spring or damping", name)
        if not isinstance(rod, Rod):
            raise ModelError(f"{owner}: {shown(rod)} is no rod; give one, or use add_force at a point")
        self._check_mine(owner, rod)
        entry = PressureEntry(
            name, rod, rod, number(owner, "pressure", pressure), direction(owner, "normal", normal)
        )
        self.others[name] = entry
        return entry

    def add_joint_friction(
        self, name: str, joint: JointEntry | str, turning: float = 0.0, sliding: float = 0.0
    ) -> FrictionEntry:
        """Viscous friction of a joint.

        joint: a `JointEntry` or its name. turning: N m s, a moment -turning (omega_b - omega_a) of what turns
        (revolute, spherical,
        cylindrical, universal). sliding: N s/m, a force -sliding ds/dt along the axis of what slides (prismatic,
        cylindrical).

        Raises ModelError where the joint leaves that motion no freedom, or both are zero.
        """
        owner = f"friction '{name}'"
        self._new_among(self.others, "bushing, spring or damping", name)
        held = self.joints.get(joint if isinstance(joint, str) else getattr(joint, "name", ""))
        if held is None or (not isinstance(joint, str) and held is not joint):
            raise ModelError(f"{owner}: {shown(joint)} is no joint of this model; give one, or its name")
        turn = number(owner, "turning", turning, at_least=0.0)
        slide = number(owner, "sliding", sliding, at_least=0.0)
        for what, value, kinds in (("turning", turn, TURNS), ("sliding", slide, SLIDES)):
            if value > 0.0 and held.kind not in kinds:
                raise ModelError(
                    f"{owner}: {what} = {value:g}, but the {held.kind} joint '{held.name}' leaves that motion no freedom; "
                    f"leave it out, or take a joint of {', '.join(kinds)}"
                )
        if turn == slide == 0.0:
            raise ModelError(f"{owner}: resists nothing; give turning= or sliding=")
        entry = FrictionEntry(name, held.a, held.b, held, turn, slide)
        self.others[name] = entry
        return entry
