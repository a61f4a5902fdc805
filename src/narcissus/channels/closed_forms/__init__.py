"""Well-known mechanisms in closed form, relatively accurate where ``beta*`` is tiny.

Each says its Bayes security, capacity, LDP level and profile without any matrix, for a uniform
prior over its secrets also the Bayes risk, and gives the channel where that is finite and fits.
Source: Chatzikokolakis et al. 2023, section VI; Narcissus theory 6.
"""

from narcissus.channels.channel import ClosedForm
from narcissus.channels.closed_forms.exponential import Exponential
from narcissus.channels.closed_forms.gaussian import Gaussian
from narcissus.channels.closed_forms.geometric import Geometric
from narcissus.channels.closed_forms.laplace import Laplace
from narcissus.channels.closed_forms.planar import PlanarGeometric, PlanarLaplace
from narcissus.channels.closed_forms.randomized_response import KaryRandomizedResponse
from narcissus.channels.closed_forms.subset import Subset
from narcissus.channels.closed_forms.unary import UnaryEncoding

__all__ = [
    "ClosedForm",
    "Exponential",
    "Gaussian",
    "Geometric",
    "KaryRandomizedResponse",
    "Laplace",
    "PlanarGeometric",
    "PlanarLaplace",
    "Subset",
    "UnaryEncoding",
]
