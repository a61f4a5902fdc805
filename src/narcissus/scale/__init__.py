"""A game at many sizes: success, baseline and bound against a parameter, with its exponent."""

from narcissus.scale.fit import Exponent, Known, SizeCurve, exponents
from narcissus.scale.sweep import AtValue, Scaled, scale
from narcissus.scale.texts import write
from narcissus.scale.variants import Parameter, Sweep, read_parameter

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
