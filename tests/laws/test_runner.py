"""Laws of `Runner`: its steps are those of `simulate`, bit by bit, for any division into calls."""

import copy
import math
import pickle
import signal
import warnings

import numpy as np
import pytest

from examples.cart_pole import swing_up
from rodsim import (
    Adaptive,
    Box,
    ConvergenceError,
    DistanceBelow,
    Material,
    Model,
    ModelError,
    Section,
    audit,
    controllers,
    measures,
    signals,
    simulate,
)

DT, STEPS = 0.01, 30
RUBBER = Section.circular(0.02, Material(E=2e6, nu=0.45, density=1100.0))


def torque(t):
    """Return the torque of the tests at a time, N m."""
    return 0.3 * math.sin(3.0 * t) + 0.1


def by_time(t, h, measured, memory, outputs):
    """Write the torque; memory: as that of an external output, whether it was set."""
    outputs[0], memory[0] = torque(t), 1.0


def free(model):
    """Add a free body that spins; return it."""
    return model.add_body("body", Box(0.3, 0.2, 0.1, mass=1.0), angular_velocity=(1.0, 2.0, 3.0))


def chain(model, axis=(0, 0, 1), n=3):
    """Add bars on hinges under gravity; return the first one."""
    bodies = []
    for k in range(n):
        bodies.append(model.add_body(f"bar {k}", Box(1.0, 0.1, 0.1, mass=1.0), position=(k + 0.5, 0, 0)))
        model.add_joint(
            f"hinge {k}", "revolute", bodies[-2] if k else "ground", bodies[-1], at=(k, 0, 0), axis=axis
        )
    return bodies[0]


def cord(model):
    """Add a clamped rod; return its end."""
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], RUBBER, 6)
    model.add_joint("clamp", "clamp", rod.start)
    return rod.end


def balls(model):
    """Add two balls that collide; return the first one."""
    spheres = []
    for k in range(2):
        ball = model.add_body(
            f"ball {k}", Box(0.1, 0.1, 0.1, mass=1.0), (0, 0, 0.25 * k), velocity=(0, 0.1, 0.5 - k)
        )
        spheres.append(model.add_sphere(f"surface {k}", ball, 0.1))
    model.add_contact("touch", spheres, stiffness=4000.0, restitution=0.8, friction=0.3)
    return model.bodies["ball 0"]


# parts, settings of `simulate`, solver in the description of the result
CASES = {
    "body": (free, {}, "tree, 1 body"),
    "planar": (chain, {}, "planar"),
    "tree": (lambda model: chain(model, (0, 0.6, 0.8)), {}, "tree, 3 bodies"),
    "general": (cord, {"solver": "general"}, None),
    "contact": (balls, {}, None),
    "em4": (chain, {"integrator": "em4"}, "planar"),
    "em-ggl": (lambda model: chain(model, (0, 0.6, 0.8)), {"integrator": "em-ggl"}, None),
    "em-d": (cord, {"integrator": "em-d(0.8)"}, None),
    "chart": (chain, {"integrator": "GGL-EM"}, None),
}


def driven(case, law, **settings):
    """Return a model whose first part a controller turns, and the settings of its runs."""
    make, of_case, _ = CASES[case]
    model = Model(case, gravity=(0, -9.81, 0))
    part = make(model)
    hand = model.add_controller("hand", law, **settings)
    model.add_moment("torque", part, hand.output().along((0, 0, 1)))
    return model, of_case


def same(one, other):
    """Return whether two states are equal bit by bit."""
    return all(np.array_equal(x, y) for x, y in zip(one, other, strict=True))


@pytest.mark.parametrize("case", CASES)
def test_steps_with_external_outputs_are_those_of_a_controller(case):
    model, settings = driven(case, by_time, memory=(0.0,))
    result = simulate(model, STEPS * DT, DT, output_every=1, progress=False, **settings)
    assert result.description["run"].get("solver") == CASES[case][2]
    model, settings = driven(case, controllers.External(torque(0.0)))
    runner = model.prepare(dt=DT).runner(**settings)
    assert runner.controls == ("hand.u",)
    for k in range(STEPS):
        assert runner.t == k * DT
        runner.advance(controls={"hand.u": torque(runner.t)} if k % 2 else [torque(runner.t)])
        assert same(runner.state, result.state(k + 1))
    assert runner.step == STEPS


