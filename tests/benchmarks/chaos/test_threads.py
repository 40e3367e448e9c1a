"""Same seed, same result, with any number of threads."""

import pytest

from benchmarks.chaos.threads import cases, digest, digests


def test_methods_that_differed_do_not():
    """Their sums were divided among the threads of BLAS."""
    names = ["gnc", "cycles"]
    one, four = digests(names, 1), digests(names, 4)
    assert list(one) == names
    assert one == four


@pytest.mark.slow
@pytest.mark.parametrize("name", list(cases()))
def test_runs_and_threads_do_not_matter(name):
    assert len({digests([name], threads)[name] for threads in (1, 1, 2, 4)}) == 1


def test_a_digest_tells_numbers_apart():
    assert digest([1.0], [2.0]) == digest([1.0], [2.0])
    assert digest([1.0]) != digest([1.0 + 2**-52])
    assert digest([1.0, 2.0]) != digest([2.0, 1.0])
    assert digest("a") != digest("b")
