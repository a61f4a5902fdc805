"""Attacks on a release about people: guess the unknown columns of everybody in it."""

from narcissus.attacks.table.base import (
    Guesser,
    OwnLearner,
    OwnTableAttack,
    PriorGuess,
    Simulated,
    TableAttack,
    Trainable,
    View,
)
from narcissus.attacks.table.ceiling import Ceiling
from narcissus.attacks.table.factored import FactoredView, factored_attack
from narcissus.attacks.table.nearest import Learned, NearestRecord, Stack
from narcissus.attacks.table.posterior import GibbsSampling, Likelihood, MeanField, likelihood
from narcissus.attacks.table.rap import RelaxedProjection
from narcissus.knowledge.columns import Targets

__all__ = [
    "Ceiling",
    "FactoredView",
    "GibbsSampling",
    "Guesser",
    "Learned",
    "Likelihood",
    "MeanField",
    "NearestRecord",
    "OwnLearner",
    "OwnTableAttack",
    "PriorGuess",
    "RelaxedProjection",
    "Simulated",
    "Stack",
    "TableAttack",
    "Targets",
    "Trainable",
    "View",
    "factored_attack",
    "likelihood",
]
