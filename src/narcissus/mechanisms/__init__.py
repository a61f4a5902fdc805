"""Mechanisms: what is released."""

from narcissus.mechanisms.marginals import MarginalQueries, NoisyMarginals
from narcissus.mechanisms.noise import GaussianNoise, LaplaceNoise, Noise, NoNoise

__all__ = [
    "GaussianNoise",
    "LaplaceNoise",
    "MarginalQueries",
    "NoNoise",
    "Noise",
    "NoisyMarginals",
]
