import threading

import pytest
import torch

from gnnsync.learn.single_thread import single_torch_thread


def test_one_thread_within_and_as_many_as_before_behind():
    torch.set_num_threads(3)
    with single_torch_thread():
        assert torch.get_num_threads() == 1
        with single_torch_thread():
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == 3


def test_errors_restore_it_too():
    torch.set_num_threads(3)
    with pytest.raises(KeyError), single_torch_thread():
        raise KeyError
    assert torch.get_num_threads() == 3


def test_other_threads_wait():
    entered, order = threading.Event(), []

    def enter():
        entered.set()
        with single_torch_thread():
            order.append("other")

    with single_torch_thread():
        other = threading.Thread(target=enter)
        other.start()
        entered.wait()
        order.append("first")
    other.join()
    assert order == ["first", "other"]
