"""The section about a release that was made: counts in words and in a table, and nothing else."""

import pytest

from narcissus.kinds.table.layout import own_section
from narcissus.report import page_of
from narcissus.report.page import Grid, Text

OWN = {
    "path": "made/counts.csv",
    "digest": "d",
    "people": 12000,
    "guessed": 7000,
    "by_the_prior": 71.234,
    "attacks": {
        "prior": {"recovered": 7000, "from_decoy": 7000},
        "stack": {"recovered": 9000, "from_decoy": 6600},
        "my_own": {"recovered": 8999, "from_decoy": 6000},
    },
}


@pytest.fixture
def section(single):
    """Give a function from changes of what was recovered to its section, and the words in it."""

    def make(**changes):
        record = single(own_release=OWN | changes)
        [found] = own_section(record.detail.own_release, in_part=False)
        assert found in page_of(record).sections
        text, grid = found.blocks
        assert (type(text), type(grid)) == (Text, Grid)
        return found.title, list(text.paragraphs), grid

    return make


def test_without_a_release_there_is_no_section(single):
    assert own_section(single().detail.own_release, in_part=False) == []


def test_it_is_said_what_was_attacked_and_what_could_be_guessed(section):
    title, (what, guessed, _), _ = section()
    assert title == "The release itself"
    assert what.startswith("The file made/counts.csv was attacked as it stands")
    assert "about the 12,000 people of the table" in what
    assert "nothing is sampled" in what
    assert "the best guess is right about 7,000 of 12,000" in guessed
    assert "it would be about 71.2." in guessed
    assert "A decoy is a release of other secrets by the same mechanism" in guessed


def test_the_attack_that_recovers_most_is_named_with_what_it_owes_to_the_release(section):
    best = section()[1][2]
    assert best.startswith(
        "Most are recovered by the attack `stack`: 9,000 of 12,000, 2,400 more than from a decoy."
    )
    assert "chosen after the fact" in best
    two = {name: OWN["attacks"][name] for name in ("my_own", "prior")}
    assert "`my_own`: 8,999 of 12,000, 2,999 more" in section(attacks=two)[1][2]


def test_without_an_attack_none_is_named(section):
    _, words, grid = section(attacks={})
    assert len(words) == 2
    assert grid.rows == []


def test_each_attack_has_its_line(section):
    grid = section()[2]
    assert grid.columns == (
        "Attack",
        "Right",
        "Of the people",
        "Right from a decoy",
        "More than from a decoy",
    )
    assert grid.rows == [
        ["prior alone", 7000, 7000 / 12000, 7000, 0.0],
        ["stack", 9000, 0.75, 6600, 0.2],
        ["my own", 8999, 8999 / 12000, 6000, 2999 / 12000],
    ]
    assert set(grid.percent) == {"Of the people", "More than from a decoy"}
