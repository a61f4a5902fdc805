"""The page of a table's audit: right numbers in the right places, whatever is missing."""

import re

import pytest

from narcissus.report import Items, page_of, render_html, render_text
from narcissus.report.page import Figure, Grid


def changed(record, **changes):
    """Give a record with other results; its digest is not looked at by the renderers."""
    return record.model_copy(update=changes)


def numbers(record):
    return [(value, grade) for _, value, _, grade in page_of(record).verdict.numbers]


def test_headline_numbers_in_the_order_without_with_ceiling_proved(table_record):
    verdict = page_of(table_record(1)).verdict
    assert [n[1] for n in verdict.numbers] == ["53.0%", "56.0%", "58.5%", "61.5%"]
    assert [n[3] for n in verdict.numbers] == ["sampled", "sampled", "sampled", "proved"]
    assert "+3.0 points" in verdict.numbers[1][2]
    assert "at most 71 of 100, with 95% confidence" in verdict.numbers[3][2]


def test_the_best_guess_counts_as_without(single):
    guess = {"share": 0.5412, "low": 0.53, "high": 0.55, "by_the_prior": None}
    record = single(guess=guess)
    assert numbers(record)[0] == ("54.1%", "sampled")


def test_a_proved_number_is_rounded_up(single):
    record = single(lambda r: r["bounds"][1].update(share_at_most=0.61001))
    assert numbers(record)[3] == ("61.1%", "proved")


def test_comparisons_and_trivial_limits_are_never_the_headline(single):
    def nothing(result):
        for bound in result["bounds"][:2]:
            bound.update(guarantee="none", grade="not assessed")

    record = single(nothing)
    assert numbers(record)[3] == ("—", "not assessed")


def test_a_bound_on_the_count_stands_in_for_one_on_the_mean(single):
    record = single(lambda r: r["bounds"].pop(1))
    assert numbers(record)[3] == ("71 of 100", "proved")


def test_the_reported_level_is_the_highest(single):
    def add(result):
        loose = {**result["bounds"][0], "confidence": 0.5, "at_most": 60}
        tight = {**result["bounds"][0], "confidence": 0.99, "at_most": 78}
        result["bounds"] += [loose, tight]

    record = single(add)
    limits = page_of(record).verdict.numbers[3][2]
    assert "at most 78 of 100, with 99% confidence" in limits


def test_what_some_mechanism_reaches_stands_beside_the_limit(single):
    record = single(lambda r: r["bounds"][0].update(reached=69))
    limits = page_of(record).verdict.numbers[3][2]
    assert "with 95% confidence (some mechanism with this guarantee reaches 69)" in limits
    assert "mechanism" not in page_of(single()).verdict.numbers[3][2]


def test_odds_are_said_once(table_record):
    odds = table_record(1).results.settings[0].odds
    record = changed(table_record(1), verdict=f"It is met. {odds} Proved, too.")
    verdict = page_of(record).verdict
    assert verdict.headline == "It is met. Proved, too."
    assert verdict.odds == (odds, "sampled")
    sweep = table_record(5)
    odds = sweep.results.settings[1].odds
    record = changed(sweep, verdict=f"It is met up to ε = 1. At ε = 1: {odds} Proved, too.")
    assert page_of(record).verdict.headline == "It is met up to ε = 1. Proved, too."
    inside = page_of(changed(record, verdict=f"ε = 1: {odds}")).verdict
    assert inside.headline == f"ε = 1: {odds}"
    assert inside.odds is None


def test_what_is_said_of_one_setting_names_it_where_none_decides(table_record):
    """Else "the threshold is met" would stand below "threshold exceeded"."""
    sweep = table_record(5)
    settings = tuple(s.model_copy(update={"decides": True}) for s in sweep.results.settings)
    results = type(sweep.results)(settings)
    one = results.decisive
    verdict = f"It is met up to ε = 1. At {one.label}: {one.odds} The threshold is exceeded."
    record = changed(sweep, verdict=verdict, results=results)
    shown = page_of(record).verdict
    assert (shown.headline, shown.odds) == (verdict, None)


def test_sweep_shows_the_setting_that_the_verdict_names(table_record):
    page = page_of(table_record(5))
    assert page.verdict.setting == "ε\xa0=\xa01"
    assert page.verdict.numbers[3][1] == "61.5%"


def test_a_status_of_one_setting_says_so(table_record):
    assert page_of(table_record(5)).verdict.where == "at ε\xa0=\xa01"
    assert page_of(table_record(2)).verdict.where == ""
    assert "</span> Threshold met at ε\xa0=\xa01 <span" in render_html(table_record(5))
    assert "THRESHOLD MET at ε = 1  ◐ sampled\n" in render_text(table_record(5))


