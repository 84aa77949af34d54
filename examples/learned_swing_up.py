"""A policy learns to swing a pendulum up whose motor is too weak to lift it at once.

The environment (`rodsim.learning.Environment`) observes cosine, sine and rate of the angle every 50 ms and sets the torque of
the motor, at most 2 N m; the weight exerts up to 4.9 N m. The policy is a small neural network. The cross-entropy method
(Rubinstein and Kroese, The Cross-Entropy Method, 2004) trains its weights: it draws weights from a normal distribution, keeps
those with the largest sums of rewards, and fits the next distribution to them. Training takes about 10 s.

    python -m examples.learned_swing_up
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rodsim import Box, Model, controllers, measures
from rodsim.learning import Environment

TORQUE, SECONDS = 2.0, 8.0  # N m, s
HIDDEN = 8  # neurons
DRAWN, SELECTED, ROUNDS = 60, 10, 30


def pendulum() -> Model:
    """Return a bar that hangs from a hinge with a motor."""
    model = Model("pendulum", gravity=(0, 0, -9.81))
    bar = model.add_body("bar", Box(0.05, 0.05, 1.0, mass=1.0), position=(0, 0, -0.5))
    model.add_joint("hinge", "revolute", "ground", bar, at=(0, 0, 0), axis=(0, 1, 0))
    model.add_sensor("phi", measures.angle("ground", bar, axis=(0, 1, 0)))
    motor = model.add_controller("motor", controllers.External(), outputs="torque")
    model.add_joint_force("drive", "hinge", motor.output())
    return model


def environment(render_mode: str | None = None) -> Environment:
    """Return the environment: the reward is the height of the bar, less what fast motions and torques cost."""
    return Environment(
        pendulum(),
        dt=0.01,
        steps=5,
        actions={"motor.torque": (-TORQUE, TORQUE)},
        observations=["cos(phi)", "sin(phi)", "phi_rate"],
        reward="-cos(phi) - 0.01*phi_rate**2 - 0.001*torque**2",
        t_end=SECONDS,
        random_steps=4,
        render_mode=render_mode,
    )


def torque_of(weights: NDArray[np.float64], observation: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the torque (1,), N m, of the network with these weights."""
    inner, bias, outer = np.split(weights, (3 * HIDDEN, 4 * HIDDEN))
    scaled = observation * (1.0, 1.0, 0.2)
    return TORQUE * np.tanh([outer @ np.tanh(inner.reshape(HIDDEN, 3) @ scaled + bias)])


def rewards_of(world: Environment, weights: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Return the rewards of all steps of an episode."""
    observation, _ = world.reset(seed=seed)
    rewards, ended = [], False
    while not ended:
        observation, reward, terminated, truncated, _ = world.step(torque_of(weights, observation))
        rewards.append(reward)
        ended = terminated or truncated
    return np.array(rewards)


def train(rounds: int = ROUNDS, seed: int = 1) -> tuple[NDArray[np.float64], list[float]]:
    """Return the weights of the policy after training, and the mean reward of a step of the best policies of each round."""
    world, random = environment(), np.random.default_rng(seed)
    mean, spread, history = np.zeros(5 * HIDDEN), np.full(5 * HIDDEN, 2.0), []
    for number in range(rounds):
        drawn = mean + spread * random.standard_normal((DRAWN, len(mean)))
        scores = np.array([rewards_of(world, weights, seed=number).mean() for weights in drawn])
        best = drawn[np.argsort(scores)[-SELECTED:]]
        mean, spread = best.mean(axis=0), best.std(axis=0) + 0.05
        history.append(float(np.sort(scores)[-SELECTED:].mean()))
    return mean, history


def main() -> None:
    weights, history = train()
    for number, reward in enumerate(history):
        if number % 5 == 4:
            print(f"round {number + 1:2d}: mean reward of the best {SELECTED} of {DRAWN}: {reward:6.3f}")
    ends = [rewards_of(environment(), weights, seed)[-20:].mean() for seed in range(1000, 1010)]
    print(
        f"last second of ten other episodes: mean reward {np.mean(ends):.3f}, smallest {np.min(ends):.3f}; upright is 1"
    )


if __name__ == "__main__":
    main()
