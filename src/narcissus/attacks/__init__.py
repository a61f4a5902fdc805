"""Attacks: what the attacker does with a release."""

from narcissus.attacks.base import (
    Asks,
    Attack,
    Conversation,
    ConversationOverError,
    Failure,
    OwnAttack,
)
from narcissus.attacks.guess import (
    BayesGuess,
    BestPredicate,
    FixedGuess,
    Lookup,
    Majority,
    Posterior,
    RareRow,
    ReleasedPlaces,
    ReleasedRow,
)
from narcissus.attacks.reconstruction import AskEach, ExhaustiveReconstruction, LinearReconstruction
from narcissus.attacks.rows import (
    BucketHashing,
    Fingerprint,
    ParityGuess,
    ParityMembership,
    Subtraction,
    SupersetMatching,
    TwoCandidates,
    TwoCandidatesCentred,
)
from narcissus.attacks.search import Inversion, KeySearch, Reencryption, SeedSearch, TryInputs

__all__ = [
    "AskEach",
    "Asks",
    "Attack",
    "BayesGuess",
    "BestPredicate",
    "BucketHashing",
    "Conversation",
    "ConversationOverError",
    "ExhaustiveReconstruction",
    "Failure",
    "Fingerprint",
    "FixedGuess",
    "Inversion",
    "KeySearch",
    "LinearReconstruction",
    "Lookup",
    "Majority",
    "OwnAttack",
    "ParityGuess",
    "ParityMembership",
    "Posterior",
    "RareRow",
    "Reencryption",
    "ReleasedPlaces",
    "ReleasedRow",
    "SeedSearch",
    "Subtraction",
    "SupersetMatching",
    "TryInputs",
    "TwoCandidates",
    "TwoCandidatesCentred",
]
