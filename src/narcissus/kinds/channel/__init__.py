"""Studies of the kind "channel"."""
