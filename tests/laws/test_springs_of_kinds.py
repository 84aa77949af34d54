"""Springs and torsion springs among all interactions: by columns, in files, and beside what else is counted."""

from __future__ import annotations

import numpy as np

from discretization.groups import Role, groups_of
from discretization.interaction_kinds import INTERACTIONS
from discretization.interaction_table import (
    at_rest,
    loads_of,
    own_of,
    springs_of,
    torsions_of,
    with_tables,
    without_tables,
)
from discretization.system import begun, fingerprint, from_files, in_files
from rigid.interactions.torsion_spring import TORSION_SPRING
from tests.support import completeness
from tests.support.arrays import everything
from tests.support.new_kinds import COIL, Coil, registered


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_columns_and_rows_are_the_same_numbers():
    own = everything()[0].others
    springs, torsions, loads = springs_of(own), torsions_of(own), loads_of(own)
    assert springs.damping.tolist() == [0.5, 0.2]
    assert springs.length0.tolist() == [1.0, 0.3]
    assert torsions.damping.tolist() == [0.5, 0.2]
    assert torsions.angle0.tolist() == [0.1, 0.3]
    assert loads.kind.tolist() == [0, 0, 1, 1]
    assert loads.frame.tolist() == [1, 2, 3, 4]
    assert loads.following.tolist() == [0, 1, 0, 1]
    assert same(with_tables(without_tables(own), springs, torsions, loads), own)


def test_a_system_from_its_tables_is_the_same_to_the_bit():
    system = everything()[0]
    again = from_files(in_files(system))
    assert same(again.others, system.others)
    assert fingerprint(again) == fingerprint(system)
    for name in ("springs", "torsions"):
        table = in_files(system)[name]
        for column in table._fields[1:]:
            other = in_files(system)
            other[name] = table._replace(**{column: getattr(table, column) + 1.0})
            assert fingerprint(from_files(other)) != fingerprint(system), (name, column)
    loads = in_files(system)["loads"]
    for column, changed in (
        ("kind", 1 - loads.kind),
        ("frame", loads.frame[::-1]),
        ("X", loads.X + 1.0),
        ("following", 1 - loads.following),
    ):
        other = from_files(in_files(system) | {"loads": loads._replace(**{column: changed})})
        assert fingerprint(other) != fingerprint(system), column


def test_a_fingerprint_begun_is_that_of_all_which_differ_in_gravity_alone():
    system = everything()[0]
    first = begun(system)
    found = set()
    for gravity in ((0.0, 0.0, -9.81), (0.0, 1.0, 0.0), (0.0, 1.0, 0.0)):
        other = system._replace(gravity=np.array(gravity))
        assert fingerprint(other, first) == fingerprint(other)
        found.add(fingerprint(other))
    assert len(found) == 2
    for e in range(len(system.others.kind)):  # whichever table files have it in
        numbers = system.others.numbers.copy()
        numbers[system.others.first[e]] += 1.0
        last = system._replace(others=system.others._replace(numbers=numbers))
        assert fingerprint(last) not in found


def test_at_rest_nothing_resists_and_energies_stay():
    system = everything()[0]
    still = system._replace(others=at_rest(system.others))
    of_others = [own for own in groups_of(still) if own.table == "others"]
    assert {own.role for own in of_others} == {Role.ENERGY, Role.WORK}
    before = [own for own in groups_of(system, None, Role.ENERGY, Role.WORK) if own.table == "others"]
    assert [len(own.use) for own in of_others] == [len(own.use) for own in before]
    assert not springs_of(still.others).damping.any()
    assert not torsions_of(still.others).damping.any()
    assert same(springs_of(still.others)[:4], springs_of(system.others)[:4])


def test_counted_angles_are_those_of_torsion_springs_then_gears_then_all_others():
    """As files of all versions have them, whatever was added first."""
    with registered(COIL):
        model = completeness.geared()
        model.others["first"] = Coil("first", model.ground, model.bodies["body 0"], (0, 0, 1), 3.0)
        model.add_spring("last", model.ground, model.bodies["body 1"], 3.0, along="rotation", axis=(0, 0, 1))
        own = model.build().system.others
        kinds = [INTERACTIONS[k] for k, count in zip(own.kind, own_of(own), strict=True) if count]
        assert kinds[:2] == [TORSION_SPRING, TORSION_SPRING]
        assert [kind.rows for kind in kinds[2:]] == [1, 1, 0]
        assert kinds[-1] == COIL
