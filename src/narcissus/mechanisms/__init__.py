"""Mechanisms: what is released."""

from narcissus.mechanisms.average import ExactAverage, NoisyAverage
from narcissus.mechanisms.base import Mechanism, ReleaseChannel
from narcissus.mechanisms.ciphers import Cipher, PublicKey
from narcissus.mechanisms.composition import Parallel
from narcissus.mechanisms.counting import CountingQuery, published_cut
from narcissus.mechanisms.generalization import KAnonymity
from narcissus.mechanisms.marginals import Counts, MarginalQueries, NoisyMarginals
from narcissus.mechanisms.noise import GaussianNoise, LaplaceNoise, Noise, NoNoise
from narcissus.mechanisms.one_way import MultiplyHash, Sha256
from narcissus.mechanisms.own import OwnMechanism
from narcissus.mechanisms.parity import Parity, XorHalf
from narcissus.mechanisms.patterns import Grouping
from narcissus.mechanisms.plain import Constant, Identity, Subsample
from narcissus.mechanisms.queries import ChosenQueries, TableQueries
from narcissus.mechanisms.randomized_response import RandomizedResponse
from narcissus.mechanisms.table import (
    CellRule,
    Columns,
    Marginals,
    Microdata,
    PlannedCounts,
    Prepared,
    ProtectedCounts,
    RandomRounding,
    Rounding,
    Suppression,
    Swapping,
    TableMechanism,
    Tables,
)
from narcissus.mechanisms.through_channel import ThroughChannel

__all__ = [
    "CellRule",
    "ChosenQueries",
    "Cipher",
    "Columns",
    "Constant",
    "CountingQuery",
    "Counts",
    "ExactAverage",
    "GaussianNoise",
    "Grouping",
    "Identity",
    "KAnonymity",
    "LaplaceNoise",
    "MarginalQueries",
    "Marginals",
    "Mechanism",
    "Microdata",
    "MultiplyHash",
    "NoNoise",
    "Noise",
    "NoisyAverage",
    "NoisyMarginals",
    "OwnMechanism",
    "Parallel",
    "Parity",
    "PlannedCounts",
    "Prepared",
    "ProtectedCounts",
    "PublicKey",
    "RandomRounding",
    "RandomizedResponse",
    "ReleaseChannel",
    "Rounding",
    "Sha256",
    "Subsample",
    "Suppression",
    "Swapping",
    "TableMechanism",
    "TableQueries",
    "Tables",
    "ThroughChannel",
    "XorHalf",
    "published_cut",
]
