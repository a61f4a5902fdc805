"""The commands refute, membership and complexity: keys, numbers, words, one clear error each."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import special


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
    assert found["grade"] == "sampled"
    assert found["guesses_chosen"] == "every"
    assert found["epsilon"] > 2.5
    line = "refute --delta 1e-5"
    order = np.argsort(member)
    rows = "\n".join(f"{s},{m}" for s, m in zip(score[order], member[order], strict=True))
    path.write_text("score,member\n" + rows + "\n")
    assert answer(line, "--scores", str(path)) == found
    code, out, err = call(line + " --seed 1", "--scores", str(path))
    assert (code, "no effect" in err) == (0, True)
    assert "Every number of guesses was tested together" in out
    fixed = answer(line + " --guesses 500", "--scores", str(path))
    assert (fixed["guesses"], fixed["guesses_chosen"]) == (500, "before")
    for names, arrays in (
        ("in_canary_scores,out_canary_scores", (score[member == 1], score[member == 0])),
        ("signal_values,true_labels", (-score, member)),
        ("scores,members", (score, member)),
    ):
        other = tmp_path / "other.npz"
        np.savez(other, **dict(zip(names.split(","), arrays, strict=True)))
        assert answer(line, "--scores", str(other)) == found
    np.save(tmp_path / "signals.npy", score[:, None])
    np.savez(tmp_path / "signals.npz", score[:, None])
    for name in ("signals.npy", "signals.npz"):  # as privacy_meter leaves them
        code, _, err = call("refute", "--scores", str(tmp_path / name))
        assert code == 2
        assert "not who is in; save the losses of one model and its members together" in err
    inside, outside = score[member == 1], score[member == 0]
    frame = {"in_canary_scores": pd.Series(inside), "out_canary_scores": pd.Series(outside)}
    pd.DataFrame(frame).to_csv(path, index=False)
    assert answer(line, "--scores", str(path)) == found
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
    line = "refute --delta 1e-5"
    found = answer(line + " --pairs", "--scores", str(path))
    assert found["epsilon"] > 1
    assert found["canaries"] == 300
    code, _, err = call(line, "--scores", str(path))
    assert code == 2
    assert "`--pairs`" in err
    consecutive = "\n".join(row.rpartition(",")[0] for row in rows)
    path.write_text("score,member\n" + consecutive + "\n")
    assert answer(line + " --pairs", "--scores", str(path)) == found
    code, _, err = call(line, "--scores", str(path))
    assert code == 2
    assert "give `--pairs`" in err


def test_refute_from_guesses_of_values_and_from_runs(answer, call, tmp_path, one_error):
    rng = np.random.default_rng(3)
    sure = rng.random(999)
    right = (rng.random(999) < 0.1 + 0.9 * sure).astype(int)
    path = tmp_path / "guesses.csv"
    pd.DataFrame({"score": sure, "right": right}).to_csv(path, index=False)
    found = answer("refute --values 10", "--scores", str(path))
    assert (found["values"], found["secret"]) == (10, "value")
    assert found["epsilon"] > 3
    one_error(f"refute --pairs --scores {path}", "--pairs")
    member = (np.arange(999) % 2 == 0).astype(int)
    pd.DataFrame({"score": sure + member, "member": member}).to_csv(path, index=False)
    one_error(f"refute --values 10 --scores {path}", "--values")
    one_error(f"refute --claim 1 --runs {path} --coins", "--coins")
    other = tmp_path / "right.csv"
    other.write_text("score,right\n" + "1,1\n" * 9)
    one_error(f"refute --runs {other}", "--runs")
    runs = answer("refute --delta 1e-5", "--runs", str(path))
    assert runs["epsilon"] > 0.5
    assert runs["grade"] == "sampled"
    code, out, _ = call("refute --delta 1e-5 --threshold 1", "--runs", str(path))
    assert (code, "999 runs with one canary each" in out) == (0, True)


def test_exactly_half_asks_for_coins(answer, tmp_path, one_error):
    path = tmp_path / "half.csv"
    member = np.random.default_rng(5).permutation(np.repeat([0, 1], 50))
    pd.DataFrame({"score": member + 0.0, "member": member}).to_csv(path, index=False)
    one_error(f"refute --scores {path}", "--coins")
    assert answer("refute --coins", "--scores", str(path))["epsilon"] > 3


def test_refute_says_when_the_guesses_were_chosen(answer, call):
    line = "refute --canaries 1000 --guesses 100 --correct 75 --delta 1e-4"
    before, after = answer(line), answer(line + " --guesses-chosen after")
    assert before["epsilon"] > after["epsilon"] > 0
    assert after["p_value"] == 2 * before["p_value"]
    assert any("fixed before" in said for said in before["assumptions"])
    assert any("half the level" in said for said in after["assumptions"])
    out = call(line)[1]
    assert "REFUTED (estimated)" in out
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
        ("refute --canaries 10 --guesses 5 --correct 3 --pairs", "--pairs"),
        ("refute --canaries 10 --guesses 5 --correct 3 --coins", "--coins"),
        ("refute --canaries 10 --guesses 5 --correct 3 --threshold 1", "--threshold"),
    ],
)
def test_bad_input_gives_one_error_that_names_the_option(one_error, line, option):
    one_error(line, option)


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
        ("refute --correct 3 --guesses 5", "`--guesses` does not go with `--priors`"),
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
    found = answer("refute", "--scores", str(path))
    assert found["methods"][0]["id"] == "sweep"
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
    found = answer("refute", "--scores", str(path))
    assert found["secret"] == "membership"  # a coin each: in or out
    assert found["noise"] == pytest.approx(1 / found["mu"])
    pair = np.arange(600) // 2
    coin = rng.integers(0, 2, 300)
    member = (np.arange(600) % 2 == coin[pair]).astype(int)
    rows = zip(rng.normal(size=600) + 2 * member, member, pair, strict=True)
    path.write_text("score,member,pair\n" + "\n".join(f"{s},{m},{p}" for s, m, p in rows) + "\n")
    found = answer("refute --pairs", "--scores", str(path))
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


@pytest.fixture
def scores(tmp_path, monkeypatch):
    """Write scores of leaking models, and go to their folder."""
    rng = np.random.default_rng(3)
    members = rng.random((12, 120)) < 0.5
    chance = special.expit(rng.normal(size=120) + rng.normal(size=(12, 120)) + 3 * members)
    monkeypatch.chdir(tmp_path)
    np.savez("s.npz", scores=chance, members=members)
    np.save("s.npy", chance)
    np.save("m.npy", members)
    return chance, members


def test_keys_and_numbers(scores, answer):
    found = answer("membership s.npz --scale probability --seed 1 --delta 1e-5")
    assert found["grade"] == "sampled"
    assert (found["attack"], found["models"], found["records"]) == ("lira", 12, 120)
    assert (found["targets"], found["folds"], found["coins"]) == (3, 1, "own coins")
    assert found["epsilon"] > 0.5
    assert (found["seed"], found["delta"], found["claim"]) == (1, 1e-5, 0)
    assert [one["grade"] for one in found["rates"]] == ["approximate"] * 3
    assert [one["aimed"] for one in found["across"]] == [0.001, 0.01, 0.1]
    assert "claimed" not in found
    again = answer("membership s.npz --scale probability --seed 1 --delta 1e-5 --fpr 0.2")
    assert again["epsilon"] == found["epsilon"]
    assert again["at"] == [0.2]
    same = answer("membership s.npy --members m.npy --scale probability --seed 1 --delta 1e-5")
    assert same == found


def test_words(scores, call):
    code, out, _ = call("membership s.npz --scale probability --attack rmia --seed 1")
    assert code == 0
    assert "REFUTED (estimated): rmia on 3 of 12 models" in out
    assert "over records (approximate" in out
    assert "Mean rates over further models, 3 trials (sampled" in out
    out = call("membership s.npz --scale probability --folds 3 --seed 1")[1]
    assert "in 3 folds" in out
    assert "NOT ASSESSED: rates over further models" in out


def test_canaries_are_read_by_refute(scores, answer, call):
    code, _, _ = call("membership s.npz --scale probability --seed 1 --canaries c.csv")
    assert code == 0
    table = pd.read_csv("c.csv")
    assert list(table.columns) == ["score", "member"]
    assert len(table) == 3 * 120
    assert answer("refute --scores c.csv")["epsilon"] > 0.5


def test_priors_go_with_the_canaries(scores, answer, call):
    chance, _ = scores
    members = np.random.default_rng(0).random(chance.shape) < 0.3
    np.savez("p.npz", scores=chance, members=members, priors=np.full(120, 0.3))
    assert call("membership p.npz --seed 1 --canaries c.csv")[0] == 0
    assert (pd.read_csv("c.csv")["prior"] == 0.3).all()
    assert "from its own prior" in answer("refute --scores c.csv")["assumptions"][0]


def test_report(scores, call):
    code, out, _ = call("membership s.npz --scale probability --seed 1 --report r.html")
    assert code == 0
    assert "Report: r.html" in out
    page = Path("r.html").read_text(encoding="utf-8")
    assert "Membership told by shadow models: lira" in page
    assert "sha256:" not in page  # by which guesses of the scores could be tested
    out = call("membership s.npz --seed 1 --json --report r.html")[1]
    json.loads(out)


@pytest.mark.parametrize(
    ("line", "option"),
    [
        ("membership s.npz --attack lyra", "--attack"),
        ("membership s.npz --scale prob", "--scale"),
        ("membership s.npz --attack rmia --scale loss --seed 1 --fpr 2", "--fpr"),
        ("membership s.npz --fpr a", "--fpr"),
        ("membership s.npz --folds 2 --canaries c.csv", "--canaries"),
        ("membership s.npz --folds 2 --targets 2", "--targets"),
        ("membership s.npz --folds 13", "--folds"),
        ("membership s.npz --targets 12", "--targets"),
        ("membership s.npz --members m.npy", "--members"),
        ("membership s.npy", "--members"),
        ("membership s.npz --report r.pdf", "--report"),
        ("membership s.npz --confidence 1", "--confidence"),
    ],
)
def test_one_error(scores, one_error, line, option):
    one_error(line, option)


def test_an_attack_on_probabilities_names_the_option(scores, one_error):
    np.savez("s.npz", scores=np.ones((2, 9)) * 3, members=np.eye(2, 9))
    one_error("membership s.npz --attack rmia", "--scale")


NOISE = np.random.default_rng(9).bytes(2000)


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "noise").write_bytes(NOISE)
    (tmp_path / "part").write_bytes(NOISE[200:1800])
    (tmp_path / "text").write_bytes(b"to be or not to be " * 40)
    (tmp_path / "empty").write_bytes(b"")
    return tmp_path


def test_alone(narcissus, files):
    code, out, _ = narcissus("complexity", "text", "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["bytes"], found["given"], found["mutual_information"]) == (760, None, None)
    assert found["complexity"]["value"] < 8 * 100
    assert found["complexity"]["grade"] == "proved"
    # say 13 bytes, copy 6 from 13 before, copy 741 from 19 before, end
    small = (1 + 7 + 104) + (2 + 7 + 5) + (2 + 9 + 19) + 4
    assert found["small_language"] == {
        "complexity": small, "given": None, "mutual_information": None}  # fmt: skip
    assert 0 < found["randomness"]["p_value"] < 1e-50
    assert 0 < found["compressors"] < 1e-200
    assert set(found["randomness"]["p_values"]) == set(found["randomness"]["adjusted"])


def test_given_another(narcissus, files):
    code, out, _ = narcissus("complexity", "part", "--given", "noise", "--json")
    found = json.loads(out)
    information = found["mutual_information"]
    assert code == 0
    assert information["estimate"] == found["complexity"]["value"] - found["given"]["value"]
    assert information["estimate"] > 8 * 1300
    assert (information["at_least"], information["grade"]) == (0, "approximate")
    small = found["small_language"]
    assert small["given"] == 3 + 15 + 21 + 4  # take 1600 from the 201st
    assert small["mutual_information"] == small["complexity"] - 43 > 8 * 1600 - 43
    assert found["randomness"]["p_value"] > 1e-4
    assert found["compressors"] == 1
    code, out, _ = narcissus("complexity", "part", "--given", "noise")
    assert code == 0
    assert out.count("PROVED") == 3
    assert "EXACT in the small language given the other: 43 bits\n" in out
    assert "APPROXIMATE: mutual information" in out
    assert "may be found though the bytes are far from random" in out


def test_long_files_are_tested_in_part(narcissus, files):
    (files / "long").write_bytes(b"\0" + NOISE * 20)
    _, out, _ = narcissus("complexity", "long")
    assert "Of the first 32,768 bytes:" in out
    assert "NOT ASSESSED: the small language: more than 4,096 bytes" in out


def test_an_empty_file_is_described_and_not_tested(narcissus, files):
    code, out, _ = narcissus("complexity", "empty")
    assert (code, "NOT ASSESSED: whether it looks random" in out) == (0, True)
    _, out, _ = narcissus("complexity", "empty", "--json")
    assert json.loads(out)["randomness"] is None


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nothere"], "does not exist"),
        (["text", "--given", "nothere"], "does not exist"),
        (["text", "--givn", "noise"], "Did you mean --given?"),
    ],
)
def test_what_is_wrong_is_said(refused, files, words, says):
    assert says in refused("complexity", *words).replace("'", "")  # Click quotes it since 8.5


def scores_file(path, canaries=200, seed=3, *, strength=3.0, copies=1):
    """Write scores of canaries, each standing some times under one coin."""
    rng = np.random.default_rng(seed)
    inside = np.repeat(rng.random(canaries) < 0.5, copies)
    scores = rng.normal(size=inside.size) + strength * inside
    names = np.repeat(np.arange(canaries), copies)
    rows = zip(scores.tolist(), inside.astype(int).tolist(), names.tolist(), strict=True)
    lines = [f"{score},{member},{name}" for score, member, name in rows]
    path.write_text("\n".join(["score,member,cluster", *lines]) + "\n")
    return path


def test_refute_allows_for_looks_and_for_several_files(tmp_path, answer, call):
    path = scores_file(tmp_path / "s.csv")
    plain = tmp_path / "plain.csv"
    lines = path.read_text().splitlines()
    plain.write_text("\n".join(line.rpartition(",")[0] for line in lines) + "\n")
    once = answer(f"refute --scores {plain} --coins")
    many = answer(f"refute --scores {plain} --coins --chosen-from 5")
    looked = answer(f"refute --scores {plain} --until 500")
    assert 0 < many["epsilon"] < once["epsilon"]
    assert looked["epsilon"] > 0
    assert looked["guesses_chosen"] == "looks"
    assert "at most 500 canaries were planted" in " ".join(looked["assumptions"])
    assert "at most 5 attacks, files" in many["assumptions"][-1]
    assert "the only attack, file and threshold" in once["assumptions"][-1]
    out = call(f"refute --scores {plain} --until 500")[1]
    assert "Looks at any time are allowed for" in out
    assert answer(f"refute --scores {path} --coins")["canaries"] == 200
    assert answer(f"refute --scores {path} --until 500")["canaries"] == 200  # by its clusters


@pytest.mark.parametrize(("header", "cell"), [("score,right", "1"), ("score,member,prior", "1,.5")])
def test_looks_are_refused_where_no_rule_is_proved(tmp_path, refused, header, cell):
    path = tmp_path / "s.csv"
    path.write_text("\n".join([header, *(f"{k},{cell}" for k in range(40))]) + "\n")
    said = refused("refute", "--scores", str(path), "--until", "500")
    assert "no rule for any number of looks is proved here" in said
    assert "--chosen-from N" in said


def test_refute_names_twins_and_takes_their_clusters(tmp_path, answer, refused):
    path = scores_file(tmp_path / "twins.csv", 100, copies=2)
    plain = tmp_path / "plain.csv"
    lines = path.read_text().splitlines()
    plain.write_text("\n".join(line.rpartition(",")[0] for line in lines) + "\n")
    assert "canaries move together" in refused("refute", "--scores", str(plain), "--coins")
    assert answer(f"refute --scores {path} --coins")["canaries"] == 100


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--until 500 --guesses 9", "`--guesses` does not go with `--until`"),
        ("--until 500 --coins", "`--coins` does not go with `--until`"),
        ("--until 500 --pairs", "column `cluster`"),
        ("--until 0", "--until"),
        ("--chosen-from 0", "--chosen-from"),
    ],
)
def test_options_of_looks_that_do_not_fit_are_refused(tmp_path, refused, words, said):
    path = scores_file(tmp_path / "s.csv")
    assert said in refused("refute", "--scores", str(path), *words.split())


def test_looks_need_scores(refused):
    assert "`--until` needs `--scores`" in refused(
        *["refute", "--canaries", "9", "--guesses", "9", "--correct", "9", "--until", "9"]
    )
