"""Compiled code receives only validated arguments: otherwise it would write past the end of arrays."""

import numpy as np
import pytest

from discretization.state_shapes import sizes_of, state_shapes
from discretization.time.stepper import Stepper
from rigid.system import State
from rodsim import ModelError
from tests.support.invalid_states import H, bars, rich
from tests.support.processes import ended


def test_validation_rejects_wrong_shapes_at_every_entry_point():
    """In another process, which an out-of-bounds access of a kernel may terminate."""
    process = ended("-m", "tests.support.invalid_states")
    assert process.stderr.strip() == ""
    assert int(process.stdout) > 1500


@pytest.mark.parametrize("model", [rich, bars])
def test_shapes_of_states_are_those_of_built_models_and_files(model):
    built = model().build()
    shapes = state_shapes(sizes_of(built.system))
    assert tuple(shapes) == State._fields
    assert [array.shape for array in built.state] == list(shapes.values())
    assert built.layout.state_shapes() == shapes


def test_state_that_may_not_be_written_is_advanced_but_not_marched():
    built = rich().build()
    stepper = Stepper(built.system, H, load_values=built.load_values, drive_values=built.drive_values)
    for array in built.state:
        array.flags.writeable = False
    state, _ = stepper.advance(built.state, 0, 1)
    assert np.any(state.r != built.state.r)
    with pytest.raises(ModelError, match=r"State\.r is read-only, .* call `advance`"):
        stepper.march(built.state, H, np.zeros(1))


@pytest.mark.parametrize("value", ["a State", None, State._fields])
def test_validation_rejects_non_states(value):
    built = rich().build()
    stepper = Stepper(built.system, H, load_values=built.load_values, drive_values=built.drive_values)
    for door in (
        stepper.start,
        lambda s: stepper.advance(s, 0, 1),
        lambda s: stepper.march(s, H, np.zeros(1)),
    ):
        with pytest.raises(ModelError, match="expected a State"):
            door(value)
