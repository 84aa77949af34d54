"""Environments of gymnasium: its checker, determinism, formulas, limits, failures, pictures, messages."""

import warnings

import numpy as np
import pytest

from examples.learned_swing_up import environment, rewards_of, train
from rigid.errors import ModelError
from rodsim import Box, Model, controllers, measures, simulate
from rodsim.learning import Environment

gymnasium = pytest.importorskip("gymnasium")
check_env = pytest.importorskip("gymnasium.utils.env_checker").check_env


def cart(law=None):
    """A mass of 2 kg on a rail, pushed by a controller."""
    model = Model("cart")
    body = model.add_body("body", Box(0.4, 0.2, 0.2, mass=2.0))
    model.add_joint("rail", "prismatic", "ground", body, at=(0, 0, 0), axis=(1, 0, 0))
    model.add_sensor("x", measures.coordinate(body, axis=(1, 0, 0)))
    hand = model.add_controller("hand", law or controllers.External(), outputs="push")
    model.add_joint_force("push", "rail", hand.output())
    return model


def make(**options):
    given = {"dt": 0.1, "actions": {"hand.push": (-3.0, 3.0)}, "reward": "-x**2", "t_end": 1.0}
    return Environment(cart(), **given | options)


def test_gymnasium_accepts_the_environment():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="gymnasium")
        check_env(make(random_steps=2, render_mode="rgb_array"))


def test_a_held_push_accelerates_the_cart():
    """x = F t^2/(2 m) with the steps of an episode of 2 steps each; rewards are of the state at the end of a step."""
    world = make(steps=2, t_end=0.8, observations=["x", "x_rate", "push", "t", "2*x + t"])
    observation, info = world.reset(seed=1)
    assert observation == pytest.approx([0, 0, 0, 0, 0])
    assert info == {"t": 0.0}
    for k in range(1, 5):
        observation, reward, terminated, truncated, info = world.step([1.5])
        t = 0.2 * k
        x = 0.5 * 1.5 / 2.0 * t**2
        assert observation == pytest.approx([x, 0.75 * t, 1.5, t, 2 * x + t], abs=1e-14)
        assert reward == pytest.approx(-(x**2), abs=1e-14)
        assert (terminated, truncated) == (False, k == 4)
        assert info == {"t": pytest.approx(t)}


def test_steps_are_those_of_simulate():
    world = make()
    world.reset()
    for _ in range(5):
        world.step([2.5])
    result = simulate(cart(controllers.External(2.5)), 0.5, 0.1, progress=False)
    assert np.array_equal(world.runner.state.r, result.state().r)


def test_actions_are_clipped_to_their_ranges():
    one, other = make(), make()
    for sign in (-1.0, 1.0):
        for world, push in ((one, 3.0), (other, 1e3)):
            world.reset()
            world.step([sign * push])
        assert np.array_equal(one.runner.state.v, other.runner.state.v)


def test_episodes_follow_their_seed():
    def episode(seed):
        world = make(random_steps=3)
        first, _ = world.reset(seed=seed)
        return np.array([first, world.step([1.0])[0]])

    assert np.array_equal(episode(5), episode(5))
    assert not np.allclose(episode(5), episode(6), atol=1e-6)
    world = make(random_steps=3)
    world.reset(seed=5)
    assert world.runner.t == 0.0
    assert np.array_equal(world.reset(seed=5)[0], episode(5)[0])


def test_vector_environments_equal_single_ones():
    worlds = gymnasium.vector.SyncVectorEnv([lambda: make(random_steps=2)] * 3)
    first, _ = worlds.reset(seed=[1, 2, 1])
    assert np.array_equal(first[0], first[2])
    assert np.array_equal(first[1], make(random_steps=2).reset(seed=2)[0])
    worlds.close()


def test_limits_end_an_episode():
    world = make(limits={"abs(x)": (0.0, 0.1), "x_rate": (-5, 5)})
    world.reset()
    ended = [world.step([3.0]) for _ in range(5)]
    x = [observation[0] for observation, *_ in ended]
    assert [terminated for _, _, terminated, _, _ in ended] == [value > 0.1 for value in x]
    assert ended[-1][4]["limit"] == "abs(x)"
    assert "limit" not in ended[0][4]


def test_reward_and_beginning_may_be_functions():
    def begin(runner, random):
        state = runner.state
        state.v[1] = (random.uniform(1.0, 2.0), 0.0, 0.0)
        runner.restore(state, 0.0)

    world = make(reward=lambda values: values["x_rate"] - values["push"], begin=begin)
    observation, _ = world.reset(seed=3)
    assert 1.0 < observation[1] < 2.0
    assert world.step([0.5])[1] == pytest.approx(world.runner.sensor("x.rate") - 0.5)
    start = simulate(cart(controllers.External(1.0)), 0.5, 0.1, progress=False)
    plain = make()
    observation, _ = plain.reset(options={"start": start})
    assert observation == pytest.approx([0.0625, 0.25])


