"""The documentation site: `make docs` writes it to build/docs. It is read without a network: no fonts, scripts or formulas
come from elsewhere.
"""

import gc
import os
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(Path(__file__).parent / "extensions")]

os.environ["NUMBA_DISABLE_JIT"] = "1"  # docstrings need nothing compiled
gc.disable()  # trees of pages stay to the end: to look through them again and again takes a quarter of the time

import rodsim  # noqa: E402

project = "rodsim"
author = copyright = "The rodsim developers"
version = release = rodsim.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "formulas",
    "docstrings",
    "repository",
    "scene_reference",
    "gallery",
    "navigation",
]
exclude_patterns = ["extensions"]
nitpicky = True

myst_enable_extensions = ["dollarmath", "amsmath", "deflist", "colon_fence", "attrs_inline", "attrs_block"]
myst_heading_anchors = 4
nb_execution_mode = "off"  # notebooks are executed by their own tests
nb_execution_raise_on_error = True
html_math_renderer = "mathml"

smartquotes = False
default_role = "literal"
autodoc_typehints = "none"  # docstrings say shapes and units
autodoc_member_order = "bysource"
autodoc_default_options = {
    "members": True,
    "inherited-members": "Exception, Mapping, Sequence, dict, tuple, object, RuntimeError",
}
autodoc_class_signature = "mixed"
add_module_names = False
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = f"rodsim {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
pygments_style = "friendly"
