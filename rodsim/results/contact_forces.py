"""Compute contact forces in stored states: forces on frames, and their sums over patches, with friction and dissipation.

A row is a part with its stations, that is a sphere or an element of a rod, against a plane, a sphere or a segment. A patch has
one normal and one bristle (`rigid.interactions.contact.friction`): it is a row with a plane, or otherwise a window (contact
patch) of the partner. The formulas are those of `rigid.interactions.contact` at one state and its rates, instead of over a step:

    normal       force of the law, times 1 + phi, where phi depends on the rate at which the depth grows
    tangential   force of the bristle in the state and of its parallel damper at the rate of slip, k zeta + d slip, at most mu N

Forces of sliding are therefore those at the end of the last step; the force of a stop or a reversal lies between two outputs.
Arrays have leading axes of states, or none.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discretization.contact.nearest import places
from discretization.contact.table import BARRIER, POLYNOMIAL
from discretization.interaction_kinds import INTERACTIONS
from rigid import quaternions
from rigid.interactions.contact.capsules import KAPPA, PARALLEL
from rigid.interactions.contact.edges import EDGES
from rigid.interactions.contact.friction import (
    BACK,
    CREEP,
    DRILL,
    FORTH,
    KINETIC,
    REST,
    ROLL,
    SIDE,
    SLOWEST,
    STATIC,
    B,
    C,
)
from rigid.system import Floats, Ints, State
from rodsim.results.box_contacts import of_boxes, of_edges
from rodsim.results.core_contacts import has_cores, of_cores
from rodsim.results.mesh_contacts import of_meshes

TINY = 1e-200  # N, forces below this are never used as divisors
ENDS, MIDDLE = 1, 2  # rows of two capsules: at both ends, and at the crossing point
AT_ONCE = 100_000  # largest number of stations, over all states, that are computed together
ON_A, ON_B = slice(0, 2), slice(2, 4)  # frames of a row: the part with the stations, its partner


class Rows(NamedTuple):
    """m rows: parts with stations and their partners."""

    frames: Ints  # (m, 4) two frames of the part, two of its partner; twice the same for a sphere or a plane
    # (m, 4, 3) m, points relative to these frames: a sphere or a plane has one point twice, a capsule both ends; zero for nodes
    X: Floats
    normal: Floats  # (m, 3) normal of a plane, frame axes; zero without a plane
    law: Floats  # (m, 4) numbers of the contact law, see `Contacts.law`
    rho: Floats  # (m,) m, sum of the radii
    share: Floats  # (m,) part of rho between the axis of the part and the contact point; 1 for planes
    stations: Ints  # (m,) number of intervals between the stations of an element; 0 for spheres
    length: Floats  # (m,) m, length of the element
    of_nodes: Floats  # (m, 2) tributary length of the first and the last station, over the station distance
    minus: Floats  # (m,) 1: the contact with the last point of the partner is subtracted
    patch: Ints  # (m,) patch of each row
    circle: (
        Floats  # (m, 4) axis in the frame of the part, radius (negative: highest point); zero if no circle
    )
    crossing: Ints  # (m,) ENDS or MIDDLE for two capsules, else 0
    boxed: Ints  # (m,) kind in `INTERACTIONS` of a row for a whole pair with a core or a mesh; 0: another row
    numbers: Floats  # (m, :) numbers of that kind, padded with zeros; all zero for a mesh
    meshed: NDArray[
        np.object_
    ]  # (m,) numbers of a row for a whole part and a mesh, whose kind is in `boxed`; None: not with a mesh


class Patches(NamedTuple):
    """w patches with their internal variables and parameters of friction and dissipation."""

    loss: Floats  # (w, 11) numbers of friction and dissipation, see `Contacts.loss`
    stiffness: Floats  # (..., w) N/m, stiffness of the bristles
    zeta: Floats  # (..., w, 3) m, bristles, in the axes of the frame `first`
    sliding: Floats  # (..., w) 1: the patch slides
    first: Ints  # (w,) frame in whose axes the bristle is
    part: Ints  # (w, 2) frames of the part with the stations


class Pushed(NamedTuple):
    """Forces of the contact law alone, without friction and dissipation, row by row."""

    weight: Floats  # (..., m, 4) N, normal force distributed to the frames, negative on the partner
    force: Floats  # (..., m, 4, 3) N, on the frames
    Q: Floats  # (..., m) N, normal force
    place: Floats  # (..., m, 3) N m, Q times the contact point
    power: Floats  # (..., m) W, rate of the contact energy
    energy: Floats  # (..., m) J, contact energy
    gap: Floats  # (..., m) m, least gap of the stations


class Touching(NamedTuple):
    """Contact forces with friction and dissipation: `force` and `gap` for each row, all others for each patch."""

    force: Floats  # (..., m, 4, 3) N, on the frames
    energy: Floats  # (..., w) J, of the law and of the bristles
    normal: Floats  # (..., w) N, negative for subtracted contacts
    tangential: Floats  # (..., w, 3) N, friction in the direction of the slip; the part with the stations gets its opposite
    slip: Floats  # (..., w, 3) m/s, slip velocity of the part with the stations
    place: Floats  # (..., w, 3) m, contact point; zero without contact
    lost: Floats  # (..., w) W, dissipated power
    gap: Floats  # (..., m) m, least gap of the stations


def states_at_once(rows: Rows) -> int:
    """Return the number of states that are computed together."""
    return max(1, AT_ONCE // max(1, int(np.sum(rows.stations + 1))))


def resistance(law: Floats, g: Floats) -> tuple[Floats, Floats]:
    """Return the normal force Q = -dV/dg and the energy V (..., m, p) of laws (m, 4) at gaps (..., m, p), in N, J and m."""
    barrier, polynomial = law[:, :1] == BARRIER, law[:, :1] == POLYNOMIAL
    k, n, reach = (law[:, i, None] for i in (1, 2, 3))
    depth = np.maximum(-g, 0.0)
    if polynomial.any():
        of_polynomial = (
            depth * (k + depth * (n + depth * reach)),
            depth**2 * (k / 2.0 + depth * (n / 3.0 + depth * reach / 4.0)),
        )
        of_others = resistance(np.where(polynomial, 0.0, law), g)
        return tuple(np.where(polynomial, x, y) for x, y in zip(of_polynomial, of_others, strict=True))  # type: ignore[return-value]
    Q, V = np.where(depth > 0.0, k * depth**n, 0.0), k * depth ** (n + 1.0) / (n + 1.0)
    if not barrier.any():
        return Q, V
    inside = barrier & (g < reach) & (g > 0.0)
    x, size = np.where(inside, g, 1.0), np.where(inside, reach, 1.0)
    log = np.log(x / size)
    of_barrier = k * (x - size) * (2.0 * log + (x - size) / x), -k * (x - size) ** 2 * log
    return tuple(
        np.where(barrier, np.where(inside, y, 0.0), z) for y, z in zip(of_barrier, (Q, V), strict=True)
    )  # type: ignore[return-value]


def pushed(rows: Rows, state: State) -> Pushed:
    """Return the forces of the contact law in a state, or in many."""
    Q, V, n, c, rate, of_part, t, gap = _pieces(rows, state)
    of_partner = np.stack([1.0 - t, t], axis=-1)
    signed = np.concatenate([of_part * Q[..., None], -of_partner * Q[..., None]], axis=-1)  # (..., m, p, 4)
    found = Pushed(
        signed.sum(axis=-2),
        np.einsum("...pk,...pc->...kc", signed, n),
        Q.sum(axis=-1),
        np.sum(Q[..., None] * c, axis=-2),
        np.sum(Q * rate, axis=-1),
        V.sum(axis=-1),
        gap,
    )
    for kind in np.unique(rows.boxed[rows.boxed > 0]).tolist():
        _put_boxes(rows, kind, state, found)
    return found


def _put_boxes(rows: Rows, kind: int, state: State, found: Pushed) -> None:
    """Write the forces of all rows of one kind with cores or meshes to `found`."""
    use = np.flatnonzero(rows.boxed == kind)
    own, share = rows.frames[use], rows.share[use]
    if rows.meshed[use[0]] is None:
        found_of = of_edges if INTERACTIONS[kind] is EDGES else of_cores if has_cores(kind) else of_boxes
        V, rate, force, place, gap = found_of(kind, own, rows.numbers[use], share, state)
    else:
        V, rate, force, place, gap = of_meshes(kind, own, rows.meshed[use].tolist(), share, state)
    total = force[..., ON_A, :].sum(axis=-2)
    Q = np.linalg.norm(total, axis=-1)
    n = total / np.where(Q > 0.0, Q, 1.0)[..., None]
    found.force[..., use, :, :], found.weight[..., use, :] = force, np.sum(force * n[..., None, :], axis=-1)
    found.Q[..., use], found.power[..., use], found.energy[..., use] = Q, rate, V
    found.place[..., use, :], found.gap[..., use] = Q[..., None] * place, gap


def _pieces(rows: Rows, state: State) -> tuple[Floats, ...]:
    """Evaluate the contact law at p stations of each row, and again for the subtracted points of the partners.

    Return Q, V, normal, contact point, rate of the depth, weights of both nodes of the part, position on the segment of the
    partner (0 to 1), all (..., m, p) with subtracted points appended along p; and the gap (..., m), m.
    """
    r, v, quat, omega = _moving(rows, state)
    arms = quaternions.rotate(quat, rows.X)  # (..., m, 4, 3)
    ends, rates = r + arms, v + np.cross(omega, arms)
    m = np.maximum(rows.stations, 1)[:, None]
    i = np.arange(rows.stations.max(initial=0) + 1)
    s, there = np.minimum(i / m, 1.0), i <= rows.stations[:, None]
    has, of_nodes = rows.stations[:, None] > 0, rows.of_nodes[:, :, None]
    part = np.where(has & (i == 0), of_nodes[:, 0], np.where(has & (i == m), of_nodes[:, 1], 1.0))
    weight = np.where(there, part * np.where(has, rows.length[:, None], 1.0) / m, 0.0)
    if rows.crossing.any():
        s, weight = _crossing(rows, ends, s, weight)
    of_part = np.stack([1.0 - s, s], axis=-1)  # (..., m, p, 2)
    x, dx = (np.einsum("...mpk,...mkc->...mpc", of_part, y[..., ON_A, :]) for y in (ends, rates))
    planes = np.any(rows.normal, axis=1)[:, None, None]
    if rows.circle.any():
        down = _to_rim(rows, quat)
        x, dx = x + down, dx + np.cross(omega[..., :1, :], down)
    e, de = (y[..., 3:, :] - y[..., 2:3, :] for y in (ends, rates))
    w = x - ends[..., 2:3, :]
    ee = np.sum(e * e, axis=-1)
    t = np.clip(np.sum(w * e, axis=-1) / np.where(ee > 0.0, ee, 1.0), 0.0, 1.0)
    both = (t < 1.0) | (rows.minus[:, None] == 0.0)  # else the segment and its last point cancel
    found: list[tuple[Floats, ...]] = []
    gap = np.zeros(0)
    for at, sign in ((t, 1.0), (np.ones_like(t), -1.0)):
        if sign < 0.0 and not rows.minus.any():
            continue
        d, dp = w - at[..., None] * e, rates[..., 2:3, :] + at[..., None] * de
        D = np.linalg.norm(d, axis=-1)
        n = d / np.where(D > 0.0, D, 1.0)[..., None]
        if planes.any():
            up = quaternions.rotate(quat[..., 2, :], rows.normal)[..., None, :]
            dp = np.where(planes, v[..., 2:3, :] + np.cross(omega[..., 2:3, :], x - r[..., 2:3, :]), dp)
            n, D = np.where(planes, up, n), np.where(planes[..., 0], np.sum(up * w, axis=-1), D)
            d = np.where(planes, D[..., None] * n, d)
        g = D - rows.rho[:, None]
        gap = gap if len(found) else np.where(there, g, np.inf).min(axis=-1, initial=np.inf)
        Q, V = resistance(rows.law, g)
        share = weight * both * (sign if sign > 0.0 else -rows.minus[:, None])
        c = x - rows.share[:, None, None] * d
        found.append((share * Q, share * V, n, c, -np.sum(n * (dx - dp), axis=-1), at))
    Q, V, n, c, rate, t = (
        np.concatenate(each, axis=-2 if k in (2, 3) else -1)
        for k, each in enumerate(zip(*found, strict=True))
    )
    return Q, V, n, c, rate, np.concatenate([of_part] * len(found), axis=-2), t, gap


def _crossing(rows: Rows, ends: Floats, s: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Return positions `s` and weights (..., m, p) of stations, changed for rows of two capsules.

    The weights depend on the angle between the capsules, `rigid.interactions.contact.capsules` (1). A middle row has its
    stations at the nearest point, with half of the weight of that point.
    """
    s, weight = (np.broadcast_to(x, (*ends.shape[:-2], s.shape[1])).copy() for x in (s, weight))
    use = np.flatnonzero(rows.crossing)
    own = ends[..., use, :, :]
    e, f = own[..., 1, :] - own[..., 0, :], own[..., 3, :] - own[..., 2, :]
    cosine = np.sum(e * f, axis=-1) / (np.linalg.norm(e, axis=-1) * np.linalg.norm(f, axis=-1))
    y = np.maximum(1.0 - cosine**2 - PARALLEL, 0.0)
    w = ((1.0 + KAPPA) * y / (y + KAPPA))[..., None]
    middle = (rows.crossing[use] == MIDDLE)[:, None]
    weight[..., use, :] *= np.where(middle, 0.5 * w, 1.0 - w)
    nearest = np.empty(own.shape[:-2])
    places(np.ascontiguousarray(own.reshape(-1, 4, 3)), nearest.reshape(-1))
    s[..., use, :] = np.where(middle, nearest[..., None], s[..., use, :])
    return s, weight


