"""When an output counts as extraction."""

from narcissus.extraction.relations.base import OutputRelation
from narcissus.extraction.relations.bits import HammingBall
from narcissus.extraction.relations.rows import Close, Near
from narcissus.extraction.relations.text import Strings, Verbatim

RELATIONS: dict[str, type[OutputRelation]] = {
    "close": Close,
    "exact": Verbatim,
    "hamming": HammingBall,
    "near": Near,
    "strings": Strings,
}
"""By their names in a study file."""

__all__ = ["RELATIONS", "Close", "HammingBall", "Near", "OutputRelation", "Strings", "Verbatim"]
