"""Trees of bodies eliminated from the tips to the root: trajectories, forces, histories and invariants of the general solver."""

import numpy as np
import pytest

from discretization.solver_selection import select_stepper
from discretization.trees.loops import solve
from discretization.trees.spanning_tree import OTHER, find_kinematic_tree
from rigid.joints import JOINTS
from rodsim import (
    Box,
    ConvergenceError,
    Model,
    Result,
    SpringLaw,
    actuators,
    audit,
    measures,
    simulate,
)
from tests.support.mechanisms import (
    AXIS,
    JOINT_OPTIONS,
    branched,
    differences,
    joined,
    looped,
    without_older_history,
)
from tests.support.user_kinds import Triangle

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # welds across gaps, inconsistent velocities
H = 0.01


def loaded_tree():
    """Add loads, fixed and follower, and springs, a bushing and air drag on one body or along a joint."""
    model = branched()
    body = list(model.bodies.values())
    axis, ground = model.joints["joint 0"].axis, model.ground
    model.add_force("push", body[2].at((0.1, 0.2, 0.0)), lambda t: (30.0 * np.sin(12.0 * t), 0.0, 9.0))
    model.add_force("rocket", body[4].at((0.0, 0.2, 0.1)), (5.0, -3.0, 2.0), following=True)
    model.add_moment("twist", body[3].at((0, 0, 0)), (0.0, 3.0, 1.0), following=True)
    model.add_spring("spiral", ground, body[0], 20.0, damping=0.3, along="rotation", axis=axis)
    model.add_spring("cord", ground.at((1.0, 1.0, 1.0)), body[5].at((0.1, 0.1, 0.1)), 80.0)
    model.add_spring("along", body[0].at((0.1, 0.2, 0.1)), body[1].at((0.2, 0.1, 0.0)), 50.0, damping=0.2)
    model.add_bushing("bush", body[0], body[1], [90.0, 80.0, 70.0, 5.0, 4.0, 3.0], 0.1)
    model.add_mass_damping("air", body[6], 0.5, 0.3)
    return model


def heavy(kind):
    model = joined(kind)
    model.gravity = np.array([1.0, 2.0, -9.0])
    return model


def free():
    return branched(held=False, gravity=(0.0, 0.0, 0.0))


def run(model, steps, h=H, integrator="em", solver="auto", **options):
    """Run with the last output only, and assert that the tree solver was used unless another one is requested."""
    result = simulate(
        model, steps * h, h, integrator, solver=solver, progress=False, **{"output_every": steps} | options
    )
    assert result.description["run"].get("solver", "general").split(",")[0] == (
        "tree" if solver == "auto" else "general"
    )
    return result


def closed():
    model = branched()
    body = list(model.bodies.values())
    model.add_joint("loop", "distance", body[3].at((0, 0, 0)), body[7].at((0, 0, 0)))
    return model


def across():
    model = branched()
    body = list(model.bodies.values())
    model.add_spring("across", body[0].at((0, 0, 0)), body[7].at((0, 0, 0)), 10.0)
    return model


def with_couples(model, lossy=True):
    """Add couples of every kind beside the hinges between moving bodies, several beside the first; `lossy`: dampers, motors."""
    hinges = [
        joint
        for joint in model.joints.values()
        if joint.kind == "revolute" and model.ground not in (joint.a, joint.b)
    ]
    assert len(hinges) > 2

    def spring(name, joint):
        return model.add_spring(
            name, joint.a, joint.b, 8.0, damping=0.3 * lossy, along="rotation", axis=joint.axis
        )

    def law(name, joint):
        stiffening = SpringLaw.polynomial((0.0, 5.0, 0.0, 9.0))
        model.add_spring(name, joint.b, joint.a, stiffening, along="rotation", axis=joint.axis)

    def inertia(name, joint):
        model.add_inerter(name, measures.angle(joint.a, joint.b, joint.axis), 0.7)

    def moment(name, joint):
        model.add_measure_force(name, measures.angle(joint.b, joint.a, joint.axis), "2*sin(9*t)")

    def motor(name, joint):
        law = actuators.DCMotor(resistance=1.0, inductance=0.05, constant=2.0)
        model.add_actuator(name, law, joint, U="6*cos(5*t)")

    def damping(name, joint):
        model.add_joint_damping(name, joint, turning=0.4)

    kinds = (spring, law, inertia, moment, motor, damping)[: 6 if lossy else 4]
    for i, add in enumerate(kinds):
        add(f"couple {i}", hinges[0])
    for i, joint in enumerate(hinges[1:]):
        kinds[i % len(kinds)](f"beside {joint.name}", joint)
    return model


