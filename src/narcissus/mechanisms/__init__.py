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
from narcissus.mechanisms.plain import Constant, Identity, Subsample
from narcissus.mechanisms.randomized_response import RandomizedResponse
from narcissus.mechanisms.table import (
    Bootstrap,
    CellRule,
    Columns,
    Command,
    GaussianCopula,
    KeptReleases,
    Marginals,
    Microdata,
    OpenDPMeasurement,
    OpenDPSynthesizer,
    OwnSynthesizer,
    PlannedCounts,
    Prepared,
    ProtectedCounts,
    PublishedRows,
    TableMechanism,
    TreeSynthesizer,
    require_varied,
)
from narcissus.mechanisms.through_channel import ThroughChannel

__all__ = [
    "Bootstrap",
    "CellRule",
    "Cipher",
    "Columns",
    "Command",
    "Constant",
    "CountingQuery",
    "Counts",
    "ExactAverage",
    "GaussianCopula",
    "GaussianNoise",
    "Identity",
    "KAnonymity",
    "KeptReleases",
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
    "OpenDPMeasurement",
    "OpenDPSynthesizer",
    "OwnMechanism",
    "OwnSynthesizer",
    "Parallel",
    "Parity",
    "PlannedCounts",
    "Prepared",
    "ProtectedCounts",
    "PublicKey",
    "PublishedRows",
    "RandomizedResponse",
    "ReleaseChannel",
    "Sha256",
    "Subsample",
    "TableMechanism",
    "ThroughChannel",
    "TreeSynthesizer",
    "XorHalf",
    "published_cut",
    "require_varied",
]
