"""Relations that decide when an attempt counts as a reconstruction."""

from narcissus.success.relations.base import Attempts, Own, Relation
from narcissus.success.relations.predicates import Isolates, RandomRow, TablePredicate
from narcissus.success.relations.rows import AnyOf, AtLeast, CloseAndUnique, Hamming, Member
from narcissus.success.relations.strings import (
    FirstBit,
    NamesSecret,
    OneOfPair,
    Pinned,
    Prefix,
    SameImage,
)

__all__ = [
    "AnyOf",
    "AtLeast",
    "Attempts",
    "CloseAndUnique",
    "FirstBit",
    "Hamming",
    "Isolates",
    "Member",
    "NamesSecret",
    "OneOfPair",
    "Own",
    "Pinned",
    "Prefix",
    "RandomRow",
    "Relation",
    "SameImage",
    "TablePredicate",
]
