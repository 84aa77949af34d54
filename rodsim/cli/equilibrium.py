"""Command `rodsim equilibrium`: find the equilibrium of a scene."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rigid.errors import ConvergenceError, ModelError
from rodsim.cli.exit_codes import CHECK_FAILED, NOT_CONVERGED, OK
from rodsim.cli.messages import print_not_converged
from rodsim.cli.scene_options import add_set, load_scene


def add_parsers(commands: Any) -> None:
    """Add the command and its options to `commands`."""
    parser = commands.add_parser("equilibrium", help="the equilibrium of a scene under its loads")
    parser.add_argument("scene", help="scene file, YAML")
    add_set(parser)
    parser.add_argument(
        "-o",
        "--output",
        help="result file; default: the scene's name with -equilibrium.vtkhdf; with load cases or linear: true the table of "
        "reactions, by default the scene's name with -reactions.csv",
    )
    parser.add_argument(
        "--diagrams",
        metavar="FOLDER",
        help="with load cases or linear: true: write moment diagrams of all of them to this folder",
    )
    parser.add_argument("--method", choices=["newton", "arc-length"], help="instead of the scene's")
    parser.add_argument(
        "--unstable",
        choices=["keep", "stop", "leave"],
        help="unstable equilibria: keep them (default; exit code 3 if the last one is unstable), stop before the first, or "
        "leave the last one for a stable one; instead of the scene's",
    )
    parser.add_argument("--overwrite", action="store_true", help="overwrite an existing result")
    parser.add_argument("--quiet", action="store_true", help="no progress line, no events, no audit")
    parser.set_defaults(act=find_equilibrium)


def default_output(scene: Path) -> Path:
    """Return the default result file; it differs from that of the scene's run, which --overwrite must not destroy."""
    return scene.with_name(f"{scene.stem}-equilibrium.vtkhdf")


def find_equilibrium(options: argparse.Namespace) -> int:
    """Find the equilibrium of a scene, audit it and return the exit code: rodsim equilibrium."""
    from rodsim.results.audit import audit
    from rodsim.results.equilibrium_text import describe_instability, describe_origin
    from rodsim.scenes.equilibrium_settings import equilibrium_settings, has_load_cases
    from rodsim.scenes.model_from_scene import translate
    from rodsim.statics.equilibria import equilibrium

    loaded = load_scene(options.scene, options.set)
    if has_load_cases(loaded):
        return _find_load_cases(options, loaded)
    output = Path(options.output) if options.output else default_output(Path(options.scene))
    try:
        result = equilibrium(
            loaded.model,
            **equilibrium_settings(loaded, options.method, options.unstable),
            output=output,
            overwrite=options.overwrite,
            progress=False if options.quiet else None,
        )
    except ModelError as error:
        raise translate(loaded.source, error) from None
    except ConvergenceError as error:
        return print_not_converged(error, output)
    ends_unstable = describe_instability(result.description)
    code = NOT_CONVERGED if ends_unstable and result.statics["method"] == "newton" else OK
    if options.quiet:
        return code
    for line in describe_origin(result.description):
        print(line)
    report = audit(result)
    print(report.text())
    print(f"written to {output}: {result.n_outputs} equilibria")
    if ends_unstable:
        print(ends_unstable)
    return code if report.ok else CHECK_FAILED


def _find_load_cases(options: argparse.Namespace, loaded: Any) -> int:
    """Compute the load cases of a scene, print and write their reactions, and return the exit code."""
    from rodsim.components.parameter_changes import GRAVITY
    from rodsim.scenes.equilibrium_settings import load_case_settings
    from rodsim.scenes.model_from_scene import translate
    from rodsim.statics.diagrams import diagram
    from rodsim.statics.load_cases import load_cases
    from rodsim.statics.load_factors import load_rows

    scene = Path(options.scene)
    output = Path(options.output) if options.output else scene.with_name(f"{scene.stem}-reactions.csv")
    if output.exists() and not options.overwrite:
        raise FileExistsError(f"'{output}' exists; add --overwrite to replace it")
    try:
        loads = [*load_rows(loaded.model.build()), GRAVITY]
        cases = load_cases(loaded.model, **load_case_settings(loaded, loads))
    except ModelError as error:
        raise translate(loaded.source, error) from None
    except ConvergenceError as error:
        return print_not_converged(error, output)
    cases.reactions_to_csv(output)
    if options.diagrams:
        folder = Path(options.diagrams)
        folder.mkdir(parents=True, exist_ok=True)
        for name, result in cases.items():
            diagram(result, "M", folder / f"{name}.png")
    if not options.quiet:
        for name, reactions in cases.reactions.items():
            print(name)
            for support, reaction in reactions.items():
                force, moment = (" ".join(f"{x:12.6g}" for x in v) for v in (reaction.force, reaction.moment))
                print(f"  {support:16s} force {force} N   moment {moment} N m")
        print(f"written to {output}: reactions of {len(cases)} load cases and combinations")
    return OK
