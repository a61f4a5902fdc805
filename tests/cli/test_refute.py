"""The command refute: keys, numbers, words, and one clear error each."""

from __future__ import annotations

import numpy as np
import pytest


def test_refute(answer, call):
    found = answer("refute --canaries 1000 --guesses 100 --correct 75 --delta 1e-4")
    assert found["epsilon"] == pytest.approx(0.695126, abs=1e-5)
    assert all({"id", "name", "epsilon", "p_value", "valid"} == set(m) for m in found["methods"])
    found = answer("refute --canaries 1000 --guesses 100 --correct 75 --delta 1e-4 --claim 0.673")
    (theirs,) = [m for m in found["methods"] if "Steinke" in m["name"]]
    assert theirs["p_value"] == pytest.approx(0.05, abs=1e-4)
    code, out, _ = call("refute --canaries 10 --guesses 5 --correct 3")
    assert code == 0
    assert "NOTHING REFUTED" in out


def test_refute_from_scores(answer, call, tmp_path):
    rng = np.random.default_rng(1)
    member = rng.integers(0, 2, 3000)
    score = rng.normal(size=3000) + 2 * member
    path = tmp_path / "scores.csv"
    rows = "\n".join(f"{s},{m}" for s, m in zip(score, member, strict=True))
    path.write_text("score,member\n" + rows + "\n")
    found = answer("refute --delta 1e-5", "--scores", str(path))
    assert found["chosen_on"] == 1000
    assert found["grade"] == "sampled"
    assert found["guesses_chosen"] == "after"
    again = answer("refute --delta 1e-5", "--scores", str(path), "--seed", str(found["seed"]))
    assert again == found
    assert answer("refute --delta 1e-5 --seed 1", "--scores", str(path))["epsilon"] > 2
    order = np.argsort(member)
    rows = "\n".join(f"{s},{m}" for s, m in zip(score[order], member[order], strict=True))
    path.write_text("score,member\n" + rows + "\n")
    assert answer("refute --delta 1e-5 --seed 1", "--scores", str(path))["epsilon"] > 2
    path.write_text("points,member\n1,0\n")
    code, _, err = call("refute", "--scores", str(path))
    assert code == 2
    assert "`score`" in err
    path.write_text("")
    assert call("refute", "--scores", str(path))[0] == 2
    path.write_text("score,member\n" + "1,yes\n" * 9)
    assert call("refute", "--scores", str(path))[0] == 2


def test_refute_from_pairs(answer, call, tmp_path):
    rng = np.random.default_rng(1)
    rows = []
    for pair in range(300):
        one, other = f"{rng.normal(2)},1,{pair}", f"{rng.normal(0)},0,{pair}"
        rows += [one, other] if rng.random() < 0.5 else [other, one]
    path = tmp_path / "pairs.csv"
    path.write_text("score,member,pair\n" + "\n".join(rows) + "\n")
    line = "refute --delta 1e-5 --seed 1"
    found = answer(line + " --pairs", "--scores", str(path))
    assert found["epsilon"] > 1
    assert (found["canaries"], found["chosen_on"]) == (200, 100)
    code, _, err = call(line, "--scores", str(path))
    assert code == 2
    assert "`--pairs`" in err
    consecutive = "\n".join(row.rpartition(",")[0] for row in rows)
    path.write_text("score,member\n" + consecutive + "\n")
    assert answer(line + " --pairs", "--scores", str(path)) == found
    code, _, err = call(line, "--scores", str(path))
    assert code == 2
    assert "give `--pairs`" in err


def test_refute_says_when_the_guesses_were_chosen(answer, call):
    line = "refute --canaries 1000 --guesses 100 --correct 75 --delta 1e-4"
    before, after = answer(line), answer(line + " --guesses-chosen after")
    assert before["epsilon"] > after["epsilon"] > 0
    assert after["p_value"] == 2 * before["p_value"]
    assert any("fixed before" in said for said in before["assumptions"])
    assert any("half the level" in said for said in after["assumptions"])
    out = call(line)[1]
    assert "REFUTED (sampled)" in out
    assert "assuming every canary's value was drawn uniformly" in out


@pytest.mark.parametrize(
    ("line", "option"),
    [
        ("refute --canaries 10 --guesses 20 --correct 3", "--guesses"),
        ("refute --canaries 10 --guesses 5 --correct 6", "--correct"),
        ("refute --canaries 10 --guesses 5", "--correct"),
        ("refute --canaries 10 --guesses 5 --correct 3 --delta -1", "--delta"),
        ("refute --canaries 10 --guesses 5 --correct 3 --confidence 2", "--confidence"),
        ("refute --canaries 10 --guesses 5 --correct 3 --values 1", "--values"),
        ("refute --canaries 10 --guesses 5 --correct 3 --claim -1", "--claim"),
        ("refute --canaries 10 --guesses 5 --correct 3 --guesses-chosen now", "--guesses-chosen"),
        ("refute --canaries 10 --guesses 5 --correct 3 --seed 1", "--seed"),
        ("refute --canaries 10 --guesses 5 --correct 3 --pairs", "--pairs"),
    ],
)
def test_bad_input_gives_one_error_that_names_the_option(one_error, line, option):
    one_error(line, option)


