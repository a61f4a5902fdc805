"""The internal side file: what happened to single people. Never part of a record or report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from narcissus._files import write_atomically
from narcissus._visible import csv_text
from narcissus.game.block import Round
from narcissus.game.executor import Executor, soon
from narcissus.observer import Observer
from narcissus.study.table.experiment import Experiment

MAX_ROWS = 200_000


def write_internal(
    path: Path, experiment: Experiment, executor: Executor, observer: Observer
) -> None:
    """Write a CSV with one row for each person, setting and attack of the first trials.

    At most 200,000 rows: as many trials as fit. The trials are played again from their seeds, so
    that the store of trials itself holds aggregates only.
    """
    settings = len(experiment.settings)
    per_trial = experiment.targets * settings * len(experiment.attacks)
    count = max(1, min(experiment.trials, MAX_ROWS // max(1, per_trial)))
    names = [experiment.table.names[c] for c in experiment.queries.unknown]
    head = ["trial", "person", "setting", "attack", "prior_of_secret", "prior_of_guess", "right"]
    head += [f"{what}_{name}" for what in ("true", "guess") for name in names]
    keys = experiment.keys()[: count * settings]
    rows = chain.from_iterable(soon(executor, _Again(experiment), keys, observer))
    write_atomically(path, csv_text(chain([head], rows)), private=True)


@dataclass(frozen=True)
class _Again:
    """Plays a trial again by its key, and gives its rows."""

    experiment: Experiment

    def __call__(self, key: str) -> list[list[Any]]:
        trial, number = map(int, key.split("/"))
        return list(_rows(self.experiment, self.experiment.round(trial, number)))


def _rows(experiment: Experiment, played: Round) -> Iterator[list[Any]]:
    """Give a row for each attack and person of a trial."""
    [targets], [people] = played.known, played.draw.data
    secrets, every = targets.secrets(people), range(experiment.targets)
    true, chances = people[:, list(experiment.queries.unknown)], targets.secret_chance(secrets)
    for name, turn in played.turns.items():
        [attempt], [hits], [chance] = turn.attempts.values, turn.success, turn.baseline
        said = targets.success.split_guess(attempt)
        for i in every:
            row = [played.number, i, played.seat.name, name]
            right = float(hits[i]) if targets.success.by_column else int(hits[i])
            row += [chances[i], chance[i], right]
            for codes in (true[i], said[i]):
                row += [said_label(experiment, c, int(v)) for c, v in enumerate(codes)]
            yield row


def said_label(experiment: Experiment, column: int, guess: int) -> str:
    """Name a guess of an unknown column: a label, or the two that it lies between."""
    labels = experiment.table.labels[experiment.queries.unknown[column]]
    if guess < len(labels):
        return labels[guess]
    numbers = experiment.success.windows[column].numbers
    after = int(np.searchsorted(numbers[: len(labels)], numbers[guess]))
    return f"{numbers[guess]:g} (between {labels[after - 1]} and {labels[after]})"
