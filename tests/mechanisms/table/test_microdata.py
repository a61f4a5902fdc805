"""The rows themselves: all of them, in random order."""

import numpy as np

from narcissus.mechanisms import Microdata, PublishedRows


def test_every_row_is_released_once_and_not_in_its_place(columns, people):
    prepared = PublishedRows().prepare(columns)
    (release,) = prepared.release(people[None], np.random.default_rng(1))
    assert isinstance(release, Microdata)
    assert prepared.guarantee is None
    assert sorted(release.rows.tolist()) == sorted(people.tolist())
    numbered = np.arange(60)[:, None].repeat(3, 1)
    places = [prepared.make(numbered, np.random.default_rng(s))[0, 0] for s in range(300)]
    assert len(set(places)) > 50