def _to_rim(rows: Rows, quat: Floats) -> Floats:
    """Return vectors (..., m, 1, 3), m, from the centre of a circle to its lowest or highest point above a plane; else zero."""
    axis = quaternions.rotate(quat[..., 0, :], rows.circle[:, :3])
    across = _across(quaternions.rotate(quat[..., 2, :], rows.normal), axis)
    size = np.linalg.norm(across, axis=-1, keepdims=True)
    return (-rows.circle[:, 3:] * across / np.where(size > 0.0, size, 1.0))[..., None, :]


def touching(rows: Rows, patches: Patches, state: State) -> Touching:
    """Return the contact forces, with friction and dissipation, in a state, or in many."""
    law, of, w = pushed(rows, state), rows.patch, len(patches.loss)
    r, v, _, omega = _moving(rows, state)
    Q, power = _summed(law.Q, of, w), _summed(law.power, of, w)
    force = _summed(law.force[..., ON_A, :].sum(axis=-2), of, w, 1)
    size = np.linalg.norm(force, axis=-1)
    touches = (np.abs(Q) > TINY) & (
        size > TINY
    )  # Q is negative for subtracted contacts, such as corners next to corners
    per_Q, per_size = (np.where(touches, 1.0 / np.where(touches, x, 1.0), 0.0) for x in (Q, size))
    n, place = per_size[..., None] * force, per_Q[..., None] * _summed(law.place, of, w, 1)
    b, c, rest = (patches.loss[:, i] for i in (B, C, REST))
    rate = per_Q * power
    speed = np.sqrt(rate**2 + rest**2)
    phi = np.maximum(b * rate / np.where(speed > 0.0, speed, 1.0) + c * rate, -1.0)
    N = np.copysign(size, Q) * (1.0 + phi) * touches
    parts = law.weight * per_Q[..., of, None]  # (..., m, 4) part of each frame in the sum of Q
    moves = v + np.cross(omega, _arms(parts, place, of, r))
    slip = _across(_summed(np.sum(parts[..., None] * moves, axis=-2), of, w, 1), n)
    turn = _summed(np.sum(parts[..., None] * omega, axis=-2), of, w, 1)
    T, kept = _held(patches, state, n, N, slip)
    lost = phi * power + np.sum((T - kept) * slip, axis=-1)
    about = np.sum(turn * n, axis=-1)
    for rolled, length in ((about**2, DRILL), (np.sum(turn**2, axis=-1) - about**2, ROLL)):
        rolled = np.maximum(rolled, 0.0)
        lost = lost + N * patches.loss[:, length] * rolled / np.sqrt(rolled + SLOWEST**2)
    on_frames = (1.0 + phi)[..., of, None, None] * law.force - parts[..., None] * T[..., of, None, :]
    kept = 0.5 * patches.stiffness * np.sum(patches.zeta**2, axis=-1)
    return Touching(on_frames, _summed(law.energy, of, w) + kept, N, T, slip, place, lost, law.gap)


