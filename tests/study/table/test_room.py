"""What a process holds is reckoned from sizes, and what no machine holds is refused."""

import pytest

from narcissus.attacks.table import GibbsSampling, MeanField, PriorGuess
from narcissus.errors import TooLargeError
from narcissus.mechanisms import MarginalQueries, ProtectedCounts
from narcissus.study.table import room
from narcissus.success import exact_match

QUERIES = MarginalQueries((5,) * 15 + (24,), (15,), 3)
SUCCESS = exact_match((24,))


def test_it_grows_with_the_people_and_with_what_attacks_look_at():
    small, large = (room.room(QUERIES, SUCCESS, n, [PriorGuess()]) for n in (10**4, 10**6))
    assert 50 < large / small < 100  # the tables are the same
    by_types = room.room(QUERIES, SUCCESS, 10**6, [PriorGuess(), MeanField()])
    by_cells = room.room(QUERIES, SUCCESS, 10**6, [MeanField(), GibbsSampling()])
    assert large < by_types < 2e9 < by_cells
    assert by_types < room.room(QUERIES, SUCCESS, 10**6, [MeanField()], ProtectedCounts)


def test_a_million_people_with_their_prior_alone_fit_into_a_gigabyte():
    assert 0.4e9 < room.room(QUERIES, SUCCESS, 10**6, [PriorGuess()]) < 1e9


def test_what_one_process_cannot_hold_is_refused_by_its_size(monkeypatch):
    monkeypatch.setattr(room, "machine_memory", lambda: 2**30)
    room.require_room(QUERIES, SUCCESS, 10**5, [MeanField()])
    says = (
        r"^1,000,000 people with 24 joint values .* in 105 tables, need about \d+\.\d GB, and "
        r"there are 1\.1 GB: take fewer targets"
    )
    with pytest.raises(TooLargeError, match=says):
        room.require_room(QUERIES, SUCCESS, 10**6, [GibbsSampling()])
