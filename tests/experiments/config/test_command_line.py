import pytest

from gnnsync.experiments.config.command_line import with_override


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["-m", "a=1", "b=2"], ["-m", "a=1", "b=2", "x=0"]),
        (["a=1", "--config-dir=c", "-m"], ["a=1", "x=0", "--config-dir=c", "-m"]),
        (["-m"], ["-m", "x=0"]),
    ],
)
def test_an_override_goes_beside_the_others(arguments, expected):
    assert with_override(arguments, "x=0") == expected
