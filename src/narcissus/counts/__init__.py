"""Published tables of counts: what follows from them with certainty.

`read_published` reads files as they were published, `audit_tables` derives limits of cells, data
sets and people; `play` plays the game on tables and the people that they are about.
"""

from narcissus.counts.audit import CellLimits, Disclosed, TablesAudit, audit_tables
from narcissus.counts.declared import Publication
from narcissus.counts.difference import audit_next, differences
from narcissus.counts.game import AsPublished, TablesGame, TablesPlayed, WantedSecret, play
from narcissus.counts.marks import CellKey, Rules, read_cell_key
from narcissus.counts.reading import Cell, Variable, read_published
from narcissus.counts.system import Structure, Within

__all__ = [
    "AsPublished", "Cell", "CellKey", "CellLimits", "Disclosed", "Publication", "Rules",
    "Structure", "TablesAudit", "TablesGame", "TablesPlayed", "Variable", "WantedSecret",
    "Within", "audit_next", "audit_tables", "differences", "play", "read_cell_key",
    "read_published",
]  # fmt: skip
