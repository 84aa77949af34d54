"""Detect before a run whether the steps of a composition resonate with the lengthwise vibration of a rod.

A rod that is stretched suddenly, or by rotation, vibrates lengthwise: omega = pi c/(2 L) with one end held, pi c/L with both
or none, c = sqrt(EA/rho A). If omega h is one of `waves.resonances`, a step of em4, em6 or em8 advances the phase of this
vibration by whole turns, so that its errors add up.
"""

from __future__ import annotations

import numpy as np

from rigid.errors import ModelError
from rigid.joints import holds_all
from rodsim.components.joints import JointComponent
from rodsim.components.model_parts import Anchor, Ground, Rod
from rodsim.model import Model
from rodsim.waves import resonances

NEAR = 0.05  # relative distance of the step from a resonance within which errors still add up


def resonant_steps(model: Model, integrator: str, dt: float) -> list[str]:
    """Return a message for each rod whose lengthwise vibration is near a resonance of steps `dt` (s) of this integrator."""
    try:
        turns = resonances(integrator, joined=any(map(_moves, model.joints.values())))
    except ModelError:  # the integrator is not a composition of `em`
        return []
    messages = []
    for rod in model.rods.values():
        omega = _lengthwise(model, rod)
        for x in turns:
            if omega and abs(omega * dt / x - 1.0) < NEAR:
                messages.append(
                    f"{rod}: its lengthwise vibration of some {omega:.3g} rad/s and dt = {dt:g} s of {integrator} resonate "
                    f"(omega dt near {x:.3g}), so that errors add up; keep dt off {x / omega:.3g} s by {NEAR:.0%} and more"
                )
    return messages


def _moves(joint: JointComponent) -> bool:
    """Return whether the joint connects moving parts; a clamp to the ground does not."""
    parts = [end.part if isinstance(end, Anchor) else end for end in (joint.a, joint.b)]
    return not holds_all(joint.kind) or not any(isinstance(part, Ground) for part in parts)


def _lengthwise(model: Model, rod: Rod) -> float:
    """Return the lowest lengthwise frequency of a rod, rad/s; 0 for a rod without mass or one that does not stretch."""
    section = rod.section(0.5) if callable(rod.section) else rod.section
    if section.mass_per_length == 0.0:
        return 0.0
    speed = np.sqrt(section.stiffness[0, 0] / section.mass_per_length)
    held_ends = {
        anchor.s
        for joint in model.joints.values()
        for anchor in (joint.a, joint.b)
        if isinstance(anchor, Anchor) and anchor.part is rod and anchor.s in (0.0, 1.0)
    }
    waves = (
        1.0 if rod.closed else (0.25 if len(held_ends) == 1 else 0.5)
    )  # wavelengths in the length of the rod
    return float(2.0 * np.pi * waves * speed / rod.stress_free.length)