def test_order_of_the_page(table_record, blocks):
    titles = [section.title for section in page_of(table_record(5)).sections]
    assert titles == [
        "What was assessed, and what was not",
        "Threat model and assumptions",
        "Results",
        "How groups fare: the most vulnerable beside the average",
        "Method",
        "What this page gives away",
        "Provenance",
    ]
    boxes = [b.title for b in blocks(page_of(table_record(5)), Items) if b.tone == "warning"]
    assert boxes == ["Not assessed (not to be read as safe)", "What this does not cover"]


def test_real_rows_are_an_assumption(table_record, blocks):
    record = table_record(1)
    record.study["threat"]["people"] = "rows"
    [given] = [b for b in blocks(page_of(record), Items) if b.title.startswith("Taken as given")]
    assert any("real people of the table" in item for item in given.items)


def test_a_contradiction_comes_first_and_nothing_is_proved(single):
    given = single(contradictions=["Refuted: that the prior is right (x)."])
    record = changed(given, contradictions=["Refuted: that the prior is right (x).", "More."])
    verdict = " ".join(render_text(record).split("Evidence for the release")[0].split())
    assert verdict.index("Refuted: that the prior is right") < verdict.index("The largest epsilon")
    assert "1 more pair of statements contradicts each other" in verdict
    assert "■ proved" not in verdict
    assert numbers(record)[3][1] == "not assessed"
    assert "no attacker here" not in render_html(record)


def test_a_bound_that_takes_something_as_given_is_proved_if(single):
    def assume(result):
        for bound in result["bounds"]:
            given = ["the fitted prior is right about these real people"]
            bound.update(takes_as_given=given, grade="proved if")

    record = single(assume)
    assert numbers(record)[3][1] == "proved if"
    assert "no attacker here" not in render_html(record)


def bare(result):
    """Leave out all that may be left out, as in a record of format 1."""
    nothing = dict.fromkeys(["low_joint", "gain_low_joint", "approximate", "narrowest", "median"])
    for attack in result["attacks"].values():
        attack.update(nothing, title="", uses="", method="", columns={})
    return {**result, "bounds": [], "groups": [], "ceiling": None, "threshold": None}


def levels(results, key):
    for place, result in enumerate(results):
        result["epsilon"], result["mu"] = None, None
        if key is not None:
            result[key] = 0.5 * (place + 1)
    return results


@pytest.mark.parametrize(
    "change",
    [
        lambda rs: [bare(r) for r in rs],
        lambda rs: [{**r, "bounds": []} for r in rs],
        lambda rs: [{**r, "ceiling": None} for r in rs],
        lambda rs: [{**r, "groups": []} for r in rs],
        lambda rs: [{**r, "best": None, "attacks": {}} for r in rs],
        lambda rs: [{**r, "best": None, "attacks": {}, "ceiling": None} for r in rs],
        lambda rs: rs[-1:],
        lambda rs: rs[:2],
        lambda rs: rs[3:],
        lambda rs: levels(rs[:4], "mu"),
        lambda rs: levels(rs[:4], None),
        lambda rs: list(reversed(rs)),
    ],
)
@pytest.mark.one_in(3)
def test_draws_whatever_is_missing(table_record, change):
    record = table_record(5, edit=change)
    html, text = render_html(record), render_text(record)
    for drawn in (html, text):
        assert "nan" not in re.findall(r"\b\w+\b", drawn.lower())
        assert "None" not in drawn
    assert max(map(len, text.splitlines())) <= 80


def test_long_and_odd_names(single):
    def rename(result):
        for group in result["groups"]:
            group["group"] = "a value with a very long name & <odd> $signs$ " * 2

    record = single(rename)
    html = render_html(record)
    assert "<odd>" not in html


def test_exact_counts_are_not_called_noisy(single):
    exact = single(noise={"kind": "gaussian", "scale": 0.0})
    assert " exact marginals, " in page_of(exact).subtitle


def test_a_ceiling_is_explained_where_there_is_one(single):
    said = "an attacker who is also told"
    assert said in render_html(single())
    assert said not in render_html(single(ceiling=None))


def test_nothing_speaks_of_a_ceiling_where_there_is_none(table_record, blocks):
    def none(results):
        for result in results if isinstance(results, list) else [results]:
            result["ceiling"] = None
            result["findings"] = []
            for group in result["groups"]:
                group["ceiling"] = None

    for settings in (1, 5):
        page = page_of(table_record(settings, edit=none))
        pictures = blocks(page, Figure)
        tables = [*blocks(page, Grid), *(picture.table for picture in pictures)]
        said = [text for p in pictures for text in (p.title, p.description)]
        said += [name for table in tables for name in (table.caption, *table.columns)]
        assert not [text for text in said if "eiling" in text]


def test_a_name_that_says_what_is_released_stands_once(table_record):
    def rows(results):
        for result in results if isinstance(results, list) else [results]:
            result.update(noise=None, released="Rows of a Gaussian copula", label="copula")

    subtitle = page_of(table_record(1, edit=rows)).subtitle
    assert subtitle.endswith(" people in a release, rows of a Gaussian copula")
