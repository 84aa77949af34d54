"""Convert the section `equilibrium` of a scene to arguments of `rodsim.equilibrium`."""

from __future__ import annotations

from typing import Any

from rodsim.equilibrium_methods import with_method
from rodsim.scenes.model_from_scene import Loaded
from rodsim.scenes.schema_equilibrium import EquilibriumScene


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
        "motions": {
            item.joint: {
                "displacement": item.displacement,
                "rotation": item.rotation,
                **({} if item.about is None else {"about": item.about}),
            }
            for item in section.motions
        },
        "monitors": loaded.monitors,
    }
    if section.stop:
        settings["stop"] = {item.of: (item.lowest, item.highest) for item in section.stop}
    if section.branch:
        settings["branch"] = section.branch
    return with_method(settings)
