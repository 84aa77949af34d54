"""Benchmarks: rodsim and its peers side by side, one thread each (`python -m benchmarks.run`)."""

import os

# Before numpy, numba or a peer is imported: one thread for everybody, or the ratios compare thread pools.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
