"""User input of contacts: requirements on surfaces and contacts, resulting pairs, error messages."""

from __future__ import annotations

import math

import pytest

from rigid.errors import ModelError
from rodsim import Friction, Material, Model, Section, Sphere
from rodsim.building.contact_surfaces import contact_law, contact_losses
from rodsim.components.contacts import Pair, stiffness_of

STEEL, RUBBER = Material(E=2e11, nu=0.3, density=7800), Material(E=1e6, nu=0.5, density=1000)


def scene() -> Model:
    """Two balls above the floor, two rods of steel and rubber, a wall."""
    model = Model("scene", gravity=(0, 0, -9.80665))
    for k, name in enumerate(("one", "two")):
        body = model.add_body(name, Sphere(0.05, density=1000.0), (0, 0.5 * k, 1))
        model.add_sphere(f"ball {name}", body, 0.05)
    model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 2))
    model.add_plane("wall", model.ground.at((2, 0, 0)), (-1, 0, 0))
    for k, (name, material) in enumerate((("steel", STEEL), ("rubber", RUBBER))):
        model.add_rod(name, [(0, k, 0.5), (1, k, 0.5)], Section.circular(0.01, material), 5)
    return model


def add(model: Model, a, b=None, **options):
    """Add a contact between surfaces given by name."""
    every = {**model.rods, **model.spheres, **model.planes}

    def surfaces_of(of):
        if isinstance(of, list | tuple):
            return type(of)(map(surfaces_of, of))
        return every.get(of, of) if isinstance(of, str) else of

    if "ignore" in options:
        options["ignore"] = surfaces_of(options["ignore"])
    return model.add_contact("it", surfaces_of(a), surfaces_of(b), **options)


K = {"stiffness": 1e4}
ONE, TWO, FLOOR, WALL = "ball one", "ball two", "floor", "wall"

