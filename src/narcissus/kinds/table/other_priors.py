"""Other priors of the package where the study's own is refuted: which of them the rows allow.

A prior passes if no held-out guess refutes it, and if it is not surer than it may be: fitted to
other rows, its best guess gets what it claims, as far as chance explains.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from narcissus._random import child
from narcissus.bounds.binomial import PoissonBinomial
from narcissus.errors import NarcissusError
from narcissus.kinds.table.experiment import Experiment
from narcissus.kinds.table.found import OtherPrior
from narcissus.kinds.table.held_out import (
    FITTED,
    SURE,
    RowGuesses,
    best_chances,
    drawn_rows,
    scored,
)
from narcissus.kinds.table.population import HELD_OUT
from narcissus.observer import SILENT, Observer
from narcissus.priors import fit_bayesian_network
from narcissus.tables import Table
from narcissus.worlds.base import Draw

STRONGER = ((2, "aic"), (3, "bic"), (3, "aic"), (4, "bic"), (4, "aic"))
"""Parents and score of networks with more edges than the default, those with fewer first."""
FAMILIES = 60_000
"""Sets of parents above which a network takes too long to be tried."""


def other_priors(
    experiment: Experiment, attempts: tuple[RowGuesses, ...], observer: Observer = SILENT
) -> tuple[OtherPrior, ...]:
    """Try stronger networks in turn, up to the first that passes, which is then the last."""
    tried: list[OtherPrior] = []
    for parents, score in STRONGER:
        columns = experiment.table.columns
        if parents >= columns or columns * math.comb(columns - 1, parents) > FAMILIES:
            continue
        observer.start("trying another prior", 0)
        options = f'parents = {parents}, score = "{score}"'
        passes = is_allowed(experiment, attempts, parents, score)
        tried.append(OtherPrior(name="bayesian-network", options=options, passes=passes))
        if passes:
            break
    return tuple(tried)


def is_allowed(
    experiment: Experiment, attempts: tuple[RowGuesses, ...], parents: int, score: str
) -> bool:
    """Whether no guess refutes a network, and its own guess gets what the network claims."""
    how: dict[str, Any] = {"parents": parents, "score": score}
    try:
        whole = fit_bayesian_network(experiment.table, **how)
        if any(guess.refutes for guess in scored(replace(experiment, prior=whole), attempts)):
            return False
        return not _is_too_sure(experiment, how)
    except NarcissusError:  # too large a network, or too large an answer
        return False


def _is_too_sure(experiment: Experiment, how: Mapping[str, Any]) -> bool:
    """Whether a network gets fewer of the rows it was not fitted to than it claims."""
    rows = drawn_rows(experiment)
    old = experiment.table
    half = min(len(rows) // 2, FITTED)
    fitted = Table(old.names, old.labels, old.ordered, rows[:half], old.values)
    test_rows = rows[half : half + len(rows) // 4]
    variant = replace(experiment, prior=fit_bayesian_network(fitted, **how))
    side: Any = variant.side
    [targets] = side.reveal(None, Draw(test_rows[None]), child(variant.entropy, HELD_OUT, 1))
    hits = targets.success.score(targets.secrets(test_rows), targets.best_guess)
    claimed = best_chances(targets)
    if targets.success.by_column:
        slack = math.sqrt(-math.log(1 - SURE) / (2 * len(test_rows)))
        return float(np.mean(hits)) < float(claimed.mean()) - slack
    reached = round(float(np.sum(hits)))
    tails = PoissonBinomial(claimed).tails()
    return bool(1 - tails[min(reached + 1, len(tails) - 1)] < 1 - SURE)
