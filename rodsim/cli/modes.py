"""rodsim modes: frequencies and shapes of a scene's small motions."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any


def add_parser(commands: Any) -> None:
    """The command and its options."""
    modes = commands.add_parser("modes", help="frequencies and shapes of small motions")
    modes.add_argument("scene", help="scene file, YAML")
    modes.add_argument("-n", type=int, default=10, help="how many, from the lowest; default: 10")
    modes.add_argument("-o", "--output", help="write the shapes as a result: mode k at times k to k + 1")
    modes.add_argument("--amplitude", type=float, default=0.1, help="of the shapes, part of the model's size")
    modes.add_argument(
        "--spin", type=float, nargs=3, metavar=("X", "Y", "Z"), help="rad/s about the origin: everything turns, fixed parts too"
    )
    modes.add_argument("--undamped", action="store_true", help="leave dampers and viscosity out")
    modes.add_argument("--force", action="store_true", help="overwrite an existing result")
    modes.add_argument("--json", action="store_true", help="for programs")


def modes(options: argparse.Namespace) -> int:
    """rodsim modes"""
    from rigid.errors import ModelError
    from rodsim.mode_shapes import mode_shapes
    from rodsim.modes import modes as find
    from rodsim.scenes.loading import load, translate
    from rodsim.simulation import check_output

    loaded = load(options.scene)
    if options.output:
        check_output(Path(options.output), False, options.force)
    try:
        found = find(loaded.model, options.n, spin=options.spin, undamped=options.undamped)
    except ModelError as error:
        raise translate(loaded.source, error) from None
    if options.json:
        rows = zip(found.frequency, found.damping, found.growth, found.kinds, strict=True)
        listed = [
            {"Hz": float(f), "damping": float(d), "growth": float(g), "kind": kind} for f, d, g, kind in rows
        ]
        print(json.dumps({"modes": listed, "unsymmetric": list(found.linear.unsymmetric)}, indent=2))
    else:
        print(found.text())
    if options.output:
        mode_shapes(found, options.output, options.amplitude, overwrite=options.force)
        if not options.json:
            print(f"written to {options.output}: mode k at times k to k + 1")
    return 0
