"""The page of a table's audit: right numbers in the right places, whatever is missing."""

import re

import pytest

from narcissus.report import Facts, Figure, Grid, Items, page_of, render_html, render_text
from narcissus.report.kinds.table_names import most_relevant
from narcissus.results import Grade


def changed(record, **changes):
    """Give a record with other results; its digest is not looked at by the renderers."""
    return record.model_copy(update=changes)


def single(table_record, edit=lambda result: None, **changes):
    """Give a record of one setting whose result was changed before it was typed."""

    def change(results):
        edit(results[0])
        results[0].update(changes)

    return table_record(1, edit=change)


def blocks(page, kind):
    return [b for section in page.sections for b in section.blocks if isinstance(b, kind)]


def numbers(record):
    return [(value, grade) for _, value, _, grade in page_of(record).verdict.numbers]


def test_headline_numbers_in_the_order_without_with_ceiling_proved(table_record):
    verdict = page_of(table_record(1)).verdict
    assert [n[1] for n in verdict.numbers] == ["53.0%", "56.0%", "58.5%", "61.5%"]
    assert [n[3] for n in verdict.numbers] == ["sampled", "sampled", "sampled", "proved"]
    assert "+3.0 points" in verdict.numbers[1][2]
    assert "at most 71 of 100, with 95% confidence" in verdict.numbers[3][2]


def test_the_best_guess_counts_as_without(table_record):
    guess = {"share": 0.5412, "low": 0.53, "high": 0.55, "by_the_prior": None}
    record = single(table_record, guess=guess)
    assert numbers(record)[0] == ("54.1%", "sampled")


def test_a_proved_number_is_rounded_up(table_record):
    record = single(table_record, lambda r: r["bounds"][1].update(share_at_most=0.61001))
    assert numbers(record)[3] == ("61.1%", "proved")


def test_comparisons_and_trivial_limits_are_never_the_headline(table_record):
    def nothing(result):
        for bound in result["bounds"][:2]:
            bound.update(guarantee="none", grade="not assessed")

    record = single(table_record, nothing)
    assert numbers(record)[3] == ("—", "not assessed")


def test_a_bound_on_the_count_stands_in_for_one_on_the_mean(table_record):
    record = single(table_record, lambda r: r["bounds"].pop(1))
    assert numbers(record)[3] == ("71 of 100", "proved")


def test_the_reported_level_is_the_highest(table_record):
    def add(result):
        loose = {**result["bounds"][0], "confidence": 0.5, "at_most": 60}
        tight = {**result["bounds"][0], "confidence": 0.99, "at_most": 78}
        result["bounds"] += [loose, tight]

    record = single(table_record, add)
    limits = page_of(record).verdict.numbers[3][2]
    assert "at most 78 of 100, with 99% confidence" in limits


def test_odds_are_said_once(table_record):
    odds = table_record(1).results.settings[0].odds
    record = changed(table_record(1), verdict=f"It is met. {odds} Proved, too.")
    verdict = page_of(record).verdict
    assert verdict.headline == "It is met. Proved, too."
    assert verdict.odds == odds
    sweep = table_record(5)
    odds = sweep.results.settings[1].odds
    record = changed(sweep, verdict=f"It is met up to ε = 1. At ε = 1: {odds} Proved, too.")
    assert page_of(record).verdict.headline == "It is met up to ε = 1. Proved, too."
    inside = page_of(changed(record, verdict=f"ε = 1: {odds}")).verdict
    assert inside.headline == f"ε = 1: {odds}"
    assert inside.odds == ""


