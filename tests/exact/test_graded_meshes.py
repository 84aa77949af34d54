"""Graded meshes, and several sections along a rod: nodes at given places, stepped beams by hand, files, scenes."""

import pytest

from rodsim import Model, ModelError, Section, SectionStations, audit, equilibrium, simulate

L, P = 2.0, 3.0
ELEMENTS = ["se3", "relative(2)", "lagrange(3)", "relative(4)", "cayley(2)"]


def section(EI, mass=1.0):
    return Section.from_stiffness(
        EA=1e5, GA=4e4, GJ=50.0, EI=EI, mass_per_length=mass, inertia_per_length=1e-3
    )


THICK, THIN = section(100.0, 2.0), section(20.0, 1.0)


def cantilever(pieces=THICK, n_elements=None, **settings):
    model = Model("cantilever")
    rod = model.add_rod("rod", [(0, 0, 0), (L, 0, 0)], pieces, n_elements, **settings)
    model.add_joint("wall", "clamp", rod.start)
    model.add_force("P", rod.end, (0, 0, -P))
    return model


def fractions(model):
    rod = model.build().layout.rods[0]
    return rod.arclength / L


@pytest.mark.parametrize("element", ELEMENTS)
def test_given_points_become_ends_of_elements(element):
    given = [0.0, 0.1, 0.3, 0.35, 1.0]
    nodes = fractions(cantilever(nodes=given, element=element))
    order = int(element[-2]) if "(" in element else 1
    assert nodes[::order] == pytest.approx(given, abs=1e-15)
    assert len(nodes) == 4 * order + 1


def test_ends_may_be_left_out_and_anchors_are_added():
    model = cantilever(nodes=[0.1, 0.5])
    assert fractions(model) == pytest.approx([0, 0.1, 0.5, 1.0])
    model.add_force("there", model.rods["rod"].at(0.7), (0, 0, 1.0))
    assert fractions(model) == pytest.approx([0, 0.1, 0.5, 0.7, 1.0])
    assert "3 se3 elements" in repr(model.rods["rod"])


def test_more_elements_divide_the_longest():
    assert fractions(cantilever(nodes=[0.1, 0.4], n_elements=4)) == pytest.approx([0, 0.1, 0.4, 0.7, 1])


def test_graded_mesh_of_equal_elements_is_the_plain_one():
    given = [k / 8 for k in range(9)]
    plain, graded = (
        simulate(cantilever(**mesh), 0.1, 0.01, progress=False)
        for mesh in ({"n_elements": 8}, {"nodes": given})
    )
    assert plain.rod("rod").r.tobytes() == graded.rod("rod").r.tobytes()


@pytest.mark.parametrize("element", ["relative(2)", "lagrange(2)", "relative(4)"])
def test_graded_mesh_keeps_energy_and_the_beam(element):
    model = cantilever(nodes=[0.02, 0.06, 0.15, 0.4], element=element)
    tip = -equilibrium(model, linear=True).displacement("rod.end")[2]
    assert tip == pytest.approx(P * L**3 / 300 + P * L / 4e4, rel=1e-10)
    assert audit(simulate(model, 0.2, 0.004, progress=False)).energy_balance < 1e-11


@pytest.mark.parametrize("element", ["relative(2)", "lagrange(2)", "relative(4)"])
def test_stepped_cantilever_by_hand(element):
    """P (L^3 - b^3)/(3 EI1) + P b^3/(3 EI2) + shear, b = 0.7 L the length of the thin piece."""
    model = cantilever([(0.3, THICK), (1.0, THIN)], 6, element=element)
    assert 0.3 in fractions(model).round(12)
    b = 0.7 * L
    exact = P * ((L**3 - b**3) / 300 + b**3 / 60 + L / 4e4)
    assert -equilibrium(model, linear=True).displacement("rod.end")[2] == pytest.approx(exact, rel=1e-10)


def test_mass_of_pieces_is_that_of_their_lengths():
    model = cantilever([(0.3, THICK), (0.45, THIN), (1.0, THICK)])
    frames = model.build().system.frames
    assert frames.mass[1:].sum() == pytest.approx(L * (0.85 * 2.0 + 0.15 * 1.0), rel=1e-13)


def test_one_piece_is_the_section_itself():
    alone, piece = (simulate(cantilever(x, 8), 0.1, 0.01, progress=False) for x in (THIN, [(1.0, THIN)]))
    assert alone.rod("rod").r.tobytes() == piece.rod("rod").r.tobytes()


