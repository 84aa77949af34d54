"""Command `rodsim campbell`: compute whirl, critical speeds, stability and unbalance response of a rotor."""

from __future__ import annotations

import argparse
import json
from typing import Any

from rodsim.cli.exit_codes import OK
from rodsim.cli.scene_options import add_set, load_scene


def add_parsers(commands: Any) -> None:
    """Add the command and its options to `commands`."""
    campbell = commands.add_parser("campbell", help="whirl and critical speeds of a rotor")
    campbell.add_argument("scene", help="scene file, YAML")
    add_set(campbell)
    campbell.add_argument(
        "--speeds",
        type=float,
        nargs=2,
        metavar=("FIRST", "LAST"),
        required=True,
        help="rad/s, or rpm with --rpm",
    )
    campbell.add_argument("--rpm", action="store_true", help="--speeds are revolutions per minute")
    campbell.add_argument("--steps", type=int, default=50, help="how many speeds; default: 50")
    campbell.add_argument("-n", type=int, default=6, help="how many modes, from the lowest; default: 6")
    campbell.add_argument("--rotors", nargs="+", metavar="PART", help="rods and bodies that rotate")
    campbell.add_argument(
        "--unbalance",
        nargs=2,
        action="append",
        default=[],
        metavar=("POINT", "SIZE"),
        help="mass times eccentricity, kg m, at a point such as disc or shaft@0.5; may be given several times",
    )
    campbell.add_argument(
        "--equilibrium", action="store_true", help="about the equilibrium under loads and weights"
    )
    campbell.add_argument("-o", "--output", help="draw the Campbell diagram: .png, .pdf or .svg")
    campbell.add_argument("--json", action="store_true", help="for programs")
    campbell.set_defaults(act=find_whirl)


def find_whirl(options: argparse.Namespace) -> int:
    """Compute the whirl of the rotor of a scene, print and draw it, and return the exit code: rodsim campbell."""
    import numpy as np

    from rigid.errors import ModelError
    from rodsim.scenes.model_from_scene import translate
    from rodsim.small_motions.rotors import Unbalance, campbell
    from rodsim.statics.equilibria import equilibrium

    if options.steps < 2:
        raise ModelError(f"--steps {options.steps}: give two or more")
    loaded = load_scene(options.scene, options.set)
    first, last = (x * (np.pi / 30.0 if options.rpm else 1.0) for x in options.speeds)
    sources = []
    for point, size in options.unbalance:
        try:
            sources.append(Unbalance(point, float(size)))
        except ValueError:
            raise ModelError(f"--unbalance {point} {size}: {size} is not a number of kg m") from None
    try:
        diagram = campbell(
            loaded.model,
            np.linspace(first, last, options.steps),
            options.n,
            rotors=options.rotors,
            unbalance=sources,
            start=equilibrium(loaded.model) if options.equilibrium else None,
        )
    except ModelError as error:
        raise translate(loaded.source, error) from None
    if options.json:
        limit = diagram.stability_limit
        listed = {
            "speeds": diagram.speeds.tolist(),
            "frequency": diagram.frequency.tolist(),
            "growth": diagram.growth.tolist(),
            "whirl": diagram.whirl.tolist(),
            "critical speeds": [x._asdict() for x in diagram.critical_speeds()],
            "stability limit": limit if np.isfinite(limit) else None,
            "amplitude": dict(zip(diagram.points, diagram.amplitude.T.tolist(), strict=True)),
        }
        print(json.dumps(listed, indent=2))
    else:
        print(diagram.text())
    if options.output:
        diagram.plot(options.output)
        if not options.json:
            print(f"drawn to {options.output}")
    return OK
