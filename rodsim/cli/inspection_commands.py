"""Commands that examine scenes and results: `rodsim info`, `check`, `audit`, `compare`, `export`, `recover`."""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rigid.errors import ConvergenceError, ModelError
from rodsim.cli.exit_codes import CHECK_FAILED, NOT_CONVERGED, OK
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

    parser = commands.add_parser("info", help="what is in a scene or a result; advice on a scene")
    parser.add_argument("file")
    add_set(parser)
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.set_defaults(act=info)

    parser = commands.add_parser("audit", help="were energies, momenta, constraints of a result conserved?")
    parser.add_argument("file")
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.add_argument(
        "--local",
        action="store_true",
        help="instead: residuals of the local laws of energy and momenta along the rods, from output to output",
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
    _add_compare(commands)
    _add_export(commands)


def _add_compare(commands: Any) -> None:
    """Add the command `compare`."""
    parser = commands.add_parser(
        "compare",
        help="how far two runs are apart: another integrator, step or mesh",
    )
    parser.add_argument("a", metavar="A", help="result or scene; scenes are run first")
    parser.add_argument("b", metavar="B", nargs="?", help="the same; default: scene A with the options below")
    parser.add_argument("--rigid", action="store_true", help="run B with rigid bodies for its rods")
    parser.add_argument("--integrator", help="run B with this one")
    parser.add_argument("--dt", type=float, help="s, run B with this step")
    parser.add_argument(
        "--points",
        nargs="+",
        metavar="POINT",
        help="block, block@0.1,0,0, rod@0.5, or with two names 'bar 9@0.1,0,0=rod@1'; default: all of the same name",
    )
    parser.add_argument("--plot", metavar="FILE", help="picture (.png, .pdf, .svg)")
    parser.add_argument("-o", "--output", metavar="FILE", help="table (.csv, .json, .txt)")
    parser.add_argument("--json", action="store_true", help="print the table for programs")
    parser.add_argument(
        "--within",
        type=float,
        metavar="TOL",
        help="exit code 4 unless points agree to this fraction of their paths, and rotations to this angle (rad)",
    )
    parser.set_defaults(act=compare)


def _add_export(commands: Any) -> None:
    """Add the command `export`."""
    parser = commands.add_parser("export", help="write a result for older ParaView and other programs")
    parser.add_argument("file")
    parser.add_argument("--format", choices=["pvd", "vtu", "xdmf"], default="pvd")
    parser.add_argument("-o", "--output", help="file to write; default: next to the result")
    parser.add_argument("--every", type=int, default=1, help="every n-th output only")
    parser.set_defaults(act=export)
    parser = commands.add_parser("recover", help="make the result file of a run that was killed")
    parser.add_argument("file", help="the file that the run was to write")
    parser.set_defaults(act=recover)


def check(options: argparse.Namespace) -> int:
    """Check a scene, print its summary and advice, and return the exit code: rodsim check."""
    _print_scene(load_scene(options.scene, options.set))
    return OK


def info(options: argparse.Namespace) -> int:
    """Print the contents of a scene or result and return the exit code: rodsim info."""
    if is_scene(options.file):
        loaded = load_scene(options.file, options.set)
        if options.json:
            print(loaded.scene.model_dump_json(indent=2))
        else:
            _print_scene(loaded)
        return OK
    if options.set:
        raise ModelError(f"'{options.file}' is a result; --set is for scenes: remove it")
    result = open_result(options.file)
    if options.json:
        print(json.dumps({**_result_data(result), "description": result.description}, indent=2))
    else:
        print("\n".join(_describe_result(result)))
    return OK


def _print_scene(loaded: Loaded) -> None:
    """Print a line on what a scene contains, and advice on its step."""
    from rodsim.building.build import Placement
    from rodsim.building.contact_checks import contact_advice
    from rodsim.resonance import resonant_steps

    print(_describe_scene(loaded))
    run = loaded.scene.run
    if run is None or run.dt is None:  # no steps, or adaptive ones
        return
    for line in resonant_steps(loaded.model, run.integrator, run.dt):
        print(f"advice: {line}")
    if loaded.model.contacts:
        for line in contact_advice(loaded.model, Placement(loaded.model), run.dt):
            print(f"advice: {line}")


def _describe_scene(loaded: Loaded) -> str:
    """Describe a scene in one line: numbers of rods, bodies, joints, springs and loads, of other parts if any, and the run."""
    scene = loaded.scene
    counts = []
    for key, items in scene:
        if isinstance(items, list) and key != "gravity" and (items or key in _REQUIRED_PARTS):
            one, many = _NAMED.get(key, (key[:-1], key))
            counts.append(f"{len(items)} {(one if len(items) == 1 else many).replace('_', ' ')}")
    run = scene.run
    computation = "equilibrium"
    if run:
        steps = f"error = {run.error:g}" if run.dt is None else f"dt = {run.dt:g} s"
        computation = f"{run.integrator}, {steps} to t = {run.t_end:g} s"
    return f"scene '{scene.name}': {', '.join(counts)}; {computation}"


_REQUIRED_PARTS = ("rods", "bodies", "joints", "springs", "loads")
_NAMED = {"bodies": ("body", "bodies"), "driven": ("driven frame", "driven frames")}


def _result_data(result: Result) -> dict[str, Any]:
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
        "sensors": {name: entry["measure"]["of"] for name, entry in description.get("sensors", {}).items()},
        "controllers": {name: entry["outputs"] for name, entry in description.get("controllers", {}).items()},
        "events": {name: entry["when"] for name, entry in description.get("events", {}).items()},
        "run": description.get("run", {}),
        "statics": description.get("statics", {}),
        "start": description.get("start", {}),
        "initial_velocity_change": description.get("initial_velocity_change", {}),
        "undetermined": description.get("undetermined", []),
    }


