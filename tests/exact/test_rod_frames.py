"""Frames along rods: `up`, `twist` and the stress-free shape, initial stretch, wound and closed rings."""

import json

import numpy as np
import pytest

from discretization.state_measures import element_states, energies
from rigid import quaternions
from rodsim import Model, ModelError, SceneError, Section, simulate
from rodsim.components.curve_frames import frames_along
from rodsim.components.space_curves import Curve
from rodsim.scenes.model_from_scene import load

EA, GA, GJ, EI = 1e4, 8e3, 0.7, 1.3
SECTION = Section.from_stiffness(
    EA=EA, GA=GA, GJ=GJ, EI=EI, mass_per_length=1.0, inertia_per_length=(2e-3, 1e-3, 1e-3)
)
TURN = 2 * np.pi
LINE = [(0, 0, 0), (2, 0, 0)]
OPEN_LINE = {"stress_free": [(0, 0, 0), (TURN, 0, 0)], "stress_free_closed": False}


def circle(s):
    return np.cos(TURN * s), np.sin(TURN * s), 0.0


def built(curve, n_elements=7, **options):
    model = Model("rod")
    model.add_rod("rod", curve, SECTION, n_elements, **options)
    return model.build()


def elastic(*args, **options):
    model = built(*args, **options)
    return energies(model.system, model.state).elastic


def directors(model):
    """Columns d1, d2, d3 of all nodes, (n, 3, 3)."""
    return quaternions.to_matrix(model.state.quat[1:])


# --- straight rods


@pytest.mark.parametrize("n_elements", [1, 3, 20])
@pytest.mark.parametrize("shapes", [(1.9, 0.0), (0.0, -1.9), (2.4, 0.5), (lambda s: 1.9 * s, 0.0)])
def test_a_twisted_rod_holds_half_GJ_angle_squared_over_its_length(n_elements, shapes):
    twist, stress_free_twist = shapes
    energy = elastic(LINE, n_elements, twist=twist, stress_free_twist=stress_free_twist)
    assert energy == pytest.approx(GJ * 1.9**2 / (2 * 2), rel=1e-12)


def test_twist_rotates_sections_about_the_tangent_right_handed():
    d = directors(built(LINE, 4, up=(0, 0, 1), twist=np.pi / 2))
    c = np.sqrt(0.5)
    start, middle, end = np.eye(3), [[1, 0, 0], [0, c, c], [0, -c, c]], [[1, 0, 0], [0, 0, 1], [0, -1, 0]]
    for node, axes in ((0, start), (2, middle), (4, end)):
        assert np.abs(d[node].T - axes).max() < 1e-14


@pytest.mark.parametrize(
    "options", [{"twist": 1.5}, {"up": lambda s: (0, -np.sin(1.5 * s), np.cos(1.5 * s))}]
)
def test_pretwisted_blade_has_no_stress(options):
    model = built(LINE, 5, **options)
    assert directors(model)[-1][:, 2] == pytest.approx([0, -np.sin(1.5), np.cos(1.5)], abs=1e-14)
    assert model.system.elements.strain0[:, 3] == pytest.approx(1.5 / 2, rel=1e-13)
    assert energies(model.system, model.state).elastic < 1e-23  # rounding squared


def test_stress_free_shape_has_its_own_up():
    """Sections rotated by one angle everywhere have no strain; rotated by a varying angle they have."""
    assert elastic(LINE, up=(0, 0, 1), stress_free_up=(0, 1, 1)) < 1e-23
    turning = elastic(LINE, up=(0, 0, 1), stress_free_up=lambda s: (0, np.sin(s), np.cos(s)))
    assert turning == pytest.approx(GJ / (2 * 2), rel=1e-12)


def test_many_turns_of_up_are_counted():
    """40 turns on 200 elements."""
    energy = elastic(
        LINE, 200, up=lambda s: (0, np.sin(40 * TURN * s), np.cos(40 * TURN * s)), stress_free_up=(0, 0, 1)
    )
    assert energy == pytest.approx(GJ * (40 * TURN) ** 2 / (2 * 2), rel=1e-9)


