"""Attacks on noisy marginals of a table: guess the unknown columns of everybody in it."""

from narcissus.attacks.table.base import Guesser, OwnTableAttack, TableAttack, View
from narcissus.attacks.table.ceiling import Ceiling
from narcissus.attacks.table.likelihood import Likelihood, likelihood
from narcissus.attacks.table.posterior import GibbsSampling, MeanField
from narcissus.attacks.table.prior import PriorGuess
from narcissus.attacks.table.rap import RelaxedProjection
from narcissus.knowledge.columns import Targets

__all__ = [
    "Ceiling",
    "GibbsSampling",
    "Guesser",
    "Likelihood",
    "MeanField",
    "OwnTableAttack",
    "PriorGuess",
    "RelaxedProjection",
    "TableAttack",
    "Targets",
    "View",
    "likelihood",
]
