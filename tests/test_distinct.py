import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gnnsync.distinct import distinct


@given(arrays(np.int64, st.integers(0, 40), elements=st.integers(-5, 5)))
def test_it_is_unique(values):
    np.testing.assert_array_equal(distinct(values), np.unique(values))
