import contextlib
import csv
import fcntl
import json
import os
import pty
import signal
import subprocess
import sys
import termios
import time

import numpy as np
import pytest

import gnnsync
from gnnsync.cli.solve import command as solve_command
from gnnsync.cli.solve.command import main
from gnnsync.metrics import angular_mse
from gnnsync.solve import method_names

COMMAND = [
    sys.executable,
    "-c",
    "import sys; from gnnsync.cli.solve.command import main; sys.exit(main(sys.argv[1:]))",
]


@pytest.fixture
def exact(tmp_path, make_multigraph):
    graph = make_multigraph(2, n=15, m=60, connected=True)
    gnnsync.write(graph, tmp_path / "exact.csv")
    return graph, str(tmp_path / "exact.csv")


def table(path):
    with open(path, newline="") as handle:
        return list(csv.DictReader(handle))


def test_summary_and_csv(exact, tmp_path, capsys):
    graph, path = exact
    out, edges = tmp_path / "angles.csv", tmp_path / "edges.csv"
    arguments = [path, "--method", "gpm", "--output", str(out), "--edges", str(edges)]
    assert main(arguments) == 0
    text = capsys.readouterr().out
    for word in ("nodes       15", "edges       74", "components  1", "residual", "outliers"):
        assert word in text
    rows = table(out)
    assert list(rows[0]) == ["node", "angle", "component"]
    assert [int(row["node"]) for row in rows] == list(range(15))
    found = np.array([float(row["angle"]) for row in rows])
    assert angular_mse(found, graph.angles[:, 0]) < 1e-9
    lines = table(edges)
    assert len(lines) == 74
    assert list(lines[0]) == ["src", "dst", "offset", "residual", "confidence", "group"]
    assert max(abs(float(row["residual"])) for row in lines) < 1e-6


