"""The page of a table's audit: right numbers in the right places, whatever is missing."""

import random
import re
from dataclasses import replace

import pytest

from narcissus.kinds.table.kind import KIND
from narcissus.kinds.table.sections import describe_own
from narcissus.kinds.table.words import (
    above_guess,
    are_real,
    attack_name,
    best_name,
    label_of,
    share_allowed,
    threat_facts,
)
from narcissus.report import Facts, Items, page_of, render_html, render_text
from narcissus.report.about import numbers_of
from narcissus.report.format import NO_BREAK, percent
from narcissus.report.page import Figure, Grid, Text
from narcissus.report.statement import statement_markdown, statement_of
from narcissus.report.text import page_text


def settings_of(record):
    return KIND.judged(record).each


def changed(record, **changes):
    """Give a record with other results; its digest is not looked at by the renderers."""
    return record.model_copy(update=changes)


def numbers(record):
    """Return value and grade by the first word of a label."""
    return {
        label.partition(",")[0]: (value, grade) for label, value, _, grade in numbers_of(record)
    }


GUESSED = "Guessed right without the release"
MEAN = "No attacker recovers more on average"
COUNT = "No attacker recovers more in one release"


def test_headline_numbers_are_guess_attack_ceiling_and_bounds(table_record):
    shown = numbers(table_record(1))
    values = [value for value, _ in shown.values()]
    assert values[:3] == ["53.0%", "56.0%", "58.5%"]
    assert (shown[MEAN], shown[COUNT]) == (("61.5%", "proved"), ("71", "proved"))
    [limits] = [text for label, _, text, _ in numbers_of(table_record(1)) if label == COUNT]
    assert limits == "at most, of 100, with 95% confidence"


def test_the_best_guess_counts_as_without(single):
    guess = {"share": 0.5412, "low": 0.53, "high": 0.55, "by_the_prior": None}
    assert numbers(single(guess=guess))[GUESSED] == ("54.1%", "sampled")


def test_a_proved_number_is_rounded_up(single):
    record = single(lambda r: r["bounds"][1].update(share_at_most=0.61001))
    assert numbers(record)[MEAN] == ("61.1%", "proved")


def test_comparisons_and_trivial_limits_are_never_the_headline(single):
    def nothing(result):
        for bound in result["bounds"][:2]:
            bound.update(guarantee="none", grade="not assessed")

    assert not {MEAN, COUNT} & numbers(single(nothing)).keys()


def test_a_bound_on_the_count_stands_in_for_one_on_the_mean(single):
    shown = numbers(single(lambda r: r["bounds"].pop(1)))
    assert MEAN not in shown
    assert shown[COUNT] == ("71", "proved")


def test_the_reported_level_is_the_highest(single):
    def add(result):
        loose = {**result["bounds"][0], "confidence": 0.5, "at_most": 60}
        tight = {**result["bounds"][0], "confidence": 0.99, "at_most": 78}
        result["bounds"] += [loose, tight]

    assert numbers(single(add))[COUNT] == ("78", "proved")


def test_what_some_mechanism_reaches_stands_beside_the_limit(single):
    record = single(lambda r: r["bounds"][0].update(reached=69))
    words = "with 95% confidence (some mechanism with this guarantee reaches 69)"
    assert words in " ".join(render_text(record).split())


def test_sweep_shows_the_setting_that_the_verdict_names(table_record):
    page = page_of(table_record(5))
    assert page.verdict.where == "at ε = 1"
    assert numbers(table_record(5))[MEAN][0] == "61.5%"


def test_a_status_of_one_setting_says_so(table_record):
    assert page_of(table_record(5)).verdict.where == "at ε = 1"
    assert page_of(table_record(2)).verdict.where == ""
    answer = "</span> Met: Your threshold, 70 of 100 right on average, is kept at ε = 1. <span"
    assert answer in render_html(table_record(5)).replace(NO_BREAK, " ")
    assert "✓ MET at ε = 1  ◐ estimated\n" in render_text(table_record(5))


def test_order_of_the_page(table_record, blocks):
    titles = [section.title for section in page_of(table_record(5)).sections]
    assert titles == [
        "What was assessed, and what was not",
        "Threat model and assumptions",
        "Results",
        "How groups fare: the most vulnerable compared with the average",
        "Method",
        "What this page gives away",
        "Provenance",
    ]
    boxes = [b.title for b in blocks(page_of(table_record(5)), Items) if b.tone == "warning"]
    assert boxes == ["Not assessed, so it may be unsafe", "What this does not cover"]


def test_real_rows_are_an_assumption(table_record, blocks):
    record = table_record(1)
    record.study["threat"]["people"] = "rows"
    [given] = [b for b in blocks(page_of(record), Items) if b.title.startswith("Assumed")]
    assert any("real people of the table" in item for item in given.items)


