"""What is found once of a system: the same tables, or the same numbers, and no others."""

import numpy as np
import pytest

from discretization.assembly.by_duals import by_duals
from discretization.assembly.fronts_of_systems import number_for_steps
from discretization.assembly.workspace import _by_duals, _kept_workspace, workspace_anew
from discretization.interaction_kinds import INTERACTIONS
from discretization.known_facts import (
    _REAL,
    MOST_UNCHANGING,
    MOST_UNWRITTEN,
    digest_of,
    digest_of_system,
    known,
    known_anew,
    known_of_numbers,
    structure_of,
    unchanging,
)
from discretization.planar.symmetry import Symmetry
from discretization.shortcuts import em_stepper
from discretization.time.tree_stepper import _made, _room, _with_numbers
from discretization.trees.shape import Tree, tree_of
from rodsim.building.static_checks import check_held
from tests.support.completeness import drives, forces, geared, joints, loaded, relaxing, sliding
from tests.support.mechanisms import arms, branched, looped


def asked(decorate):
    """A function of a system that counts how often it is really asked."""
    calls = []
    return decorate(lambda system, *more: calls.append(more) or len(calls)), calls


def touching(system):
    """One with two surfaces that may touch, of which no structure is kept."""
    return system._replace(contacts=system.contacts._replace(pairs=np.zeros((1, 2), np.int64)))


def test_facts_of_the_same_structure_are_found_once():
    system, (fact, calls) = arms().build().system, asked(known)
    frames = system.frames
    heavier = system._replace(frames=frames._replace(mass=2.0 * frames.mass))
    assert [fact(system), fact(heavier), fact(arms().build().system)] == [1, 1, 1]
    held = system._replace(frames=frames._replace(fixed=np.ones_like(frames.fixed)))
    assert fact(held) == 2
    held.frames.mass[:] = 7.0  # real numbers are nobody's business
    assert [fact(held), fact(system), len(calls)] == [2, 1, 2]


def others_of(system):
    """A system of the same structure with other real numbers, none of them zero."""

    def changed(table):
        columns = table._asdict().items()
        return table._replace(
            **{
                name: 1.5 * array + 0.25
                for name, array in columns
                if array.dtype.kind == "f" and name not in _REAL
            }
        )

    return system._replace(
        **{name: changed(table) for name, table in system._asdict().items() if isinstance(table, tuple)}
    )


def arrays(things):
    """All in nested tuples, and all else that stands there."""
    for thing in things if isinstance(things, tuple) else (things,):
        if isinstance(thing, tuple):
            yield type(thing)
            yield from arrays(thing)
        else:
            yield (
                (thing.dtype.str, thing.shape, thing.tobytes()) if isinstance(thing, np.ndarray) else thing
            )


MADE = [arms, branched, looped, joints, forces, relaxing, drives, geared, loaded, sliding]


@pytest.mark.parametrize("make", MADE, ids=lambda make: make.__name__)
def test_what_is_kept_of_a_structure_is_that_of_any_system_of_it(make):
    built = make().build()
    system, other = built.system, others_of(built.system)
    structure = structure_of(system)
    assert structure_of(other) is structure
    structure.facts.clear()
    em_stepper(
        system, 0.01, symmetry=Symmetry(built.state, built.load_directions), drive_values=built.drive_values
    )
    check_held(built._replace(system=other))
    for key, fact in list(structure.facts.items()):
        find, *words = key if isinstance(key, tuple) else (key,)
        assert list(arrays(find(other, *words))) == list(arrays(fact))
    numbering = number_for_steps(system)._replace(handle=0)
    for closed in (True, False):
        _kept_workspace.__wrapped__(system, numbering, closed, 0.0)
        found = _kept_workspace.__wrapped__(other, numbering, closed, 0.0)
        assert list(arrays(found)) == list(arrays(workspace_anew(other, numbering, closed, 0.0)))
        duals = by_duals(other, numbering, _by_duals(other, closed))
        assert list(arrays(found.by_duals)) == list(arrays(duals))
    tree = tree_of(system)
    if isinstance(tree, Tree):
        _made.__wrapped__(system, tree, 0.0)
        anew = _with_numbers(_room.__wrapped__(other, tree), other, tree, 0.0)
        assert list(arrays(_made.__wrapped__(other, tree, 0.0)[0][1:])) == list(arrays(anew[1:]))


