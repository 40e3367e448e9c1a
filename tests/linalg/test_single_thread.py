import threading

import scipy.linalg  # noqa: F401 (so that its BLAS is counted)
from threadpoolctl import threadpool_info, threadpool_limits

from gnnsync.linalg.single_thread import single_thread


def counts():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_one_thread_within_and_as_many_as_before_behind():
    with threadpool_limits(3, user_api="blas"):
        with single_thread():
            assert counts() == {1}
            with single_thread():
                assert counts() == {1}
            assert counts() == {1}
        assert counts() == {3}


def test_errors_restore_it_too():
    with threadpool_limits(3, user_api="blas"):
        try:
            with single_thread():
                raise KeyError
        except KeyError:
            pass
        assert counts() == {3}


def test_another_thread_that_leaves_does_not_restore_it():
    def enter_and_leave():
        with single_thread():
            assert counts() == {1}

    with threadpool_limits(3, user_api="blas"):
        with single_thread():
            other = threading.Thread(target=enter_and_leave)
            other.start()
            other.join()
            assert counts() == {1}
        assert counts() == {3}