def test_up_along_the_axis_of_a_helix_gives_its_curvature_and_torsion():
    """d3 towards the axis is the principal normal: K = (torsion, -curvature, 0), the same in all elements."""
    radius, rise, angle = 0.5, 0.2, 9.0

    def helix(s):
        return radius * np.cos(angle * s), radius * np.sin(angle * s), rise * angle * s

    K = built(helix, 12, up=lambda s: (-np.cos(angle * s), -np.sin(angle * s), 0)).system.elements.strain0[
        :, 3:
    ]
    expected = np.array([rise, -radius, 0]) / (radius**2 + rise**2)
    assert np.abs(K - expected).max() < 1e-8


# --- rings


def ring_energy(angle):
    """Energy of a ring bent from a straight rod and wound by `angle`."""
    return EI * TURN**2 / (2 * TURN) + GJ * angle**2 / (2 * TURN)


@pytest.mark.parametrize("angle", [0.0, 1.3, -7.7, 1.5 * TURN])
def test_a_ring_wound_by_any_angle_before_it_was_closed(angle):
    energy = elastic(circle, 12, closed=True, **OPEN_LINE, stress_free_twist=-angle)
    assert energy == pytest.approx(ring_energy(angle), rel=1e-9)


@pytest.mark.parametrize("turns", [1, 2, -3])
def test_full_turns_of_a_wound_ring_are_in_its_closing_element(turns):
    """Odd numbers of turns end with the opposite quaternion. Sections that rotate along the circle: order 2."""
    errors = []
    for n in (40, 80):
        model = built(circle, n, closed=True, **OPEN_LINE, twist=turns * TURN, stress_free_twist=0.0)
        strain, _ = element_states(model.system, model.state)
        assert np.ptp(np.linalg.norm(strain[:, 3:], axis=1)) < 1e-8
        assert strain[:, 3] == pytest.approx(turns, rel=1e-2)
        errors.append(abs(energies(model.system, model.state).elastic / ring_energy(turns * TURN) - 1))
    assert errors[1] < errors[0] / 3.5


def test_ring_built_with_twist_has_no_stress():
    for options in ({"twist": TURN}, {"stress_free": circle, "twist": -TURN}, {"up": circle}):
        assert elastic(circle, 12, closed=True, **options) < 1e-20


def test_a_closed_rod_bent_from_a_part_of_a_circle():
    """Three quarters of a circle of the same length: curvature 1 from 3/4, in all elements."""
    radius = 4 / 3
    arc = lambda s: (radius * np.cos(0.75 * TURN * s), radius * np.sin(0.75 * TURN * s), 0)  # noqa: E731
    model = built(circle, 9, closed=True, stress_free=arc, stress_free_closed=False)
    strain, _ = element_states(model.system, model.state)
    assert np.abs(strain[:, 3:]) == pytest.approx(np.tile([0, 0, 0.25], (9, 1)), abs=1e-8)


@pytest.mark.parametrize(("part", "stable"), [(0.95, True), (1.05, False)])
def test_michells_ring_leaves_its_plane_beyond_the_critical_twist(part, stable):
    """An elastic ring of circular section, bent from a straight rod and wound, is stable up to a critical
    angle.

    The angle is 2 pi sqrt(3) EI/GJ (Michell 1889): mode 2 out of the plane, perturbed, oscillates or grows.
    """
    critical = TURN * np.sqrt(3) * EI / GJ
    model = Model("ring")
    model.add_rod(
        "ring",
        circle,
        SECTION,
        24,
        closed=True,
        **OPEN_LINE,
        stress_free_twist=-part * critical,
        velocity=lambda s: (0, 0, 1e-4 * np.cos(2 * TURN * s)),
    )
    deflection = np.abs(simulate(model, 16.0, 0.05, output_every=10).rod("ring").r[:, :, 2]).max()
    assert deflection < 1e-4 if stable else deflection > 0.1


# --- stretch


def uneven(s, part=0.3):
    """A straight line of 2 m whose material is stretched by the fraction cos(2 pi s)."""
    return 2 * (s + part * np.sin(TURN * s) / TURN), 0.0, 0.0


