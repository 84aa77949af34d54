"""Convert the section `equilibrium` of a scene to arguments of `rodsim.equilibrium`."""

from __future__ import annotations

from typing import Any

from rodsim.equilibrium_methods import with_method
from rodsim.scenes.model_from_scene import Loaded
from rodsim.scenes.schema_equilibrium import EquilibriumScene, MotionScene

ALL = "all"  # name of the load case of a scene that names none


def equilibrium_settings(
    loaded: Loaded, method: str | None = None, unstable: str | None = None
) -> dict[str, Any]:
    """Return the arguments of `rodsim.equilibrium` from the section `equilibrium` of a scene.

    `method`, `unstable`: replace the values of the scene; None: those of the scene.
    """
    section = loaded.scene.equilibrium or EquilibriumScene()
    settings: dict[str, Any] = {  # with the values that scenes use
        **section.model_dump(include={"load_time", "constant", "relaxation", "most_points", "first_step"}),
        "method": method or section.method,
        "unstable": unstable or section.unstable,
        "motions": _motions(section.motions),
        "monitors": loaded.monitors,
    }
    if section.stop:
        settings["stop"] = {item.of: (item.lowest, item.highest) for item in section.stop}
    if section.branch:
        settings["branch"] = section.branch
    return with_method(settings)


def has_load_cases(loaded: Loaded) -> bool:
    """Return whether a scene asks for load cases or first-order theory."""
    section = loaded.scene.equilibrium or EquilibriumScene()
    return bool(section.linear or section.load_cases or section.combinations)


def load_case_settings(loaded: Loaded, loads_of_model: list[str]) -> dict[str, Any]:
    """Return the arguments of `rodsim.load_cases` from the section `equilibrium` of a scene.

    A linear equilibrium without load cases is the case "all" with the loads `loads_of_model`.
    """
    section = loaded.scene.equilibrium or EquilibriumScene()
    cases: dict[str, Any] = {item.name: item.loads for item in section.load_cases if item.loads}
    settlements = {
        item.name: _motions(item.settlements)
        for item in section.load_cases
        if item.settlements or not item.loads
    }
    if not section.load_cases:
        cases = {ALL: loads_of_model}
        settlements = {ALL: _motions(section.motions)} if section.motions else {}
    return {
        "cases": cases,
        "combinations": {item.name: item.cases for item in section.combinations},
        "settlements": settlements,
        "linear": section.linear,
        "load_time": section.load_time,
    }


def _motions(motions: list[MotionScene]) -> dict[str, Any]:
    """Return motions of joints by name."""
    return {
        item.joint: {
            "displacement": item.displacement,
            "rotation": item.rotation,
            **({} if item.about is None else {"about": item.about}),
        }
        for item in motions
    }
