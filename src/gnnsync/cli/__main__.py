"""`python -m gnnsync.cli` is the command `gnnsync`."""

import sys

from gnnsync.cli.main import main

sys.exit(main())
