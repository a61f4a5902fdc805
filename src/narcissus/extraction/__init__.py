"""Evidence that a fixed model gives up its data: programs, complexity, relations, attacks."""