BALL_CASES = [  # on a floor
    ({}, r"plane 'floor' and sphere 'ball one' have no material .*give stiffness= \(N/m\^n\)"),
    ({"stiffness": 0.0}, r"stiffness = 0.0 is not positive; give a number above 0"),
    ({"stiffness": -1.0}, r"stiffness = -1.0 is not positive"),
    ({"stiffness": math.nan}, r"stiffness = nan is not a finite number; expected a finite number"),
    ({**K, "exponent": 0.5}, r"exponent = 0.5 is below 1.*give 1 \(linear\), 1.5 \(Hertz\)"),
    ({**K, "restitution": 0.0}, r"restitution = 0 is outside \(0, 1\]"),
    ({**K, "restitution": 1.1}, r"restitution = 1.1 is outside \(0, 1\]"),
    ({**K, "damping": -1.0}, r"damping = -1.0 is below 0"),
    ({**K, "rest_speed": 0.0}, r"rest_speed = 0.0 is not positive"),
    ({**K, "friction": 0.3, "exponent": 1.5}, r"not linear needs tangential_stiffness="),
    ({**K, "stations": 0}, r"stations = 0 is too small; give at least 1"),
    ({**K, "law": "spring"}, r"law = 'spring' is not known; choose one of power, barrier"),
    ({**K, "law": 3}, r"law = 3 is not known"),
    ({**K, "law": "barrier"}, r"a barrier begins at a gap; give reach= \(m\)"),
    (
        {**K, "law": "barrier", "reach": 0.1, "exponent": 1.5},
        r"exponent = 1.5, but a barrier has no exponent",
    ),
    ({**K, "reach": 0.1}, r"reach = 0.1, but a power law begins where surfaces meet; remove it"),
    ({**K, "law": "depth"}, r"stiffness = 10000 besides the law 'depth'.*remove it"),
    ({"law": "depth", "reach": 0.1}, r"reach = 0.1 besides the law 'depth'"),
    ({"law": "depth", "exponent": 2}, r"exponent = 2 besides the law 'depth'"),
    ({"law": "depth**2", "friction": 1}, r"not linear needs tangential_stiffness="),
    ({**K, "ignore": [(ONE, FLOOR)]}, r"ball one' collides with nothing: all that it meets is in ignore"),
    ({**K, "ignore": [(ONE, WALL)]}, r"ignore names plane 'wall', which is not in a or b"),
    ({**K, "ignore": ONE}, r"ignore = .*; give a list of pairs"),
]
FRICTIONS = [  # a ball on a floor
    (-0.1, r"friction = -0.1 is below 0"),
    ((0.3, 0.4), r"kinetic coefficient 0.4 is above the static one, 0.3"),
    ((0.3, 0.4, 0.5), r"has 3 values. Expected one coefficient, or \(static, kinetic\)"),
    (Friction(0.0, tangential_stiffness=0.0), r"tangential_stiffness = 0.0 is not positive"),
    (Friction(0.0, rolling=-1.0), r"rolling = -1.0 is below 0"),
    (Friction(0.0, drilling=-1.0), r"drilling = -1.0 is below 0"),
    (Friction(0.1, drilling="much"), r"drilling = 'much' is not known.*friction"),
    (Friction(0.0, drilling="friction"), r"drilling = 'friction', but there is no friction; give friction="),
    (Friction(1, anisotropy=(1, 2, 1)), r"anisotropy needs friction on rods"),
]
TEXTS = [  # of laws
    ("depth +", r"'depth \+' cannot be read"),
    ("__import__('os').depth", r"cannot stand in an expression"),
    ("k*depth + a", r"law = 'k \* depth \+ a' has a, k; write numbers for it"),
    ("depth**4", r"of degree 4, above 3; give numbers times depth.*law='power' .*'barrier'"),
    ("(depth**40)**40", r"has parts of degree 1600"),
    ("depth**1.5", r"is not a polynomial of depth; .*law='power' with exponent="),
    *(
        (text, r"is not a polynomial of depth")
        for text in ("depth**-1", "1/depth", "depth/0", "exp(depth) - 1")
    ),
    ("1e300*(1e300*depth)", r"factor that is not a finite number"),
    ("5 + depth", r"a force of 5 at depth 0, which would jump there; remove"),
    ("depth - 5", r"a force of -5 at depth 0, which would jump there; remove"),
    *(
        (text, "falls at some depth")
        for text in ("-depth", "depth - depth**3", "3*depth - 3.001*depth**2 + depth**3")
    ),
    ("depth - depth", r"is zero at all depths"),
]
SIDE_CASES = [
    (([ONE, "steel"], FLOOR), {"law": "depth"}, r"the law 'depth' is per length for some of its pairs"),
    (
        ([ONE, "steel"], FLOOR),
        K,
        r"stiffness = 10000 is per length for plane 'floor' and rod 'steel', but not for plane",
    ),
    (
        ("steel", FLOOR),
        {"friction": Friction(1, anisotropy=(1, 0, 1))},
        r"anisotropy = .* give three above 0: forth, back, aside",
    ),
    (
        ("steel", FLOOR),
        {"friction": Friction(0.0, anisotropy=(1, 2, 1))},
        r"needs friction on rods, which this contact does not have",
    ),
    (("steel", FLOOR), {"radius": 0.0}, r"radius = 0.0 is not positive"),
    (
        ("steel", FLOOR),
        {"exponent": 1.5},
        r"from materials is that of a linear law; give stiffness= \(N/m\^\(n\+1\)\)",
    ),
    (("steel", "steel"), {}, r"rod 'steel' collides with nothing: rod 'steel' is on both sides"),
    (
        (ONE, TWO),
        {**K, "friction": Friction(0.1, drilling="friction")},
        r"drilling = 'friction' is available for planes only",
    ),
    ((ONE,), K, r"sphere 'ball one' alone meets nothing; give what it meets as b"),
    ((ONE, ONE), K, r"sphere 'ball one' collides with nothing: sphere 'ball one' is on both sides"),
    ((FLOOR, WALL), K, r"plane 'floor' collides with nothing: planes do not meet planes"),
    ((FLOOR, [ONE, WALL]), K, r"plane 'wall' collides with nothing: planes do not meet planes"),
    (([],), K, r"a is an empty list; give a sphere, a solid, a plane, a mesh, a rod or several"),
    ((ONE, []), K, r"b is an empty list"),
    (([ONE, ONE], FLOOR), K, r"a names sphere 'ball one' twice; remove one of them"),
    ((FLOOR, [ONE, TWO, ONE]), K, r"b names sphere 'ball one' twice"),
    (
        (ONE, 3.0),
        K,
        r"3.0 is not a surface; give a rod, or the return value of add_sphere, add_solid, add_plane or add_mesh",
    ),
]
INVALID = [*(((ONE, FLOOR), options, words) for options, words in BALL_CASES), *SIDE_CASES]
INVALID += [((ONE, FLOOR), {"law": text}, words) for text, words in TEXTS]
INVALID += [((ONE, FLOOR), {**K, "friction": friction}, words) for friction, words in FRICTIONS]


