"""`em`, `em-ggl` and their compositions: conserved quantities, orders of convergence, an exact motion, failed steps."""

from functools import cache

import numpy as np
import pytest

from discretization.state_measures import energies, velocity_residual
from discretization.time.stepper import Stepper
from rigid import quaternions
from rigid.system import State
from rodsim import Box, MassProperties, Material, Model, Section, Sphere, audit, simulate
from tests.support import rods
from tests.support.em_d import start_of
from tests.support.joined_bodies import chain, hinge
from tests.support.mechanisms import flail, slider

pytestmark = [
    pytest.mark.filterwarnings("ignore::rodsim.warnings.InitialVelocityWarning"),
    pytest.mark.filterwarnings("ignore::rodsim.warnings.ModelCheckWarning"),
]
H = 0.02  # s, step


def top():
    """Return a free asymmetric body (Euler top), whose exact motion is given by Jacobi's elliptic functions."""
    model = Model("top")
    model.add_body("top", MassProperties(1.0, np.array([6.0, 8.0, 3.0])), angular_velocity=(10, 20, 20))
    return model


def rod():
    """Return a free rod of six elements with consistent mass."""
    return rods.free_rod("se3", 6, mass="consistent")


def ring():
    """Return four bodies in a closed loop of ball joints, not in one plane."""
    model = Model("ring")
    corners = np.array([(0, 0, 0), (1, 0.1, 0.2), (1.1, 1, -0.1), (0.1, 0.9, 0.1)])
    bodies = [
        model.add_body(
            f"bar {k}",
            Box(0.8, 0.2, 0.3, density=100 + 10 * k),
            tuple((corners[k] + corners[k - 1]) / 2),
            velocity=(0.2 * k, 0.3, -0.1 * k * k),
            angular_velocity=(1, k, 2 - k),
        )
        for k in range(4)
    ]
    for k in range(4):
        model.add_joint(f"ball {k}", "spherical", bodies[k], bodies[(k + 1) % 4], at=tuple(corners[k]))
    return model


def mean_flail():
    return flail("mean")


def consistent_flail():
    return flail("consistent")


# `test_declared_invariants.py` tests all kinds of joints with all compositions
INVARIANTS = [(make, name) for make in (top, rod) for name in ("em", "em4", "em6")]
INVARIANTS += [(make, "em-ggl") for make in (chain, hinge, ring, mean_flail, consistent_flail)]
INVARIANTS += [(make, "em") for make in (ring, mean_flail, consistent_flail)]


@pytest.mark.parametrize(("make", "integrator"), INVARIANTS)
def test_energy_momenta_and_joints_are_conserved_to_round_off(make, integrator):
    """`em-ggl` satisfies joints at position and velocity level; `em` at position level, and with the mean velocity of a step."""
    result = simulate(make(), 200 * H, H, integrator, output_every=1, progress=False)
    audit_report = audit(result)
    assert audit_report.energy_balance < 1e-12
    assert max(audit_report.linear_momentum_drift or 0.0, audit_report.angular_momentum_drift or 0.0) < 1e-12
    assert audit_report.quat_norm < 1e-15
    assert audit_report.constraint < 1e-13
    if result.joints:
        assert (audit_report.velocity_constraint < 1e-12) == (integrator == "em-ggl")
        assert audit_report.velocity_constraint < 1e-12 or audit_report.velocity_constraint > 1e-5


def test_free_asymmetric_body_converges_to_the_exact_solution():
    """The values are the quaternion and the angular velocity of `top` at t = 0.1 s from the elliptic functions."""
    exact = [0.19544703333727887, 0.61427117054739361, 0.73098487729427010, 0.22390287037256214]
    after = simulate(top(), 0.1, 0.1 / 256, "em6", output_every=256).state()
    assert np.abs(after.quat[1] - exact).max() < 1e-11
    assert (
        np.abs(after.Omega[1] - [24.485755354502755, 13.236370466398553, -0.59852132422474882]).max() < 1e-9
    )


# -- orders of convergence ---------------------------------------------------------------------------------------------


def clamped_rod(support="clamp"):
    """Return a soft rod under gravity; `support`: how its start is attached to the ground."""
    model = Model("supported rod", gravity=(0.0, 1.0, -9.81))
    section = Section.circular(0.02, Material(E=1e5, nu=0.3, density=1000.0))
    rod = model.add_rod("rod", [(0, 0, 0), (0.6, 0, 0.1)], section, 4)
    if support == "driven frame":
        hub = model.add_driven("hub", turn=lambda t: t * t, axis=(0, 0, 1))
        model.add_joint("root", "weld", hub, rod.start, at=(0, 0, 0))
    elif support == "weld":
        model.add_joint("root", "weld", model.ground, rod.start, at=(0, 0, 0))
    elif support == "driven hinge":
        model.add_joint("root", "revolute", rod.start, model.ground, at=(0, 0, 0), axis=(0, 1, 0))
        model.add_drive("rotation", model.joints["root"], lambda t: t * t)
    else:
        model.add_joint("root", "clamp", rod.start, at=(0, 0, 0))
    if support == "clamp, body at the tip":
        tip = model.add_body("tip", Box(0.1, 0.1, 0.1, density=500), (0.6, 0, 0.1))
        model.add_joint("pin", "spherical", rod.end, tip, at=(0.6, 0, 0.1))
    return model


