"""Validation cases of contact, spheres and rods that bounce, collide, roll and stick: closed forms of impact and dry friction."""

from __future__ import annotations

import numpy as np
from scipy.special import gamma

from rigid import signals
from rigid.inertia import MassProperties, Sphere
from rodsim.components.friction import Friction
from rodsim.components.sections import Material, Section
from rodsim.model import Model
from rodsim.results.result import Result
from rodsim.simulation import simulate
from rodsim.validation.case import Case, Meshes, ReferenceValue, Values

G = 9.80665

# a ball thrown up from 1 m, on a floor that acts as a linear spring
RADIUS, DENSITY, FLOOR, TOP = 0.05, 1000.0, 1e4, 1.0 + 1.0 / (2.0 * G)
MASS = DENSITY * 4.0 / 3.0 * np.pi * RADIUS**3
FREQUENCY, SPEED = np.sqrt(FLOOR / MASS), np.sqrt(2.0 * G * (TOP - RADIUS))
DEEPEST = G / FREQUENCY**2 + np.hypot(SPEED / FREQUENCY, G / FREQUENCY**2)
TOUCHES = (np.pi + 2.0 * np.arctan(G / (SPEED * FREQUENCY))) / FREQUENCY

# two steel spheres
YOUNG, POISSON = 210e9, 0.3  # steel
STEEL_RADIUS, STEEL_DENSITY, APPROACH = 0.01, 7800.0, 1.0
STEEL_MASS = STEEL_DENSITY * 4.0 / 3.0 * np.pi * STEEL_RADIUS**3
HERTZ = 4.0 / 3.0 * YOUNG / (2.0 * (1.0 - POISSON**2)) * np.sqrt(STEEL_RADIUS / 2.0)  # force over depth^1.5
HERTZ_DEPTH = (1.25 * STEEL_MASS / 2.0 * APPROACH**2 / HERTZ) ** 0.4
HERTZ_FORCE = HERTZ * HERTZ_DEPTH**1.5
HERTZ_TIME = 2.0 * np.sqrt(np.pi) * gamma(0.4) / (2.5 * gamma(0.9)) * HERTZ_DEPTH / APPROACH

# a bar whose end hits a stiff spring: EA v/c (1 - exp(-t/delay)) until the wave returns
BAR = Section.circular(0.02, Material(E=1e7, nu=0.3, density=1000.0))
LENGTH, HIT, WAVE, AREA = 1.0, 0.1, 100.0, np.pi * 0.02**2
PLATEAU, DELAY = 1e7 * AREA * HIT / WAVE, 0.1 * LENGTH / WAVE

# a ball of 1 kg that slides with 1 m/s until it rolls
MU, ROLLS = 0.2, 5.0 / 7.0

# a block of 1 kg on a belt, attached to a spring
BELT, SPRING, STATIC, KINETIC = 0.1, 100.0, 0.5, 0.3


def bouncing(h: float, t_end: float, height: float, velocity: float, output_every: int = 1) -> Result:
    """Simulate the ball on the floor from an initial `height`, m, and vertical `velocity`, m/s."""
    model = Model("ball", gravity=(0.0, 0.0, -G))
    body = model.add_body("ball", Sphere(RADIUS, DENSITY), (0.0, 0.0, height), velocity=(0.0, 0.0, velocity))
    floor = model.add_plane("floor", model.ground.at((0.0, 0.0, 0.0)), (0.0, 0.0, 1.0))
    model.add_contact("bounce", model.add_sphere("surface", body, RADIUS), floor, FLOOR)
    return simulate(model, t_end, h, output_every=output_every, progress=False)


def _crossings(result: Result) -> tuple[float, float, float]:
    """Return the times at which the ball touches and leaves the floor, and its largest depth.

    The times follow from the parabolas of flight before and after the contact.
    """
    t, ball = result.t, result.body("ball")
    z, v = ball.r[:, 2] - RADIUS, ball.v[:, 2]
    inside = np.flatnonzero(z < 0.0)
    i, j = inside[0] - 1, inside[-1] + 1
    begins = t[i] + (v[i] + np.sqrt(v[i] ** 2 + 2.0 * G * z[i])) / G
    ends = t[j] + (v[j] - np.sqrt(v[j] ** 2 + 2.0 * G * z[j])) / G
    k = int(np.argmin(z))
    return begins, ends, -_vertex(z[k - 1 : k + 2])


def _vertex(values: np.ndarray) -> float:
    """Return the extreme value of the parabola through three values (3,) at equal distances."""
    a, b, c = np.polyfit(np.arange(-1.0, 2.0), values, 2)
    return float(c - b**2 / (4.0 * a))


