"""The report says which attacks recover less than the best guess, where, and why."""

import pytest

from narcissus.kinds.table import KIND
from narcissus.report import page_of
from narcissus.report.page import Items
from narcissus.report.text import page_text


def settings_of(record):
    return KIND.judged(record).settings


WHY = "it starts at random"


@pytest.mark.states("Swanberg et al. 2025", "section 6.1")
def test_each_attack_is_named_once_with_all_its_settings(table_record, blocks):
    def below(results):
        for result in results[:2]:
            result["attacks"]["rap"]["below"] = {"guess": 0.875, "why": WHY}
        results[0]["attacks"]["rap_from_prior"]["below"] = {"guess": 0.875, "why": "it leaves"}

    record = table_record(edit=below)
    shares = [s.attacks["rap"].share for s in settings_of(record)[:2]]
    [found] = [one for one in blocks(page_of(record), Items) if one.title.startswith("Below")]
    rap, other = found.items
    assert rap.startswith("RAP, as published (")
    assert rap.endswith(f"): {WHY}.")
    assert [f"{100 * share:.1f}% for 87.5% at" in rap for share in shares] == [True, True]
    assert other.startswith("RAP from the prior (")
    assert other.count("87.5%") == 1
    assert WHY in " ".join(page_text(page_of(record)).split())


def test_nothing_is_said_where_none_is_below(table_record, blocks):
    assert not [
        one for one in blocks(page_of(table_record()), Items) if one.title.startswith("Below")
    ]
