"""What a release says near a person: numbers for each value that the person may have.

They are made of what everybody may know: the prior, the release and the people's known columns.
Each table is asked what it says of the person when everybody else is as the prior has them
(`TableFactor.message`); what the tables say is added up by how many people share the cell.
"""

from __future__ import annotations

import numpy as np

from narcissus.attacks.table.base import Floats, View
from narcissus.attacks.table.nearest import Votes, votes_of
from narcissus.attacks.table.propagation import USUAL_SCALE, reader_of, table_factors
from narcissus.knowledge.columns import Targets
from narcissus.mechanisms import Microdata

LEAST = -15.0  # of a log prior: what is less likely is as good as impossible
CROWDS = (1, 3, 10, 50)  # people of a group: up to one, three, ...
SURE = 6.0  # log odds above which a table settles a value


def features_of(view: View) -> Floats:
    """Return the numbers of each value of each person, shape (n, values, features)."""
    targets = view.targets
    parts = [np.maximum(targets.log_prior, LEAST)[None], cell_sums(view)]
    if isinstance(view.release, Microdata):
        parts.append(row_scores(targets, votes_of(targets, view.release.rows)))
    return np.moveaxis(np.concatenate(parts), 0, -1)


def cell_sums(view: View) -> Floats:
    """Add up what the tables say, shape (8, n, values).

    Five sums by the size of the group, one of the tables' votes, whatever their strength, and
    the numbers of tables that settle for a value and against it.
    """
    targets = view.targets
    sums = np.zeros((len(CROWDS) + 4, *targets.prior.shape))
    for table in table_factors(targets, reader_of(view, USUAL_SCALE)):
        said = table.message(table.part(targets.prior), 1.0)
        said -= said.mean(axis=1, keepdims=True)
        crowd = np.searchsorted(CROWDS, table.people)[table.group]
        sums[crowd, np.arange(targets.people)] += table.whole(said)
        sums[-3] += table.whole(np.tanh(said))
        sums[-2] += table.whole((said > SURE).astype(np.float64))
        sums[-1] += table.whole((said < -SURE).astype(np.float64))
    return sums


def row_scores(targets: Targets, votes: Votes) -> Floats:
    """Return how much commoner a value is among the rows like a person, shape (5, n, values).

    Logarithms of shares relative to the prior at each distance, one prior row added; and the
    value's share of the nearest rows.
    """
    prior = np.maximum(targets.prior, np.exp(LEAST))
    found = [
        np.log((at + prior) / ((at.sum(axis=1, keepdims=True) + 1) * prior)) for at in votes.at
    ]
    total = np.maximum(votes.nearest.sum(axis=1, keepdims=True), 1)
    return np.stack([*found, votes.nearest / total])