def bounce(level: int) -> Values:
    """Simulate the ball from the floor up to its top again; a step is a fraction of the contact time."""
    h = TOUCHES / (40, 80)[level]
    run = bouncing(h, (60, 120)[level] * h, RADIUS, -SPEED)
    begins, ends, deepest = _crossings(run)
    z, v = run.body("ball").r[-1, 2], run.body("ball").v[-1, 2]
    return {"top": z + v**2 / (2.0 * G), "deepest": deepest, "contact time": ends - begins}


def steel_spheres(steps: int) -> tuple[float, float, float]:
    """Simulate the impact of two steel spheres.

    Return the contact time and the largest force, each divided by the value of Hertz, and the final velocity of the sphere
    that was at rest.
    """
    model, h = Model("spheres"), HERTZ_TIME / steps
    both = []
    for name, x, v in (("a", -STEEL_RADIUS, APPROACH), ("b", STEEL_RADIUS, 0.0)):
        body = model.add_body(
            name, Sphere(STEEL_RADIUS, STEEL_DENSITY), (x, 0.0, 0.0), velocity=(v, 0.0, 0.0)
        )
        both.append(model.add_sphere(name, body, STEEL_RADIUS))
    model.add_contact("impact", both[0], both[1], HERTZ, exponent=1.5)
    run = simulate(model, 1.5 * steps * h, h, output_every=1, progress=False)
    (xa, xb), (va, vb) = ([getattr(run.body(name), of)[:, 0] for name in ("a", "b")] for of in ("r", "v"))
    depth = 2.0 * STEEL_RADIUS - (xb - xa)
    j = int(np.argmax(depth))
    out = j + int(np.argmax(depth[j:] < 0.0))
    time = run.t[out] + depth[out] / (vb[out] - va[out])
    return time / HERTZ_TIME, HERTZ * _vertex(depth[j - 1 : j + 2]) ** 1.5 / HERTZ_FORCE, vb[-1]


def hertz(level: int) -> Values:
    """Compute the impact of the steel spheres."""
    time, force, velocity = steel_spheres((80, 160)[level])
    return {"contact time": time, "largest force": force, "velocity": velocity}


def bar(level: int) -> Values:
    """Compute the momentum over m v after 1 and 2 L/c, when the wave returns: the effect of the force EA v/c until then."""
    n = (40, 80)[level]
    model, h = Model("bar"), 0.5 * LENGTH / WAVE / n
    rod = model.add_rod("bar", [(0, 0, 0), (LENGTH, 0, 0)], BAR, n, velocity=(-HIT, 0, 0), mass="lumped")
    wall = model.add_plane("wall", model.ground.at((0.0, 0.0, 0.0)), (1.0, 0.0, 0.0))
    stiffness = 1e7 * AREA / (WAVE * DELAY)
    model.add_contact("hit", model.add_sphere("end", rod.start, 0.0), wall, stiffness)
    run = simulate(model, 5 * n * h, h, output_every=1, progress=False)
    P = run.linear_momentum[:, 0] / (BAR.mass_per_length * LENGTH * HIT)
    return {"momentum(2)": P[4 * n], "momentum(1)": P[2 * n]}


def rolling(h: float, inertia: float = 0.4) -> Result:
    """Simulate a round body of 1 kg and 5 cm that is thrown along the floor with 1 m/s.

    `inertia`: its moment of inertia over m r^2.
    """
    model, depth = Model("ball", gravity=(0.0, 0.0, -G)), G / 1e6
    body = model.add_body(
        "ball",
        MassProperties(1.0, np.full(3, inertia * RADIUS**2)),
        (0.0, 0.0, RADIUS - depth),
        velocity=(1.0, 0.0, 0.0),
    )
    floor = model.add_plane("floor", model.ground.at((0.0, 0.0, 0.0)), (0.0, 0.0, 1.0))
    model.add_contact("slides", model.add_sphere("surface", body, RADIUS), floor, 1e6, friction=MU)
    return simulate(model, 0.6, h, output_every=1, progress=False)


def slide_to_roll(level: int) -> Values:
    """Compute the velocity of rolling, the energy lost, and the time at which rolling begins.

    The time follows from the final position, reached by sliding first and rolling then.
    """
    run = rolling((5e-4, 2.5e-4)[level])
    ball = run.body("ball")
    v, x = ball.v[-1, 0], ball.r[-1, 0]
    # x = t v + (1 - v) t_roll/2
    return {"v": v, "lost": run.dissipation[-1], "rolls from": 2.0 * (x - 0.6 * v) / (1.0 - v)}