@pytest.mark.parametrize("case", CASES)
def test_controls_are_held_and_steps_may_be_divided_in_any_way(case):
    model, settings = driven(case, controllers.External(0.4))
    result = simulate(model, STEPS * DT, DT, output_every=1, progress=False, **settings)
    runner = model.prepare(t_end=STEPS * DT, dt=DT).runner(**settings)
    for n in (1, 3, 1, 7, 3, STEPS - 15):
        runner.advance(n)
        assert same(runner.state, result.state(runner.step))
    runner.reset()
    assert runner.t == 0.0
    runner.advance(STEPS - 5, {"hand.u": 0.4})
    before, t = runner.state, runner.t
    runner.advance(5, {"hand.u": -0.2})
    assert not same(runner.state, result.state())
    runner.restore(before, t)
    assert runner.output("hand.u") == 0.4
    runner.advance(5)
    assert same(runner.state, result.state())


@pytest.mark.parametrize("case", CASES)
def test_controllers_are_sampled_inside_an_advance(case):
    model, settings = driven(case, by_time, memory=(0.0,), period=2 * DT)
    result = simulate(model, 12 * DT, DT, output_every=1, progress=False, **settings)
    runner = model.prepare(dt=DT).runner(**settings)
    for n in (1, 4, 7):
        runner.advance(n)
        assert same(runner.state, result.state(runner.step))


def loaded():
    """Return a model with loads and a drive that vary with time, and jump inside steps."""
    model = Model("loaded", gravity=(0, 0, -9.81))
    end = cord(model)
    model.add_force("sine", end, signals.Sine(0.1, 2.0).along((0, 1, 0)))
    model.add_force("pulse", end, signals.Pulse(0.3, 0.0033, 0.1177).along((0, 0, 1)))
    arm = model.add_body("arm", Box(0.4, 0.1, 0.1, mass=1.0), (2.2, 0, 0))
    model.add_joint("hinge", "revolute", "ground", arm, at=(2, 0, 0), axis=(0, 0, 1))
    model.add_drive("drive", "hinge", signals.SmoothStep(0.5, 0.05, 0.2))
    return model


@pytest.mark.parametrize("solver", ["auto", "general"])
def test_loads_and_drives_of_time_are_those_of_simulate(solver):
    n = 150
    result = simulate(loaded(), n * DT, DT, solver=solver, output_every=1, progress=False)
    runner = loaded().prepare(dt=DT).runner(solver=solver)
    for k in range(n):
        runner.advance()
        assert same(runner.state, result.state(k + 1)), k
    runner.reset()
    runner.advance(n)
    assert same(runner.state, result.state())


def test_drives_alone_vary_with_time():
    def turned():
        model = Model("turned")
        chain(model, n=2)
        model.add_drive("drive", "hinge 0", signals.SmoothStep(0.5, 0.05, 0.2))
        return model

    result = simulate(turned(), 0.3, DT, output_every=1, progress=False)
    assert np.abs(result.state().r[1] - result.state(0).r[1]).max() > 0.1
    runner = turned().prepare(dt=DT).runner()
    for k in range(30):
        runner.advance()
        assert same(runner.state, result.state(k + 1))


def test_a_load_that_is_not_defined_at_a_later_time_fails_there():
    model = Model("root")
    model.add_force("push", free(model), signals.Expression("sqrt(0.2 - t)").along((1, 0, 0)))
    runner = model.prepare(dt=DT).runner()
    for _ in range(20):
        runner.advance()
    before = runner.state
    with (
        pytest.raises(ModelError, match=r"is not a finite number at t = 0\.205"),
        np.errstate(all="ignore"),
    ):
        runner.advance()
    assert same(runner.state, before)
    assert runner.step == 20


def test_a_function_of_python_is_called_in_the_step_in_which_it_acts():
    called = []

    def push(t):
        called.append(t)
        return (0.0, 0.0, push.factor * t)

    push.factor = 1.0
    model = Model("pushed")
    model.add_force("push", free(model), push)
    runner = model.prepare(dt=DT).runner()
    called.clear()
    for k in range(3):
        runner.advance()
        assert np.ravel(called) == pytest.approx([(k + 0.5) * DT])
        called.clear()
    before, t = runner.state, runner.t
    runner.advance()
    after = runner.state
    push.factor = 2.0
    runner.restore(before, t)
    runner.advance()
    assert not same(runner.state, after)


