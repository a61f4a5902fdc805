"""Mechanisms: what is released."""

from narcissus.mechanisms.base import Mechanism, ReleaseChannel
from narcissus.mechanisms.ciphers import (
    ChosenPlaintext,
    Cipher,
    EncryptionScheme,
    PublicKey,
    StreamCipher,
    TextbookRsa,
)
from narcissus.mechanisms.composition import AdaptiveComposition, Parallel
from narcissus.mechanisms.count_queries import CountQueries, SparseVector
from narcissus.mechanisms.noise import (
    Counts,
    GaussianNoise,
    LaplaceNoise,
    Noise,
    NoisyMarginals,
    NoNoise,
    TwoSidedGeometric,
)
from narcissus.mechanisms.plain import (
    Constant,
    CountingQuery,
    ExactAverage,
    Identity,
    KAnonymity,
    NoisyAverage,
    OwnMechanism,
    Parity,
    RandomizedResponse,
    Subsample,
    ThroughChannel,
    XorHalf,
    published_cut,
    through_channel,
)
from narcissus.mechanisms.queries import ChosenQueries, Grouping, MarginalQueries, TableQueries
from narcissus.mechanisms.stretching import MultiplyHash, Sha256, Stretched
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
    ReleaseCache,
    Rounding,
    Suppression,
    Swapping,
    TableMechanism,
    Tables,
    TreeSynthesizer,
    require_varied,
)

__all__ = [
    "AdaptiveComposition", "Bootstrap", "CellRule", "ChosenPlaintext", "ChosenQueries",
    "Cipher", "Columns", "Command", "Constant", "CountQueries", "CountingQuery", "Counts",
    "EncryptionScheme", "ExactAverage", "GaussianCopula", "GaussianNoise", "Grouping",
    "Identity", "KAnonymity", "KeptReleases", "LaplaceNoise", "MarginalQueries", "Marginals",
    "Mechanism", "Microdata", "MultiplyHash", "NoNoise", "Noise", "NoisyAverage",
    "NoisyMarginals", "OpenDPMeasurement", "OpenDPSynthesizer", "OwnMechanism",
    "OwnSynthesizer", "Parallel", "Parity", "PlannedCounts", "Prepared", "ProtectedCounts",
    "PublicKey", "PublishedRows", "RandomRounding", "RandomizedResponse", "ReleaseCache",
    "ReleaseChannel", "Rounding", "Sha256", "SparseVector", "StreamCipher", "Stretched",
    "Subsample", "Suppression", "Swapping", "TableMechanism", "TableQueries", "Tables",
    "TextbookRsa", "ThroughChannel", "TreeSynthesizer", "TwoSidedGeometric", "XorHalf",
    "published_cut", "require_varied", "through_channel",
]  # fmt: skip

Shelf = ReleaseCache  # its name before 0.1
