"""Studies of the kind "synthetic": a given file, without its generator."""
