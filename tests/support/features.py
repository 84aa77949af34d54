"""Features of the package, as a list of lines made from its registries.

`python -m tests.support.features` writes it to tests/api/features.txt. Lines may be added; a removed line is a lost feature.
"""

import argparse
from pathlib import Path

from discretization.time.em_family import EM_FAMILY
from discretization.time.families import FAMILIES
from discretization.time.invariants import declared_invariants
from discretization.time.mechanical_stepper import CHARTS
from rodsim.cli.main import parser
from rodsim.papers.property_tables import ROWS
from rodsim.results.export import FORMATS
from rodsim.results.plot import KINDS, OF_POINTS
from rodsim.scenes.schema import Scene
from tests.support.completeness import MODELS
from tests.support.consumers import CONSUMERS, REFUSED, acting_kinds

FILE = Path(__file__).parents[1] / "api" / "features.txt"
README = Path(__file__).parents[2] / "README.md"


def interactions():
    """Each interaction kind of a model, with each consumer that supports it."""
    for name, make in MODELS.items():
        for kind in acting_kinds(make().build()):
            for consumer in CONSUMERS:
                if (name, consumer) not in REFUSED:
                    yield f"interaction: {kind}: {consumer}"


def integrators():
    """Each integrator in each chart, with its invariants; only one member of each family that is tested alone."""
    for name in [*(name.replace("(rho)", "(0.5)") for name in EM_FAMILY), *FAMILIES]:
        for chart in [None] if name.startswith("em") else CHARTS:
            conserved = ", ".join(sorted(declared_invariants(name, chart))) or "nothing"
            yield f"integrator: {name}: {chart or 'its own chart'}: keeps {conserved}"
    for name, chart, _ in ROWS:
        yield f"integrator: {name}: rotating body: {chart}"


def scene_keys():
    """Each key of each object of the schema, with the allowed words."""
    schema = Scene.model_json_schema()
    for name, part in {"Scene": schema, **schema["$defs"]}.items():
        for key, value in part.get("properties", {}).items():
            yield f"scene: {name}: {key}"
            for entry in [value, value.get("items", {}), *value.get("anyOf", [])]:
                for word in [*entry.get("enum", []), *([entry["const"]] if "const" in entry else [])]:
                    yield f"scene: {name}: {key}: {word}"


def commands():
    """Each option of each command."""
    [several] = [action for action in parser()._actions if isinstance(action, argparse._SubParsersAction)]
    for command, options in several.choices.items():
        yield f"command: {command}"
        for action in options._actions:
            for option in action.option_strings or [action.dest]:
                yield f"command: {command}: {option}"


def formats():
    """File formats of results."""
    yield "result file: vtkhdf"
    yield from (f"export: {name}" for name in FORMATS)
    yield from (f"plot: {kind}" for kind in ("overview", *KINDS, *OF_POINTS))
    yield from (f"picture: {ending}" for ending in ("png", "mp4", "gif"))


def rows_of_readme():
    """Yield the rows of its table of features."""
    table = README.read_text(encoding="utf-8").split("| you can | with |\n|---|---|\n")[1].split("\n\n")[0]
    for row in table.splitlines():
        yield "README: " + row.split("|")[1].strip()


def lines():
    """The list, sorted, each line once."""
    parts = (interactions, integrators, scene_keys, commands, formats, rows_of_readme)
    return sorted({line for part in parts for line in part()})


if __name__ == "__main__":
    FILE.write_text("\n".join(lines()) + "\n", encoding="utf-8")
    print(f"wrote {FILE}")
