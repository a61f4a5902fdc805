"""The page of a table's audit: right numbers in the right places, whatever is missing."""

import copy
import re

import pytest

from narcissus.report import Facts, Figure, Items, Table, page_of, render_html, render_text
from narcissus.report.kinds.table_results import most_relevant
from narcissus.results import Grade


def changed(record, **changes):
    """Give a record with other results; its digest is not looked at by the renderers."""
    return record.model_copy(update=changes)


def single(table_record, **changes):
    record = table_record(1)
    return changed(record, results={**copy.deepcopy(record.results), **changes})


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
    record = single(table_record, guess={"share": 0.5412, "low": 0.53, "high": 0.55})
    assert numbers(record)[0] == ("54.1%", "sampled")


def test_a_proved_number_is_rounded_up(table_record):
    record = single(table_record)
    record.results["bounds"][1]["share_at_most"] = 0.61001
    assert numbers(record)[3] == ("61.1%", "proved")


def test_comparisons_and_trivial_limits_are_never_the_headline(table_record):
    record = single(table_record)
    for bound in record.results["bounds"][:2]:
        bound["guarantee"] = "none"
    assert numbers(record)[3] == ("—", "not assessed")


def test_a_bound_on_the_count_stands_in_for_one_on_the_mean(table_record):
    record = single(table_record)
    del record.results["bounds"][1]
    assert numbers(record)[3] == ("71 of 100", "proved")


def test_the_reported_level_is_the_highest(table_record):
    record = single(table_record)
    loose = {**record.results["bounds"][0], "confidence": 0.5, "at_most": 60}
    tight = {**record.results["bounds"][0], "confidence": 0.99, "at_most": 78}
    record.results["bounds"] += [loose, tight]
    limits = page_of(record).verdict.numbers[3][2]
    assert "at most 78 of 100, with 99% confidence" in limits


def test_odds_are_said_once(table_record):
    odds = table_record(1).results["odds"]
    record = changed(table_record(1), verdict=f"It is met. {odds} Proved, too.")
    verdict = page_of(record).verdict
    assert verdict.headline == "It is met. Proved, too."
    assert verdict.odds == odds
    sweep = table_record(5)
    odds = sweep.results[1]["odds"]
    record = changed(sweep, verdict=f"It is met up to ε = 1. At ε = 1: {odds} Proved, too.")
    assert page_of(record).verdict.headline == "It is met up to ε = 1. Proved, too."
    inside = page_of(changed(record, verdict=f"ε = 1: {odds}")).verdict
    assert inside.headline == f"ε = 1: {odds}"
    assert inside.odds == ""


def setting(status, scale):
    return {"status": status, "noise": {"kind": "gaussian", "scale": scale}}


def test_most_relevant_setting():
    met, more, over, none = (
        setting("met", 5), setting("met", 9), setting("exceeded", 2), setting("exceeded", 0),
    )  # fmt: skip
    # the least noise that meets the threshold, else the most noise that there is
    assert most_relevant([more, met, over, none], threshold=True) is met
    assert most_relevant([none, over], threshold=True) is over
    assert most_relevant([none], threshold=True) is none
    # no threshold: the least noise that is noise, so that nothing looks better than it is
    assert most_relevant([setting("no threshold", 9), over, none], threshold=False) is over


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
    table = blocks(page_of(table_record(5)), Table)[0]
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
    record = table_record(5)
    for result in record.results:
        for group in result["groups"]:
            group["attacks"]["posterior"]["low"] = 0.0
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
    record = single(table_record)
    for bound in record.results["bounds"]:
        bound["takes_as_given"] = ["the fitted prior is right about these real people"]
    assert numbers(record)[3][1] == "proved if"
    assert "no attacker here" not in render_html(record)


def test_every_grade_has_a_sign_of_its_own():
    from narcissus.report.format import GRADES, SIGNS

    assert set(SIGNS) == set(GRADES) == set(Grade.__args__)
    assert len(set(SIGNS.values())) == len(SIGNS)


def bare(result):
    """Keep only what the results schema requires."""
    keep = ("epsilon", "label", "attacks", "bounds", "groups", "verdict", "status")
    short = {k: copy.deepcopy(v) for k, v in result.items() if k in keep}
    for attack in short["attacks"].values():
        for key in ("title", "uses", "method", "advantage", "baseline_exact"):
            attack.pop(key, None)
    return short


def levels(results, key):
    found = copy.deepcopy(results)
    for place, result in enumerate(found):
        result["epsilon"], result["mu"] = None, None
        result.pop("label")
        result[key] = 0.5 * (place + 1)
    return found


@pytest.mark.parametrize(
    "change",
    [
        lambda rs: [bare(r) for r in rs],
        lambda rs: [{**r, "bounds": []} for r in rs],
        lambda rs: [{k: v for k, v in r.items() if k != "ceiling"} for r in rs],
        lambda rs: [{**r, "groups": []} for r in rs],
        lambda rs: [{**r, "best": None} for r in rs],
        lambda rs: [{**r, "best": None, "attacks": {}} for r in rs],
        lambda rs: [{**r, "best": None, "attacks": {}, "ceiling": None} for r in rs],
        lambda rs: rs[-1],
        lambda rs: rs[-1:],
        lambda rs: rs[:2],
        lambda rs: rs[3:],
        lambda rs: levels(rs[:4], "mu"),
        lambda rs: levels(rs[:4], "other"),
        lambda rs: list(reversed(rs)),
    ],
)
def test_draws_whatever_is_missing(table_record, change):
    record = table_record(5)
    record = changed(record, results=change(copy.deepcopy(record.results)))
    html, text = render_html(record), render_text(record)
    for drawn in (html, text):
        assert "nan" not in re.findall(r"\b\w+\b", drawn.lower())
        assert "None" not in drawn
    assert max(map(len, text.splitlines())) <= 80


def test_many_targets(table_record):
    record = single(table_record, people=10_000)
    for answer in [*record.results["attacks"].values(), record.results["ceiling"]]:
        counts = answer["distribution"]["targets"]
        answer["distribution"]["targets"] = [100 * v + 17 for v in counts]
    record.results["bounds"][0].update(at_most=7100, of=10_000)
    html = render_html(record)
    assert "of 10,000 targets" in html
    assert len(html.encode()) < 300 * 1024


def test_long_and_odd_names(table_record):
    record = single(table_record)
    for group in record.results["groups"]:
        group["group"] = "a value with a very long name & <odd> $signs$ " * 2
    html = render_html(record)
    assert "<odd>" not in html
