"""Arrays as bytes: what is too large or was pickled is not unpacked."""

import io

import numpy as np
import pytest

from narcissus import _arrays
from narcissus._arrays import pack, unpack


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
    with pytest.raises(ValueError, match="allow_pickle"):
        pack({"a": np.array([{}])})
    buffer = io.BytesIO()
    np.savez(buffer, a=np.array([{}]))
    with pytest.raises(ValueError, match="allow_pickle"):
        unpack(buffer.getvalue())
