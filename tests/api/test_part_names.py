"""Names may be used for parts and points wherever a model accepts them.

The model equals the one built with the objects.
"""

import numpy as np
import pytest

from discretization.system import fingerprint
from rodsim import Box, Material, Model, SceneError, Section, measures
from tests.support.user_kinds import Spring

CORD, Z = [(0, 0, 1), (1, 0, 1)], (0, 0, 1)


def model_with_parts():
    """A model of two bodies, two rods and a driven frame, and these parts."""
    model = Model("m", gravity=(0, 0, -9.81))
    section = Section.circular(0.01, Material(E=1e7, nu=0.3, density=1000.0))
    block = model.add_body("block", Box(1, 1, 1, mass=1))
    other = model.add_body("other", Box(1, 1, 1, mass=1), position=(3, 0, 0))
    cord = model.add_rod("cord", CORD, section, 4)
    rope = model.add_rod("rope", [(0, 1, 1), (1, 1, 1)], section, 4)
    cart = model.add_driven("cart", position=(0, 5, 0))
    return model, block, other, cord, rope, cart


def attachment_of(model, text):
    """Point at which a spring with this end acts."""
    return model.add_spring("string", "other", text, 1.0).b


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("cord.start", lambda model: model.rods["cord"].start),
        ("cord.end", lambda model: model.rods["cord"].end),
        ("cord@0.3", lambda model: model.rods["cord"].at(0.3)),
        ("block@0.1,0,-2", lambda model: model.bodies["block"].at((0.1, 0, -2))),
        ("cart@0,0,1e-1", lambda model: model.driven["cart"].at((0, 0, 0.1))),
        ("ground@1,2,3", lambda model: model.ground.at((1, 2, 3))),
        ("block", lambda model: model.bodies["block"].at((0, 0, 0))),
        ("cart", lambda model: model.driven["cart"].at((0, 0, 0))),
    ],
)
def test_part_name_denotes_a_point(text, point):
    model = model_with_parts()[0]
    named, expected = attachment_of(model, text), point(model)
    assert named.part is expected.part
    assert named.s == expected.s
    assert np.array_equal(named.X, expected.X)


def test_part_takes_precedence_over_a_point_of_the_same_name():
    model = model_with_parts()[0]
    odd = model.add_body("cord.end", Box(1, 1, 1, mass=1))
    assert attachment_of(model, "cord.end").part is odd


def model_with_all_attachments(by_name):
    """One of each entry that is attached to parts, by names or by objects."""
    model, block, other, cord, rope, cart = model_with_parts()

    def name_or_part(name, part):
        return name if by_name else part

    model.add_joint(
        "glue", "weld", name_or_part("cord.end", cord.end), name_or_part("block", block), at=(1, 0, 1)
    )
    model.add_joint(
        "pin",
        "revolute",
        name_or_part("ground", model.ground),
        name_or_part("other", other),
        at=(3, 0, 0),
        axis=Z,
    )
    model.add_spring(
        "coil", name_or_part("rope.start", rope.start), name_or_part("other@1,0,0", other.at((1, 0, 0))), 5.0
    )
    model.add_spring(
        "twist", name_or_part("block", block), name_or_part("other", other), 2.0, along="rotation", axis=Z
    )
    model.add_bushing("bush", name_or_part("cart", cart), name_or_part("block", block), [1, 1, 1, 1, 1, 1])
    model.add_force("push", name_or_part("cord@0.25", cord.at(0.25)), (1, 2, 3))
    model.add_moment("turn", name_or_part("other", other), (1, 2, 3))
    model.add_distributed_load("wind", name_or_part("cord", cord), (0, 1, 0))
    model.add_pressure("gas", name_or_part("rope", rope), 3.0, (0, 0, 1))
    model.add_mass_damping("air", name_or_part("rope", rope), 0.5)
    model.add_energy(
        "e",
        "k*d**2",
        {"d": measures.distance(name_or_part("rope.end", rope.end), name_or_part("block", block))},
        k=2.0,
    )
    model.add_interaction(
        "own", Spring, name_or_part("block", block), name_or_part("cord@0.5", cord.at(0.5)), k=3.0, l0=0.5
    )
    ball = model.add_sphere("ball", name_or_part("block@0,0,1", block.at((0, 0, 1))), 0.1)
    floor = model.add_plane("floor", name_or_part("ground@0,0,-9", model.ground.at((0, 0, -9))), (0, 0, 1))
    model.add_contact("touch", name_or_part("ball", ball), name_or_part(["floor"], [floor]), 1e4)
    every = name_or_part(["rope", "cord", "floor"], [rope, cord, floor])
    model.add_contact("more", every, stiffness=1e4, ignore=name_or_part([("cord", "floor")], [(cord, floor)]))
    return model


def test_model_built_by_names_equals_that_built_by_objects():
    one, other = (model_with_all_attachments(by_name).build() for by_name in (True, False))
    assert fingerprint(one.system) == fingerprint(other.system)
    assert one.layout.description == other.layout.description
    t = np.array([0.0, 0.5])
    assert np.array_equal(one.load_values(t), other.load_values(t))


SCENE = """
materials: {{rubber: {{E: 1.0e+7, nu: 0.3, density: 1000}}}}
sections: {{round: {{type: circular, radius: 0.01, material: rubber}}}}
bodies:
  - {{name: block, shape: {{type: box, size: [1, 1, 1], mass: 1}}, position: {{at: {point}}}}}
rods: [{{name: cord, curve: [[0, 0, 1], [1, 0, 1]], section: round, n_elements: 4}}]
loads: [{{name: push, kind: force, on: {point}, value: [0, 0, 1]}}]
springs: [{{name: coil, a: {{ground: [0, 0, 5]}}, b: {corner}, stiffness: 2}}]
run: {{t_end: 0.1, dt: 0.01}}
"""


def test_scenes_accept_the_same_names(tmp_path):
    def scene(point, corner):
        (tmp_path / "scene.yaml").write_text(SCENE.format(point=point, corner=corner))
        return Model.load(tmp_path / "scene.yaml")

    one = scene("cord@0.75", '"block@0.1,0,0"')
    other = scene("{rod: cord, s: 0.75}", "{body: block, at: [0.1, 0, 0]}")
    assert fingerprint(one.build().system) == fingerprint(other.build().system)
    assert one.bodies["block"].position == pytest.approx([0.75, 0, 1])
    with pytest.raises(SceneError, match=r"there is no body 'cort\.end'"):
        scene("cord.end", "cort.end")
    with pytest.raises(SceneError, match=r"spring 'coil'.*not a point of body 'block'"):
        scene("cord.end", '"block@0.1"')
