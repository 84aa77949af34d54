"""How a multibody model is packed into the numbers and the table that its chart functions read.

table:   counts and switches (see the constants), then for every frame the places of its position and of its
         orientation among the coordinates (-1: it has none, the value is fixed), then the integers of constraints,
         springs, torsion springs, weights and loads.
numbers: for every frame pose (r, d1, d2, d3), mass, inertia (9), parameter; then the data of the rest.
"""

from rigid.compilation import small_kernel

N_FRAMES, N_CONSTRAINTS, N_SPRINGS, N_TORSIONS, N_WEIGHTS, N_LOADS, CHART, INERTIA, BY_TORQUE = range(9)
HEAD = 9

DIRECTORS, QUATERNION = 0, 1
SINGULAR, ALPHA, GAMMA = 0, 1, 2

FRAME_INTS, FRAME_FLOATS = 2, 23
CONSTRAINT_INTS, CONSTRAINT_FLOATS = 4, 13  # kind, a, b, first row; Xa, Xb, Ua, Ub, value
SPRING_INTS, SPRING_FLOATS = 2, 8  # a, b; Xa, Xb, stiffness, length
TORSION_INTS, TORSION_FLOATS = 2, 12  # a, b; Ua, Wa, Ub, stiffness, angle0, branch
WEIGHT_INTS, WEIGHT_FLOATS = 1, 6  # frame; X, constant force
LOAD_INTS, LOAD_FLOATS = 3, 3  # kind, frame, following; X


@small_kernel
def starts(table):
    """First integer of constraints, springs, torsions, weights, loads."""
    c = HEAD + FRAME_INTS * table[N_FRAMES]
    s = c + CONSTRAINT_INTS * table[N_CONSTRAINTS]
    t = s + SPRING_INTS * table[N_SPRINGS]
    w = t + TORSION_INTS * table[N_TORSIONS]
    return c, s, t, w, w + WEIGHT_INTS * table[N_WEIGHTS]


@small_kernel
def float_starts(table):
    """First number of constraints, springs, torsions, weights, loads."""
    c = FRAME_FLOATS * table[N_FRAMES]
    s = c + CONSTRAINT_FLOATS * table[N_CONSTRAINTS]
    t = s + SPRING_FLOATS * table[N_SPRINGS]
    w = t + TORSION_FLOATS * table[N_TORSIONS]
    return c, s, t, w, w + WEIGHT_FLOATS * table[N_WEIGHTS]


@small_kernel
def load_at(x, i):
    """Vector from x[i:i + 3]."""
    return x[i], x[i + 1], x[i + 2]


@small_kernel
def load_matrix_at(x, i):
    """Matrix from x[i:i + 9], row by row."""
    return x[i], x[i + 1], x[i + 2], x[i + 3], x[i + 4], x[i + 5], x[i + 6], x[i + 7], x[i + 8]
