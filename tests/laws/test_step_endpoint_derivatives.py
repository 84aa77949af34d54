"""Requirements of step derivatives for every registered kind: symmetry in the step ends, complex parameters."""

import functools
import json
import os
import subprocess
import sys
import traceback
import warnings
from pathlib import Path

import numpy as np
import pytest

from discretization.interaction_groups import Role, groups_of, registered_kinds, with_load_values
from discretization.interaction_table import is_dissipation
from discretization.space.laws.functions import PARAMETERS
from discretization.space.rod_gauss_points import FIRST, LAW
from discretization.space.se3_dual import SE3_ELEMENT, VISCOUS_SE3_ELEMENT
from rigid import quaternions
from rigid.errors import ModelError
from rigid.interactions.blocks import blocks, value_numbers
from rigid.interactions.coincident_points import COINCIDENT_POINTS
from rigid.interactions.contact.planes import PLANE_SPHERE
from rigid.interactions.evaluation import values
from rigid.interactions.kinds import COMPLEX_STEP, MAX_FRAMES, Group, Kind, group
from rigid.interactions.spring import DAMPER, SPRING
from rigid.interactions.torsion_spring import BRANCH, TORSION_SPRING, unwrapped_angle
from rigid.mechanics.mechanical_system import call
from rigid.system import State
from rodsim import Model, Section
from tests.support.completeness import MODELS, NUMBERS
from tests.support.contact_dissipation import ALL, ENERGY, lossy
from tests.support.contacts import ENERGIES, all_poses, touch
from tests.support.step_endpoints import close, moved, number_derivatives_hold

KINDS = [(table, kind) for table, kinds in registered_kinds().items() for kind in kinds]
RATE = 1 / 0.3  # 1/h of a dissipation
SMALL = 1e-7  # the same, where features of hulls change their slopes: the difference has the size of the step
WAY = 1e-4  # m, rad: the coefficients of a law about a distant knot lose digits, which a shorter step would show


def ids(case):
    return f"{case[0]}: {case[1].name}"


@functools.cache
def interactions_by_kind() -> dict[str, tuple[Group, State]]:
    """Return one or two interactions of each kind in a model, and its state."""
    kinds: dict[str, tuple[Group, State]] = {}
    for make in MODELS.values():
        built = make().build()
        # with more than the values of t = 0.3 s, which may be those without a force
        values = built.load_values(np.array([0.3]))[0] + 0.7
        for acting in groups_of(with_load_values(built.system, values), built.state):
            use = slice(0, 2)
            few = acting.group._replace(
                frames=acting.group.frames[use], numbers=acting.group.numbers[use], row=acting.group.row[use]
            )
            kinds.setdefault(acting.group.kind.name, (few, built.state))
    return kinds


def random_displacement(state: State, seed: int, size: float = 0.2) -> State:
    """Displace and rotate all frames by random small amounts."""
    rng = np.random.default_rng(seed)
    return moved(state, size * rng.normal(size=(len(state.r), 6)))


def contact_states(kind: Kind):
    """An interaction of a contact kind, and states in which it acts."""
    t = touch(kind) if kind in ENERGIES else lossy(kind, **ALL, rest=0.3)[0]
    bare = next(iter(interactions_by_kind().values()))[1]
    poses = [(y[:, 0], quaternions.from_matrix(y[:, 1:].swapaxes(1, 2))) for y in (t.y0, t.y1)]
    start, end = (bare._replace(r=r.copy(), quat=quat) for r, quat in poses)
    return group(kind, np.arange(kind.arity), t.X), start, end, RATE if is_dissipation(kind) else 1.0


def endpoint_case(kind: Kind):
    """Group, states at both ends, multipliers."""
    if kind in ENERGIES or kind in ENERGY:
        return contact_states(kind)
    group, state = interactions_by_kind()[kind.name]
    rng = np.random.default_rng(3)
    lam = (
        rng.normal(size=(len(group.frames), kind.rows))
        if kind.rows
        else RATE
        if is_dissipation(kind)
        else 1.0
    )
    return group, random_displacement(state, 1), random_displacement(state, 2), lam


