"""Published tables of counts: what follows from them with certainty.

`read_published` reads files as they were published, `audit_tables` derives limits of cells, data
sets and people; `play` plays the game on tables and the people that they are about.
"""

from narcissus.counts.audit import CellLimits, Disclosed, TablesAudit, audit_tables
from narcissus.counts.columns import ColumnUse
from narcissus.counts.compare import RulesCompared, compare_rules
from narcissus.counts.contributions import (
    Contribution,
    SensitiveCell,
    SensitivityRules,
    audit_contributions,
    read_contributions,
)
from narcissus.counts.declared import Publication, name_files, read_published
from narcissus.counts.difference import audit_next, differences, small_groups
from narcissus.counts.game import TablesGame, TablesPlayed, WantedSecret, play
from narcissus.counts.groups import LARGEST_SMALL, SizeRule
from narcissus.counts.layout import PublishedLayout
from narcissus.counts.marks import CellKey, Rules, read_cell_key
from narcissus.counts.reading import Cell, Variable
from narcissus.counts.remade import AsPublished
from narcissus.counts.system import Structure, Within
from narcissus.counts.tables import PublishedTables, with_own_labels
from narcissus.counts.unmarked import threshold

__all__ = [
    "LARGEST_SMALL",
    "AsPublished",
    "Cell",
    "CellKey",
    "CellLimits",
    "ColumnUse",
    "Contribution",
    "Disclosed",
    "Publication",
    "PublishedLayout",
    "PublishedTables",
    "Rules",
    "RulesCompared",
    "SensitiveCell",
    "SensitivityRules",
    "SizeRule",
    "Structure",
    "TablesAudit",
    "TablesGame",
    "TablesPlayed",
    "Variable",
    "WantedSecret",
    "Within",
    "audit_contributions",
    "audit_next",
    "audit_tables",
    "compare_rules",
    "differences",
    "name_files",
    "play",
    "read_cell_key",
    "read_contributions",
    "read_published",
    "small_groups",
    "threshold",
    "with_own_labels",
]
