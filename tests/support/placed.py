"""Surfaces of solids of pictures at a state."""

from rigid.quaternions import to_matrix
from rodsim.results.scene import Surface, merge


def placed(solids, state):
    """All of them as one surface."""
    return merge(
        [
            Surface(
                state.r[own.frame] + own.vertices @ to_matrix(state.quat[own.frame]).T + own.upright,
                own.faces,
                own.owners,
            )
            for own in solids
        ]
    )


def of_owner(surface, owner):
    """Its triangles (n, 3, 3)."""
    return surface.vertices[surface.faces[surface.owner[surface.faces[:, 0]] == owner]]
