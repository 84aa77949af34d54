"""Contact histories of a result.

Forces at stored states that balance weights and change momenta, slip, energy, losses.
"""

from __future__ import annotations

import numpy as np
import pytest

from rodsim import Material, Model, Result, Section, Sphere, audit, report, simulate
from rodsim.reporting.contacts import contact_curves
from rodsim.results import ResultError, UnknownName, color_fields
from rodsim.results.drawing import Drawing
from rodsim.results.plot import plot
from tests.support.contact_models import ball_on_floor
from tests.support.solids import COLLISIONS, DISSIPATIVE

G = 9.80665
RUBBER = Material(E=1e6, nu=0.3, density=1000)
THIN = Section.circular(0.01, RUBBER)
MASS = 1000 * np.pi * 0.01**2 * 0.3  # of a rod of 0.3 m
pytestmark = pytest.mark.filterwarnings("ignore::rodsim.warnings.ModelCheckWarning")


def run(model: Model, t_end: float, dt: float, **options) -> Result:
    return simulate(model, t_end, dt, progress=False, **{"output_every": 1, **options})


def incline(degrees: float, friction: float) -> Model:
    """A rod along an inclined plane, at the depth that carries its weight component."""
    a = np.radians(degrees)
    model = Model("incline", gravity=(G * np.sin(a), 0, -G * np.cos(a)))
    z = 0.01 - MASS / 0.3 * G * np.cos(a) / 1e4
    rod = model.add_rod("rod", [(0, 0, z), (0.3, 0, z)], THIN, 3)
    floor = model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1))
    model.add_contact("rest", rod, floor, stiffness=1e4, friction=friction)
    return model


def crossing(rotated: bool = False, **contact) -> Model:
    """A rod falls on another one perpendicular to it."""
    model = Model("crossing")
    low = model.add_rod("low", [(0, 0, 0), (0.3, 0, 0)], THIN, 3)
    high = model.add_rod("high", [(0.12, -0.1, 0.021), (0.15, 0.1, 0.021)], THIN, 3, velocity=(0, 0.2, -0.5))
    sides = (high, low) if rotated else (low, high)
    model.add_contact("hit", *sides, stations=8, **contact)
    return model


def impulse(result: Result, force: np.ndarray) -> np.ndarray:
    """Time integral of forces at the outputs."""
    return np.trapezoid(force, result.t, axis=0)


def test_contact_force_of_a_resting_ball_is_its_weight():
    """Also at all drawn points of the ball."""
    m = 1000 * 4 / 3 * np.pi * 0.05**3
    result = run(ball_on_floor(0.05 - m * G / 1e4, friction=0.5, restitution=0.5), 0.02, 1e-3)
    contact = result.contact("on")
    assert contact.force == pytest.approx(np.tile([0, 0, m * G], (21, 1)), abs=1e-9)
    assert contact.normal_force == pytest.approx(m * G, abs=1e-9)
    assert contact.point == pytest.approx(np.zeros((21, 3)), abs=1e-12)
    assert contact.touching.tolist() == [1] * 21
    assert contact.sliding.tolist() == [0] * 21
    assert contact.slip_rate == pytest.approx(0.0, abs=1e-9)
    assert contact.loss_rate == pytest.approx(0.0, abs=1e-9)
    drawing, none = Drawing(result.layout), np.zeros((0, 6))
    forces = drawing.arrays(result.state(0), none, none)[1]["contact_force"]
    assert forces == pytest.approx(np.tile([0, 0, m * G], (len(forces), 1)), rel=1e-6)
    assert color_fields.names(result.layout) == ["speed", "contact"]


def test_result_without_contacts_has_no_contact_field():
    model = ball_on_floor()
    model.contacts.clear()
    plain = Drawing(model.build().layout)
    words = "'contact' is a quantity of contacts, and model 'ball' has none; give 'speed'"
    with pytest.raises(ResultError, match=words):
        color_fields.field_of("contact", plain)
    assert "contact" not in color_fields.names(plain.layout)


def test_contact_force_and_line_load_of_a_resting_rod_are_its_weight():
    contact = run(incline(0.0, 0.0), 0.02, 1e-3).contact("rest")
    assert contact.force[:, 2] == pytest.approx(MASS * G, abs=1e-9)
    assert contact.along("rod")[..., 2] == pytest.approx(MASS / 0.3 * G, abs=1e-8)
    assert contact.touching.tolist() == [3] * 21
    with pytest.raises(UnknownName, match="contact 'rest': no rod 'rope'; there are rod"):
        contact.along("rope")


