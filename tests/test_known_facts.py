"""What is found once of a system: the same tables, or the same numbers, and no others."""

import numpy as np
from test_any_integrator import arms

from discretization.assembly.fronts_of_systems import number_for_steps
from discretization.assembly.workspace import _kept_workspace
from discretization.interaction_kinds import INTERACTIONS
from discretization.known_facts import (
    LARGEST,
    MOST,
    MOST_BYTES,
    SMALL,
    copied,
    digest_of,
    known,
    known_anew,
    known_of_numbers,
)


def asked(decorate):
    """A function of a system that counts how often it is really asked."""
    calls = []
    return decorate(lambda system, *more: calls.append(more) or len(calls)), calls


def test_facts_of_the_same_tables_are_found_once():
    system = arms().build().system
    fact, calls = asked(known)
    assert [fact(system), fact(system._replace(gravity=2.0 * system.gravity))] == [1, 1]
    others = [
        system._replace(frames=system.frames._replace(mass=k + system.frames.mass)) for k in range(MOST)
    ]
    assert [fact(other) for other in others] == list(range(2, MOST + 2))
    assert fact(others[-1]) == MOST + 1
    assert fact(system) == MOST + 2  # the oldest is forgotten
    many = system._replace(frames=system.frames._replace(mass=np.ones(LARGEST + 1)))
    assert fact(many) != fact(many)
    assert len(calls) == MOST + 4


def test_every_part_of_a_table_is_an_array():
    """Which are told apart by their identity, and whose end is noticed."""
    for table in arms().build().system:
        for array in table if isinstance(table, tuple) else ():
            assert isinstance(array, np.ndarray)


def test_facts_of_arrays_that_are_gone_are_not_taken_for_others():
    fact, calls = asked(known)
    system = arms().build().system
    for k in range(20):  # arrays that take the place of those before
        fact(system._replace(frames=system.frames._replace(mass=system.frames.mass + k)))
    assert len(calls) == 20


def test_facts_of_the_same_numbers_are_found_once():
    system, again = arms().build().system, arms().build().system
    fact, calls = asked(known_of_numbers)
    assert fact(system, 0.0) == fact(again, 0.0) == 1
    assert fact(system, 1e-300) == 2
    assert fact(system, None) == 3
    assert len(calls) == 3


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
    assert len(calls) == 1
    fact(system, 1.0)
    assert len(calls) == 2


def test_what_is_large_or_lies_otherwise_is_made_each_time():
    system = arms().build().system
    many = system._replace(frames=system.frames._replace(mass=np.ones(SMALL + 1)))
    for array, of in (
        (np.zeros(3), many),
        (np.zeros(MOST_BYTES // 8 + 1), system),
        (np.zeros((3, 2)).T, system),
    ):
        fact, calls = making(array)
        assert fact(of)[0].strides == fact(of)[0].strides == array.strides
        assert len(calls) == 2


def test_a_kind_that_took_the_place_of_another_is_noticed(monkeypatch):
    system, (fact, calls) = arms().build().system, making(np.zeros(1))
    number = int(system.others.kind[0])
    others = [kind._replace(name="another") if k == number else kind for k, kind in enumerate(INTERACTIONS)]
    for asked, kinds in ((1, INTERACTIONS), (2, others), (2, INTERACTIONS)):
        monkeypatch.setattr("discretization.system.INTERACTIONS", kinds)
        fact(system)
        assert len(calls) == asked


def test_work_arrays_that_are_kept_are_those_of_the_system():
    """All of them, in the same order of rows, whatever was written into those of a run before."""

    def arrays(things):
        for thing in things:
            if isinstance(thing, tuple):
                yield from arrays(thing)
            elif isinstance(thing, np.ndarray):
                yield thing

    system = arms().build().system
    numbering = number_for_steps(system)._replace(handle=0)
    for _ in range(3):
        found, made = (
            find(system, numbering, True, 0.0) for find in (_kept_workspace, _kept_workspace.__wrapped__)
        )
        assert type(found) is type(made)
        for one, other in zip(arrays(found), arrays(made), strict=True):
            assert (one.dtype, one.shape, one.flags.c_contiguous) == (other.dtype, other.shape, True)
            assert one.tobytes() == other.tobytes()
            assert type(one) is type(other)
            one.view(np.ndarray).view(np.uint8)[...] = 1 if one.size else 0
    assert copied(made).blocks is made.blocks  # of nothing there need not be two
