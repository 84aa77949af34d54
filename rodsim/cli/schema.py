"""rodsim schema: what may stand in a scene."""

from __future__ import annotations

import argparse
import json
from typing import Any

from rodsim.cli.exit_codes import OK


def add_parsers(commands: Any) -> None:
    """The command; it has no options."""
    parser = commands.add_parser("schema", help="JSON schema of scenes")
    parser.set_defaults(act=schema)


def schema(options: argparse.Namespace) -> int:
    """rodsim schema"""
    from rodsim.scenes.schema import Scene

    print(
        json.dumps(
            {"$schema": "https://json-schema.org/draft/2020-12/schema", **Scene.model_json_schema()}, indent=2
        )
    )
    return OK
