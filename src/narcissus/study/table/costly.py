"""Mechanisms of the user's own, or of other packages: kept as they release, and looked into once.

A release of theirs may take minutes, and may not be repeatable. So each is kept in the results
folder as it is made: an interrupted run pays for nothing twice, and a release is timed before the
run without being made again in it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from narcissus._random import child
from narcissus.mechanisms import KeptReleases, Prepared, Shelf, require_varied
from narcissus.study.table.experiment import Experiment
from narcissus.study.table.streams import PILOT
from narcissus.worlds import People

FOLDER = "releases"
"""Where releases are kept, in the results folder."""


def is_costly(mechanism: Prepared) -> bool:
    """Say whether what a mechanism is made of stands outside this package."""
    return mechanism.must_vary or bool(mechanism.assumes)


def with_kept_releases(
    experiment: Experiment, shelf: Shelf | None, identity: Mapping[str, object]
) -> Experiment:
    """Keep the releases of costly mechanisms, if there is a place for them.

    Parameters
    ----------
    experiment
        The study, ready to be played.
    shelf
        Where they are kept; None keeps nothing.
    identity
        What trials depend on: a release of another mechanism, table or code is another.
    """
    if shelf is None or not any(is_costly(s.mechanism) for s in experiment.settings):
        return experiment
    parts = {name: identity[name] for name in ("mechanism", "own code", "data", "table", "version")}
    settings = tuple(
        replace(
            setting,
            mechanism=KeptReleases(
                setting.mechanism,
                shelf,
                json.dumps([setting.label, number, parts], sort_keys=True, default=str),
            ),
        )
        for number, setting in enumerate(experiment.settings)
    )
    return replace(experiment, settings=settings)


def refuse_fixed_seeds(experiment: Experiment) -> None:
    """Ask each mechanism of the user's twice about the same people.

    Raises
    ------
    InputError
        It gives the same rows, whatever the coins: it has a fixed seed.
    """
    people = People(experiment.prior, experiment.targets)
    [codes] = people.draw(1, child(experiment.entropy, PILOT, 0)).data
    for number, setting in enumerate(experiment.settings):
        require_varied(setting.mechanism, codes, child(experiment.entropy, PILOT, 1, number))
