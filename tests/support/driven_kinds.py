"""Kinds with inputs and forces that do work, as a script would write them, and a model of them."""

import rodsim
from rodsim import Box, Model, actuators, controllers, measures
from rodsim.interactions import (
    angle,
    angle_rate,
    average,
    displacement,
    displacement_rate,
    distance,
    distance_rate,
    minus,
    norm,
    push,
    push_angle,
    push_displacement,
    push_distance,
    times,
)


@rodsim.interaction("coil", frames=2, numbers=("L", "R", "K"), states=("i",), inputs=("U",))
class COIL:
    """L di/dt = U - R i - K dphi/dt, moment K i on the angle about the third axis of a."""

    def value(y, x, X):
        return 0.5 * X[0] * x[0] * x[0]

    def evolve(y0, y1, x0, x1, h, X, out):
        induced = X[2] * angle(y0, y1, 0, 1)[2] / h
        out[0] = X[0] * (x1[0] - x0[0]) / h - X[3] + X[1] * 0.5 * (x0[0] + x1[0]) + induced

    def step_dual(y0, y1, x0, x1, h, X, out):
        push_angle(out, y0, y1, 0, 1, -X[2] * 0.5 * (x0[0] + x1[0]))


@rodsim.interaction("propeller", frames=1, numbers=("k", "c"), inputs=("thrust",), free=False, linear=False)
class PROPELLER:
    """Thrust along the first axis, less the drag c v + k |v| v."""

    def step_dual(y0, y1, h, X, out):
        v = times(1.0 / h, minus(y1[0, 0], y0[0, 0]))
        push(out, 0, times(X[1] + X[0] * norm(v), v))
        push(out, 0, times(-X[2], average(y0[0, 1], y1[0, 1])))

    def rate_dual(y, z, X, out):
        v = z[0, 0]
        push(out, 0, times(X[1] + X[0] * norm(v), v))
        push(out, 0, times(-X[2], y[0, 1]))


@rodsim.interaction("muscle", frames=2, numbers=("k",), inputs=("rest",))
class MUSCLE:
    """k (l - rest)^2/2 with a rest length that comes from outside."""

    def value(y, X):
        e = distance(y, y, 0, 1)[0] - X[1]
        return 0.5 * X[0] * e * e

    def dual(y0, y1, X, out):
        l0, l1, _ = distance(y0, y1, 0, 1)
        push_distance(out, y0, y1, 0, 1, X[0] * (0.5 * (l0 + l1) - X[1]))


@rodsim.interaction("three measures", frames=2, numbers=("k",))
class MEASURES:
    """k (l^2 + s^2 + phi^2)/2 of a distance, a displacement and an angle."""

    def value(y, X):
        l, s, phi = distance(y, y, 0, 1)[0], displacement(y, y, 0, 1)[0], angle(y, y, 0, 1)[0]
        return 0.5 * X[0] * (l * l + s * s + phi * phi)

    def dual(y0, y1, X, out):
        l0, l1, _ = distance(y0, y1, 0, 1)
        s0, s1, _ = displacement(y0, y1, 0, 1)
        phi0, phi1, _ = angle(y0, y1, 0, 1)
        push_distance(out, y0, y1, 0, 1, 0.5 * X[0] * (l0 + l1))
        push_displacement(out, y0, y1, 0, 1, 0.5 * X[0] * (s0 + s1))
        push_angle(out, y0, y1, 0, 1, 0.5 * X[0] * (phi0 + phi1))


@rodsim.interaction("three dampers", frames=2, numbers=("c",))
class DAMPERS:
    """c times the rate of each measure."""

    def step_dual(y0, y1, h, X, out):
        push_distance(out, y0, y1, 0, 1, X[0] * distance(y0, y1, 0, 1)[2] / h)
        push_displacement(out, y0, y1, 0, 1, X[0] * displacement(y0, y1, 0, 1)[2] / h)
        push_angle(out, y0, y1, 0, 1, X[0] * angle(y0, y1, 0, 1)[2] / h)

    def rate_dual(y, z, X, out):
        push_distance(out, y, y, 0, 1, X[0] * distance_rate(y, z, 0, 1))
        push_displacement(out, y, y, 0, 1, X[0] * displacement_rate(y, z, 0, 1))
        push_angle(out, y, y, 0, 1, X[0] * angle_rate(y, z, 0, 1))


