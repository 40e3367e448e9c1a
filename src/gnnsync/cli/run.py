"""`gnnsync run`: the Hydra application. `gnnsync.cli.main` starts it in a process of its own."""

from __future__ import annotations

import os
import sys

import hydra
from hydra.errors import HydraException
from omegaconf.errors import OmegaConfBaseException

from gnnsync.errors import GnnsyncError
from gnnsync.experiments.app import task
from gnnsync.experiments.exit_codes import BAD_INPUT, INTERRUPTED
from gnnsync.experiments.explain import explain_command
from gnnsync.experiments.paths import conf_dir


def main() -> int:
    """Run the job, or with `-m` the sweep, of this process's arguments; returns the exit code."""
    # Documented by Hydra: exceptions leave it as they are, and become one line here.
    os.environ.setdefault("HYDRA_FULL_ERROR", "1")
    application = hydra.main(version_base="1.3", config_path=str(conf_dir()), config_name="config")
    try:
        application(task)()
    except (GnnsyncError, HydraException, OmegaConfBaseException) as error:
        print(f"gnnsync: {explain_command(error, sys.argv[1:])}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("gnnsync: interrupted; finished results are kept", file=sys.stderr)
        return INTERRUPTED
    return 0


if __name__ == "__main__":
    sys.exit(main())
