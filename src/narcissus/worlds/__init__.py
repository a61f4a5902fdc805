"""Worlds: who the data is about, as something to draw from and, where small, to write out."""

from narcissus.worlds.base import Draw, Enumerable, Enumeration, World, members
from narcissus.worlds.family import Family, NamedFamily
from narcissus.worlds.finite import Finite
from narcissus.worlds.own import OwnWorld
from narcissus.worlds.pairs import Neighbours, Pairs, RandomNeighbours
from narcissus.worlds.people import People, RealRows
from narcissus.worlds.products import Bits, Records, Uniform
from narcissus.worlds.secret import Secret
from narcissus.worlds.tardos import Tardos
from narcissus.worlds.trivial import MonaLisa, Superset

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
