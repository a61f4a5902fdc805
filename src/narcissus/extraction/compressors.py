"""Compressors as tests of randomness: few strings can be compressed, whatever the compressor.

Fewer than ``256^(m+1) / 255`` strings of ``n`` bits compress to at most ``m`` bytes, since each is
decompressed from another: a share of ``2^(8(m+1) - n) / 255``. This p-value assumes nothing about
the compressor, and is why random strings are complex.

Source: Cohen et al. 2024, Lemma D.11 (3) and section D.4.2; Narcissus theory 7.
"""

from __future__ import annotations

import bz2
import lzma
import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from narcissus._optional import optional

_LZMA = [{"id": lzma.FILTER_LZMA2, "preset": 9, "dict_size": 2**20}]


def _zlib(data: bytes) -> bytes:
    packer = zlib.compressobj(9, wbits=-15, memLevel=9)
    return packer.compress(data) + packer.flush()


def _lzma(data: bytes) -> bytes:
    return lzma.compress(data, lzma.FORMAT_RAW, filters=_LZMA)


def _zstd(data: bytes) -> bytes:
    zstd = optional("zstandard", extra="compress", purpose="Compressing by zstd")
    return zstd.ZstdCompressor(level=19, write_checksum=False).compress(data)


def _brotli(data: bytes) -> bytes:
    brotli = optional("brotli", extra="compress", purpose="Compressing by brotli")
    return brotli.compress(data, quality=11)


def _ppm(data: bytes) -> bytes:
    ppm = optional("pyppmd", extra="compress", purpose="Compressing by PPM")
    coder = ppm.Ppmd7Encoder(4, 2**20)
    return coder.encode(data) + coder.flush()


COMPRESS: Mapping[str, Callable[[bytes], bytes]] = MappingProxyType(
    {
        "zlib": _zlib,
        "bz2": lambda data: bz2.compress(data, 9),
        "lzma": _lzma,
        "zstd": _zstd,
        "brotli": _brotli,
        "ppm": _ppm,
    }
)
"""Compressors by name; the last three need the extra ``compress``."""


def share_as_short(size: int, bits: int) -> float:
    """Bound the share of all bit strings that one compressor brings to at most ``size`` bytes.

    Examples
    --------
    >>> share_as_short(98, 800) < 2**-15, share_as_short(100, 800)
    (True, 1.0)
    """
    return 2.0 ** max(-1000.0, min(0.0, 8 * (size + 1) - bits - math.log2(255)))


def compression_p_value(data: bytes, bits: int, methods: Sequence[str]) -> float:
    """Bound the chance that random bits compress as well by any of several compressors
    (Bonferroni).

    ``data`` packs the ``bits`` bits eight a byte, padded with zeros; ``methods`` name `COMPRESS`.
    """
    shortest = min(len(COMPRESS[method](data)) for method in methods)
    return min(1.0, len(methods) * share_as_short(shortest, bits))
