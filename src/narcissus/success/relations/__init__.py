"""Relations that decide when an attempt counts as a reconstruction."""

from narcissus.success.relations.base import Attempts, Own, Relation
from narcissus.success.relations.shipped import (
    AnyOf,
    AtLeast,
    CloseAndUnique,
    FirstBit,
    Hamming,
    Isolates,
    Member,
    NamesSecret,
    OneOfPair,
    Pinned,
    Prefix,
    RandomRow,
    SameImage,
    TablePredicate,
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
