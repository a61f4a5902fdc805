"""Studies of the kind "synthetic": a given file, without its generator."""

from narcissus.study.synthetic.kind import KIND

__all__ = ["KIND"]
