"""Lightning is imported through `gnnsync.lightning`, which leaves no trace of how."""

import subprocess
import sys
from pathlib import Path

import gnnsync

SOURCE = Path(gnnsync.__file__).parent


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)


def test_signal_processing_is_not_loaded_and_still_can_be():
    code = (
        "import sys, gc, gnnsync.lightning\n"
        "assert 'scipy.signal' not in sys.modules and gc.isenabled()\n"
        "import scipy.signal\n"
        "assert scipy.signal.find_peaks([0, 1, 0])[0].tolist() == [1]\n"
        "print('loaded')"
    )
    assert run(code).stdout == "loaded\n"


def test_signal_processing_that_is_loaded_stays():
    code = (
        "import scipy.signal\n"
        "before = scipy.signal\n"
        "import gnnsync.lightning\n"
        "import scipy.signal\n"
        "print(scipy.signal is before)"
    )
    assert run(code).stdout == "True\n"


def test_no_other_module_imports_it():
    """Else the import would be slow, whichever came first."""
    importing = [
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if any(
            line.strip().startswith(("import lightning", "from lightning"))
            for line in path.read_text().splitlines()
        )
    ]
    assert importing == ["lightning.py"]
