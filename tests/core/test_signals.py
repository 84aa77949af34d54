"""Functions of time: values at corners, vector values, rejected input."""

import numpy as np
import pytest

from rigid.signals import vector_function
from rodsim import ModelError, signals
from tests.support.processes import ended

VALUES = [
    (signals.Constant(3.0), [-1, 0, 9], [3, 3, 3]),
    (signals.Table([0, 1, 3], [1, 2, 0]), [-1, 0, 0.5, 1, 2, 3, 9], [1, 1, 1.5, 2, 1, 0, 0]),
    (signals.Ramp(4.0, 1, 3), [0, 1, 2, 3, 9], [0, 0, 2, 4, 4]),
    (signals.Triangle(200, t_peak=2.5, t_end=5), [-1, 0, 1.25, 2.5, 5, 9], [0, 0, 100, 200, 0, 0]),
    (signals.Sine(2, frequency=0.5, phase=np.pi / 2, offset=1), [0, 0.5, 1, 2], [3, 1, -1, 3]),
    (signals.Pulse(5, 1, 2), [0.999, 1, 1.999, 2], [0, 5, 5, 0]),
]


@pytest.mark.parametrize(("signal", "times", "values"), VALUES)
def test_signal_has_its_values_at_the_corners_and_beyond(signal, times, values):
    assert signal(times) == pytest.approx(values, abs=1e-14)
    assert float(signal(float(times[1]))) == pytest.approx(values[1], abs=1e-14)


@pytest.mark.parametrize(("signal", "times", "values"), VALUES)
def test_signal_along_a_direction_scales_the_direction(signal, times, values):
    assert signal.along((1, 0, -2))(np.array(times)) == pytest.approx(np.outer(values, (1, 0, -2)), abs=1e-13)


def test_constant_signal_and_callable_are_equal_loads():
    times = np.array([0.0, 0.7])
    forms = [(1, 2, 3), signals.Constant(1.0).along((1, 2, 3)), lambda t: (1, 2, 3)]
    assert all(np.array_equal(vector_function("load 'f'", form)(times), [(1, 2, 3)] * 2) for form in forms)


REFUSED = [
    ("time 1.0 follows 1.0", lambda: signals.Table([0, 1, 1], [0, 1, 2])),
    ("as many values as times", lambda: signals.Table([0, 1], [0])),
    ("not finite", lambda: signals.Table([0, np.inf], [0, 1])),
    ("t_peak = 6.* not before t_end", lambda: signals.Triangle(1, t_peak=6, t_end=5)),
    ("Sine: amplitude = nan", lambda: signals.Sine(np.nan, 1)),
    ("direction", lambda: signals.Constant(1.0).along((1, 2))),
    (r"load 'f'.*\.along", lambda: vector_function("load 'f'", signals.Constant(1.0))),
    ("load 'f'.* t = 0.5", lambda: vector_function("load 'f'", lambda t: (t, t))(np.array([0.5]))),
]


@pytest.mark.parametrize(("words", "make"), REFUSED)
def test_impossible_signals_are_rejected(words, make):
    with pytest.raises(ModelError, match=words):
        make()


def test_a_model_is_imported_without_splines():
    """Importing splines takes a sixth of the time, and few models use any."""
    ended("-c", "import sys, rodsim.model; sys.exit('scipy.interpolate' in sys.modules)")


@pytest.mark.parametrize("make", [signals.Table, signals.SmoothTable])
@pytest.mark.parametrize("index", [0, 1], ids=["times", "values"])
def test_tables_copy_their_arrays(make, index):
    arrays = np.array([0.0, 1.0, 2.0]), np.array([0.0, 4.0, 1.0])
    table, t = make(*arrays), np.linspace(0.0, 2.0, 9)
    before = make(*(array.copy() for array in arrays))(t)
    arrays[index][1:] += 0.5
    assert np.array_equal(table(t), before)
