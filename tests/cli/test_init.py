"""The command init writes studies that can be played, and never waits where nobody is."""

from __future__ import annotations

import math
import random
import sys
import tomllib

import pytest


@pytest.fixture
def town(tmp_path, monkeypatch):
    """A small town's table in the folder that commands run in."""
    monkeypatch.chdir(tmp_path)
    draw = random.Random(1)
    rows = [
        f"{i},p{i}@x.org,{draw.randint(18, 89)},{draw.choice('fm')},{draw.choice(['yes', 'no'])}"
        for i in range(200)
    ]
    (tmp_path / "town.csv").write_text("\n".join([",email,age,sex,hiv", *rows]) + "\n")
    return tmp_path


@pytest.fixture
def terminal(monkeypatch):
    """Sit at a terminal and give these answers, one a line."""

    def sit(*answers):
        left = iter(answers)
        monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)

        def prompt(_question, *, default, **_):
            return next(left) or default

        monkeypatch.setattr("click.prompt", prompt)
        return left

    return sit


def test_the_study_is_played_as_it_is(town, narcissus):
    code, out, _ = narcissus("init", "town.csv", "--epsilon", "1")
    assert code == 0
    assert "wrote town.toml" in out
    assert "unknown: `hiv`" in out
    study = (town / "town.toml").read_text().replace("trials = 100", "trials = 2")
    (town / "town.toml").write_text(study)
    code, out, _ = narcissus("audit", "town.toml", "--quiet", "--workers", "1")
    assert code == 0
    assert "Recovered with it" in out


def test_what_exists_stays(town, narcissus):
    (town / "town.toml").write_text("mine")
    code, _, err = narcissus("init", "town.csv")
    assert code == 2
    assert "--force" in err
    assert (town / "town.toml").read_text() == "mine"
    assert narcissus("init", "town.csv", "--force")[0] == 0
    assert "[threat]" in (town / "town.toml").read_text()


def test_paths_start_from_the_file(town, narcissus):
    (town / "deep" / "er").mkdir(parents=True)
    out = town / "deep" / "er" / "s.toml"
    assert narcissus("init", "town.csv", "--out", out, "--quiet")[0] == 0
    assert tomllib.loads(out.read_text())["data"]["path"] == "../../town.csv"
    _, printed, _ = narcissus("init", "town.csv", "--out", "-", "--quiet")
    assert tomllib.loads(printed)["data"]["path"] == "town.csv"
    assert not (town / "town.toml").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["town.csv", "--unknown", "hvi"], "no column `hvi`; did you mean `hiv`"),
        (["town.csv", "--drop", "agee"], "no column `agee`; did you mean `age`"),
        (["town.csv", "--unknown", "email"], "`email` cannot be unknown"),
        (["town.csv", "--unknown", ""], "no column is to be unknown"),
        (["town.csv", "--unknown", "HIV"], "no column `HIV`; did you mean `hiv`"),
        (["town.csv", "--epsilon", "1,x"], "numbers above 0"),
        (["town.csv", "--epsilon", "nan"], "numbers above 0"),
        (["towm.csv"], "did you mean `town.csv`"),
        (["town.csv", "--out", "no/such.toml"], "cannot write"),
        (["empty.csv"], "empty.csv is empty"),
        (["head.csv"], "holds a header and no rows"),
        (["unique.csv"], "no column of unique.csv can be audited"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(town, narcissus, arguments, message):
    (town / "empty.csv").write_text("")
    (town / "head.csv").write_text("a,b\n")
    (town / "unique.csv").write_text("id\n" + "".join(f"x{i}\n" for i in range(9)))
    code, _, err = narcissus("init", *arguments)
    assert code == 2
    assert message in err
    assert not list(town.glob("*.toml"))


def test_flags_are_taken(town, narcissus):
    line = "--unknown age,sex --drop email --epsilon 0.5,2 --rows 10 --out s.toml"
    assert narcissus("init", "town.csv", *line.split())[0] == 0
    found = tomllib.loads((town / "s.toml").read_text())
    assert found["threat"]["unknown"] == ["age", "sex"]
    assert found["data"]["drop"] == ["", "email"]
    assert found["mechanism"]["epsilon"] == [0.5, 2]


@pytest.mark.parametrize(("levels", "found"), [("1,3,1", [1, 3]), ("inf", [math.inf])])
def test_any_levels_make_a_study_that_can_be_played(town, narcissus, levels, found):
    assert narcissus("init", "town.csv", "--epsilon", levels)[0] == 0
    mechanism = tomllib.loads((town / "town.toml").read_text())["mechanism"]
    assert mechanism["epsilon"] == found
    assert ("delta" in mechanism) == math.isfinite(found[0])


def test_a_column_with_a_comma_in_its_name(town, narcissus):
    text = (town / "town.csv").read_text().replace("hiv", '"hiv, now"')
    (town / "town.csv").write_text(text)
    assert narcissus("init", "town.csv", "--unknown", "hiv, now")[0] == 0
    assert tomllib.loads((town / "town.toml").read_text())["threat"]["unknown"] == ["hiv, now"]


def test_whoever_sits_there_is_asked_until_it_can_be_used(town, narcissus, terminal):
    left = terminal("agee", "age", "hvi", "sex", "-1", "4")
    code, _, err = narcissus("init", "town.csv", "--quiet")
    assert code == 0
    assert "did you mean `age`" in err
    assert "did you mean `hiv`" in err
    assert next(left, None) is None
    found = tomllib.loads((town / "town.toml").read_text())
    assert found["threat"]["unknown"] == ["sex"]
    assert "age" in found["data"]["drop"]
    assert found["mechanism"]["epsilon"] == [4]


def test_enter_takes_what_is_proposed(town, narcissus, terminal):
    terminal("", "", "")
    assert narcissus("init", "town.csv", "--quiet", "--out", "a.toml")[0] == 0
    terminal()
    assert narcissus("init", "town.csv", "--quiet", "--yes", "--out", "b.toml")[0] == 0
    assert (town / "a.toml").read_text() == (town / "b.toml").read_text()


def test_a_study_that_cannot_be_played_is_told(town, narcissus, monkeypatch):
    monkeypatch.setattr("narcissus.study.table.propose.TARGETS", 10**9)
    code, _, err = narcissus("init", "town.csv")
    assert code == 2
    assert "wrote town.toml, but it cannot be played" in err
