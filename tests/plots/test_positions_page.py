from gnnsync.plots.positions_page import positions_page
from gnnsync.position_tables import distance_table, position_table
from tests.located import located


def test_the_page_has_summary_map_and_both_tables():
    network, positions = located()
    page = positions_page(
        network,
        positions,
        "points 5",
        points=position_table(network, positions),
        distances=distance_table(network, positions),
        title="A map <of> five",
        command="gnnsync locate d.csv",
    )
    assert page.startswith("<!DOCTYPE html>")
    for text in ("A map &lt;of&gt; five", "gnnsync locate d.csv", "deviation_x", "residual", "=e"):
        assert text in page
