"""Scene files: models as YAML or JSON, checked against a schema."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rodsim.scenes.errors import SceneError as SceneError
    from rodsim.scenes.scene_input import read_scene as read_scene
else:
    from rodsim.lazy_exports import lazy_names

    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {"rodsim.scenes.errors": "SceneError", "rodsim.scenes.scene_input": "read_scene"},
    )