def test_sensors_are_those_of_the_result():
    def spinning():
        model = Model("wheel")
        wheel = model.add_body("wheel", Box(0.2, 0.2, 0.05, mass=1.0), angular_velocity=(0, 0, 9.0))
        model.add_joint("axle", "revolute", "ground", wheel, at=(0, 0, 0), axis=(0, 0, 1))
        model.add_sensor("height", measures.coordinate(wheel.at((0.1, 0, 0)), axis=(0, 1, 0)))
        model.add_sensor("angle", measures.angle("ground", wheel, axis=(0, 0, 1)))
        model.add_sensor("energy", measures.energy("kinetic"))
        return model

    result = simulate(spinning(), 2.0, 0.02, output_every=10, progress=False)
    runner = spinning().prepare(dt=0.02).runner()
    first = runner.sensors
    unchanged = first.copy()
    for k in range(1, 11):
        runner.advance(10)
        for row, name in enumerate(("height", "angle")):
            history = result.sensor(name)
            assert runner.sensors[row].tolist() == [history.value[k], history.rate[k]]
            assert runner.sensor(name) == history.value[k]
            assert runner.sensor(f"{name}.rate") == history.rate[k]
        assert runner.sensor("energy") == result.sensor("energy").value[k]
    assert runner.sensor("angle") > 4 * np.pi
    with pytest.raises(ModelError, match="runner: energy 'energy' is measured by value alone"):
        runner.sensor("energy.rate")
    assert np.array_equal(first, unchanged)


def test_states_are_copies():
    runner = driven("tree", controllers.External())[0].prepare(dt=DT).runner()
    before = runner.state
    unchanged = copy.deepcopy(before)
    runner.advance(5)
    assert same(before, unchanged)
    after = runner.state
    for array in after:
        array[...] = 17.0
    runner.restore(unchanged, 0.0)
    runner.advance(5)
    assert not same(runner.state, after)


@pytest.mark.parametrize("case", ["body", "tree", "contact", "chart"])
def test_reset_begins_as_simulate_with_start_does(case):
    model, settings = driven(case, controllers.External(0.2))
    source = simulate(model, 0.2, DT, output_every=1, progress=False, **settings)
    runner = model.prepare(dt=DT).runner(**settings)
    runner.advance(3, {"hand.u": 5.0})
    for start in ({"start": source}, {"start": source, "start_time": 0.1}, {"start": source.state(5)}):
        expected = simulate(model, 0.1, DT, output_every=1, progress=False, **start, **settings)
        for _ in range(2):
            runner.reset(**start)
            assert same(runner.state[:4], expected.state(0)[:4])
            runner.advance(10)
            assert same(runner.state, expected.state())
        runner.reset()  # again from this start
        runner.advance(10)
        assert same(runner.state, expected.state())


def test_a_drive_starts_from_the_coordinate_of_its_joint_after_a_reset():
    source = simulate(loaded(), 0.1, DT, progress=False)
    expected = simulate(loaded(), 0.1, DT, start=source, progress=False)
    runner = loaded().prepare(dt=DT).runner()
    runner.advance(7)
    runner.reset(source)
    runner.advance(10)
    assert same(runner.state, expected.state())


def test_a_sample_is_due_at_once_after_a_reset_to_a_state():
    model = driven("planar", by_time, memory=(0.0,), period=0.1)[0]
    runner = model.prepare(dt=0.05).runner()
    runner.advance(3)
    runner.reset(runner.state)
    runner.advance()
    assert runner.output("hand.u") == torque(0.0)


def test_outputs_keep_their_initial_values_in_simulate():
    held, constant = Model("held"), Model("constant")
    hand = held.add_controller("hand", controllers.External([0.2, -0.4]), outputs=("x", "y"))
    for axis, name, value in (((1, 0, 0), "x", 0.2), ((0, 1, 0), "y", -0.4)):
        for model, moment in ((held, hand.output(name).along(axis)), (constant, value * np.array(axis))):
            part = model.bodies.get("body") or free(model)
            model.add_moment(name, part, moment)
    results = [simulate(model, 1.0, DT, progress=False) for model in (held, constant)]
    assert same(*(result.state()[:4] for result in results))
    assert results[0].controller("hand").output("y")[1:].tolist() == [-0.4] * (len(results[0].t) - 1)
    assert audit(results[0]).ok
    adaptive = simulate(held, 1.0, Adaptive(1e-5, output_dt=0.1), progress=False)
    assert adaptive.state().r == pytest.approx(results[0].state().r, abs=1e-4)


def test_an_output_of_zero_is_not_a_load_that_steps_miss():
    model = Model("idle")
    chain(model)
    model.add_joint_force("motor", "hinge 0", model.add_controller("hand", controllers.External()).output())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        simulate(model, 0.05, DT, progress=False)


def test_a_run_that_starts_from_a_state_of_a_runner_holds_its_controls():
    model, _ = driven("tree", controllers.External())
    runner = model.prepare(dt=DT).runner()
    runner.advance(10, {"hand.u": 2.0})
    result = simulate(model, 0.1, DT, start=runner.state, progress=False)
    assert result.controller("hand").output()[-1] == 2.0
    runner.reset(runner.state)
    assert runner.output("hand.u") == 2.0
    runner.advance(10)
    assert same(runner.state, result.state())


