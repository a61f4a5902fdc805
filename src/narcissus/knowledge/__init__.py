"""Side information: what the attacker is told besides the release.

Each kind reveals ``K`` from ``(Nature, S)``, draws the fresh data set from ``Nature`` given ``K``,
and, under the Tardos prior, says how surprising a row still is once ``K`` is known (Kaplan et al.
2025, Definitions 4.1, 4.3 and 4.4). A kind that cannot be conditioned on in a world says so before
any trial.
"""

from narcissus.knowledge.base import Knowledge, refine
from narcissus.knowledge.candidates import Candidates
from narcissus.knowledge.columns import OtherColumns, OtherSecrets
from narcissus.knowledge.factored import FactoredColumns, FactoredTargets
from narcissus.knowledge.nature import Hidden, Rates
from narcissus.knowledge.rows import KnownRows
from narcissus.knowledge.superset import Hiding
from narcissus.knowledge.told import Told

__all__ = [
    "Candidates",
    "FactoredColumns",
    "FactoredTargets",
    "Hidden",
    "Hiding",
    "Knowledge",
    "KnownRows",
    "OtherColumns",
    "OtherSecrets",
    "Rates",
    "Told",
    "refine",
]
