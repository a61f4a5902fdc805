"""``--report`` of the commands about channels, groups and losses: the page, and what is refused."""

import json
import random

import pytest


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.csv").write_text("secret,short,long\nlogin,0.9,0.1\nlogout,0.2,0.8\n")
    (tmp_path / "four.csv").write_text("secret,o,p\na,0.9,0.1\nb,0.2,0.8\nc,0.6,0.4\nd,0.5,0.5\n")
    (tmp_path / "groups.csv").write_text("secret,group\na,old\nb,old\nc,young\nd,young\n")
    (tmp_path / "loss.csv").write_text("secret,here,there\nlogin,0,1\nlogout,1,0\n")
    rng = random.Random(1)
    rows = ["secret,region,output"]
    for place in range(1200):
        region, secret = ("north", "south")[place % 2], rng.choice("ab")
        right = rng.random() < (0.6 if region == "north" else 0.95)
        rows.append(f"{secret},{region},{secret if right else 'ab'[secret == 'a']}")
    (tmp_path / "s.csv").write_text("\n".join(rows) + "\n")
    return tmp_path


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["channel", "c.csv", "--loss", "loss.csv"], "An attacker with these losses"),
        (["channel", "four.csv", "--groups", "groups.csv"], "Who gives more away: groups.csv"),
        (["channel", "--mu", 1], "How well neighbours can be told apart"),
        (["compose", "c.csv=3"], "What many outputs leak together"),
        (["design", "loss.csv", "--most-loss", 0.2], "The most secure mechanism"),
        (["design", "loss.csv"], "Saying nothing about the secret costs"),
        (["estimate", "s.csv", "--group", "region"], "Who gives more away: s.csv"),
        (["estimate", "s.csv", "--seed", 4], "What s.csv gives away"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(map(str, value)),
)
def test_a_page_is_written_and_says_how(narcissus, files, argv, words):
    code, out, _ = narcissus(*argv, "--report", "page.html")
    page = (files / "page.html").read_text()
    assert code == 0
    assert "Report: page.html" in out
    assert words in page
    assert "narcissus " + " ".join(map(str, argv)) in page
    assert "--report" not in page


def test_json_stays_json(narcissus, files):
    code, out, _ = narcissus("channel", "c.csv", "--json", "--report", "page.html")
    assert code == 0
    assert json.loads(out)["beta_star"] == pytest.approx(0.3)
    assert (files / "page.html").is_file()


def test_losses_of_an_attacker(narcissus, files):
    found = json.loads(narcissus("channel", "c.csv", "--loss", "loss.csv", "--json")[1])["loss"]
    assert found["risk"] == pytest.approx(0.15)
    assert found["prior_risk"] == pytest.approx(0.5)
    assert found["at_least"] == pytest.approx(0.3)
    assert found["family"] == "two secrets"
    (files / "three.csv").write_text("secret,x\nlogin,0\nlogout,1\nother,1\n")
    code, _, err = narcissus("channel", "c.csv", "--loss", "three.csv")
    assert code == 2
    assert "a row for each secret" in err


def test_groups_by_json(narcissus, files):
    found = json.loads(narcissus("estimate", "s.csv", "--group", "region", "--json")[1])
    assert found["worst"]["beta_star"] == {"group": "south", "sure": True}
    assert set(found["groups"]) == {"north", "south"}
    assert found["confidence"] == 0.95
    found = json.loads(narcissus("channel", "four.csv", "--groups", "groups.csv", "--json")[1])
    assert found["groups"]["old"]["beta_star"] == pytest.approx(0.3)
    assert found["confidence"] is None


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["channel", "c.csv", "--report", "page.htm"], "must end in .html"),
        (["compose", "c.csv", "--report", "no/page.html"], "does not exist"),
        (["estimate", "s.csv", "--group", "regoin"], "did you mean `region`"),
        (["estimate", "s.csv", "--group", "secret"], "names the column of secrets"),
        (["channel", "four.csv", "--groups", "c.csv"], "give secret and group"),
        (["channel", "c.csv", "--groups", "groups.csv"], "no group for the secret 'login'"),
        (["channel", "four.csv", "--groups", "groups.csv", "--all-pairs"], "does not go with"),
        (["channel", "--mechanism", "laplace:epsilon=1", "--loss", "loss.csv"], "as a matrix"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(map(str, value)),
)
def test_refusals(narcissus, files, argv, words):
    code, out, err = narcissus(*argv)
    assert code == 2
    assert words in err
    assert out == ""
    assert not (files / "page.html").exists()


def test_the_only_output_column_cannot_be_the_group(narcissus, files):
    (files / "two.csv").write_text("secret,group\n" + "a,x\nb,y\n" * 30)
    code, _, err = narcissus("estimate", "two.csv", "--group", "group")
    assert code == 2
    assert "no column of outputs" in err


def test_a_page_says_no_folder_and_no_digest_but_what_it_gives_away(narcissus, files):
    given = [str(files / "s.csv"), "--prior", f"{files}/../{files.name}/p.csv"]
    (files / "p.csv").write_text("secret,probability\na,0.5\nb,0.5\n")
    code, _, err = narcissus("estimate", *given, "--seed", 4, "--report", "page.html")
    assert code == 0, err
    page = (files / "page.html").read_text()
    assert str(files.parent) not in page
    assert "narcissus estimate s.csv --seed 4 --" in page
    assert " p.csv</dd>" in page
    assert "guesses of the file can be tried by running the command again" in page
    assert "sha256:" not in page
    assert "What this page gives away" in page
    assert "(s.csv)" in page
    assert narcissus("compose", f"{files}/c.csv=3", "--report", "page.html")[0] == 0
    assert "narcissus compose c.csv=3" in (files / "page.html").read_text()
