"""Evidence that a fixed model gives up its data: programs, complexity, relations, attacks."""

from narcissus.extraction.classifier import TwoLayerNet, noisy_guarantee, train_classifier
from narcissus.extraction.complexity import (
    COMPRESSORS,
    Complexity,
    complexity,
    self_extracting,
)
from narcissus.extraction.diffusion import (
    ImageGenerator,
    MixtureDiffusion,
    densest_samples,
    extracts_outlier,
)
from narcissus.extraction.eidetic import EideticCounts, eidetic_counts
from narcissus.extraction.evidence import Evidence, assess_extraction
from narcissus.extraction.files import DataSet
from narcissus.extraction.hamming import Hamming
from narcissus.extraction.huggingface import HuggingFaceGenerator
from narcissus.extraction.kkt import KktReconstruction, kkt_reconstruct
from narcissus.extraction.neuron_pairs import neuron_pairs
from narcissus.extraction.ngram import CharacterNgram, Generator, model_prior, perplexity
from narcissus.extraction.prg import PrgExample, approximate_prg_example, prg_example
from narcissus.extraction.ranking import (
    RankedSamples,
    extracted_count,
    lead_over_shadows,
    memorised,
    rank_samples,
)
from narcissus.extraction.relations import Close, Exact, Near, Relation, Strings
from narcissus.extraction.sandbox import (
    Isolation,
    IsolationError,
    Limits,
    Run,
    check_isolation,
    run_program,
    without_isolation,
)
from narcissus.extraction.secrets import (
    SecretAttack,
    SecretTraining,
    attack_secrets,
    posterior_guess,
    published_guess,
    train_models,
    zipf_prior,
)

__all__ = [
    "COMPRESSORS",
    "CharacterNgram",
    "Close",
    "Complexity",
    "DataSet",
    "EideticCounts",
    "Evidence",
    "Exact",
    "Generator",
    "Hamming",
    "HuggingFaceGenerator",
    "ImageGenerator",
    "Isolation",
    "IsolationError",
    "KktReconstruction",
    "Limits",
    "MixtureDiffusion",
    "Near",
    "PrgExample",
    "RankedSamples",
    "Relation",
    "Run",
    "SecretAttack",
    "SecretTraining",
    "Strings",
    "TwoLayerNet",
    "approximate_prg_example",
    "assess_extraction",
    "attack_secrets",
    "check_isolation",
    "complexity",
    "densest_samples",
    "eidetic_counts",
    "extracted_count",
    "extracts_outlier",
    "kkt_reconstruct",
    "lead_over_shadows",
    "memorised",
    "model_prior",
    "neuron_pairs",
    "noisy_guarantee",
    "perplexity",
    "posterior_guess",
    "prg_example",
    "published_guess",
    "rank_samples",
    "run_program",
    "self_extracting",
    "train_classifier",
    "train_models",
    "without_isolation",
    "zipf_prior",
]
