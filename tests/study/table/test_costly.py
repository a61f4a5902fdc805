"""Mechanisms of somebody else: which they are, what is kept of them, and fixed seeds."""

from pathlib import Path

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.mechanisms import KeptReleases, Shelf
from narcissus.study.table.costly import (
    FOLDER,
    is_costly,
    refuse_fixed_seeds,
    with_kept_releases,
)

IDENTITY = {n: n for n in ("mechanism", "own code", "data", "table", "version")}
OWN = """
def varied(frame, rng):
    with open("asked", "a") as file:
        file.write("x")
    return frame.sample(frac=1.0, replace=True, random_state=rng)

def fixed(frame):
    return frame.sample(frac=1.0, replace=True, random_state=1)
"""


@pytest.fixture
def own(ready, study):
    """Give a function from the name of a user's function to an experiment that releases by it."""
    study()  # makes the folder
    Path("own.py").write_text(OWN)

    def make(name):
        return ready(
            mechanism={"name": f"own:{name}", "k": None, "epsilon": None},
            attacks={"prior": {}},
        )

    return make


def test_only_what_stands_outside_the_package_is_costly(ready, own):
    assert not is_costly(ready().settings[0].mechanism)
    rounded = ready(mechanism={"name": "rounding", "base": 5, "epsilon": None})
    assert not is_costly(rounded.settings[0].mechanism)
    assert is_costly(own("varied").settings[0].mechanism)


def test_releases_are_kept_where_there_is_a_folder_and_they_are_costly(ready, own, tmp_path):
    cheap = ready()
    assert with_kept_releases(cheap, Shelf(tmp_path), IDENTITY) is cheap
    costly = own("varied")
    assert with_kept_releases(costly, None, IDENTITY) is costly
    kept = with_kept_releases(costly, Shelf(tmp_path / "results" / FOLDER), IDENTITY)
    assert isinstance(kept.settings[0].mechanism, KeptReleases)
    first = kept.round(0, 0).release[0].rows
    asked = Path("asked").read_text()
    again = with_kept_releases(own("varied"), Shelf(tmp_path / "results" / FOLDER), IDENTITY)
    np.testing.assert_array_equal(again.round(0, 0).release[0].rows, first)
    assert Path("asked").read_text() == asked  # it was not made again
    assert len(list((tmp_path / "results" / FOLDER).iterdir())) == 1
    np.testing.assert_array_equal(costly.round(0, 0).release[0].rows, first)


@pytest.mark.parametrize("changed", sorted(IDENTITY))
def test_another_study_finds_none_of_them(own, tmp_path, changed):
    for identity in (IDENTITY, {**IDENTITY, changed: "other"}):
        with_kept_releases(own("varied"), Shelf(tmp_path / "results"), identity).round(0, 0)
    assert Path("asked").read_text() == "xx"


def test_a_fixed_seed_is_refused(ready, own):
    refuse_fixed_seeds(ready())
    refuse_fixed_seeds(own("varied"))
    with pytest.raises(InputError, match="fixed seed"):
        refuse_fixed_seeds(own("fixed"))
