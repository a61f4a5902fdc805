"""Attacks on a release about people: guess the unknown columns of everybody in it."""

from narcissus.attacks.table.base import Guesser, OwnTableAttack, TableAttack, View
from narcissus.attacks.table.ceiling import Ceiling
from narcissus.attacks.table.factored import factored_attack
from narcissus.attacks.table.factored_own import FactoredView
from narcissus.attacks.table.learned import Learned
from narcissus.attacks.table.likelihood import Likelihood, likelihood
from narcissus.attacks.table.nearest import NearestRecord
from narcissus.attacks.table.posterior import GibbsSampling, MeanField
from narcissus.attacks.table.prior import PriorGuess
from narcissus.attacks.table.rap import RelaxedProjection
from narcissus.attacks.table.stack import Stack
from narcissus.attacks.table.training import OwnLearner, Simulated, Trainable
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
