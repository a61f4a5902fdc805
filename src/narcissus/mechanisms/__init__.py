"""Mechanisms: what is released."""

from narcissus.mechanisms.adaptive_composition import AdaptiveComposition
from narcissus.mechanisms.average import ExactAverage, NoisyAverage
from narcissus.mechanisms.base import Mechanism, ReleaseChannel
from narcissus.mechanisms.chosen_plaintext import (
    ChosenPlaintext,
    EncryptionScheme,
    StreamCipher,
    TextbookRsa,
)
from narcissus.mechanisms.ciphers import Cipher, PublicKey
from narcissus.mechanisms.composition import Parallel
from narcissus.mechanisms.count_queries import CountQueries
from narcissus.mechanisms.counting import CountingQuery, published_cut
from narcissus.mechanisms.generalization import KAnonymity
from narcissus.mechanisms.generator import Stretched
from narcissus.mechanisms.geometric_noise import TwoSidedGeometric
from narcissus.mechanisms.marginals import Counts, MarginalQueries, NoisyMarginals
from narcissus.mechanisms.noise import GaussianNoise, LaplaceNoise, Noise, NoNoise
from narcissus.mechanisms.one_way import MultiplyHash, Sha256
from narcissus.mechanisms.own import OwnMechanism
from narcissus.mechanisms.parity import Parity, XorHalf
from narcissus.mechanisms.patterns import Grouping
from narcissus.mechanisms.plain import Constant, Identity, Subsample
from narcissus.mechanisms.queries import ChosenQueries, TableQueries
from narcissus.mechanisms.randomized_response import RandomizedResponse
from narcissus.mechanisms.sparse_vector import SparseVector
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
    RandomRounding,
    Rounding,
    Shelf,
    Suppression,
    Swapping,
    TableMechanism,
    Tables,
    TreeSynthesizer,
    require_varied,
)
from narcissus.mechanisms.through_channel import ThroughChannel, through_channel

__all__ = [
    "AdaptiveComposition",
    "Bootstrap",
    "CellRule",
    "ChosenPlaintext",
    "ChosenQueries",
    "Cipher",
    "Columns",
    "Command",
    "Constant",
    "CountQueries",
    "CountingQuery",
    "Counts",
    "EncryptionScheme",
    "ExactAverage",
    "GaussianCopula",
    "GaussianNoise",
    "Grouping",
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
    "RandomRounding",
    "RandomizedResponse",
    "ReleaseChannel",
    "Rounding",
    "Sha256",
    "Shelf",
    "SparseVector",
    "StreamCipher",
    "Stretched",
    "Subsample",
    "Suppression",
    "Swapping",
    "TableMechanism",
    "TableQueries",
    "Tables",
    "TextbookRsa",
    "ThroughChannel",
    "TreeSynthesizer",
    "TwoSidedGeometric",
    "XorHalf",
    "published_cut",
    "require_varied",
    "through_channel",
]
