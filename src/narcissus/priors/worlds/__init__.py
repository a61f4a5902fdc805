"""Worlds: who the data is about, as something to draw from and, where small, to write out."""

from narcissus.priors.worlds.base import Draw, Enumerable, Enumeration, World
from narcissus.priors.worlds.finite import Finite, Neighbours, Pairs
from narcissus.priors.worlds.products import Bits, Records, Uniform
from narcissus.priors.worlds.tardos import Tardos
from narcissus.priors.worlds.trivial import MonaLisa, Superset

__all__ = [
    "Bits",
    "Draw",
    "Enumerable",
    "Enumeration",
    "Finite",
    "MonaLisa",
    "Neighbours",
    "Pairs",
    "Records",
    "Superset",
    "Tardos",
    "Uniform",
    "World",
]