@pytest.mark.parametrize("case", ["general", "tree", "contact", "chart"])
def test_a_failed_step_leaves_the_last_good_state(case):
    model, settings = driven(case, controllers.External())
    runner = model.prepare(dt=DT).runner(**settings)
    runner.advance(4)
    with pytest.raises(ConvergenceError) as failure, np.errstate(all="ignore"):
        runner.advance(5, {"hand.u": 1e200})
    assert failure.value.t == pytest.approx(runner.t)
    assert runner.step == failure.value.reached.step
    assert same(runner.state, failure.value.reached.state)
    runner.advance(2, {"hand.u": 0.0})
    assert np.isfinite(runner.state.r).all()


@pytest.mark.parametrize("case", ["planar", "general", "contact", "chart"])
def test_a_failing_controller_ends_the_advance(case):
    def failing(t, h, measured, memory, outputs):
        if t > 4.5 * DT:
            raise ValueError("no force left")

    model, settings = driven(case, failing)
    runner = model.prepare(dt=DT).runner(**settings)
    with pytest.raises(ConvergenceError, match="raised ValueError: no force left") as failure:
        runner.advance(20)
    assert isinstance(failure.value.__cause__, ValueError)
    assert runner.step == 5
    assert same(runner.state, failure.value.reached.state)


def test_an_interrupt_inside_a_controller_ends_the_advance():
    samples = []

    def interrupted(t, h, measured, memory, outputs):
        if t > 4.5 * DT and not samples:
            samples.append(t)
            raise KeyboardInterrupt

    runner = driven("planar", interrupted)[0].prepare(dt=DT).runner()
    with pytest.raises(ConvergenceError) as failure:
        runner.advance(20)
    assert isinstance(failure.value.__cause__, KeyboardInterrupt)
    assert runner.step == 5


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer that interrupts")
def test_an_interrupted_advance_ends_after_a_whole_step():
    runner = driven("body", controllers.External(0.1))[0].prepare(dt=1e-3).runner()
    runner.advance()  # compiled
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(KeyboardInterrupt):
            runner.advance(10**9)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert runner.step > 1000
    state, step = runner.state, runner.step
    runner.reset()
    runner.advance(step)
    assert same(runner.state, state)


@pytest.mark.parametrize("solver", ["auto", "general"])
def test_halved_steps_are_those_of_simulate(solver):
    def tossed():
        model = Model("tossed", gravity=(0, 0, -9.81))
        model.add_force("jerk", cord(model), (0, 0, 10.0))
        return model

    result = simulate(tossed(), 1.0, 0.1, solver=solver, output_every=1, progress=False)
    assert result.halvings.sum() > 5
    runner = tossed().prepare(dt=0.1).runner(solver=solver)
    for k in range(3):
        runner.advance()
        assert same(runner.state, result.state(k + 1))
    runner.advance(7)
    assert same(runner.state, result.state())


def test_bad_input_is_refused_and_changes_nothing():
    model, _ = driven("tree", controllers.External())
    model.add_sensor("x", measures.coordinate("bar 0", axis=(1, 0, 0)))
    prepared = model.prepare(dt=DT)
    runner = prepared.runner()
    runner.advance(2, {"hand.u": 0.5})
    before = runner.state
    cases = [
        (lambda: runner.advance(0), "n = 0"),
        (lambda: runner.advance(1.5), "n = 1.5"),
        (lambda: runner.advance(1, {"hand": 1.0}), "there is no control 'hand'. The controls are hand.u"),
        (lambda: runner.advance(1, {"hand.u": math.nan}), "control 'hand.u' = nan"),
        (lambda: runner.advance(1, {"hand.u": "fast"}), "control 'hand.u' = 'fast'"),
        (lambda: runner.advance(1, [1.0, 2.0]), "controls"),
        (lambda: runner.advance(1, [math.inf]), "controls"),
        (lambda: runner.advance(1, np.array([math.nan])), "controls"),
        (lambda: runner.advance(1, ["fast"]), "controls"),
        (lambda: runner.sensor("y"), "there is no sensor 'y'. The sensors are x"),
        (lambda: runner.output("hand.v"), "there is no output 'hand.v'. The outputs are hand.u"),
        (lambda: runner.restore(before, 0.013), "t = 0.013 s is not the end of a step"),
        (lambda: runner.restore(before, -DT), "t = -0.01"),
        (lambda: runner.restore(before._replace(r=before.r[:-1]), DT), "State.r has shape"),
        (lambda: runner.restore(before._replace(v=before.v * math.nan), DT), "the state is not finite"),
        (lambda: runner.reset("nowhere.vtkhdf"), "nowhere"),
        (lambda: runner.reset(start_time=1.0), "has no meaning without start"),
        (lambda: prepared.runner(dt=Adaptive(1e-3)), "Adaptive"),
        (lambda: model.prepare().runner(), "dt is missing"),
        (lambda: prepared.runner(output="a.vtkhdf"), "a Runner stores no outputs"),
        (lambda: prepared.runner(events=[DistanceBelow("bar 0", "bar 2", 0.1)]), "events = "),
        (lambda: prepared.runner(speed=3), "there is no setting 'speed'"),
        (lambda: prepared.runner({"bodies.nobody.velocity": (0, 0, 0)}), "nobody"),
        (lambda: model.add_controller("two", controllers.External([1.0, 2.0])), "2 values for 1 outputs"),
        (lambda: model.add_controller("seeing", controllers.External(), ["x"]), "External reads no inputs"),
        (lambda: controllers.External(math.inf), "External: initial"),
    ]
    for call, words in cases:
        with pytest.raises((ModelError, OSError)) as refusal:
            call()
        assert words in str(refusal.value), str(refusal.value)
        assert same(runner.state, before)
        assert runner.step == 2
    for store in (pickle.dumps, copy.copy):
        with pytest.raises(TypeError, match="a Runner cannot be pickled"):
            store(runner)