def test_failed_step_ends_the_episode():
    def fails(t, h, measured, memory, outputs):
        if measured[0] > 0.2:
            raise ArithmeticError("out of range")

    model = cart()
    model.add_controller("watch", fails, ["x"], outputs="none")
    world = Environment(
        model, dt=0.1, actions={"hand.push": (-3, 3)}, reward="1", failure_reward=-7.0, t_end=9.0
    )
    world.reset()
    ends = []
    while len(ends) < 30 and not (ends and ends[-1][2]):
        ends.append(world.step([3.0]))
    assert "out of range" in ends[-1][4]["failure"]
    assert ends[-1][1] == -7.0
    assert ends[-2][1] == 1.0
    assert not ends[-1][3]
    world.reset()
    assert not world.step([0.0])[2]


def test_pictures_show_the_present_state():
    world = make(render_mode="rgb_array", size=(120, 80))
    world.reset()
    first = world.render()
    assert first.shape == (80, 120, 3)
    assert first.dtype == np.uint8
    for _ in range(8):
        world.step([3.0])
    assert np.abs(world.render().astype(int) - first).max() > 50
    for place in ((0, 0, 9.0), (0, 0, -90.0), (0, 900.0, 0)):
        state = world.runner.state
        state.r[1] = place
        world.runner.restore(state, 0.0)
        blue = world.render().astype(int) @ (-1, 0, 1)  # the body is blue, the grid grey, all else white
        assert blue.max() > 40
    world.close()
    assert make().render() is None


SCENE = """
name: cart
bodies: [{name: body, shape: {type: box, size: [0.4, 0.2, 0.2], mass: 2.0}}]
joints: [{name: rail, kind: prismatic, a: ground, b: body, at: [0, 0, 0], axis: [1, 0, 0]}]
sensors: [{name: x, measure: {of: coordinate, b: body, axis: [1, 0, 0]}}]
controllers: [{name: hand, law: {type: external}, outputs: [push]}]
joint_forces: [{name: push, joint: rail, value: {function: output, controller: hand, output: push}}]
run: {t_end: 1.0, dt: 0.1, integrator: em4}
"""


def test_scene_gives_model_step_and_integrator(tmp_path):
    path = tmp_path / "cart.yaml"
    path.write_text(SCENE)
    world = Environment.from_scene(path, actions={"hand.push": (-3, 3)}, reward="-x**2")
    world.reset()
    assert world.step([2.0])[0] == pytest.approx([0.005, 0.1])
    assert world.runner.dt == 0.1
    assert Environment.from_scene(path, dt=0.05, actions={"hand.push": (-3, 3)}, reward="0").runner.dt == 0.05


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"actions": {"foot.push": (0, 1)}}, "there is no output 'foot.push' to act on"),
        ({"actions": {}}, "there are no actions"),
        (
            {"actions": {"hand.push": (1, 1)}},
            r"actions\['hand.push'\] = \(1, 1\). Give \(smallest, largest\)",
        ),
        ({"actions": {"hand.push": 3}}, r"actions\['hand.push'\] = 3"),
        ({"reward": "y**2"}, "reward 'y\\*\\*2': there is no parameter 'y'"),
        ({"reward": 3}, "reward = 3. Give a formula"),
        ({"observations": ["x", "x.rate"]}, "observation 'x.rate'"),
        ({"limits": {"x": (2, 1)}}, r"limits\['x'\] = \(2, 1\)"),
        ({"limits": {"z": (1, 2)}}, "limit 'z'"),
        ({"render_mode": "human"}, "render_mode = 'human'"),
        ({"steps": 0}, "steps = 0"),
        ({"random_steps": -1}, "random_steps = -1"),
    ],
)
def test_bad_input_is_named(options, message):
    with pytest.raises(ModelError, match=message):
        make(**options)


def test_names_in_formulas_are_unique():
    model = cart()
    body = model.bodies["body"]
    model.add_sensor("push", measures.coordinate(body, axis=(0, 1, 0)))
    with pytest.raises(ModelError, match="two sensors or outputs are 'push' in formulas"):
        Environment(model, dt=0.1, actions={"hand.push": (-1, 1)}, reward="x")
    model = cart()
    foot = model.add_controller("foot", controllers.External(), outputs="push")
    model.add_force("kick", model.bodies["body"], foot.output().along((1, 0, 0)))
    world = Environment(model, dt=0.1, actions={"hand.push": (-1, 1)}, reward="hand_push - 10*foot_push")
    world.reset()
    assert world.step([0.5])[1] == pytest.approx(0.5)


def test_model_without_sensors_is_refused():
    model = cart()
    model.sensors.clear()
    with pytest.raises(ModelError, match="the model has no sensors"):
        Environment(model, dt=0.1, actions={"hand.push": (-1, 1)}, reward="t")


def test_policy_learns():
    """A short training raises the mean reward of the best policies; the first ones let the pendulum hang."""
    weights, history = train(rounds=12)
    assert history[0] < -0.5
    assert max(history[-3:]) > history[0] + 0.1
    assert len(rewards_of(environment(), weights, seed=1)) == 160
