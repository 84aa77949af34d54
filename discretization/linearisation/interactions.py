"""All interactions of a system by kind, as `rigid.interactions.kinds` has them: energies, constraints, dissipations."""

from __future__ import annotations

import numpy as np

from discretization import others
from discretization.drives import at_states, varying
from discretization.space import se3_dual, spans
from discretization.system import System
from rigid.interactions.constraints import groups_of
from rigid.interactions.kinds import Group, group, of_columns
from rigid.interactions.spring import DAMPER, SPRING
from rigid.interactions.torsion_spring import TORSION_DAMPER, TORSION_SPRING
from rigid.system import State


def rods_of(system: System) -> list[Group]:
    """The energies of all rod elements."""
    return _some([*spans.energies_of(system.spans), se3_dual.energies_of(system.elements)])


def energies_of(system: System, state: State) -> list[Group]:
    """Rod elements, springs, and torsion springs, whose turns are counted in the state; gravity is a load here."""
    t, more = system.torsions, []
    if len(system.springs.stiffness):
        more.append(of_columns(SPRING, system.springs))
    if len(t.stiffness):
        numbers = np.column_stack([t.Ua, t.Wa, t.Ub, t.stiffness, t.angle0, state.angle[: len(t.stiffness)]])
        more.append(group(TORSION_SPRING, t.frames, numbers))
    return rods_of(system) + _some([*more, *others.energies_of(system.others)])


def constraints_of(system: System, state: State) -> list[Group]:
    """The constraints; their rows are those of `State.lam`, what is driven stands as in the state."""
    constraints = system.constraints
    if varying(constraints):
        constraints, _ = at_states(constraints, state)
    return _some(groups_of(constraints))


def dissipations_of(system: System) -> list[Group]:
    """Viscous rods, dampers, friction."""
    s, t = system.springs, system.torsions
    use, turned = s.damping != 0.0, t.damping != 0.0
    found = spans.dissipations_of(system.spans)
    if system.elements.damping.any():
        found.append(se3_dual.dissipations_of(system.elements))
    if use.any():
        found.append(group(DAMPER, s.frames[use], np.column_stack([s.Xa, s.Xb, s.damping])[use]))
    if turned.any():
        numbers = np.column_stack([t.Ua, t.Wa, t.Ub, t.damping])[turned]
        found.append(group(TORSION_DAMPER, t.frames[turned], numbers))
    return _some([*found, *others.dissipations_of(system.others)])


def _some(groups: list[Group]) -> list[Group]:
    return [own for own in groups if len(own.frames)]
