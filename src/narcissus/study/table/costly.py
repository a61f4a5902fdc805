"""Mechanisms of the user or of other packages: releases are kept, fixed seeds are refused.

One of their releases may take minutes, and may not be repeatable. So each is kept in the results
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
    """Whether parts of a mechanism are defined outside this package."""
    return mechanism.must_vary or bool(mechanism.assumes)


def with_kept_releases(
    experiment: Experiment, shelf: Shelf | None, identity: Mapping[str, object]
) -> Experiment:
    """Keep the releases of costly mechanisms on a shelf; None keeps nothing.

    ``identity`` is what trials depend on: another mechanism, table or code has other releases.
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
    """Run each of the user's mechanisms twice on the same people; refuse equal outputs.

    Equal rows whatever the coins mean a fixed seed, which raises InputError.
    """
    people = People(experiment.prior, experiment.targets)
    [codes] = people.draw(1, child(experiment.entropy, PILOT, 0)).data
    for number, setting in enumerate(experiment.settings):
        require_varied(setting.mechanism, codes, child(experiment.entropy, PILOT, 1, number))
