"""`error=` in place of `dt=`: achieved and requested error, invariants, step ends, and bit-identical resumption."""

from functools import cache

import numpy as np
import pytest

from discretization.state_measures import energies
from discretization.time.adaptive import (
    LARGEST,
    N_CONTROL,
    SMALLEST,
    STEP,
    STEPS,
    AdaptiveStepper,
)
from discretization.time.stepper import Stepper
from discretization.time.stepper_base import Failure, MarchResult, Report
from rigid.errors import ConvergenceError, ModelError
from rodsim import Adaptive, Box, ContactBegins, Material, Model, Result, Section, Sphere, audit, simulate
from rodsim.cli.main import main
from tests.support.joined_bodies import chain

pytestmark = pytest.mark.filterwarnings("ignore::rodsim.warnings.InitialVelocityWarning")


def pendulum():
    """A bar of 1 m that falls from a level position, without a plane of symmetry; slow at the top, fast at the bottom."""
    model = Model("pendulum", gravity=(0, 0, -9.81))
    bar = model.add_body("bar", Box(1, 0.1, 0.2, density=1000), position=(0.5, 0, 0))
    model.add_joint("pin", "revolute", model.ground, bar, at=(0, 0, 0), axis=(0, 1, 0))
    return model


def top():
    """A free asymmetric body that flips."""
    model = Model("top")
    model.add_body("body", Box(0.3, 0.2, 0.1, density=1000), angular_velocity=(0.1, 5.0, 0.1))
    return model


def cantilever(E=1e5):
    model = Model("cantilever", gravity=(0.0, 1.0, -9.81))
    section = Section.circular(0.02, Material(E=E, nu=0.3, density=1000.0))
    rod = model.add_rod("rod", [(0, 0, 0), (0.6, 0, 0.1)], section, 4)
    model.add_joint("root", "clamp", rod.start)
    return model


def bar_on_driven_hub():
    """A bar on a driven hub under a time-dependent force and air damping."""
    model = Model("shaken", gravity=(0, 0, -9.81))
    hub = model.add_driven("hub", turn=lambda t: 2.0 * np.sin(3.0 * t), axis=(0, 0, 1))
    bar = model.add_body("bar", Box(0.5, 0.05, 0.1, density=1000), position=(0.25, 0, 0))
    model.add_joint("pin", "revolute", hub, bar, at=(0, 0, 0), axis=(0, 1, 0))
    model.add_force("pull", bar.at_world((0.5, 0, 0)), lambda t: np.array([0.0, 0.0, 30.0 * np.sin(8.0 * t)]))
    return model


MODELS = {
    "pendulum": (pendulum, 2.0),
    "top": (top, 4.0),
    "chain": (chain, 1.0),
    "cantilever": (cantilever, 0.3),
}
MODELS["shaken"] = bar_on_driven_hub, 1.0
OUTPUTS = 20


def run(name, error, integrator="em", **options):
    """Use fewer outputs at high orders, where outputs would determine the steps."""
    (model, t_end), high = MODELS[name], integrator[2:3].isdigit()
    return simulate(
        model(),
        t_end,
        Adaptive(error, output_dt=t_end / OUTPUTS * (4 if high else 1)),
        integrator=integrator,
        **options,
    )


@cache
def exact(name):
    model, t_end = MODELS[name]
    steps = 20 if name == "shaken" else 50  # only at outputs; drives are Python functions
    return simulate(model(), t_end, t_end / OUTPUTS / steps, "em8", output_every=steps)


