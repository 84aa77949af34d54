"""Print the lowest versions that pyproject.toml allows of what users install, one `name==version` a line."""

import re
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
extras = project["optional-dependencies"]
for line in (*project["dependencies"], *extras["studies"], *extras["report"]):
    name, lowest = re.match(r"([\w.-]+)>=([\d.]+)", line).groups()
    print(f"{name}=={lowest}")
