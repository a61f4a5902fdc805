"""Studies of the kind "extraction": a release, its data, a program that claims to extract them."""
