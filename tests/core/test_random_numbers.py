"""Counter-based random numbers: published words of Philox4x32-10, and the distribution of normal numbers."""

import numpy as np
import pytest

from discretization.time.random_numbers import normal_numbers, philox_words

PI = (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344, 0xA4093822, 0x299F31D0)
# known answers of the library Random123 (file kat_vectors): counter, key, words
KNOWN = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((2**32 - 1,) * 4, (2**32 - 1,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (PI[:4], PI[4:], (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)),
]


@pytest.mark.parametrize(("counter", "key", "words"), KNOWN)
def test_philox_gives_the_published_words(counter, key, words):
    out = np.zeros(4, np.int64)
    philox_words(np.array(counter), np.array(key), out)
    assert out.tolist() == list(words)


def numbers(key, first, count):
    out = np.zeros((count, 2))
    normal_numbers(np.array(key), first, out)
    return out


def test_normal_numbers_are_those_of_box_and_muller():
    words = np.zeros(4, np.int64)
    philox_words(np.array([5, 3, 0, 0]), np.array([7, 9]), words)
    u = [((a >> 5) * 2**26 + (b >> 6) + 0.5) / 2**53 for a, b in (words[:2].tolist(), words[2:].tolist())]
    expected = np.sqrt(-2 * np.log(u[0])) * np.array([np.cos(2 * np.pi * u[1]), np.sin(2 * np.pi * u[1])])
    assert numbers([7, 9], 3 * 2**32 + 5, 1)[0] == pytest.approx(expected, rel=1e-15)


def test_normal_numbers_have_the_moments_of_a_normal_distribution():
    n = 200_000
    pairs = numbers([1, 2], 0, n)
    one, other = pairs.T
    for power, moment, variance in ((1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)):
        for values in (one, other):
            assert np.mean(values**power) == pytest.approx(moment, abs=4.0 * np.sqrt(variance / n))
    assert np.mean(one * other) == pytest.approx(0.0, abs=4.0 / np.sqrt(n))
    assert np.mean(one[1:] * one[:-1]) == pytest.approx(0.0, abs=4.0 / np.sqrt(n))
    assert np.abs(pairs).max() > 4.0


def test_numbers_depend_on_the_key_and_the_count_alone():
    whole = numbers([3, 4], 0, 20)
    assert np.array_equal(whole[7:], numbers([3, 4], 7, 13))
    for key in ([4, 4], [3, 5]):
        assert np.abs(numbers(key, 0, 20) - whole).min() > 0.0
