"""Random numbers that are functions of a key and a counter, so that a repeated or resumed step gets the same ones.

Philox4x32-10 maps a key of two and a counter of four words of 32 bits to four such words. A round takes

    c0, c1, c2, c3  <-  hi(M1 c2) ^ c1 ^ k0,  lo(M1 c2),  hi(M0 c0) ^ c3 ^ k1,  lo(M0 c0)                   (1)

with the upper and lower halves hi and lo of products; then k0 and k1 grow by W0 and W1 modulo 2^32. Two words give a number u
between 0 and 1, and two such numbers a pair of independent normal numbers (Box and Muller)

    sqrt(-2 ln u1) (cos 2 pi u2, sin 2 pi u2)                                                              (2)

Source: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11,
doi:10.1145/2063384.2063405.
"""

import math

import numpy as np

from rigid.compilation.decorators import internal_kernel, kernel

ROUNDS = 10
_WORD, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)  # lower half of a number of 64 bits, and its width
_M0, _M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_W0, _W1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
_UPPER, _LOWER = np.uint64(5), np.uint64(6)  # bits that are left out of two words: 27 + 26 = 53 bits remain


@internal_kernel
def _philox(c0, c1, c2, c3, k0, k1):
    """Return the four words that (1) gives for a counter and a key; all are uint64 numbers below 2^32."""
    for _ in range(ROUNDS):
        p0, p1 = _M0 * c0, _M1 * c2
        c0, c1, c2, c3 = (p1 >> _HALF) ^ c1 ^ k0, p1 & _WORD, (p0 >> _HALF) ^ c3 ^ k1, p0 & _WORD
        k0, k1 = (k0 + _W0) & _WORD, (k1 + _W1) & _WORD
    return c0, c1, c2, c3


@internal_kernel
def _uniform(a, b):
    """Return the number in (0, 1) that two words give."""
    return (float(a >> _UPPER) * 67108864.0 + float(b >> _LOWER) + 0.5) / 9007199254740992.0


@internal_kernel
def normal_pair(key, count):
    """Return two independent normal numbers of mean 0 and variance 1 by (2); key: (2,) words, count: not negative; int64."""
    n, none = np.uint64(count), np.uint64(0)
    words = _philox(n & _WORD, n >> _HALF, none, none, np.uint64(key[0]), np.uint64(key[1]))
    size = math.sqrt(-2.0 * math.log(_uniform(words[0], words[1])))
    angle = 2.0 * math.pi * _uniform(words[2], words[3])
    return size * math.cos(angle), size * math.sin(angle)


@kernel
def philox_words(counter, key, out):
    """Write the four words of a counter (4,) and a key (2,) to out (4,); all are int64 numbers below 2^32."""
    c0, c1, c2, c3 = (
        np.uint64(counter[0]),
        np.uint64(counter[1]),
        np.uint64(counter[2]),
        np.uint64(counter[3]),
    )
    words = _philox(c0, c1, c2, c3, np.uint64(key[0]), np.uint64(key[1]))
    for i in range(4):
        out[i] = np.int64(words[i])


@kernel
def normal_numbers(key, first, out):
    """Write the pairs of the counts first, first + 1 ... to out (n, 2)."""
    for i in range(out.shape[0]):
        out[i, 0], out[i, 1] = normal_pair(key, first + i)
