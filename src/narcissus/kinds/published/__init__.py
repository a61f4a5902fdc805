"""Studies of published tables of counts."""
