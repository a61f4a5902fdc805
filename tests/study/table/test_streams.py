"""The chance of a table study: people and noise by the trial alone, attacks by all and the name."""

import pytest

from narcissus.study.table.streams import TrialStreams


def first(rng):
    return int(rng.integers(2**62))


def test_the_settings_of_a_sweep_see_the_same_people_and_shapes_of_noise():
    streams = TrialStreams(5)
    for draws in (streams, streams.decoy):
        one, other, later = draws(3, 0), draws(3, 1), draws(4, 0)
        for part in ("world", "release"):
            same = first(getattr(one, part))
            assert same == first(getattr(other, part))
            assert same != first(getattr(later, part))
    assert first(streams(3, 0).world) != first(TrialStreams(6)(3, 0).world)


@pytest.mark.parametrize("decoy", [False, True])
def test_an_attack_s_chance_does_not_depend_on_which_others_take_part(decoy):
    streams = TrialStreams(5).decoy if decoy else TrialStreams(5)
    seen = {
        (number, place, name): first(streams(number, place).attack(turn, name))
        for number in (0, 1)
        for place in (0, 1)
        for turn, name in enumerate(("gibbs", "rap"))
    }
    assert len(set(seen.values())) == 8
    assert first(streams(1, 1).attack(7, "rap")) == seen[1, 1, "rap"]


def test_no_two_parts_share_a_generator():
    streams = TrialStreams(5)
    every = [
        first(rng)
        for sources in (streams(0, 0), streams.decoy(0, 0))
        for rng in (sources.world, sources.release, sources.attack(0, "a"))
    ]
    assert len(set(every)) == 6
