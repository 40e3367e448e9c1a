"""A sweep on a real Slurm cluster: one node on loopback, started and stopped by the test."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("hydra_plugins.hydra_submitit_launcher")
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel")
MISSING = [name for name in PROGRAMS if shutil.which(name) is None]
pytestmark = [
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}"),
    pytest.mark.skipif(os.getuid() != 0, reason="starts the daemons of Slurm as root"),
]
ROOT = Path(__file__).resolve().parents[2]
KEY = "s3cret-0123456789abcdef"
CONFIG = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmUser=root
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
KillWait=2
SchedulerParameters=sched_interval=1
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


@pytest.fixture
def cluster(tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.mktemp("slurm")
    for name in ("state", "spool"):
        (folder / name).mkdir()
    key = folder / "munge.key"
    key.write_bytes(secrets.token_bytes(1024))
    key.chmod(0o400)
    config, ports = folder / "slurm.conf", _free_ports()
    config.write_text(CONFIG.format(host=socket.gethostname(), folder=folder, ports=ports))
    monkeypatch.setenv("SLURM_CONF", str(config))
    munge = [f"--{name}={folder}/munge.{name.partition('-')[0]}" for name in ("socket", "pid-file")]
    munge += [f"--key-file={key}", f"--log-file={folder}/munge.log", f"--seed-file={folder}/seed"]
    daemons = [
        _start(
            ["munged", "--foreground", "--force", *munge], folder, (folder / "munge.socket").exists
        ),
        _start(["slurmctld", "-D", "-f", str(config)], folder, lambda: _answers(ports[0])),
        _start(["slurmd", "-D", "-f", str(config)], folder, lambda: _answers(ports[1])),
    ]
    try:
        _wait(lambda: "idle" in _ask("sinfo", "--noheader", "--format=%T"), 60)
        yield folder
    finally:
        _ask("scancel", "--user=root")
        for daemon in reversed(daemons):
            daemon.send_signal(signal.SIGTERM)
            try:
                daemon.wait(timeout=20)
            except subprocess.TimeoutExpired:
                daemon.kill()


def test_a_cancelled_job_is_told_and_runs_on_the_next_start(cluster, tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    sweep = [
        *("data.n=30", "data.p=0.4", "data.seeds=[10]", "trials=1", "figures=false"),
        *("logger=csv", f"+logger.csv.prefix={KEY}"),
        *("hydra/launcher=slurm", "hydra.launcher.partition=main"),
        *(f"output_dir={tmp_path}", "sweep=study"),
        "method=trivial",
        "method._target_=tests.integration.probe.Probe",
        f"+method.folder={folder}",
        "+method.name=first,second,third",
    ]
    (folder / "second.hold").touch()
    process = _gnnsync(sweep)
    _ask("scancel", _last_in_the_queue())
    _, told = process.communicate(timeout=240)
    assert process.returncode == 1, told
    assert "3 jobs: 0 done, 0 failed before, 3 new" in told
    assert "1 of 3 jobs left no result; the same command runs them again" in told
    assert "was cancelled or killed" in told
    assert "jobs in Slurm's array" in told
    assert "gnnsync: 2 of 3 jobs done, 0 running, 0 failed, 1 left; took " in told
    assert "Traceback" not in told
    results = sorted(tmp_path.rglob("result.json"))
    assert len(results) == 2
    stamps = [path.stat().st_mtime_ns for path in results]
    (folder / "second.hold").unlink()
    process = _gnnsync(sweep)
    _, told = process.communicate(timeout=240)
    assert process.returncode == 0, told
    assert "3 jobs: 2 done, 0 failed before, 1 new" in told
    assert len(list(tmp_path.rglob("result.json"))) == 3
    assert [path.stat().st_mtime_ns for path in results] == stamps
    scripts = tmp_path / "study" / ".slurm"
    assert scripts.stat().st_mode & 0o077 == 0
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path


def _last_in_the_queue() -> str:
    """The one job of three that does not end by itself, once it is alone."""
    found: list[str] = []
    _wait(lambda: len(_ask("squeue", "--noheader", "--array").splitlines()) == 3, 120)

    def alone() -> bool:
        found[:] = _ask("squeue", "--noheader", "--array", "--format=%i").split()
        return len(found) == 1

    _wait(alone, 120)
    return found[0]


def _gnnsync(overrides: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "gnnsync.cli", "run", "-m", *overrides],
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def _start(command: list[str], folder: Path, ready: Callable[[], bool]) -> subprocess.Popen[bytes]:
    """Start a daemon and wait until it is ready."""
    with (folder / f"{command[0]}.out").open("w") as log:
        started = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)

    def ready_or_dead() -> bool:
        return started.poll() is not None or ready()

    _wait(ready_or_dead, 60)
    assert started.poll() is None, (folder / f"{command[0]}.out").read_text()
    return started


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def _ask(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, timeout=60).stdout


def _free_ports() -> list[int]:
    sockets = [socket.socket() for _ in range(2)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def _wait(condition: Callable[[], bool], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.2)