# End time, s; integrator and number of steps of the reference; coarser number of steps of each scheme. With more steps the
# errors of order 8 are as small as the round-off of velocities.
ORDERS = {
    top: (0.1, ("em8", 128), {"em": 64, "em4": 32, "em6": 24}),
    rod: (0.05, ("em8", 300), {"em": 320, "em4": 80, "em6": 60}),
    hinge: (0.5, ("em8", 24), {"em": 16, "em4": 8, "em6": 6, "em8": 3}),
    chain: (
        0.5,
        ("em8", 24),
        {"em": 16, "em4": 8, "em6": 6, "em8": 4, "em-ggl": 16, "em4-ggl": 12, "em6-ggl": 10},
    ),
    clamped_rod: (0.05, ("em8", 100), {"em4": 20, "em6": 20, "em8": 20}),
}
# largest deviation of the observed order; 0.1 for other schemes
ALLOWED = {"em8": 0.7, "em4-ggl": 0.15, "em6-ggl": 0.15}


@cache
def end_state(make, integrator, steps):
    """Return positions, quaternions, velocities and the joint velocity residual at the end of a run."""
    t_end = ORDERS[make][0]
    result = simulate(make(), t_end, t_end / steps, integrator, output_every=steps, progress=False)
    state = result.state()
    return state.r, state.quat, np.hstack([state.v, state.Omega]), result.velocity_residual[-1]


@pytest.mark.parametrize(
    ("make", "integrator"), [(make, name) for make, row in ORDERS.items() for name in row[2]]
)
def test_observed_order_is_the_declared_one(make, integrator):
    """Positions, rotations and velocities converge with the order, and so does the joint velocity residual at step ends."""
    _, reference, steps = ORDERS[make]
    exact = *end_state(make, *reference)[:3], 0.0
    ends = [end_state(make, integrator, n) for n in (steps[integrator], 2 * steps[integrator])]
    order = int(integrator[2]) if integrator[2:3].isdigit() else 2
    allowed = 0.4 if make is clamped_rod else ALLOWED.get(integrator, 0.1)
    for k, quantity in enumerate(("positions", "rotations", "velocities", "joints")):
        coarse, fine = (np.abs(end[k] - exact[k]).max() for end in ends)
        if make is top and quantity == "velocities":
            continue  # their errors are at round-off: 20 rad/s over a short time
        if quantity == "joints":
            assert max(coarse, fine) < 1e-11 or np.log2(coarse / fine) > order - allowed
        elif coarse > 0.0:
            assert np.log2(coarse / fine) == pytest.approx(order, abs=allowed), quantity


# order -> number of substeps in a step, without and with half substeps
FREE, JOINED = {2: 1, 4: 5, 6: 9, 8: 17}, {2: 1, 4: 10, 6: 18, 8: 34}
SUPPORTS_WITH_REFLECTION = ("driven frame", "driven hinge", "clamp, body at the tip")
SUBSTEPS = [(rod, False, FREE), (hinge, False, JOINED), (chain, True, FREE)]
SUBSTEPS += [(lambda support=support: clamped_rod(support), False, {4: 5}) for support in ("clamp", "weld")]
SUBSTEPS += [
    (lambda support=support: clamped_rod(support), False, {4: 10}) for support in SUPPORTS_WITH_REFLECTION
]


@pytest.mark.parametrize(("make", "hidden", "counts"), SUBSTEPS)
def test_substeps_form_a_symmetric_composition_of_the_declared_order(make, hidden, counts):
    """Fractions are symmetric and sum to 1; sums of their odd powers below the order vanish. Half substeps are not needed for a
    part clamped to the ground and for `em-ggl`, as neither reflects velocities.
    """
    built = make().build()
    for order, count in counts.items():
        values = {"drive_values": built.drive_values, "load_values": built.load_values}
        fractions = Stepper(built.system, 0.01, order, hidden=hidden, **values).fractions
        assert len(fractions) == count
        assert fractions.sum() == pytest.approx(1.0, abs=1e-15)
        assert np.array_equal(fractions, fractions[::-1])
        substeps = fractions if count % 2 else 2.0 * fractions[::2]
        assert count % 2 or np.array_equal(fractions[::2], fractions[1::2])
        for power in range(3, order, 2):
            assert abs(np.sum(substeps**power)) < 2e-15


