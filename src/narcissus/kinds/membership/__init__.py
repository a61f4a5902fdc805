"""Studies of the kind "membership": scores of shadow models or of canaries, judged."""
