"""High-order schemes against exact solutions of rigid bodies, to 1e-10."""

import numpy as np
import pytest

from rigid import quaternions
from rodsim.mechanics import integrate, rotating_body
from rodsim.papers import free_body, heavy_top
from tests.support.orders import observed_order

# Free body, J = (6, 8, 3), Omega(0) = (10, 20, 20): t -> q, by Jacobi's elliptic functions.
FREE_BODY = {
    0.05: (0.75138040714612857, 0.37082561112383812, 0.43777460101462143, 0.32598964492455749),
    0.1: (0.19544703333727887, 0.61427117054739361, 0.73098487729427010, 0.22390287037256214),
    1.0: (0.98246243303855346, 0.067504764125571854, 0.15270460806474528, 0.083017932786291950),
    2.0: (0.93054500301645729, 0.14095475300691028, 0.29825094072933890, 0.15894694498456642),
}
# method, chart, order; steps per second that just give 1e-10 at t = 2: half as many do not
METHODS = [
    ("mG(3)", "alpha", 6, 400),
    ("mG(4)", "director", 8, 200),
    ("GL-SPARK(3)", "gamma", 6, 400),
    ("Lobatto-IIIA-B(4)", "gamma", 6, 400),
    ("EML(order=6)", "singular", 6, 400),
    ("EML-kappa(order=6)", "singular", 6, 800),
    ("EMS(order=6)", "gamma", 6, 400),
    ("VI-A(order=6)", "alpha", 6, 400),
    ("GGL-EM(order=6)", "director", 6, 800),
]


def turning(chart):
    J, Omega = np.array([6.0, 8.0, 3.0]), np.array([10.0, 20.0, 20.0])
    if chart == "director":
        return rotating_body("free body", J, Omega, chart="director")
    return rotating_body("free body", J, Omega, inertia=chart)


def quaternion(run):
    q = run.q[-1]
    return quaternions.normalize(q) if len(q) == 4 else quaternions.from_matrix(q.reshape(3, 3).T)


def angle(a, b):
    return 2.0 * np.linalg.norm(np.array(a) - np.sign(a @ np.array(b)) * np.array(b))


@pytest.mark.parametrize(("method", "chart", "order", "rate"), METHODS)
def test_free_body_rotation_is_exact_to_1e_10(method, chart, order, rate):
    t_end = 2.0 if method.startswith("EML") else 1.0
    run = integrate(turning(chart), method, 1 / rate, t_end)
    for t in (0.05, 0.1, 1.0, t_end):
        k = round(rate * t)
        assert angle(quaternion(run.part(k)), FREE_BODY[t]) < 1e-10


@pytest.mark.parametrize(("method", "chart", "order"), [row[:3] for row in METHODS])
def test_free_body_converges_with_the_order_of_the_method(method, chart, order):
    steps = [0.1 / n for n in (12, 24)]
    errors = [angle(quaternion(integrate(turning(chart), method, h, 0.1)), FREE_BODY[0.1]) for h in steps]
    assert observed_order(steps, errors) == pytest.approx(order, abs=0.1)


@pytest.mark.parametrize(
    "method", ["mG(3)", "GL-SPARK(3)", "Lobatto-IIIA-B(4)", "EML(order=6)", "EMH(order=6)"]
)
def test_centre_of_the_heavy_top_moves_on_the_exact_circle_to_1e_10(method):
    inertia = "singular" if method.startswith("EML") else "gamma"
    run = integrate(heavy_top.heavy_top(inertia), method, 1e-3, 0.5)
    assert np.abs(heavy_top.centre(run.q[-1]) - heavy_top.exact(run.t[-1])).max() < 1e-10


def test_free_body_of_the_study_is_that_of_the_exact_solution():
    body = free_body.free_body()
    assert body.q0 == pytest.approx(turning("singular").q0)
    assert body.v0 == pytest.approx(turning("singular").v0)