def _arms(parts: Floats, place: Floats, of: Ints, r: Floats) -> Floats:
    """Return the lever arms (..., m, 4, 3) of the frames, m.

    Each side of a patch carries the contact point `place` by one lever arm, from the weighted mean of the positions of its
    frames.
    """
    arms, w = np.zeros_like(r), place.shape[-2]
    for side in (ON_A, ON_B):
        weights = parts[..., side, None]
        total = _summed(weights.sum(axis=-2), of, w, 1)
        middle = _summed(np.sum(weights * r[..., side, :], axis=-2), of, w, 1)
        arm = place - middle / np.where(total == 0.0, 1.0, total)
        arms[..., side, :] = arm[..., of, None, :]
    return arms


def _held(patches: Patches, state: State, n: Floats, N: Floats, slip: Floats) -> tuple[Floats, Floats]:
    """Return the force T (..., w, 3) of the bristles and their dampers, N, and the part of it whose work the bristles store."""
    u = _across(quaternions.rotate(state.quat[..., patches.first, :], patches.zeta), n)
    kept, left = (np.linalg.norm(x, axis=-1) for x in (patches.zeta, u))
    u = (kept / np.where(left > 0.0, left, 1.0))[..., None] * u
    way = _ways(patches, state, n)
    of_bristle = patches.stiffness[..., None] * _scaled(u, way, u, -0.5)
    rest = CREEP * patches.loss[:, REST]
    d = np.where(rest > 0.0, patches.loss[:, STATIC] / np.where(rest > 0.0, rest, 1.0), 0.0) * N
    P = of_bristle + d[..., None] * slip
    size, slid = np.linalg.norm(P, axis=-1), patches.sliding > 0.5
    limit = N * np.where(slid, patches.loss[:, KINETIC], patches.loss[:, STATIC])
    share = np.minimum(1.0, limit / np.where(size > 0.0, size, 1.0))
    held = np.where((slid | (share < 1.0))[..., None], 0.0, _scaled(of_bristle, way, u, 1.0))
    return _scaled(share[..., None] * P, way, P, 1.0), held