def driven():
    """A motor on a hinge, a propeller, a muscle and a spring of three measures, with constant inputs."""
    model = Model("driven", gravity=(1.0, -2.0, -9.0))
    bodies = []
    for k in range(2):
        body = model.add_body(f"body {k}", Box(0.5, 0.3, 0.2, density=100.0), (0.1, float(k), 0.2))
        model.add_bushing(f"soft {k}", model.ground, body, 80.0, at=(0.1, k, 0.2))
        bodies.append(body)
    wheel = model.add_body("wheel", Box(0.5, 0.3, 0.2, density=100.0), (2.0, 0, 0))
    model.add_joint("hinge", "revolute", "ground", wheel, at=(2.0, 0, 0), axis=(0, 0.6, 0.8))
    model.add_spring("coil", "ground", wheel, 3.0, along="rotation", axis=(0, 0.6, 0.8))
    about = {"axis": (0, 0.6, 0.8), "L": 0.05, "R": 1.0, "K": 0.5, "i": 0.1}
    model.add_interaction("motor", COIL, "ground@2,0,0", wheel, U=0.7, **about)
    model.add_interaction("propeller", PROPELLER, bodies[0], k=2.0, c=0.3, thrust=1.5)
    model.add_interaction("muscle", MUSCLE, bodies[0].at((0.1, 0, 0)), bodies[1], k=20.0, rest=0.8)
    model.add_interaction("measures", MEASURES, *bodies, axis=(0.6, 0, 0.8), k=3.0)
    model.add_interaction("dampers", DAMPERS, *bodies, axis=(0.6, 0, 0.8), c=0.2)
    return model


def actuated():
    """An actuator of each law, on joints and measures, driven by numbers, a controller and a sensor."""
    model = Model("actuated", gravity=(1.0, -2.0, -9.0))
    shape = Box(0.5, 0.3, 0.2, density=100.0)
    wheel, slider, head = (
        model.add_body(name, shape, (float(k), 0, 0)) for k, name in enumerate(("wheel", "slider", "head"))
    )
    model.add_joint("hinge", "revolute", "ground", wheel, at=(0, 0, 0.1), axis=(0, 0.6, 0.8))
    model.add_joint("rail", "prismatic", "ground", slider, at=(1, 0, 0), axis=(0.6, 0, 0.8))
    model.add_bushing("neck", slider, head, 80.0, at=(1.5, 0, 0))
    turn = model.add_sensor("turn", measures.angle("ground", wheel, (0, 0.6, 0.8)))
    servo = model.add_controller("servo", controllers.PID(kp=2.0, target=0.2), ["turn"], period=0.02)
    motor = actuators.DCMotor(resistance=1.0, inductance=0.05, constant=0.5, gear=2.0)
    model.add_actuator("motor", motor, "hinge", U=servo.output(), initial={"i": 0.1})
    model.add_actuator("brake", actuators.FirstOrderLag(time=0.1, gain=-0.5), "hinge", u=turn)
    oil = {"volume": 1e-5, "rod_volume": 1e-5, "bulk_modulus": 1e8, "valve": 1e-7, "supply": 2e6}
    cylinder = actuators.HydraulicCylinder(area=1e-4, rod_area=8e-5, **oil)
    pressures = {"p1": 1e6, "p2": 1e6}
    model.add_actuator("cylinder", cylinder, "rail", u=0.1, initial=pressures)
    link = actuators.StateSpace(
        A=[[-3.0, 1.0], [0.0, -20.0]], B=[[0.0, 5.0, 1.0], [2.0, 0.0, 0.0]], C=[3.0, 1.0], D=[-4.0, -0.2, 0.0]
    )
    apart = measures.distance("ground@2,1,1", head.at((0, 0.1, 0)))
    model.add_actuator("link", link, apart, u1=0.3)
    law = actuators.Equations(
        {"x": "(u*exp(-q) - x)/T"}, force="k*x - c*q_rate", parameters={"T": 0.1, "k": 5.0, "c": 0.3}
    )
    model.add_actuator("gland", law, measures.displacement(slider, head, (0, 0, 1)), u=1.0)
    return model
