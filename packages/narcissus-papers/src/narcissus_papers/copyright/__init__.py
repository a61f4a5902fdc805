"""Studies of the kind "copyright": a work, a model that had access to it, and one that had not."""
