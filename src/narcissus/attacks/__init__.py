"""Attacks: what the attacker does with a release."""

from narcissus.attacks.average import Majority, Posterior
from narcissus.attacks.base import Asks, Attack, Failure, OwnAttack
from narcissus.attacks.bayes import BestPredicate, Lookup
from narcissus.attacks.ciphers import KeySearch, Reencryption
from narcissus.attacks.conversation import Conversation, ConversationOverError
from narcissus.attacks.fingerprint import Fingerprint, TwoCandidates, TwoCandidatesCentred
from narcissus.attacks.guess import FixedGuess, RareRow, ReleasedPlaces, ReleasedRow
from narcissus.attacks.matching import (
    ParityGuess,
    ParityMembership,
    Subtraction,
    SupersetMatching,
)
from narcissus.attacks.preimage import Inversion, TryInputs
from narcissus.attacks.reconstruction import (
    AskEach,
    ExhaustiveReconstruction,
    LinearReconstruction,
)
from narcissus.attacks.secret import BayesGuess
from narcissus.attacks.seeds import SeedSearch
from narcissus.attacks.singling_out import BucketHashing

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
