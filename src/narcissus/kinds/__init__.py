"""Kinds of study, a folder each: schema, tasks, numbers, layout. The engine serves all of them."""
