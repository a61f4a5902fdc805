"""What is known beforehand, from options: one of them, and threats as the library makes them."""

from __future__ import annotations

import pytest

from narcissus.bounds import threat, threat_of_ranked
from narcissus.cli import known
from narcissus.errors import InputError
from narcissus.priors import Zipf

NONE = dict.fromkeys(("--prior", "--values", "--zipf", "--bits"))


def test_only_one_option_says_what_is_known():
    assert known.only_one({**NONE, "--zipf": "1,2"}) == "--zipf"
    with pytest.raises(InputError, match=r"`--zipf` or `--bits` must be given, .* got none"):
        known.only_one(NONE)
    with pytest.raises(InputError, match="got --prior and --bits"):
        known.only_one({**NONE, "--prior": 0.0, "--bits": 1.0})


@pytest.mark.parametrize(
    ("options", "danger"),
    [
        ({"--prior": 0.2}, threat(prior=0.2, targets=3)),
        ({"--values": "0.7,0.3"}, threat(values=[0.7, 0.3], targets=3)),
        ({"--bits": 3.0}, threat(prior=0.125, targets=3)),
        ({"--zipf": "1.1,1e9"}, threat_of_ranked(Zipf(1.1, 10**9), targets=3)),
        ({"--zipf": "0,7"}, threat_of_ranked(Zipf(0, 7), targets=3)),
    ],
)
def test_each_option_makes_its_threat(options, danger):
    assert known.threat_of({**NONE, **options}, exact=False, targets=3) == danger


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1.1", "S,N, such as 1.1,1e9"),
        ("1.1,2,3", "S,N"),
        ("a,5", "numbers separated by commas"),
        ("-1,5", "`--zipf S` must be at least 0"),
        ("1,0", "`--zipf N` must be at least 1"),
        ("1,2.5", "`--zipf N` must be a whole number"),
        ("1,1e16", "`--zipf N` .*at most"),
        ("1,inf", "`--zipf N`"),
    ],
)
def test_what_is_no_law_of_zipf_is_refused(text, said):
    with pytest.raises(InputError, match=said):
        known.zipf_law(text)


def test_people_are_read_and_nothing_else_is_said_of_them(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("a,b\n0.5,0.5\n0.9,0.1\n")
    assert known.people_of(path, {"--targets": None}).n == 2
    with pytest.raises(InputError, match="`--targets` does not go with `--priors`"):
        known.people_of(path, {"--targets": 2})
    path.write_text("a,b\n0.5,0.6\n")
    with pytest.raises(InputError, match=r"`--priors`: .*row 1 \(line 2\)"):
        known.people_of(path, {})