def achieved_error(result, name):
    """Largest frame error at an output, relative to the model size; rotations count by the radius of gyration."""
    frames, worst = result.layout.system.frames, 0.0
    moving = frames.fixed == 0
    k = np.where(moving, np.sqrt(np.trace(frames.inertia, axis1=1, axis2=2) / (2.0 * frames.mass)), 0.0)
    for i in range(result.n_outputs):
        a, b = result.state(i), exact(name).state(i * OUTPUTS // (result.n_outputs - 1))
        turned = np.minimum(np.linalg.norm(a.quat - b.quat, axis=1), np.linalg.norm(a.quat + b.quat, axis=1))
        worst = max(worst, float(np.max(np.linalg.norm(a.r - b.r, axis=1) + 2.0 * k * turned)))
    return worst / result.description["run"]["error_size"]


@pytest.mark.parametrize(
    ("name", "integrator", "error"),
    [
        ("pendulum", "em", 1e-2),
        ("pendulum", "em", 1e-4),
        ("pendulum", "em-ggl", 1e-3),
        ("pendulum", "em6", 1e-8),
        ("top", "em", 1e-3),
        ("chain", "em", 1e-3),
        ("chain", "em-ggl", 1e-3),
        ("chain", "em4", 1e-9),
        ("cantilever", "em", 1e-3),
        ("cantilever", "em4", 1e-6),
        ("shaken", "em", 1e-4),
    ],
)
def test_achieved_error_is_the_requested_one(name, integrator, error):
    """Within a factor of 1.5 above and 10 below: windows aim at half of their budget."""
    result = run(name, error, integrator)
    assert 0.1 * error < achieved_error(result, name) < 1.5 * error
    assert 0.1 * error < result.steps.error[-1] < error  # its own estimate


def test_quaternions_of_both_signs_are_equal_orientations():
    built = pendulum().build()
    stepper = AdaptiveStepper(Stepper(built.system, 0.1), built.system, 0.1, 2, 0.1, 1.0, 1.0)
    assert stepper._distance(built.state, built.state._replace(quat=-built.state.quat)) == 0.0


def bob():
    far = Model("bob")
    body = far.add_body("bob", Box(0.1, 0.1, 0.1, density=1000), position=(3, 4, 0))
    far.add_joint("pin", "spherical", far.ground, body, at=(0, 0, 0))
    return far


SIZES = [
    (pendulum, 2.0 * np.sqrt(1.05 / 12.0)),  # twice its radius of gyration
    (top, 2.0 * np.sqrt((0.3**2 + 0.2**2 + 0.1**2) / 12.0)),
    (cantilever, np.hypot(0.6, 0.1)),
    (bob, 5.0),  # from its middle to the pin
]


@pytest.mark.parametrize(("make", "size"), SIZES)
def test_errors_are_relative_to_the_size_of_the_model(make, size):
    result = simulate(make(), 1e-3, Adaptive(1e-2, output_dt=1e-3))
    assert result.description["run"]["error_size"] == pytest.approx(size)


@pytest.mark.parametrize(("integrator", "order"), [("em", 2), ("em4", 4)])
def test_steps_scale_with_the_error_by_the_order(integrator, order):
    least = 1e-5 if order == 2 else 1e-10
    few, many = (run("chain", error, integrator).steps.number.sum() for error in (100 * least, least))
    assert np.log(many / few) / np.log(100.0) == pytest.approx(1 / order, abs=0.05)


@pytest.mark.parametrize(
    ("name", "integrator"), [("pendulum", "em"), ("top", "em4"), ("chain", "em-ggl"), ("chain", "em6")]
)
def test_invariants_are_conserved_with_varying_steps(name, integrator):
    result = run(name, 1e-7 if integrator[2:3].isdigit() else 1e-4, integrator)
    steps = result.steps
    assert steps.largest.max() > 1.5 * steps.smallest[1:].min()
    energy = result.energy
    assert np.ptp(energy["total"]) < 1e-12 * energy["kinetic"].max()
    if name == "top":
        assert np.abs(result.angular_momentum - result.angular_momentum[0]).max() < 1e-13
    assert result.constraint_residual.max() < 1e-12


def test_outputs_are_hit_and_the_audit_repeats_the_steps(tmp_path):
    result = run("chain", 1e-3, output=tmp_path / "run.vtkhdf")
    assert np.array_equal(result.t, np.arange(OUTPUTS + 1) * (1.0 / OUTPUTS))
    reopened = Result.load(tmp_path / "run.vtkhdf")
    assert np.array_equal(reopened.steps.number, result.steps.number)
    audit_report = audit(reopened)
    assert audit_report.ok, audit_report.text()
    assert f"all {OUTPUTS} lead to the states that are stored" in audit_report.text()


def test_stopped_adaptive_run_resumes_bitwise(tmp_path):
    """The error budget is that of the first run: a longer run has the same error in the same time."""
    options = {"error": 1e-3, "output_dt": 0.05}
    ends = []
    for ends_of_parts in ((0.5, 1.0), (0.5, 0.7, 1.0)):
        path = tmp_path / f"{len(ends_of_parts)}.vtkhdf"
        for t_end in ends_of_parts:
            result = simulate(chain(), t_end, output=path, resume=path.exists(), **options)
        ends.append(result.state(-1))
    for one, other in zip(*ends, strict=True):
        assert np.array_equal(one, other)
    assert result.description["run"]["error_time"] == 0.5


def test_unresolved_modes_do_not_control_the_step_size():
    """A steel cantilever whose axial vibration has a period of 0.4 ms."""
    result = simulate(cantilever(2e11), 0.2, Adaptive(1e-3, output_dt=0.02))
    assert result.steps.largest.max() > 2e-3
    assert np.ptp(result.energy["total"]) < 1e-12 * max(1.0, result.energy["kinetic"].max())


def falling():
    model = Model("falling", gravity=(0, 0, -9.81))
    ball = model.add_body("ball", Sphere(0.1, density=1000), position=(0, 0, 0.3))
    floor = model.add_plane("plane", model.ground.at((0, 0, 0)), (0, 0, 1))
    model.add_contact("floor", model.add_sphere("skin", ball, 0.1), floor, stiffness=1e5)
    return model


def test_steps_are_small_during_contact():
    result = simulate(falling(), 0.5, Adaptive(1e-3, output_dt=0.01))
    touching = np.abs(result.t - 0.21) < 0.02
    free = result.t[:, None].min(axis=1) > 0.3
    assert result.steps.smallest[touching].min() < 0.3 * result.steps.smallest[free].max()
    assert np.ptp(result.energy["total"]) < 1e-10 * result.energy["kinetic"].max()
    until = simulate(falling(), 0.5, Adaptive(1e-3, output_dt=0.01), events=[ContactBegins("floor")])
    assert until.t[-1] == pytest.approx(0.21)  # it touches at 0.202 s


class FailingStepper(Stepper):
    """A stepper that fails for steps longer than 1 ms."""

    def march(self, state, h, starts):
        if h > 1e-3:
            return MarchResult(state, 0, Report(solves=1), Failure("too long", "give less"))
        return super().march(state, h, starts)


def test_failed_step_is_repeated_with_a_smaller_step():
    """Also if only the steps of twice the length fail; a step that can never be solved is reported."""
    built = pendulum().build()
    state = built.state
    stepper = AdaptiveStepper(FailingStepper(built.system, 1e-3), built.system, 0.1, 2, 0.1, 1.0, 1.0)
    end, report = stepper.advance(stepper.start(state), 0, 2)
    assert report.halvings > 0
    assert end.memory[-N_CONTROL + STEP] <= 2e-3
    assert energies(built.system, end).total == pytest.approx(energies(built.system, state).total, abs=1e-12)
    stepper.inner.march = lambda state, h, starts: MarchResult(state, 0, Report(), Failure("never", "rest"))
    with pytest.raises(
        ConvergenceError, match=r"after t = 0.2 s: never, even with steps of .* s; rest"
    ) as failure:
        stepper.advance(end, 2, 1)
    assert failure.value.reached.step == 2
    assert np.array_equal(failure.value.reached.state.r, end.r)


class ErrorStepper(Stepper):
    """A stepper that moves a body by K(t) h^p a second, which is its error; records its calls: t, h and steps."""

    def configured(self, p, K):
        self.p, self.K, self.calls = p, K, []
        return self

    def march(self, state, h, starts):
        self.calls.append((starts[0], h, len(starts)))
        r = state.r.copy()
        r[1, 0] += self.K(starts[0]) * h**self.p * h * len(starts)
        return MarchResult(state._replace(r=r), len(starts), Report(), None)

    @property
    def windows(self):
        """Lengths and numbers of steps as tried, without those of twice the length."""
        return [(h, count) for _, h, count in self.calls[::2]]


def advance_with_errors(p, K, step):
    """Advance by 1 s to the next output with 1 m/s of allowed error; return the base stepper and the step history."""
    built = pendulum().build()
    base_stepper = ErrorStepper(built.system, 1.0, p).configured(p, K)
    stepper = AdaptiveStepper(base_stepper, built.system, 1.0, p, 1.0, 1.0, 1.0)
    state = stepper.start(built.state)
    state.memory[-N_CONTROL + STEP] = step
    end, _ = stepper.advance(state, 0, 1)
    return base_stepper, end.memory[-N_CONTROL:]


def test_step_size_moves_halfway_to_the_half_error_step():
    step = 1 / 160
    base_stepper, _ = advance_with_errors(2, lambda t: 0.5 / (0.7 * step) ** 2, step)
    assert base_stepper.windows[0] == (step, 8)
    assert base_stepper.windows[1][0] == pytest.approx(np.sqrt(0.7) * step, rel=0.01)


def test_rejected_window_is_repeated_with_at_most_0_7_of_the_step():
    step = 1 / 160
    base_stepper, _ = advance_with_errors(8, lambda t: 2.1 / step**8 if t == 0.0 else 0.0, step)
    assert base_stepper.windows[1][0] == pytest.approx(0.7 * step, rel=0.01)


def test_rounded_end_time_needs_no_extra_step():
    base_stepper, control = advance_with_errors(2, lambda t: 0.0, 0.5 * (1.0 - 1e-12))
    assert base_stepper.windows == [(0.5, 2)]
    assert control[STEPS] == 2


def test_reported_smallest_and_largest_steps_are_those_taken():
    base_stepper, control = advance_with_errors(
        2, lambda t: 500.0 if t < 0.4 else 50000.0 if t < 0.6 else 5000.0, 1 / 40
    )
    last = {
        t: (h, count) for t, h, count in base_stepper.calls[::2]
    }  # earlier attempts at the same time were rejected
    steps = [h for h, _ in last.values()]
    assert min(steps) < steps[-1] < max(steps)
    assert control[[SMALLEST, LARGEST]].tolist() == [min(steps), max(steps)]
    assert control[STEPS] == sum(count for _, count in last.values())


REFUSED = {
    "give dt: the length of the steps": {},
    "both set the step": {"dt": 0.1, "error": 1e-3},
    "counts steps, which choose themselves": {"error": 1e-3, "output_every": 2},
    "output_dt = 0.1 goes with error": {"dt": 0.1, "output_dt": 0.1},
    "relative to the size of the model; give 1e-12 to 0.1": {"error": 1.0},
    "integrator 'GGL-EM' takes steps of one length; give dt, or use one of em, em4": {
        "error": 1e-3,
        "integrator": "GGL-EM",
    },
}


@pytest.mark.parametrize("message", REFUSED)
def test_invalid_error_control_is_rejected_before_a_file_is_created(message, tmp_path):
    with pytest.raises(ModelError, match=message):
        simulate(pendulum(), 1.0, output=tmp_path / "run.vtkhdf", **REFUSED[message])
    assert not (tmp_path / "run.vtkhdf").exists()


SCENE = """
gravity: [0, 0, -9.81]
bodies:
  - {name: bar, shape: {type: box, size: [1, 0.1, 0.2], density: 1000}, position: [0.5, 0, 0]}
joints:
  - {name: pin, kind: revolute, a: ground, b: bar, at: [0, 0, 0], axis: [0, 1, 0]}
run: {t_end: 0.4, error: 1.0e-3, output_dt: 0.1}
"""


def test_scenes_and_the_command_line_accept_an_error(tmp_path, capsys):
    scene, result = tmp_path / "bar.yaml", tmp_path / "bar.vtkhdf"
    scene.write_text(SCENE)
    assert main(["check", str(scene)]) == 0
    assert "em, error = 0.001 to t = 0.4 s" in capsys.readouterr().out
    assert main(["run", str(scene)]) == 0
    printed = capsys.readouterr().out
    assert "steps of" in printed
    assert "5 outputs, one every 0.1 s" in printed
    chosen = Result.load(result).steps
    assert main(["info", str(result)]) == 0
    assert chosen.text() in capsys.readouterr().out
    assert main(["run", str(scene), "--overwrite", "--quiet", "--error", "1e-5"]) == 0
    assert Result.load(result).steps.number.sum() > 5 * chosen.number.sum()
    assert main(["run", str(scene), "--overwrite", "--quiet", "--dt", "0.1"]) == 0
    assert Result.load(result).steps is None
    scene.write_text(SCENE.replace("error:", "dt: 0.1, error:"))
    assert main(["check", str(scene)]) != 0
    assert "give one of dt and error" in capsys.readouterr().err
