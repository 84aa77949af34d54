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
    given = loaded.scene.equilibrium or EquilibriumScene()
    settings: dict[str, Any] = {  # with the values that scenes use
        "method": method or given.method,
        "load_time": given.load_time,
        "constant": given.constant,
        "motions": {
            item.joint: {
                "displacement": item.displacement,
                "rotation": item.rotation,
                **({} if item.about is None else {"about": item.about}),
            }
            for item in given.motions
        },
        "monitors": loaded.monitors,
        "relaxation": given.relaxation,
        "unstable": unstable or given.unstable,
        "most_points": given.most_points,
        "first_step": given.first_step,
    }
    if given.stop:
        settings["stop"] = {item.of: (item.lowest, item.highest) for item in given.stop}
    if given.branch:
        settings["branch"] = given.branch
    return with_method(settings)
