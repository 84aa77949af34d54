"""What each command does; each imports what it needs and returns an exit code."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rigid.errors import ConvergenceError, InitialVelocityWarning, ModelError
from rodsim.cli import modes, reports, studies
from rodsim.results.errors import ResultError
from rodsim.scenes.errors import SceneError

if TYPE_CHECKING:
    from rodsim.results.result import Result
    from rodsim.scenes.loading import Loaded

LAW_BROKEN = 4  # exit code, see `rodsim.cli.main`

# What a user can cause; everything else is a defect of ours and shows a traceback.
USER_ERRORS = (SceneError, ModelError, ResultError, OSError)


def words(error: BaseException) -> str:
    """The message of an error, on as many lines as it has problems."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"'{error.filename}': {error.strerror}"
    return str(error)


def run(options: argparse.Namespace) -> int:
    """rodsim run"""
    from rodsim.scenes.loading import load, translate
    from rodsim.simulation import simulate

    loaded = load(options.scene)  # first: what is no file has no name to give to a result
    output = Path(options.output) if options.output else Path(options.scene).with_suffix(".vtkhdf")
    _check_output(output, Path(options.scene), options)
    settings = _settings(loaded, options)
    try:
        with _warnings_told():
            result = simulate(
                loaded.model,
                **settings,
                output=output,
                resume=options.resume,
                overwrite=options.force,
                progress=False if options.quiet else None,
            )
    except ModelError as error:
        raise translate(loaded.source, error) from None
    except ConvergenceError as error:
        print(f"rodsim: {error}", file=sys.stderr)
        print(f"rodsim: what was computed before is in '{output}'", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        again = ["rodsim", "run", options.scene, "-o", str(output), "--resume"]
        for name in ("t_end", "dt", "integrator", "output_every", "chart", "tolerance"):
            if getattr(options, name) is not None:
                again += [f"--{name.replace('_', '-')}", str(getattr(options, name))]
        print(f"\nrodsim: interrupted; `{shlex.join(again)}` goes on", file=sys.stderr)
        return 130
    if options.quiet:
        return 0
    from rodsim.results.audit import audit as make_audit

    report = make_audit(result)
    print(report.text())
    every = result.description["run"]["output_every"]
    steps = "every step" if every == 1 else f"every {every} steps"
    print(f"written to {output}: {result.n_outputs} outputs, one {steps}")
    return 0 if report.ok else LAW_BROKEN


@contextmanager
def _warnings_told() -> Iterator[None]:
    """What a user should know of their model goes to stderr as a line of its own."""
    with warnings.catch_warnings():
        before = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if issubclass(category, InitialVelocityWarning):
                print(f"rodsim: {message}", file=sys.stderr)
            else:
                before(message, category, *where, **more)

        warnings.showwarning = show
        warnings.simplefilter("always", InitialVelocityWarning)
        yield


def _settings(loaded: Loaded, options: argparse.Namespace) -> dict:
    run_scene = loaded.scene.run
    if run_scene is None:
        raise ModelError(f"scene '{loaded.scene.name}' has no `run`; add one, or use `rodsim static`")
    return {
        "t_end": run_scene.t_end if options.t_end is None else options.t_end,
        "dt": run_scene.dt if options.dt is None else options.dt,
        "integrator": run_scene.integrator if options.integrator is None else options.integrator,
        "output_every": run_scene.output_every if options.output_every is None else options.output_every,
        "chart": run_scene.chart if options.chart is None else options.chart,
        "tolerance": run_scene.tolerance if options.tolerance is None else options.tolerance,
    }


def _check_output(output: Path, scene: Path, options: argparse.Namespace) -> None:
    from rodsim.results.whole_file import check_target

    if options.resume and options.force:
        raise ModelError("--resume and --force contradict each other; give one")
    check_target(output, scene)
    if not os.access(output.parent, os.W_OK):
        raise ModelError(f"'{output}': the folder '{output.parent}' cannot be written to")
    if output.exists() and not options.resume and not options.force:
        raise ModelError(
            f"'{output}' exists; --resume goes on with it, --force overwrites it, -o names another file"
        )
    if options.resume and not output.exists():
        raise ModelError(f"'{output}': no result to resume; leave --resume out")


def check(options: argparse.Namespace) -> int:
    """rodsim check"""
    from rodsim.scenes.loading import load

    print(_scene_words(load(options.scene)))
    return 0


def _scene_words(loaded: Loaded) -> str:
    scene = loaded.scene
    counts = [
        f"{len(items)} {what if len(items) == 1 else plural}"
        for what, plural, items in (
            ("rod", "rods", scene.rods),
            ("body", "bodies", scene.bodies),
            ("joint", "joints", scene.joints),
            ("spring", "springs", [*scene.springs, *scene.torsion_springs]),
            ("load", "loads", scene.loads),
        )
    ]
    run_scene = scene.run
    if run_scene is None:
        return f"scene '{scene.name}': {', '.join(counts)}; equilibrium"
    return (
        f"scene '{scene.name}': {', '.join(counts)}; "
        f"{run_scene.integrator}, dt = {run_scene.dt:g} s to t = {run_scene.t_end:g} s"
    )


def _is_scene(path: str) -> bool:
    return Path(path).suffix.lower() in (".yaml", ".yml")


def _open(path: str) -> Result:
    from rodsim.results.result import Result

    if _is_scene(path):
        raise ModelError(f"'{path}' is a scene, not a result; run it first: rodsim run {path}")
    return Result.open(path)


def info(options: argparse.Namespace) -> int:
    """rodsim info"""
    if _is_scene(options.file):
        from rodsim.scenes.loading import load

        loaded = load(options.file)
        print(loaded.scene.model_dump_json(indent=2) if options.json else _scene_words(loaded))
        return 0
    from rodsim.results.static_words import start_words

    result = _open(options.file)
    t = result.t
    facts = {
        "model": result.layout.name,
        "n_outputs": result.n_outputs,
        "t_start": float(t[0]) if len(t) else None,
        "t_end": float(t[-1]) if len(t) else None,
        "rods": {
            rod.name: {"nodes": len(rod.frames), "elements": len(rod.elements)} for rod in result.layout.rods
        },
        "bodies": [body.name for body in result.layout.bodies],
        "joints": {joint.name: joint.kind for joint in result.layout.joints},
        "run": result.description.get("run", {}),
        "statics": result.description.get("statics", {}),
        "start": result.description.get("start", {}),
        "initial_velocity_change": result.description.get("initial_velocity_change", {}),
        "undetermined": result.description.get("undetermined", []),
    }
    if options.json:
        print(json.dumps({**facts, "description": result.description}, indent=2))
        return 0
    span = f"t = {facts['t_start']:g} to {facts['t_end']:g} s" if len(t) else "no output yet"
    print(f"result of '{facts['model']}': {facts['n_outputs']} outputs, {span}")
    for rod in result.layout.rods:
        print(f"  rod '{rod.name}': {len(rod.frames)} nodes, {len(rod.elements)} elements")
    if result.layout.bodies:
        print(f"  {len(result.layout.bodies)} bodies: {_some([body.name for body in result.layout.bodies])}")
    if result.layout.joints:
        print(
            f"  {len(result.layout.joints)} joints: {_some([f'{j.name} ({j.kind})' for j in result.layout.joints])}"
        )
    for line in start_words(result.description):
        print(f"  {line}")
    for part, (v, omega) in result.description.get("initial_velocity_change", {}).items():
        print(
            f"  initial velocities of {part} were changed by {v:.3g} m/s and {omega:.3g} rad/s to fit the joints"
        )
    for loop in result.description.get("undetermined", []):
        print(f"  joints that repeat each other, forces and moments determined in part: {_some(loop)}")
    return 0


def _some(names: list[str]) -> str:
    return ", ".join(names[:8]) + (f", and {len(names) - 8} more" if len(names) > 8 else "")


def audit(options: argparse.Namespace) -> int:
    """rodsim audit"""
    from rodsim.results.audit import audit as make_audit

    if options.local:
        return _local_audit(options)
    if options.output is not None:
        raise ModelError("-o is for the pictures of --local; give both, or leave it out")
    report = make_audit(_open(options.file))
    print(report.to_json() if options.json else report.text())
    return 0 if report.ok else LAW_BROKEN


def _local_audit(options: argparse.Namespace) -> int:
    """rodsim audit --local: it measures, and judges nothing."""
    from rodsim.results.local_audit import local_audit

    found = local_audit(_open(options.file))
    print(found.to_json() if options.json else found.text())
    if options.output is not None:
        from rodsim.results.local_plot import plot_local

        for path in plot_local(found, options.output):
            print(f"wrote {path}", file=sys.stderr if options.json else sys.stdout)
    return 0


def export(options: argparse.Namespace) -> int:
    """rodsim export"""
    from rodsim.results.export import export as write

    result = _open(options.file)
    suffix = ".xdmf" if options.format == "xdmf" else ".pvd"
    output = Path(options.output) if options.output else Path(options.file).with_suffix(suffix)
    files = write(result, output, options.format, options.every)
    print(f"wrote {files[0]} ({len(files)} files)")
    return 0


def plot(options: argparse.Namespace) -> int:
    """rodsim plot"""
    from rodsim.results.plot import plot as draw

    result = _open(options.file)
    output = Path(options.output) if options.output else _beside(options.file, f"-{options.what}.png")
    draw(result, options.what, output, options.points)
    print(f"wrote {output}")
    return 0


def _beside(result: str, ending: str) -> Path:
    path = Path(result)
    return path.with_name(path.stem + ending)


def render(options: argparse.Namespace) -> int:
    """rodsim render"""
    from rodsim.results.render import render as draw
    from rodsim.results.render import render_movie

    result = _open(options.file)
    output = Path(options.output) if options.output else Path(options.file).with_suffix(".png")
    if output.suffix.lower() in (".mp4", ".gif"):
        if options.time is not None:
            raise ModelError("--time picks the times of a still picture; a movie shows all, see --speed")
        speed = 1.0 if options.speed is None else options.speed
        frames = render_movie(result, output, speed=speed, view=options.camera, color=options.color)
        print(f"wrote {output} ({frames} frames)")
    else:
        if options.speed is not None:
            raise ModelError("--speed is for a movie; end -o in .mp4 or .gif, or leave it out")
        draw(result, output, options.time, view=options.camera, color=options.color)
        print(f"wrote {output}")
    return 0


def compare(options: argparse.Namespace) -> int:
    """rodsim compare"""
    from rodsim.comparing.comparison import compare as make_comparison
    from rodsim.comparing.running import is_scene, result_of

    changes = {"integrator": options.integrator, "dt": options.dt, "rigid": options.rigid}
    second = options.a if options.b is None else options.b
    if options.b is None and not any(changes.values()):
        raise ModelError(
            f"compare: '{options.a}' with what? give another result or scene, or --rigid, --integrator, --dt"
        )
    if options.b is None and not is_scene(options.a):
        raise ModelError(f"compare: '{options.a}' is a result and run already; give B as well")
    try:
        with _warnings_told():
            results = result_of(options.a), result_of(second, **changes)
    except ConvergenceError as error:
        print(f"rodsim: {error}", file=sys.stderr)
        return 3
    found = make_comparison(*results, options.points)
    print(found.to_json() if options.json else found.text())
    told = sys.stderr if options.json else sys.stdout
    if options.output is not None:
        print(f"wrote {found.write(options.output)}", file=told)
    if options.plot is not None:
        print(f"wrote {found.plot(options.plot)}", file=told)
    if options.within is None:
        return 0
    ok = found.within(options.within)
    print(f"{'within' if ok else 'NOT within'} {options.within:g}", file=told)
    return 0 if ok else LAW_BROKEN


def schema(options: argparse.Namespace) -> int:
    """rodsim schema"""
    from rodsim.scenes.schema import Scene

    print(
        json.dumps(
            {"$schema": "https://json-schema.org/draft/2020-12/schema", **Scene.model_json_schema()}, indent=2
        )
    )
    return 0


def reproduce(options: argparse.Namespace) -> int:
    """rodsim reproduce"""
    from rodsim.papers.report import STUDIES
    from rodsim.papers.report import reproduce as run_studies

    if not options.names and not options.all:
        width = max(map(len, STUDIES))
        for name, (_, title) in STUDIES.items():
            print(f"{name:{width}s}  {title}")
        print("run some with `rodsim reproduce NAME ...`, all with `rodsim reproduce --all`")
        return 0
    names = list(STUDIES) if options.all else options.names
    out = Path(options.output) if options.output else None
    return 1 if run_studies(names, out, sys.stdout) else 0


def validate(options: argparse.Namespace) -> int:
    """rodsim validate"""
    from rodsim.validation.registry import chosen
    from rodsim.validation.report import validate as run_cases
    from rodsim.validation.report import write

    cases = chosen(options.names)
    if options.list:
        width = max(len(case.name) for case in cases)
        for case in cases:
            print(f"{case.name:{width}s}  {case.title}")
        return 0
    found = run_cases(cases, sys.stdout)
    if options.output is not None:
        for path in write(found, Path(options.output)):
            print(f"wrote {path}")
    return 0 if all(outcome.ok for outcome in found) else LAW_BROKEN


def static(options: argparse.Namespace) -> int:
    """rodsim static"""
    from rodsim.cli.static_command import find_equilibrium

    return find_equilibrium(options)


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "run": run,
    "check": check,
    "compare": compare,
    "info": info,
    "audit": audit,
    "export": export,
    "plot": plot,
    "render": render,
    "reproduce": reproduce,
    "schema": schema,
    "modes": modes.modes,
    "sweep": studies.sweep,
    "converge": studies.converge,
    "report": reports.report,
    "view": reports.view,
    "validate": validate,
    "static": static,
}