def _describe_result(result: Result) -> list[str]:
    """Describe the contents of a result in lines of text."""
    from rodsim.results.equilibrium_text import describe_origin

    t, layout, description = result.t, result.layout, result.description
    span = f"t = {t[0]:g} to {t[-1]:g} s" if len(t) else "no output yet"
    lines = [f"result of '{layout.name}': {result.n_outputs} outputs, {span}"]
    lines += [
        f"  rod '{rod.name}': {len(rod.frames)} nodes, {len(rod.elements)} elements" for rod in layout.rods
    ]
    if layout.bodies:
        lines.append(f"  {len(layout.bodies)} bodies: {_first_names([body.name for body in layout.bodies])}")
    if layout.joints:
        joints = _first_names([f"{joint.name} ({joint.kind})" for joint in layout.joints])
        lines.append(f"  {len(layout.joints)} joints: {joints}")
    for kind in ("sensors", "controllers", "events"):
        if names := list(description.get(kind, ())):
            lines.append(f"  {len(names)} {kind}: {_first_names(names)}")
    if solver := description.get("run", {}).get("solver"):
        lines.append(f"  solver: {solver}")
    if threads := description.get("run", {}).get("threads"):
        lines.append(f"  threads: {threads}")
    lines += [f"  {result.steps.text()}"] if result.steps is not None else []
    lines += [f"  {line}" for line in describe_origin(description)]
    for part, (v, omega) in description.get("initial_velocity_change", {}).items():
        lines.append(
            f"  initial velocities of {part} were changed by {v:.3g} m/s and {omega:.3g} rad/s to fit the joints"
        )
    for loop in description.get("undetermined", []):
        lines.append(f"  redundant joints, forces and moments determined in part: {_first_names(loop)}")
    return lines


def _first_names(names: list[str]) -> str:
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
        raise ModelError("-o is for the pictures of --local; give both, or remove -o")
    report = make_audit(open_result(options.file))
    print(report.to_json() if options.json else report.text())
    return OK if report.ok else CHECK_FAILED


def _import(script: str) -> None:
    """Run a Python file of the user as a module; code under `if __name__ == "__main__":` is not run."""
    path = Path(script)
    spec = importlib.util.spec_from_file_location(path.stem, path) if path.is_file() else None
    if spec is None or spec.loader is None:
        raise ModelError(
            f"--import {script}: is not a Python file; give the script that registers the interactions"
        )
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    spec.loader.exec_module(module)


def _local_audit(options: argparse.Namespace) -> int:
    """Print the residuals of the local laws, without a verdict, and return the exit code: rodsim audit --local."""
    from rodsim.results.local_audit import local_audit

    audit = local_audit(open_result(options.file))
    print(audit.to_json() if options.json else audit.text())
    if options.output is not None:
        from rodsim.results.local_plot import plot_local

        for path in plot_local(audit, options.output):
            print(f"wrote {path}", file=sys.stderr if options.json else sys.stdout)
    return OK


def compare(options: argparse.Namespace) -> int:
    """Compare two runs and return the exit code: rodsim compare."""
    from rodsim.comparing.comparison import compare as make_comparison
    from rodsim.comparing.operands import is_scene, open_or_run

    changes = {"integrator": options.integrator, "dt": options.dt, "rigid": options.rigid}
    second = options.a if options.b is None else options.b
    if options.b is None and not any(changes.values()):
        raise ModelError(
            f"compare: '{options.a}' with what? give another result or scene, or --rigid, --integrator, --dt"
        )
    if options.b is None and not is_scene(options.a):
        raise ModelError(f"compare: '{options.a}' is a result, which was run already; give B as well")
    try:
        results = open_or_run(options.a), open_or_run(second, **changes)
    except ConvergenceError as error:
        print(f"rodsim: {error}", file=sys.stderr)
        return NOT_CONVERGED
    comparison = make_comparison(*results, options.points)
    print(comparison.to_json() if options.json else comparison.text())
    stream = sys.stderr if options.json else sys.stdout
    if options.output is not None:
        print(f"wrote {comparison.write(options.output)}", file=stream)
    if options.plot is not None:
        print(f"wrote {comparison.plot(options.plot)}", file=stream)
    if options.within is None:
        return OK
    ok = comparison.within(options.within)
    print(f"{'within' if ok else 'NOT within'} {options.within:g}", file=stream)
    return OK if ok else CHECK_FAILED


def export(options: argparse.Namespace) -> int:
    """Write a result in another format and return the exit code: rodsim export."""
    from rodsim.results.export import export as write

    result = open_result(options.file)
    suffix = ".xdmf" if options.format == "xdmf" else ".pvd"
    output = Path(options.output) if options.output else Path(options.file).with_suffix(suffix)
    files = write(result, output, options.format, options.every)
    print(f"wrote {files[0]} ({len(files)} files)")
    return OK


def recover(options: argparse.Namespace) -> int:
    """Make the result file of a run that was killed from its journal and return the exit code: rodsim recover."""
    from rodsim.results.writer import recover as make_file

    result = make_file(options.file)
    print(f"wrote {result.path} ({result.n_outputs} outputs)")
    return OK