def test_a_contradiction_comes_first_and_nothing_is_proved(single):
    given = single(lambda r: r["attacks"]["posterior"].update(low_joint=0.9))
    record = changed(given, contradictions=["Refuted: that the prior is right (x).", "More."])
    verdict = " ".join(render_text(record).split("What was assessed")[0].split())
    assert "Refuted: that the prior is right" in verdict
    assert "1 more pair of statements contradicts each other" in verdict
    assert "■ proved" not in verdict
    assert numbers(record)[MEAN][1] == "not assessed"
    assert "no attacker here" not in render_html(record)


def test_a_bound_that_takes_something_as_given_is_proved_if(single):
    def assume(result):
        for bound in result["bounds"]:
            given = ["the fitted prior is right about these real people"]
            bound.update(takes_as_given=given, grade="proved if")

    record = single(assume)
    assert numbers(record)[MEAN][1] == "proved if"
    assert "no attacker here" not in render_html(record)


def bare(result):
    """Leave out all that may be left out."""
    nothing = dict.fromkeys(["gain_low_apart", "approximate", "decoy", "search", "below"])
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


WHY = "it starts at random"


@pytest.mark.states("Swanberg et al. 2025", "section 6.1")
def test_each_attack_is_named_once_with_all_its_settings(table_record, blocks):
    def below(results):
        for result in results[:2]:
            result["attacks"]["rap"]["below"] = {"guess": 0.875, "why": WHY}
        results[0]["attacks"]["rap_from_prior"]["below"] = {"guess": 0.875, "why": "it leaves"}

    record = table_record(edit=below)
    shares = [s.result.attacks["rap"].share for s in settings_of(record)[:2]]
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
        found = describe_own(record.result.own_release, in_part=False)
        assert found in page_of(record).sections
        text, grid = found.blocks
        assert (type(text), type(grid)) == (Text, Grid)
        return found.title, list(text.paragraphs), grid

    return make


def test_without_a_release_there_is_no_section(single):
    assert describe_own(single().result.own_release, in_part=False) is None


def test_it_is_said_what_was_attacked_and_what_could_be_guessed(section):
    title, (what, guessed, _), _ = section()
    assert title == "The release itself"
    assert what.startswith("The file made/counts.csv was attacked as it stands")
    assert "about the 12,000 people of the table" in what
    assert "they are exact" in what
    assert "the best guess is right about 7,000 of 12,000" in guessed
    assert "it would be about 71.2." in guessed
    assert "A decoy is a release of other secrets by the same mechanism" in guessed


def test_the_attack_that_recovers_most_is_named_with_what_it_owes_to_the_release(section):
    best = section()[1][2]
    assert best.startswith("The attack `stack` recovers most.")
    assert "chosen after the fact" in best
    two = {name: OWN["attacks"][name] for name in ("my_own", "prior")}
    _, (_, _, best), grid = section(attacks=two)
    assert best.startswith("The attack `my_own` recovers most.")
    [row] = [row for row in grid.rows if row[0] == "my own"]
    assert dict(zip(grid.columns, row, strict=True)) == {
        "Attack": "my own",
        "Right": 8999,
        "Of the people": 8999 / 12000,
        "Right from a decoy": 6000,
        "More than from a decoy": 2999 / 12000,
    }


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


def test_study_in_words(table_record, blocks):
    facts = dict(blocks(page_of(table_record(5)), Facts)[0].rows)
    assert facts["Unknown to the attacker"] == "affairs, religious, occupation"
    assert facts["A target counts as recovered when"] == (
        "every unknown column is right (religious up to 1 off)"
    )
    assert facts["Privacy level (epsilon)"] == "0.5, 1, 3, 10, no noise"
    assert facts["Threshold"] == "a mean share of at most 70.0%"
    assert facts["Its reason"] == "Made up for a test."


def test_a_policy_s_threshold_is_shown(single, blocks):
    limit = {"targets": 70, "reason": "Small towns.", "origin": "The board"}
    limit |= dict.fromkeys(["share", "advantage", "worst_group", "decided_at"])
    record = single(threshold=limit)
    record.study["threshold"], record.study["policy"] = None, "policy.toml"
    facts = dict(blocks(page_of(record), Facts)[0].rows)
    assert facts["Threshold"] == "at most 70 targets in one release"
    assert facts["Its reason"] == "Small towns."
    assert facts["Who set it"] == "The board"
    assert facts["Policy"] == "policy.toml"


def facts(record):
    return dict(threat_facts(record, settings_of(record)[0]))