def test_controls_are_in_the_order_of_their_names():
    model = Model("several")
    part = free(model)
    model.add_sensor("x", measures.coordinate(part, axis=(1, 0, 0)))
    model.add_controller("first", controllers.External([1.0, 2.0]), outputs=("a", "b"))
    model.add_controller("pid", controllers.PID(kp=1.0, target=4.0), ["x"])
    model.add_controller("second", controllers.External(), outputs="c")
    runner = model.prepare(dt=DT).runner()
    names = ("first.a", "first.b", "second.c")
    assert runner.controls == names
    assert [runner.output(name) for name in names] == [1.0, 2.0, 0.0]
    runner.advance(1, [5, 6, 7])
    assert [runner.output(name) for name in (*names, "pid.u")] == [5.0, 6.0, 7.0, 4.0]
    runner.advance(1, {"second.c": 8, "first.a": 9.0})
    assert [runner.output(name) for name in names] == [9.0, 6.0, 8.0]


def test_a_model_without_external_outputs_has_no_controls():
    model = Model("free")
    free(model)
    runner = model.prepare(dt=DT).runner()
    assert runner.controls == ()
    assert runner.sensors.shape == (0, 2)
    with pytest.raises(ModelError, match=r"add a controller with the law controllers\.External"):
        runner.advance(controls={"u": 1.0})


def test_changed_numbers_are_those_of_the_runner():
    model, _ = driven("tree", controllers.External())
    prepared = model.prepare(t_end=0.1, dt=DT)
    changes = {"gravity": (0, -1.62, 0)}
    runner = prepared.runner(changes)
    runner.advance(10)
    assert same(runner.state, prepared.run(changes).state())


SCENE = """
name: held
run: {t_end: 1.0, dt: 0.01}
bodies:
  - name: block
    shape: {type: box, size: [1, 1, 1], mass: 2.0}
controllers:
  - name: hand
    law: {type: external, initial: [0.5, 3.0]}
    outputs: [x, y]
loads:
  - name: push
    kind: force
    "on": block
    value: {function: output, controller: hand, output: y, direction: [1, 0, 0]}
"""


def test_a_scene_has_external_outputs(tmp_path):
    path = tmp_path / "held.yaml"
    path.write_text(SCENE)
    model = Model.load(path)
    for one in (model, Model.load(model.save(tmp_path / "again.yaml"))):
        runner = one.prepare(dt=DT).runner()
        assert runner.controls == ("hand.x", "hand.y")
        assert runner.output("hand.x") == 0.5
        runner.advance(50)
        assert runner.state.r[1, 0] == pytest.approx(0.5 * 1.5 * 0.5**2, abs=1e-14)
        runner.advance(50, {"hand.y": -3.0})
        assert runner.state.v[1] == pytest.approx([0, 0, 0], abs=1e-13)


def test_a_loop_swings_a_pole_up_and_balances_it():
    t, x, phi, _ = swing_up().T
    assert abs(phi[0]) > 3.1
    upright = t > 7.5
    assert np.abs(phi[upright]).max() < 5e-3
    assert np.abs(x[upright]).max() < 0.05
