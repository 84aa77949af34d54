"""Shared models and helpers: prepared models."""

import dataclasses

import numpy as np

import rodsim.model
from rodsim import Box, Material, Model, Section, SpringLaw
from rodsim.components.parameter_changes import changeable, fields_of
from tests.support.completeness import MODELS as EVERY_KIND


def _material_parameters():
    """Material numbers, which sections given as stiffnesses do not have."""
    model = Model("made", gravity=(0.1, -0.2, -0.9))
    gel = Material(E=2e3, nu=0.3, density=100.0)
    rod = model.add_rod("gel", [(0, 0, 0), (1, 0, 0)], Section.circular(0.1, gel), 2)
    model.add_joint("clamp", "clamp", rod.start)
    return model


MODELS = {**EVERY_KIND, "made": _material_parameters}


def _one_path_per_field():
    """A model and a path for each field of each entry kind, and for parameters outside of entries."""
    first_paths = {}
    for name, make in MODELS.items():
        model = make()
        for path in changeable(model):
            key, _, path_in_key = path.partition(".")
            first_paths.setdefault((key, path_in_key.rpartition(".")[2]), (name, path))
    return first_paths


CASES = _one_path_per_field()


def _nearby_value(value, field):
    """A value close to the original."""
    if isinstance(value, Section):
        return dataclasses.replace(value, stiffness=1.03 * value.stiffness, radius=1.02 * value.radius)
    if callable(value) and field == "section":
        return lambda s: _nearby_value(value(s), field)
    if field == "shape":
        return Box(0.52, 0.3, 0.2, density=103.0)
    if field in ("law", "damping") and isinstance(value, SpringLaw):
        return SpringLaw.polynomial([0.0, 3.1, 0.0, 0.2], reach=60.0)
    if isinstance(value, dict):
        return {name: 1.03 * x for name, x in value.items()}
    if value is None and "velocity" in field:
        return (0.01, -0.02, 0.03)
    if value is None:
        return 0.7
    if callable(value):
        return lambda t: 1.03 * np.asarray(value(t)) + 0.011
    if field == "period":
        return 2.0 * value  # a multiple of the step
    moved = 1.03 * np.asarray(value, float) if np.any(value) else np.asarray(value, float) + 0.011
    return moved if moved.ndim else float(moved)


def _rebuilt(name, path, value, monkeypatch):
    """The model built with this number, and the original value."""
    key, _, path_in_key = path.partition(".")
    part, _, field = path_in_key.rpartition(".")
    before, add, make_body, make_rod = [], rodsim.model.add, rodsim.model.make_body, rodsim.model.make_rod

    def other(old):
        before.append(old)
        return old if value is None else value

    def adding(model, kind, named, /, **arguments):
        if (getattr(kind, "key", ""), named) == (key, part):
            parameter = fields_of(kind)[field]
            arguments[parameter] = other(arguments.get(parameter, kind.fields()[parameter].default))
        return add(model, kind, named, **arguments)

    def making(named, shape, position, orientation, velocity, angular_velocity):
        arguments = {"shape": shape, "velocity": velocity, "angular_velocity": angular_velocity}
        if (key, part) == ("bodies", named):
            arguments[field] = other(arguments[field])
        return make_body(
            named,
            arguments["shape"],
            position,
            orientation,
            arguments["velocity"],
            arguments["angular_velocity"],
        )

    def rolling(named, shape, stress_free, section, *arguments, **settings):
        path, of_section = f"{part}.{field}", f"{named}.section"
        if key == "rods" and path == of_section:
            section = other(section)
        elif key == "rods" and path.startswith(of_section):
            number = path[len(of_section) + 1 :]
            section = section.with_numbers({number: other(section.numbers[number])})
        return make_rod(named, shape, stress_free, section, *arguments, **settings)

    with monkeypatch.context() as patch:
        patch.setattr(rodsim.model, "add", adding)
        patch.setattr(rodsim.model, "make_rod", rolling)
        patch.setattr(rodsim.model, "make_body", making)
        model = MODELS[name]()
    if key == "gravity":
        before.append(model.gravity)
        model.gravity = model.gravity if value is None else np.asarray(value)
    return model, before[0]


def _stored_data(result):
    """Everything stored in a result, and its description."""
    stored = {name: array.tobytes() for name, array in result._source._arrays.items()}
    layout = result.layout
    known = [layout.gravity.tobytes(), *(column.tobytes() for column in layout.constraints)]
    known += [column.tobytes() for rod in layout.rods for column in (rod.radius, rod.sides)]
    return stored, layout.description, known


def _beam(force=-5.0, E=2e9):
    model = Model("beam", gravity=(0, 0, -9.81))
    section = Section.from_stiffness(
        EA=E * 1e-3,
        GA=E * 4e-4,
        GJ=E * 8e-8,
        EI=E * 1e-7,
        mass_per_length=1.0,
        inertia_per_length=(2e-4, 1e-4, 1e-4),
    )
    beam = model.add_rod("beam", [(0, 0, 0), (1, 0, 0)], section, 4)
    model.add_joint("clamp", "clamp", beam.start)
    model.add_force("tip", beam.end, (0, 0, force))
    model.add_distributed_load("snow", beam, (0, 0, 0.3 * force))
    return model
