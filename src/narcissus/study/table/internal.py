"""The internal side file: what happened to single people. Never part of a record or report."""

from __future__ import annotations

import csv
import io
import zlib
from pathlib import Path

import numpy as np

from narcissus._random import child
from narcissus.attacks.table import View
from narcissus.mechanisms import NoisyMarginals
from narcissus.study.record import write_atomically
from narcissus.study.table.experiment import ATTACK, NOISE, Experiment

MAX_ROWS = 200_000


def write_internal(path: Path, experiment: Experiment) -> None:
    """Write a CSV with one row for each person, setting and attack of the first trials.

    At most 200,000 rows: as many trials as fit. The trials are played again from their seeds, so
    that the store of trials itself holds aggregates only.
    """
    per_trial = experiment.targets * len(experiment.settings) * len(experiment.attacks)
    count = max(1, min(experiment.trials, MAX_ROWS // max(1, per_trial)))
    names = [experiment.table.names[c] for c in experiment.queries.unknown]
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(
        ["trial", "person", "setting", "attack", "prior_of_secret", "prior_of_guess", "right"]
        + [f"true_{n}" for n in names]
        + [f"guess_{n}" for n in names]
    )
    for trial in range(count):
        people = experiment.people(trial)
        targets = experiment.targets_of(people)
        secrets = experiment.queries.joint(people)
        every = np.arange(experiment.targets)
        chances = targets.success.chances(targets.prior)
        for number, setting in enumerate(experiment.settings):
            release = NoisyMarginals(experiment.queries, setting.noise).release(
                people, rng=child(experiment.entropy, NOISE, trial)
            )
            for name, attack, trials in experiment.attacks:
                if trial >= trials:
                    continue
                view = View(targets, setting.noise, release, secrets if attack.informed else None)
                rng = child(experiment.entropy, ATTACK, trial, number, zlib.crc32(name.encode()))
                attempt = attack.guess(view, rng=rng)
                hits = targets.success.score(secrets, attempt)
                true, said = experiment.queries.split(secrets), targets.success.split_guess(attempt)
                for i in every:
                    row = [trial, int(i), setting.label, name]
                    row += [targets.prior[i, secrets[i]], chances[i, attempt[i]], int(hits[i])]
                    for codes in (true[i], said[i]):
                        row += [said_label(experiment, c, int(v)) for c, v in enumerate(codes)]
                    writer.writerow(row)
    write_atomically(path, text.getvalue())


def said_label(experiment: Experiment, column: int, guess: int) -> str:
    """Name a guess of an unknown column: a label, or the two that it lies between."""
    labels = experiment.table.labels[experiment.queries.unknown[column]]
    if guess < len(labels):
        return labels[guess]
    numbers = experiment.success.windows[column].numbers
    after = int(np.searchsorted(numbers[: len(labels)], numbers[guess]))
    return f"{numbers[guess]:g} (between {labels[after - 1]} and {labels[after]})"
