"""Hidden constraints in invariants: rate of g, the product rule of their discrete derivatives, rigid motions."""

import numpy as np
import pytest

from discretization.state_measures import rate_of
from rigid import quaternions
from rigid.interactions import closed_forms
from rigid.system import ALONG, COINCIDENT, CROSSED, DISTANCE, PERPENDICULAR, SCREW, Constraints
from tests.support.arrays import make_state, make_system
from tests.support.interpreted import interpreted

KINDS = {"coincident": COINCIDENT, "perpendicular": PERPENDICULAR, "along": ALONG, "distance": DISTANCE}
hidden_value_of, hidden_derivative_of = map(
    interpreted, (closed_forms.hidden_value_of, closed_forms.hidden_derivative_of)
)
KINDS |= {"crossed": CROSSED, "screw": SCREW}


def tuples(*arrays):
    return tuple(tuple(float(x) for x in np.ravel(a)) for a in arrays)


def turned(r, R, v, Omega, dr, psi):
    """R1 = cay(psi) R0."""
    half = quaternions.normalize(np.array([1.0, *(0.5 * psi)]))
    return r + dr, quaternions.to_matrix(half) @ R, v, Omega


class Pair:
    """Two frames at both ends of a step, and the points and directions of a constraint."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        x = rng.standard_normal
        self.geometry = (
            *tuples(x(3), x(3), x(3), x(3)),
            *tuples(x(3), x(3)),
            0.7,
        )  # Ua, Ub, Xa, Xb, Wa, Wb, value
        self.gam = x(3)
        self.quat = [quaternions.normalize(x(4)) for _ in range(2)]
        self.start = [(x(3), quaternions.to_matrix(q), x(3), x(3)) for q in self.quat]
        self.move = [(x(3), x(3)) for _ in range(2)]
        self.after = [
            turned(r, R, x(3), x(3), dr, psi)
            for (r, R, _, _), (dr, psi) in zip(self.start, self.move, strict=True)
        ]

    @staticmethod
    def end(frames):
        (ra, Ra, va, Oa), (rb, Rb, vb, Ob) = frames
        return tuples(rb - ra, vb - va, Ra, Rb, Oa, Ob)

    def value(self, kind, frames):
        return np.array(hidden_value_of(kind, self.geometry, self.end(frames)))

    def derivative(self, kind, start, after):
        gam = tuple(self.gam)
        return np.array(hidden_derivative_of(kind, gam, self.geometry, self.end(start), self.end(after)))


def screwed(pair):
    """Axis, reference and its fellow on b, where the axes are parallel: b turned about that of a by 0.8."""
    axis, reference, _ = np.linalg.qr(np.array(pair.geometry[:3]))[0].T
    about = np.array([np.cos(0.4), *(np.sin(0.4) * axis)])
    pair.quat[1] = quaternions.multiply(pair.quat[0], about)
    r, _, v, Omega = pair.start[1]
    pair.start[1] = r, quaternions.to_matrix(pair.quat[1]), v, Omega
    return axis[None], reference[None], reference[None]


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_hidden_constraint_is_the_rate_of_its_constraint(kind):
    pair = Pair(3)
    Ua, Ub, Xa, Xb, Wa, Wb = (np.array([x]) for x in pair.geometry[:6])
    if kind == SCREW:  # its hidden form is that of parallel axes
        Ua, Wa, Ub = screwed(pair)
        pair.geometry = (*tuples(Ua, Ub, Xa, Xb, Wa, Wb), 0.7)
    value = np.array([pair.geometry[6]])
    constraints = Constraints(
        np.array([kind]), np.array([[1, 2]]), Xa, Xb, Ua, Ub, value, np.zeros(1, np.int64), Wa, Wb
    )
    system = make_system(np.ones(2), np.tile(np.eye(3), (2, 1, 1)), constraints=constraints)
    r, R, v, Omega = (np.array(x) for x in zip(*pair.start, strict=True))
    state = make_state(system, r, np.array(pair.quat), v, Omega)
    expected = rate_of(constraints, state, np.zeros((0, 9)))
    value = pair.value(kind, pair.start)
    if kind == COINCIDENT:
        value = R[0] @ value
    assert value[: len(expected)] == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_the_product_rule_is_exact_over_large_steps(kind, seed):
    """A1 - A0 = D . (dv, dOmega, dr, psi)."""
    pair = Pair(seed)
    rows = 3 if kind == COINCIDENT else 1
    change = pair.value(kind, pair.after) - pair.value(kind, pair.start)
    D_v, D_Oa, D_Ob, D_r, D_a, D_b = pair.derivative(kind, pair.start, pair.after)
    (dra, psi_a), (drb, psi_b) = pair.move
    (_, _, dva, dOa), (_, _, dvb, dOb) = (
        tuple(y - x for x, y in zip(*ends, strict=True)) for ends in zip(pair.start, pair.after, strict=True)
    )
    along = D_v @ (dvb - dva) + D_Oa @ dOa + D_Ob @ dOb + D_r @ (drb - dra) + D_a @ psi_a + D_b @ psi_b
    size = 1 + np.abs(change).max()
    assert along == pytest.approx(pair.gam[:rows] @ change[:rows], abs=3e-14 * size)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_discrete_derivatives_do_nothing_along_a_common_turn(kind):
    """sum of rbar x D_r + vbar x D_v + D_psi = 0: the angular momentum is kept."""
    pair = Pair(5)
    D_v, _, _, D_r, D_a, D_b = pair.derivative(kind, pair.start, pair.after)
    (ra0, _, va0, _), (rb0, _, vb0, _) = pair.start
    (ra1, _, va1, _), (rb1, _, vb1, _) = pair.after
    r, v = (rb0 + rb1 - ra0 - ra1) / 2, (vb0 + vb1 - va0 - va1) / 2
    assert np.abs(np.cross(r, D_r) + np.cross(v, D_v) + D_a + D_b).max() < 1e-13


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_discrete_derivatives_are_symmetric_in_time(kind):
    pair = Pair(7)
    there, back = pair.derivative(kind, pair.start, pair.after), pair.derivative(kind, pair.after, pair.start)
    assert there == pytest.approx(back, abs=1e-15)