def test_help_has_examples(call):
    code, out, _ = call("refute --help")
    assert code == 0
    assert out.count("narcissus refute ") >= 3


def test_a_prior_for_each_canary(answer, call, tmp_path):
    path = tmp_path / "priors.csv"
    path.write_text("in,out\n" + "0.7,0.3\n" * 60 + "0.5,0.5\n" * 60)
    found = answer("refute --correct 105 --delta 1e-5", "--priors", str(path))
    assert found["epsilon"] == pytest.approx(1.477, abs=2e-3)
    assert (found["canaries"], found["guesses"]) == (120, 120)
    assert {m["id"] for m in found["methods"]} == {"interpolation", "swap"}
    assert "its own prior" in " ".join(found["assumptions"])
    for options, said in (
        ("refute", "`--correct` is missing"),
        ("refute --correct 3 --guesses 5", "`--guesses` follows from `--priors`"),
    ):
        code, _, err = call(options, "--priors", str(path))
        assert code == 2
        assert said in err


def test_scores_with_a_prior_for_each_canary(answer, call, tmp_path):
    rng = np.random.default_rng(2)
    prior = rng.choice([0.1, 0.5], 900)
    member = (rng.random(900) < prior).astype(int)
    score = rng.normal(size=900) + 2 * member
    path = tmp_path / "scores.csv"
    rows = "\n".join(f"{s},{m},{p}" for s, m, p in zip(score, member, prior, strict=True))
    path.write_text("score,member,prior\n" + rows + "\n")
    found = answer("refute --seed 1", "--scores", str(path))
    assert found["methods"][0]["id"] == "swanberg-3.2"
    assert found["epsilon"] > 1
    code, _, err = call("refute --pairs", "--scores", str(path))
    assert code == 2
    assert 'a column "prior"' in err
    path.write_text("score,member,prior\n" + "1,1,0.01\n" * 20)
    code, _, err = call("refute", "--scores", str(path))
    assert code == 2
    assert "20 of 20 are in" in err


def test_what_was_guessed_says_whom_the_refutation_is_about(answer, call, tmp_path, one_error):
    line = "refute --canaries 1000 --guesses 1000 --correct 640"
    both = answer(line)
    inside = answer(line + " --secret membership")
    value = answer(line + " --secret value")
    assert both.pop("membership") == inside
    assert both == value
    assert inside["epsilon"] == value["epsilon"]
    assert value["noise"] == pytest.approx(2 / value["mu"])  # two clipping norms
    assert inside["noise"] == pytest.approx(1 / inside["mu"])
    said = call(line)[1]
    assert said.startswith("Asked: what value a canary has; what is refuted is about replaced")
    assert "(replaced records), or 4.24297 (added and removed records)." in said
    many = "refute --canaries 1000 --guesses 1000 --correct 240 --values 10"
    assert "membership" not in answer(many)
    one_error(many + " --secret membership", "10 values")
    rng = np.random.default_rng(1)
    member = rng.integers(0, 2, 600)
    score = rng.normal(size=600) + 2 * member
    path = tmp_path / "scores.csv"
    path.write_text(
        "score,member\n" + "\n".join(f"{s},{m}" for s, m in zip(score, member, strict=True)) + "\n"
    )
    found = answer("refute --seed 1", "--scores", str(path))
    assert found["secret"] == "membership"  # a coin each: in or out
    assert found["noise"] == pytest.approx(1 / found["mu"])
    pair = np.arange(600) // 2
    coin = rng.integers(0, 2, 300)
    member = (np.arange(600) % 2 == coin[pair]).astype(int)
    rows = zip(rng.normal(size=600) + 2 * member, member, pair, strict=True)
    path.write_text("score,member,pair\n" + "\n".join(f"{s},{m},{p}" for s, m, p in rows) + "\n")
    found = answer("refute --pairs --seed 1", "--scores", str(path))
    assert found["secret"] == "value"  # one record in the place of another
    assert found["noise"] == pytest.approx(2 / found["mu"])
    code, _, err = call("refute --pairs --secret membership", "--scores", str(path))
    assert code == 2
    assert "takes the place of another" in err


@pytest.mark.parametrize(
    ("rows", "place"),
    [
        ("1,1,a\n2,0,a,7\n", "line 3 has 4 cells"),
        ("1,1,a\nx,0,a\n", "row 2, column `score`"),
        ("1,1,a\n2,0,\n", "row 2, column `pair`, is empty"),
        ("1,1,a\n2,0,a\n3,1,b\n", "row 3 belongs to a pair of 1 rows"),
        ("1,,a\n2,0,a\n", "row 1, column `member`"),
    ],
)
def test_a_malformed_line_is_named_by_its_place(call, tmp_path, rows, place):
    path = tmp_path / "pairs.csv"
    path.write_text("score,member,pair\n" + rows)
    code, out, err = call("refute --pairs", "--scores", str(path))
    assert (code, out) == (2, "")
    assert place in err
    assert "Traceback" not in err
