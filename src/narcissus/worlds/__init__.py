"""Worlds: who the data is about, as something to draw from and, where small, to write out."""

from narcissus.worlds.base import Draw, Enumerable, Enumeration, World, members
from narcissus.worlds.finite import (
    Family,
    Finite,
    NamedFamily,
    Neighbours,
    OwnWorld,
    Pairs,
    People,
    RandomNeighbours,
    RealRows,
    Secret,
)
from narcissus.worlds.products import Bits, MonaLisa, Records, Uniform
from narcissus.worlds.tardos import Superset, Tardos

__all__ = [
    "Bits",
    "Draw",
    "Enumerable",
    "Enumeration",
    "Family",
    "Finite",
    "MonaLisa",
    "NamedFamily",
    "Neighbours",
    "OwnWorld",
    "Pairs",
    "People",
    "RandomNeighbours",
    "RealRows",
    "Records",
    "Secret",
    "Superset",
    "Tardos",
    "Uniform",
    "World",
    "members",
]
