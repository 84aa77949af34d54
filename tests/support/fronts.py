"""Shared models and helpers: fronts of the linear solver."""

import numpy as np
from scipy.sparse import csc_matrix

from discretization.linear.multifrontal import fronts_factor, fronts_of, scratch_length
from rodsim import Material, Model, Section

H = 0.01
SECTION = Section.circular(0.02, Material(E=1e9, nu=0.3, density=1000.0))


def net(rows=4, fields=6, hinges=True):
    """Rows of rods clamped at their start, with posts between them at every second node: welded below, some hinged above."""
    model = Model("net", gravity=(0.0, 0.0, -9.81))
    for j in range(rows):
        row = model.add_rod(f"row{j}", [[0, j, 0], [fields, j, 0]], SECTION, n_elements=fields, up=(0, 0, 1))
        model.add_joint(f"clamp{j}", "clamp", row.start)
    for j in range(rows - 1):
        for i in range(2, fields + 1, 2):
            post = model.add_rod(
                f"post{j}-{i}", [[i, j, 0], [i, j + 1, 0]], SECTION, n_elements=2, up=(0, 0, 1)
            )
            model.add_joint(f"below{j}-{i}", "weld", model.rods[f"row{j}"].at(i / fields), post.start)
            node, joint = model.rods[f"row{j + 1}"].at(i / fields), f"above{j}-{i}"
            if hinges and i == 2:
                model.add_joint(joint, "revolute", node, post.end, axis=(0, 0, 1))
            else:
                model.add_joint(joint, "weld", node, post.end)
    return model


def random_matrix(rng, n_groups=40, size=3):
    """A matrix of groups of `size` unknowns on a random graph, a third of them with two multipliers: columns of the pattern,
    groups, flags of the multipliers, the matrix itself.
    """
    width = size + 2 * (np.arange(n_groups) % 3 == 0)
    group = np.repeat(np.arange(n_groups), width)
    leads = np.concatenate([np.arange(w) >= size for w in width])
    joined = np.eye(n_groups, dtype=bool) | np.eye(n_groups, k=1, dtype=bool)
    joined[rng.integers(0, n_groups, 25), rng.integers(0, n_groups, 25)] = True
    pattern = (joined | joined.T)[np.ix_(group, group)]
    full = np.where(pattern, rng.normal(size=pattern.shape), 0.0)
    full[np.ix_(leads, leads)] = 0.0
    full[~leads, ~leads] += 8.0  # the inertia of the groups
    stored = csc_matrix(pattern)
    stored.sort_indices()
    shuffled = rng.permutation(len(group))  # groups need not be contiguous unknowns
    full, group, leads = full[np.ix_(shuffled, shuffled)], group[shuffled], leads[shuffled]
    stored = csc_matrix(pattern[np.ix_(shuffled, shuffled)])
    return stored, group, leads, full


def entries(stored, full):
    columns = np.repeat(np.arange(len(full)), np.diff(stored.indptr))
    return full[stored.indices, columns]


def factored(stored, group, leads, full):
    fronts = fronts_of(stored.indptr, stored.indices, group, leads)
    panels, pivots = np.full(fronts.start[-1] + 8, np.nan), np.zeros(len(full), np.int32)
    scratch = np.zeros(scratch_length(fronts))
    return (
        fronts,
        panels,
        pivots,
        scratch,
        fronts_factor(entries(stored, full), fronts, panels, pivots, scratch),
    )