# kinds whose machine code is inspected, including branches that no state here takes: those that
# `tests/core/test_step_derivative.py` compiles for complex numbers too, and a contact, whose laws have most branches
COMPILED = [COINCIDENT_POINTS, SE3_ELEMENT, VISCOUS_SE3_ELEMENT, SPRING, DAMPER, PLANE_SPHERE]
COMPILED += [kind for kind, energy in ENERGY.items() if energy is PLANE_SPHERE]


@pytest.mark.parametrize("entry", KINDS, ids=ids)
def test_every_registered_kind_is_tested_and_symmetric_in_step_ends(entry):
    """A step taken backward, at -h, has the same forces, and its blocks with start and end exchanged; except for kinds whose
    internal variables are updated after a step, which distinguish its start.
    """
    group, start, end, lam = endpoint_case(entry[1])
    forth = blocks(group, start, end, lam)
    if entry[1].condensed.update_internal is not None:
        assert np.abs(forth.force).max() > 1e-6
        return
    back = blocks(group, end, start, -lam if is_dissipation(entry[1]) else lam)
    assert np.abs(forth.force).max() > 1e-6
    close(back.force, forth.force, 1e-13)
    close(back.end, forth.start, 1e-12)
    close(back.start, forth.end, 1e-12)


@pytest.mark.parametrize("entry", [entry for entry in KINDS if entry[1].tangent], ids=ids)
def test_closed_tangent_equals_complex_steps_of_its_dual(entry):
    """Derivatives of forces with respect to positions, and of torques and rotations where these enter."""
    kind = entry[1]
    group, start, end, lam = endpoint_case(kind)
    per_frame, n = (3 if kind.turning == 0 else 6), kind.arity
    out, K = np.zeros((MAX_FRAMES, 4, 3), complex), np.zeros((6 * MAX_FRAMES, 6 * MAX_FRAMES))
    out[:n, 3, 0] = 1.0
    call(
        kind.tangent,
        (
            poses(group, start, start),
            poses(group, start, end),
            group.numbers[0],
            np.ravel(np.asarray(lam, complex)),
            out,
            K,
        ),
    )
    tangent = K[: per_frame * n, : per_frame * n].reshape(n, per_frame, n, per_frame).transpose(2, 3, 0, 1)
    close(tangent, blocks(group, start, end, lam).end[0, :, :per_frame, :, :per_frame], 1e-12)
    if kind.couple:
        close(K[12, :12].reshape(2, 6), blocks(group, start, end, lam).force[0], 1e-12)


def test_angle_is_symmetric_in_step_ends_within_half_a_turn():
    (group, state), angle = (
        interactions_by_kind()[TORSION_SPRING.name],
        TORSION_SPRING._replace(value=unwrapped_angle),
    )
    group, ends = (
        group._replace(frames=group.frames[:1], row=0 * group.row[:1]),
        (random_displacement(state, 1), random_displacement(state, 2)),
    )

    def counted_from(middle):
        return group._replace(numbers=np.concatenate([group.numbers[0, :BRANCH], [middle]])[None])

    first, last = (values([counted_from(0.0)._replace(kind=angle)], s.r, s.quat)[0] for s in ends)
    assert 0.01 < abs(last - first) < 1.0
    for middle, alike in (
        (first, True),
        (last, True),
        (first + 2.0, True),
        ((first + last) / 2 + np.pi, False),
    ):
        forth, back = (blocks(counted_from(middle), *pair).force for pair in (ends, ends[::-1]))
        assert (np.abs(back - forth).max() < 1e-13 * np.abs(forth).max()) == alike


