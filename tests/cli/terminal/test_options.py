import argparse

import pytest

from gnnsync.cli.locate.options import locate_parser
from gnnsync.cli.solve.options import solve_parser
from gnnsync.cli.terminal.options import check_standard_output
from gnnsync.errors import ParameterError


@pytest.mark.parametrize("make", [locate_parser, solve_parser])
def test_shared_options(make):
    given = ["a.csv", "--seed", "3", "--time-limit", "2", "--encoding", "latin-1", "--keep-names"]
    found = make().parse_args([*given, "--json", "--columns", "1,2,3"])
    assert (found.seed, found.time_limit, found.encoding) == (3, 2.0, "latin-1")
    assert found.keep_names
    assert found.json
    assert found.columns == "1,2,3"


@pytest.mark.parametrize(
    ("options", "named"), [({"edges": "-"}, "--edges"), ({"output": "-"}, "--output")]
)
def test_only_one_thing_is_printed(options, named):
    arguments = argparse.Namespace(**{"edges": None, "output": None, "json": True} | options)
    with pytest.raises(ParameterError, match=named):
        check_standard_output(arguments, "points")