def test_facts_of_arrays_that_are_gone_are_not_taken_for_others():
    fact, calls = asked(known)
    system = touching(arms().build().system)
    for k in range(20):  # arrays that take the place of those before
        fact(system._replace(frames=system.frames._replace(mass=system.frames.mass + k)))
    assert len(calls) == 20


def test_a_system_that_nobody_writes_to_is_told_by_its_tables():
    system, (fact, _) = unchanging(arms().build().system), asked(known_of_numbers)
    lighter = system._replace(gravity=0.5 * system.gravity)
    heavier = system._replace(frames=system.frames._replace(mass=2.0 * system.frames.mass))
    for _ in range(2):
        assert [fact(own) for own in (system, lighter, heavier)] == [1, 2, 3]
    assert digest_of_system(system)[:-1] == digest_of_system(lighter)[:-1] != digest_of_system(heavier)[:-1]
    others = [unchanging(arms().build().system) for _ in range(MOST_UNCHANGING)]
    assert len({digest_of_system(own) for own in others}) == MOST_UNCHANGING
    assert fact(system) == fact(arms().build().system) == 4  # forgotten: by its numbers, as any other


def test_every_number_counts():
    built = arms().build()
    things = {**built.system.frames._asdict(), **built.system.constraints._asdict(), **built.state._asdict()}
    digests = {digest_of(tuple(things.values()))}
    changed = 0
    for name, array in things.items():
        if array.size:
            other = array.copy()
            other.flat[-1] = (
                np.nextafter(other.flat[-1], 9.0) if other.dtype.kind == "f" else other.flat[-1] + 1
            )
            digests.add(digest_of(tuple({**things, name: other}.values())))
            digests.add(digest_of(tuple({**things, name: array[None]}.values())))
            changed += 2
    assert len(digests) == changed + 1


def test_numberings_are_told_by_what_stands_in_them_whichever_their_arrays_are():
    numbering = number_for_steps(arms().build().system)
    digest = digest_of((numbering,))
    for own in (numbering, numbering._replace(frame=numbering.frame.copy())):
        assert digest_of((own, 1)) == digest_of((numbering, 1)) != digest
        assert digest_of((own,)) == digest
    others = [numbering._replace(frame=numbering.frame + k) for k in range(1, MOST_UNWRITTEN + 2)]
    others += [numbering._replace(size=numbering.size + 1), numbering._replace(fronts=numbering.far)]
    told = [digest_of((own,)) for own in others]
    assert len({digest, *told}) == len(told) + 1
    assert [digest_of((own,)) for own in others] == told


def making(array):
    """A function of a system that makes a tuple with a copy of an array, and counts how often it does."""
    calls = []
    return known_anew(lambda system, *more: calls.append(more) or (array.copy(order="K"), (1, "word"))), calls


def test_what_is_written_to_is_everybodys_own():
    system, (fact, calls) = arms().build().system, making(np.arange(3.0))
    for _ in range(4):
        found, rest = fact(system, 0.0)
        assert found.tolist() == [0.0, 1.0, 2.0]
        assert rest == (1, "word")
        found[:] = 7.0
    assert len(calls) == 2  # kept from the second time on
    fact(system, 1.0)
    assert len(calls) == 3


def test_a_kind_that_took_the_place_of_another_is_noticed(monkeypatch):
    system, (fact, calls) = arms().build().system, making(np.zeros(1))
    number = int(system.others.kind[0])
    others = [kind._replace(name="another") if k == number else kind for k, kind in enumerate(INTERACTIONS)]
    for asked, kinds in ((2, INTERACTIONS), (4, others), (4, INTERACTIONS)):
        monkeypatch.setattr("discretization.system.INTERACTIONS", kinds)
        for _ in range(3):
            fact(system)
        assert len(calls) == asked
