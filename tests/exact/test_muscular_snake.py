"""PyElastica's MuscularSnake with the parameters of its file, but without its ground: rods glued to a rod, which they bend."""

import numpy as np
import pytest

import rodsim
from rodsim import Model, audit, simulate
from rodsim.interactions import average, minus, norm, push, real, times
from tests.support.sections import round_section


def muscle_kind():
    """Five elements in a row pull their nodes together: force ramp(t) (side sin(2 pi t) + 1)/2, with a clock
    as state.
    """

    @rodsim.interaction("muscle of five elements", 6, ("force", "side", "delay"), states=("clock",))
    class Muscle:
        def evolve(y0, y1, x0, x1, h, X, out):
            out[0] = x1[0] - x0[0] - h

        def step_dual(y0, y1, x0, x1, h, X, out):
            t = 0.5 * (x0[0] + x1[0]) - X[2]
            ramp = 0j if t.real < 0.0 else (t if t.real < 1.0 else 1.0 + 0j)
            force = 0.5 * X[0] * ramp * (X[1] * real.sin(2 * np.pi * t) + 1.0)
            for k in range(5):
                a, b = minus(y0[k + 1, 0], y0[k, 0]), minus(y1[k + 1, 0], y1[k, 0])
                force_on_next = times(2.0 * force / (norm(a) + norm(b)), average(a, b))
                push(out, k + 1, force_on_next)
                push(out, k, times(-1.0, force_on_next))

    return Muscle


def muscle_sections(radius, density, E, stiffened=1.0):
    """Round sections of the file, with a shear modulus of 3/4 E; tendons resist stretch and shear 50000 times
    as much.
    """
    EA = stiffened * E * np.pi * radius**2
    return round_section(radius, density, E, 0.75 * E, EA=EA, GA=27 / 28 * 0.75 * EA)


def muscular_snake():
    """1 m of 100 elements, 5 cm thick; eight rods of equally long elements next to it, glued by springs at
    all nodes.
    """
    R, E, pulls, muscle = 0.025, 1e7, (13.7, 9.51, 20.95, 22.96), muscle_kind()
    model = Model("muscular snake")
    body = model.add_rod(
        "body", [(0, 0, 0), (1, 0, 0)], muscle_sections(R, 1000.0, E), 100, up=(0, 0, 1), mass="lumped"
    )
    slows = 4e-3 / (2000 * np.pi * 0.003**2)
    damping = slows + 4e-3 / (1000 * np.pi * R**2)
    model.add_mass_damping("body slows", body, damping, rotation=4 * damping / R**2)
    tendon, belly = muscle_sections(0.003, 2000.0, 1e4, 5e4), muscle_sections(0.006, 2000.0, 1e4)
    starts = (4, 33, 23, 61)
    for i in range(8):
        pair, side, n = i // 2, (-1, 1)[i % 2], 39 if i < 4 else 33
        first, y = starts[pair], (-1, 1)[i % 2] * (R + 0.003)
        rod = model.add_rod(
            f"muscle {i}",
            [(first / 100, y, 0), ((first + n) / 100, y, 0)],
            lambda s, n=n: belly if 12 < s * n < 27 else tendon,
            n,
            up=(0, 0, 1),
            mass="lumped",
        )
        model.add_mass_damping(f"muscle {i} slows", rod, slows, rotation=4 * slows / 0.003**2)
        glue = [
            0.05 * R * 0.006 / (R + 0.006) ** 2 if 12 <= k < 27 else 2 * R * 0.003 / (R + 0.003) ** 2
            for k in range(n)
        ]
        glue = 0.01 * E * 0.5 * (np.array([*glue, 0.0]) + np.array([0.0, *glue]))
        for k in range(n + 1):
            at = ((first + k) / 100, side * R, 0)
            stiffness = (glue[k],) * 3 + (0.0,) * 3
            model.add_bushing(f"glue {i} {k}", body.at(at[0]), rod.at(k / n), stiffness, at=at)
        parameters = {"force": pulls[pair] / 2 / (R + 0.003), "side": -side, "clock": 0.0}
        parameters["delay"] = starts[3 - pair] / 101.76
        for k in (12, 17, 22):
            model.add_interaction(
                f"pull {i} {k}", muscle, *(rod.at(j / n) for j in range(k, k + 6)), **parameters
            )
    return model


def test_muscles_glued_to_a_snake_bend_it_as_in_pyelastica():
    """There nodes 0, 50, 100 deflect by -3.169, 1.760, -12.011 mm after 0.2 s, with steps of 5 us."""
    result = simulate(muscular_snake(), 0.2, 0.01, progress=False)
    assert audit(result).ok
    deflections = result.rod("body").r[-1, [0, 50, 100], 1]
    assert deflections == pytest.approx([-3.169e-3, 1.760e-3, -12.011e-3], rel=0.02)
