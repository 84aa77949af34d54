"""rodsim static: the equilibrium of a scene."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from rigid.errors import ConvergenceError, ModelError


def find_equilibrium(options: argparse.Namespace) -> int:
    """Write the equilibria of a scene; its exit code."""
    from rodsim.results.audit import audit
    from rodsim.results.static_words import start_words
    from rodsim.scenes.loading import load, translate
    from rodsim.statics import equilibrium

    loaded = load(options.scene)
    output = Path(options.output) if options.output else Path(options.scene).with_suffix(".vtkhdf")
    try:
        result = equilibrium(
            loaded.model, **_settings(loaded, options), output=output, overwrite=options.force
        )
    except ModelError as error:
        raise translate(loaded.source, error) from None
    except ConvergenceError as error:
        print(f"rodsim: {error}", file=sys.stderr)
        print(f"rodsim: what was computed before is in '{output}'", file=sys.stderr)
        return 3
    if options.quiet:
        return 0
    for line in start_words(result.description):
        print(line)
    report = audit(result)
    print(report.text())
    print(f"written to {output}: {result.n_outputs} equilibria")
    return 0 if report.ok else 4


def _settings(loaded: Any, options: argparse.Namespace) -> dict[str, Any]:
    from rodsim.scenes.schema_static import StaticScene

    given = loaded.scene.static or StaticScene()
    method = options.method or given.method
    settings: dict[str, Any] = {
        "method": method,
        "at": given.at,
        "constant": given.constant,
        "motions": {
            item.joint: {
                "displacement": item.displacement,
                "rotation": item.rotation,
                **({} if item.about is None else {"about": item.about}),
            }
            for item in given.motions
        },
        "monitors": loaded.monitors,
        "relaxation": given.relaxation,
        "most_points": given.most_points,
        "first_step": given.first_step,
    }
    if given.stop:
        settings["stop"] = {item.of: (item.lowest, item.highest) for item in given.stop}
    if given.branch:
        settings["branch"] = given.branch
    return settings
