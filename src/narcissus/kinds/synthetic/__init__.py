"""Studies of the kind "synthetic": a given file, without its generator."""

from narcissus.kinds.synthetic.kind import KIND

__all__ = ["KIND"]
