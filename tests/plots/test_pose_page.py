import gnnsync
from gnnsync.units import DEGREES
from tests.methods.poses.worlds import manhattan
from tests.plots.test_page import data_of


def test_map_and_tables():
    graph, _ = manhattan(40, 1)
    page = gnnsync.solve_poses(graph).html(graph, title="map.g2o by auto", unit=DEGREES)
    assert page.count('src="data:image/png;base64,') == 1
    poses, edges = data_of(page)
    assert poses["titles"][:4] == ["pose", "x", "y", "heading (°)"]
    assert len(poses["rows"]) == graph.num_poses
    assert len(edges["rows"]) == graph.num_edges
    assert "stop_reason" in page
