"""Bodies of trees in lanes: each has to the bit what it has alone."""

import numpy as np
import pytest

from discretization.time.tree_stepper import TreeStepper
from discretization.trees.bodies import assemble_bodies, assemble_residuals, begin_held, begin_tree
from discretization.trees.body_lanes import body_lanes
from discretization.trees.elimination import eliminate, expand
from discretization.trees.places import arrays_of, workspace_of
from discretization.trees.shape import BALL, HINGE, OTHER, UNIVERSAL, WELD, tree_of
from discretization.trees.simplified import eliminate_again
from rigid.compilation.decorators import kernel
from rigid.lanes import WIDTH
from rodsim import Box, Model
from tests.support.mechanisms import branched

ALONE = WIDTH + 1  # no group is as large
STEPS = 20


AXES = {"axis": (0.0, 0.6, 0.8), "second_axis": (1.0, 0.0, 0.0)}
KINDS = {"spherical": BALL, "revolute": HINGE, "universal": UNIVERSAL, "weld": WELD, "prismatic": OTHER}


def chain(kind, n=3, first=None, loaded=True):
    """Bodies of different shapes and turns on joints beside them, the last n named from the other end; loads, a spring.

    first: kind of the joint that the chain hangs on; loaded: whether there are loads and the spring.
    """
    model = Model("chain", gravity=(1.0, 2.0, -9.0))
    last = model.ground
    for k in range(2 * n):
        shape, turn = (
            Box(0.5 + 0.05 * k, 0.3, 0.2, density=100.0),
            (np.cos(0.2 * k), np.sin(0.2 * k), 0.0, 0.0),
        )
        body = model.add_body(f"body {k}", shape, position=(0.5 * k + 0.3, 0.1 * k, 0.0), orientation=turn)
        own = first if first and k == 0 else kind
        names = {"universal": ("axis", "second_axis"), "revolute": ("axis",), "prismatic": ("axis",)}.get(
            own, ()
        )
        ends = (body, last) if k >= n else (last, body)
        axes = {name: AXES[name] for name in names}
        model.add_joint(f"joint {k}", own, *ends, at=(0.5 * k, 0.1 * k, 0.05 * (k % 2)), **axes)
        last = body
    if not loaded:
        return model.build()
    model.add_force("push", last.at((0.1, 0.2, 0.0)), (3.0, -2.0, 5.0), following=True)
    model.add_spring("spring", model.ground, last, 20.0, along="rotation", axis=(0.0, 0.6, 0.8))
    return model.build()


def marched(built, fewest, order=2):
    """State after some steps with groups of bodies that have at least so many, and these groups."""
    system = built.system
    tree = tree_of(system)
    stepper = TreeStepper(system, tree, 0.01, order, built.load_values)
    stepper.work = workspace_of(system, tree, stepper.numbering, 0.0, fewest)
    stepper.arrays = arrays_of(system, tree, stepper.work.frames)
    stepper.lanes = body_lanes(stepper.arrays, stepper.work.frames)
    state, report = stepper.advance(stepper.start(built.state), 0, STEPS)
    assert report.solves == STEPS * len(stepper.fractions)
    return state, stepper.lanes


@pytest.mark.parametrize("n", [3, 9])
@pytest.mark.parametrize("kind", KINDS)
def test_bodies_side_by_side_are_to_the_bit_what_they_are_alone(kind, n):
    built = chain(kind, n, first="revolute" if kind == "weld" else None)
    (together, lanes), (alone, none) = marched(built, 1), marched(built, ALONE)
    assert not len(none.kind)
    own = lanes.side[lanes.kind == KINDS[kind]]
    assert set(own) == {1} if kind == "prismatic" else set(own) == {1, -1}
    for name, mine, other in zip(together._fields, together, alone, strict=True):
        assert mine.tobytes() == other.tobytes(), name
    assert np.abs(together.Omega).max() > 0.1 * (kind != "prismatic")
    assert np.abs(together.v).max() > 0.1


@pytest.mark.parametrize("kind", ["spherical", "revolute", "universal", "weld"])
@pytest.mark.parametrize("order", [2, 4])
def test_so_they_are_where_nothing_acts_on_them(kind, order):
    """Second corrections have the tangents of the first ones then."""
    built = chain(kind, 9, first="revolute" if kind == "weld" else None, loaded=False)
    (together, _), (alone, _) = marched(built, 1, order), marched(built, ALONE, order)
    for name, mine, other in zip(together._fields, together, alone, strict=True):
        assert mine.tobytes() == other.tobytes(), name
    assert np.abs(together.v).max() > 0.1


@kernel
def two_corrections(system, tree, state, work, h):
    """Of the bodies as they are in work: by the elimination into work.noise, with its tangents again into work.rhs."""
    begin_held(tree, state, work)
    begin_tree(system, tree, state, work)
    assemble_bodies(system, tree, state, work, h)
    eliminate(tree, work, False)
    expand(tree, work)
    for i in range(work.rhs.shape[0]):
        work.noise[i] = work.rhs[i]
        work.rhs[i] = 0.0
    assemble_residuals(system, tree, state, work, h)
    eliminate_again(tree, work)
    expand(tree, work)


def test_a_correction_with_the_same_tangents_is_the_same_where_no_body_has_moved():
    """Of all joints of closed form, from both ends, far from where they hold: gaps, tilts and moments are large."""
    built = branched(
        ("revolute", "spherical", "universal", "weld", "weld", "universal", "spherical", "revolute")
    ).build()
    tree = tree_of(built.system)
    stepper = TreeStepper(built.system, tree, 0.01, 2, built.load_values)
    work = workspace_of(built.system, tree, stepper.numbering, 0.0, ALONE)
    arrays = arrays_of(built.system, tree, work.frames)
    assert set(arrays.side) == {1, -1}
    random = np.random.default_rng(4)
    work.dr[:], work.psi[:] = (
        0.3 * random.normal(size=work.dr.shape),
        0.3 * random.normal(size=work.psi.shape),
    )
    two_corrections(built.system, arrays, stepper.start(built.state), work, 0.01)
    n = 6 * len(arrays.frame)
    assert np.abs(work.noise[:n]).min() > 1e-4
    assert np.allclose(work.rhs[:n], work.noise[:n], rtol=1e-9, atol=1e-11)


def test_a_group_hangs_on_bodies_of_another_and_on_one_alone():
    """Parents of a group stand anywhere."""
    model = Model("mixed", gravity=(1.0, 2.0, -9.0))
    last = model.ground
    for k, kind in enumerate(
        ("spherical", "revolute", "spherical", "universal", "spherical", "revolute", "revolute")
    ):
        body = model.add_body(
            f"body {k}", Box(0.5, 0.3, 0.2, density=100.0 + k), position=(0.5 * k + 0.3, 0, 0)
        )
        names = {"universal": ("axis", "second_axis"), "revolute": ("axis",)}.get(kind, ())
        model.add_joint(
            f"joint {k}", kind, last, body, at=(0.5 * k, 0, 0), **{name: AXES[name] for name in names}
        )
        last = body
    built = model.build()
    (together, lanes), (alone, _) = marched(built, 3), marched(built, ALONE)
    assert sorted(lanes.kind) == [BALL, HINGE]
    for name, mine, other in zip(together._fields, together, alone, strict=True):
        assert mine.tobytes() == other.tobytes(), name
