"""Update the condensed internal variables of one interaction in a step, compiled: see `rigid.interactions.kinds.Condensed`."""

from rigid.compilation.decorators import internal_kernel
from rigid.interactions.kinds import COMPLEX_STEP, dual_at, stress_at, value_at


@internal_kernel
def begin_internal_step(I, kind, entry, h, internal, scratch):
    """Write internal variables at the start of a step, and what `begin` derives from them, into the numbers.

    Returns their energy. `internal`: the internal variables at the start; `h`: length of the step; `scratch`: overwritten.
    """
    flat, first = scratch.reshape(scratch.size), entry.last - kind.n_internal
    for i in range(kind.n_internal):
        I.numbers[first + i] = internal[i].real
    flat[0] = h
    begin = stress_at(kind.begin)
    begin(flat[0:1], I.numbers[entry.first : entry.last], flat[1:2])
    return flat[1].real


@internal_kernel
def end_internal_step(I, kind, entry, ends, along, internal, scratch):
    """Write the internal variables at the end of the step into `internal`; return the gain of their energy.

    `ends`: poses y0, y1 at both ends. `along`: True if they are y and y + i COMPLEX_STEP z; then the change of the strains is z
    times their gradient. `scratch`: overwritten.
    """
    flat, n, first = scratch.reshape(scratch.size), kind.strained, entry.last - kind.n_internal
    X = I.numbers[entry.first : entry.last]
    strains, evolve = value_at(kind.strains), stress_at(kind.evolve)
    strains(ends[0], X, flat[0:n])
    strains(ends[1], X, flat[n : 2 * n])
    for i in range(n):
        change = flat[n + i] - flat[i]
        flat[i] = change.imag / COMPLEX_STEP if along else change.real
    evolve(flat[0:n], X, flat[n : n + 1])
    for i in range(kind.n_internal):
        internal[i] = I.numbers[first + i]
    return flat[n].real


@internal_kernel
def load_internal_variables(I, kind, entry, internal):
    """Write internal variables that have a `update_internal` function, as at the start of a step, into the numbers."""
    first = entry.last - kind.n_internal
    for i in range(kind.n_internal):
        I.numbers[first + i] = internal[i].real


@internal_kernel
def update_internal_variables(I, kind, entry, ends, frequency, internal, scratch):
    """Update internal variables that have a `update_internal` function at the end of a step; return the gain of their energy.

    The step goes from y0 to y1 = ends; the new variables are written into `internal` and the numbers. `frequency` (1,): 1/h;
    `scratch`: room for a dual.
    """
    energy, first, X = scratch[0, 0, 0:1], entry.last - kind.n_internal, I.numbers[entry.first : entry.last]
    stored_energy, update_internal = value_at(kind.stored_energy), dual_at(kind.update_internal)
    stored_energy(ends[0], X, energy)
    before = energy[0].real
    update_internal(ends[0], ends[1], X, frequency, scratch)
    for i in range(kind.n_internal):
        internal[i] = scratch[i // 12, i // 3 % 4, i % 3].real
        I.numbers[first + i] = internal[i].real
    stored_energy(ends[1], X, energy)
    return energy[0].real - before
