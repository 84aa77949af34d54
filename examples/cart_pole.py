"""A pole on a cart, swung up from below and balanced by a loop of Python that advances the model with a `Runner`.

Below, the cart pushes so that the energy of the pole tends to that of the upright pole at rest (Astrom and Furuta, "Swinging up
a pendulum by energy control", Automatica 36, 2000). With the angle phi from the vertical, half length l, mass m and inertia J
about the hinge,

    E = J phi'^2/2 + m g l (cos phi - 1),   a = k E phi' cos phi,

the cart is accelerated by a. Near the vertical the push is a linear feedback of position, angle and their rates. Each 10 ms the
loop reads the sensors and sets the push, which is held for two steps.

    python -m examples.cart_pole
"""

from __future__ import annotations

from math import cos, pi, remainder

import numpy as np
from numpy.typing import NDArray

from rodsim import Box, Model, controllers, measures

CART, POLE, LENGTH, GRAVITY = 1.0, 0.2, 1.0, 9.81  # kg, kg, m, m/s^2
DT, STEPS_PER_SAMPLE = 0.005, 2
INERTIA = POLE * (LENGTH**2 + 0.04**2) / 12.0 + POLE * (0.5 * LENGTH) ** 2  # about the hinge, kg m^2
GAINS = (3.0, 5.0, 42.0, 11.0)  # push for x, x', phi, phi'
NEAR = 0.5  # rad: angle from the vertical below which the feedback is linear


def cart_and_pole() -> Model:
    """Return a cart on a rail with a pole that hangs down, a little aside."""
    model = Model("cart and pole", gravity=(0, 0, -GRAVITY))
    cart = model.add_body("cart", Box(0.4, 0.2, 0.1, mass=CART))
    model.add_joint("rail", "prismatic", "ground", cart, at=(0, 0, 0), axis=(1, 0, 0))
    pole = model.add_body("pole", Box(0.04, 0.04, LENGTH, mass=POLE), position=(0, 0, -0.5 * LENGTH))
    model.add_joint("hinge", "revolute", cart, pole, at=(0, 0, 0), axis=(0, 1, 0))
    model.add_sensor("x", measures.coordinate(cart, axis=(1, 0, 0)))
    model.add_sensor("turned", measures.angle(cart, pole, axis=(0, 1, 0)))
    hand = model.add_controller("hand", controllers.External(), outputs="push")
    model.add_joint_force("motor", "rail", hand.output())
    return model


def push_of(x: float, dx: float, phi: float, dphi: float) -> float:
    """Return the push on the cart, N, for its position and the angle from the vertical, and their rates."""
    if abs(phi) < NEAR:
        return sum(gain * value for gain, value in zip(GAINS, (x, dx, phi, dphi), strict=True))
    energy = 0.5 * INERTIA * dphi**2 + 0.5 * POLE * GRAVITY * LENGTH * (cos(phi) - 1.0)
    acceleration = 8.0 * energy * dphi * cos(phi) - 2.0 * x - 2.0 * dx
    return (CART + POLE) * min(max(acceleration, -6.0), 6.0)


def swing_up(seconds: float = 8.0) -> NDArray[np.float64]:
    """Return t, x, phi and push (k, 4) at the samples of a run."""
    runner = cart_and_pole().prepare(dt=DT).runner()
    rows = []
    push = 1.0  # the first samples, to begin
    while runner.t < seconds:
        (x, dx), (turned, dphi) = runner.sensors.tolist()
        phi = remainder(turned - pi, 2.0 * pi)
        if runner.t > 0.1:
            push = push_of(x, dx, phi, dphi)
        rows.append((runner.t, x, phi, push))
        runner.advance(STEPS_PER_SAMPLE, {"hand.push": push})
    return np.array(rows)


def main() -> None:
    rows = swing_up()
    for t, x, phi, push in rows[::50]:
        print(
            f"t = {t:5.2f} s   cart at {x:6.3f} m   pole {np.degrees(phi):7.2f} degrees from the vertical   push {push:6.2f} N"
        )


if __name__ == "__main__":
    main()