def test_most_relevant_setting(table_record):
    def among(*found, threshold=0.7):
        settings = table_record(1, threshold=threshold).results.settings * len(found)
        return most_relevant(
            [
                one.model_copy(
                    update={
                        "status": status,
                        "noise": one.noise.model_copy(update={"scale": scale}),
                        "decides": True,
                    }
                )
                for one, (status, scale) in zip(settings, found, strict=True)
            ]
        ).noise.scale

    met, more, over, none = ("met", 5.0), ("met", 9.0), ("exceeded", 2.0), ("exceeded", 0.0)
    # the least noise that meets the threshold, else the most noise that there is
    assert among(more, met, over, none) == 5
    assert among(none, over) == 2
    assert among(none) == 0
    # no threshold: the least noise that is noise, so that nothing looks better than it is
    assert among(("no threshold", 9.0), over, none, threshold=None) == 2


def test_sweep_shows_the_setting_that_the_verdict_names(table_record):
    page = page_of(table_record(5))
    assert page.verdict.setting == "ε\xa0=\xa01"
    assert page.verdict.numbers[3][1] == "61.5%"


def test_a_status_of_one_setting_says_so(table_record):
    assert page_of(table_record(5)).verdict.where == "at ε\xa0=\xa01"
    assert page_of(table_record(2)).verdict.where == ""
    assert "</span> Threshold met at ε\xa0=\xa01 <span" in render_html(table_record(5))
    assert "THRESHOLD MET at ε = 1  ◐ sampled\n" in render_text(table_record(5))


def test_order_of_the_page(table_record):
    titles = [section.title for section in page_of(table_record(5)).sections]
    assert titles == [
        "What was assessed, and what was not",
        "Threat model and assumptions",
        "Results",
        "How groups fare: the most vulnerable beside the average",
        "Method",
        "Provenance",
    ]
    boxes = [b.title for b in blocks(page_of(table_record(5)), Items) if b.tone == "warning"]
    assert boxes == ["Not assessed (not to be read as safe)", "What this does not cover"]


def test_glance_has_every_setting(table_record):
    table = blocks(page_of(table_record(5)), Grid)[0]
    assert [row[0].replace("\xa0", " ") for row in table.rows] == [
        "ε = 0.5", "ε = 1", "ε = 3", "ε = 10", "no noise",
    ]  # fmt: skip
    assert table.rows[-1][5:7] == ["—", "—"]
    assert table.rows[1][1:6] == [
        "53.0%", "56.0% (54.8–57.2)", "+3.0", "58.5% (57.3–59.7)", "61.5%",
    ]  # fmt: skip


def test_the_group_named_is_one_whose_limits_show_it(table_record):
    title = blocks(page_of(table_record(5)), Figure)[-1].title
    assert title.startswith("The release adds most for “singled out by the release: yes”")

    def unsure(results):
        for group in (g for result in results for g in result["groups"]):
            group["attacks"]["posterior"]["over_guess_low"] = -1.0

    record = table_record(5, edit=unsure)
    assert blocks(page_of(record), Figure)[-1].title.startswith("No group clearly loses more")


def test_real_rows_are_an_assumption(table_record):
    record = table_record(1)
    record.study["threat"]["people"] = "rows"
    [given] = [b for b in blocks(page_of(record), Items) if b.title.startswith("Taken as given")]
    assert any("real people of the table" in item for item in given.items)


def test_study_in_words(table_record):
    facts = dict(blocks(page_of(table_record(5)), Facts)[0].rows)
    assert facts["Unknown to the attacker"] == "affairs, religious, occupation"
    assert facts["A target counts as recovered when"] == (
        "every unknown column is right (religious up to 1 off)"
    )
    assert facts["Privacy level (epsilon)"] == "0.5, 1, 3, 10, no noise"
    assert facts["Threshold"] == "a mean share of at most 70.0%"
    assert facts["Its reason"] == "Made up for a test."


def test_a_policy_s_threshold_is_shown(table_record):
    limit = {"targets": 70, "reason": "Small towns.", "origin": "The board"}
    limit |= dict.fromkeys(["share", "advantage", "worst_group", "decided_at"])
    record = single(table_record, threshold=limit)
    record.study["threshold"], record.study["policy"] = None, "policy.toml"
    facts = dict(blocks(page_of(record), Facts)[0].rows)
    assert facts["Threshold"] == "at most 70 targets in one release"
    assert facts["Its reason"] == "Small towns."
    assert facts["Who set it"] == "The board"
    assert facts["Policy"] == "policy.toml"


