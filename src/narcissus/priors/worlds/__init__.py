"""Worlds: who the data is about, as something to draw from and, where small, to write out."""

from narcissus.priors.worlds.base import Draw, Enumerable, Enumeration, World, members
from narcissus.priors.worlds.family import Family
from narcissus.priors.worlds.finite import Finite
from narcissus.priors.worlds.pairs import Neighbours, Pairs, RandomNeighbours
from narcissus.priors.worlds.products import Bits, Records, Uniform
from narcissus.priors.worlds.tardos import Tardos
from narcissus.priors.worlds.trivial import MonaLisa, Superset

__all__ = [
    "Bits",
    "Draw",
    "Enumerable",
    "Enumeration",
    "Family",
    "Finite",
    "MonaLisa",
    "Neighbours",
    "Pairs",
    "RandomNeighbours",
    "Records",
    "Superset",
    "Tardos",
    "Uniform",
    "World",
    "members",
]