def hinges(*more, lossy=True):
    return with_couples(branched((*("revolute",) * 6, "universal", "revolute", *more)), lossy)


CASES = {
    **{f"joint {kind}": (lambda kind=kind: heavy(kind), "em", 0.005, 100) for kind in JOINTS},
    "branched": (branched, "em", H, 100),
    "branched, em4": (branched, "em4", H, 20),
    "branched, em6": (branched, "em6", H, 20),
    "free": (free, "em", H, 100),
    "loads and springs": (loaded_tree, "em", H, 100),
    # closed by each joint kind with a closed form, alone and combined, over sliders and a spring between branches
    "loops": (looped, "em", 0.004, 100),
    **{
        f"loops, {name}": (lambda: looped(("ball at the ground", "weld"), bridge=False), name, 0.02, 2)
        for name in ("em4", "em8")
    },
    "a loop through a distance": (closed, "em", 0.004, 100),
    "a loop through a spring": (across, "em", 0.004, 100),
    "a loop at the first body": (lambda: looped(("ball at a root",), bridge=False), "em", 0.004, 100),
}


@pytest.mark.parametrize("name", CASES)
def test_tree_motion_and_forces_equal_the_general_solver(name):
    make, integrator, h, steps = CASES[name]
    tree, general = (
        without_older_history(run(make(), steps, h, integrator, solver).state())
        for solver in ("auto", "general")
    )
    assert not differences(general, tree)


COUPLES = {
    "couples on hinges": (hinges, "em", H, 60),
    "couples on hinges, a slider": (lambda: hinges("prismatic", "revolute"), "em", 0.005, 60),
    "couples on hinges, em4": (lambda: hinges(lossy=False), "em4", H, 20),
    "couples in a loop": (
        lambda: with_couples(looped(("hinge", "ball, over others"), bridge=False)),
        "em",
        0.004,
        50,
    ),
}


@pytest.mark.parametrize("name", COUPLES)
def test_couples_on_hinges_of_a_tree_equal_the_general_solver(name):
    """Rates of inertances reverse from step to step, so that their round-off grows."""
    make, integrator, h, steps = COUPLES[name]
    tree, general = (
        without_older_history(run(make(), steps, h, integrator, solver).state())
        for solver in ("auto", "general")
    )
    assert all(size < 1e-10 for size in differences(general, tree).values())


CLOSED = {
    "spherical": 4.0,
    "revolute": 3.4,
    "universal": 3.9,
    "weld": 3.05,
}  # rotations of 0.1 to 0.3 rad per step
LOOPED = {  # rotations of 0.1 rad per step and more
    "ball at the ground": 28 / 8,
    "ball": 23 / 8,  # its slider is fast
    "hinge": 28 / 8,
    "universal": 30 / 8,
    "weld": 30 / 8,
    "ball at a root": 26 / 8,
    "ball, over others": 27 / 8,
    "ball, over a slider": 26 / 8,
}


def test_newton_converges_quadratically_with_couples_on_hinges():
    model = hinges()
    model.gravity = np.array([10.0, 20.0, -90.0])
    assert run(model, 40).newton_iterations[-1] <= 3.3