def test_friction_of_a_sliding_rod_is_the_coefficient_times_the_normal_force():
    result = run(incline(30.0, 0.2), 0.05, 1e-3)
    contact, across = result.contact("rest"), MASS * G * np.cos(np.radians(30))
    late = slice(25, None)
    assert contact.sliding[late].tolist() == [3] * 26
    assert contact.normal_force == pytest.approx(across, rel=1e-9)
    assert contact.tangential_force[late] == pytest.approx(0.2 * across, rel=1e-3)
    assert contact.force[late, 0] == pytest.approx(-0.2 * across, rel=1e-3)
    assert contact.slip_rate[late] == pytest.approx(result.rod("rod").v[late, :, 0].mean(axis=1), rel=0.01)
    assert contact.loss_rate[late] == pytest.approx(0.2 * across * contact.slip_rate[late], rel=1e-3)
    assert contact.energy == pytest.approx(result.energy["spring"], abs=1e-15)


@pytest.mark.parametrize("losses", [{}, {"friction": (0.4, 0.3), "restitution": 0.6}])
def test_contact_forces_of_two_rods_are_opposite_and_change_their_momenta(losses, tmp_path):
    file = tmp_path / "rods.vtkhdf"
    result = run(crossing(**losses), 0.02, 2e-4, output=file)
    contact = result.contact("hit")
    on_low, on_high = (contact.along(name) for name in ("low", "high"))
    of_nodes = np.array([0.5, 1, 1, 0.5])[:, None]
    lengths = {"low": 0.1, "high": np.hypot(0.03, 0.2) / 3}
    sums = [np.sum(f * of_nodes * lengths[n], axis=1) for f, n in ((on_low, "low"), (on_high, "high"))]
    size = contact.normal_force.max()
    assert sums[0] == pytest.approx(contact.force, abs=1e-12 * size)
    assert sums[1] == pytest.approx(-contact.force, abs=1e-12 * size)
    low = result.rod("low").v
    gained = MASS / 3 * np.sum((low[-1] - low[0]) * of_nodes, axis=0)
    assert impulse(result, contact.force) == pytest.approx(gained, abs=0.03 * np.abs(gained).max())
    assert (impulse(result, contact.loss_rate) > 0.0) == bool(losses)
    assert impulse(result, contact.loss_rate) == pytest.approx(result.dissipation[-1], rel=0.03)
    assert contact.energy == pytest.approx(result.energy["spring"], abs=1e-15)
    assert contact.touching.max() == 1
    assert (contact.sliding.max() > 0) == bool(losses)
    rotated = run(crossing(rotated=True, **losses), 0.02, 2e-4).contact("hit")
    assert rotated.force == pytest.approx(-contact.force, abs=1e-6 * size)
    reloaded = Result.load(file).contact("hit")
    assert np.array_equal(reloaded.along("low"), on_low)
    for name, column in reloaded.table().items():
        assert np.array_equal(contact.table()[name], column)


def test_contact_force_between_sides_acts_on_the_first():
    """A ball between a floor and an upper ball of the first side, and a ceiling of the second side above the
    upper ball: the force on the first side is the sum over the three touching pairs.
    """
    model = Model("m", gravity=(0, 0, -G))
    spheres = []
    for k, z in enumerate((0.05, 0.1495)):
        body = model.add_body(f"{k}", Sphere(0.05, density=1000), (0, 0, z))
        spheres.append(model.add_sphere(f"{k}", body, 0.05))
    floor = model.add_plane("floor", model.ground.at((0, 0, 0.001)), (0, 0, 1))
    side = model.add_plane("ceiling", model.ground.at((0, 0, 0.199)), (0, 0, -1))
    model.add_contact("both", [floor, spheres[1]], [spheres[0], side], stiffness=1e4)
    description = model.build().layout.description["contacts"]["both"]
    assert (description["interactions"], description["planes_of_a"], description["pairs"]) == (2, 1, 1)
    result = run(model, 1e-3, 1e-3)
    # on floor: -10 N, on the upper ball: 5 N from below, -5 N by the ceiling
    assert result.contact("both").force[0] == pytest.approx([0, 0, -10.0 + 5.0 - 5.0], abs=1e-9)
    assert result.contact("both").normal_force[0] == pytest.approx(20.0)
    assert result.contact("both").touching.tolist()[0] == 3


