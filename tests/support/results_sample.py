"""An artificial model for tests of results: an open rod, a ring, a box and a joint; states from a formula."""

import h5py
import numpy as np

from rigid.quaternions import from_rotation_vector
from rigid.system import COINCIDENT, PERPENDICULAR, Constraints, State
from rodsim.results import MemoryWriter, ResultWriter, file_checksums
from rodsim.results.audit_columns import COLUMNS
from rodsim.results.layout import BodyLayout, JointLayout, Layout, RodLayout

N_OPEN, N_RING = 9, 12
BOX = 0.3 * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
BOX_FACES = [
    [0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
    [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3],
]  # fmt: skip


def sample_layout(description=None):
    """Frames: 0 the ground, 1 the box, then the rod and the ring in reverse order of their nodes."""
    first_ring = 2 + N_OPEN
    n_frames = first_ring + N_RING
    rods = [
        RodLayout(
            "whip",
            frames=np.arange(2, first_ring),
            elements=np.arange(N_OPEN - 1),
            arclength=np.linspace(0, 2, N_OPEN),
            radius=np.full(N_OPEN, 0.02),
            sides=np.tile([0.06, 0.03], (N_OPEN, 1)),
        ),
        RodLayout(
            "ring",
            frames=np.arange(first_ring, n_frames)[::-1],
            elements=np.arange(N_OPEN - 1, N_OPEN - 1 + N_RING)[::-1],
            arclength=np.linspace(0, 3, N_RING, endpoint=False),
            radius=np.linspace(0.02, 0.05, N_RING),
            closed=True,
        ),
    ]
    constraints = Constraints(
        kind=np.array([COINCIDENT, PERPENDICULAR]),
        frames=np.array([[0, 1], [0, 1]]),
        Xa=np.zeros((2, 3)),
        Xb=np.array([[0.3, 0, 0], [0.3, 0, 0]]),
        Ua=np.array([[0.0, 0, 0], [1, 0, 0]]),
        Ub=np.array([[0.0, 0, 0], [0, 1, 0]]),
        value=np.zeros(2),
        joint=np.zeros(2, dtype=np.int64),
    )
    return Layout(
        name="sample",
        rods=rods,
        bodies=[BodyLayout("box", 1, np.array([0.3, 0.3, 0.3]), BOX, BOX_FACES)],
        joints=[JointLayout("hinge", "sample", slice(0, 4))],
        description={"name": "sample", "rods": 2, "E": 2.1e11} if description is None else description,
        n_frames=n_frames,
        n_elements=N_OPEN - 1 + N_RING,
        n_multipliers=4,
        n_torsions=1,
        constraints=constraints,
    )


def sample_output(layout, i):
    """Arguments of `append` for output i: a waving rod, a drifting ring and a tumbling box."""
    t = 0.05 * i
    random = np.random.default_rng(i)
    n, m = layout.n_frames, layout.n_elements
    r = np.zeros((n, 3))
    rotation = np.zeros((n, 3))
    s = layout.rods[0].arclength
    whip = layout.rods[0].frames
    r[whip] = np.stack([s, 0.3 * np.sin(2 * s + 5 * t), 0.1 * s * np.cos(3 * t)], axis=1)
    rotation[whip, 2] = np.arctan(0.6 * np.cos(2 * s + 5 * t))
    angle = 2 * np.pi * np.arange(N_RING) / N_RING
    ring = layout.rods[1].frames
    r[ring] = np.stack([1 + 0.5 * np.cos(angle), -1 + 0.5 * np.sin(angle), 0.5 * t + 0 * angle], axis=1)
    rotation[ring, 2] = angle + np.pi / 2
    r[1] = (0.5, 1.2, 0.4 + 0.2 * t)
    rotation[1] = (t, 2 * t, 0.3)
    state = State(
        r=r,
        quat=from_rotation_vector(rotation),
        v=random.normal(size=(n, 3)),
        Omega=random.normal(size=(n, 3)),
        lam=random.normal(size=4),
        internal=random.normal(size=1),
        memory=random.normal(size=6 * n),
        totals=random.normal(size=2),
    )
    strains, stresses = random.normal(size=(m, 6)), random.normal(size=(m, 6))
    audit = dict(zip(COLUMNS, random.normal(size=len(COLUMNS)), strict=True))
    return t, 10 * i, state, strains, stresses, audit


def in_memory(n):
    """The result of the first n outputs of the sample."""
    writer = MemoryWriter(sample_layout())
    for i in range(n):
        writer.append(*sample_output(writer.layout, i))
    return writer.result()


def long_rod(n_nodes, n_outputs):
    """An artificial wavy rod of many nodes."""
    s = np.linspace(0, 9, n_nodes)
    frames, elements = np.arange(1, n_nodes + 1), np.arange(n_nodes - 1)
    cable = RodLayout("cable", frames, elements, s, np.full(n_nodes, 0.01))
    layout = Layout("long", [cable], [], [], n_frames=n_nodes + 1, n_elements=n_nodes - 1)
    writer = MemoryWriter(layout)
    sample = sample_output(sample_layout(), 0)
    for i in range(n_outputs):
        r = np.zeros((n_nodes + 1, 3))
        r[1:, 0], r[1:, 2] = s, np.sin(s + 0.1 * i)
        quat = np.tile([1.0, 0, 0, 0], (n_nodes + 1, 1))
        shapes = {name: np.zeros(shape) for name, shape in layout.state_shapes().items()}
        state = sample[2]._replace(**{**shapes, "r": r, "quat": quat})
        strains = np.zeros((n_nodes - 1, 6))
        strains[min(n_nodes // 2 + 7, n_nodes - 2), 4] = 3.25  # one element only, off the stored nodes
        writer.append(0.1 * i, i, state, strains, strains, sample[5])
    return writer.result()


def write(path, layout, outputs, capacity=None):
    """A result file of these sample outputs."""
    with ResultWriter.create(path, layout, capacity or len(outputs)) as writer:
        for i in outputs:
            writer.append(*sample_output(layout, i))


def resume_file(path, layout, outputs, capacity):
    """Resume a result file with these sample outputs."""
    writer, *_ = ResultWriter.resume(path, layout, capacity)
    for i in outputs:
        writer.append(*sample_output(layout, i))
    writer.close()


def forget_digests(path):
    """Turn a result file into one of a version that wrote no checksums."""
    with h5py.File(path, "r+", libver=("earliest", "v108"), locking=False) as file:
        without_digests(file)


def without_digests(file):
    """Turn an open result file into one of a version that wrote no checksums."""
    del file[file_checksums.CHECKSUMS]
    for name in (file_checksums.DESCRIPTION, file_checksums.LAYOUT, file_checksums.TOPOLOGY):
        del file[file_checksums.ROOT].attrs[name]
    file.visititems(lambda _, item: item.attrs.pop(file_checksums.SHA, None))
    file[file_checksums.ROOT].attrs["format"] = 2


def assert_holds(result, layout, n):
    """Assert that the result contains exactly the first n sample outputs, bit for bit."""
    assert result.n_outputs == n
    for i in range(n):
        t, step, state, strains, stresses, audit = sample_output(layout, i)
        assert (result.t[i], result.step[i]) == (t, step)
        for name, value, stored in zip(state._fields, state, result.state(i), strict=True):
            assert stored.tobytes() == value.tobytes(), name
        assert result.strains(i).tobytes() == strains.tobytes()
        assert result.stresses(i).tobytes() == stresses.tobytes()
        assert [result.audit_column(name)[i] for name in COLUMNS] == list(audit.values())