@pytest.mark.parametrize("name", [*CLOSED, *LOOPED])
def test_newton_converges_quadratically(name):
    """A wrong tangent anywhere takes more iterations per step."""
    if name in CLOSED:
        model = branched(("revolute", name, "revolute", name, name), gravity=(10.0, 20.0, -90.0))
        assert run(model, 40).newton_iterations[-1] <= CLOSED[name]
        return
    size, h = (3.0, 0.005) if name == "ball" else (20.0, 0.01)
    model = looped((name,), bridge=False, gravity=(size, 2.0 * size, -9.0 * size))
    result = run(model, 8, h)
    assert result.description["run"]["solver"].endswith("1 loop")
    assert result.newton_iterations[-1] <= LOOPED[name]


def body_on_joint(kind, reverse, parallel=()):
    """A heavy body on a joint of this kind, with its parts in either order, on an arm with a hinge to the ground. Joint forces,
    which rotate with their lever arms, are large. parallel: a bushing or a spring parallel to the joint.
    """
    model = Model("hung", gravity=(20.0, 40.0, -180.0))
    arm = model.add_body("arm", Box(0.6, 0.2, 0.3, density=100.0), position=(0.3, 0.0, 0.0))
    body = model.add_body(
        "body",
        Box(0.5, 0.3, 0.2, density=200.0),
        position=(0.8, 0.2, -0.1),
        orientation=(0.8, 0.2, -0.4, 0.4),
    )
    model.add_joint("shoulder", "revolute", model.ground, arm, at=(0, 0, 0), axis=(0.2, 1.0, 0.4))
    apart = JOINTS[kind].apart
    ends = (arm.at((0.2, 0.1, -0.1)), body.at((-0.1, 0.1, 0.05))) if apart else (arm, body)
    options = {"axis": AXIS.get(kind), **JOINT_OPTIONS.get(kind, {})} | (
        {} if apart else {"at": (0.6, 0.1, 0.05)}
    )
    model.add_joint("joint", kind, *(ends[::-1] if reverse else ends), **options)
    if "bushing" in parallel:
        model.add_bushing("bush", arm, body, [2e3, 3e3, 1e3, 20.0, 30.0, 10.0], 0.001)
    if "spring" in parallel:
        model.add_spring("spring", arm.at((0.3, 0.1, -0.1)), body.at((0.1, -0.1, 0.1)), 1e6)
    return model


SLOW = {
    "spherical": 3.95,
    "distance": 4.4,
    "universal": 3.6,
    "cylindrical": 3.6,
    "point_on_line": 4.1,
    "point_on_plane": 3.8,
    "constant_velocity": 3.55,
    "generic": 3.8,
}


def test_newton_converges_in_a_chain_with_parallel_bushings():
    """Joint forces are the unknowns; with the forces of the motion it takes 7 iterations and halves steps."""
    model = Model("chain", gravity=(0.0, 0.0, -9.81))
    last, rng = model.ground, np.random.default_rng(0)
    for k in range(10):
        spin = tuple(rng.standard_normal(3))
        shape = Box(0.3, 0.2, 0.1, density=100.0)
        body = model.add_body(f"body {k}", shape, position=(0.5 * k, 0, 0), angular_velocity=spin)
        model.add_joint(f"joint {k}", "revolute", last, body, at=(0.5 * k - 0.25, 0, 0), axis=(0, 1, 0.3 * k))
        if k:
            model.add_bushing(f"bushing {k}", last, body, [20.0, 20.0, 20.0, 1.0, 1.0, 1.0], 0.1)
        last = body
    result = run(model, 100)
    assert result.newton_iterations[-1] < 5.2
    assert not result.halvings.any()


@pytest.mark.parametrize("parallel", ["nothing", "bushing"])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("kind", [kind for kind in JOINTS if kind != "clamp"])
def test_newton_converges_quadratically_with_each_joint(kind, reverse, parallel):
    """In either order of parts, also with a parallel bushing, to the state of the general solver, which takes 4 to 6
    iterations.
    """
    tree, general = (
        run(body_on_joint(kind, reverse, parallel), 12, solver=solver) for solver in ("auto", "general")
    )
    assert tree.newton_iterations[-1] <= SLOW.get(kind, 3.3)
    assert not differences(without_older_history(general.state()), without_older_history(tree.state()))


