"""`python -m rodsim` is the `rodsim` command."""

import sys

from rodsim.cli.main import main

sys.exit(main())
