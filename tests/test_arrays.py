"""Arrays as bytes: what is too large or was pickled is not unpacked."""

import io

import numpy as np
import pytest

from narcissus import _arrays
from narcissus._arrays import first_largest, pack, unpack


def test_arrays_come_back_as_they_were():
    given = {"a/b": np.arange(6, dtype=np.int32).reshape(2, 3), "c": np.array([np.nan, -0.0])}
    found = unpack(pack(given))
    assert list(found) == ["a/b", "c"]
    for name, array in given.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)


def test_what_unpacks_to_too_much_is_refused_before(monkeypatch):
    blob = pack({"a": np.zeros(10_000)})
    assert len(blob) < 1000
    monkeypatch.setattr(_arrays, "MOST_UNPACKED", 80_000)
    with pytest.raises(ValueError, match="bytes of arrays"):
        unpack(blob)


def test_pickles_are_neither_written_nor_read():
    with pytest.raises(ValueError, match="pickled"):
        pack({"a": np.array([{}])})
    assert list(unpack(pack({"a": np.array([1])}))) == ["a"]  # with the lowest NumPy as well
    buffer = io.BytesIO()
    np.savez(buffer, a=np.array([{}]))
    with pytest.raises(ValueError, match="allow_pickle"):
        unpack(buffer.getvalue())


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_of_equals_the_first_is_the_largest_whatever_their_last_digits(axis):
    """As sums of the same terms in another order have them."""
    rng = np.random.default_rng(1)
    values = rng.integers(0, 4, size=(200, 7)) / 3
    exact = values.argmax(axis=axis)
    for _ in range(20):
        moved = values * (1 + rng.uniform(-4e-16, 4e-16, size=values.shape))
        assert (first_largest(moved, axis=axis) == exact).all()
    differ = values + 1e-9 * np.arange(values.size).reshape(values.shape)
    assert (first_largest(differ, axis=axis) == differ.argmax(axis=axis)).all()


def test_what_is_impossible_is_never_the_largest():
    assert first_largest(np.array([-np.inf, -3.0, -2.0])) == 2
    assert first_largest(np.array([-np.inf, -np.inf])) == 0
    assert first_largest(np.array([[-1.0, -1.0 + 1e-15]])).tolist() == [0]
