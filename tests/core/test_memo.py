"""Results of a system are computed once for its structure, or for its tables, and are not shared with others."""

import pickle
from collections import OrderedDict

import numpy as np
import pytest

from discretization.interaction_kinds import INTERACTIONS
from discretization.memoization import (
    _REAL,
    MAX_KEY_SIZE,
    MAX_STRUCTURES,
    MOST_RESULTS,
    cache_by_tables,
    content_key,
    memoized,
    per_structure,
    per_tables,
    with_gravity,
)
from discretization.planar.symmetry_input import Symmetry
from discretization.solver_selection import select_stepper
from tests.support.completeness import drives, forces, geared, joints, loaded, relaxing, sliding
from tests.support.mechanisms import arms, branched, looped


def counted_memo(facts_of, copies=False, result=lambda count: count):
    """Memoise a function of a system and count its evaluations."""
    calls = []
    return memoized(facts_of, copies)(
        lambda system, *arguments: calls.append(arguments) or result(len(calls))
    ), calls


def heavier(system):
    return system._replace(frames=system.frames._replace(mass=2.0 * system.frames.mass))


def test_facts_of_equal_structures_are_computed_once():
    system, (fact, calls) = arms().build().system, counted_memo(per_structure)
    assert [fact(system), fact(heavier(system)), fact(arms().build().system)] == [1, 1, 1]
    frames = system.frames
    all_fixed = system._replace(frames=frames._replace(fixed=np.ones_like(frames.fixed)))
    assert fact(all_fixed) == 2
    all_fixed.frames.mass[:] = 7.0  # real numbers are not part of the structure
    assert [fact(all_fixed), fact(system), len(calls)] == [2, 1, 2]
    assert [fact(system, x) for x in (1, 2, 1)] == [3, 4, 3]


def similar_system(system):
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


def flattened(values):
    """Yield the bytes of all arrays in nested tuples, and all other values."""
    for value in values if isinstance(values, tuple) else (values,):
        if isinstance(value, tuple):
            yield type(value)
            yield from flattened(value)
        else:
            yield (
                (value.dtype.str, value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value
            )


def stepper_attributes(built, system, **settings):
    """All attributes of a stepper of the system before its first step."""
    symmetry = Symmetry(built.state, built.load_directions)
    values = {"load_values": built.load_values, "drive_values": built.drive_values}
    attributes = vars(select_stepper(system, 0.01, symmetry=symmetry, **values, **settings))
    return {
        name: list(flattened(x._replace(handle=0) if name == "numbering" else x))
        for name, x in attributes.items()
        if isinstance(x, tuple) and name != "_type_keys"
    }


MADE = [arms, branched, looped, joints, forces, relaxing, drives, geared, loaded, sliding]


@pytest.mark.parametrize("general", [False, True])
@pytest.mark.parametrize("make", MADE, ids=lambda make: make.__name__)
def test_memoised_results_do_not_depend_on_earlier_systems(make, general, monkeypatch):
    built = make().build()
    other, settings = similar_system(built.system), {"shortcut": not general}
    stepper_attributes(built, built.system, **settings)
    after = stepper_attributes(built, other, **settings)
    monkeypatch.setattr("discretization.memoization._structures", OrderedDict())
    assert stepper_attributes(built, other._replace(), **settings) == after


def test_writable_arrays_are_not_shared():
    system = arms().build().system
    fact, calls = counted_memo(per_structure, copies=True, result=lambda count: (np.arange(3.0), (1, "word")))
    for _ in range(3):
        array, remaining = fact(system)
        assert array.tolist() == [0.0, 1.0, 2.0]
        assert remaining == (1, "word")
        array[:] = 7.0
    assert len(calls) == 1


def test_results_by_content_are_cached_with_the_tables_for_every_gravity():
    system, (fact, calls) = arms().build().system, counted_memo(per_tables)
    assert [fact(system), fact(system)] == [1, 2]
    cache_by_tables(system)
    lighter = with_gravity(system, 0.5 * system.gravity)
    assert [fact(system), fact(lighter), fact(system, 1.0), fact(lighter, 1.0)] == [3, 3, 4, 4]
    assert [fact(heavier(system)), fact(arms().build().system), fact(system)] == [5, 6, 3]
    assert len(calls) == 6


def test_memoised_results_are_released():
    """Old results of a function are released by its arguments, and those of structures displaced by others."""
    system, (fact, calls) = arms().build().system, counted_memo(per_structure)
    assert [fact(system, x) for x in range(MOST_RESULTS + 1)] == list(range(1, MOST_RESULTS + 2))
    assert fact(system, 0) == MOST_RESULTS + 2
    fact(system)
    before, frames = len(calls), system.frames
    for k in range(MAX_STRUCTURES):
        fact(system._replace(frames=frames._replace(fixed=np.full_like(frames.fixed, 3 + k))))
    fact(arms().build().system)
    assert len(calls) == before + MAX_STRUCTURES + 1


@pytest.mark.parametrize("kind", ["large", "touching"])
def test_large_systems_and_contacts_cache_small_results(kind):
    system, (fact, _) = arms().build().system, counted_memo(per_structure)
    if kind == "large":
        of_frames = (np.zeros((MAX_KEY_SIZE + 1, *x.shape[1:]), x.dtype) for x in system.frames)
        system = system._replace(frames=type(system.frames)(*of_frames))
    else:
        system = system._replace(contacts=system.contacts._replace(pairs=np.zeros((1, 2), np.int64)))
    assert [fact(system), fact(system), fact(system._replace())] == [1, 1, 2]
    assert [fact(system, 1.0), fact(system, 1.0)] == [3, 4]


def test_content_key_depends_on_every_number():
    built = arms().build()
    arrays_by_name = {
        **built.system.frames._asdict(),
        **built.system.constraints._asdict(),
        **built.state._asdict(),
    }
    keys = {content_key(tuple(arrays_by_name.values()))}
    n_changes = 0
    for name, array in arrays_by_name.items():
        if array.size:
            other = array.copy()
            other.flat[-1] = (
                np.nextafter(other.flat[-1], 9.0) if other.dtype.kind == "f" else other.flat[-1] + 1
            )
            keys.add(content_key(tuple({**arrays_by_name, name: other}.values())))
            keys.add(content_key(tuple({**arrays_by_name, name: array[None]}.values())))
            n_changes += 2
    assert len(keys) == n_changes + 1


def test_memoisation_detects_a_replaced_kind(monkeypatch):
    system, (fact, calls) = arms().build().system, counted_memo(per_structure)
    number = int(system.others.kind[0])
    replaced = [kind._replace(name="another") if k == number else kind for k, kind in enumerate(INTERACTIONS)]
    for count, kinds in ((1, INTERACTIONS), (2, replaced), (2, INTERACTIONS)):
        monkeypatch.setattr("discretization.system.INTERACTIONS", kinds)
        for _ in range(2):
            fact(system._replace())
        assert len(calls) == count


def test_copies_of_a_system_in_other_processes_have_no_results():
    system, (fact, calls) = arms().build().system, counted_memo(per_structure)
    fact(system)
    other = pickle.loads(pickle.dumps(system))
    assert vars(system)
    assert not vars(other)
    assert list(flattened(other)) == list(flattened(system))
    assert [fact(other), len(calls)] == [1, 1]
