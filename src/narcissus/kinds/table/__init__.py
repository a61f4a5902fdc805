"""Studies of the kind "table": audits of releases about the people of a table."""

from narcissus.kinds.table.kind import KIND

__all__ = ["KIND"]
