"""Springs and torsion springs in the interaction table: by columns, in files, and together with other counted angles."""

from __future__ import annotations

import numpy as np

from discretization.interaction_groups import Role, groups_of
from discretization.interaction_kinds import INTERACTIONS
from discretization.interaction_table import (
    at_rest,
    counted_variable_counts,
    springs_of,
    torsions_of,
)
from discretization.system import fingerprint
from rigid.interactions.torsion_spring import TORSION_SPRING
from rodsim import Box, Model
from tests.support import completeness
from tests.support.array_systems import everything
from tests.support.new_kinds import COIL, Coil, registered


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def bodies_on_springs(gravity=(0.0, 0.0, -9.81), force=None, **changed):
    """Two bodies on springs, a coil and loads; changed: parameters that differ from the defaults."""
    numbers = {
        "k": 30.0,
        "damping": 0.5,
        "length": 1.0,
        "coil": 4.0,
        "angle": 0.1,
        "at": (0, 0, 0),
        "turns": False,
    }
    numbers |= changed
    model = Model("held", gravity=gravity)
    a = model.add_body("a", Box(0.1, 0.2, 0.3, density=500))
    b = model.add_body("b", Box(0.1, 0.2, 0.3, density=500), position=(1, 0, 0))
    ends = a.at((0, 0, 0)), b.at((0, 0, 0))
    model.add_spring("spring", *ends, numbers["k"], numbers["length"], numbers["damping"])
    turning = {"along": "rotation", "axis": (0, 0, 1), "angle": numbers["angle"]}
    model.add_spring("coil", a, b, numbers["coil"], damping=numbers["damping"], **turning)
    load = b.at(numbers["at"]), (0.0, 1.0, 0.0)
    add = model.add_moment if force == "moment" else model.add_force
    add("load", *load, following=numbers["turns"])
    return model


OTHER = {
    "k": 31.0,
    "damping": 0.6,
    "length": 0.9,
    "coil": 5.0,
    "angle": 0.2,
    "at": (0, 0, 0.1),
    "turns": True,
}


def test_fingerprint_covers_every_spring_load_and_gravity_value():
    fingerprints = [
        fingerprint(bodies_on_springs(**{name: value}).build().system) for name, value in OTHER.items()
    ]
    fingerprints.append(fingerprint(bodies_on_springs(force="moment").build().system))
    prepared = bodies_on_springs().prepare(t_end=0.01, dt=0.01)
    for gravity in ((0.0, 0.0, -9.81), (0.0, 1.0, 0.0)):
        of_run = prepared.run({"gravity": gravity}).description["fingerprint"]
        assert of_run == fingerprint(bodies_on_springs(gravity).build().system)
        fingerprints.append(of_run)
    assert len(set(fingerprints)) == len(OTHER) + 3


def test_state_at_rest_has_no_dissipation_groups():
    system = everything()[0]
    resting_system = system._replace(others=at_rest(system.others))
    of_others = [group for group in groups_of(resting_system) if group.table == "others"]
    assert {group.role for group in of_others} == {Role.ENERGY, Role.WORK}
    before = [group for group in groups_of(system, None, Role.ENERGY, Role.WORK) if group.table == "others"]
    assert [len(group.use) for group in of_others] == [len(group.use) for group in before]
    assert not springs_of(resting_system.others).damping.any()
    assert not torsions_of(resting_system.others).damping.any()
    assert same(springs_of(resting_system.others)[:4], springs_of(system.others)[:4])


def test_counted_angles_are_ordered_torsion_springs_gears_others():
    """Files of all versions have this order, regardless of the order in which parts were added."""
    with registered(COIL):
        model = completeness.geared()
        model.others["first"] = Coil("first", model.ground, model.bodies["body 0"], (0, 0, 1), 3.0)
        model.add_spring("last", model.ground, model.bodies["body 1"], 3.0, along="rotation", axis=(0, 0, 1))
        interactions = model.build().system.others
        kinds = [
            INTERACTIONS[k]
            for k, count in zip(interactions.kind, counted_variable_counts(interactions), strict=True)
            if count
        ]
        assert kinds[:2] == [TORSION_SPRING, TORSION_SPRING]
        assert [kind.rows for kind in kinds[2:]] == [1, 1, 0]
        assert kinds[-1] == COIL
