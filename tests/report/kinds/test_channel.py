"""Channels as a page: exact numbers turned into successes, limits turned the right way round."""

import pytest

from narcissus.report import Facts, Figure, Grid, page_of, render_text


def numbers(record):
    return [number[1:] for number in page_of(record).verdict.numbers]


def test_exact_errors_are_shown_as_successes(record_of):
    """Guessing error .5, Bayes risk .425, and 1 - .45 / 2 for the worst two."""
    assert numbers(record_of("channel")) == [
        ("50.0%", "exact", "proved"),
        ("57.5%", "exact", "proved"),
        ("77.5%", "50% by guessing", "proved"),
    ]


def test_limits_of_an_error_are_those_of_the_success_turned_round(record_of):
    """Bayes risk in .35330 to .37950; Bayes security in .41985 to .58266, halved."""
    without, with_it, apart = numbers(record_of("samples"))
    assert without == ("25.2%", "the commonest secret on these samples, no limits", "approximate")
    assert with_it == ("63.8%", "95% limits 62.0%\xa0to\xa064.7%", "sampled")
    assert apart == ("74.6%", "95% limits 70.8%\xa0to\xa079.1%; 50% by guessing", "sampled")


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [(None, 0.4, "at least 60.0%"), (0.3, None, "at most 70.0%"), (None, None, "\N{EM DASH}")],
)
def test_a_limit_that_is_missing_is_missing_on_the_other_side(record_of, low, high, words):
    def edit(results):
        results["estimated"]["bayes_risk"].update(low=low, high=high)

    assert words in numbers(record_of("samples", edit))[1][1]


def test_what_was_not_recorded_is_not_assessed(record_of):
    record = record_of("samples", lambda r: r["estimated"].update(guessing_error=None))
    assert numbers(record)[0] == ("\N{EM DASH}", "not recorded", "not assessed")
    record = record_of("channel", lambda r: r["exact"].update(shannon_leakage=None))
    grid = page_of(record).sections[2].blocks[0]
    assert isinstance(grid, Grid)
    grades = dict(zip((row[0] for row in grid.rows), grid.grades, strict=True))
    assert grades.pop("Shannon leakage") == "not assessed"
    assert set(grades.values()) == {"proved"}


def test_pairs_stand_easiest_first(record_of, blocks):
    pairs, _ = blocks(page_of(record_of("channel")), Figure)
    assert pairs.title == "a and c are easiest to tell apart"
    assert [row[2] for row in pairs.table.rows] == [0.45, 0.45, 0.75]
    assert "The darkest is 0.45, the lightest 0.75" in pairs.description


def test_limits_in_the_table_are_rounded_outwards(record_of, blocks):
    [samples] = blocks(page_of(record_of("samples")), Figure)
    assert samples.table.rows[-1][2:] == ["0.4198 to 0.5827", 0.362, "0.3533 to 0.3795"]
    assert samples.title == "The limits close in as more samples are used"

    def widen(results):
        results["estimated"]["history"][-1]["bayes_risk"].update(low=None, high=None)

    [samples] = blocks(page_of(record_of("samples", widen)), Figure)
    assert samples.title == "The limits at each number of samples"
    assert samples.table.rows[-1][4] == "\N{EM DASH}"


def test_the_threshold_and_what_is_taken_as_given_are_shown(record_of, blocks):
    record = record_of("mechanism")
    facts = dict(blocks(page_of(record), Facts)[0].rows)
    assert facts["Outputs that the attacker sees"] == str(record.study["channel"]["uses"])
    limit = record.study["threshold"]["beta_star"]
    assert facts["Threshold: Bayes security at least"] == f"{limit:g}"
    assert "implemented as described" in " ".join(render_text(record).split())
