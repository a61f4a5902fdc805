"""Prior knowledge of the attacker: distributions of records."""

from narcissus.priors.base import RecordPrior
from narcissus.priors.bayesian_network import BayesianNetwork, fit_bayesian_network
from narcissus.priors.empirical import (
    EmpiricalRows,
    IndependentColumns,
    fit_empirical,
    fit_independent,
    read_priors,
)
from narcissus.priors.factors import Factored, Factors
from narcissus.priors.secrets import Zipf

__all__ = [
    "BayesianNetwork",
    "EmpiricalRows",
    "Factored",
    "Factors",
    "IndependentColumns",
    "RecordPrior",
    "Zipf",
    "fit_bayesian_network",
    "fit_empirical",
    "fit_independent",
    "read_priors",
]
