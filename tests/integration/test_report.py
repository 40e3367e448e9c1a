"""`gnnsync report` as a person uses it: the command, and its page in a real browser."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gnnsync.cli.main import main
from gnnsync.report.styles import marker_path, styles
from gnnsync.results.names import variant_name
from tests.job_folders import write_job

EVIL = "<script>alert(1)</script>"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> Path:
    """Two graphs, two densities, k = 1 and 2, three methods; one failed and one missing job."""
    folder = tmp_path_factory.mktemp("study")
    for graph in ("erdos_renyi", EVIL):
        for p in (0.05, 0.15):
            for k in (1, 2):
                for method, level in [("gnnsync", 0.5), ("spectral", 1.0), (EVIL, 2.0)]:
                    for eta in (0.1, 0.5, 0.9):
                        cell = {"data.graph": graph, "data.p": p, "data.k": k, "data.eta": eta}
                        mse = [level * eta * k, level * eta * k + p]
                        write_job(folder, method=method, mse=mse, **cell)
    sweep = folder / "study"
    (sweep / "bad").mkdir()
    note = {"overrides": [f"data.p={EVIL}"], "kind": "GraphError", "error": EVIL}
    (sweep / "bad" / "failure.json").write_text(json.dumps(note))
    (sweep / "jobs.json").write_text(
        json.dumps({"jobs": [{"job_hash": "gone", "overrides": ["data.p=0.2"]}]})
    )
    return folder


@pytest.fixture(scope="module")
def report(study) -> Path:
    assert main(["report", str(study), "--workers", "1"]) == 0
    return study / "report"


def test_writes_rows_figures_tables_and_a_page(report, capsys):
    rows = pd.read_parquet(report / "rows.parquet")
    assert len(rows) == 144
    assert set(rows["overrides"].str.split().str[1]) == {f"data.eta={e}" for e in (0.1, 0.5, 0.9)}
    assert sorted(path.name for path in (report / "figures").iterdir()) == [
        "mse_k1.pdf",
        "mse_k1.png",
        "mse_k2.pdf",
        "mse_k2.png",
        "panels",
    ]
    alone = sorted(path.name for path in (report / "figures" / "panels" / "mse_k1").glob("*.pdf"))
    assert len(alone) == 5
    assert alone[0] == "legend.pdf"
    assert len(list((report / "tables").glob("mse_k?_ERO.*"))) == 6
    assert (report / "index.html").stat().st_size > 10_000


def test_tells_what_is_missing_and_reads_its_own_output_as_nothing(study, report, tmp_path, capsys):
    assert main(["report", str(study), "--output", str(tmp_path), "--workers", "1"]) == 0
    told = capsys.readouterr().out
    assert "144 rows of 72 jobs" in told
    assert "2 jobs without a result: 1 failed, 1 missing" in told
    assert "missing: data.p=0.2: not started" in told


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda folder: folder / "nowhere", "nowhere: no such folder"),
        (lambda folder: folder, "no results found"),
    ],
)
def test_nothing_to_report_is_one_line(tmp_path, capsys, make, message):
    assert main(["report", str(make(tmp_path))]) == 2
    errors = capsys.readouterr().err
    assert message in errors
    assert errors.count("\n") == 1


def test_a_sweep_of_failures_alone_says_so(tmp_path, capsys):
    (tmp_path / "job").mkdir()
    note = {"overrides": ["data.p=0"], "kind": "GraphError", "error": "not connected"}
    (tmp_path / "job" / "failure.json").write_text(json.dumps(note))
    assert main(["report", str(tmp_path)]) == 2
    assert "no finished job (1 failed); the first: data.p=0: GraphError" in capsys.readouterr().err


def test_sweeps_are_drawn_apart_or_together(tmp_path, capsys):
    for sweep, method in [("one", "gpm"), ("two", "spectral")]:
        for eta in (0.1, 0.5):
            write_job(tmp_path / "in", sweep, method=method, **{"data.eta": eta})
    folders = [str(tmp_path / "in" / name) for name in ("one", "two")]
    assert main(["report", *folders, "--output", str(tmp_path / "a"), "--workers", "1"]) == 0
    assert sorted(p.name for p in (tmp_path / "a" / "figures").iterdir()) == ["one", "two"]
    assert main(["report", *folders, "--output", str(tmp_path / "b"), "--together"]) == 0
    assert (tmp_path / "b" / "figures" / "mse_k1.png").exists()
    head = (tmp_path / "b" / "tables" / "mse_k1_ERO.md").read_text().splitlines()[2]
    assert head == "| η | Spectral | GPM |"


def test_many_figures_are_drawn_by_several_processes(tmp_path):
    for k in range(1, 6):
        for eta in (0.1, 0.5):
            write_job(tmp_path, seeds=1, **{"data.k": k, "data.eta": eta})
    assert main(["report", str(tmp_path), "--workers", "2", "--no-panels"]) == 0
    assert len(list((tmp_path / "report" / "figures").iterdir())) == 10


@pytest.mark.slow
def test_a_hundred_thousand_rows_fit_in_two_gibibytes(tmp_path):
    cells = product(
        ("erdos_renyi", "barabasi_albert", "random_geometric"),
        ("GammaAngles", "NormalRankOneAngles", "NormalIIDAngles", "NormalBlockAngles"),
        (0.05, 0.1, 0.15),
        (1, 2, 3, 4),
        [round(0.1 * i, 1) for i in range(10)],
        ("gnnsync", "spectral", "spectral_rn", "gpm", "tas", "irls", "trivial"),
    )
    for graph, prior, p, k, eta, method in cells:
        cell = {"data.graph": graph, "data.angles": prior, "data.p": p, "data.k": k}
        write_job(tmp_path, method=method, seeds=10, **cell, **{"data.eta": eta})
    command = [sys.executable, "-m", "gnnsync.cli", "report", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    assert "100,800 rows of 10,080 jobs" in done.stdout
    assert len(list((tmp_path / "report" / "figures").glob("*.p*"))) == 24
    assert (tmp_path / "report" / "index.html").stat().st_size < 10e6
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 2 * 2**20  # in KiB


def test_help(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["report", "--help"])
    assert stop.value.code == 0
    assert "--together" in capsys.readouterr().out


# ---- the page


@pytest.fixture(scope="module")
def browser() -> Iterator:
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright (dev extra)")
    if CHROMIUM is None:
        pytest.skip("needs Chromium")
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        yield found
        found.close()


class Page:
    """A page that is open, with whatever went wrong on it."""

    def __init__(self, browser, path: Path, width: int = 1200, height: int = 900, **options):
        self.context = browser.new_context(viewport={"width": width, "height": height}, **options)
        self.page = self.context.new_page()
        self.faults: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda m: self.faults.append(m.text) if m.type == "error" else None)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("dialog", lambda dialog: self.faults.append("a dialog") or dialog.dismiss())
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())

    def choose(self, control: str, text: str) -> None:
        self.page.locator(f"[id='control-{control}']").select_option(label=text)

    def curves(self) -> dict[str, str]:
        """The drawn line of every variant."""
        found = self.page.locator("g.curve")
        return {
            curve.get_attribute("data-variant"): curve.locator("polyline").get_attribute("points")
            for curve in found.all()
        }

    def spot(self, variant: str, number: int) -> tuple[float, float]:
        """Where a point is on the screen."""
        self.page.locator("#canvas").scroll_into_view_if_needed()
        shapes = self.page.locator("g.curve", has=self.page.locator("polyline"))
        curve = shapes.nth(list(self.curves()).index(variant))
        box = curve.locator("circle, rect, path").nth(number).bounding_box()
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def column(self, number: int) -> list[str]:
        return self.page.locator(f"#numbers tbody td:nth-child({number})").all_inner_texts()


@pytest.fixture
def opened(browser, report) -> Iterator:
    pages: list[Page] = []

    def open_page(**options) -> Page:
        pages.append(Page(browser, report / "index.html", **options))
        return pages[-1]

    yield open_page
    for one in pages:
        assert one.faults == []
        assert one.requests == [(report / "index.html").as_uri()], "the page asked for something"
        one.context.close()


def test_controls_change_the_plot(opened):
    page = opened()
    first = page.curves()
    assert set(first) == {"GNNSync", "Spectral", EVIL}
    told = page.page.locator("#selection").inner_text()
    assert told == "MSE: k = 1, ERO, prior 1: gamma, p = 0.05"
    for control, text in [
        ("data.k", "2"),
        ("data.graph", EVIL),
        ("data.p", "0.15"),
        ("scale", "linear"),
        ("metric", "upset"),
    ]:
        before = page.curves()
        page.choose(control, text)
        if control == "data.graph":  # the same numbers on both graphs
            assert page.page.locator("#selection").inner_text() != told
        else:
            assert page.curves() != before, control
    assert page.page.locator("#selection").inner_text().startswith(f"upset: k = 2, {EVIL}")


def test_methods_and_band_can_be_left_out(opened):
    page = opened()
    assert page.page.locator("#limit-band").count() == 1
    page.page.get_by_label("limit: oracle to certifiable").uncheck()
    assert page.page.locator("#limit-band").count() == 0
    page.page.get_by_label("Spectral", exact=True).uncheck()
    assert set(page.curves()) == {"GNNSync", EVIL}
    assert len(page.column(1)) == 6
    page.page.locator("#none").click()
    assert "No method is chosen" in page.page.locator("#canvas").inner_text()
    page.page.locator("#every").click()
    assert len(page.curves()) == 3


def test_hover_shows_the_point_and_its_command(opened):
    page = opened()
    tip = page.page.locator("#tip")
    assert not tip.is_visible()
    page.page.mouse.move(*page.spot("Spectral", 1))
    text = tip.inner_text().split("\n")
    assert text[0] == "Spectral"
    facts = dict(zip(text[1:-1:2], text[2::2], strict=False))
    assert facts["η"] == "0.5"
    assert facts["mean"] == "0.5250"
    assert facts["std"] == "0.0250"
    assert facts["runs"] == "2"
    assert text[-1] == "gnnsync run method=spectral data.eta=0.5"
    page.page.mouse.move(5, 5)
    assert not tip.is_visible()


def test_a_click_keeps_the_point_and_escape_lets_it_go(opened):
    page = opened()
    page.page.mouse.click(*page.spot("GNNSync", 2))
    page.page.mouse.move(5, 5)
    assert page.page.locator("#tip").is_visible()
    assert page.page.locator("#tip button").inner_text() == "copy the command"
    page.page.locator("#canvas").focus()
    page.page.keyboard.press("Escape")
    assert not page.page.locator("#tip").is_visible()


def test_the_keyboard_reaches_every_control_and_point(opened):
    page = opened()
    page.page.keyboard.press("Tab")  # the link to the jobs without a result
    page.page.keyboard.press("Tab")
    assert page.page.evaluate("document.activeElement.id") == "control-data.k"
    page.page.keyboard.press("ArrowDown")
    assert "k = 2" in page.page.locator("#selection").inner_text()
    assert page.page.evaluate("document.activeElement.id") == "control-data.k"
    page.page.locator("#canvas").focus()
    page.page.keyboard.press("ArrowRight")
    first = page.page.locator("#announcement").inner_text()
    page.page.keyboard.press("ArrowLeft")
    second = page.page.locator("#announcement").inner_text()
    page.page.keyboard.press("ArrowUp")
    third = page.page.locator("#announcement").inner_text()
    assert first.startswith("GNNSync, η 0.9")
    assert second.startswith("GNNSync, η 0.5")
    assert third.startswith("Spectral, η 0.5")


def test_the_table_sorts_both_ways(opened):
    page = opened()
    head = page.page.locator("#numbers th button", has_text="MSE")
    head.click()
    up = [float(text) for text in page.column(3)]
    head.click()
    down = [float(text) for text in page.column(3)]
    assert up == sorted(up)
    assert down == sorted(up, reverse=True)
    assert page.page.locator("#numbers th").nth(2).get_attribute("aria-sort") == "descending"
    page.page.locator("#numbers th button", has_text="method").click()
    assert page.column(2) == sorted(page.column(2))


def test_jobs_without_a_result_are_listed(opened):
    page = opened()
    assert page.page.locator("#counts").inner_text().endswith("2 jobs without a result")
    assert page.page.locator("#absent-counts").inner_text() == "1 failed, 1 missing"
    rows = page.page.locator("#jobs tbody tr").all_inner_texts()
    assert "gnnsync run data.p=0.2" in rows[1]
    assert f"GraphError: {EVIL}" in rows[0]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_it_without_scrolling_sideways(opened, scheme):
    page = opened(width=360, height=740, has_touch=True, color_scheme=scheme)
    assert page.page.evaluate("document.documentElement.scrollWidth") == 360
    page.page.touchscreen.tap(*page.spot("Spectral", 1))
    assert "gnnsync run method=spectral" in page.page.locator("#tip").inner_text()
    assert page.page.evaluate("document.documentElement.scrollWidth") == 360
    background = page.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(18, 22, 28)") == (scheme == "dark")


# ---- a page with everything


@pytest.fixture(scope="module")
def everything(tmp_path_factory) -> Path:
    """A study of two cells, of which the second is the larger; training, a search and maps."""
    folder = tmp_path_factory.mktemp("everything")
    for p, methods in [(0.05, ["spectral"]), (0.15, ["gnnsync", "tas", "gpm"])]:
        for method, eta in product(methods, (0.1, 0.5)):
            learned = {"loss": "upset"} if method == "gnnsync" else {}
            job = write_job(folder, method=method, **learned, **{"data.p": p, "data.eta": eta})
            if learned:
                losses = np.linspace(1 + eta, eta, 40)[:, None].repeat(2, axis=1)
                np.savez(job / "solutions.npz", loss_train=losses, loss_evaluation=losses)
    for number, mse in enumerate([0.4, 0.2, 0.3]):
        job = write_job(folder, "tune", variant=f"gnnsync optimizer.lr=0.0{number}", mse=[mse])
        content = json.loads((job / "result.json").read_text())
        content["overrides"] = [f"optimizer.lr=0.0{number}"]
        (job / "result.json").write_text(json.dumps(content))
        os.utime(job / "result.json", (number, number))
    (folder / "tune" / "optimization_results.yaml").write_text("name: optuna\n")
    points = np.random.default_rng(0).normal(size=(20, 2))
    job = write_job(folder, "maps", **{"data.graph": "PACM", "data.p": None, "ane": 0.1})
    np.savez(job / "solutions.npz", points=points, recovered=points)
    assert main(["report", str(folder), "--workers", "1"]) == 0
    return folder / "report"


@pytest.fixture
def whole(browser, everything) -> Iterator:
    page = Page(browser, everything / "index.html", permissions=["clipboard-write"])
    yield page
    assert page.faults == []
    assert page.requests[0] == (everything / "index.html").as_uri()
    assert all(url.startswith("data:") for url in page.requests[1:])
    page.context.close()


def test_the_page_opens_where_most_can_be_compared(whole):
    assert whole.page.locator("#selection").inner_text().endswith("p = 0.15")
    assert set(whole.curves()) == {"GNNSync", "TAS", "GPM"}
    assert "outlier fraction η" in whole.page.locator("#canvas").text_content()
    whole.choose("data.graph", "PACM")
    assert "noise level η" in whole.page.locator("#canvas").text_content()


def test_markers_are_those_of_the_figures(whole):
    looks = styles(["gnnsync", "tas", "gpm", "spectral"])
    names = [variant_name(label) for label in looks]
    for name, look in zip(names, looks.values(), strict=True):
        curve = whole.page.locator(f"g.curve[data-variant='{name}']")
        if name == "Spectral":  # in the other cell
            continue
        shape = curve.locator("path").first
        assert shape.get_attribute("d") == marker_path(look.marker)
        assert shape.get_attribute("fill") == look.colour


def test_every_command_is_shown_in_full_and_can_be_copied(whole):
    line = whole.page.locator("#numbers td.line").first
    command = line.locator("code").inner_text()
    assert command.startswith("gnnsync run method=")
    line.locator("button").click()
    whole.page.wait_for_function(
        "document.querySelector('#numbers td.line button').textContent === 'copied'"
    )


def test_training_curves_follow_the_selection(whole):
    curve = whole.page.locator("#training g.training-curve")
    assert curve.get_attribute("data-variant") == "GNNSync"
    assert len(curve.locator("polyline").first.get_attribute("points").split()) == 40
    before = whole.page.locator("#training-canvas text").all_text_contents()
    whole.choose("training-noise", "0.1")
    # Both losses fall by one, so the lines agree; the values on the axis do not.
    assert whole.page.locator("#training-canvas text").all_text_contents() != before
    whole.page.get_by_label("GNNSync", exact=True).uncheck()
    assert "No method that trains is chosen" in whole.page.locator("#training").inner_text()
    whole.choose("data.p", "0.05")
    assert not whole.page.locator("#training").is_visible()


def test_the_search_shows_its_history_and_its_best_job(whole):
    told = whole.page.locator("#search-best").inner_text()
    assert told == "tune: 3 jobs, lowest MSE 0.2000 in job 2: optimizer.lr=0.01"
    assert whole.page.locator("#search-history .trial").count() == 3
    assert whole.page.locator("#search-slices .slice").count() == 1
    rows = whole.page.locator("#trials tbody tr").all_inner_texts()
    assert [row.split()[0] for row in rows] == ["2", "3", "1"]
    assert "gnnsync run optimizer.lr=0.01" in rows[0]


def test_figures_and_tables_are_shown_with_links_that_lead_to_files(whole, everything):
    captions = whole.page.locator("figcaption").all_inner_texts()
    assert any("Recovered maps" in caption for caption in captions)
    assert any("MSE against outlier fraction η" in caption for caption in captions)
    assert whole.page.locator("figure img").count() == len(captions)
    widths = whole.page.evaluate(
        "Promise.all([...document.images].map((i) => i.decode().then(() => i.naturalWidth)))"
    )
    assert min(widths) > 100
    targets = whole.page.locator("#figures a, #tables a").evaluate_all(
        "links => links.map((link) => decodeURIComponent(link.getAttribute('href')))"
    )
    assert len(targets) > 10
    assert any("panels" in target for target in targets)
    assert [target for target in targets if not (everything / target).is_file()] == []
    table = whole.page.locator("details.table").first
    table.locator("summary").click()
    assert "±" in table.locator("td.best").first.inner_text()
