"""Dominant frequency of a history."""

from __future__ import annotations

import numpy as np

from rigid.system import Floats

FEWEST = 8  # smallest number of outputs
PADDING = 8  # zero padding: ratio of the transform's length to the number of outputs


def frequency_peak(t: Floats, x: Floats) -> float:
    """Return the frequency (Hz) of the highest peak of the amplitude spectrum; nan if the history is constant or too short.

    The least-squares straight line is subtracted, the rest is tapered by a Hann window and padded with zeros. The peak is the
    vertex of a parabola through the logarithms of the amplitudes at three frequencies. If the outputs are not evenly spaced, the
    history is first interpolated linearly.
    """
    if len(t) < FEWEST:
        return float("nan")
    even = np.linspace(t[0], t[-1], len(t))
    y = x if np.allclose(t, even, rtol=0.0, atol=1e-9 * (t[-1] - t[0])) else np.interp(even, t, x)
    rest = y - np.polyval(np.polyfit(even - even[0], y, 1), even - even[0])
    if np.abs(rest).max() <= 1e-12 * np.abs(y).max():
        return float("nan")
    n = PADDING * len(even)
    amplitude = np.abs(np.fft.rfft(rest * np.hanning(len(even)), n))
    k = int(np.argmax(amplitude[1:-1])) + 1
    low, mid, high = np.log(np.maximum(amplitude[k - 1 : k + 2], 1e-300))
    bend = low - 2.0 * mid + high
    offset = 0.5 * (low - high) / bend if bend < 0.0 else 0.0
    return float((k + offset) / (n * (even[1] - even[0])))
