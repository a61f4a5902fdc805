"""The numbers of records that hold no rows: a module for each kind."""
