"""Studies of the kind "table": audits of releases about the people of a table."""
