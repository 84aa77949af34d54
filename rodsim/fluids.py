"""Currents, winds and waves for `Model.add_fluid`, and added masses for `Model.add_submerged_body`."""

from rodsim.components.flows import AiryWave, Formula, Polar, PowerLaw, Profile, ellipsoid_added_mass

__all__ = ["AiryWave", "Formula", "Polar", "PowerLaw", "Profile", "ellipsoid_added_mass"]
