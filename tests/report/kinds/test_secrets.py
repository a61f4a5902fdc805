"""The report of secrets: a picture for each prior, the numbers behind it, what is refuted."""

import math

import pytest

import narcissus
from narcissus.report import Figure, page_of, render_html, render_text
from narcissus.report.format import percent


@pytest.fixture(scope="module")
def audit():
    return narcissus.run(
        narcissus.load_study(
            {
                "kind": "secrets",
                "prior": [{"name": "uniform", "n": 4}, {"name": "zipf", "n": 4}],
                "mechanism": {
                    "name": "ngram-dp-sgd", "epsilon": [1.0, 8.0, math.inf], "steps": 3,
                },
                "attacks": {"argmax": {}, "ranking": {}},
                "threshold": {"advantage": 0.2},
                "run": {"models": 300, "seed": 3},
            }
        )
    )  # fmt: skip


def figures(audit):
    blocks = (b for s in page_of(audit.record).sections for b in s.blocks)
    return {b.name: b for b in blocks if isinstance(b, Figure)}


def test_there_is_a_picture_for_each_prior(audit):
    found = figures(audit)
    assert list(found) == ["secrets_uniform_over_4", "secrets_zipf_over_4_s_1_1"]
    table = found["secrets_uniform_over_4"].table
    settings = audit.record.results.settings[:3]
    assert [row[1] for row in table.rows] == [0.25] * 3
    assert [row[3] for row in table.rows] == [one.best.success.value for one in settings]
    assert [row[-1] for row in table.rows] == [one.status for one in settings]


def test_success_guess_and_bound_are_drawn(audit):
    axes = audit.plot("secrets_uniform_over_4")
    drawn = {round(float(y), 9) for line in axes.lines for y in line.get_ydata()}
    for one in audit.record.results.settings[:3]:
        wanted = [one.guess, *(a.success.value for a in one.attacks)]
        wanted += [] if one.bound is None else [one.bound.value]
        assert {round(value, 9) for value in wanted} <= drawn


def test_the_text_has_the_numbers_with_their_grades(audit):
    text = " ".join(render_text(audit.record).split())
    worst = audit.record.results.headline
    assert percent(worst.best.success.value) in text
    assert "Guessed without the model" in text
    assert "argmax refutes every epsilon below" in text or "ranking refutes" in text
    assert "no noise: nothing is proved" in text
    html = render_html(audit.record)
    assert "<script" not in html


def test_limits_and_bounds_are_rounded_outwards(audit):
    one = audit.record.results.settings[1]
    rows = figures(audit)["secrets_uniform_over_4"].table.rows
    shown = float(rows[1][5].rstrip("%")) / 100
    assert one.bound.value <= shown < one.bound.value + 0.0011


def test_the_secrets_of_the_headline_are_those_hurt_most(audit):
    worst = audit.record.results.headline
    words, grade = page_of(audit.record).verdict.worst
    assert words.startswith(
        f"{worst.label}. {worst.best.name} names {percent(worst.best.success.value)}"
    )
    assert grade == "sampled"
