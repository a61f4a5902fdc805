"""A game at many sizes: success, baseline and bound against a parameter, with its exponent."""

from narcissus.scale.curves import SizeCurve
from narcissus.scale.fit import Exponent, Known, exponents
from narcissus.scale.parameter import Parameter, read_parameter
from narcissus.scale.sweep import AtValue, Scaled, scale
from narcissus.scale.texts import write
from narcissus.scale.variants import Sweep

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
