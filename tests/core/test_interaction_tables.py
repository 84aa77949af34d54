"""The table of interactions is the same if it is split and joined again, by parts or by the tables of files."""

import numpy as np

from discretization.interaction_table import (
    FRAMES,
    INTERACTIONS,
    chosen,
    insert_file_tables,
    joined,
    loads_of,
    pairs_of,
    springs_of,
    torsions_of,
    without_file_tables,
)
from tests.support.linearise import everything


def table():
    """A table of loads, springs and torsion springs on bodies and on a rod."""
    return everything().build().system.others


def same(one, other):
    return all(np.array_equal(*both) for both in zip(one, other, strict=True))


def test_table_is_rebuilt_from_its_loads_springs_and_torsion_springs():
    original = table()
    parts = springs_of(original), torsions_of(original), loads_of(original)
    assert [len(part[-1]) for part in parts] == [1, 1, 4]
    rebuilt = insert_file_tables(without_file_tables(original), *parts)
    order = (
        np.lexsort((original.frames[:, 0], original.kind)),
        np.lexsort((rebuilt.frames[:, 0], rebuilt.kind)),
    )
    assert np.array_equal(original.kind[order[0]], rebuilt.kind[order[1]])
    assert np.array_equal(
        original.frames[order[0]], rebuilt.frames[order[1]]
    )  # no frame after the frames in use
    for interactions in (original, rebuilt):
        arity = np.array([INTERACTIONS[k].arity for k in interactions.kind])
        assert ((interactions.frames >= 0) == (np.arange(FRAMES) < arity[:, None])).all()


def test_tables_of_different_widths_are_padded_when_joined():
    original = table()
    wide = original._replace(frames=np.pad(original.frames, ((0, 0), (0, 3)), constant_values=-1))
    for one, other in ((original, wide), (wide, original)):
        both = joined(one, other)
        assert both.frames.shape == (2 * len(original.kind), FRAMES + 3)
        assert np.array_equal(np.unique(pairs_of(both), axis=0), np.unique(pairs_of(original), axis=0))
        half = np.arange(len(both.kind)) < len(original.kind)
        assert same(chosen(both, half), wide)
        assert same(chosen(both, ~half), wide)