def test_json_summary_is_one_object(exact, capsys):
    assert main([exact[1], "--method", "spectral", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["nodes"] == 15
    assert summary["components"] == 1
    assert summary["outlier_share"] == pytest.approx(0, abs=1e-6)
    assert set(summary["residual_quantiles"]) == {"0.25", "0.5", "0.75", "0.9", "0.99"}
    assert summary["seconds_read"] > 0


@pytest.mark.parametrize("ending", ["json", "npz"])
def test_other_outputs(exact, tmp_path, ending):
    out = tmp_path / f"angles.{ending}"
    assert main([exact[1], "--method", "spectral", "--k", "2", "--output", str(out)]) == 0
    if ending == "json":
        content = json.loads(out.read_text())
        assert content["nodes"] == list(range(15))
        assert content["summary"]["k"] == 2
    else:
        with np.load(out, allow_pickle=False) as stored:
            content = {name: stored[name] for name in stored.files}
        assert content["edge_confidence"].shape == (74,)
    assert np.shape(content["angles"]) == (15, 2)


def test_degrees_in_and_out(tmp_path):
    path, out = tmp_path / "d.csv", tmp_path / "o.csv"
    path.write_text("a,b,10\nb,c,20\nc,a,-30\n")
    assert main([str(path), "--degrees", "--method", "spectral", "--output", str(out)]) == 0
    angle = {row["node"]: float(row["angle"]) for row in table(out)}
    assert (angle["a"] - angle["b"]) % 360 == pytest.approx(10)
    assert (angle["b"] - angle["c"]) % 360 == pytest.approx(20)


def test_output_to_standard_output_leaves_it_pure(exact, capsys):
    assert main([exact[1], "--method", "spectral", "--output", "-"]) == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines()[0] == "node,angle,component"
    assert len(captured.out.splitlines()) == 16
    assert "residual" in captured.err


def test_plot(exact, tmp_path):
    out = tmp_path / "p.png"
    assert main([exact[1], "--method", "spectral", "--plot", str(out)]) == 0
    assert out.read_bytes()[:4] == b"\x89PNG"


def test_several_components_are_solved_labelled_and_told(tmp_path, capsys):
    path, out = tmp_path / "two.csv", tmp_path / "o.csv"
    path.write_text("a,b,1\nb,c,2\nx,y,0.5\n")
    assert main([str(path), "--method", "gpm", "--output", str(out)]) == 0
    captured = capsys.readouterr()
    assert "warning: the graph has 2 components" in captured.err
    assert "components  2" in captured.out
    rows = {row["node"]: row for row in table(out)}
    assert [rows[name]["component"] for name in "abcxy"] == ["0", "0", "0", "1", "1"]
    turn = float(rows["x"]["angle"]) - float(rows["y"]["angle"])
    assert turn % (2 * np.pi) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        ("a,b,1\nb,c,x\n", [], ["bad.csv", "line 2", "offset", "'x'"]),
        ("a,a,1\n", [], ["bad.csv", "line 1", "self-loop"]),
        ("", [], ["bad.csv", "no measurements"]),
        ("a,b,1\n", ["--method", "magic"], ["--method", "magic", "spectral_rn"]),
        ("a,b,1\n", ["--k", "0"], ["k = 0"]),
        ("a,b,1\n", ["--method", "irls", "--k", "2"], ["k = 2"]),
        ("a,b,1\n", ["--seed", "-1"], ["seed = -1"]),
        ("a,b,1\n", ["--output", "angles.xls"], ["angles.xls", ".csv, .json, .npz"]),
        ("a,b,1\n", ["--plot", "p.doc"], ["p.doc", ".png"]),
        ("a,b,1\n", ["--output", "no/such/o.csv"], ["no/such", "folder"]),
        ("a,b,1\n", ["--output", "-", "--json"], ["--output", "--json"]),
    ],
)
def test_bad_input_is_one_line_and_code_2(tmp_path, monkeypatch, capsys, content, options, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.csv").write_text(content)
    given = options if "--output" in options else [*options, "--output", "out.csv"]
    method = [] if "--method" in options else ["--method", "spectral"]
    assert main(["bad.csv", *method, *given]) == 2
    captured = capsys.readouterr()
    error = [line for line in captured.err.splitlines() if line.startswith("gnnsync solve: ")]
    assert len(error) == 1
    assert all(word in error[0] for word in words)
    assert captured.out == ""
    assert os.listdir(tmp_path) == ["bad.csv"]


def test_a_bad_file_leaves_nothing_else_on_standard_error(tmp_path):
    (tmp_path / "bad.csv").write_text("a,b,nan\n")
    run = subprocess.run(
        [*COMMAND, "bad.csv", "--output", "o.csv"], cwd=tmp_path, capture_output=True, text=True
    )
    assert run.returncode == 2
    problem = "offset 'nan' is not finite: correct it or remove the line"
    assert run.stderr == f"gnnsync solve: bad.csv, line 1: {problem}\n"
    assert os.listdir(tmp_path) == ["bad.csv"]


def test_help_lists_the_methods_and_explains_the_seed(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["--help"])
    assert caught.value.code == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "random seed (default 0)" in text
    assert all(name in text for name in method_names())


def test_a_classical_method_loads_nothing_heavy(exact):
    """Neither the learning libraries nor those for figures and tables."""
    code = (
        "import sys; from gnnsync.cli.solve.command import main; main(sys.argv[1:]);"
        "heavy = ('torch', 'pytorch_lightning', 'pandas', 'matplotlib', 'networkx', 'rich');"
        "print([name for name in heavy if name in sys.modules])"
    )
    command = [sys.executable, "-c", code, exact[1], "--method", "gpm"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1] == "[]"


def test_the_inductive_network_needs_torch_but_not_lightning(exact):
    code = (
        "import sys; from gnnsync.cli.solve.command import main; main(sys.argv[1:]);"
        "heavy = ('torch', 'pytorch_lightning', 'hydra', 'pandas', 'matplotlib', 'networkx');"
        "print([name for name in heavy if name in sys.modules])"
    )
    command = [sys.executable, "-c", code, exact[1], "--method", "gnnsync_inductive"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1] == "['torch']"


def test_usage_errors_have_code_2_too(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["--nonsense"])
    assert caught.value.code == 2


def test_ctrl_c_leaves_no_file(exact, tmp_path, monkeypatch, capsys):
    out = tmp_path / "out.csv"

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(solve_command, "summarize", interrupt)
    assert main([exact[1], "--method", "spectral", "--output", str(out)]) == 130
    assert capsys.readouterr().err.endswith("interrupted\n")
    assert sorted(os.listdir(tmp_path)) == ["exact.csv"]


def test_ctrl_c_while_reading_standard_input():
    run = subprocess.Popen(
        [*COMMAND, "-"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A suite that runs in the background has Ctrl-C ignored, and its children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert run.stdin is not None
    run.stdin.write(b"a,b,1\n")
    run.stdin.flush()
    wait_until_read(run.stdin)
    run.send_signal(signal.SIGINT)
    _, error = run.communicate(timeout=60)
    assert run.returncode == 130
    assert error == b"gnnsync solve: interrupted\n"


def wait_until_read(pipe, seconds=60.0):
    """Wait until the reader has taken everything out of the pipe."""
    deadline = time.monotonic() + seconds
    while int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder):
        assert time.monotonic() < deadline, "the command reads nothing"
        time.sleep(0.01)


def test_a_terminal_gets_a_bar_and_a_pipe_gets_lines(exact):
    """Standard error is a pseudo-terminal: the bar is drawn there, and erased at the end."""
    command = [*COMMAND, exact[1], "--method", "spectral"]
    ours, theirs = pty.openpty()
    terminal = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=theirs, env=terminal, text=True
    ) as run:
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # how Linux reports the end of a terminal
            while chunk := os.read(ours, 4096):
                shown += chunk
        os.close(ours)
        assert run.stdout is not None
        assert "nodes       15" in run.stdout.read()
    assert run.returncode == 0
    assert b"solving 74 edges by spectral" in shown
    assert b"\x1b[2K" in shown  # erases a line
    piped = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    assert "\x1b" not in piped
    assert [line.split(":")[0] for line in piped.splitlines()] == [
        f"reading {exact[1]}",
        "solving 74 edges by spectral",
    ]


def test_standard_input_in_a_pipe(exact):
    with open(exact[1], "rb") as handle:
        run = subprocess.run(
            [*COMMAND, "-", "--method", "spectral", "--output", "-"],
            stdin=handle,
            capture_output=True,
            text=True,
            check=True,
        )
    assert len(run.stdout.splitlines()) == 16


def test_time_limit(exact, tmp_path, capsys):
    _, path = exact
    out = tmp_path / "angles.csv"
    assert main([path, "--time-limit", "1e-9", "--output", str(out)]) == 0
    text = capsys.readouterr().out
    assert "NOT converged: time limit of 1e-09 s: angles along a spanning tree" in text
    assert len(table(out)) == 15
    assert main([path, "--time-limit", "60", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["converged"]


@pytest.mark.parametrize("value", ["0", "-3", "nan", "inf"])
def test_a_bad_time_limit_is_refused_before_reading(tmp_path, capsys, value):
    assert main([str(tmp_path / "absent.csv"), "--time-limit", value]) == 2
    assert "--time-limit" in capsys.readouterr().err


def test_page_and_figure_with_coordinates(exact, tmp_path, capsys):
    _, path = exact
    places, page = tmp_path / "places.csv", tmp_path / "report.html"
    places.write_text("".join(f"{i},{i % 4},{i // 4}\n" for i in range(15)))
    options = ["--coordinates", str(places), "--html", str(page), "--plot", str(tmp_path / "p.svg")]
    assert main([path, "--method", "gpm", *options]) == 0
    text = page.read_text(encoding="utf-8")
    assert "<h1>exact.csv by gpm</h1>" in text
    assert "gnnsync solve" in text
    assert "components  1" in text
    assert (tmp_path / "p.svg").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--html", "page.txt"], "--html"),
        (["--coordinates", "places.csv"], "used with --plot or --html"),
        (["--html", "a.html", "--coordinates", "absent.csv"], "absent.csv"),
        (["--html", "absent/a.html"], "its folder does not exist"),
    ],
)
def test_wrong_options_of_the_page(exact, tmp_path, monkeypatch, capsys, options, words):
    monkeypatch.chdir(tmp_path)
    before = sorted(os.listdir())
    assert main([exact[1], *options]) == 2
    assert words in capsys.readouterr().err
    assert sorted(os.listdir()) == before


WILD = "x\x1b[2J\x1b]0;title\x07"


def test_names_cannot_control_the_terminal(tmp_path, capsys):
    path = tmp_path / "a.csv"
    lines = [f"{WILD},b,0.5", "b,c,0.5", f"c,{WILD},2", f"{WILD},d,1", "d,c,1"]
    path.write_text("\n".join(lines))
    shown = r"x\x1b[2J\x1b]0;title\x07"
    between, explain = ["--between", f"{WILD},b"], ["--explain", f"{WILD},b"]
    assert main([str(path), *between, *explain, "--method", "irls"]) == 0
    printed = capsys.readouterr()
    assert printed.out.count(shown) >= 3
    assert "\x1b" not in printed.out + printed.err
    path.write_text(f"{WILD},{WILD},1\n")
    assert main([str(path)]) == 2
    assert main([str(path), "--columns", f"src={WILD}"]) == 2
    assert main([str(tmp_path / f"{WILD}.csv")]) == 2
    assert "\x1b" not in capsys.readouterr().err


def test_names_are_kept_in_output_on_request(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("=1+1,b,0.5\n")
    arguments = [str(tmp_path / "a.csv"), "--output", "-"]
    assert main(arguments) == 0
    assert "'=1+1," in capsys.readouterr().out
    assert main([*arguments, "--keep-names"]) == 0
    assert "\n=1+1," in capsys.readouterr().out
