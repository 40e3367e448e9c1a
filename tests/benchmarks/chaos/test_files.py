"""A short attack on all readers, and the files that once broke one of them."""

import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

import gnnsync
from benchmarks.chaos.files import attack, case
from benchmarks.chaos.guided import LIBFUZZER_OPTIONS, attack_guided
from benchmarks.chaos.mutations import damage_bytes
from benchmarks.chaos.outcomes import Tally, outcome_of
from benchmarks.chaos.readers import Reader, readers
from gnnsync.errors import DataFileError
from gnnsync.io import read_points

CORPUS = sorted((Path(__file__).parent / "corpus").iterdir())


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
def test_files_that_broke_a_reader_are_refused(path):
    reader = read_points if path.suffix == ".mat" else gnnsync.read
    with pytest.raises(DataFileError) as caught:
        reader(path)
    message = str(caught.value)
    assert path.name in message
    assert message.isprintable()
    assert len(message) < 500


def test_a_short_attack_finds_nothing():
    quick = {name: reader for name, reader in readers().items() if name != "points.mat"}
    tally = attack(quick, range(400), seed=7)
    assert not tally.failures
    assert sum(found.total() for found in tally.outcomes.values()) == 400
    assert set(tally.outcomes) == set(quick)


def test_the_seeds_are_read(tmp_path):
    limits = resource.getrlimit(resource.RLIMIT_CPU)
    for name, reader in readers().items():
        # Some need an option that a user would be told of.
        outcomes = []
        for number, seed in enumerate(reader.seeds):
            path = tmp_path / f"{number}.{reader.ending}"
            path.write_bytes(seed)
            outcomes.append(outcome_of(reader, path))
        assert outcomes.count("read") >= len(outcomes) / 2, name
    assert resource.getrlimit(resource.RLIMIT_CPU) == limits  # those of the tests


def crash(path):
    os.abort()


def hang(path):
    while True:
        pass


def exhaust(path):
    assert len(b"x" * (5 << 28)) > 1 << 30


def raise_foreign(path):
    raise RecursionError("too deep")


def ramble(path):
    raise DataFileError("x" * 2000)


@pytest.mark.parametrize(
    ("use", "outcome"),
    [
        (crash, "crash by SIGABRT"),
        (exhaust, "MB of memory"),
        (raise_foreign, "RecursionError"),
        (ramble, "a message of 2000 characters"),
        (lambda path: None, "read"),
    ],
    ids=["crash", "memory", "foreign", "long", "fine"],
)
def test_what_goes_wrong_is_counted(use, outcome):
    broken = {"broken": Reader("csv", use, (b"a,b,1\n",), damage_bytes)}
    tally = attack(broken, range(2))
    assert list(tally.outcomes) == ["broken"]
    found = str(dict(tally.outcomes["broken"]))
    assert found.count(outcome) == len(tally.outcomes["broken"]), found
    assert len(tally.failures) == (0 if outcome == "read" else 2)


@pytest.mark.slow
def test_hangs_are_counted():
    began = time.perf_counter()
    tally = attack({"broken": Reader("csv", hang, (b"a",), damage_bytes)}, range(1))
    assert tally.failures == [(0, "broken", "hang of 5 s")]
    assert time.perf_counter() - began < 60


def test_files_that_were_not_fine_are_kept(tmp_path):
    broken = {"a, b": Reader("csv", raise_foreign, (b"a,b,1\n",), damage_bytes)}
    attack(broken, range(2), seed=3, keep=tmp_path / "kept")
    assert (tmp_path / "kept" / "a-b-3-1.csv").read_bytes() == case(broken, 1, 3)[1]


def test_a_case_is_determined_by_its_number_and_seed():
    known = readers()
    assert case(known, 5, 1) == case(known, 5, 1)
    assert len({case(known, number, 1) for number in range(20)}) == 20
    assert damage_bytes(b"abc" * 9, Random(1)) == damage_bytes(b"abc" * 9, Random(1))
    assert not Tally().failures


@pytest.mark.slow
def test_an_attack_guided_by_coverage_counts_and_keeps_files(tmp_path):
    pytest.importorskip("atheris")
    chosen = {name: readers()[name] for name in ("csv", "npz")}
    tally = attack_guided(chosen, 600, 1, corpus=tmp_path)
    assert not tally.failures
    assert {name: found.total() for name, found in tally.outcomes.items()} == {
        "csv": 300,
        "npz": 300,
    }
    for name, reader in chosen.items():
        assert len(list((tmp_path / name).iterdir())) > len(reader.seeds)  # new code was reached


@pytest.mark.slow
def test_the_clock_does_not_end_a_guided_process():
    """With -timeout=0 a timer of atheris ended it where a file took part of two seconds."""
    pytest.importorskip("atheris")
    program = f"""
import os, time, atheris
def read(data):
    began = time.monotonic()
    while time.monotonic() - began < 2.5:
        pass
    os._exit(0)
atheris.Setup(["", *{LIBFUZZER_OPTIONS!r}], read)
atheris.Fuzz()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True)
    assert done.returncode == 0, done.stderr
