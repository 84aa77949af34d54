"""Content of the reference.

Docstrings with arguments, shapes, units and errors; scenes with descriptions and units.
"""

import inspect
import re

import pytest

import rodsim
from rigid import signals
from rodsim.components import model_parts as parts
from rodsim.results import export, histories, joint_history, plot, render
from rodsim.scenes.schema import Scene
from rodsim.small_motions import modal_analysis
from rodsim.statics import equilibrium_results as static_results
from rodsim.statics import linear_buckling as stability
from tests.support import public_interface

PUBLIC = [
    name
    for name in public_interface.MODULES
    if not name.startswith(("rodsim.interactions", "rodsim.signals"))
]
MODULES = (parts, histories, joint_history, static_results, modal_analysis, stability)
# classes that users obtain without importing them
REFERENCE_CLASSES = (
    *(parts.Rod, parts.Body, parts.Driven, parts.Ground),
    *(histories.RodHistory, histories.BodyHistory, joint_history.JointHistory),
    *(static_results.Equilibrium, modal_analysis.Modes),
)
HISTORIES = (rodsim.Result, *REFERENCE_CLASSES[4:8])
PICTURES = (plot.plot, render.render, render.render_movie, export.export)
PLAIN = re.compile(
    r"list|TightBend|Event|dict|str|Path|bool|int\b|Layout|JSON|Reactions"
)  # names without a shape
SIGNALS = [x for x in vars(signals).values() if isinstance(x, type) and issubclass(x, signals.Signal)]


def public_names():
    """Pairs (name, object); signals are tested below, helpers for interactions are described on their page."""
    return public_interface.public_names(PUBLIC)


def classes():
    exported = [value for _, value in public_names()]
    return [*(value for value in exported if inspect.isclass(value)), *REFERENCE_CLASSES]


def members(cls):
    """Pairs (name, function or property) of the public interface of a class."""
    for name, value in inspect.getmembers(cls):
        known = any(hasattr(base, name) for base in (tuple, Exception))
        module = str(getattr(value, "__module__", "") or "").split(".")[0]
        known |= module not in ("", "rodsim", "rigid", "discretization") and not isinstance(value, property)
        routine = inspect.isroutine(value) or isinstance(value, property) or hasattr(value, "func")
        old = str(value.__doc__).startswith("Old name of ")
        if not name.startswith("_") and routine and not known and not old:
            yield name, value


def documented_objects():
    """Pairs (words, object) of all docstrings in the reference."""
    yield from public_names()
    for cls in classes():
        yield cls.__name__, cls
        for name, value in members(cls):
            yield f"{cls.__name__}.{name}", value
    for function in PICTURES:
        yield function.__name__, function
    for kind in SIGNALS:
        yield kind.__name__, kind


def callables():
    """Triples (words, function, docstring) of everything that is called with arguments."""
    for words, value in documented_objects():
        if inspect.isroutine(value) and callable(value):
            yield pytest.param(value, id=words)


def arrays():
    """Properties that are arrays."""
    for cls in HISTORIES:
        for name, value in members(cls):
            getter = getattr(value, "fget", None) or getattr(value, "func", None)
            if getter and not PLAIN.search(str(getter.__annotations__.get("return", "str"))):
                yield pytest.param(getter, id=f"{cls.__name__}.{name}")


def test_public_names_have_docstrings():
    bare = [words for words, value in documented_objects() if not (inspect.getdoc(value) or "").strip()]
    assert bare == []


@pytest.mark.parametrize("function", list(callables()))
def test_docstrings_document_each_argument(function):
    docstring = inspect.getdoc(function)
    names = [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]
    if function.__name__.startswith("add_"):
        names.remove("name")  # documented once, with the class
    assert [name for name in names if not re.search(rf"\b{name}\b", docstring)] == []


@pytest.mark.parametrize("getter", list(arrays()))
def test_result_array_docstrings_state_the_shape(getter):
    assert re.match(r"\((T|n_nodes|n_elements|modes?)\b", inspect.getdoc(getter))


def test_docstrings_document_raised_errors():
    """Functions whose own source raises ModelError or ResultError."""
    checking = [exported for _, exported in public_names() if inspect.isfunction(exported)]
    checking += [value for name, value in members(rodsim.Model) if name.startswith("add_")]
    assert len(checking) > 35
    assert [exported.__qualname__ for exported in checking if "Error" not in inspect.getdoc(exported)] == []


def schema_keys():
    """Every key of every object of the schema."""
    schema = Scene.model_json_schema()
    for name, part in {"Scene": schema, **schema["$defs"]}.items():
        for key, value in part.get("properties", {}).items():
            yield pytest.param(value, id=f"{name}.{key}")


def holds_numbers(schema):
    """True if the schema has numbers there, outside of other objects."""
    if schema.get("type") in ("number", "integer"):
        return True
    inner = [*schema.get("anyOf", []), *schema.get("oneOf", []), schema.get("items")]
    return any(holds_numbers(part) for part in inner if part)


@pytest.mark.parametrize("field", list(schema_keys()))
def test_scene_keys_have_descriptions_and_units(field):
    """Write it as a string under the field: the description, then [unit] for numbers."""
    words = field.get("description", "")
    assert words
    assert bool(re.search(r"\[[^\[\]]+\]$", words)) >= holds_numbers(field)