def test_stations_between_equal_sections_are_that_section():
    stations = SectionStations([0, 0.3, 1], 3 * [THIN])
    tips = [
        equilibrium(cantilever(x, 6), linear=True).displacement("rod.end")[2]
        for x in (THIN, stations, SectionStations([0, 1], [THICK, THIN]))
    ]
    assert tips[0] == pytest.approx(tips[1], rel=1e-12)
    assert -tips[2] < -0.5 * tips[0]
    assert SectionStations([0, 1], [THICK, THIN])(0.25).stiffness[4, 4] == pytest.approx(80.0)


def test_pieces_and_nodes_survive_files_and_scenes(tmp_path):
    model = cantilever([(0.3, THICK), (1.0, THIN)], nodes=[0.05, 0.6], element="relative(2)")
    scene = model.save(tmp_path / "stepped.yaml")
    again = Model.load(scene)
    assert again.rods["rod"].nodes == model.rods["rod"].nodes
    assert again.build().system.spans.stiffness.tobytes() == model.build().system.spans.stiffness.tobytes()
    whole = simulate(model, 0.2, 0.01, progress=False, output_every=1)
    path = tmp_path / "run.vtkhdf"
    simulate(model, 0.1, 0.01, progress=False, output=path)
    rest = simulate(again, 0.1, 0.01, progress=False, start=path, output_every=1)
    assert rest.rod("rod").r[-1] == pytest.approx(whole.rod("rod").r[-1], abs=1e-12)


def test_scene_of_a_graded_stepped_rod(tmp_path):
    (tmp_path / "scene.yaml").write_text("""
name: stepped
run: {t_end: 0.1, dt: 0.01}
materials: {steel: {E: 2.0e11, nu: 0.3, density: 7800}}
sections: {thin: {type: circular, radius: 0.01, material: steel}}
rods:
  - name: shaft
    curve: [[0, 0, 0], [1, 0, 0]]
    section:
      - {until: 0.25, section: {type: circular, radius: 0.02, material: steel}}
      - {until: 1, section: thin}
    nodes: [0, 0.1, 0.25, 0.5, 1]
joints: [{name: wall, kind: clamp, a: shaft.start}]
""")
    rod = Model.load(tmp_path / "scene.yaml").rods["shaft"]
    assert [rod.section(s).radius for s in (0.0, 0.25, 0.26, 1.0)] == [0.02, 0.02, 0.01, 0.01]
    assert rod.n_elements == 4


def test_start_from_another_mesh_is_refused():
    first = simulate(cantilever(nodes=[0.1, 0.5]), 0.02, 0.01, progress=False)
    with pytest.raises(
        ModelError, match=r"node 1 of rod 'rod' .* at the fraction 0.2 .* at 0.1. Use the same mesh"
    ):
        simulate(cantilever(nodes=[0.2, 0.5]), 0.02, 0.01, progress=False, start=first)


@pytest.mark.parametrize(
    ("message", "settings"),
    [
        (r"nodes\[2\] = 0.1 does not lie behind nodes\[1\] = 0.5", {"nodes": [0, 0.5, 0.1, 1]}),
        (r"nodes\[1\] = 0.5 does not lie behind", {"nodes": [0.5, 0.5]}),
        ("fractions of the length, from 0 to 1", {"nodes": [0, 1.0, 2.0]}),
        ("nodes has shape", {"nodes": [[0.5]]}),
        (r"section\[0\] = .* is not a piece", {"pieces": [THICK]}),
        (r"section\[0\] = .* is not a piece", {"pieces": [(0.5, 3.0)]}),
        ("ends of its sections are .* they grow from above 0 to 1", {"pieces": [(0.5, THICK)]}),
        ("they grow from above 0 to 1", {"pieces": [(0.5, THICK), (0.4, THIN), (1.0, THIN)]}),
        ("they grow from above 0 to 1", {"pieces": []}),
        ("those of strings", {"pieces": [(0.5, Section.string(EA=1.0, mass_per_length=1.0)), (1.0, THIN)]}),
        ("is not a Section, a list of", {"pieces": 3.0}),
    ],
)
def test_invalid_meshes_and_pieces_are_refused(message, settings):
    with pytest.raises(ModelError, match=message):
        cantilever(**settings)
