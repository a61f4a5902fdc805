"""Studies of the kind "secrets": a secret in a trained model, over priors and privacy levels."""

from narcissus.kinds.secrets.kind import KIND

__all__ = ["KIND"]
