"""Evidence that a fixed model leaks its data: programs, complexity, relations, attacks."""

from narcissus.extraction.assess import assess_extraction
from narcissus.extraction.canaries import (
    CanaryPlan,
    named_canaries,
)
from narcissus.extraction.captioned_images import (
    CaptionedImages,
    DividedImages,
    counted_images,
    divide_images,
    duplicated,
    read_images,
)
from narcissus.extraction.classifier import (
    TrainedClassifier,
    TwoLayerNet,
    noisy_guarantee,
    train_classifier,
)
from narcissus.extraction.complexity import (
    COMPRESSORS,
    Complexity,
    complexity,
    self_extracting,
)
from narcissus.extraction.conv_net import AveragePooling, Convolution
from narcissus.extraction.dense_net import DenseNet, train_dense
from narcissus.extraction.diffusers_folder import (
    DiffusersGenerator,
    LocalDiffusion,
)
from narcissus.extraction.diffusion import (
    DensestAttack,
    ImageGenerator,
    MixtureDiffusion,
    TrainedDiffusion,
    densest_samples,
)
from narcissus.extraction.documents import (
    Division,
    TextDocument,
    divide,
    read_documents,
)
from narcissus.extraction.eidetic import EideticCounts, eidetic_counts
from narcissus.extraction.evidence import ExtractionEvidence
from narcissus.extraction.files import DataSet
from narcissus.extraction.fine_tune import FineTune
from narcissus.extraction.huggingface import HuggingFaceGenerator
from narcissus.extraction.image_models import (
    MixtureTraining,
)
from narcissus.extraction.information import (
    MutualInformation,
    conditional_complexity,
    mutual_information,
)
from narcissus.extraction.informed import InformedGuess, informed_reconstruct
from narcissus.extraction.kkt import KktAttack, KktReconstruction, kkt_reconstruct
from narcissus.extraction.language_models import (
    LocalCheckpoint,
    TrainedCharacterNgram,
)
from narcissus.extraction.language_prior import language_model_secret
from narcissus.extraction.learned_verifier import LearnedVerifier
from narcissus.extraction.membership import (
    membership_scores,
    told_apart,
    told_at,
)
from narcissus.extraction.neuron_pairs import neuron_pairs
from narcissus.extraction.ngram import (
    CharacterNgram,
    Generator,
    TrainedNgram,
    model_prior,
    perplexity,
)
from narcissus.extraction.ngram_dp_sgd import NgramDpSgd
from narcissus.extraction.pool import Pool
from narcissus.extraction.prg import PrgExample, approximate_prg_example, prg_example
from narcissus.extraction.ranking import (
    Memorises,
    RankedSamples,
    RankingAttack,
    extracted_count,
    lead_over_shadows,
    memorised,
    rank_samples,
    ranking_attack,
)
from narcissus.extraction.recovered import (
    completed_documents,
    printed_stretches,
    recovered_documents,
)
from narcissus.extraction.relations import (
    Close,
    HammingBall,
    Near,
    OutputRelation,
    Strings,
    Verbatim,
)
from narcissus.extraction.reproduced import (
    CloseUnlike,
    attempts_of,
    nearest_attempt,
    unlike_others,
    unlike_trained,
)
from narcissus.extraction.sandbox import (
    Isolation,
    IsolationError,
    Limits,
    ProgramRun,
    can_serve,
    check_isolation,
    run_program,
    run_programs,
    without_isolation,
)
from narcissus.extraction.secret_training import (
    SecretTraining,
    TrainedOnSecret,
    train_models,
    trained_on_secret,
)
from narcissus.extraction.secrets import (
    PosteriorGuess,
    PublishedGuess,
    RankingGuess,
    SecretAttack,
    attack_secrets,
    zipf_prior,
)
from narcissus.extraction.state_dict import read_dense_net
from narcissus.extraction.transformer import (
    TransformerTraining,
)
from narcissus.extraction.unet import UNet
from narcissus.extraction.unet_training import UNetTraining
from narcissus.extraction.verifiers import CompressionVerifier, StatisticalVerifier

__all__ = [
    "COMPRESSORS",
    "AveragePooling",
    "CanaryPlan",
    "CaptionedImages",
    "CharacterNgram",
    "Close",
    "CloseUnlike",
    "Complexity",
    "CompressionVerifier",
    "Convolution",
    "DataSet",
    "DenseNet",
    "DensestAttack",
    "DiffusersGenerator",
    "DividedImages",
    "Division",
    "EideticCounts",
    "ExtractionEvidence",
    "FineTune",
    "Generator",
    "HammingBall",
    "HuggingFaceGenerator",
    "ImageGenerator",
    "InformedGuess",
    "Isolation",
    "IsolationError",
    "KktAttack",
    "KktReconstruction",
    "LearnedVerifier",
    "Limits",
    "LocalCheckpoint",
    "LocalDiffusion",
    "Memorises",
    "MixtureDiffusion",
    "MixtureTraining",
    "MutualInformation",
    "Near",
    "NgramDpSgd",
    "OutputRelation",
    "Pool",
    "PosteriorGuess",
    "PrgExample",
    "ProgramRun",
    "PublishedGuess",
    "RankedSamples",
    "RankingAttack",
    "RankingGuess",
    "SecretAttack",
    "SecretTraining",
    "StatisticalVerifier",
    "Strings",
    "TextDocument",
    "TrainedCharacterNgram",
    "TrainedClassifier",
    "TrainedDiffusion",
    "TrainedNgram",
    "TrainedOnSecret",
    "TransformerTraining",
    "TwoLayerNet",
    "UNet",
    "UNetTraining",
    "Verbatim",
    "approximate_prg_example",
    "assess_extraction",
    "attack_secrets",
    "attempts_of",
    "can_serve",
    "check_isolation",
    "completed_documents",
    "complexity",
    "conditional_complexity",
    "counted_images",
    "densest_samples",
    "divide",
    "divide_images",
    "duplicated",
    "eidetic_counts",
    "extracted_count",
    "informed_reconstruct",
    "kkt_reconstruct",
    "language_model_secret",
    "lead_over_shadows",
    "membership_scores",
    "memorised",
    "model_prior",
    "mutual_information",
    "named_canaries",
    "nearest_attempt",
    "neuron_pairs",
    "noisy_guarantee",
    "perplexity",
    "prg_example",
    "printed_stretches",
    "rank_samples",
    "ranking_attack",
    "read_dense_net",
    "read_documents",
    "read_images",
    "recovered_documents",
    "run_program",
    "run_programs",
    "self_extracting",
    "told_apart",
    "told_at",
    "train_classifier",
    "train_dense",
    "train_models",
    "trained_on_secret",
    "unlike_others",
    "unlike_trained",
    "without_isolation",
    "zipf_prior",
]
