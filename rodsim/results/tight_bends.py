"""Find rods with self-contact that were bent tighter than their radius, where they may have penetrated themselves.

Self-contact of a rod ignores pairs of points that are nearer along the rod than pi times its radius, the arc of the tightest
bend that can close. If the curvature exceeds 1/radius, a shorter arc closes, and no contact force resists there. At an inner
node with the angle phi between its chords, whose mean length is l,

    curvature = 2 tan(phi/2)/l .                                                                                          (1)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rigid.system import Floats
from rodsim.results import native_format
from rodsim.results.array_sources import Source
from rodsim.results.layout import Layout, RodLayout

_BATCH_NODES = 1_000_000  # number of nodes, summed over outputs, read together


class TightBend(NamedTuple):
    """Describe for one rod the first output at which it was bent too tightly, and the tightest bend of all outputs."""

    rod: str  # name of the rod
    t: float  # time of the first such output, s
    tightest: float  # largest radius times curvature over all outputs
    node: int  # node at which this bend occurs
    at: float  # time of this bend, s

    def __str__(self) -> str:
        return (
            f"rod '{self.rod}' has self-contact and was bent tighter than its radius from t = {self.t:.4g} s on, curvature times "
            f"radius {self.tightest:.3g} at t = {self.at:.4g} s at its node {self.node}: points nearer along it than pi times "
            "its radius have no contact, so that it may have passed through itself there undetected; compare its `link` with "
            "the turns of its ends, make it stiffer in bending, load it less, or give its contact a smaller radius="
        )


def curvatures(r: Floats, closed: bool) -> Floats:
    """Compute the curvatures (..., m), 1/m, of polygons r (..., n, 3), m, by (1).

    They are evaluated at the inner nodes, or at all nodes from the first on if the polygons are closed.
    """
    if closed:
        r = np.concatenate([r[..., -1:, :], r, r[..., :1, :]], axis=-2)
    chords = np.diff(r, axis=-2)
    length = np.linalg.norm(chords, axis=-1)
    one, other = chords[..., :-1, :], chords[..., 1:, :]
    product = length[..., :-1] * length[..., 1:]
    sine, cosine = np.linalg.norm(np.cross(one, other), axis=-1), np.sum(one * other, axis=-1)
    half = np.divide(sine, product + cosine, out=np.full_like(sine, np.inf), where=product + cosine > 0.0)
    return 4.0 * half / (length[..., :-1] + length[..., 1:])


def tight_bends(source: Source) -> list[TightBend]:
    """Return the tight bends of all rods with self-contact, evaluated at the outputs of a result."""
    bends, T = [], source.n_outputs
    for rod, radius in _has_self_contact(source.layout):
        batch = max(1, _BATCH_NODES // max(source.layout.n_frames, 1))
        tightest = np.empty((T, 2))  # largest curvature times radius at each output, and its position
        for k in range(0, T, batch):
            outputs = slice(k, min(k + batch, T))
            tight = radius * curvatures(source.read("r", outputs)[:, rod.frames], rod.closed)
            tightest[outputs] = np.stack([tight.max(axis=1), tight.argmax(axis=1)], axis=1)
        too_tight, k = np.flatnonzero(tightest[:, 0] > 1.0), int(tightest[:, 0].argmax())
        if len(too_tight):
            node = int(tightest[k, 1]) + (not rod.closed)
            t = source.read(native_format.TIME)
            bends.append(
                TightBend(rod.name, float(t[too_tight[0]]), float(tightest[k, 0]), node, float(t[k]))
            )
    return bends


def _has_self_contact(layout: Layout) -> list[tuple[RodLayout, float]]:
    """Return the rods with self-contact, each with the largest of its contact radii, m."""
    if layout.system is None or not len(layout.system.contacts.pairs):
        return []
    contacts = layout.system.contacts
    radii: dict[str, tuple[RodLayout, float]] = {}
    rods = {int(rod.frames[0]): rod for rod in layout.rods}
    for i in np.unique(contacts.pairs[contacts.pairs[:, 0] == contacts.pairs[:, 1], 0]):
        rod = rods.get(int(contacts.frames[contacts.first[i]]))
        if rod is not None and len(rod.frames) > 2:
            radii[rod.name] = rod, max(float(contacts.radius[i]), radii.get(rod.name, (rod, 0.0))[1])
    return list(radii.values())