@pytest.mark.parametrize("status", ["met", "exceeded", "inconclusive", "not assessed"])
def test_status_in_words_and_sign_and_colour_only_if_sure(table_record, status):
    record = changed(single(table_record), status=status)
    html = render_html(record)
    tone = status.replace(" ", "-")
    assert f'class="verdict tone-{tone}"' in html
    head = re.search(r'<h2 id="verdict-title">(.*?)</h2>', html)[1]
    assert 'class="sign" aria-hidden="true">' in head
    assert status.split()[0] in head.lower()
    assert "sampled</span>" in head


@pytest.mark.parametrize("status", ["met", "exceeded", "contradicted", "too few trials"])
@pytest.mark.parametrize(
    "weak",
    [{"grade": "approximate"}, {"grade": "proved if"}, {"assumptions": ["the prior is right"]}],
    ids=str,
)
def test_what_is_weak_or_assumed_has_no_colour_and_says_so(table_record, status, weak):
    record = changed(table_record(1), status=status, **weak)
    html, text = render_html(record), render_text(record)
    assert 'class="verdict tone-uncoloured"' in html
    for grade in [weak.get("grade", "sampled")]:
        assert grade in re.search(r'<h2 id="verdict-title">(.*?)</h2>', html)[1]
        assert grade in text.split("\n\n")[1]
    if "assumptions" in weak:
        assert "holds only if the prior is right" in html
        assert "holds only if the prior is right" in text


def test_a_contradiction_comes_first_and_nothing_is_proved(table_record):
    given = single(table_record, contradictions=["Refuted: that the prior is right (x)."])
    record = changed(given, contradictions=["Refuted: that the prior is right (x).", "More."])
    verdict = " ".join(render_text(record).split("Evidence for the release")[0].split())
    assert verdict.index("Refuted: that the prior is right") < verdict.index("The largest epsilon")
    assert "1 more pair of statements contradicts each other" in verdict
    assert "■ proved" not in verdict
    assert numbers(record)[3][1] == "not assessed"
    assert "no attacker here" not in render_html(record)


def test_a_bound_that_takes_something_as_given_is_proved_if(table_record):
    def assume(result):
        for bound in result["bounds"]:
            given = ["the fitted prior is right about these real people"]
            bound.update(takes_as_given=given, grade="proved if")

    record = single(table_record, assume)
    assert numbers(record)[3][1] == "proved if"
    assert "no attacker here" not in render_html(record)


def test_every_grade_has_a_sign_of_its_own():
    from narcissus.report.format import GRADES, SIGNS

    assert set(SIGNS) == set(GRADES) == set(Grade.__args__)
    assert len(set(SIGNS.values())) == len(SIGNS)


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
def test_draws_whatever_is_missing(table_record, change):
    record = table_record(5, edit=change)
    html, text = render_html(record), render_text(record)
    for drawn in (html, text):
        assert "nan" not in re.findall(r"\b\w+\b", drawn.lower())
        assert "None" not in drawn
    assert max(map(len, text.splitlines())) <= 80


def test_many_targets(table_record):
    def enlarge(result):
        for answer in [*result["attacks"].values(), result["ceiling"]]:
            counts = answer["distribution"]["targets"]
            answer["distribution"]["targets"] = [100 * v + 17 for v in counts]
        result["bounds"][0].update(at_most=7100, at_most_of_population=7200, of=10_000)

    record = single(table_record, enlarge, people=10_100)
    html = render_html(record)
    assert "of 10,100 targets" in html
    assert len(html.encode()) < 300 * 1024


def test_long_and_odd_names(table_record):
    def rename(result):
        for group in result["groups"]:
            group["group"] = "a value with a very long name & <odd> $signs$ " * 2

    record = single(table_record, rename)
    html = render_html(record)
    assert "<odd>" not in html
