"""Studies of the kind "secrets": a secret in a trained model, over priors and privacy levels."""
