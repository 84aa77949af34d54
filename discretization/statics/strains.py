"""Compute strains of a system's rods and their linear change along a correction, for a tangent with predicted stresses.

A finite rotation of a slender rod stretches it, by an error that the next correction removes; the stress of that stretch is
EA/EI L^2 times those of its bending. In the tangent it makes Newton's method slow. The remedy is that the
stresses of the tangent follow their own linear prediction, as if they were unknowns:

    K(y, sigma),  sigma = C (e(y_before) + B dy - e0)   in place of   C (e(y) - e0)                          (1)

while the residual stays that of y. At convergence both are equal. Source: Magisano, Leonetti, Garcea, Int. J. Numer.
Meth. Engng 109 (2017), "mixed integration points". Since stresses are functions of e - e0, (1) is the tangent with e0
shifted by e(y) - e(y_before) - B dy.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discretization.assembly.rod_spans import strains_over_step
from discretization.assembly.workspace import Workspace, rotation_of, store_rotation
from discretization.space.closed_form_spans import STRAINS_END
from discretization.space.rod_gauss_points import FIRST, POINT, STRAIN0
from discretization.space.se3_element import invariants, strains_of
from discretization.space.strain_functions import strain_functions
from discretization.system import System
from rigid.compilation.decorators import internal_kernel
from rigid.kinematics.rotations import cayley_rotation, load4, rotation_matrix
from rigid.linear_algebra import load3, minus, plus, store3, times
from rigid.system import Floats, Ints
from rigid.tuple_references import by_reference

_SMALL = 1e-4  # fraction of a correction, for differences of strains


class Poses(NamedTuple):
    """Scratch for the poses of all frames."""

    r: Floats
    quat: Floats
    R: Floats
    dr: Floats  # zeros, (frames, 3)


@by_reference
class Prediction(NamedTuple):
    """Strains (points, 6) of all points and their prediction.

    The points of two-frame elements come first, then those of spans, as in `discretization.state_measures`.
    """

    poses: Poses
    linear: Floats  # B dy, linear change along a correction
    start: Floats  # e(y_before); also the other end of a difference
    excess: Floats  # e(y) - e(y_before) - B dy
    of_elements: Floats  # (m, 6) stress-free strains e0
    of_spans: Floats  # (k, 6) stress-free strains e0 of the points of spans
    offsets: Ints  # (k, 6) indices of these among the parameters of the spans


def prediction(system: System, work: Workspace) -> Prediction:
    """Allocate the strains of `system`, with its stress-free strains e0."""
    spans, span_work = system.spans, work.spans
    offsets = np.zeros((0, 6), np.int64)
    if len(spans.kind):
        span = np.repeat(np.arange(len(spans.kind)), np.diff(span_work.first))
        local = np.arange(len(spans.weight)) - np.repeat(span_work.first[:-1], np.diff(span_work.first))
        offsets = (span_work.at[span] + FIRST + POINT * local + STRAIN0)[:, None] + np.arange(6)
    n, points = len(system.frames.mass), len(system.elements.length) + len(offsets)
    return Prediction(
        Poses(np.zeros((n, 3)), np.zeros((n, 4)), np.zeros((n, 3, 3)), np.zeros((n, 3))),
        np.zeros((points, 6)),
        np.zeros((points, 6)),
        np.zeros((points, 6)),
        system.elements.strain0.copy(),
        span_work.numbers[offsets],
        offsets,
    )


@internal_kernel
def strains_along(system, numbering, state, work, poses, x, factor, out):
    """Compute the strains (points, 6), up to a constant, in out for the state moved by factor x.

    Elements come first, then points of spans.
    """
    frames = system.frames
    for f in range(frames.mass.shape[0]):
        r, q = load3(state.r[f]), load4(state.quat[f])
        if frames.fixed[f] == 0 and factor != 0.0:
            at = numbering.frame[f]
            r = plus(r, times(factor, load3(x[at : at + 3])))
            q = cayley_rotation(times(factor, load3(x[at + 3 : at + 6])), q)
        store3(r, poses.r[f])
        poses.quat[f, 0], poses.quat[f, 1], poses.quat[f, 2], poses.quat[f, 3] = q
        store_rotation(poses.R, f, rotation_matrix(q))
    elements = system.elements
    for m in range(elements.length.shape[0]):
        a, b = elements.frames[m, 0], elements.frames[m, 1]
        L = elements.length[m]
        y, k, s, u, _ = invariants(
            rotation_of(poses.R, a),
            rotation_of(poses.R, b),
            load4(poses.quat[a]),
            load4(poses.quat[b]),
            minus(load3(poses.r[b]), load3(poses.r[a])),
            L,
        )
        g, _, p, _ = strain_functions(u)
        Gamma, K = strains_of(y, k, s, u, g, p, L)
        store3(Gamma, out[m, 0:3])
        store3(K, out[m, 3:6])
    spans, span_work = system.spans, work.spans
    first = elements.length.shape[0]
    for position in range(span_work.sequence.size):
        m = span_work.sequence[position]
        if (
            span_work.forces[m] == 0
        ):  # no closed form: its stresses are not predicted, it is solved by Newton's method with the plain tangent
            for g in range(span_work.first[m], span_work.first[m + 1]):
                for i in range(6):
                    out[first + g, i] = 0.0
            continue
        strains_over_step(spans, span_work, (poses.r, poses.dr, poses.R, poses.R), m, 0.0)
        for g in range(span_work.first[m + 1] - span_work.first[m]):
            for i in range(6):
                out[first + span_work.first[m] + g, i] = span_work.K[STRAINS_END, 6 * g + i]


@internal_kernel
def predict_strains(system, numbering, state, work, predicted, x):
    """Compute the strains at the state in `predicted.start`, and their linear change along x in `predicted.linear`."""
    strains_along(system, numbering, state, work, predicted.poses, x, -_SMALL, predicted.start)
    strains_along(system, numbering, state, work, predicted.poses, x, _SMALL, predicted.linear)
    for k in range(predicted.linear.shape[0]):
        for i in range(6):
            predicted.linear[k, i] = (predicted.linear[k, i] - predicted.start[k, i]) / (2.0 * _SMALL)
    strains_along(system, numbering, state, work, predicted.poses, x, 0.0, predicted.start)


@internal_kernel
def strain_excess(system, numbering, state, work, predicted, x, fraction):
    """Compute `predicted.excess`, the strains minus their prediction, after the state was moved by fraction times x."""
    strains_along(system, numbering, state, work, predicted.poses, x, 0.0, predicted.excess)
    for k in range(predicted.excess.shape[0]):
        for i in range(6):
            predicted.excess[k, i] -= predicted.start[k, i] + fraction * predicted.linear[k, i]


@internal_kernel
def shift_reference_strains(system, work, predicted, factor):
    """Set the stress-free strains of the system, in place, to e0 plus factor times the excess."""
    m = predicted.of_elements.shape[0]
    for k in range(m):
        for i in range(6):
            system.elements.strain0[k, i] = predicted.of_elements[k, i] + factor * predicted.excess[k, i]
    for k in range(predicted.offsets.shape[0]):
        for i in range(6):
            work.spans.numbers[predicted.offsets[k, i]] = (
                predicted.of_spans[k, i] + factor * predicted.excess[m + k, i]
            )
