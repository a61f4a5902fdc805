"""A release that was made: read back as it was made, and refused where it is another."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from narcissus.errors import InputError
from narcissus.kinds.table.kind import prepare
from narcissus.kinds.table.published import read_published
from narcissus.study import load_study


def loaded(path):
    made = load_study(path)
    return made.settings, prepare(made.settings, made.folder, entropy=0)


@pytest.fixture
def published(study, counts_of):
    """Give a study of two unknown columns with the exact counts of its table as its release."""
    frame = pd.read_csv("people.csv", dtype=str)
    counts = counts_of(frame, ["ill", "town"], 3)
    counts.sample(frac=1, random_state=1).to_csv("counts.csv", index=False)
    path = study(
        threat={"unknown": ["ill", "town"]},
        mechanism={"k": 3, "epsilon": None, "scale": 0},
        release={"path": "counts.csv"},
    )
    return path, counts


def test_counts_are_read_into_the_cells_of_the_mechanism(published):
    path, _ = published
    settings, experiment = loaded(path)
    release, digest = read_published(settings, experiment, Path("counts.csv"))
    assert (release.cells == experiment.queries.counts(experiment.table.codes)).all()
    assert len(digest) == 64
    with pytest.raises(ValueError, match="read-only"):
        release.cells[0] = 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda c: c.iloc[1:], "lacks 1 of"),
        (lambda c: c.assign(extra="x"), "not in the data: extra"),
        (lambda c: c.drop(columns="count"), "column `count`"),
        (lambda c: c.replace({"job": {"cook": "baker"}}), "`job` .* not in the data: .*baker"),
        (lambda c: c[c["age"].isna()], "has no table of"),
        (
            lambda c: c.assign(count=["many", *c["count"].astype(str)[1:]]),
            "no number: a value that",
        ),
        (lambda c: c.assign(count=["", *c["count"].astype(str)[1:]]), "withholds"),
        (lambda c: c.assign(count=c["count"] + 0.5), "cells that cannot come from"),
        (lambda c: pd.concat([c, c.iloc[:1]]), "has a cell twice"),
        (lambda c: pd.concat([c, c.iloc[:1].assign(sex=None, job=None, age=None)]), "other tables"),
    ],
)
def test_counts_of_something_else_are_refused(published, change, said):
    path, counts = published
    settings, experiment = loaded(path)
    change(counts).to_csv("counts.csv", index=False)
    with pytest.raises(InputError, match=said):
        read_published(settings, experiment, Path("counts.csv"))


def test_one_release_has_one_level_and_is_there(study):
    sweep, experiment = loaded(study(mechanism={"epsilon": [1.0, 2.0]}))
    with pytest.raises(InputError, match="one level"):
        read_published(sweep, experiment, Path("people.csv"))
    one, experiment = loaded(study())
    with pytest.raises(InputError, match="no such file"):
        read_published(one, experiment, Path("nothing.csv"))


def test_noise_is_read_as_it_was_added(study, counts_of):
    settings, experiment = loaded(study(mechanism={"k": 2, "epsilon": 2.0}))
    counts = counts_of(pd.read_csv("people.csv", dtype=str), ["ill"], 2)
    noise = np.random.default_rng(1).normal(0, 3, len(counts))
    counts.assign(count=counts["count"] + noise).to_csv("noisy.csv", index=False)
    release, _ = read_published(settings, experiment, Path("noisy.csv"))
    exact = experiment.queries.counts(experiment.table.codes)
    assert np.sort(release.cells - exact) == pytest.approx(np.sort(noise))
    assert release.noise == experiment.settings[0].mechanism.noise


def test_what_the_rule_cannot_have_made_is_refused(study, counts_of):
    """Attacks would find no secrets that fit and fall back on the guess: as if without risk."""
    exact = counts_of(pd.read_csv("people.csv", dtype=str), ["ill"], 2)
    rounded = exact.assign(count=(2 * exact["count"] + 5) // 10 * 5)
    path = study(mechanism={"name": "rounding", "epsilon": None, "k": 2, "base": 5},
                 attacks=None)  # fmt: skip
    settings, experiment = loaded(path)
    rounded.to_csv("counts.csv", index=False)
    release, _ = read_published(settings, experiment, Path("counts.csv"))
    assert sorted(release.cells) == sorted(rounded["count"])
    for wrong in (7, 10_000, None):
        rounded.assign(count=[wrong, *rounded["count"][1:]]).to_csv("counts.csv", index=False)
        with pytest.raises(InputError, match=r"1 cells that cannot come from .* multiples of 5"):
            read_published(settings, experiment, Path("counts.csv"))


@pytest.mark.parametrize(
    ("sets", "coarser", "said"),
    [
        ([["sex", "ill"], ["sex", "ill"]], {}, "lists twice"),
        ([["some", "ill"]], {"some": {"of": "sex", "groups": {"one": ["m", "f"]}}}, "coarser"),
    ],
)
def test_tables_that_a_file_cannot_tell_apart_are_refused(study, counts_of, sets, coarser, said):
    mechanism = {"name": "tables", "k": None, "sets": sets, "coarser": coarser}
    settings, experiment = loaded(study(mechanism=mechanism))
    counts_of(pd.read_csv("people.csv", dtype=str), ["ill"], 2).to_csv("counts.csv", index=False)
    with pytest.raises(InputError, match=said):
        read_published(settings, experiment, Path("counts.csv"))


def test_a_file_that_never_ends_or_is_too_large_is_not_read(study):
    settings, experiment = loaded(study())
    os.mkfifo("pipe.csv")
    with pytest.raises(InputError, match="pipe or a device"):
        read_published(settings, experiment, Path("pipe.csv"))
    with Path("large.csv").open("wb") as file:
        file.truncate(2**40)  # takes no room
    with pytest.raises(InputError, match=r"at most .* are read"):
        read_published(settings, experiment, Path("large.csv"))
