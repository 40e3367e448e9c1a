import pytest

from gnnsync.learn import GNNSync, gnnsync_paper
from gnnsync.learn.steps import NoSteps
from tests.learn.same_method import assert_same_method


@pytest.mark.parametrize(
    ("protocol", "coded"), [("paper", gnnsync_paper()), ("repaired", GNNSync())]
)
def test_the_config_says_what_the_code_says(protocol, coded):
    assert_same_method([f"protocol={protocol}"], coded)


def test_another_protocol_is_another_method():
    with pytest.raises(AssertionError):
        assert_same_method(["protocol=released"], gnnsync_paper())


def test_its_parts_can_be_chosen():
    assert gnnsync_paper(steps=NoSteps).steps is NoSteps
