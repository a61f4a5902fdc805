"""Tables of people as data: value codes with their labels, read from a file or a package."""

from narcissus.tables.bins import Bins
from narcissus.tables.counted import CountedTable
from narcissus.tables.read import read_table
from narcissus.tables.table import Table

__all__ = ["Bins", "CountedTable", "Table", "read_table"]
