"""What each command does; each imports what it needs and returns an exit code."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from rigid.errors import ConvergenceError, ModelError
from rodsim.scenes.errors import SceneError

if TYPE_CHECKING:
    from rodsim.results.result import Result
    from rodsim.scenes.loading import Loaded

# What a user can cause; everything else is a defect of ours and shows a traceback.
USER_ERRORS = (SceneError, ModelError, OSError, ValueError, KeyError, RuntimeError)


def words(error: BaseException) -> str:
    """The message of an error, on as many lines as it has problems."""
    if isinstance(error, KeyError) and error.args:
        return str(error.args[0])
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"'{error.filename}': {error.strerror}"
    return str(error)


def run(options: argparse.Namespace) -> int:
    """rodsim run"""
    from rodsim.scenes.loading import load, translate
    from rodsim.simulation import simulate

    output = Path(options.output) if options.output else Path(options.scene).with_suffix(".vtkhdf")
    loaded = load(options.scene)
    _check_output(output, options)
    settings = _settings(loaded, options)
    try:
        result = simulate(
            loaded.model,
            **settings,
            output=output,
            resume=options.resume,
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
        for name in ("t_end", "dt", "integrator", "output_every", "chart"):
            if getattr(options, name) is not None:
                again += [f"--{name.replace('_', '-')}", str(getattr(options, name))]
        print(f"\nrodsim: interrupted; `{shlex.join(again)}` goes on", file=sys.stderr)
        return 130
    if not options.quiet:
        from rodsim.results.audit import audit as make_audit

        change = result.description.get("velocity_projection", 0.0)
        if change > 1e-9:
            print(f"initial velocities were changed by up to {change:.3g} (m/s or rad/s) to fit the joints")
        print(make_audit(result).text())
        print(f"written to {output}")
    return 0


def _settings(loaded: Loaded, options: argparse.Namespace) -> dict:
    run_scene = loaded.scene.run
    return {
        "t_end": run_scene.t_end if options.t_end is None else options.t_end,
        "dt": run_scene.dt if options.dt is None else options.dt,
        "integrator": run_scene.integrator if options.integrator is None else options.integrator,
        "output_every": run_scene.output_every if options.output_every is None else options.output_every,
        "chart": run_scene.chart if options.chart is None else options.chart,
    }


def _check_output(output: Path, options: argparse.Namespace) -> None:
    if options.resume and options.force:
        raise ModelError("--resume and --force contradict each other; give one")
    if output.is_dir():
        raise ModelError(f"'{output}' is a folder; give the name of a file with -o")
    if not output.parent.is_dir():
        raise ModelError(f"'{output}': no folder '{output.parent}'; make it first")
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
    return 0


def _some(names: list[str]) -> str:
    return ", ".join(names[:8]) + (f", and {len(names) - 8} more" if len(names) > 8 else "")


def audit(options: argparse.Namespace) -> int:
    """rodsim audit"""
    from rodsim.results.audit import audit as make_audit

    report = make_audit(_open(options.file))
    print(report.to_json() if options.json else report.text())
    return 0


def export(options: argparse.Namespace) -> int:
    """rodsim export"""
    from rodsim.results.export import export as write

    suffix = ".xdmf" if options.format == "xdmf" else ".pvd"
    output = Path(options.output) if options.output else Path(options.file).with_suffix(suffix)
    files = write(_open(options.file), output, options.format, options.every)
    print(f"wrote {files[0]} ({len(files)} files)")
    return 0


def plot(options: argparse.Namespace) -> int:
    """rodsim plot"""
    from rodsim.results.plot import plot as draw

    output = Path(options.output) if options.output else Path(options.file).with_suffix(".png")
    draw(_open(options.file), options.what, output, options.points)
    print(f"wrote {output}")
    return 0


def render(options: argparse.Namespace) -> int:
    """rodsim render"""
    from rodsim.results.render import render as draw
    from rodsim.results.render import render_movie

    output = Path(options.output) if options.output else Path(options.file).with_suffix(".png")
    result = _open(options.file)
    if output.suffix.lower() in (".mp4", ".gif"):
        if options.time:
            raise ModelError("--time picks the times of a still picture; a movie shows all, see --speed")
        frames = render_movie(result, output, speed=options.speed, view=options.camera, color=options.color)
        print(f"wrote {output} ({frames} frames)")
    else:
        draw(result, output, options.time, view=options.camera, color=options.color)
        print(f"wrote {output}")
    return 0


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


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "run": run,
    "check": check,
    "info": info,
    "audit": audit,
    "export": export,
    "plot": plot,
    "render": render,
    "reproduce": reproduce,
    "schema": schema,
}
