"""Every function that accepts a result also accepts the path of its file.

Methods of a result equal the functions.
"""

import inspect
import re

import pytest

import rodsim
from rodsim import Box, Material, Model, ModelError, Result, ResultError, Section, simulate

RUBBER = Material(E=1e6, nu=0.4, density=1000.0)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    model = Model("m", gravity=(0, 0, -9.81))
    rod = model.add_rod("cord", [(0, 0, 0), (1, 0, 0)], Section.circular(0.02, RUBBER), 4)
    block = model.add_body("block", Box(0.1, 0.1, 0.1, density=500), position=(1.05, 0, 0))
    model.add_joint("pin", "spherical", model.ground, rod.start)
    model.add_joint("glue", "weld", rod.end, block)
    file = tmp_path_factory.mktemp("run") / "run.vtkhdf"
    simulate(model, 0.04, 0.01, output=file)
    return file


def content(file):
    return file.read_bytes()


# name -> product of a result or a path in a folder
PRODUCTS = {
    "audit": lambda call, folder: call().text(),
    "local_audit": lambda call, folder: call().text(),
    "plot": lambda call, folder: content_of_plot(call, folder),
    "render": lambda call, folder: call(size=(80, 60)).tobytes(),
    "render_movie": lambda call, folder: call(folder / "a.gif", size=(80, 60), fps=50),
    "export": lambda call, folder: [content(file) for file in call(folder / "a.pvd")],
    "report": lambda call, folder: re.sub(rb"20..-..-.. ..:.. UTC", b"", content(call(folder / "a.html"))),
}


def content_of_plot(call, folder):
    figure = call("energy", folder / "a.png")
    return [line.get_ydata().tobytes() for line in figure.axes[0].lines], (folder / "a.png").exists()


@pytest.mark.parametrize("name", PRODUCTS)
def test_path_result_and_method_are_equivalent(name, path, tmp_path):
    function, result = getattr(rodsim, name), Result.load(path)
    products = []
    for k, first in enumerate(
        [(function, result), (function, path), (function, str(path)), (getattr(result, name),)]
    ):
        folder = tmp_path / "files"  # the same name each time: some files contain it
        folder.mkdir()
        products.append(
            PRODUCTS[name](lambda *args, f=first, **options: f[0](*f[1:], *args, **options), folder)
        )
        folder.rename(tmp_path / f"files{k}")
    assert products[0]
    assert products[1:] == products[:1] * 3


def test_comparison_accepts_two_paths(path):
    by_path, by_result = rodsim.compare(path, str(path)), rodsim.compare(Result.load(path), Result.load(path))
    assert by_path.rows == by_result.rows


def test_view_accepts_a_path(path, monkeypatch):
    """Both need a display, which is missing."""
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    for view in (Result.load(path).view, lambda *arguments: rodsim.view(path, *arguments)):
        with pytest.raises(Exception, match="xvfb-run"):
            view("speed", "top")
        with pytest.raises(ValueError, match="no quantity 'hue'"):
            view("hue", "top")


def test_view_reads_its_file_before_opening_a_display(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no\.vtkhdf"):
        rodsim.view(tmp_path / "no.vtkhdf")


@pytest.mark.parametrize("name", [*PRODUCTS, "view"])
def test_methods_have_the_arguments_of_their_function(name):
    function = inspect.signature(getattr(rodsim, name)).parameters
    method = inspect.signature(getattr(Result, name)).parameters
    assert [
        (parameter.name, parameter.default, parameter.kind) for parameter in list(method.values())[1:]
    ] == [(parameter.name, parameter.default, parameter.kind) for parameter in list(function.values())[1:]]


@pytest.mark.parametrize("name", PRODUCTS)
def test_non_results_and_missing_paths_are_rejected(name, tmp_path):
    function = getattr(rodsim, name)
    files = {"export": "a.pvd", "report": "a.html", "render_movie": "a.gif"}
    target = [tmp_path / files[name]] if name in files else []
    for wrong in (None, {}, 3, [1.0]):
        with pytest.raises(ResultError, match="expected a result or the path of a result file, got"):
            function(wrong, *target)
    with pytest.raises(FileNotFoundError, match=r"no\.vtkhdf"):
        function(tmp_path / "no.vtkhdf", *target)
    assert list(tmp_path.iterdir()) == []


TAKES_A_MODEL = {
    "simulate": lambda m: simulate(m, 1.0, 0.1),
    "equilibrium": rodsim.equilibrium,
    "modes": rodsim.modes,
    "buckling": rodsim.buckling,
    "linearise": rodsim.linearise,
    "rotation": lambda m: rodsim.steady_rotation(m, (0, 0, 1)),
    "state space": lambda m: rodsim.linear.state_space(m, [], []),
    "response": lambda m: rodsim.linear.frequency_response(m, [], [], [1.0]),
}
NO_MODEL = [
    ({"name": "m"}, r"expected a Model, got a dict. Read the scene file with Model.load\(path\)"),
    ("scene.yaml", r"expected a Model, got 'scene.yaml'. Read a scene file with Model.load\(path\)"),
    (None, r"expected a Model, got None. Make one with Model\(\) or Model.load\(path\)"),
]


@pytest.mark.parametrize("name", TAKES_A_MODEL)
@pytest.mark.parametrize(("argument", "words"), NO_MODEL)
def test_non_models_are_rejected(name, argument, words):
    with pytest.raises(ModelError, match=words):
        TAKES_A_MODEL[name](argument)
