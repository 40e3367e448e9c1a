import threading

import scipy.linalg  # noqa: F401 (so that its BLAS is counted)
from threadpoolctl import threadpool_info, threadpool_limits

from gnnsync.linalg.single_thread import single_thread


def threads():
    """Threads of every BLAS in the process; some cannot have more than one."""
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def counts():
    return set(threads())


def test_one_thread_within_and_as_many_as_before_behind():
    with threadpool_limits(3, user_api="blas"):
        before = threads()
        assert 3 in before
        with single_thread():
            assert counts() == {1}
            with single_thread():
                assert counts() == {1}
            assert counts() == {1}
        assert threads() == before


def test_errors_restore_it_too():
    with threadpool_limits(3, user_api="blas"):
        before = threads()
        try:
            with single_thread():
                raise KeyError
        except KeyError:
            pass
        assert threads() == before


def test_another_thread_that_leaves_does_not_restore_it():
    def enter_and_leave():
        with single_thread():
            assert counts() == {1}

    with threadpool_limits(3, user_api="blas"):
        before = threads()
        with single_thread():
            other = threading.Thread(target=enter_and_leave)
            other.start()
            other.join()
            assert counts() == {1}
        assert threads() == before