@pytest.mark.parametrize(("of", "options", "words"), INVALID, ids=range(len(INVALID)))
def test_invalid_contact_is_reported_with_value_and_remedy(of, options, words):
    model = scene()
    with pytest.raises(ModelError, match=f"^contact 'it': .*{words}"):
        add(model, *of, **options)
    assert not model.contacts


def test_invalid_spheres_and_planes_are_rejected():
    model = scene()
    with pytest.raises(ModelError, match=r"sphere 'x': radius = -1.0 is below 0"):
        model.add_sphere("x", model.bodies["one"], -1.0)
    with pytest.raises(ModelError, match=r"sphere 'x': rod 'steel'|<Rod 'steel'"):
        model.add_sphere("x", model.rods["steel"], 0.1)
    with pytest.raises(ModelError, match=r"plane 'x': normal = .* has no direction"):
        model.add_plane("x", model.ground.at((0, 0, 0)), (0, 0, 0))
    with pytest.raises(ModelError, match=r"plane 'x': the ground alone is not a point"):
        model.add_plane("x", model.ground, (0, 0, 1))
    with pytest.raises(ModelError, match=r"there is already a plane 'floor'"):
        model.add_sphere("floor", model.bodies["one"], 0.1)


def test_surface_of_another_model_is_rejected():
    model, other = scene(), scene()
    with pytest.raises(ModelError, match=r"sphere 'ball one' belongs to another model"):
        model.add_contact("it", other.spheres[ONE], model.planes[FLOOR], **K)
    with pytest.raises(ModelError, match=r"rod 'steel' belongs to another model"):
        model.add_contact("it", other.rods["steel"], model.planes[FLOOR])


def test_pairs_of_points_are_excluded():
    model = scene()
    a, b = (model.add_sphere(f"tip {name}", model.bodies[name], 0.0) for name in ("one", "two"))
    words = r"sphere 'tip one' and sphere 'tip two' have no radius, and points cannot touch"
    with pytest.raises(ModelError, match=words):
        add(model, "tip one", "tip two", **K)
    assert model.add_contact("it", a, model.planes[FLOOR], **K).pairs == [Pair(model.planes[FLOOR], a)]
    bare = Section.from_stiffness(EA=1, GA=1, GJ=1, EI=1, mass_per_length=1, inertia_per_length=1)
    rod = model.add_rod("bare", [(0, 3, 1), (1, 3, 1)], bare, 2)
    with pytest.raises(ModelError, match="have no radius"):
        model.add_contact("rods", rod, b, **K)
    with pytest.raises(ModelError, match="rod 'bare' has no Young's modulus"):
        model.add_contact("rods", rod, model.planes[FLOOR])


def test_two_contacts_do_not_share_a_pair():
    model = scene()
    add(model, [ONE, TWO], FLOOR, **K)
    words = r"plane 'floor' and sphere 'ball two' meet in contact 'it' already; remove"
    with pytest.raises(ModelError, match=words):
        model.add_contact("more", model.spheres[TWO], [model.planes[FLOOR], model.planes[WALL]], **K)


@pytest.mark.parametrize(
    ("of", "options", "expected"),
    [
        ((ONE, FLOOR), K, {(FLOOR, ONE)}),
        (([ONE, TWO], [FLOOR, WALL]), K, {(p, s) for p in (FLOOR, WALL) for s in (ONE, TWO)}),
        (([ONE, TWO, FLOOR, WALL],), K, {(p, s) for p in (FLOOR, WALL) for s in (ONE, TWO)} | {(ONE, TWO)}),
        (([TWO, ONE, FLOOR],), {**K, "ignore": [(TWO, FLOOR)]}, {(FLOOR, ONE), (ONE, TWO)}),
        (("steel",), {}, {("steel", "steel")}),
        ((["steel", "rubber"],), {}, {("rubber", "steel")}),
        (
            (["steel", "rubber"],),
            {"itself": True},
            {("rubber", "steel"), ("rubber", "rubber"), ("steel", "steel")},
        ),
        (("rubber", ONE), K, {(ONE, "rubber")}),
        (([ONE, TWO], [TWO, ONE]), K, {(ONE, TWO)}),
    ],
    ids=range(9),
)
def test_contact_pairs_follow_from_the_sides(of, options, expected):
    pairs = add(scene(), *of, **options).pairs
    assert sorted((x.name, y.name) for x, y in pairs) == sorted(expected)


