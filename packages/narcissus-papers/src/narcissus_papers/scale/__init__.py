"""A game at many sizes: success, baseline and bound against a parameter, with its exponent."""

from narcissus_papers.scale.fit import Exponent, Known, SizeCurve, exponents
from narcissus_papers.scale.sweep import AtValue, Parameter, Scaled, Sweep, read_parameter, scale
from narcissus_papers.scale.texts import write

__all__ = [
    "AtValue",
    "Exponent",
    "Known",
    "Parameter",
    "Scaled",
    "SizeCurve",
    "Sweep",
    "exponents",
    "read_parameter",
    "scale",
    "write",
]