def test_audit_repeats_steps_with_the_recorded_half_substeps():
    """Without the entry `halves`, as in files of older versions, the audit repeats steps with halves, and finds differences."""
    run = simulate(clamped_rod(), 0.04, 0.02, "em4", output_every=1, progress=False)
    assert not audit(run).step_recomputation.differences
    assert run.description["run"].pop("halves") is False
    assert audit(run).step_recomputation.differences


# -- single steps ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("make", [rod, slider, mean_flail])
def test_band_and_sparse_solver_agree_and_do_not_change_their_input(make, hidden):
    system, state = start_of(make())
    copy = [array.copy() for array in state]
    band, sparse = (
        Stepper(system, H, hidden=hidden, **options).advance(state, 0, 10)[0]
        for options in ({}, {"band_limit": 2})
    )
    assert np.abs(band.r - sparse.r).max() < 1e-12
    assert all(np.array_equal(a, b) for a, b in zip(state, copy, strict=True))


def test_em_is_time_reversible():
    system, state = start_of(rod())
    forward, _ = Stepper(system, H).advance(state, 0, 20)
    back, _ = Stepper(system, H).advance(forward._replace(v=-forward.v, Omega=-forward.Omega), 0, 20)
    assert np.abs(back.r - state.r).max() < 1e-10
    assert np.abs(np.abs(np.sum(back.quat * state.quat, axis=1)) - 1).max() < 1e-10


def test_rotation_of_the_initial_state_rotates_the_result():
    system, state = start_of(rod())
    g = quaternions.normalize([0.3, -0.5, 0.2, 0.8])
    moved = state._replace(
        r=quaternions.rotate(g, state.r),
        v=quaternions.rotate(g, state.v),
        quat=quaternions.multiply(g, state.quat),
    )
    original, after = (Stepper(system, H).advance(start, 0, 20)[0] for start in (state, moved))
    assert np.abs(quaternions.rotate(g, original.r) - after.r)[1:].max() < 1e-11


@pytest.mark.parametrize("order", [2, 4])
def test_em_ggl_without_joints_is_bitwise_em(order):
    system, state = start_of(rod())
    em, ggl = (Stepper(system, H, order, hidden=hidden).advance(state, 0, 5)[0] for hidden in (False, True))
    assert all(np.array_equal(a, b) for a, b in zip(em, ggl, strict=True))


def test_em_ggl_takes_about_as_many_newton_iterations_as_em():
    em, ggl = (
        simulate(chain(), 1.0, H, name, output_every=50, solver="general") for name in ("em", "em-ggl")
    )
    assert ggl.newton_iterations[-1] < 1.2 * em.newton_iterations[-1]


@pytest.mark.parametrize("kind", ["force", "moment"])
def test_body_at_rest_responds_to_its_first_load(kind):
    """The round-off level of a body at rest is known from its load alone. Exact: m v = F t, J omega = M t."""
    model = Model("ball")
    ball = model.add_body("ball", Sphere(0.1, density=1000))
    getattr(model, f"add_{kind}")("push", ball, (0.7, 0.2, -0.1))
    result = simulate(model, 0.01, 1e-3)
    mass, inertia = ball.properties.mass, ball.properties.inertia[0, 0]
    momentum = (
        result.body("ball").v[-1] * mass if kind == "force" else result.body("ball").omega[-1] * inertia
    )
    assert momentum == pytest.approx(np.array([0.7, 0.2, -0.1]) * 0.01, rel=1e-9)
    assert result.halvings.sum() == 0


def fast_chain():
    """Return system, state, h and steps of a chain 12 times faster than `chain`: steps of 5 H fail, their halves do not."""
    system, state = start_of(chain())
    system = system._replace(gravity=np.zeros(3))
    return system, state._replace(v=12 * state.v, Omega=12 * state.Omega), 5 * H, 20


def folding_flail():
    """Return system, state, h and steps; in the predicted step the relative rotation of an element's ends exceeds pi."""
    system, state = start_of(flail())
    spin = state.Omega.copy()
    spin[-1], spin[-2] = (0, 0, 60), (0, 0, -60)
    return system, state._replace(Omega=spin), 0.05, 2


@pytest.mark.parametrize("make", [fast_chain, folding_flail])
def test_failed_em_ggl_step_is_halved_and_conserves_the_energy(make):
    system, state, h, steps = make()
    energy = energies(system, state)
    after, report = Stepper(system, h, hidden=True).advance(State(*state), 0, steps)
    assert report.halvings > 0
    assert energies(system, after).total == pytest.approx(energy.total, abs=1e-10 * energy.kinetic)
    assert np.abs(velocity_residual(system, after)).max() < 1e-10
