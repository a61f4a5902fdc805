"""Merging of groups of few real people, whose numbers would be about each of them.

The rule is in `narcissus.study.merging`; here it is applied to a study that was played.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus.study.merging import SMALLER, Parts, merge, numbered, tells_of_fewer
from narcissus.study.results.base import MergedGroups
from narcissus.study.table.crowd import Groups
from narcissus.study.table.experiment import Experiment
from narcissus.study.table.streams import TrialStreams
from narcissus.tables import Table
from narcissus.worlds import RealRows

Trial = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class ShownGroups(Groups):
    """The groups of a study, some of them merged, some left out."""

    parts_of: Parts  # for each group shown, the groups of the study that it merges
    said: MergedGroups  # its description in the record

    @property
    def names(self) -> list[tuple[str, str]]:
        names = super().names
        return [
            names[part[0]] if len(part) == 1 else (names[part[0]][0], SMALLER)
            for part in self.parts_of
        ]

    def by_secret(self, unknown: Sequence[int]) -> NDArray[np.bool_]:
        return super().by_secret(unknown)[self._first]

    def parts(self, table: Table) -> NDArray[np.float64]:
        found = super().parts(table)
        return np.array([found[list(part)].sum() for part in self.parts_of])

    @property
    def by_others(self) -> NDArray[np.bool_]:
        return super().by_others[self._first]

    @property
    def _first(self) -> list[int]:
        return [part[0] for part in self.parts_of]


def shown(
    experiment: Experiment, trials: Mapping[str, Trial]
) -> tuple[Experiment, Mapping[str, Trial]]:
    """Merge groups of too few real people, in an experiment and in its trials.

    Of people drawn from the prior nothing is merged: their numbers depend on real people through
    the prior alone. The members of a group by how unusual the secret is, or by how often the
    release singles them out, change between trials of drawn rows: there the largest number of
    members in one trial counts.
    """
    groups, least = experiment.groups, experiment.least_group
    if not experiment.real_rows or not groups.names or isinstance(groups, ShownGroups):
        return experiment, trials
    own = [trials[f"{trial}/0"]["groups"] for trial in range(experiment.trials)]
    people = _played(experiment)
    known = _known_labels(experiment, people)
    merged: dict[str, int] = {}
    left_out: list[str] = []
    beside: list[NDArray[np.int64]] = []
    parts: list[tuple[int, ...]] = []
    end = 0
    for count, labels in zip(groups.counts, known, strict=True):
        start, end = end, end + count
        by = groups.names[start][0]
        sizes = np.max(own, axis=0)[start:end] if labels is None else _sizes(labels, count)
        found = merge(sizes, least)
        shown_as = None if labels is None else numbered(found, count)[labels]
        if not found or tells_of_fewer(shown_as, beside, least):
            left_out.append(by)
            continue
        beside += [] if shown_as is None else [shown_as]
        if few := sum(len(part) for part in found if len(part) > 1):
            merged[by] = few
        parts += [tuple(start + group for group in part) for part in found]
    said = MergedGroups(least=least, merged=merged, left_out=tuple(left_out), people=len(people))
    made = ShownGroups(groups.columns, groups.unusual, groups.singled_out, tuple(parts), said)
    return replace(experiment, groups=made), {
        key: _merged(trial, made.parts_of) for key, trial in trials.items()
    }


def _known_labels(
    experiment: Experiment, people: NDArray[np.int32]
) -> list[NDArray[np.integer] | None]:
    """Return the group of each person for each division; None if it changes between trials."""
    if experiment.everybody:
        return [own for own, _ in experiment.crowd(0).members.partitions]
    columns: list[NDArray[np.integer] | None] = [
        people[:, column] for column, _, _ in experiment.groups.columns
    ]
    return [*columns, *[None] * (len(experiment.groups.counts) - len(columns))]


def _sizes(labels: NDArray[np.integer], count: int) -> NDArray[np.float64]:
    return np.bincount(labels, minlength=count).astype(np.float64)


def _played(experiment: Experiment) -> NDArray[np.int32]:
    """Return the rows of all different people who were ever played, as value numbers."""
    world = experiment.seats[0].game.world
    assert isinstance(world, RealRows)
    trials = 1 if experiment.everybody else experiment.trials
    streams = (TrialStreams(experiment.entropy)(trial, 0).world for trial in range(trials))
    drawn = np.zeros(world.people, dtype=bool)
    for rng in streams:
        drawn[world.numbers(rng)] = True
    return world.rows(np.flatnonzero(drawn))


def _merged(trial: Trial, parts: Parts) -> dict[str, NDArray[Any]]:
    return {
        name: np.array([array[list(part)].sum(axis=0) for part in parts])
        if _is_by_group(name)
        else array
        for name, array in trial.items()
    }


def _is_by_group(name: str) -> bool:
    last = name.rpartition("/")[2]
    return last in {"groups", "strangers"} or last.startswith("group_")
