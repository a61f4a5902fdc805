"""What is tried with a language model before its numbers are believed, and while they are made.

A score of a text is one pass over the whole text. What a model writes comes from passes over one
token each, which remember the earlier ones. Both must be one model: whether a token is likely may
depend neither on later tokens, nor on other texts of the batch, nor on what is remembered. The
tokens that are tried are drawn anew each time, so no folder can be made for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

_SAME = 1e-4
"""Logits of rows of one shape that differ by so small a part are the same, but for rounding."""
_ALIKE = 1e-3
"""Of passes of another shape, which sum in another order."""
_ULPS, _ULPS_OF_HALVES = 256, 4
"""Rounding steps of the largest logit by which passes differ, in single and in half precision."""
_SINGLE = 1e-6
"""Rounding steps above are those of half precision."""
_FEW = 1 / 8
"""Share of positions that may differ in half precision, where experts are chosen by rounding."""
_LARGEST_LOGIT = 1e4
LONGEST_WINDOW = 4096
"""Tokens of a window up to which a model is tried beyond it, whatever it is asked for."""
_WINDOW = re.compile(r"window|attention_chunk")
_FIXED_ROTATIONS = frozenset({"default", "linear", "llama3", "yarn", "proportional"})
"""Rotary positions that depend on the position alone, not on the length of the text."""


def same(first: Any, second: Any, precision: float, *, one_shape: bool = False) -> bool:
    """Say whether two passes gave the same logits, shape (positions, vocabulary), up to rounding.

    precision: the rounding step of the model's numbers at 1.
    one_shape: whether both were of rows of the same shape.
    """
    apart = (_bounded(first) - _bounded(second)).abs().amax(-1)
    return is_small(apart, first, precision, share=_SAME if one_shape else _ALIKE)


def is_small(apart: Any, logits: Any, precision: float, *, share: float = _ALIKE) -> bool:
    """Say whether differences, shape (positions,), are rounding of logits next to them."""
    is_half = precision > _SINGLE
    values = _bounded(logits)
    centred = values - values.mean(dim=-1, keepdim=True)
    spread = centred.abs().amax(-1).clamp(min=0.01, max=10.0)
    steps = (_ULPS_OF_HALVES if is_half else _ULPS) * precision * values.abs().amax(-1)
    differ = (apart > (share * spread).maximum(steps)).double()
    return float(differ.mean()) <= (_FEW if is_half else 0.0)


def _bounded(values: Any) -> Any:
    """Replace infinite logits, which have no difference, by large ones; NaN stays."""
    return values.double().clamp(min=-_LARGEST_LOGIT, max=_LARGEST_LOGIT)


def windows_of(settings: Mapping[str, Any]) -> list[int]:
    """Return the lengths of windows and chunks of attention that a configuration names."""
    numbers = {
        value
        for key, value in _values(settings)
        if _WINDOW.search(key) and type(value) is int and value > 0
    }
    return sorted(numbers)


def needs_texts_alone(settings: Mapping[str, Any]) -> bool:
    """Say whether positions turn by other angles where the longest text of a batch is longer."""
    kinds = {value for key, value in _values(settings) if key == "rope_type"}
    return not kinds <= _FIXED_ROTATIONS


def _values(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, part in cast("dict[str, Any]", value).items():
            yield from _values(part, str(name))
    elif isinstance(value, list | tuple):
        for part in cast("list[Any]", value):
            yield from _values(part, key)
    else:
        yield key, value
