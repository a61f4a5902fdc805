"""Attacks on noisy marginals of a table: guess the unknown columns of everybody in it."""

from narcissus.attacks.table.base import Attack, Targets, View
from narcissus.attacks.table.ceiling import Ceiling
from narcissus.attacks.table.likelihood import Likelihood, likelihood
from narcissus.attacks.table.posterior import GibbsSampling, MeanField
from narcissus.attacks.table.prior import PriorGuess
from narcissus.attacks.table.rap import RelaxedProjection

__all__ = [
    "Attack",
    "Ceiling",
    "GibbsSampling",
    "Likelihood",
    "MeanField",
    "PriorGuess",
    "RelaxedProjection",
    "Targets",
    "View",
    "likelihood",
]
