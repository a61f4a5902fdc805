"""Studies of the kind "game": what can be proved of a statement, what was played, one verdict."""