def _ways(patches: Patches, state: State, n: Floats) -> tuple[Floats, Floats]:
    """Return the directions of rod elements, projected across n, and the factors of friction.

    Directions (..., w, 3) are unit vectors, zero if the part is not a rod element. Factors (..., w, 3) are those of sliding
    forwards, backwards and sideways.
    """
    along = state.r[..., patches.part[:, 1], :] - state.r[..., patches.part[:, 0], :]
    e = _across(along, n)
    long, left = np.linalg.norm(along, axis=-1), np.linalg.norm(e, axis=-1)
    lies = (left / np.where(long > 0.0, long, 1.0))[..., None] ** 2
    factors = np.where(long[..., None] > 0.0, patches.loss[:, (FORTH, BACK, SIDE)], 1.0)
    side = factors[..., 2:]
    return e / np.where(left > 0.0, left, 1.0)[..., None], side + lies * (factors - side)


def _scaled(x: Floats, way: tuple[Floats, Floats], of: Floats, power: float) -> Floats:
    """Return F^power x, with the matrix F of the factors of friction for the direction of sliding of the vectors `of`."""
    e, factors = way
    forth, back, side = np.moveaxis(factors**power, -1, 0)
    p = np.where(np.sum(of * e, axis=-1) > 0.0, forth, back)
    return side[..., None] * x + ((p - side) * np.sum(x * e, axis=-1))[..., None] * e


def _moving(rows: Rows, state: State) -> tuple[Floats, Floats, Floats, Floats]:
    """Return r, v, quat and omega (..., m, 4, .) of the frames of the rows; omega in inertial axes."""
    quat = state.quat[..., rows.frames, :]
    return (
        state.r[..., rows.frames, :],
        state.v[..., rows.frames, :],
        quat,
        quaternions.rotate(quat, state.Omega[..., rows.frames, :]),
    )


def _across(x: Floats, n: Floats) -> Floats:
    """Return x without its component along n."""
    return x - np.sum(x * n, axis=-1, keepdims=True) * n


def _summed(values: Floats, of: Ints, w: int, behind: int = 0) -> Floats:
    """Sum values of rows over each of the w patches; `of`: patch of each row; `behind`: number of axes after that of the rows."""
    axis = values.ndim - 1 - behind
    found = np.zeros((*values.shape[:axis], w, *values.shape[axis + 1 :]))
    np.add.at(np.moveaxis(found, axis, 0), of, np.moveaxis(values, axis, 0))
    return found
