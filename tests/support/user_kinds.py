"""Interaction kinds that tests register, as a script would, and models that use them."""

import numpy as np

import rodsim
from rodsim import Box, Model, Section, measures, simulate
from rodsim.interactions import along, average, cross, dot, minus, norm, push, times, turn

NUMBERS = {"EA": 60.0, "GA": 40.0, "GJ": 3.0, "EI": (2.0, 4.0), "mass_per_length": 1.5}
SOFT = Section.from_stiffness(**NUMBERS, inertia_per_length=(0.4, 0.2, 0.3))
BRICK = Box(0.5, 0.3, 0.2, density=100.0)
HALF = 0.5
DT, T_END = 0.01, 0.1


def lengths(y):
    """A function of the script that a kind calls."""
    return norm(minus(y[1, 0], y[0, 0]))


@rodsim.interaction("linear spring", frames=2, numbers=("k", "l0"))
class Spring:
    """A spring like `Model.add_spring`."""

    def value(y, X):
        e = lengths(y) - X[1]
        return HALF * X[0] * e * e

    def dual(y0, y1, X, out):
        d = average(minus(y0[1, 0], y0[0, 0]), minus(y1[1, 0], y1[0, 0]))
        mean = HALF * (lengths(y0) + lengths(y1))
        f = times(X[0] * (mean - X[1]) / mean, d)
        push(out, 1, f)
        push(out, 0, times(-1.0, f))


@rodsim.interaction("linear damper", frames=2, numbers=("c",))
class Damper:
    """A force -c (d1 - d0)/h between two points, unlike that of `add_spring`, which is along the line."""

    def step_dual(y0, y1, h, X, out):
        d0, d1 = minus(y0[1, 0], y0[0, 0]), minus(y1[1, 0], y1[0, 0])
        d, mean = minus(d1, d0), HALF * (norm(d0) + norm(d1))
        along_line = average(d0, d1)
        f = times(X[0] / h * dot(along_line, d) / (mean * mean), along_line)
        push(out, 1, f)
        push(out, 0, times(-1.0, f))

    def rate_dual(y, z, X, out):
        d, w = minus(y[1, 0], y[0, 0]), minus(z[1, 0], z[0, 0])
        f = times(X[0] * dot(d, w) / dot(d, d), d)
        push(out, 1, f)
        push(out, 0, times(-1.0, f))


@rodsim.interaction("triangle", frames=3, numbers={"k": 0, "u": 3})
class Triangle:
    """k/2 (u_0 . (p_1 - p_0) + |p_2 - p_1|^2)^2: of three frames, with a direction on the first; written with arrays."""

    def value(y, X):
        d, e = y[1, 0] - y[0, 0], y[2, 0] - y[1, 0]
        x = dot(along(y, 0, X[1:4]), d) + (e * e).sum()
        return 0.5 * X[0] * x * x

    def dual(y0, y1, X, out):
        d0, d1, e0, e1 = y0[1, 0] - y0[0, 0], y1[1, 0] - y1[0, 0], y0[2, 0] - y0[1, 0], y1[2, 0] - y1[1, 0]
        u0, u1 = along(y0, 0, X[1:4]), along(y1, 0, X[1:4])
        s = 0.5 * X[0] * (dot(u0, d0) + dot(e0, e0) + dot(u1, d1) + dot(e1, e1))
        on_d, on_e = times(s, average(u0, u1)), times(2.0 * s, average(e0, e1))
        push(out, 0, times(-1.0, on_d))
        push(out, 1, minus(on_d, on_e))
        push(out, 2, on_e)
        turn(out, 0, X[1:4], times(s, average(d0, d1)))


@rodsim.interaction("gust", frames=1, numbers=("c",), free=False)
class Gust:
    """Drag on the velocity of one point."""

    def step_dual(y0, y1, h, X, out):
        push(out, 0, times(X[0] / h, minus(y1[0, 0], y0[0, 0])))

    def rate_dual(y, z, X, out):
        push(out, 0, times(X[0], z[0, 0]))


@rodsim.interaction("planes", frames=2, numbers=("k",))
class Planes:
    """k/2 |e3_a x e3_b|^2 = k/2 (1 - (e3_a . e3_b)^2): depends on axes alone."""

    def value(y, X):
        n = cross(y[0, 3], y[1, 3])
        return 0.5 * X[0] * dot(n, n)

    def dual(y0, y1, X, out):
        s = -0.5 * X[0] * (dot(y0[0, 3], y0[1, 3]) + dot(y1[0, 3], y1[1, 3]))
        turn(out, 0, (0.0, 0.0, 1.0), times(s, average(y0[1, 3], y1[1, 3])))
        turn(out, 1, (0.0, 0.0, 1.0), times(s, average(y0[0, 3], y1[0, 3])))


def bodies(n=3, gravity=(0.0, 0.0, 0.0)):
    """Free rotating bodies, one metre apart."""
    model = Model("free", gravity=gravity)
    for k in range(n):
        omega = (0.3 - k, -0.2, 0.4 + k)
        model.add_body(
            f"body {k}", BRICK, (0.1, float(k), 0.2 * k), velocity=(0.1 * k, 0, 0.2), angular_velocity=omega
        )
    return model


