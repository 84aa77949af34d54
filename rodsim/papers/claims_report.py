"""Run the studies of `rodsim reproduce` by name, and report claims with their measurements."""

from __future__ import annotations

import importlib
import textwrap
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from rigid.errors import ModelError
from rodsim.papers.claims import Study

# name of a study, and of its module but for hyphens -> title
STUDIES = {
    "mass-spring": "000 sec. 5.1: mass-spring system in redundant coordinates, singular mass",
    "spring-pendulum": "000 sec. 5.2: spring pendulum in spherical coordinates, M(q)",
    "free-body": "000 sec. 5.3: free rigid body, cost of EML, REML, Null-EML",
    "heavy-top": "000 sec. 5.4: steady precession, four schemes",
    "closed-loop": "000 sec. 5.5: four bars in a loop under load",
    "spinning-box": "001 sec. 5.1: mG(k) and BG(k), conservation and convergence",
    "physical-pendulum": "001 sec. 5.2: constraints inside and outside",
    "pendulum": "002 sec. 6.1: mathematical pendulum in 3D",
    "gyroscopic-top": "002 sec. 6.2: top in directors, orders of six schemes",
    "four-particles": "002 sec. 6.3: cost, orders, stability",
    "rod-pde": "003: the rod as a Hamiltonian and multisymplectic partial differential equation",
    "symmetrical-top": "004: alpha- and gamma-type inertia under IMS, EMS, SPARK",
}


def run_study(name: str) -> Study:
    """Run one study; raise `ModelError` if the name is not known."""
    _check_known(name)
    module = importlib.import_module(f"rodsim.papers.{name.replace('-', '_')}")
    result: Study = module.study()
    return result


def _check_known(name: str) -> None:
    """Raise `ModelError` if there is no study of this name."""
    if name not in STUDIES:
        raise ModelError(f"study '{name}' is not known; choose one of {', '.join(STUDIES)}")


def write_report(study: Study, to: TextIO) -> None:
    """Write each claim with its measurement as one block of text."""
    to.write(f"{study.title} ({study.source})\n")
    for claim in study.claims:
        to.write(f"  {claim.verdict:8s}{claim.source}: {claim.statement}\n")
        to.write(f"          measured: {claim.measured}\n")
        if claim.reason:
            text = textwrap.fill(
                f"reason: {claim.reason}", 110, initial_indent=" " * 10, subsequent_indent=" " * 10
            )
            to.write(text + "\n")


def reproduce(names: Iterable[str], out: Path | None, to: TextIO) -> int:
    """Run studies and report them; return the number of claims that differ without a reason.

    Raises ModelError for an unknown name before anything is run.
    """
    names, unexplained = list(names), 0
    for name in names:
        _check_known(name)
    for name in names:
        began = time.perf_counter()
        study = run_study(name)
        write_report(study, to)
        unexplained += sum(not claim.holds and not claim.reason for claim in study.claims)
        if out is not None:
            to.write(f"  picture: {study.draw(out / f'{name}.png')}\n")
        to.write(f"  {time.perf_counter() - began:.1f} s\n")
        to.flush()
    return unexplained