def test_two_joints_between_two_bodies_may_have_opposite_order():
    """The rows are consecutive like those of a universal joint, with directions on different bodies."""

    def made():
        model = body_on_joint("spherical", False)
        model.add_joint(
            "twist", "generic", *reversed(model.bodies.values()), at=(0.6, 0.1, 0.05), locked=("rx",)
        )
        return model

    tree, general = (
        without_older_history(run(made(), 12, solver=solver).state()) for solver in ("auto", "general")
    )
    assert not differences(general, tree)


@pytest.mark.parametrize("kind", [kind for kind in JOINTS if kind != "clamp"])
def test_joint_forces_next_to_a_stiff_spring_equal_the_general_solver(kind):
    """The last correction, which no residual follows, is included with the spring forces on both bodies."""
    for h in (0.005, 0.008, 0.01):
        tree, general = (
            run(body_on_joint(kind, False, "spring"), 1, h, solver=solver).state().lam
            for solver in ("auto", "general")
        )
        assert np.abs(tree - general).max() <= 1e-11 * np.abs(general).max()


def test_hinge_moments_beside_a_stiff_torsion_spring_equal_the_general_solver():
    """As above, for a couple beside a hinge, across whose axis it acts as well."""

    def model():
        made = body_on_joint("revolute", False)
        joint = made.joints["joint"]
        skew = np.add(joint.axis, (0.3, -0.2, 0.1))
        made.add_spring("stiff", joint.a, joint.b, 1e5, along="rotation", axis=skew)
        return made

    for h in (0.005, 0.008, 0.01):
        tree, general = (run(model(), 1, h, solver=solver).state().lam for solver in ("auto", "general"))
        assert np.abs(tree - general).max() <= 1e-11 * np.abs(general).max()


def overloaded_tree():
    """A force with which no step has a solution."""
    model = branched(("revolute",) * 5)
    model.add_force("blow", model.bodies["body 4"], lambda t: (0.0, 1e16 if t > 0.3 else 0.0, 0.0))
    return model


@pytest.mark.parametrize("integrator", ["em", "em4"])
def test_failed_tree_run_ends_with_its_last_whole_step(integrator):
    """Bit-identical to a run that ends there; this includes forces, which are computed on request only."""
    with pytest.raises(ConvergenceError) as error:
        run(overloaded_tree(), 50, H, integrator)
    failed = error.value.result
    steps = int(failed.step[-1])
    assert 1 < steps < 50
    end = run(overloaded_tree(), steps, H, integrator).state()
    assert np.abs(end.lam).min() > 0.0
    for name, mine, other in zip(end._fields, failed.state(), end, strict=True):
        assert mine.tobytes() == other.tobytes(), name


def swing():
    """A board on two bars."""
    model = Model("swing", gravity=(0.0, 0.0, -10.0))
    board = model.add_body("board", Box(2.0, 0.5, 0.1, density=100.0), position=(0, 0, -1.0))
    for k, x in enumerate((-1.0, 1.0)):
        at = np.array((x, 0.2 * x, 0.0))
        bar = model.add_body(f"bar {k}", Box(0.1, 0.1, 1.0, density=100.0), position=at - (0, 0, 0.5))
        across = {"axis": (1, 0, 0), "second_axis": (0, 1, 0)}
        model.add_joint(f"top {k}", "universal", model.ground, bar, at=at, **across)
        model.add_joint(f"low {k}", "spherical", bar, board, at=at - (0, 0, 1.0))
    return model


def hanging():
    model, at = Model("rest", gravity=(0.0, 0.0, -9.81)), np.zeros(3)
    last = model.ground
    for k, kind in enumerate(("revolute", "spherical", "weld", "revolute")):
        body = model.add_body(f"body {k}", Box(0.2, 0.3, 1.0, density=300.0), position=at - (0, 0, 0.5))
        about = {"axis": (1, 0.5, 0)} if kind == "revolute" else {}
        model.add_joint(f"joint {k}", kind, last, body, at=at, **about)
        last, at = body, at - (0, 0, 1.0)
    return model