def bodies_with_kinds():
    """Free bodies connected by kinds only."""
    model = bodies()
    a, b, c = model.bodies.values()
    model.add_interaction("spring", Spring, a.at((0.2, 0.1, 0)), b.at((0, -0.1, 0.1)), k=40.0, l0=0.7)
    model.add_interaction(
        "triangle", "triangle", a.at((0.1, 0, 0)), b, c.at((0, 0, 0.1)), k=3.0, u=(0, 1.0, 0.5)
    )
    model.add_interaction("planes", Planes, b, c, k=2.0)
    return model


def bodies_with_expressions():
    """The free bodies, connected by energy expressions of all measures."""
    model = bodies()
    a, b, c = model.bodies.values()
    model.add_energy(
        "bond",
        "k*(l - 0.7)**2/2 + c*exp(-e)*cos(x) + k*(1 - w)**2/4",
        {
            "l": measures.distance(a.at((0.2, 0.1, 0)), b.at((0, -0.1, 0.1))),
            "e": measures.strain(b, c.at((0, 0, 0.1))),
            "x": measures.displacement(c, a.at((0.1, 0, 0)), (0, 1, 0.5)),
            "w": measures.cosine(a, (0, 0, 1), c, (0, 0.1, 1)),
        },
        k=40.0,
        c=3.0,
    )
    model.add_energy("twist", "m*sin(t)**2", {"t": measures.angle(a, b, (0, 0.6, 0.8))}, m=2.0)
    return model


def _clamped(name):
    """A clamped rod with a body next to it and one on a spring."""
    model = Model(name, gravity=(0.1, -0.2, -0.9))
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], SOFT, 4, mass="lumped")
    model.add_joint("clamp", "clamp", rod.start)
    body = model.add_body("body", BRICK, (1.2, 0.6, 0.1))
    model.add_bushing("under", model.ground, body, 60.0, at=(1.2, 0.6, 0.1))
    model.add_force("push", rod.end, (-0.05, 0, 0))
    return model, rod, body


def kinds():
    """Kinds of a script, with a rod."""
    model, rod, body = _clamped("kinds")
    tip, corner, foot = rod.at(1.0, (0, 0.05, 0)), body.at((0.2, 0.1, 0.1)), model.ground.at((1, 0.3, -0.5))
    model.add_interaction("spring", Spring, tip, corner, k=8.0, l0=0.5)
    model.add_interaction("damper", Damper, tip, corner, c=0.3)
    model.add_interaction("triangle", Triangle, rod.at(0.5), foot, body, k=0.4, u=(0.1, 0.9, 0.3))
    model.add_interaction("gust", Gust, tip, c=0.2)
    model.add_interaction("planes", Planes, rod.end, body, k=0.3)
    return model


def texts():
    """Energy expressions, with a rod."""
    model, rod, body = _clamped("texts")
    tip, corner = rod.at(1.0, (0, 0.05, 0)), body.at((0.2, 0.1, 0.1))
    named = {"l": measures.distance(tip, corner), "w": measures.cosine(rod.end, (0, 1, 0), body, (0, 1, 0.2))}
    model.add_energy("bond", "k*(l - 0.5)**2/2 + c*(1 - w)**2", named, k=8.0, c=0.4)
    place = measures.coordinate(corner, (0, 0, 1))
    turned = measures.angle(model.ground, body, (0, 0.6, 0.8))
    model.add_energy("field", "k*z**2/2 + m*t**2/2 + m*t**4", {"z": place, "t": turned}, k=5.0, m=0.3)
    model.add_energy(
        "row",
        "k*(e**2/2 + x**2/2)",
        {
            "e": measures.strain(rod.at(0.5), body),
            "x": measures.displacement(model.ground, rod.at(0.5), (0, 0, 1)),
        },
        k=2.0,
    )
    return model


def poses(rng, n):
    """Random complex poses (n, 4, 3)."""
    y = np.zeros((n, 4, 3), complex)
    y[:, 0] = rng.normal(size=(n, 3)) + np.arange(n)[:, None]
    for k in range(n):
        y[k, 1:] = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return y


def run(model, integrator="em", t_end=T_END, **options):
    return simulate(model, t_end, DT, integrator, output_every=1, progress=False, **options)


def pair(how):
    """Two rotating bodies on a built-in spring, a spring kind of the script, or an energy expression."""
    model = bodies(2)
    a, b = (
        body.at(x) for body, x in zip(model.bodies.values(), ((0.2, 0.1, 0), (0, -0.1, 0.1)), strict=True)
    )
    if how == "ours":
        model.add_spring("spring", a, b, 50.0, 0.6)
    elif how == "kind":
        model.add_interaction("spring", "linear spring", a, b, k=50.0, l0=0.6)
    else:
        model.add_energy("spring", "k*(l - l0)**2/2", {"l": measures.distance(a, b)}, k=50.0, l0=0.6)
    return model