def test_surfaces_of_one_body_or_of_driven_frames_do_not_touch():
    model = scene()
    foot = model.add_sphere("foot", model.bodies["one"].at((0, 0, -0.1)), 0.01)
    post = model.add_sphere("post", model.ground.at((0, 0, 5)), 0.1)
    with pytest.raises(ModelError, match=r"sphere 'foot' collides with nothing: .* are on body 'one' both"):
        model.add_contact("it", foot, model.spheres[ONE], **K)
    with pytest.raises(
        ModelError, match="neither plane 'floor' nor sphere 'post' is on a part that moves freely"
    ):
        model.add_contact("it", post, model.planes[FLOOR], **K)
    assert len(model.add_contact("it", [foot, post, model.spheres[ONE]], **K).pairs) == 2
    knot = model.add_sphere("knot", model.rods["steel"].end, 0.02)
    with pytest.raises(ModelError, match="sphere 'knot' is on rod 'steel'"):
        model.add_contact("more", knot, model.rods["steel"], **K)


def test_stiffness_of_rods_follows_from_their_materials():
    """pi/4 E* without Poisson's ratio: rubber on steel as rubber, rubber on rubber half of it."""
    model = scene()
    steel, rubber, floor = model.rods["steel"], model.rods["rubber"], model.planes[FLOOR]
    assert stiffness_of(Pair(floor, rubber)) == pytest.approx(math.pi / 4 * 1e6)
    assert stiffness_of(Pair(rubber, steel)) == pytest.approx(math.pi / 4 / (1 / 1e6 + 1 / 2e11))
    assert stiffness_of(Pair(rubber, rubber)) == pytest.approx(math.pi / 8 * 1e6)


def test_parameters_of_the_force_law_and_the_losses():
    model = scene()
    contact = add(model, ONE, FLOOR, stiffness=3.0, exponent=1.5, restitution=0.6, damping=0.2, rest_speed=0.01,
              friction=Friction(0.4, 0.5, 7.0, rolling=0.3, drilling=0.1))  # fmt: skip
    (pair,) = contact.pairs
    assert contact_law(contact, pair).tolist() == [0, 3.0, 1.5, 0.0]
    b = (1 - 0.36) / (1 + 0.36)
    assert contact_losses(contact, pair).tolist() == pytest.approx(
        [b, 0.2, 0.01, 0.5, 0.4, 7.0, 0.1, 0.3, 1, 1, 1]
    )
    assert (1 - b) / (1 + b) == pytest.approx(0.6**2)
    skin = Friction(1, anisotropy=(1, 2, 3))
    rod = model.add_contact("rod", model.rods["steel"], model.planes[FLOOR], friction=skin)
    assert contact_losses(rod, rod.pairs[0])[8:].tolist() == [1, 2, 3]
    wall = model.add_contact("wall", model.spheres[ONE], model.planes[WALL], 5.0, law="barrier", reach=0.1)
    assert contact_law(wall, wall.pairs[0]).tolist() == [1, 5.0, 1.0, 0.1]
    assert contact_losses(wall, wall.pairs[0])[5] == 5.0


@pytest.mark.parametrize(
    ("text", "coefficients"),
    [
        ("1e4*depth + 2e6*depth**3", (1e4, 0, 2e6)),
        ("depth", (1, 0, 0)),
        ("2*depth**2/4", (0, 0.5, 0)),
        ("(depth + 1)**3 - 1", (3, 3, 1)),
        ("-(-depth)*(3 - 3*depth + depth**2)", (3, -3, 1)),
        ("depth**4 + depth - depth**4", (1, 0, 0)),
        ("pi*depth**3", (0, 0, math.pi)),
    ],
)
def test_force_law_in_text_form_gives_its_coefficients(text, coefficients):
    """The bristle stiffness is the largest coefficient of the law."""
    contact = add(scene(), ONE, FLOOR, law=text, friction=0.0, restitution=0.5)
    assert contact_law(contact, contact.pairs[0]).tolist() == [2, *coefficients]
    assert contact_losses(contact, contact.pairs[0])[5] == max(coefficients)
    assert contact.described()["law"] == contact.law