@pytest.mark.parametrize("n_elements", [5, 40])
def test_initial_stretch_is_that_of_the_callable(n_elements):
    """EA/2 times the integral of (r' - 1)^2; an element has the mean of its stretch, sinc(1/n) of it."""
    exact = EA / 2 * 0.3**2 / 2 * 2
    energy = elastic(uneven, n_elements, stress_free=LINE)
    assert energy == pytest.approx(exact * np.sinc(1 / n_elements) ** 2, rel=1e-9)


def test_the_same_s_of_two_callables_is_the_same_place_on_the_rod():
    """For any parametrisation by s, and in other shapes too."""
    assert elastic(uneven, stress_free=uneven) < 1e-18
    arc = lambda s: (np.sin(uneven(s)[0]), 1 - np.cos(uneven(s)[0]), 0)  # noqa: E731
    assert elastic(arc, stress_free=uneven) == pytest.approx(EI / 2 * 2, rel=1e-8)


def test_a_curve_alone_fixes_no_stretch():
    """The curve is also the stress-free shape, and the distances of nodes are the element lengths."""
    model = built(uneven, 8)
    assert np.diff(model.state.r[1:, 0]) == pytest.approx(2 / 8, rel=1e-9)
    assert energies(model.system, model.state).elastic < 1e-20


def test_callables_for_an_angular_velocity_spin_each_section():
    model = built(LINE, 4, angular_velocity=lambda s: (s, 0, 3))
    assert quaternions.rotate(model.state.quat[1:], model.state.Omega[1:]) == pytest.approx(
        np.array([(s, 0, 3) for s in np.linspace(0, 1, 5)]), abs=1e-14
    )


# --- refusals

REFUSED = {
    "closed, but .* 1 rad .* stress_free_twist": lambda: built(circle, closed=True, twist=1.0),
    "closed, but .* 3.14159 rad": lambda: built(
        circle,
        closed=True,
        up=lambda s: (
            np.cos(TURN * s) * np.sin(np.pi * s),
            np.sin(TURN * s) * np.sin(np.pi * s),
            np.cos(np.pi * s),
        ),
    ),
    "curve and twist turn by 4 rad .* more elements, 20": lambda: built(LINE, 5, twist=20.0),
    "stress-free shape: .* turn by 4 rad": lambda: built(LINE, 5, stress_free_twist=20.0),
    "up rotates by 3.1.* at s = 0.5.* at once": lambda: built(
        LINE, up=lambda s: (0, 0, 1 if s < 0.5 else -1)
    ),
    "curve and twist turn by 322": lambda: built(
        LINE, 5, up=lambda s: (0, np.sin(256 * TURN * s), np.cos(256 * TURN * s))
    ),
    r"up = \[1.0, 0.0, 0.0\] points along the rod at s = 1": lambda: built(LINE, up=lambda s: (s, 0, 1 - s)),
    "up at s = 0": lambda: built(LINE, up=lambda s: (0, 0)),
    "twist at s = 0.4": lambda: built(LINE, 5, twist=lambda s: None if s > 0.3 else s),
    "twist = 'much'": lambda: built(LINE, twist="much"),
    "stress_free_twist = nan": lambda: built(LINE, stress_free_twist=np.nan),
    "stress_free_up = 3": lambda: built(LINE, stress_free_up=3),
    "angular_velocity at s = 0.2": lambda: built(
        LINE, 5, angular_velocity=lambda s: (0, 0) if s else (0, 0, 1)
    ),
    "at least 3 points.* open": lambda: built(circle, closed=True, stress_free=LINE),
    "stress_free_closed = False, .* give stress_free": lambda: built(
        circle, closed=True, stress_free_closed=False
    ),
    "stress_free_closed = 'no'": lambda: built(circle, closed=True, stress_free_closed="no"),
}


@pytest.mark.parametrize("words", REFUSED)
def test_incompatible_frames_are_rejected_with_advice(words):
    with pytest.raises(ModelError, match=f"rod 'rod'.*{words}"):
        REFUSED[words]()


# --- scenes and results

SCENE = """
rods:
  - name: rod
    curve: {{type: circle, radius: 1}}
    closed: true
    n_elements: 12
    section: {{type: stiffness, EA: 1.0e4, GA: 8.0e3, GJ: 0.7, EI: 1.3, mass_per_length: 1, inertia_per_length: 0.001}}
    {more}
run: {{t_end: 1, dt: 0.1}}
"""


