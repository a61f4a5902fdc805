"""A game at many sizes: success, baseline and bound against a parameter, with its exponent."""

from narcissus.scale.parameter import Parameter, read_parameter
from narcissus.scale.sweep import AtValue, Scaled, scale
from narcissus.scale.texts import write
from narcissus.scale.variants import Sweep

__all__ = ["AtValue", "Parameter", "Scaled", "Sweep", "read_parameter", "scale", "write"]
