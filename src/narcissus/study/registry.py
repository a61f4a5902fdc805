"""Every part that a study file can name: one line a part.

A part is a class or function of this package. Its options are read off its signature and its
docstring (`narcissus.study.signatures`); nothing else needs to be said of it. The few parameters
that are parts themselves, or no options, are marked where they are (`narcissus._options`).
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

WORLD = {
    "bits": "narcissus.worlds:Bits",
    "family": "narcissus.worlds:Family",
    "finite": "narcissus.worlds:Finite",
    "mona-lisa": "narcissus.worlds:MonaLisa",
    "neighbours": "narcissus.worlds:Neighbours",
    "pairs": "narcissus.worlds:Pairs",
    "pool": "narcissus.extraction:Pool",
    "random-neighbours": "narcissus.worlds:RandomNeighbours",
    "records": "narcissus.worlds:Records",
    "secret": "narcissus.worlds:Secret",
    "superset": "narcissus.worlds:Superset",
    "tardos": "narcissus.worlds:Tardos",
    "uniform": "narcissus.worlds:Uniform",
}
SIDE_INFORMATION = {
    "candidates": "narcissus.knowledge:Candidates",
    "listed": "narcissus.knowledge:Listed",
    "nature": "narcissus.knowledge:Hidden",
    "rates": "narcissus.knowledge:Rates",
    "rows": "narcissus.knowledge:KnownRows",
    "superset": "narcissus.knowledge:Hiding",
}
MECHANISM = {
    "adaptive-composition": "narcissus.mechanisms:AdaptiveComposition",
    "chosen-plaintext": "narcissus.mechanisms:ChosenPlaintext",
    "cipher": "narcissus.mechanisms:Cipher",
    "constant": "narcissus.mechanisms:Constant",
    "count-queries": "narcissus.mechanisms:CountQueries",
    "counting-query": "narcissus.mechanisms:CountingQuery",
    "exact-average": "narcissus.mechanisms:ExactAverage",
    "identity": "narcissus.mechanisms:Identity",
    "k-anonymity": "narcissus.mechanisms:KAnonymity",
    "multiply-hash": "narcissus.mechanisms:MultiplyHash",
    "noisy-average": "narcissus.mechanisms:NoisyAverage",
    "parallel": "narcissus.mechanisms:Parallel",
    "parity": "narcissus.mechanisms:Parity",
    "public-key": "narcissus.mechanisms:PublicKey",
    "randomized-response": "narcissus.mechanisms:RandomizedResponse",
    "sha256": "narcissus.mechanisms:Sha256",
    "sparse-vector": "narcissus.mechanisms:SparseVector",
    "stretched": "narcissus.mechanisms:Stretched",
    "subsample": "narcissus.mechanisms:Subsample",
    "through-channel": "narcissus.mechanisms:through_channel",
    "trained-classifier": "narcissus.extraction:TrainedClassifier",
    "trained-diffusion": "narcissus.extraction:TrainedDiffusion",
    "trained-ngram": "narcissus.extraction:TrainedNgram",
    "trained-on-secret": "narcissus.extraction:trained_on_secret",
    "xor-half": "narcissus.mechanisms:XorHalf",
}
ATTACK = {
    "ask-each": "narcissus.attacks:AskEach",
    "bayes": "narcissus.profiles:Bayes",
    "bayes-guess": "narcissus.attacks:BayesGuess",
    "bucket-hashing": "narcissus.attacks:BucketHashing",
    "compressors": "narcissus.extraction:CompressionVerifier",
    "densest-samples": "narcissus.extraction:DensestAttack",
    "exhaustive-reconstruction": "narcissus.attacks:ExhaustiveReconstruction",
    "fingerprint": "narcissus.attacks:Fingerprint",
    "fixed-guess": "narcissus.attacks:FixedGuess",
    "inversion": "narcissus.attacks:Inversion",
    "key-search": "narcissus.attacks:KeySearch",
    "kkt": "narcissus.extraction:KktAttack",
    "learned-verifier": "narcissus.extraction:LearnedVerifier",
    "linear-reconstruction": "narcissus.attacks:LinearReconstruction",
    "majority": "narcissus.attacks:Majority",
    "parity-guess": "narcissus.attacks:ParityGuess",
    "parity-membership": "narcissus.attacks:ParityMembership",
    "posterior": "narcissus.attacks:Posterior",
    "posterior-guess": "narcissus.extraction:PosteriorGuess",
    "published-guess": "narcissus.extraction:PublishedGuess",
    "ranking": "narcissus.extraction:ranking_attack",
    "rare-row": "narcissus.attacks:RareRow",
    "re-encryption": "narcissus.attacks:Reencryption",
    "released-places": "narcissus.attacks:ReleasedPlaces",
    "released-row": "narcissus.attacks:ReleasedRow",
    "seed-search": "narcissus.attacks:SeedSearch",
    "statistical-tests": "narcissus.extraction:StatisticalVerifier",
    "subtraction": "narcissus.attacks:Subtraction",
    "superset-matching": "narcissus.attacks:SupersetMatching",
    "try-inputs": "narcissus.attacks:TryInputs",
    "two-candidates": "narcissus.attacks:TwoCandidates",
    "two-candidates-centred": "narcissus.attacks:TwoCandidatesCentred",
}
ENCRYPTION_SCHEME = {
    "public-key": "narcissus.mechanisms:PublicKey",
    "stream-cipher": "narcissus.mechanisms:StreamCipher",
    "textbook-rsa": "narcissus.mechanisms:TextbookRsa",
}
RELATION = {
    "any-of": "narcissus.success.relations:AnyOf",
    "at-least": "narcissus.success.relations:AtLeast",
    "close": "narcissus.extraction:Close",
    "close-and-unique": "narcissus.success.relations:CloseAndUnique",
    "exact": "narcissus.extraction:Verbatim",
    "first-bit": "narcissus.success.relations:FirstBit",
    "hamming": "narcissus.success.relations:Hamming",
    "hamming-ball": "narcissus.extraction:HammingBall",
    "isolates": "narcissus.success.relations:Isolates",
    "member": "narcissus.success.relations:Member",
    "memorises": "narcissus.extraction:Memorises",
    "names-secret": "narcissus.success.relations:NamesSecret",
    "near": "narcissus.extraction:Near",
    "one-of-pair": "narcissus.success.relations:OneOfPair",
    "pinned": "narcissus.success.relations:Pinned",
    "prefix": "narcissus.success.relations:Prefix",
    "random-row": "narcissus.success.relations:RandomRow",
    "same-image": "narcissus.success.relations:SameImage",
    "strings": "narcissus.extraction:Strings",
}
STATEMENT = {
    "bayesian": "narcissus.success:BayesianSafety",
    "encryption": "narcissus.success:EncryptionSecurity",
    "fixed-baseline": "narcissus.success:FixedBaseline",
    "membership": "narcissus.success:MembershipResilience",
    "memorizing": "narcissus.success:NotMemorizing",
    "narcissus": "narcissus.success:NarcissusResilience",
    "npso": "narcissus.success:NarcissusSinglingOut",
    "one-way": "narcissus.success:OneWayness",
    "pairs": "narcissus.success:PairResilience",
    "side-information": "narcissus.success:SafetyGivenKnowledge",
    "singling-out": "narcissus.success:SinglingOut",
    "surprisal": "narcissus.success:SurprisalResilience",
    "threshold": "narcissus.success:Threshold",
    "two-criteria": "narcissus.success:TwoCriteriaSafety",
}
RECORD_PRIOR = {
    "bayesian-network": "narcissus.priors:fit_bayesian_network",
    "empirical": "narcissus.priors:fit_empirical",
    "independent": "narcissus.priors:fit_independent",
}
TABLE_MECHANISM = {
    "bootstrap": "narcissus.mechanisms:Bootstrap",
    "command": "narcissus.mechanisms:Command",
    "copula": "narcissus.mechanisms:GaussianCopula",
    "marginals": "narcissus.mechanisms:Marginals",
    "microdata": "narcissus.mechanisms:PublishedRows",
    "opendp": "narcissus.mechanisms:OpenDPMeasurement",
    "opendp-synthesizer": "narcissus.mechanisms:OpenDPSynthesizer",
    "random-rounding": "narcissus.mechanisms:RandomRounding",
    "rounding": "narcissus.mechanisms:Rounding",
    "suppression": "narcissus.mechanisms:Suppression",
    "swapping": "narcissus.mechanisms:Swapping",
    "tables": "narcissus.mechanisms:Tables",
    "tree-mst": "narcissus.mechanisms:TreeSynthesizer",
}
TABLE_ATTACK = {
    "ceiling": "narcissus.attacks.table:Ceiling",
    "gibbs": "narcissus.attacks.table:GibbsSampling",
    "learned": "narcissus.attacks.table:Learned",
    "nearest": "narcissus.attacks.table:NearestRecord",
    "posterior": "narcissus.attacks.table:MeanField",
    "prior": "narcissus.attacks.table:PriorGuess",
    "rap": "narcissus.attacks.table:RelaxedProjection",
    "stack": "narcissus.attacks.table:Stack",
}
CHANNEL_MECHANISM = {
    "exponential": "narcissus.channels.closed_forms:exponential",
    "gaussian": "narcissus.channels.closed_forms:gaussian",
    "geometric": "narcissus.channels:Geometric",
    "laplace": "narcissus.channels.closed_forms:laplace",
    "optimized-unary": "narcissus.channels.closed_forms:optimized_unary",
    "planar-geometric": "narcissus.channels:PlanarGeometric",
    "planar-laplace": "narcissus.channels:PlanarLaplace",
    "randomized-response": "narcissus.channels:KaryRandomizedResponse",
    "subset": "narcissus.channels.closed_forms:subset",
    "unary": "narcissus.channels.closed_forms:unary",
}
SECRET_PRIOR = {
    "language-model": "narcissus.extraction:language_model_secret",
    "listed": "narcissus.priors.secrets:listed_secret",
    "names": "narcissus.priors.secrets:names_secret",
    "pii": "narcissus.priors.secrets:pii_secret",
    "uniform": "narcissus.priors.secrets:uniform_secret",
    "zipf": "narcissus.priors.secrets:zipf_secret",
}
SECRET_MECHANISM = {
    "fine-tune": "narcissus.extraction:FineTune",
    "ngram-dp-sgd": "narcissus.extraction:NgramDpSgd",
}
SECRET_ATTACK = {
    "argmax": "narcissus.extraction:PublishedGuess",
    "posterior": "narcissus.extraction:PosteriorGuess",
    "ranking": "narcissus.extraction:RankingGuess",
}
IMAGE_MODEL = {
    "folder": "narcissus.extraction.image_models:LocalDiffusion",
    "mixture": "narcissus.extraction.image_models:MixtureTraining",
    "unet": "narcissus.extraction.unet:UNetTraining",
}
LANGUAGE_MODEL = {
    "folder": "narcissus.extraction.language_models:LocalCheckpoint",
    "ngram": "narcissus.extraction.language_models:TrainedCharacterNgram",
    "transformer": "narcissus.extraction.language_models:TransformerTraining",
}
EXTRACTION_RELATION = {
    "close": "narcissus.extraction:Close",
    "exact": "narcissus.extraction:Verbatim",
    "hamming": "narcissus.extraction:HammingBall",
    "near": "narcissus.extraction:Near",
    "strings": "narcissus.extraction:Strings",
}


@dataclass(frozen=True)
class PartKind:
    """The parts that one kind of section can name."""

    sections: str  # Where they are named, in words
    # Name -> ``module:attribute`` of the class or function that makes the part
    parts: dict[str, str]
    # ``module:attribute`` of the class that makes a part of a plain function of the user's;
    # "" where a function makes the part, as a class does
    of_function: str = ""
    # How many of the first parameters the study gives: a record prior is fitted to its table
    given: int = 0
    default: str = ""  # The part of a section that names none; "" if it must
    own: bool = True  # Whether a user's own part may be named, as ``module:attribute``


ROOMS: dict[str, PartKind] = {
    "world": PartKind("[world] of a game", WORLD, of_function="narcissus.worlds:OwnWorld"),
    "family": PartKind("`generator` of [family] of a game", {}),
    "side-information": PartKind(
        "[side-information] of a game",
        SIDE_INFORMATION,
        of_function="narcissus.knowledge:OwnSideInformation",
    ),
    "mechanism": PartKind(
        "[mechanism] of a game", MECHANISM, of_function="narcissus.mechanisms:OwnMechanism"
    ),
    "attack": PartKind("[[attack]] of a game", ATTACK, of_function="narcissus.attacks:OwnAttack"),
    "encryption-scheme": PartKind(
        "`scheme` of the mechanism `chosen-plaintext`", ENCRYPTION_SCHEME
    ),
    "relation": PartKind(
        "[success] and [looser] of a game", RELATION, of_function="narcissus.success.relations:Own"
    ),
    "statement": PartKind("[statement] of a game", STATEMENT, own=False),
    "record-prior": PartKind(
        "[prior] of a table", RECORD_PRIOR, given=1, default="bayesian-network"
    ),
    "table-mechanism": PartKind(
        "[mechanism] of a table",
        TABLE_MECHANISM,
        of_function="narcissus.mechanisms:OwnSynthesizer",
        default="marginals",
    ),
    "opendp-measurement": PartKind(
        "`measurement` of the table mechanism `opendp`",
        {},
        of_function="narcissus.mechanisms.table.opendp:MadeBy",
    ),
    "table-attack": PartKind("[attacks.NAME] of a table", TABLE_ATTACK),
    "channel-mechanism": PartKind("[channel.mechanism] of a channel", CHANNEL_MECHANISM, own=False),
    "secret-prior": PartKind("[prior] of a study of secrets", SECRET_PRIOR, own=False),
    "secret-mechanism": PartKind("[mechanism] of a study of secrets", SECRET_MECHANISM, own=False),
    "secret-attack": PartKind(
        "[attacks.NAME] of a study of secrets",
        SECRET_ATTACK,
        of_function="narcissus.attacks:OwnAttack",
    ),
    "image-model": PartKind("[model] of a model of images", IMAGE_MODEL, own=False),
    "language-model": PartKind("[model] of a language model", LANGUAGE_MODEL, own=False),
    "extraction-relation": PartKind(
        "[relation] of an extraction", EXTRACTION_RELATION, default="exact", own=False
    ),
}


def loaded(target: str) -> Any:
    """Import what ``module:attribute`` names; only for names that are in this package."""
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute)
