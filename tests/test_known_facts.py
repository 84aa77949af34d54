"""What is found once of a system: the same tables, or the same numbers, and no others."""

import numpy as np
from test_any_integrator import arms

from discretization.known_facts import LARGEST, MOST, _digest, known, known_of_numbers


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
    digests = {_digest(tuple(things.values()))}
    changed = 0
    for name, array in things.items():
        if array.size:
            other = array.copy()
            other.flat[-1] = (
                np.nextafter(other.flat[-1], 9.0) if other.dtype.kind == "f" else other.flat[-1] + 1
            )
            digests.add(_digest(tuple({**things, name: other}.values())))
            digests.add(_digest(tuple({**things, name: array[None]}.values())))
            changed += 2
    assert len(digests) == changed + 1
