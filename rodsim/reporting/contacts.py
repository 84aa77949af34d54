"""Contacts in a report: forces, depths, stored energy and dissipation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rigid.system import Floats, Ints
from rodsim.reporting.joints import SelectedOutputs
from rodsim.results.contact_history import ContactHistory
from rodsim.results.result import Result


class ContactCurves(NamedTuple):
    """Histories of one contact at T selected outputs."""

    name: str
    normal: Floats  # (T,) normal force, N
    tangential: Floats  # (T,) tangential force, N
    depth: Floats  # (T,) penetration depth, m
    touching: Ints  # (T,) number of pairs in contact
    energy: Floats  # (T,) stored energy, J
    loss_rate: Floats  # (T,) dissipated power, W


def contact_curves(result: Result, outputs: Ints) -> list[ContactCurves]:
    """Return the histories of all contacts at some outputs; empty if the file does not contain the system."""
    source, curves = result._source, []
    if source.layout.system is None:
        return []
    with source.keep_open(), np.errstate(all="ignore"):
        some = SelectedOutputs(source, outputs)
        for name in result.contacts:
            history = ContactHistory(some, name)  # type: ignore[arg-type]
            columns = (
                history.normal_force,
                history.tangential_force,
                history.depth,
                history.touching,
                history.energy,
                history.loss_rate,
            )
            curves.append(ContactCurves(name, *columns))
    return curves
