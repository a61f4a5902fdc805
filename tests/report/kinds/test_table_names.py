"""What attacks, settings and thresholds are called, and which setting the verdict names."""

import random
import re
from dataclasses import replace
from pathlib import Path

import pytest

from narcissus.kinds.table import KIND
from narcissus.kinds.table.words import (
    above_guess,
    against,
    attack_name,
    best_name,
    label_of,
    level_of,
    odds,
    share_allowed,
)
from narcissus.report.brief import brief_of
from narcissus.report.envelope import page_of
from narcissus.report.format import NO_BREAK, percent
from narcissus.report.mapping import mapping_of
from narcissus.report.text import page_text
from narcissus.study.reading import read_record


def setting_of(record):
    return KIND.judged(record).settings[0]


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
    detail = one.detail.model_copy(update={"label": "marginals of two columns"})
    long = replace(one, detail=detail)
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


def shuffled(record, rng):
    """Give a table's record with other shares: any attack may be above any, and the guess."""
    moved = {}

    def other(row):
        """Move an attack's share, and with it its columns and its gain."""
        found, at = row.quantity, row.at
        whole = "over_guess" not in row.facts and row.of in ("attack", "gain")
        if not whole or row.name == "ceiling":
            return row
        place = at["setting"], row.name
        if row.role == "attack" and at["by"] == "everyone":
            share = rng.uniform(0.3, 0.9)
            moved[place] = share - found.value
            facts = {k: v for k, v in row.facts.items() if not k.startswith("approximate")}
            facts["low_joint"] = max(0.0, share - 0.15)
            new = {"value": share, "low": max(0, share - 0.1), "high": min(1, share + 0.1)}
            return row.model_copy(update={"quantity": found.model_copy(update=new), "facts": facts})
        shift, facts = moved[place], row.facts
        keys = ("value", "low", "high")
        new = {key: min(1, max(0, getattr(found, key) + shift)) for key in keys}
        if row.role == "gain":
            gain = found.value + shift
            new = {"value": gain, "low": gain - 0.1, "high": gain + 0.1}
            facts = {"low_joint": gain - 0.15}
        return row.model_copy(update={"quantity": found.model_copy(update=new), "facts": facts})

    rows = tuple(other(row) for row in record.rows)
    settings = tuple(
        one.model_copy(update={"best": rng.choice([a.name for a in one.attacks])})
        for one in record.detail.settings
    )
    detail = record.detail.model_copy(update={"settings": settings})
    return record.model_copy(update={"rows": rows, "detail": detail})


def texts(record):
    """Give every sentence of a page, of the brief and of the mapping, made of the rows."""
    # an early record has groups of few real people, and is drawn for internal use alone
    pages = (f(record, internal=True) for f in (page_of, brief_of, mapping_of))
    return " ".join(" ".join(page_text(page).split()) for page in pages)


def table_records(every_record, single):
    found = [r for r in every_record.values() if r.kind == "table"]
    folder = Path(__file__).parents[2] / "study" / "records" / "first"
    return [*found, single(), read_record(folder / "table.json")]


def test_what_is_called_best_is_the_row_that_is_quoted(every_record, single):
    """Issue 26: the brief quotes the attack `prior` (61.3) beside 62.5 on the same page."""
    rng = random.Random(1)
    records = table_records(every_record, single)
    records += [shuffled(record, rng) for record in records for _ in range(3)]
    for record in records:
        one, said = KIND.judged(record).decisive, texts(record)
        name, best = best_name(one), one.best_attack
        largest = max(attack.share for attack in one.attacks.values())
        assert (name == "the best attack") == (best.share == largest)
        for quoted in re.findall(r"[Rr]ecovered with it by the best attack (\d+\.\d)%", said):
            assert quoted == f"{100 * largest:.1f}" == f"{100 * best.share:.1f}"
        if name != "the best attack":
            assert "by the best attack" not in said
            assert "the best attack (" not in said
            assert f"Recovered with it by {name}" in said
            assert attack_name(one.best) in name


def test_sentences_about_numbers_do_not_contradict_each_other(every_record, single):
    """Pairs: who gains and who is said to, what is said of the whole and of each, with and without.

    Of the kept records and of others with shares that are shuffled.
    """
    rng = random.Random(2)
    records = table_records(every_record, single)
    records += [shuffled(record, rng) for record in records for _ in range(3)]
    for record in records:
        for one in KIND.judged(record).settings:
            said = odds(one)
            number = f"{100 * one.best_attack.share:.0f} with it"
            guess = one.guess.share
            if "no attack that was tried" in said:
                assert number not in said
                assert all((a.low_joint or 0) <= guess for a in one.attacks.values())
            else:
                assert number in said
            found = " ".join(against(one))
            for name, attack in one.attacks.items():
                learns = f"Sampled: the attack `{name}` learns from the release"
                assert learns not in found or (
                    attack.sure_gain > 0 and percent(attack.share) in found
                )
            some = [a for a in one.attacks.values() if a.sure_gain > 0 and a.about.uses != "prior"]
            assert bool(some) == bool(re.search("Sampled: the attack `[^`]+` learns", found))
