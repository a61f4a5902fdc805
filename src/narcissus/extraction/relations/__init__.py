"""Relations that decide when an output counts as extraction."""

from narcissus.extraction.relations.base import OutputRelation
from narcissus.extraction.relations.bits import HammingBall
from narcissus.extraction.relations.rows import Close, Near
from narcissus.extraction.relations.text import Strings, Verbatim

__all__ = ["Close", "HammingBall", "Near", "OutputRelation", "Strings", "Verbatim"]
