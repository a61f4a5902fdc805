"""Studies of the kind "language-model": a language model as a release, and its documents."""
