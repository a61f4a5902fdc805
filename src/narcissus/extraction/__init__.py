"""Evidence that a fixed model leaks its data: programs, complexity, relations, attacks."""

from narcissus.evidence.intervals import auc
from narcissus.extraction.assess import assess_extraction
from narcissus.extraction.canaries import CanaryPlan, named_canaries, read_canaries
from narcissus.extraction.classifier import (
    AveragePooling,
    Convolution,
    DenseNet,
    TrainedClassifier,
    TwoLayerNet,
    noisy_guarantee,
    read_dense_net,
    train_classifier,
    train_dense,
)
from narcissus.extraction.complexity import (
    COMPRESSORS,
    Complexity,
    MutualInformation,
    complexity,
    conditional_complexity,
    mutual_information,
    self_extracting,
)
from narcissus.extraction.eidetic import EideticCounts, eidetic_counts
from narcissus.extraction.evidence import ExtractionEvidence
from narcissus.extraction.files import DataSet, Pool
from narcissus.extraction.image_models import (
    CloseUnlike,
    DensestAttack,
    DiffusersGenerator,
    ImageGenerator,
    LocalDiffusion,
    MixtureDiffusion,
    MixtureTraining,
    TrainedDiffusion,
    attempts_of,
    densest_samples,
    nearest_attempt,
    unlike_others,
    unlike_trained,
)
from narcissus.extraction.images import (
    CaptionedImages,
    DividedImages,
    counted_images,
    divide_images,
    duplicated,
    read_images,
)
from narcissus.extraction.kkt import (
    InformedGuess,
    KktAttack,
    KktReconstruction,
    informed_reconstruct,
    kkt_reconstruct,
    neuron_pairs,
)
from narcissus.extraction.language_models import (
    HuggingFaceGenerator,
    LocalCheckpoint,
    TrainedCharacterNgram,
    TransformerTraining,
    language_model_secret,
)
from narcissus.extraction.ngram import (
    CharacterNgram,
    Generator,
    Memorises,
    RankedSamples,
    RankingAttack,
    TrainedNgram,
    extracted_count,
    lead_over_shadows,
    memorised,
    model_prior,
    perplexity,
    rank_samples,
    ranking_attack,
)
from narcissus.extraction.recovered import (
    Division,
    TextDocument,
    divide,
    membership_scores,
    printed_stretches,
    read_documents,
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
    FineTune,
    NgramDpSgd,
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
from narcissus.extraction.small_language import (
    LONGEST,
    Instruction,
    SmallProgram,
    read_program,
    shortest_program,
)
from narcissus.extraction.unet import UNet, UNetTraining
from narcissus.extraction.verifiers import (
    CompressionVerifier,
    LearnedVerifier,
    PrgExample,
    StatisticalVerifier,
    approximate_prg_example,
    prg_example,
)

__all__ = [
    "COMPRESSORS", "LONGEST", "AveragePooling", "CanaryPlan", "CaptionedImages", "CharacterNgram",
    "Close", "CloseUnlike", "Complexity", "CompressionVerifier", "Convolution", "DataSet",
    "DenseNet", "DensestAttack", "DiffusersGenerator", "DividedImages", "Division", "EideticCounts",
    "ExtractionEvidence", "FineTune", "Generator", "HammingBall", "HuggingFaceGenerator",
    "ImageGenerator", "InformedGuess", "Instruction", "Isolation", "IsolationError", "KktAttack",
    "KktReconstruction", "LearnedVerifier", "Limits", "LocalCheckpoint", "LocalDiffusion",
    "Memorises", "MixtureDiffusion", "MixtureTraining", "MutualInformation", "Near", "NgramDpSgd",
    "OutputRelation", "Pool", "PosteriorGuess", "PrgExample", "ProgramRun", "PublishedGuess",
    "RankedSamples", "RankingAttack", "RankingGuess", "SecretAttack", "SecretTraining",
    "SmallProgram", "StatisticalVerifier", "Strings", "TextDocument", "TrainedCharacterNgram",
    "TrainedClassifier", "TrainedDiffusion", "TrainedNgram", "TrainedOnSecret",
    "TransformerTraining", "TwoLayerNet", "UNet", "UNetTraining", "Verbatim",
    "approximate_prg_example", "assess_extraction", "attack_secrets", "attempts_of", "auc",
    "can_serve", "check_isolation", "complexity", "conditional_complexity", "counted_images",
    "densest_samples", "divide", "divide_images", "duplicated", "eidetic_counts", "extracted_count",
    "informed_reconstruct", "kkt_reconstruct", "language_model_secret", "lead_over_shadows",
    "membership_scores", "memorised", "model_prior", "mutual_information", "named_canaries",
    "nearest_attempt", "neuron_pairs", "noisy_guarantee", "perplexity", "prg_example",
    "printed_stretches", "rank_samples", "ranking_attack", "read_canaries", "read_dense_net",
    "read_documents", "read_images", "read_program", "recovered_documents", "run_program",
    "run_programs", "self_extracting", "shortest_program", "train_classifier", "train_dense",
    "train_models", "trained_on_secret", "unlike_others", "unlike_trained", "without_isolation",
    "zipf_prior",
]  # fmt: skip

told_apart = auc  # its name before 0.1
