"""The page: a study of a table, step by step, in a browser on the steward's own machine."""
