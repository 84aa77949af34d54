"""Command `rodsim modes`: compute frequencies and mode shapes of a scene."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from rodsim.cli.exit_codes import NOT_CONVERGED, OK
from rodsim.cli.scene_options import add_set, load_scene


def add_parsers(commands: Any) -> None:
    """Add the command and its options to `commands`."""
    modes = commands.add_parser("modes", help="frequencies and shapes of small motions")
    modes.add_argument("scene", help="scene file, YAML")
    add_set(modes)
    modes.add_argument("-n", type=int, default=10, help="how many, from the lowest; default: 10")
    modes.add_argument("-o", "--output", help="write the shapes as a result: mode k at times k to k + 1")
    modes.add_argument("--amplitude", type=float, default=0.1, help="of the shapes, part of the model's size")
    modes.add_argument(
        "--spin",
        type=float,
        nargs=3,
        metavar=("X", "Y", "Z"),
        help="rad/s about the origin: the whole model rotates, also fixed parts, in its steady shape",
    )
    modes.add_argument(
        "--equilibrium",
        action="store_true",
        help="about the equilibrium under the loads and weights, not the initial shape",
    )
    modes.add_argument("--undamped", action="store_true", help="ignore dampers and viscosity")
    modes.add_argument("--overwrite", action="store_true", help="overwrite an existing result")
    modes.add_argument("--json", action="store_true", help="for programs")
    modes.set_defaults(act=find_modes)


def find_modes(options: argparse.Namespace) -> int:
    """Compute the modes of a scene, print them and return the exit code: rodsim modes."""
    from rigid.errors import ConvergenceError, ModelError
    from rodsim.building.starting_states import StartLike
    from rodsim.running.plan import check_output
    from rodsim.scenes.model_from_scene import translate
    from rodsim.small_motions.modal_analysis import modes as find
    from rodsim.small_motions.modal_results import mode_shapes
    from rodsim.small_motions.steady_rotations import steady_rotation
    from rodsim.statics.equilibria import equilibrium

    if options.spin is not None and options.equilibrium:
        raise ModelError("--spin has its own equilibrium, in rotating axes; remove --equilibrium")
    loaded = load_scene(options.scene, options.set)
    if options.output:
        check_output(Path(options.output), False, options.overwrite)
    try:
        start: StartLike | None = None
        if options.spin is not None:
            start = steady_rotation(loaded.model, options.spin)
        elif options.equilibrium:
            start = equilibrium(loaded.model)
        result = find(loaded.model, options.n, start, undamped=options.undamped)
    except ModelError as error:
        raise translate(loaded.source, error) from None
    except ConvergenceError as error:
        print(f"rodsim: {error}", file=sys.stderr)
        return NOT_CONVERGED
    if options.json:
        rows = zip(result.frequency, result.damping, result.growth, result.kinds, strict=True)
        listed = [
            {"Hz": float(f), "damping": float(d), "growth": float(g), "kind": kind} for f, d, g, kind in rows
        ]
        print(json.dumps({"modes": listed, "unsymmetric": list(result.linear.unsymmetric)}, indent=2))
    else:
        print(result.text())
    if options.output:
        mode_shapes(result, options.output, options.amplitude, overwrite=options.overwrite)
        if not options.json:
            print(f"written to {options.output}: mode k at times k to k + 1")
    return OK