def test_contact_forces_are_drawn_on_nodes_and_bodies(tmp_path):
    """Drawn forces of stacked states, in a file and as colours."""
    file = tmp_path / "rods.vtkhdf"
    result = run(crossing(friction=0.4), 0.01, 2e-4, output=file)
    reloaded, drawing = Result.load(file), Drawing(result.layout)
    history, states = result.contact("hit"), result.states(slice(0, result.n_outputs))
    strains = result.element_values("strains", slice(0, result.n_outputs))
    of_nodes = drawing.arrays(states, strains, strains)[1]["contact_force"]
    assert of_nodes.shape == (result.n_outputs, 8, 3)
    assert of_nodes[:, :4].sum(axis=1) == pytest.approx(history.force, rel=1e-5, abs=1e-5)
    assert of_nodes[:, 4:].sum(axis=1) == pytest.approx(-history.force, rel=1e-5, abs=1e-5)
    stored = reloaded.picture_array("PointData/contact_force", slice(0, result.n_outputs), (8, 3))
    assert np.array_equal(stored, of_nodes)
    k = int(np.argmax(history.normal_force))
    contact = color_fields.field_of("contact", drawing)
    shown = color_fields.values(contact, drawing, result.state(k), strains[k], strains[k])
    assert shown == pytest.approx(np.linalg.norm(of_nodes[k], axis=1), rel=1e-6)
    assert audit(reloaded).ok, audit(reloaded).text()


def test_report_plot_and_dataset_include_contacts(tmp_path):
    result = run(crossing(friction=0.4), 0.01, 2e-4)
    contact = result.contact("hit")
    page = report(result, tmp_path / "page.html").read_text("utf-8")
    assert '<section id="contacts"' in page
    assert "outputs at which it touches" in page
    (curves,) = contact_curves(result, np.arange(0, result.n_outputs, 5))
    assert np.array_equal(curves.normal, contact.normal_force[::5])
    assert np.array_equal(curves.tangential, contact.tangential_force[::5])
    assert np.array_equal(curves.depth, contact.depth[::5])
    lines = plot(result, "contacts", tmp_path / "a.png").axes[0].lines
    assert [line.get_label() for line in lines] == ["hit", "hit, friction"]
    assert np.array_equal(lines[0].get_ydata(), contact.normal_force)
    assert np.array_equal(lines[1].get_ydata(), contact.tangential_force)
    dataset = result.to_xarray(["hit"])
    assert np.array_equal(dataset["hit.slip_rate"], contact.slip_rate)
    assert dataset["hit.gap"].attrs["units"] == "m"
    assert dataset["hit.force_z"].attrs["units"] == "N"
    bare = Model("m")
    bare.add_body("a", Sphere(0.1, mass=1.0))
    none = run(bare, 0.01, 0.01)
    with pytest.raises(ResultError, match="plot: model 'm' has no contacts; plot its 'energy'"):
        plot(none, "contacts")


def test_report_of_a_file_without_joints_has_contacts(tmp_path):
    """The multipliers have zero columns, of which some outputs are read."""
    run(ball_on_floor(0.05, (0, 0, -0.1)), 0.02, 1e-3, output=tmp_path / "ball.vtkhdf")
    page = report(tmp_path / "ball.vtkhdf", tmp_path / "page.html").read_text("utf-8")
    assert '<section id="contacts"' in page


def test_friction_states_belong_to_their_contact():
    """The first contact has no friction, and its windows have no friction states."""
    model = Model("m")
    low = model.add_rod("low", [(0, 0, 0), (0.3, 0, 0)], THIN, 3)
    under = model.add_rod("under", [(0, 0, -0.0205), (0.3, 0, -0.0205)], THIN, 3)
    ends = [(0.12, -0.1, 0.0195), (0.15, 0.1, 0.0195)]
    high = model.add_rod("high", ends, THIN, 3, velocity=(0, 0.2, -0.1))
    model.add_contact("calm", low, under, stations=8)
    model.add_contact("hit", low, high, stations=8, friction=0.4)
    result = run(model, 2e-3, 2e-4)
    calm, hit = result.contact("calm"), result.contact("hit")
    assert calm.energy == pytest.approx(0.0, abs=1e-9)
    assert hit.tangential_force.max() > 0.0
    assert calm.energy + hit.energy == pytest.approx(result.energy["spring"], abs=1e-15)


def test_line_load_along_a_closed_rod_is_uniform():
    angles = 2 * np.pi * np.arange(12) / 12
    z = 0.01 - 1e-4
    model = Model("ring")
    ring = model.add_rod(
        "ring", [(0.1 * np.cos(a), 0.1 * np.sin(a), z) for a in angles], THIN, 12, closed=True
    )
    model.add_contact("rest", ring, model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1)), 1e4)
    line_load = run(model, 1e-4, 1e-4).contact("rest").along("ring")[0]
    assert line_load[:, 2] == pytest.approx(1.0, rel=1e-2)
    assert np.ptp(line_load[:, 2]) < 1e-3


def test_gap_is_the_distance_of_the_nearest_parts():
    """The nearest element of a rod above a cone need not be the one with the nearest middle."""
    result = COLLISIONS["rod on a cone, side"].run(DISSIPATIVE)
    assert result.contact("c").gap == pytest.approx(result.distance("a", "b"), abs=1e-12)
