"""Modules loaded by a script: no unused heavy module, and cached machine code without numba's compiler."""

import json

import numba
import numpy as np
import pytest
import scipy.interpolate

from rodsim.components.space_curves import StraightLine
from tests.support.processes import said

SCRIPT = """
import json, sys
loaded = {}
def note(when): loaded[when] = [name for name in %r if name in sys.modules]

import rodsim
note("import rodsim")
import numba.core.event as event

class Compiled(event.Listener):
    n = 0
    def on_start(self, started): Compiled.n += 1
    def on_end(self, ended): pass

event.register("numba:compile", Compiled())
from rodsim import *
note("from rodsim import *")
model = Model("pendulum", gravity=(0, 0, -9.81))
cord = model.add_rod("cord", [(0, 0, 0), (1, 0, 0)], Section.circular(0.01, Material(2e6, 0.45, 1100)), 4)
model.add_joint("pin", "clamp", cord.start)
model.build()
note("build")
simulate(model, 0.01, 0.01)
note("simulate")
equilibrium(model)
note("equilibrium")
print(json.dumps([loaded, Compiled.n]))
"""
# module -> after which of these steps it may be loaded
HEAVY = {
    **dict.fromkeys(["numpy", "numba"], "from rodsim import *"),
    "scipy": "from rodsim import *",
    **dict.fromkeys(["scipy.linalg", "scipy.sparse", "scipy.sparse.linalg", "numpy.f2py"], "equilibrium"),
    **dict.fromkeys(["sympy", "mpmath", "pydantic", "h5py", "vtkmodules", "matplotlib", "pandas", "xarray"], None),
    **dict.fromkeys(["scipy.spatial", "scipy.optimize", "scipy.special", "scipy.interpolate", "scipy.signal"], None),
    **dict.fromkeys(["scipy.stats", "scipy.integrate", "scipy.ndimage", "scipy.fft", "dask", "distributed"], None),
    **dict.fromkeys(["rodsim.scenes.schema", "jsonschema", "tqdm", "IPython", "PIL", "trame", "pyvista"], None),
    "numba.np.arraymath": None,  # modules of numba's compiler, unless code is compiled
    "numba.np.arrayobj": "equilibrium",  # whose kernel makes arrays
}  # fmt: skip
STEPS = ["import rodsim", "from rodsim import *", "build", "simulate", "equilibrium"]


def test_scripts_load_no_unused_heavy_modules():
    loaded, compiled = json.loads(said("-c", SCRIPT % list(HEAVY)))
    assert list(loaded) == STEPS
    for k, step in enumerate(STEPS):
        allowed = {name for name, since in HEAVY.items() if since is not None and STEPS.index(since) <= k}
        if compiled or numba.config.DISABLE_JIT:
            allowed |= {"numba.np.arraymath", "numba.np.arrayobj", "scipy.linalg", "numpy.f2py"}
        assert set(loaded[step]) <= allowed, step


KERNEL = """
import sys
from llvmlite import binding
from rigid.compilation.decorators import allocating_kernel
import numpy as np

read, parse = [], binding.parse_bitcode
binding.parse_bitcode = lambda code: read.append(code) or parse(code)

@allocating_kernel
def doubled(x):
    y = np.zeros_like(x)
    for i in range(x.size):
        y[i] = 2.0 * x[i] + np.exp(0.0 * x[i])
    return y

@allocating_kernel
def product(x):
    return np.dot(x, x)

@allocating_kernel
def twice(x):
    return 2.0 * doubled(x)

if __name__ == "__main__":
    first = doubled(np.arange(3.0)), "numba.np.arraymath" in sys.modules or bool(read)
    a = np.arange(4.0).reshape(2, 2)
    print(first[0].tolist(), first[1], product(a).tolist(), doubled(np.arange(3)).tolist())
"""


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_cached_machine_code_loads_without_the_compiler_and_new_code_is_compiled(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(KERNEL)
    printed = []
    for text in (
        KERNEL,
        KERNEL.replace(
            ", doubled(np.arange(3)).tolist()", ", doubled(np.arange(3, dtype=np.int32)).tolist()"
        ).replace("product(a)", "(product(a) + 0.0 * twice(a[0]).sum())"),
    ):
        (tmp_path / "main.py").write_text(
            "from script import *\n" + text[text.index("first =") :].replace("\n    ", "\n")
        )
        printed.append(said("main.py", cwd=tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "cache")))
    values = "[1.0, 3.0, 5.0] {} [[2.0, 3.0], [6.0, 11.0]] [1, 3, 5]"
    assert printed == [values.format(True), values.format(False)]


GARBAGE = """
import gc, weakref
class Knot:
    pass
knot = Knot()
knot.self = knot
gone = weakref.ref(knot)
before = gc.isenabled(), gc.get_threshold(), gc.get_freeze_count()
from rodsim import *
after = gc.isenabled(), gc.get_threshold(), gc.get_freeze_count()
del knot
gc.collect()
print(before == after, gone() is None)
"""


def test_import_leaves_the_garbage_collector_and_user_objects_unchanged():
    assert said("-c", GARBAGE) == "True True"


def test_straight_line_is_bitwise_the_spline_of_degree_one():
    generator = np.random.default_rng(1)
    for k in range(300):
        points = generator.normal(size=(2, 3)) * 10.0 ** generator.integers(-5, 5)
        points[k % 2, k % 3] = 0.0
        length = float(np.linalg.norm(points[1] - points[0]))
        u = np.array([[0.0, length, -0.1 * length], [*(generator.random(2) * length), 1.1 * length]])
        line = StraightLine(points[0], points[1], length)
        spline = scipy.interpolate.make_interp_spline([0.0, length], points, k=1)
        assert line(u).tobytes() == spline(u).tobytes()
        assert line.derivative()(u).tobytes() == spline.derivative()(u).tobytes()
        assert line(0.3).shape == line.derivative()(0.3).shape == (3,)
