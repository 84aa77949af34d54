"""Currents, winds and waves for `Model.add_fluid`, pictures of them, and added masses for `Model.add_submerged_body`."""

from rodsim.components.flow_pictures import draw_flow, export_flow, flow_velocity
from rodsim.components.flows import AiryWave, Formula, Polar, PowerLaw, Profile, ellipsoid_added_mass

__all__ = [
    "AiryWave",
    "Formula",
    "Polar",
    "PowerLaw",
    "Profile",
    "draw_flow",
    "ellipsoid_added_mass",
    "export_flow",
    "flow_velocity",
]
