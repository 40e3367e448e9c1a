"""The page in a real browser, if there is one, and its content."""

import re
import shutil

import numpy as np
import pytest

import gnnsync
from gnnsync import MeasurementGraph
from gnnsync.units import DEGREES
from tests.methods.networks import synthetic
from tests.plots.test_page import data_of

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
EVIL = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def solved():
    graph = synthetic(0.3, 0.1, n=40, p=0.3)
    names = [EVIL, *(f"node {i}" for i in range(1, 40))]
    graph = graph.replace(node_names=names, angles=None, group=None)
    return graph, gnnsync.solve(graph, "gnc")


def test_tables_hold_nodes_and_edges_the_worst_first(solved):
    graph, solution = solved
    nodes, edges = data_of(solution.html(unit=DEGREES))
    assert nodes["titles"][:4] == ["node", "angle (°)", "component", "confidence"]
    assert len(nodes["rows"]) == 40
    size = [row[edges["titles"].index("|residual| (°)")] for row in edges["rows"]]
    assert len(size) == graph.num_edges
    assert size == sorted(size, reverse=True)
    confidence = [row[3] for row in nodes["rows"]]
    assert confidence == sorted(confidence)


def test_all_panels_are_in_the_page(solved):
    page = solved[1].html(title="offsets.csv by gnc", command="gnnsync solve offsets.csv")
    assert page.count('src="data:image/png;base64,') == 6
    assert "<h1>offsets.csv by gnc</h1>" in page
    assert "gnnsync solve offsets.csv" in page
    assert EVIL not in page


def test_groups_have_columns_of_their_own():
    graph = synthetic(0.2, 0.05, k=2, n=40, p=0.5)
    solution = gnnsync.solve(graph, "spectral", 2)
    nodes, edges = data_of(solution.html(graph))
    assert nodes["titles"][1:3] == ["angle_1 (rad)", "angle_2 (rad)"]
    assert {row[edges["titles"].index("group")] for row in edges["rows"]} == {1, 2}


def test_a_graph_without_edges():
    graph = MeasurementGraph(np.empty((2, 0), dtype=int), np.empty(0), 3)
    nodes, edges = data_of(gnnsync.Solution.from_angles(graph, np.zeros(3)).html(graph))
    assert len(nodes["rows"]) == 3
    assert edges["rows"] == []


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("no browser")
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


def column(page, table, number):
    cells = page.locator(f"#{table} tbody tr td:nth-child({number})").all_inner_texts()
    return [float(text) for text in cells]


def test_sorting_and_filtering_in_a_browser(browser, solved, tmp_path):
    graph, solution = solved
    path = tmp_path / "report.html"
    path.write_text(solution.html(), encoding="utf-8")
    page, problems = browser.new_page(), []
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: problems.append(request.url))
    page.goto(path.as_uri())
    page.get_by_role("button", name="offset (rad)").first.click()
    rising = column(page, "edges", 4)
    assert rising == sorted(rising)
    page.get_by_role("button", name="offset (rad)").first.click()
    falling = column(page, "edges", 4)
    assert falling == sorted(falling, reverse=True)
    assert falling[0] > rising[0]
    page.get_by_label("filter edges").fill("confidence<0.5")
    outliers = int((solution.edge_confidence < 0.5).sum())
    shown = page.locator("#edges .count").inner_text()
    assert re.fullmatch(rf"1–{min(outliers, 100)} of {outliers}", shown)
    page.get_by_label("filter nodes").fill("onerror")
    assert page.locator("#nodes tbody td").first.inner_text() == EVIL
    page.get_by_label("filter edges").fill("")
    page.locator("#edges").get_by_role("button", name="next ›").click()
    last = min(200, graph.num_edges)
    assert page.locator("#edges .count").inner_text() == f"101–{last} of {graph.num_edges}"
    assert [p for p in problems if not p.startswith(("file:", "data:"))] == []
    page.close()
