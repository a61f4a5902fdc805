"""`bound` and `protect` about people with a prior each: the numbers are those of the library."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.bounds import ThreatToPeople
from narcissus.guarantees import GaussianDP, PureDP

ROWS = np.random.default_rng(3).dirichlet([3.0, 1.0, 1.0], size=30)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "people.csv"
    rows = ROWS.copy()
    rows[:, 2] = 1 - rows[:, 0] - rows[:, 1]
    path.write_text("a,b,c\n" + "\n".join(",".join(map(repr, r)) for r in rows.tolist()))
    return str(path)


@pytest.mark.parametrize(
    ("options", "guarantee"), [("--epsilon 1", PureDP(1)), ("--mu 1", GaussianDP(1))]
)
def test_bound_gives_the_mean_the_most_exposed_and_the_count(
    answer, call, file, options, guarantee
):
    people = ThreatToPeople(ROWS)
    found = answer(f"bound {options}", "--priors", file)
    assert found["people"] == 30
    assert found["grade"] == "proved"
    assert found["prior"] == pytest.approx(people.prior.mean(), rel=1e-12)
    assert found["success"] == pytest.approx(people.mean(guarantee).value, rel=1e-12)
    gained = people.advantage(guarantee)
    worst = found["most_exposed"]
    assert worst["row"] == int(gained.argmax()) + 1
    assert worst["advantage"] == pytest.approx(gained.max(), rel=1e-9)
    assert found["at_most"] == people.at_most(guarantee, 0.95).value
    assert "independent" in found["assumptions"][1]
    lines = call(f"bound {options}", "--priors", file)[1]
    most = people.reached_number(guarantee, 0.95)
    assert found["reached"] == most <= found["at_most"]
    assert f"With 95% confidence at most {found['at_most']} of 30 people fall (proved); " in lines
    assert f"some mechanism with this guarantee reaches {most}." in lines
    assert f"row {worst['row']}, from" in lines
    tail = answer(f"bound {options} --at-least 25", "--priors", file)
    assert tail["tail"] == pytest.approx(people.tail(guarantee, 25).value, rel=1e-9)
    assert tail["reached"] == pytest.approx(people.reached(guarantee, 25), rel=1e-9)
    assert tail["reached"] <= tail["tail"] * (1 + 1e-12)
    assert "at_most" not in tail
    assert (
        "That at least 25 of 30 people"
        in call(f"bound {options} --at-least 25", "--priors", file)[1]
    )


def test_where_nothing_is_proved_of_the_count_it_is_said(call, answer, file):
    assert (
        "Nothing is proved about how many of 30" in call("bound --epsilon 20", "--priors", file)[1]
    )
    assert "4.6" in answer("bound --epsilon 20", "--priors", file)["theorem"]


def test_protect_keeps_every_one(answer, call, file):
    found = answer("protect --advantage 0.05", "--priors", file)
    people = ThreatToPeople(ROWS)
    assert people.advantage(PureDP(found["epsilon"])).max() <= 0.05 + 1e-9
    assert people.advantage(PureDP(found["epsilon"] + 1e-4)).max() > 0.05
    assert found["most_exposed"]["advantage"] == pytest.approx(0.05, abs=1e-6)
    assert "on one person: row" in call("protect --advantage 0.05", "--priors", file)[1]
    count = answer("protect --at-most 27 --delta 1e-6", "--priors", file)
    assert count["exceeded"] <= 0.05
    assert count["people"] == 30


@pytest.mark.parametrize(
    ("line", "option"),
    [
        ("bound --epsilon 1 --targets 30 --priors {}", "--targets"),
        ("bound --epsilon 1 --guesses 3 --priors {}", "--guesses"),
        ("bound --epsilon 1 --within 1 --priors {}", "--within"),
        ("bound --epsilon 1 --success exact --priors {}", "--success"),
        ("bound --epsilon 1 --prior 0.5 --priors {}", "got --prior and --priors"),
        ("bound --epsilon 1 --plot a.svg --priors {}", "--plot"),
        ("bound --epsilon 1 --confidence 0.9 --at-least 3 --priors {}", "--at-least"),
        ("protect --advantage 0.1 --targets 30 --priors {}", "--targets"),
        ("protect --priors {}", "--advantage"),
    ],
)
def test_what_does_not_go_with_people_is_one_error(one_error, file, line, option):
    one_error(line.format(file), option)


@pytest.mark.parametrize("guarantee", ["--mu 0.5", "--epsilon 0.3 --delta 1e-3"])
def test_the_same_people_are_limited_alike_by_every_option(answer, tmp_path, guarantee):
    rows = tmp_path / "rows.csv"
    rows.write_text("0.5,0.5\n" * 30, encoding="utf-8")
    keys = ("success", "at_most", "reached")
    first = answer(f"bound {guarantee} --targets 30 --values 0.5,0.5")
    ways = [
        answer(f"bound {guarantee}", "--priors", str(rows)),
        answer(f"bound {guarantee} --targets 30 --prior 0.5 --success exact"),
        answer(f"bound {guarantee} --targets 30 --bits 1"),
        answer(f"bound {guarantee} --targets 30 --values 0.5,0.5 --within 0"),
    ]
    for way in ways:
        assert {k: way[k] for k in keys} == pytest.approx({k: first[k] for k in keys}, rel=1e-9)
    tails = [
        answer(f"bound {guarantee} --at-least 20", *people)["tail"]
        for people in (["--values", "0.5,0.5", "--targets", "30"], ["--priors", str(rows)])
    ]
    assert tails[0] == pytest.approx(tails[1], rel=1e-9)
