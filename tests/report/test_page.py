from __future__ import annotations

import csv
import io
import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnnsync.report.page import page, page_data
from gnnsync.report.styles import marker_path, styles
from gnnsync.report.tables import tables
from gnnsync.results.collect import collect
from gnnsync.results.names import variant_name
from tests.job_folders import write_job

EVIL = "</script><script>alert(1)</script><!--"


def test_holds_points_not_rows(results, tmp_path):
    for eta in (0.1, 0.2):
        results(seeds=50, **{"data.eta": eta})
    data = page_data(collect([tmp_path]))
    assert (data["rows"], data["jobs"], len(data["points"])) == (100, 2, 2)
    assert data["sweeps"] == ["all"]
    assert {"method=spectral data.eta=0.1", "method=spectral data.eta=0.2"} <= set(data["lines"])


def test_a_point_is_laid_out_as_the_script_reads_it(results, tmp_path):
    results(mse=[1.0, 3.0], **{"data.p": 0.25})
    data = page_data(collect([tmp_path]))
    assert [column["key"] for column in data["columns"]] == [
        "data.k",
        "data.graph",
        "data.angles",
        "data.p",
    ]
    assert [metric["key"] for metric in data["metrics"]] == ["mse", "upset"]
    (point,) = data["points"]
    sweep, *columns = point[:5]
    noise, variant, line, jobs, low, high, mean, std, runs, *_ = point[5:]
    assert (sweep, columns, noise, variant, jobs) == (0, [0, 0, 0, 0], 0.4, 0, 1)
    assert (low, high, mean, std, runs) == (0.0, 0.05, 2.0, 1.0, 2)
    assert data["lines"][line] == "method=spectral data.eta=0.4"


def test_several_sweeps_can_be_seen_alone_and_together(results, tmp_path):
    results("a", method="gpm")
    results("b", method="gpm")
    data = page_data(collect([tmp_path]))
    assert data["sweeps"] == ["all", "a", "b"]
    assert [point[0] for point in data["points"]] == [0, 1, 2]
    assert data["rows"] == 3  # the same job in both


def test_needs_nothing_from_outside(results, tmp_path):
    results()
    text = page(collect([tmp_path]), "title")
    assert not re.findall(r"""(?:src|href)\s*=\s*["'](?!data:,|#)""", text)
    assert 'http-equiv="Content-Security-Policy" content="default-src \'none\'' in text
    assert "url(" not in text
    assert "@import" not in text
    outside = set(re.findall(r"https?://[^\"'\s]+", text))
    assert outside <= {"http://www.w3.org/2000/svg"}


def test_names_are_data(results, tmp_path):
    results(method=EVIL, variant=EVIL, **{"data.graph": EVIL})
    text = page(collect([tmp_path]), EVIL)
    assert text.count("<script") == 2
    assert text.count("</script>") == 2
    assert "<!--" not in text
    embedded = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    data = json.loads(embedded.group(1))
    assert data["variants"][0]["label"] == variant_name(EVIL)
    assert data["columns"][1]["values"] == [EVIL]


@settings(max_examples=25)
@given(name=st.text(min_size=1))
def test_any_name_arrives_as_it_is(name, tmp_path_factory):
    folder = tmp_path_factory.mktemp("any")
    write_job(folder, method=name, **{"data.graph": name})
    found = collect([folder])
    text = page(found, name)
    assert text.count("<script") == text.count("</script>") == 2
    embedded = re.search(r'id="data">(.*?)</script>', text, re.DOTALL)
    assert json.loads(embedded.group(1))["variants"][0]["label"] == variant_name(name)
    (table,) = tables(found.rows)
    (line,) = csv.DictReader(io.StringIO(table.csv(), newline=""))
    assert line["variant"] == name
    assert table.latex().count("\n\\midrule\n") == 1


def test_halves_of_characters_do_no_harm(results, tmp_path):
    path = results(method="aHALF") / "result.json"
    path.write_text(path.read_text().replace("HALF", r"\ud800"))
    found = collect([tmp_path])
    assert found.rows["method"].unique().tolist() == ["a?"]
    page(found, "title").encode()


@pytest.mark.parametrize("placeholder", ["@@DATA@@", "@@SCRIPT@@"])
def test_a_name_is_not_taken_for_a_place_in_the_template(results, tmp_path, placeholder):
    results(variant=placeholder)
    text = page(collect([tmp_path]), placeholder)
    assert f"<title>{placeholder}</title>" in text


def test_rows_of_a_file_without_noise_and_truth_still_make_a_page(results, tmp_path):
    results(**{"data.eta": None, "data.p": None}, mse=[None, None])
    data = page_data(collect([tmp_path]))
    assert [metric["key"] for metric in data["metrics"]] == ["upset"]
    assert len(data["points"]) == 1


def test_training_curves_belong_to_their_points(results, tmp_path):
    losses = {"loss_train": np.full((3, 2), 2.0), "loss_evaluation": np.full((3, 2), 1.0)}
    for eta in (0.1, 0.5):
        job = results(method="gnnsync", loss="upset", **{"data.eta": eta})
        np.savez(job / "solutions.npz", **losses)
    results(method="gpm")
    data = page_data(collect([tmp_path]))
    labels = [variant["label"] for variant in data["variants"]]
    assert labels == ["GNNSync", "GPM"]
    assert sorted((noise, variant) for _, noise, variant, *_ in data["curves"]) == [
        (0.1, 0),
        (0.5, 0),
    ]
    columns, _, _, steps, train, evaluation = data["curves"][0]
    assert columns == [0, 0, 0, 0]
    assert (steps, train, evaluation) == ([1, 2, 3], [2.0] * 3, [1.0] * 3)


def test_a_variant_looks_as_in_the_figures(results, tmp_path):
    results(method="tas")
    (variant,) = page_data(collect([tmp_path]))["variants"]
    (style,) = styles(["tas"]).values()
    assert variant["colour"] == style.colour
    assert variant["marker"] == marker_path(style.marker)
