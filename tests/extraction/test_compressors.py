"""Compressors as tests: what they give can be undone, and few strings are short."""

import bz2
import lzma
import sys
import zlib

import numpy as np
import pytest

from narcissus.errors import MissingExtraError
from narcissus.extraction.compressors import (
    _LZMA,
    COMPRESS,
    compression_p_value,
    share_as_short,
)

TEXT = b"to be or not to be, that is the question; " * 6
NOISE = np.random.default_rng(2).bytes(256)
UNDO = {
    "zlib": lambda data: zlib.decompress(data, -15),
    "bz2": bz2.decompress,
    "lzma": lambda data: lzma.decompress(data, lzma.FORMAT_RAW, filters=_LZMA),
}


@pytest.mark.parametrize("name", UNDO)
def test_compressed_strings_are_told_apart_since_each_can_be_undone(name):
    for data in (TEXT, NOISE, b"", b"\0" * 900):
        assert UNDO[name](COMPRESS[name](data)) == data


@pytest.mark.parametrize("name", COMPRESS)
def test_text_shrinks_and_noise_does_not(name):
    if name in ("zstd", "brotli", "ppm"):
        pytest.importorskip({"zstd": "zstandard", "ppm": "pyppmd"}.get(name, name))
    assert compression_p_value(TEXT, 8 * len(TEXT), [name]) < 1e-100
    assert compression_p_value(NOISE, 2048, [name]) == 1


def test_the_share_is_that_of_a_count():
    """Of all strings of 24 bits, those that a numbering brings to at most one byte: 257."""
    assert share_as_short(1, 24) == pytest.approx(256**2 / 255 / 2**24)
    assert share_as_short(1, 24) >= (1 + 256) / 2**24
    assert share_as_short(0, 24) >= 1 / 2**24
    assert share_as_short(3, 24) == 1


def test_several_compressors_are_paid_for():
    alone = compression_p_value(TEXT, 8 * len(TEXT), ["zlib"])
    both = compression_p_value(TEXT, 8 * len(TEXT), ["zlib", "bz2"])
    assert both == pytest.approx(2 * alone)  # bz2 is longer here


def test_a_missing_compressor_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyppmd", None)
    with pytest.raises(MissingExtraError, match="compress"):
        COMPRESS["ppm"](TEXT)
