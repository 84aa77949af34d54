"""Run the `rodsim` command as `python -m rodsim`."""

import sys

from rodsim.cli.main import main

sys.exit(main())