def scene(tmp_path, lines):
    file = tmp_path / "ring.yaml"
    file.write_text(SCENE.format(more=lines))
    return load(file).model.build()


STRAIGHT = "stress_free: [[0, 0, 0], [6.283185307179586, 0, 0]]\n    stress_free_closed: false\n    "


@pytest.mark.parametrize(
    "lines", ["stress_free_twist_deg: -500", "stress_free_twist_deg: [[0, 10], [0.5, -240], [1, -490]]"]
)
def test_scene_defines_a_wound_ring(tmp_path, lines):
    model = scene(tmp_path, STRAIGHT + lines)
    assert energies(model.system, model.state).elastic == pytest.approx(
        ring_energy(np.radians(500)), rel=1e-9
    )


def test_a_scene_gives_whole_turns_in_degrees(tmp_path):
    model = scene(tmp_path, "twist_deg: 720")
    assert np.ptp(model.system.elements.strain0[:, 3]) < 1e-8
    assert np.linalg.norm(model.system.elements.strain0[:, 3:], axis=1) == pytest.approx(np.sqrt(5), rel=2e-2)


def test_a_scene_gives_directions_along_a_rod(tmp_path):
    model = scene(tmp_path, "up: [[0, 0, 0, 1], [0.5, 0, 1, 1], [1, 0, 0, 1]]")
    d1, _, d3 = directors(model)[3].T
    across = np.array([0, 0.5, 1]) - d1[1] * 0.5 * d1
    assert d3 == pytest.approx(across / np.linalg.norm(across), abs=1e-9)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("twist_deg: 90", "1.5708 rad"),
        ("twist_deg: [[0, 0], [0.9, 360]]", "twist_deg .*end with 1"),
        ("twist_deg: [[0, 0], [0.5, 0, 0], [1, 360]]", "twist_deg"),
        ("stress_free_up: [[0.1, 0, 0, 1], [1, 0, 0, 1]]", "stress_free_up .*begin with 0"),
        ("up: [[0, 0, 0, 1], [0.5, 0, 1, 1], [0.5, 0, 1, 1], [1, 0, 0, 1]]", "up .*increase"),
        ("up: upwards", "up"),
        ("twist: 3", "'twist' is not known.*twist_deg"),
    ],
)
def test_scene_error_for_incompatible_frames_names_its_line(tmp_path, lines, words):
    with pytest.raises(SceneError, match=rf"ring.yaml:\d+: rod 'rod': .*{words}"):
        scene(tmp_path, lines)


def test_results_describe_the_frames():
    model = built(LINE, twist=lambda s: s**2, up=lambda s: (0, 0, 2), stress_free_twist=0.5)
    rod = json.loads(json.dumps(model.layout.description))["rods"]["rod"]
    assert rod["initial"]["twist"] == pytest.approx(np.linspace(0, 1, 11) ** 2)
    assert rod["initial"]["up"] == [[0, 0, 1]] * 11
    assert rod["stress_free"]["twist"] == 0.5


def test_run_resumes_only_with_its_initial_twist(tmp_path):
    def run(twist, t_end, resume):
        model = Model("rod")
        model.add_rod("rod", LINE, SECTION, 3, twist=twist, stress_free_twist=0.0)
        simulate(model, t_end, 0.01, output=tmp_path / "rod.vtkhdf", resume=resume)

    run(1.0, 0.02, False)
    with pytest.raises(ValueError, match=r"differs .* in rods"):
        run(1.1, 0.04, True)
    run(1.0, 0.04, True)


def test_frames_of_a_wound_curve_are_rotated_frames_of_the_curve():
    curve = Curve("curve", lambda s: (np.cos(3 * s), np.sin(2 * s), s**2))
    s = np.linspace(0, 1, 31)
    plain, wound = (
        quaternions.to_matrix(frames_along("curve", curve, s, twist=angle)[1]) for angle in (0.0, 8.0)
    )
    c, d = np.cos(8 * s)[:, None], np.sin(8 * s)[:, None]
    assert wound[:, :, 0] == pytest.approx(plain[:, :, 0], abs=1e-14)
    assert wound[:, :, 1] == pytest.approx(c * plain[:, :, 1] + d * plain[:, :, 2], abs=1e-14)
