"""The command protect: keys, numbers, words, and one clear error each."""

from __future__ import annotations

import pytest


def test_protect_says_which_success_is_meant(answer, call):
    line = "protect --prior 0.5 --advantage 0.05 --delta 1e-5"
    anyhow, exact = answer(line), answer(line + " --success exact")
    assert (anyhow["criterion"], exact["criterion"]) == ("any", "exact match")
    assert exact["mu"] > 1.5 * anyhow["mu"]
    assert exact["mu"] == pytest.approx(
        answer("protect --values 0.5,0.5 --advantage 0.05 --delta 1e-5")["mu"], rel=1e-6
    )
    assert any("--success exact" in note for note in anyhow["notes"])
    assert "by_value" not in exact
    assert exact["grade"] == "proved"
    assert "Note: " in call(line)[1]


def test_protect(answer):
    found = answer("protect --prior 0.1072326 --advantage 0.05 --delta 1e-5")
    assert found["epsilon"] == pytest.approx(0.399247, abs=1e-5)
    assert found["advantage"] <= 0.05 + 1e-12
    back = answer(f"bound --mu {found['mu']!r} --prior 0.1072326")
    assert back["advantage"] == pytest.approx(0.05, abs=1e-6)
    line = "protect --prior 0.5 --delta 1e-6 --targets 100 --at-most 70 --confidence 0.95"
    found = answer(line)
    assert found["exceeded"] <= 0.05
    back = answer(f"bound --epsilon {found['epsilon']!r} --delta 1e-6 --prior 0.5 --targets 100")
    assert back["at_most"] == 70
    found = answer("protect --values 0.7,0.2,0.1 --advantage 0.1")
    assert found["epsilon"] > found["by_value"]["most"]
    assert set(found["by_value"]) == {"least", "median", "most"}


@pytest.mark.parametrize(
    ("line", "option"),
    [
        ("protect --values 0.5,0.5 --advantage 0.1 --success any", "--success"),
        ("protect --prior 0.1", "--advantage"),
        ("protect --prior 0.1 --advantage 2", "--advantage"),
        ("protect --prior 0.1 --advantage 0 --delta 1e-5", "--delta"),
        ("protect --prior 1 --advantage 0.1", "--prior"),
        ("protect --prior 0.1 --targets 5", "--at-most"),
        ("protect --prior 0.5 --targets 5 --at-most 0", "sees no release"),
        ("protect --prior 0.5 --targets 5 --at-most 5", "--at-most"),
        ("protect --prior 0.1 --advantage 0.1 --confidence 0.9", "--confidence"),
    ],
)
def test_bad_input_gives_one_error_that_names_the_option(one_error, line, option):
    one_error(line, option)


def test_help_has_examples(call):
    code, out, _ = call("protect --help")
    assert code == 0
    assert out.count("narcissus protect ") >= 3