@pytest.mark.parametrize("entry", KINDS, ids=ids)
def test_blocks_are_force_derivatives_at_both_step_ends(entry):
    """Compare with central differences along displacements and spatial rotations of every frame."""
    group, start, end, lam = endpoint_case(entry[1])
    exact = blocks(group, start, end, lam)
    size = (
        0.02 * WAY if entry[1].one_sided else WAY
    )  # contacts are small, and forces have a kink where they open
    if entry[1].condensed.lost is not None:
        size = 0.1 * WAY  # a drag |w| w bends over its own velocity
    for b in range(entry[1].arity):
        for j in range(6):
            direction = np.zeros((len(start.r), 6))
            direction[group.frames[0, b], j] = size
            ends = [(moved(start, s * direction), end, start, moved(end, s * direction)) for s in (1, -1)]
            for blocks_of, k in ((exact.start, 0), (exact.end, 2)):
                plus, minus = (blocks(group, *pair[k : k + 2], lam).force[0] for pair in ends)
                close((plus - minus) / (2 * size), blocks_of[0, :, :, b, j], 1e-6)


@pytest.mark.parametrize("kind", [SE3_ELEMENT, SPRING, DAMPER], ids=lambda kind: kind.name)
def test_blocks_far_from_the_origin_keep_full_precision(kind):
    group, *states, lam = endpoint_case(kind)
    far = 2.0**27
    near = [
        state._replace(r=state.r + far - far) for state in states
    ]  # as far away as they can be distinguished
    for one, other in zip(
        blocks(group, *near, lam), blocks(group, *(s._replace(r=s.r + far) for s in near), lam), strict=True
    ):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("kind", COMPILED, ids=lambda kind: kind.name)
def test_parameter_derivatives_are_those_of_forces_and_values(kind):
    """By complex steps; integer parameters have no derivative."""
    number_derivatives_hold(*endpoint_case(kind))


def poses(group: Group, start: State, state: State):
    """Poses of the first interaction relative to the initial position of its first frame."""
    f, R = group.frames[0], quaternions.to_matrix(state.quat)
    return all_poses(np.concatenate([(state.r[f] - start.r[f[0]])[:, None], R[f].swapaxes(1, 2)], axis=1))


def source_takes_complex_numbers(kind: Kind):
    """The dual and the value of one interaction, along a direction that changes all of its parameters. All inputs are Python
    complex numbers, which, like those of compiled code and unlike those of numpy, cannot be compared.
    """
    group, start, end, lam = endpoint_case(kind)
    lam = np.ravel(lam[0] if np.ndim(lam) else lam)
    y0, y1, lam = (python_complex(x) for x in (poses(group, start, start), poses(group, start, end), lam))
    X = group.numbers[0]
    direction = np.random.default_rng(4).normal(size=X.size)

    def found_at(numbers):
        on, out = np.zeros((MAX_FRAMES, 4, 3), complex), np.zeros(max(kind.rows, 1), complex)
        kind.dual(y0, y1, numbers, lam, on)
        kind.value(y1, numbers, out)
        return on, out

    ways = python_complex(X + 1j * COMPLEX_STEP * direction), X + SMALL * direction, X - SMALL * direction
    of_dual, of_value = zip(*map(found_at, ways), strict=True)
    assert np.any(of_dual[0].imag) or np.any(of_value[0].imag)
    for exact, plus, minus in (of_dual, of_value):
        close((plus - minus).real / (2 * SMALL), exact.imag / COMPLEX_STEP, 1e-6)


class PythonComplexArray(np.ndarray):
    """An array of Python complex numbers, whose real parts numpy does not access."""

    @property
    def real(self):
        return self.astype(complex).view(np.ndarray).real


def python_complex(numbers):
    """Python complex numbers in an array."""
    return np.array(numbers.astype(complex).tolist(), object).view(PythonComplexArray)


