"""rodsim static: the equilibrium of a scene."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rigid.errors import ConvergenceError, ModelError


def find_equilibrium(options: argparse.Namespace) -> int:
    """Write the equilibria of a scene; its exit code."""
    from rodsim.results.audit import audit
    from rodsim.results.static_words import start_words
    from rodsim.scenes.equilibria import equilibrium_settings
    from rodsim.scenes.loading import load, translate
    from rodsim.statics import equilibrium

    loaded = load(options.scene)
    output = Path(options.output) if options.output else Path(options.scene).with_suffix(".vtkhdf")
    try:
        result = equilibrium(
            loaded.model,
            **equilibrium_settings(loaded, options.method),
            output=output,
            overwrite=options.force,
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
