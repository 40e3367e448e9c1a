"""Wrong and odd inputs of `gnnsync solve`: one line that names the remedy, code 2, nothing written.

Each case is a file (name and content), the arguments, and words that the line must have: what is
wrong, and what to do.
"""

import gzip
import io
import os

import numpy as np
import pandas as pd
import pytest

from gnnsync.cli.main import main

GOOD = "a,b,0.5\nb,c,1.0\nc,a,-1.5\n"
G2O = "EDGE_SE2 0 1 1 0 0.5 1 0 0 1 0 1\nEDGE_SE2 1 2 1 0 0.5 1 0 0 1 0 1\n"


def parquet(**columns):
    handle = io.BytesIO()
    pd.DataFrame(columns).to_parquet(handle)
    return handle.getvalue()


def npz(**arrays):
    handle = io.BytesIO()
    np.savez(handle, **arrays)
    return handle.getvalue()


TABLE = parquet(src=["a"], dst=["b"], offset=[0.5])

CASES = {
    # The file itself.
    "missing file": ("other.csv", GOOD, ["none.csv"], ["no such file", "check its name"]),
    "folder": ("x.csv", GOOD, ["."], ["is a directory", "give a file"]),
    "no argument": ("x.csv", GOOD, [], ["required: FILE", "--help"]),
    "two files": ("x.csv", GOOD, ["x.csv", "y.csv"], ["unrecognized arguments: y.csv", "--help"]),
    "unknown ending": ("x.dat", GOOD, ["x.dat"], ["'.dat'", "--format"]),
    "empty file": ("x.csv", "", ["x.csv"], ["no measurements", "src,dst,offset"]),
    "comments only": ("x.csv", "# nothing\n", ["x.csv"], ["no measurements", "src,dst,offset"]),
    "header only": ("x.csv", "src,dst,offset\n", ["x.csv"], ["no measurements"]),
    "picture": ("x.csv", b"\x89PNG\r\n\x1a\n" + bytes(50), ["x.csv"], ["binary", "--format"]),
    "workbook": ("x.csv", b"PK\x03\x04" + bytes(50), ["x.csv"], ["Excel", "save it as CSV"]),
    "huge line": ("x.csv", "a" * 100_000, ["x.csv"], ["line 1", "one measurement per line"]),
    "latin-1": ("x.csv", "Genève,b,1\n".encode("latin-1"), ["x.csv"], ["--encoding latin-1"]),
    "utf-16 without mark": (
        "x.csv",
        GOOD.encode("utf-16-le"),
        ["x.csv"],
        ["UTF-16", "--encoding utf-16-le"],
    ),
    "cut gzip": ("x.csv.gz", gzip.compress(GOOD.encode() * 99)[:60], ["x.csv.gz"], ["again"]),
    "damaged gzip": (
        "x.csv.gz",
        b"\x1f\x8b" + b"?" * 99,
        ["x.csv.gz"],
        ["compress the file again"],
    ),
    "cut parquet": ("x.parquet", TABLE[:-9], ["x.parquet"], ["not a valid .parquet", "again"]),
    "parquet called csv": ("x.csv", TABLE, ["x.csv"], ["Parquet", "--format parquet"]),
    "compressed npz": ("x.npz.gz", b"", ["x.npz.gz"], ["compressed already", "gunzip"]),
    "pickled npz": (
        "x.npz",
        npz(offset=np.array([None], dtype=object)),
        ["x.npz"],
        ["pickled objects", "must hold numbers"],
    ),
    "zip archive": ("x.zip", b"PK", ["x.zip"], ["'.zip'", "extract the file"]),
    "ending of a workbook": ("x.xlsx", b"PK", ["x.xlsx"], ["'.xlsx'", "as CSV"]),
    "bzip2": ("x.csv.bz2", b"BZh9", ["x.csv.bz2"], ["'.bz2'", "compress it by gzip"]),
    "JSON called csv": ("x.csv", '[{"src": 1}]', ["x.csv"], ["is JSON", "as CSV"]),
    "web page": ("x.csv", "<html>404</html>", ["x.csv"], ["web page", "download the file"]),
    "address": ("x.csv", GOOD, ["https://a.org/x.csv"], ["not a file", "download it first"]),
    "empty name": ("x.csv", GOOD, [""], ["FILE = ''", "the name of a file"]),
    # What is in it.
    "unknown titles": ("x.csv", "p,q,r\na,b,1\n", ["x.csv"], ["--columns src=p,dst=q,offset=r"]),
    "missing column": ("x.csv", "from,to\na,b\n", ["x.csv"], ["'offset'", "--columns offset="]),
    "five fields": ("x.csv", "a,b,1,2,3\n", ["x.csv"], ["5 fields", "--columns"]),
    "short line": ("x.csv", GOOD + "a,b\n", ["x.csv"], ["line 4", "2 fields", "as many"]),
    "nan": ("x.csv", GOOD + "a,b,nan\n", ["x.csv"], ["line 4", "not finite", "remove"]),
    "infinite": ("x.csv", "a,b,inf\n", ["x.csv"], ["line 1", "not finite", "remove"]),
    "text as offset": ("x.csv", GOOD + "a,b,north\n", ["x.csv"], ["line 4", "'north'", "correct"]),
    "self-loop": ("x.csv", GOOD + "a,a,1\n", ["x.csv"], ["line 4", "remove the self-loop"]),
    "no name": ("x.csv", GOOD + ",b,1\n", ["x.csv"], ["line 4", "src is empty", "name a node"]),
    "weight of 0": ("x.csv", "a,b,1,0\n", ["x.csv"], ["weight 0", "greater than 0"]),
    "points and commas": ("x.csv", "a;b;0,5\nb;c;0.5\nc;d;1,5\n", ["x.csv"], ["with points"]),
    "open quote": ("x.csv", 'a,"b,1\n', ["x.csv"], ["line 1", "quote"]),
    "null in parquet": (
        "x.parquet",
        parquet(src=["a", None], dst=["b", "c"], offset=[1, 2]),
        ["x.parquet"],
        ["row 1", "name a node"],
    ),
    "degree signs": ("x.csv", "a,b,30°\n", ["x.csv"], ["'30°'", "leave out the °", "--degrees"]),
    "bars between fields": ("x.csv", "a|b|1\n", ["x.csv"], ["one field", "by commas"]),
    "infinite weight": ("x.csv", "a,b,1,inf\n", ["x.csv"], ["weight 'inf'", "remove the line"]),
    "missing value": ("x.csv", GOOD + "a,b,NA\n", ["x.csv"], ["line 4", "'NA'", "correct it"]),
    "oblong matrix": (
        "x.mtx",
        "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 3 1\n",
        ["x.mtx"],
        ["2 × 3", "must be square"],
    ),
    "other arrays": ("x.npz", npz(a=np.zeros(3)), ["x.npz"], ["a (3,)", "must hold edge_index"]),
    "short edge": ("x.g2o", "EDGE_SE2 0 1 1 0\n", ["x.g2o"], ["4 fields", "must have 11"]),
    "symmetric matrix": (
        "x.mtx",
        "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n2 1 1\n",
        ["x.mtx"],
        ["must be general or skew-symmetric"],
    ),
    "3D poses": ("x.g2o", "VERTEX_SE3:QUAT 0\n", ["x.g2o"], ["3D", "only 2D"]),
    # Options.
    "unknown option": (
        "x.csv",
        GOOD,
        ["x.csv", "--outptu", "o.csv"],
        ["--outptu", "did you mean --output?"],
    ),
    "unknown method": ("x.csv", GOOD, ["x.csv", "--method", "magic"], ["'magic'", "one of"]),
    "method in capitals": ("x.csv", GOOD, ["x.csv", "--method", "GPM"], ["did you mean gpm?"]),
    "method with a dash": (
        "x.csv",
        GOOD,
        ["x.csv", "--method", "cemp-gcw"],
        ["did you mean cemp_gcw?"],
    ),
    "option with one dash": ("x.csv", GOOD, ["x.csv", "-degrees"], ["did you mean --degrees?"]),
    "more groups than measurements": (
        "x.csv",
        GOOD,
        ["x.csv", "--k", "1000"],
        ["--k = 1000", "at most 3"],
    ),
    "odometry of names": (
        "x.csv",
        GOOD,
        ["x.csv", "--trust", "odometry"],
        ["--trust", "left out", "consecutive"],
    ),
    "one title for two columns": (
        "x.csv",
        "p,q,r\na,b,1\n",
        ["x.csv", "--columns", "src=p,dst=p,offset=r"],
        ["'p'", "for src and for dst", "name another"],
    ),
    "columns of g2o": (
        "x.g2o",
        G2O,
        ["x.g2o", "--columns", "src=1,dst=2,offset=3"],
        ["--columns", "used with a table"],
    ),
    "edges on standard output": (
        "x.csv",
        GOOD,
        ["x.csv", "--edges", "-"],
        ["--edges", "must be a file"],
    ),
    "output without a name": ("x.csv", GOOD, ["x.csv", "--output", ""], ["--output", "left out"]),
    "between nobody": ("x.csv", GOOD, ["x.csv", "--between", "a,z"], ["two different nodes"]),
    "unknown format": ("x.csv", GOOD, ["x.csv", "--format", "xls"], ["'xls'", "choose from"]),
    "k = 0": ("x.csv", GOOD, ["x.csv", "--k", "0"], ["k = 0", "at least 1"]),
    "k of text": ("x.csv", GOOD, ["x.csv", "--k", "two"], ["--k", "'two'", "--help"]),
    "k = 2 of a method for 1": (
        "x.csv",
        GOOD,
        ["x.csv", "--k", "2", "--method", "irls"],
        ["k = 2", "use spectral"],
    ),
    "negative seed": ("x.csv", GOOD, ["x.csv", "--seed", "-1"], ["seed = -1", "at least 0"]),
    "two units": ("x.csv", GOOD, ["x.csv", "--degrees", "--turns"], ["not allowed with"]),
    "unit of g2o": ("x.g2o", G2O, ["x.g2o", "--degrees"], ["radians", "--output-degrees"]),
    "fix without angle": ("x.csv", GOOD, ["x.csv", "--fix", "a"], ["NODE=ANGLE", "A=90"]),
    "fix of nobody": ("x.csv", GOOD, ["x.csv", "--fix", "z=0"], ["--fix", "'z'", "a node of"]),
    "fix twice": ("x.csv", GOOD, ["x.csv", "--fix", "a=0", "--fix", "a=1"], ["only angle of a"]),
    "fix of nan": ("x.csv", GOOD, ["x.csv", "--fix", "a=nan"], ["'a=nan'", "NODE=ANGLE"]),
    "fix of too many": ("x.csv", GOOD, ["x.csv", "--fix", "a=0,1"], ["1 angle for a"]),
    "fix of poses": ("x.g2o", G2O, ["x.g2o", "--fix", "0=0"], ["--headings-only"]),
    "no anchors file": ("x.csv", GOOD, ["x.csv", "--anchors", "k.csv"], ["k.csv: no such file"]),
    "columns of nonsense": ("x.csv", GOOD, ["x.csv", "--columns", "src"], ["src=a,dst=b,offset=c"]),
    "columns not there": (
        "x.csv",
        "src,dst,offset\n" + GOOD,
        ["x.csv", "--columns", "offset=angle"],
        ["no column 'angle'", "name one of these"],
    ),
    "unknown encoding": ("x.csv", GOOD, ["x.csv", "--encoding", "klingon"], ["such as utf-8"]),
    "encoding of npz": ("x.npz", b"", ["x.npz", "--encoding", "utf-8"], ["used with text"]),
    "output ending": ("x.csv", GOOD, ["x.csv", "--output", "o.xls"], ["'.xls'", "must be one of"]),
    "output folder": (
        "x.csv",
        GOOD,
        ["x.csv", "--output", "no/such/o.csv"],
        ["folder does not exist", "create it"],
    ),
    "output is a folder": (
        "x.csv",
        GOOD,
        ["x.csv", "--edges", "."],
        ["is a directory", "give a file"],
    ),
    "same output twice": (
        "x.csv",
        GOOD,
        ["x.csv", "--output", "o.csv", "--edges", "o.csv"],
        ["must be different files"],
    ),
    "output over the input": (
        "x.csv",
        GOOD,
        ["x.csv", "--output", "x.csv"],
        ["is the input", "another name"],
    ),
    "plot ending": ("x.csv", GOOD, ["x.csv", "--plot", "p.doc"], ["p.doc", ".png"]),
    "json and csv on standard output": (
        "x.csv",
        GOOD,
        ["x.csv", "--json", "--output", "-"],
        ["--output", "a file with --json"],
    ),
    "explain nobody": (
        "x.csv",
        GOOD,
        ["x.csv", "--explain", "a,z"],
        ["--explain", "two node names"],
    ),
    "headings of a table": ("x.csv", GOOD, ["x.csv", "--headings-only"], ["used with a .g2o file"]),
    "rejected edges of a table": ("x.csv", GOOD, ["x.csv", "--rejected", "drop"], ["FILE.g2o"]),
    "time limit of 0": (
        "x.csv",
        GOOD,
        ["x.csv", "--time-limit", "0"],
        ["--time-limit", "a number in"],
    ),
}


def test_there_are_at_least_forty():
    assert len(CASES) >= 40


@pytest.mark.parametrize("case", CASES)
def test_one_line_names_the_remedy(case, tmp_path, monkeypatch, capsys):
    name, content, arguments, words = CASES[case]
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    # Unless the case is about it, there is an output that must not be written.
    outputs = {"--output", "--edges", "--json"} & set(arguments)
    given = [*arguments, *([] if outputs or not arguments else ["--output", "out.csv"])]
    method = [] if "--method" in given or not arguments else ["--method", "spectral"]
    try:
        code = main(["solve", *given, *method])
    except SystemExit as exit_:
        code = exit_.code
    captured = capsys.readouterr()
    # A file that was read has its line of progress before.
    lines = [line for line in captured.err.splitlines() if not line.startswith("reading ")]
    assert code == 2
    assert len(lines) == 1, lines
    assert lines[0].startswith("gnnsync solve: ")
    assert all(word in lines[0] for word in words), lines[0]
    assert len(lines[0]) < 500
    assert captured.out == ""
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert os.listdir(tmp_path) == [name]