def report_complex_support():
    """Print for each kind what fails; for a process without the compiler."""
    answers = {}
    with warnings.catch_warnings():
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        for _, kind in KINDS:
            try:
                source_takes_complex_numbers(kind)
                answers[kind.name] = "yes"
            except Exception:
                answers[kind.name] = traceback.format_exc()
    print(json.dumps(answers))


@pytest.fixture(scope="module")
def said_of_sources():
    """One process for all kinds, which imports everything once: compiling every kind for complex numbers takes ten times as
    long.
    """
    root = Path(__file__).parents[2]
    code = f"from tests.laws.{Path(__file__).stem} import report_complex_support as report; report()"
    completed = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(completed.stdout)


@pytest.mark.parametrize("entry", KINDS, ids=ids)
def test_parameters_may_be_complex(entry, said_of_sources):
    """Tests the source of every kind by a complex step."""
    assert said_of_sources[entry[1].name] == "yes"


@pytest.mark.parametrize("law_name", ["stiffening", "thinning", "softening", "own"])
@pytest.mark.parametrize("element", ["se3", "relative(2)"])
def test_section_law_parameters_may_be_complex(law_name, element):
    """A law is selected by a number, and its functions accept complex parameters, too; includes a user-defined law."""
    law_parameters = {"stiffening": {"strain": 0.7}, "softening": {"moment": 3.0}}.get(law_name, {})
    if law_name == "own":
        linear = "(EA*Gamma1**2 + GA*(Gamma2**2 + Gamma3**2) + GJ*K1**2 + c**2*K3**2)/2"
        text = f"{linear} + sqrt(a)*((b + K2**2)**c - b**c) + a**-1*(cosh(a*K2) - 1)"
        section = Section.from_stiffness(**NUMBERS).with_energy(text, EA=60, GA=40, GJ=3, a=0.4, b=9, c=1.7)
    else:
        section = Section.from_stiffness(**NUMBERS).with_law(law_name, **law_parameters)
    model = Model("rod")
    model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section, 2, element=element)
    built = model.build()
    (group,) = [acting.group for acting in groups_of(built.system, built.state, Role.ENERGY)]
    start, end = (random_displacement(built.state, seed, 0.05) for seed in (1, 2))
    exact = number_derivatives_hold(group, start, end, 1.0)
    parameters = exact[0, FIRST + PARAMETERS :][: len(section.law_parameters)]
    assert np.all(parameters != 0.0)


def test_parameters_are_plain_data():
    """Parameters contain no memory addresses: those of one law are the same in every model, and small."""
    text = "(60*Gamma1**2 + 40*(Gamma2**2 + Gamma3**2) + 3*K1**2 + 2*K2**2 + 4*K3**2)/2 + K1**{}"
    plain, found_numbers = Section.from_stiffness(**NUMBERS), set()
    laws = plain.with_law("thinning"), *(plain.with_energy(text.format(n)) for n in (4, 6))
    for section in laws:
        numbers = []
        for _ in range(2):
            model = Model("rod")
            model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section, 2)
            (group,) = [acting.group for acting in groups_of(model.build().system, None, Role.ENERGY)]
            numbers.append(group.numbers)
        assert np.array_equal(*numbers)
        found_numbers.add(numbers[0][0, FIRST + LAW])
    assert len(found_numbers) == 3
    assert 0 < min(found_numbers) <= max(found_numbers) < 1e5


def test_mismatched_state_is_reported():
    group, start, end, _ = endpoint_case(TORSION_SPRING)
    with pytest.raises(ModelError, match="torsion spring: lam has shape"):
        blocks(group, start, end, np.zeros((5, 2)))
    with pytest.raises(ModelError, match=r"State.r has shape .*give \(n, 3\) and \(n, 4\)"):
        blocks(group, start._replace(quat=start.quat[1:]), end)
    with pytest.raises(ModelError, match="something acts on frame"):
        value_numbers(group, start._replace(r=start.r[:1], quat=start.quat[:1]))
