"""Pages of what commands about channels found, without a record: one function a kind of result."""
