"""``narcissus measure``: several files, JSON, and what is refused."""

import json

import pytest


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, ages in (("a.csv", (30, 30, 40, 50)), ("b.csv", (30, 30, 40, 40))):
        rows = [f"{age},{'fm'[age > 35]},{at % 2}" for at, age in enumerate(ages)]
        (tmp_path / name).write_text("\n".join(["age,sex,income", *rows]) + "\n")


def test_files_stand_one_below_the_other(narcissus, files):
    code, out, _ = narcissus("measure", "a.csv", "b.csv", "--bins", "age=10")
    assert code == 0
    first, second = out.split("b.csv")
    assert "known: age, sex" in first
    assert "people who are unique                         2 (50.0%)" in first
    assert "people who are unique                         0 (0.0%)" in second


def test_json_has_every_number(narcissus, files):
    code, out, _ = narcissus("measure", "a.csv", "--known", "age", "--secret", "income", "--json")
    [found] = json.loads(out)["files"]
    assert code == 0
    assert (found["file"], found["k"], found["unique"], found["risk"]) == ("a.csv", 1, 2, 1.0)
    assert found["secrets"][0]["distinct"] == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["a.csv", "--known", "agee", "--secret", "incme"], "a.csv: 2 problems:"),
        (["none.csv"], "no such file: none.csv"),
        ([], "Missing argument 'FILES...'"),
        (["a.csv", "--population", "2"], "`population` is 2, and the file has 4 people"),
    ],
)
def test_what_is_wrong_is_said(narcissus, files, words, said):
    code, _, err = narcissus("measure", *words)
    assert code == 2
    assert said in err
    assert "Traceback" not in err


def test_only_an_exact_0_is_written_as_0_percent(narcissus, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{age},{at % 2}" for at, age in enumerate([30] * 3000 + [40])]
    (tmp_path / "one.csv").write_text("\n".join(["age,income", *rows]) + "\n")
    out = narcissus("measure", "one.csv")[1]
    assert "people who are unique                         1 (0.033%)" in out
