"""rodsim: geometrically exact rods and rigid multibody systems with structure-preserving integrators.

Use: ``from rodsim import Box, Material, Model, Section, simulate``. Each public name is imported when it is first used.
Type checkers read the imports under `TYPE_CHECKING`; the table of `lazy_names` lists the same names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rigid.errors import ConvergenceError as ConvergenceError
    from rigid.errors import ModelError as ModelError
    from rigid.errors import ModelWarning as ModelWarning
    from rigid.inertia import Box as Box
    from rigid.inertia import Capsule as Capsule
    from rigid.inertia import Cone as Cone
    from rigid.inertia import Cylinder as Cylinder
    from rigid.inertia import MassProperties as MassProperties
    from rigid.inertia import PointMass as PointMass
    from rigid.inertia import Sphere as Sphere
    from rigid.mesh_mass_properties import Mesh as Mesh
    from rodsim import actuators as actuators
    from rodsim import controllers as controllers
    from rodsim import curves as curves
    from rodsim import fluids as fluids
    from rodsim import linear as linear
    from rodsim import mechanics as mechanics
    from rodsim import signals as signals
    from rodsim import studies as studies
    from rodsim import warnings as warnings
    from rodsim.adaptive_steps import Adaptive as Adaptive
    from rodsim.comparing.comparison import Comparison as Comparison
    from rodsim.comparing.comparison import compare as compare
    from rodsim.components.friction import Friction as Friction
    from rodsim.components.materials import Material as Material
    from rodsim.components.pulleys import Drum as Drum
    from rodsim.components.pulleys import Pulley as Pulley
    from rodsim.components.sections import Section as Section
    from rodsim.components.sections_along import SectionStations as SectionStations
    from rodsim.components.spring_laws import SpringLaw as SpringLaw
    from rodsim.equilibrium_methods import ArcLength as ArcLength
    from rodsim.equilibrium_methods import Newton as Newton
    from rodsim.interactions import measures as measures
    from rodsim.interactions.registration import interaction as interaction
    from rodsim.many_runs import simulate_many as simulate_many
    from rodsim.model import Model as Model
    from rodsim.orientations import align as align
    from rodsim.prepared import prepare as prepare
    from rodsim.reporting.page import report as report
    from rodsim.results.audit import audit as audit
    from rodsim.results.errors import ResultError as ResultError
    from rodsim.results.events import ContactBegins as ContactBegins
    from rodsim.results.events import DistanceBelow as DistanceBelow
    from rodsim.results.export import export as export
    from rodsim.results.local_audit import local_audit as local_audit
    from rodsim.results.plot import plot as plot
    from rodsim.results.render import render as render
    from rodsim.results.render import render_movie as render_movie
    from rodsim.results.result import Result as Result
    from rodsim.results.viewer import view as view
    from rodsim.results.writer import recover as recover
    from rodsim.scenes.errors import SceneError as SceneError
    from rodsim.simulation import simulate as simulate
    from rodsim.small_motions.linear_equations import linearise as linearise
    from rodsim.small_motions.modal_analysis import modes as modes
    from rodsim.small_motions.rotors import campbell as campbell
    from rodsim.small_motions.steady_rotations import steady_rotation as steady_rotation
    from rodsim.statics.diagrams import diagram as diagram
    from rodsim.statics.equilibria import equilibrium as equilibrium
    from rodsim.statics.equilibrium_results import Equilibrium as Equilibrium
    from rodsim.statics.linear_buckling import buckling as buckling
    from rodsim.statics.linear_equilibria import LinearEquilibrium as LinearEquilibrium
    from rodsim.statics.load_cases import LoadCases as LoadCases
    from rodsim.statics.load_cases import load_cases as load_cases
    from rodsim.studies.errors import StudyError as StudyError
else:
    from rodsim.lazy_exports import lazy_names

    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "rigid.errors": "ConvergenceError ModelError ModelWarning",
            "rigid.inertia": "Box Capsule Cone Cylinder MassProperties PointMass Sphere",
            "rigid.mesh_mass_properties": "Mesh",
            "rodsim.adaptive_steps": "Adaptive",
            "rodsim.comparing.comparison": "Comparison compare",
            "rodsim.results.events": "ContactBegins DistanceBelow",
            "rodsim.interactions.measures": "measures =",
            "rodsim.interactions.registration": "interaction",
            "rodsim.actuators": "actuators =",
            "rodsim.controllers": "controllers =",
            "rodsim.curves": "curves =",
            "rodsim.fluids": "fluids =",
            "rodsim.linear": "linear =",
            "rodsim.many_runs": "simulate_many",
            "rodsim.mechanics": "mechanics =",
            "rodsim.model": "Model",
            "rodsim.components.friction": "Friction",
            "rodsim.orientations": "align",
            "rodsim.components.materials": "Material",
            "rodsim.components.pulleys": "Drum Pulley",
            "rodsim.components.sections": "Section",
            "rodsim.components.sections_along": "SectionStations",
            "rodsim.components.spring_laws": "SpringLaw",
            "rodsim.prepared": "prepare",
            "rodsim.reporting.page": "report",
            "rodsim.results.audit": "audit",
            "rodsim.results.errors": "ResultError",
            "rodsim.results.export": "export",
            "rodsim.results.local_audit": "local_audit",
            "rodsim.results.plot": "plot",
            "rodsim.results.render": "render render_movie",
            "rodsim.results.result": "Result",
            "rodsim.results.writer": "recover",
            "rodsim.results.viewer": "view",
            "rodsim.scenes.errors": "SceneError",
            "rodsim.signals": "signals =",
            "rodsim.simulation": "simulate",
            "rodsim.small_motions.linear_equations": "linearise",
            "rodsim.small_motions.modal_analysis": "modes",
            "rodsim.small_motions.rotors": "campbell",
            "rodsim.small_motions.steady_rotations": "steady_rotation",
            "rodsim.statics.diagrams": "diagram",
            "rodsim.statics.equilibria": "equilibrium",
            "rodsim.statics.equilibrium_results": "Equilibrium",
            "rodsim.statics.linear_buckling": "buckling",
            "rodsim.statics.linear_equilibria": "LinearEquilibrium",
            "rodsim.statics.load_cases": "LoadCases load_cases",
            "rodsim.studies.errors": "StudyError",
            "rodsim.equilibrium_methods": "ArcLength Newton",
            "rodsim.studies": "studies =",
            "rodsim.warnings": "warnings =",
        },
        hidden=[
            "warnings"
        ],  # `from rodsim import *` must not replace the module `warnings` of the standard library
    )

__version__ = "0.4.0"
