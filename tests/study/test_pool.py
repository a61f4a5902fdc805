"""What a store holds is not played again, and what is played is stored as it ends."""

import numpy as np
import pytest

from narcissus.game.executor import Serial
from narcissus.study.pool import play_all, play_in_order
from narcissus.study.store import TrialStore

KEYS = [str(n) for n in range(5)]


def squared(key):
    return {"square": np.array(int(key) ** 2)}


def test_all_are_played_once_and_given_in_the_order_of_the_keys(two, hears):
    found = play_all(squared, ["3", "1", "2"], store=None, executor=two, what="it", observer=hears)
    assert [(key, int(made["square"])) for key, made in found.items()] == [
        ("3", 9), ("1", 1), ("2", 4),
    ]  # fmt: skip
    assert (hears.starts, hears.steps) == ([("it", 3, 0)], 3)


@pytest.fixture(params=[1, 2])
def who(request, two):
    return Serial() if request.param == 1 else two


def test_what_the_store_holds_is_not_played_again(tmp_path, hears, who):
    with TrialStore(tmp_path, {"a": 1}) as store:
        for key in ("0", "3"):
            store.put(key, {"square": np.array(-1)})
        found = play_all(squared, KEYS, store=store, executor=who, what="it", observer=hears)
        assert [int(made["square"]) for made in found.values()] == [-1, 1, 4, -1, 16]
        assert store.keys() == set(KEYS)
    assert hears.starts == [("it", 5, 2)]
    assert hears.notes == ["continuing: 2 of 5 trials were already played"]


def test_who_stops_looking_has_seen_the_same_first_ones(tmp_path, who):
    with TrialStore(tmp_path, {"a": 1}) as store:
        store.put("1", {"square": np.array(-1)})
        looking = play_in_order(squared, KEYS, store=store, executor=who)
        seen = [int(next(looking)["square"]) for _ in range(3)]
        looking.close()
        assert seen == [0, -1, 4]
        assert {"0", "1", "2"} <= store.keys()


def test_nothing_is_played_before_it_is_asked_for():
    asked = []

    def play(key):
        asked.append(key)
        return squared(key)

    looking = play_in_order(play, KEYS, store=None, executor=Serial())
    assert asked == []
    next(looking)
    assert asked == ["0"]
    looking.close()