@pytest.mark.parametrize(
    ("section", "changes", "term", "words"),
    [
        ("data", {"path": "python:data"}, "Table", "a data frame, given from Python"),
        ("data", {"table": "x.csv"}, "Table", "x.csv"),
        ("data", {"missing": "category"}, "Missing values", "a separate value"),
        ("data", {"columns": ["a", "b"]}, "Columns", "a, b"),
        ("data", {"drop": ["a"]}, "Columns left out", "a"),
        ("threat", {"unknown": None, "known": ["a"]}, "Known to the attacker", "a"),
        ("threat", {"unknown": None, "known": ["a"]}, "Unknown to the attacker",
         "all other columns"),
        ("threat", {"people": "rows"}, "Where they come from", "real rows of the table"),
        ("threat", {"within": None, "at_least": 2}, "A target counts as recovered when",
         "at least 2 of the unknown columns are right"),
        ("prior", {"name": "empirical"}, "What the attacker knows beforehand",
         "the table's own rows"),
        ("prior", {"name": "mine:Prior"}, "What the attacker knows beforehand",
         "mine:Prior (the user's own)"),
        ("mechanism", {"epsilon": None, "mu": 0.5}, "Privacy level (mu)", "0.5"),
        ("mechanism", {"epsilon": None, "scale": [0, 12.5]}, "Noise scale", "no noise, 12.5"),
        ("mechanism", {}, "delta", "1e-05"),
        ("mechanism", {"k": None, "sets": [["a", "b"], ["b"]]}, "What is released",
         "tables of counts: a, b; b"),
        ("mechanism", {"noise": "laplace"}, "What is released",
         "all 3-way tables of counts that touch an unknown column, Laplace noise on each cell"),
    ],
)  # fmt: skip
def test_what_a_section_says(table_record, section, changes, term, words):
    record = table_record(1)
    record.study[section].update(changes)
    assert facts(record)[term] == words


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"width": 5, "edges": None}, "bins of width 5"),
        ({"edges": [20.0, 30.5]}, "a new bin from 20, 30.5"),
        ({"quantiles": 4}, "4 bins of equal share"),
        ({"above": 90}, "above 90"),
        ({"width": None}, "as they are"),
    ],
)
def test_bins_in_words(table_record, spec, words):
    record = table_record(1)
    record.study["data"]["bins"] = {"age": spec}
    assert facts(record)["Columns in bins"] == f"age: {words}"


def test_sections_that_are_missing_are_left_out(table_record):
    record = table_record(1, threshold=None)
    for section in ("data", "threat", "prior", "mechanism", "policy"):
        record.study.pop(section)
    assert facts(record) == {"A target counts as recovered when": "every unknown column is right"}
    assert not are_real(record)


def setting_of(record):
    return KIND.judged(record).each[0]


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
    result = one.result.model_copy(update={"label": "marginals of two columns"})
    long = replace(one, result=result)
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

    def other(one):
        """Move an attack's share, and with it its columns and its gain."""
        share = rng.uniform(0.3, 0.9)
        shift = share - one.share
        gain = one.gain.value + shift
        new = {"low": max(0, share - 0.1), "value": share, "high": min(1, share + 0.1)}
        columns = {
            name: column.model_copy(update={"quantity": moved(column.quantity, shift)})
            for name, column in one.columns.items()
        }
        changes = {
            "quantity": one.quantity.model_copy(update={**new, "approximate": None}),
            "low_joint": max(0.0, share - 0.15),
            "gain": changed(one.gain, value=gain, low=gain - 0.1, high=gain + 0.1),
            "gain_low_joint": gain - 0.15,
            "gain_low_apart": None,
            "advantage": moved(one.advantage, shift),
            "columns": columns,
        }
        return one.model_copy(update=changes)

    settings = tuple(
        changed(
            one,
            best=rng.choice([*one.attacks]),
            attacks={name: other(attack) for name, attack in one.attacks.items()},
        )
        for one in record.result.settings
    )
    return changed(record, result=changed(record.result, settings=settings))


def moved(found, shift):
    """Give a quantity that is more by so much, within [0, 1]."""
    ends = {key: getattr(found, key) + shift for key in ("value", "low", "high")}
    return found.model_copy(update={key: min(1, max(0, end)) for key, end in ends.items()})


def texts(record):
    """Give every sentence of a page and of the statement, made of the rows."""
    # an early record has groups of few real people, and is drawn for internal use alone
    page = page_text(page_of(record, internal=True))
    stated = statement_markdown(statement_of(record, internal=True))
    return " ".join(f"{page} {stated}".replace("\\", "").split())


def table_records(every_record, single):
    found = [r for r in every_record.values() if r.kind == "table"]
    return [*found, single()]


def test_what_is_called_best_is_the_row_that_is_quoted(every_record, single):
    """Issue 26: a page quoted the attack `prior` (61.3) beside 62.5 on the same page."""
    rng = random.Random(1)
    records = table_records(every_record, single)
    records += [shuffled(record, rng) for record in records for _ in range(3)]
    for record in records:
        one, said = KIND.judged(record).worst, texts(record)
        name, best = best_name(one), one.result.best_attack
        largest = max(attack.share for attack in one.result.attacks.values())
        assert (name == "the best attack") == (best.share == largest)
        for quoted in re.findall(r"the best attack \([^)]*\) recovers (\d+\.\d)%", said):
            assert quoted == f"{100 * largest:.1f}" == f"{100 * best.share:.1f}"
        attacks = [n[:2] for n in numbers_of(record) if "by the attack" in n[0]]
        assert attacks == [
            (f"Recovered with it by the attack {one.result.best}", percent(best.share))
        ]
        if name != "the best attack":
            assert "by the best attack" not in said
            assert "the best attack" not in said.lower()
            assert f"{name} recovers {percent(best.share)}" in said
            assert f"{percent(best.share)} recovered by {name}" in said
            assert attack_name(one.result.best) in name
