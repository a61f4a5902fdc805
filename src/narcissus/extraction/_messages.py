"""What this process and that of a stranger's model say to each other: plain values and arrays."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from narcissus._json import read_json

Arrays = Mapping[str, NDArray[Any]]
_KINDS = ("|u1", "<i8", "<f4", "<f8")
"""Types of arrays that are sent."""


def pack(values: Mapping[str, Any], arrays: Arrays | None = None) -> bytes:
    """Write values that JSON has, and arrays of bytes, whole numbers or floats."""
    parts = {name: np.ascontiguousarray(array) for name, array in (arrays or {}).items()}
    shapes = {name: [array.dtype.str, array.shape] for name, array in parts.items()}
    head = json.dumps({"values": dict(values), "arrays": shapes}).encode()
    return b"\n".join([head, b"".join(array.tobytes() for array in parts.values())])


def unpack(message: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read what `pack` wrote; the message may be a stranger's.

    Raises ValueError, KeyError, TypeError, RecursionError: it is no such message.
    """
    head, _, body = message.partition(b"\n")
    header = cast("dict[str, Any]", read_json(head, most=2**31))
    values, shapes = dict(header["values"]), dict(header["arrays"])
    arrays: dict[str, NDArray[Any]] = {}
    place = 0
    for name, (kind, shape) in shapes.items():
        if kind not in _KINDS or not all(type(size) is int and size >= 0 for size in shape):
            raise ValueError("no array that is sent")
        count = math.prod(shape)
        array = np.frombuffer(body, kind, count, place) if count else np.zeros(0, kind)
        arrays[str(name)] = array.reshape(shape).copy()
        place += array.nbytes
    if place != len(body):
        raise ValueError("more than its arrays")
    return values, arrays
