import pytest

from gnnsync.io.input.source import Source
from gnnsync.io.nodes.anchor_file import read_anchor_file


@pytest.mark.parametrize(
    "text", ["New York, 1.5\nb,2\n", "node\tangle\nNew York\t1.5\nb\t2\n", "# x\nNew York;1.5\nb;2"]
)
def test_names_may_have_blanks_if_another_separator_is_used(tmp_path, text):
    path = tmp_path / "k.txt"
    path.write_text(text)
    found = read_anchor_file(Source(path), 1)
    assert [(name, angles) for _, name, angles in found] == [("New York", [1.5]), ("b", [2.0])]
