"""Commands `rodsim check` and `rodsim info` (contents of a scene or result) and `rodsim audit` (laws of a result)."""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rigid.errors import ModelError
from rodsim.cli.exit_codes import LAW_BROKEN, OK
from rodsim.cli.files import is_scene, open_result
from rodsim.cli.scene_options import add_set, load_scene

if TYPE_CHECKING:
    from rodsim.results.result import Result
    from rodsim.scenes.model_from_scene import Loaded


def add_parsers(commands: Any) -> None:
    """Add the commands and their options to `commands`."""
    parser = commands.add_parser("check", help="check a scene without running it")
    parser.add_argument("scene")
    add_set(parser)
    parser.set_defaults(act=check)

    parser = commands.add_parser("info", help="what is in a scene or a result")
    parser.add_argument("file")
    add_set(parser)
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.set_defaults(act=info)

    parser = commands.add_parser("audit", help="energies, momenta, constraints of a result: were they kept?")
    parser.add_argument("file")
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.add_argument(
        "--local",
        action="store_true",
        help="instead: what the local laws of energy and momenta leave along the rods, from output to output",
    )
    parser.add_argument("-o", "--output", help="with --local: folder for pictures; default: none are drawn")
    parser.add_argument(
        "--import",
        dest="imported",
        action="append",
        default=[],
        metavar="SCRIPT",
        help="your Python file that registers interactions of your own; it is run",
    )
    parser.set_defaults(act=audit)


def check(options: argparse.Namespace) -> int:
    """Check a scene, print its summary and advice, and return the exit code: rodsim check."""
    from rodsim.building.build import Placement
    from rodsim.building.contact_doubts import expectations
    from rodsim.resonance import resonant_steps

    loaded = load_scene(options.scene, options.set)
    print(_scene_words(loaded))
    run = loaded.scene.run
    if run is None or run.dt is None:  # no steps, or adaptive ones
        return OK
    for line in resonant_steps(loaded.model, run.integrator, run.dt):
        print(f"advice: {line}")
    if loaded.model.contacts:
        for line in expectations(loaded.model, Placement(loaded.model), run.dt):
            print(f"advice: {line}")
    return OK


def info(options: argparse.Namespace) -> int:
    """Print the contents of a scene or result and return the exit code: rodsim info."""
    if is_scene(options.file):
        loaded = load_scene(options.file, options.set)
        print(loaded.scene.model_dump_json(indent=2) if options.json else _scene_words(loaded))
        return OK
    if options.set:
        raise ModelError(f"'{options.file}' is a result; --set is for scenes: leave it out")
    result = open_result(options.file)
    if options.json:
        print(json.dumps({**_facts(result), "description": result.description}, indent=2))
    else:
        print("\n".join(_result_words(result)))
    return OK


def _scene_words(loaded: Loaded) -> str:
    """Describe a scene in one line: numbers of rods, bodies, joints, springs and loads, of other parts if any, and the run."""
    scene = loaded.scene
    counts = []
    for key, items in scene:
        if isinstance(items, list) and key != "gravity" and (items or key in _ALWAYS):
            one, many = _NAMED.get(key, (key[:-1], key))
            counts.append(f"{len(items)} {(one if len(items) == 1 else many).replace('_', ' ')}")
    run = scene.run
    how = "equilibrium"
    if run:
        steps = f"error = {run.error:g}" if run.dt is None else f"dt = {run.dt:g} s"
        how = f"{run.integrator}, {steps} to t = {run.t_end:g} s"
    return f"scene '{scene.name}': {', '.join(counts)}; {how}"


_ALWAYS = ("rods", "bodies", "joints", "springs", "loads")
_NAMED = {"bodies": ("body", "bodies"), "driven": ("driven frame", "driven frames")}


