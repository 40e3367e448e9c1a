import json
import re

import numpy as np
import pytest

from gnnsync.plots.page import MOST_ROWS, Table, html_page

EVIL = "</script><script>alert(1)</script><!-- <b>&amp;"


def data_of(page):
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.S).group(1))


def a_table(names=("a", "b")):
    columns = {"node": names, "confidence": [0.123456789, np.nan], "sure": [True, False]}
    return Table.ranked("nodes", columns, np.array([1.0, 2.0]), "the worst")


def test_values_as_json_can_hold_them():
    content = a_table().content()
    assert content["titles"] == ["node", "confidence", "sure"]
    assert content["rows"] == [["b", None, "no"], ["a", 0.123457, "yes"]]
    assert content["note"] == ""


def test_long_tables_are_cut_and_say_so():
    rank = np.arange(MOST_ROWS + 5.0)
    rank[7] = np.nan
    table = Table.ranked("edges", {"edge": range(len(rank))}, rank, "the worst").content()
    assert len(table["rows"]) == MOST_ROWS
    assert table["rows"][0] == [MOST_ROWS + 4]
    assert table["note"] == "20,000 of 20,005 edges: the worst"


def test_needs_nothing_from_outside_and_runs_its_own_script_alone():
    page = html_page("title", "nodes 2", {}, [a_table()], "gnnsync solve x")
    assert "default-src 'none'" in page
    assert not re.findall(r"https?://", page)
    assert "gnnsync solve x" in page


def test_names_are_text_never_markup():
    page = html_page(EVIL, EVIL, {}, [a_table((EVIL, "b"))], EVIL)
    assert page.count("<script") == page.count("</script>") == 2
    assert "<!--" not in page
    assert "<b>" not in page
    assert data_of(page)[0]["rows"][1][0] == EVIL


@pytest.mark.parametrize("mark", ["@@", "@@STYLE@@"])
def test_placeholders_in_names_stay(mark):
    assert mark in html_page("t", mark, {}, [])
