"""Dissipative contact pairs: listed for a state together with the pairs in contact, and rejected before an unsupported run."""

from __future__ import annotations

import numpy as np
import pytest

from discretization.interaction_groups import Role, dissipations_of, groups_of
from discretization.internal_variables import part
from rigid import quaternions
from rigid.errors import ModelError
from rigid.interactions import evaluation
from rodsim import Model, Sphere, simulate


def grazing_balls(x: float = 0.101, **loses) -> Model:
    """A ball grazes another one that spins; a third is not involved."""
    model = Model("glancing")
    one = model.add_body("a", Sphere(0.05, density=1000), (0, 0, 0), velocity=(0.5, 0, 0))
    other = model.add_body("b", Sphere(0.05, density=1000), (x, 0.03, 0.01), angular_velocity=(0, 0, 3.0))
    aside = model.add_body("c", Sphere(0.05, density=1000), (0, 0.5, 0))
    balls = [model.add_sphere(body.name, body, 0.05) for body in (aside, one, other)]
    model.add_contact("rub", balls, stiffness=1e4, **loses)
    return model


@pytest.mark.parametrize("friction", [0.05, 5.0])
def test_active_dissipation_groups_include_their_bristles(friction: float) -> None:
    model = grazing_balls(friction=friction, rest_speed=1.0)
    result = simulate(model, 0.015, 5e-4, output_every=1, progress=False)
    system = result.layout.system
    assert dissipations_of(system, None) == []
    assert dissipations_of(system, result.state(0)) == []
    state = result.state(-1)
    (energy,) = groups_of(system, state, Role.ENERGY)
    (loss,) = groups_of(system, state, Role.DISSIPATION)
    assert loss.table == "contacts"
    assert loss.use.tolist() == energy.use.tolist() == [0]
    assert loss.group.frames.tolist() == energy.group.frames.tolist()
    row = part(system, state, "bristle")[0]
    assert np.linalg.norm(row[1:4]) > 1e-5
    assert loss.group.numbers[0, -4:].tolist() == row[1:5].tolist()
    one = type(state)(*(array[None] for array in state))
    force = evaluation.resistances([loss.group._replace(row=np.zeros(1, np.int64))], one)[0, 0, :, :3]
    # the bristle force, of the same magnitude, normal to the contact normal
    bristle_force = 1e4 * quaternions.rotate(state.quat[loss.group.frames[0, 0]], row[1:4])
    assert np.linalg.norm(force[0]) == pytest.approx(np.linalg.norm(bristle_force), rel=1e-12)
    assert force.sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-12)
    assert abs(force[0] @ bristle_force) == pytest.approx(bristle_force @ bristle_force, rel=1e-3)


def test_state_without_a_contact_list_has_no_bristles() -> None:
    result = simulate(grazing_balls(friction=5.0), 0.015, 5e-4, output_every=1, progress=False)
    state = result.state(-1)._replace(memory=np.zeros(0))
    (loss,) = groups_of(result.layout.system, state, Role.DISSIPATION)
    assert loss.group.numbers[0, -4:].tolist() == [0.0] * 4


@pytest.mark.parametrize(
    ("integrator", "words"),
    [
        ("em4", "takes negative substeps, which contacts with friction, .*; use integrator 'em'"),
        ("em6", "'em6'"),
    ],
)
@pytest.mark.parametrize("loses", [{"restitution": 0.6}, {"friction": 0.3}], ids=str)
def test_scheme_without_contact_dissipation_is_rejected_at_the_start(
    integrator, words, loses, tmp_path
) -> None:
    path = tmp_path / "run.vtkhdf"
    with pytest.raises(ModelError, match=words):
        simulate(grazing_balls(x=1.0, **loses), 0.01, 1e-3, integrator, output=path, progress=False)
    assert not path.exists()