def _facts(result: Result) -> dict[str, Any]:
    """Return the contents of a result as plain data, for JSON."""
    t, layout, description = result.t, result.layout, result.description
    return {
        "model": layout.name,
        "n_outputs": result.n_outputs,
        "t_start": float(t[0]) if len(t) else None,
        "t_end": float(t[-1]) if len(t) else None,
        "rods": {rod.name: {"nodes": len(rod.frames), "elements": len(rod.elements)} for rod in layout.rods},
        "bodies": [body.name for body in layout.bodies],
        "joints": {joint.name: joint.kind for joint in layout.joints},
        "run": description.get("run", {}),
        "statics": description.get("statics", {}),
        "start": description.get("start", {}),
        "initial_velocity_change": description.get("initial_velocity_change", {}),
        "undetermined": description.get("undetermined", []),
    }


def _result_words(result: Result) -> list[str]:
    """Describe the contents of a result in lines of text."""
    from rodsim.results.static_words import start_words

    t, layout, description = result.t, result.layout, result.description
    span = f"t = {t[0]:g} to {t[-1]:g} s" if len(t) else "no output yet"
    lines = [f"result of '{layout.name}': {result.n_outputs} outputs, {span}"]
    lines += [
        f"  rod '{rod.name}': {len(rod.frames)} nodes, {len(rod.elements)} elements" for rod in layout.rods
    ]
    if layout.bodies:
        lines.append(f"  {len(layout.bodies)} bodies: {_some([body.name for body in layout.bodies])}")
    if layout.joints:
        joints = _some([f"{joint.name} ({joint.kind})" for joint in layout.joints])
        lines.append(f"  {len(layout.joints)} joints: {joints}")
    if solver := description.get("run", {}).get("solver"):
        lines.append(f"  solver: {solver}")
    if threads := description.get("run", {}).get("threads"):
        lines.append(f"  threads: {threads}")
    lines += [f"  {result.steps.text()}"] if result.steps is not None else []
    lines += [f"  {line}" for line in start_words(description)]
    for part, (v, omega) in description.get("initial_velocity_change", {}).items():
        lines.append(
            f"  initial velocities of {part} were changed by {v:.3g} m/s and {omega:.3g} rad/s to fit the joints"
        )
    for loop in description.get("undetermined", []):
        lines.append(f"  joints that repeat each other, forces and moments determined in part: {_some(loop)}")
    return lines


def _some(names: list[str]) -> str:
    """Return the first eight names, and the number of the others."""
    return ", ".join(names[:8]) + (f", and {len(names) - 8} more" if len(names) > 8 else "")


def audit(options: argparse.Namespace) -> int:
    """Audit a result, print the report and return the exit code: rodsim audit."""
    from rodsim.results.audit import audit as make_audit

    for script in options.imported:
        _import(script)
    if options.local:
        return _local_audit(options)
    if options.output is not None:
        raise ModelError("-o is for the pictures of --local; give both, or leave it out")
    report = make_audit(open_result(options.file))
    print(report.to_json() if options.json else report.text())
    return OK if report.ok else LAW_BROKEN


def _import(script: str) -> None:
    """Run a Python file of the user as a module; code under `if __name__ == "__main__":` is not run."""
    path = Path(script)
    spec = importlib.util.spec_from_file_location(path.stem, path) if path.is_file() else None
    if spec is None or spec.loader is None:
        raise ModelError(
            f"--import {script}: is no Python file; give the script that registers the interactions"
        )
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    spec.loader.exec_module(module)


def _local_audit(options: argparse.Namespace) -> int:
    """Print the residuals of the local laws, without a verdict, and return the exit code: rodsim audit --local."""
    from rodsim.results.local_audit import local_audit

    found = local_audit(open_result(options.file))
    print(found.to_json() if options.json else found.text())
    if options.output is not None:
        from rodsim.results.local_plot import plot_local

        for path in plot_local(found, options.output):
            print(f"wrote {path}", file=sys.stderr if options.json else sys.stdout)
    return OK
