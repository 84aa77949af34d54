"""A planar arm with a tendon at a constant distance under a load at its tip, against its differential equations.

The equations are those of a backbone with an inextensible axis and a tendon that slides without friction through many discs:
Camarillo, Milne, Carlson, Zinn and Salisbury, Mechanics modeling of tendon-driven continuum manipulators, IEEE Trans. Robotics 24
(2008) 1262-1273; Rao, Peyron, Lilge and Burgner-Kahrs, How to model tendon-driven continuum robots and benchmark modelling
performance, Frontiers in Robotics and AI 7 (2021) 630245. With the tension T at the distance d and the force F at the tip,

    EI theta' = T d + (r(L) - r(s)) x F,   r' = (cos theta, sin theta),   theta(0) = 0                                    (1)

and the tendon is d theta(L) shorter than the backbone.
"""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
import scipy

from rodsim import Box, Model, Pulley, Section, equilibrium

LENGTH, OFFSET, EI, LOAD, TENSION = 0.4, 0.02, 0.05, 0.25, 5.0
STIFF = Section.from_stiffness(
    EA=1e8, GA=1e8, GJ=1.0, EI=EI, mass_per_length=0.1, inertia_per_length=(2e-5, 1e-5, 1e-5)
)


def integrate(curvature):
    """Return theta, theta' and r (2,) at the tip for a curvature at the base: EI theta'' = -(r' x F), to 1e-12."""

    def rates(s, y):
        return [y[1], LOAD * np.cos(y[0]) / EI, np.cos(y[0]), np.sin(y[0])]

    solution = scipy.integrate.solve_ivp(
        rates, (0, LENGTH), [0, curvature, 0, 0], "DOP853", rtol=1e-12, atol=1e-14
    )
    return solution.y[:, -1]


@cache
def published(stiffness=0.0, length=0.0):
    """Return the tip (2,), m, and the tension, N, of (1): given, or that of an elastic tendon of this length."""

    def tension(theta):
        return stiffness * (LENGTH - OFFSET * theta - length) if stiffness else TENSION

    def moment_at_tip(curvature):
        theta, slope, _, _ = integrate(curvature)
        return EI * slope - tension(theta) * OFFSET

    curvature = scipy.optimize.brentq(moment_at_tip, -10.0, 10.0, xtol=1e-13)
    theta, _, x, z = integrate(curvature)
    return np.array([x, z]), tension(theta)


def arm(discs):
    """Return a clamped arm along x with a load downwards, and the points of a tendon above it, from the tip to the base."""
    model = Model("arm")
    rod = model.add_rod("rod", [(0, 0, 0), (LENGTH, 0, 0)], STIFF, discs, up=(0, 0, 1))
    model.add_joint("clamp", "clamp", rod.start)
    model.add_force("load", rod.end, (0, 0, -LOAD))
    return model, [rod.at(k / discs, (0, 0, OFFSET)) for k in range(discs, -1, -1)]


def extrapolated(tip_of, discs=(15, 30, 60)):
    """Return the tip in the limit of many discs; errors fall with the second, then the fourth power of their number."""
    tips = [tip_of(n) for n in discs]
    once = [(4.0 * b - a) / 3.0 for a, b in pairwise(tips)]
    return (16.0 * once[1] - once[0]) / 15.0


def tip(model):
    """Return x and z of the tip at the equilibrium, m."""
    return equilibrium(model).rod("rod").r[-1, -1, [0, 2]]


def test_arm_with_a_given_tension_reaches_the_published_tip():
    def tip_of(discs):
        model, eyelets = arm(discs)
        model.add_tendon("tendon", eyelets, TENSION)
        return tip(model)

    expected, _ = published()
    assert expected[1] > 0.05  # the tendon lifts the load
    assert extrapolated(tip_of) == pytest.approx(expected, abs=1e-7)


def test_arm_with_an_elastic_tendon_reaches_the_published_tip_and_tension():
    stiffness, length, tensions = 800.0, 0.38, []

    def tip_of(discs):
        model, eyelets = arm(discs)
        model.add_tendon("tendon", eyelets, stiffness=stiffness, length=length)
        rest = equilibrium(model)
        tensions.append(rest.tendon("tendon").tension[-1])
        return rest.rod("rod").r[-1, -1, [0, 2]]

    expected, tension = published(stiffness, length)
    assert extrapolated(tip_of) == pytest.approx(expected, abs=5e-7)
    assert tensions[-1] == pytest.approx(tension, rel=1e-3)


def test_weight_over_a_pulley_at_the_base_is_a_given_tension():
    """The rope leaves the base along the arm, passes a pulley and carries a weight on a rail."""

    def tip_of(discs):
        model, eyelets = arm(discs)
        place = (-0.15, 0, -0.3)
        weight = model.add_body("weight", Box(0.02, 0.02, 0.02, mass=TENSION), position=place)
        model.add_joint("rail", "prismatic", "ground", weight, at=place, axis=(0, 0, 1))
        model.add_force("gravity", weight, (0, 0, -TENSION))
        pulley = Pulley(f"ground@-0.1,0,{OFFSET - 0.05}", (0, 1, 0), 0.05, -1)
        model.add_tendon("rope", [*eyelets, pulley, weight])
        return tip(model)

    assert extrapolated(tip_of, (7, 14, 28)) == pytest.approx(published()[0], abs=1e-6)