def on_belt(h: float, t_end: float) -> Result:
    """Simulate the block on the belt; it does not rotate, since the spring pulls at the point where friction acts."""
    model, depth = Model("belt", gravity=(0.0, 0.0, -G)), G / 1e5
    block = model.add_body("block", MassProperties(1.0, np.ones(3)))
    foot = model.add_sphere("foot", block.at((0.0, 0.0, RADIUS - depth)), RADIUS)
    belt = model.add_driven("belt", displacement=signals.Steady(BELT).along((1.0, 0.0, 0.0)))
    model.add_spring("spring", model.ground.at((-10.0, 0.0, 0.0)), block.at((0.0, 0.0, 0.0)), SPRING, 10.0)
    face = model.add_plane("face", belt, (0.0, 0.0, 1.0))
    model.add_contact(
        "rubs", foot, face, 1e5, friction=Friction(KINETIC, static=STATIC, tangential_stiffness=1e6)
    )
    return simulate(model, t_end, h, output_every=1, progress=False)


W, BREAKS, RESTS = np.sqrt(SPRING), STATIC * G / SPRING, KINETIC * G / SPRING  # rad/s, m, m
STICKS = 2.0 * (BREAKS - RESTS) / BELT
SLIPS = 2.0 / W * (np.pi - np.arctan((BREAKS - RESTS) * W / BELT))


def stick_slip(level: int) -> Values:
    """Compute the period, the largest extension, and the energy that friction dissipates in a period.

    The exact loss is the kinetic force times the path of the belt, minus that of the block.
    """
    h = (5e-4, 2.5e-4)[level]
    run = on_belt(h, 4.4)
    t, x, v = run.t, run.body("block").r[:, 0], run.body("block").v[:, 0]
    i = np.flatnonzero((v[1:] <= 0.0) & (v[:-1] > 0.0))
    tops = t[i] + h * v[i] / (v[i] - v[i + 1])
    dissipated = np.interp(tops, t, run.dissipation)
    return {
        "period": tops[-1] - tops[-2],
        "top": x[len(x) // 4 :].max(),
        "lost": dissipated[-1] - dissipated[-2],
    }


EXACT = "closed form"
CASES = (
    Case(
        "bouncing-ball",
        "Ball on a linear spring",
        EXACT,
        {
            "top": ReferenceValue(TOP, 0.0, 1.0),
            "deepest": ReferenceValue(DEEPEST, 0.0, DEEPEST),
            "contact time": ReferenceValue(TOUCHES, 0.0, TOUCHES),
        },
        bounce,
        Meshes("em, 40 steps a touch", "em, 80 steps a touch", 2, 1e-3),
    ),
    Case(
        "hertz-impact",
        "Two steel spheres, Hertz",
        "closed form, H. Hertz 1882",
        dict.fromkeys(("contact time", "largest force"), ReferenceValue(1.0, 0.0, 1.0))
        | {"velocity": ReferenceValue(APPROACH, 0.0, 1.0)},
        hertz,
        Meshes("em, 80 steps a touch", "em, 160 steps a touch", 2, 1e-4),
    ),
    Case(
        "bar-on-wall",
        "Elastic bar hits a wall, Saint-Venant",
        EXACT,
        {
            "momentum(2)": ReferenceValue(1.0 - 0.1, 0.0, 1.0),
            "momentum(1)": ReferenceValue(-0.1 * (1.0 - np.exp(-10.0)), 0.0, 1.0),
        },
        bar,
        Meshes("em, 40 elements, h = 0.5 dx/c", "em, 80 elements, h = 0.5 dx/c", 1),
    ),
    Case(
        "slide-to-roll",
        "Ball slides, then rolls",
        EXACT,
        {
            "v": ReferenceValue(ROLLS, 1e-4, 1.0),  # the lever arm is shorter by a depth of 1e-5 m
            "lost": ReferenceValue(0.5 * (1.0 - ROLLS), 1e-4, 0.5),
            "rolls from": ReferenceValue((1.0 - ROLLS) / (MU * G), 1e-4, 0.15),
        },
        slide_to_roll,
        Meshes("em, h = 5e-4", "em, h = 2.5e-4", 2, 1e-3),
    ),
    Case(
        "stick-slip",
        "Block on a belt, held by a spring",
        EXACT,
        {
            "period": ReferenceValue(STICKS + SLIPS, 0.0, STICKS + SLIPS),
            "top": ReferenceValue(RESTS + np.hypot(BREAKS - RESTS, BELT / W), 0.0, BREAKS),
            "lost": ReferenceValue(KINETIC * G * (BELT * SLIPS + 2.0 * (BREAKS - RESTS)), 0.0, 0.2),
        },
        stick_slip,
        Meshes("em, h = 5e-4", "em, h = 2.5e-4", 1),
    ),
)
