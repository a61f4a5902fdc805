"""What is known about a mechanism from outside: guarantees and their two views."""

from narcissus.guarantees.approximate import ApproximateDP
from narcissus.guarantees.base import Adjacency, Guarantee, require_replace_one
from narcissus.guarantees.gaussian import GaussianDP
from narcissus.guarantees.pure import PureDP

__all__ = [
    "Adjacency",
    "ApproximateDP",
    "GaussianDP",
    "Guarantee",
    "PureDP",
    "require_replace_one",
]