def clamped():
    model = Model("clamped", gravity=(3.0, -4.0, -10.0))
    body = model.add_body("body", Box(1.0, 2.0, 0.5, density=2.0))
    model.add_joint("clamp", "clamp", body, at=(0.5, 0, 0))
    return model


@pytest.mark.exact
@pytest.mark.parametrize("make", [swing, hanging, clamped])
def test_hanging_equilibrium_stays_bitwise_constant(make):
    """No iterations, no motion, the same forces; the correction of the first step is not added again."""
    result = run(make(), 50, output_every=1)
    assert result.newton_iterations[2:].tolist() == [0.0] * 49
    equilibrium_state = result.state(1)
    for name in ("r", "quat", "v", "Omega", "lam"):
        assert np.array_equal(getattr(result.state(), name), getattr(equilibrium_state, name)), name
    assert np.abs(equilibrium_state.r - result.state(0).r).max() < 1e-15
    if make is clamped:
        assert result.joint("clamp").force[1:] == pytest.approx(
            np.tile((6.0, -8.0, -20.0), (50, 1)), abs=1e-9
        )


def one_loop():
    return looped(("ball at the ground",), bridge=False)


@pytest.mark.parametrize(
    ("make", "steps", "h", "close"),
    [
        (lambda: branched(("revolute", "spherical", "revolute")), 10_000, H, 2e-13),
        (one_loop, 2000, 0.005, 1e-13 * 2000**0.5),
    ],
    ids=["tree", "loop"],
)
def test_energy_is_conserved_and_loops_stay_closed_over_many_steps(make, steps, h, close):
    """The residual of a step must not accumulate: as with the general solver the error is a random walk of round-off."""
    result = run(make(), steps, h, output_every=steps // 10)
    energy = result.energy["total"]
    assert np.abs(energy - energy[0]).max() < close * result.energy["kinetic"].max()
    assert result.constraint_residual[-1] < 1e-14
    assert result.halvings.sum() == 0


def test_free_tree_conserves_momenta_and_energy():
    result = run(free(), 100)
    for values, close in (
        (result.linear_momentum, 1e-12),
        (result.angular_momentum, 1e-12),
        (result.energy["total"], 1e-13),
    ):
        assert np.abs(values - values[0]).max() < close * np.abs(values[0]).max()


def slides():
    """Two bodies that slide, the second on the first, and never rotate; a spring that is oblique to the slide."""
    model = Model("slides", gravity=(0.0, 0.0, -9.81))
    cart = model.add_body("cart", Box(0.2, 0.1, 0.1, mass=1.0), (0.4, 0, 0), velocity=(3, 0, 0))
    model.add_joint("rail", "prismatic", model.ground, cart, at=(0.4, 0, 0), axis=(1, 0, 0))
    model.add_spring("coil", model.ground.at((0, 0.3, 0)), cart.at((0, 0, 0)), stiffness=2e3, length=0.1)
    lift = model.add_body("lift", Box(0.2, 0.1, 0.1, mass=0.5), (0.4, 0, 1), velocity=(3, 0, -2))
    model.add_joint("mast", "prismatic", cart, lift, at=(0.4, 0, 1), axis=(0, 0, 1))
    return model


def test_sliding_bodies_without_rotation_conserve_energy():
    """Newton's method has to account for displacements: after one correction the energy would be off by 4e-4."""
    result = run(slides(), 20, 0.02, output_every=1)
    energy = result.energy["total"]
    assert np.abs(energy - energy[0]).max() < 1e-13 * energy[0]


@pytest.mark.parametrize("coordinate", ["angle", "displacement"])
def test_strongly_stiffening_spring_conserves_energy(coordinate):
    """For F = k x^3 in steps of many periods corrections shrink to two thirds of each other, far from round-off: stopping at
    1e-3 would change the energy by a multiple of itself. The round-off is that of the spring, 1e-16 k reach^4 per step.
    """
    model, at = Model("stiffening"), (0, 0, 0)
    moving = {"angular_velocity": (0, 0.07, 0)} if coordinate == "angle" else {"velocity": (0.07, 0, 0)}
    body = model.add_body("bar", Box(1.0, 0.1, 0.1, mass=1.0), **moving)
    if coordinate == "angle":
        kind, axis, k, ends = "revolute", (0, 1, 0), 1e9, (model.ground, body)
    else:
        kind, axis, k, ends = "prismatic", (1, 0, 0), 1e10, (model.ground.at(at), body.at(at))
    model.add_joint("joint", kind, model.ground, body, at=at, axis=axis)
    law = SpringLaw.polynomial([0, 0, 0, k], reach=5e-3)
    along = "rotation" if coordinate == "angle" else "axis"
    model.add_spring("spring", *ends, law=law, along=along, axis=axis)
    result = run(model, 20, 0.05, output_every=1)
    assert result.newton_iterations.max() > 5.0  # it is slow
    energy = result.energy["total"]
    assert np.abs(energy - energy[0]).max() < 2e-11 * energy[0]


def tree_with_three_body_interaction():
    """A tree with one interaction of three bodies."""
    model = branched()
    first, second, third = list(model.bodies.values())[:3]
    model.add_interaction("among", Triangle, first, second, third, k=5.0, u=(1.0, 0.0, 0.0))
    return model


MARCHES = {
    "em": (branched, "em", "auto", "tree, 8 bodies"),
    "em4": (branched, "em4", "auto", "tree, 8 bodies"),
    "loads and springs": (loaded_tree, "em", "auto", "tree, 8 bodies"),
    "loops": (looped, "em", "auto", "tree, 36 bodies, 10 loops"),
    "acts on three bodies": (tree_with_three_body_interaction, "em", "auto", "tree, 8 bodies"),
    "general": (
        branched,
        "em",
        "general",
        None,
    ),  # as do runs of older files, which do not record their solver
}


@pytest.mark.parametrize("name", MARCHES)
def test_tree_run_resumes_bitwise_and_reports_its_solver(tmp_path, name):
    make, integrator, solver, solver_name = MARCHES[name]
    other = {"auto": "general", "general": "auto"}[solver]  # ignored when a run is resumed
    part, settings = tmp_path / "part.vtkhdf", {"output_every": 2, "progress": False}
    uninterrupted = simulate(make(), 0.2, H, integrator, solver=solver, **settings)
    simulate(make(), 0.1, H, integrator, output=part, solver=solver, **settings)
    resumed = simulate(make(), 0.2, H, integrator, output=part, resume=True, solver=other, **settings)
    for result in (uninterrupted, resumed, Result.load(part)):
        assert result.description["run"].get("solver") == solver_name
    assert all(np.array_equal(x, y) for x, y in zip(uninterrupted.state(), resumed.state(), strict=True))
    audit_report = audit(Result.load(part))
    assert audit_report.ok, audit_report.text()


def test_run_with_a_one_step_history_resumes_with_it(tmp_path, monkeypatch):
    """Older files have such a history."""
    path, original = tmp_path / "part.vtkhdf", select_stepper

    def older(*arguments, earlier, **options):
        return original(*arguments, earlier=False, **options)

    monkeypatch.setattr("rodsim.running.run.select_stepper", older)
    uninterrupted = simulate(branched(), 0.1, H, output_every=1)
    simulate(branched(), 0.05, H, output=path, output_every=1)
    monkeypatch.undo()
    assert "history" not in Result.load(path).description["run"]
    assert audit(Result.load(path)).ok
    resumed = simulate(branched(), 0.1, H, output=path, output_every=1, resume=True)
    assert all(np.array_equal(x, y) for x, y in zip(uninterrupted.state(), resumed.state(), strict=True))


def tree_with_contact():
    model = branched()
    ball = model.add_sphere("ball", list(model.bodies.values())[7], 0.1)
    floor = model.add_plane("floor", model.ground.at((0, 0, -5.0)), (0, 0, 1))
    model.add_contact("contact", ball, floor, stiffness=1e4)
    return model


def ring_of_rods():
    """Bodies at fixed distances: the ring has no closed form."""
    model = Model("ring")
    positions = [(0.0, 0.0, 1.0), (1.0, 0.2, 1.0), (0.3, 1.0, 1.2)]
    bodies = [
        model.add_body(f"body {k}", Box(0.3, 0.2, 0.1, density=100.0), position=p)
        for k, p in enumerate(positions)
    ]
    for k in range(3):
        one, other = bodies[k].at((0.1, 0, 0)), bodies[k - 1].at((0, 0.1, 0))
        model.add_joint(f"rod {k}", "distance", one, other)
    return model


def four_bars():
    """Parallel hinges, which are redundant."""
    model = Model("four-bar", gravity=(1.0, 0.3, -9.0))
    at = [np.array(p) for p in ((0, 0, 0), (0, 0, 1.0), (1.5, 0, 1.2), (1.5, 0, 0))]
    last = model.ground
    for k in range(4):
        bar = model.ground
        if k < 3:
            shape = Box(1, 0.1, 0.1, density=100)
            bar = model.add_body(f"bar {k}", shape, position=0.5 * (at[k] + at[(k + 1) % 4]))
        model.add_joint(f"pin {k}", "revolute", last, bar, at=at[k], axis=(0, 1, 0))
        last = bar
    return model


REFUSED = {
    "a ring of rods": ring_of_rods,
    "contacts": tree_with_contact,
    "joints that repeat each other": four_bars,
}


@pytest.mark.parametrize("case", REFUSED)
def test_non_trees_use_the_general_solver(case):
    assert "solver" not in simulate(REFUSED[case](), 2 * H, H, progress=False).description["run"]


@pytest.mark.parametrize("integrator", ["em-ggl", "em-d(0.8)"])
def test_other_integrators_use_the_general_solver(integrator):
    assert "solver" not in simulate(branched(), 2 * H, H, integrator, progress=False).description["run"]


def test_loop_matrix_is_solved_with_row_exchanges_within_its_band():
    rng = np.random.default_rng(2)
    low = np.array([2, 2, 2, 5, 5, 5, 7, 7])
    matrix = np.array(
        [[rng.standard_normal() * (c <= low[r] and r <= low[c]) for c in range(8)] for r in range(8)]
    )
    matrix[0, 0] = matrix[3, 3] = 0.0
    matrix *= 10.0 ** rng.uniform(-6.0, 6.0, (8, 1))
    for wide in (low, np.full(8, 7)):
        for singular in (False, True):
            copy, x = matrix.copy(), rng.standard_normal(8)
            copy[4] = copy[3] if singular else copy[4]
            expected = np.linalg.solve(matrix, x)
            failed = solve(copy, x, (np.zeros(8), np.zeros(8), np.zeros(8, np.int64)), wide)
            assert failed == singular
            if singular:
                assert np.isinf(x).all()
            else:
                np.testing.assert_allclose(x, expected, rtol=1e-11)


def test_skew_axes_have_no_closed_form():
    """Rows of a weld with non-orthogonal directions impose the same constraint, with other multipliers."""
    system = branched(("weld", "weld")).build().system
    Ua = system.constraints.Ua.copy()
    Ua[1] = (Ua[1] + 0.1 * Ua[2]) / np.linalg.norm(Ua[1] + 0.1 * Ua[2])
    left_handed = system.constraints.Ub.copy()
    left_handed[1:4] *= -1.0
    for columns in ({"Ua": Ua}, {"Ub": left_handed}, {"value": 0.1 + system.constraints.value}):
        other = system._replace(constraints=system.constraints._replace(**columns))
        assert find_kinematic_tree(other).kind[0] == OTHER
