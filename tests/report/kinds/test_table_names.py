"""What attacks, settings and thresholds are called, and which setting the verdict names."""

import pytest

from narcissus.report.format import NO_BREAK
from narcissus.report.kinds.table_names import (
    above_guess,
    attack_name,
    label_of,
    level_of,
    share_allowed,
)


def setting_of(record):
    return record.results.settings[0]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("rap-from-prior", "RAP from the prior"),
        ("rap_from_prior", "RAP from the prior"),
        ("my_own_attack", "my own attack"),
        ("my-own", "my-own"),
    ],
)
def test_attacks_in_words(name, words):
    assert attack_name(name) == words


def test_short_labels_stay_in_one_piece_and_long_ones_may_break(table_record):
    one = setting_of(table_record(1))
    assert label_of(one) == f"ε{NO_BREAK}={NO_BREAK}1"
    assert level_of(one) == "95% limits"
    long = one.model_copy(update={"label": "marginals of two columns"})
    assert label_of(long) == "marginals of two columns"


def test_an_advantage_that_is_allowed_as_a_share(single):
    """A fifth of what cannot be guessed, .53 being guessed: .53 + .2 * .47."""
    empty = dict.fromkeys(["share", "advantage", "targets", "worst_group", "decided_at"])
    named = {**empty, "reason": "", "origin": ""}
    for given, share in (
        ({"advantage": 0.2}, 0.624),
        ({"share": 0.7}, 0.7),
        ({"targets": 7}, None),
    ):
        found = share_allowed(setting_of(single(threshold={**named, **given})))
        assert found == (None if share is None else pytest.approx(share))
    assert share_allowed(setting_of(single(threshold=None))) is None


def test_the_gain_is_over_what_is_guessed_and_not_over_the_own_baseline(single):
    assert above_guess(setting_of(single())) == pytest.approx(0.56 - 0.53)
    assert above_guess(setting_of(single(best=None, attacks={}))) is None
