"""The commands channel, compose, design and refine, and the pages of these and of estimate."""

import csv
import json
import math
import random
from fractions import Fraction

import numpy as np
import pytest

from narcissus import channels as ch
from narcissus.channels import AS_WRITTEN
from narcissus.cli.channels import NOTE

CHANNEL = "secret,short,long\nlogin,0.9,0.1\nlogout,0.2,0.8\n"
KEYS = ["beta_star", "pair", "bayes_risk", "guessing_error", "beta", "capacity", "leakage"]
KEYS += ["epsilon_ldp", "assumptions"]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "channel.csv"
    path.write_text(CHANNEL)
    return path


def test_channel_json_has_the_promised_keys(narcissus, table, tmp_path):
    prior = tmp_path / "prior.csv"
    prior.write_text("secret,probability\nlogout,0.25\nlogin,0.75\n")
    code, out, _ = narcissus("channel", table, "--prior", prior, "--json")
    found = json.loads(out)
    assert code == 0
    assert list(found) == KEYS
    assert found["pair"] == ["login", "logout"]
    assert found["beta_star"] == pytest.approx(0.3)
    assert found["guessing_error"] == 0.25
    assert found["bayes_risk"] == pytest.approx(0.75 * 0.1 + 0.25 * 0.2)
    assert found["epsilon_ldp"] == pytest.approx(np.log(8))
    assert "\n" not in out.strip()


@pytest.mark.parametrize(
    "line",
    ["channel {}", "channel {} --exact", "refine {} {}", "compose {}=2"],
)
def test_json_says_what_the_program_must_do(narcissus, table, line):
    """Text and page said it, and JSON did not: every guarantee names its program."""
    _, out, _ = narcissus(*line.format(table, table).split(), "--json")
    assert json.loads(out)["assumptions"][0] == AS_WRITTEN


def test_infinite_epsilon_is_null(narcissus, tmp_path):
    path = tmp_path / "c.csv"
    path.write_text("a,b\n1.0,0\n0.5,0.5\n")
    assert json.loads(narcissus("channel", path, "--json")[1])["epsilon_ldp"] is None


def test_mechanisms(narcissus):
    spec = "randomized-response:values=10,epsilon=1"
    code, out, _ = narcissus("channel", "--mechanism", spec, "--json")
    assert code == 0
    assert json.loads(out)["beta_star"] == pytest.approx(10 / (np.e + 9), rel=1e-14)
    code, out, _ = narcissus(
        "channel", "--mechanism", "randomized-response:values=1000000,epsilon=10", "--json"
    )
    assert json.loads(out)["beta_star"] == pytest.approx(0.9784492, abs=5e-8)
    code, out, _ = narcissus("channel", "--mechanism", spec)
    assert "worst pair" in out
    assert "exact" in out


def test_options_of_channel(narcissus, table, tmp_path):
    picture = tmp_path / "pairs.svg"
    code, out, _ = narcissus(
        "channel", table, "--repeat", 2, "--all-pairs", "--all", "--json", "--plot", picture
    )
    found = json.loads(out)
    assert code == 0
    assert found["pairs"] == [["login", "logout"]]
    assert found["more"]["advantage"] == pytest.approx(1 - found["beta_star"])
    assert found["beta_star"] < 0.3
    assert picture.read_text().startswith("<?xml")


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        ([], "a FILE or --mechanism"),
        (["nowhere.csv"], "no such file"),
        (["--mechanism", "laplase:epsilon=1"], "did you mean `laplace`"),
        (["--mechanism", "laplace:epsilon=1", "--plot", "x.svg"], "as a matrix"),
        (
            ["--mechanism", "laplace:epsilon=1", "--repeat", "2", "--all"],
            "`narcissus compose laplace:epsilon=1=2`",
        ),
    ],
)
def test_bad_calls(narcissus, argv, words):
    code, out, err = narcissus("channel", *argv)
    assert code == 2
    assert words in err
    assert "Traceback" not in err
    assert out == ""


@pytest.mark.parametrize(
    "use",
    [
        "gaussian:epsilon=1,delta=1e-6",
        "laplace:epsilon=1",
        "randomized-response:values=3,epsilon=1",
    ],
)
def test_outputs_without_a_table_are_composed(narcissus, use):
    """As `narcissus compose` does, which is named; what has a table says the same by it."""
    code, out, err = narcissus("channel", "--mechanism", use, "--repeat", "3", "--json")
    assert (code, err) == (0, "")
    whole = json.loads(narcissus("compose", f"{use}=3", "--json")[1])
    assert json.loads(out)["beta_star"] == pytest.approx(whole["beta_star"], rel=1e-9)
    code, out, _ = narcissus("channel", "--mechanism", use, "--repeat", "3")
    assert code == 0
    assert (f"narcissus compose {use}=3" in out) == (not use.startswith("randomized"))


def test_bad_channels_name_the_file_and_the_place(refused, tmp_path):
    path, prior = tmp_path / "c.csv", tmp_path / "p.csv"
    for text, words in (
        ("s,a,b\nx,0.5,0.5\ny,0.25,0.7\n", "row 2 (secret 'y') sums to 0.95, off by -0.05"),
        ("s,a,b\nx,0.5,0.5\ny,-0.25,1.25\n", "-0.25"),
        ("s,a,b\nx,0.5,0.5\nx,0.25,0.75\n", "'x' appears there twice"),
        ("s,a,b\nx,0.5,0.5\ny,nan,1\n", "NaN"),
    ):
        path.write_text(text)
        err = refused("channel", path)
        assert words in err
        assert "c.csv" in err
        assert len(err.strip().splitlines()) == 1
    path.write_text(CHANNEL)
    prior.write_text("login,1\nlogout,0\n")
    assert "all mass on one secret ('login')" in refused("channel", path, "--prior", prior)


def test_one_secret_is_answered(narcissus, tmp_path):
    path = tmp_path / "c.csv"
    path.write_text("s,a,b\nx,0.5,0.5\n")
    code, out, _ = narcissus("channel", path)
    assert code == 0
    assert "one secret, and so nothing to tell apart: Bayes security 1" in out
    found = json.loads(narcissus("channel", path, "--json")[1])
    assert (found["beta_star"], found["pair"], found["epsilon_ldp"]) == (1, [], 0)
    assert narcissus("compose", f"{path}=50")[0] == 0


def test_fractions(narcissus, tmp_path):
    path, prior = tmp_path / "c.csv", tmp_path / "p.csv"
    path.write_text("s,a,b\nx,1/3,2/3\ny,1/2,1/2\n")
    prior.write_text("x,1/3\ny,2/3\n")
    code, out, _ = narcissus("channel", path, "--exact", "--prior", prior, "--json")
    found = json.loads(out)
    assert (code, found["beta_star"], found["guessing_error"]) == (0, "5/6", "1/3")
    assert found["pair"] == ["x", "y"]
    assert "5/6 (0.833333)" in narcissus("channel", path, "--exact")[1]
    assert narcissus("channel", path, "--exact", "--repeat", "2")[0] == 2
    assert json.loads(narcissus("channel", path, "--json")[1])["beta_star"] == pytest.approx(5 / 6)


def test_noise_on_numbers_takes_a_prior(narcissus, tmp_path):
    prior = tmp_path / "p.csv"
    prior.write_text("1,0.3\n2,0.7\n")
    text = "gaussian:span=1,sigma=1"
    found = json.loads(narcissus("channel", "--mechanism", text, "--prior", prior, "--json")[1])
    assert found["bayes_risk"] == pytest.approx(0.2530044, abs=1e-7)
    assert found["guessing_error"] == pytest.approx(0.3)


def test_losses_are_read_the_way_round_that_the_file_says(narcissus, tmp_path):
    """The input of a stranger: a 3 x 3 table read the other way round gave .9333 for .8."""
    matrix = np.array([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.3, 0.3, 0.4]])
    losses = np.array([[0.0, 1, 3], [2, 0, 1], [1, 4, 0]])  # secrets in the rows
    channel, loss = tmp_path / "channel.csv", tmp_path / "loss.csv"

    def write(path, first, rows):
        lines = [f"{first},a,b,c", *(f"{n}," + ",".join(map(str, r)) for n, r in rows)]
        path.write_text("\n".join(lines), encoding="utf-8")

    write(channel, "secret", zip("abc", matrix.tolist(), strict=True))
    truth = sum(min(matrix[:, o] @ losses / 3) for o in range(3))
    for first, rows in (("secret", losses), ("guess", losses.T)):
        write(loss, first, zip("abc", rows.tolist(), strict=True))
        code, out, _ = narcissus("channel", str(channel), "--loss", str(loss), "--json")
        assert code == 0
        assert json.loads(out)["loss"]["risk"] == pytest.approx(truth, rel=1e-12)
        out = narcissus("channel", str(channel), "--loss", str(loss))[1]
        assert "of 3 secrets and 3 answers: answer 'c' costs 3 where the secret is 'a'" in out
    write(loss, "", zip("abc", losses.tolist(), strict=True))
    code, _, said = narcissus("channel", str(channel), "--loss", str(loss))
    assert code == 2
    assert "rows and columns may both be the secrets" in said


@pytest.mark.parametrize(
    ("argv", "value"),
    [
        (["--epsilon", 1], 2 / (1 + math.e)),
        (["--epsilon", 1, "--delta", 0.1], 1.8 / (1 + math.e)),
        (["--mu", 1], math.erfc(1 / math.sqrt(8))),
        (["--bayes-security", 0.3], 0.3),
        (["--epsilon", 0.5, "--adjacency", "add-remove"], 2 / (1 + math.e)),
    ],
)
def test_a_guarantee_is_a_lower_limit(narcissus, argv, value):
    code, out, _ = narcissus("channel", *argv, "--json")
    found = json.loads(out)
    assert code == 0
    assert found["beta_star_at_least"] == pytest.approx(value)
    assert found["beta_star_at_most"] is None
    assert found["grade"] == "proved"
    assert found["tight"] == ("add-remove" not in argv)
    code, out, _ = narcissus("channel", *argv)
    assert "PROVED: beta* at least" in out
    assert NOTE in " ".join(out.split())


def test_files_of_accountants(narcissus, tmp_path):
    curve = tmp_path / "curve.csv"
    curve.write_text("epsilon,delta\n0,0.25\n1,0.01\n")
    found = json.loads(narcissus("channel", "--profile", curve, "--json")[1])
    assert found["beta_star_at_least"] == pytest.approx(0.75)
    losses = tmp_path / "losses.csv"
    losses.write_text("loss,probability\n1,0.731058578630005\n-1,0.268941421369995\n")
    found = json.loads(narcissus("channel", "--pld", losses, "--json")[1])
    assert found["beta_star_at_least"] == pytest.approx(2 / (1 + math.e))


def test_dp_sgd_has_both_sides(narcissus):
    pytest.importorskip("dp_accounting")
    spec = "noise=1,rate=1,steps=2,interval=0.001"
    found = json.loads(narcissus("channel", "--dp-sgd", spec, "--json")[1])
    truth = math.erfc(1)
    assert found["beta_star_at_least"] <= truth + 1e-9
    assert truth - 1e-9 <= found["beta_star_at_most"] <= truth * 1.01
    out = narcissus("channel", "--dp-sgd", spec)[1]
    assert "some two such data sets have beta* at most" in out


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["c.csv", "--epsilon", 1], "`FILE` does not go with a guarantee"),
        (["--mu", 1, "--repeat", 3], "`--repeat` does not go with a guarantee"),
        (["--mu", 1, "--all"], "`--all` does not go with a guarantee"),
        (["--mu", 1, "--rho", 1], "exactly one guarantee"),
        (["--mu", -1], "`--mu`"),
        (["--delta", 0.1], "`--delta` goes with `--epsilon`"),
        (["--dp-sgd", "noise=1,rate=1"], "lacks steps"),
        (["--profile", "nowhere.csv"], "nowhere.csv"),
    ],
)
def test_bad_guarantees(narcissus, argv, words):
    code, out, err = narcissus("channel", *argv)
    assert code == 2
    assert words in err
    assert out == ""


def test_neighbours_are_those_of_the_question(narcissus, refused):
    def found(*more):
        return json.loads(narcissus("channel", "--mu", 1, *more, "--json")[1])

    both = found("--adjacency", "add-remove")
    value = found("--adjacency", "add-remove", "--secret", "value")
    inside = found("--adjacency", "add-remove", "--secret", "membership")
    assert both.pop("membership") == inside
    assert both == value
    assert inside["beta_star_at_least"] == pytest.approx(math.erfc(1 / math.sqrt(8)))
    assert value["beta_star_at_least"] == pytest.approx(math.erfc(2 / math.sqrt(8)))
    assert inside["tight"]
    assert not value["tight"]
    out = narcissus("channel", "--mu", 1)[1]
    assert out.startswith("Asked: what value a person's record has; or whether")
    assert "--secret" in refused("channel", "--mechanism", "laplace:epsilon=1", "--secret", "value")


def test_dp_sgd_in_or_out(narcissus):
    pytest.importorskip("dp_accounting", reason="the extra `accounting` is not installed")
    setting = "noise=1.1,rate=0.01,steps=1000"
    found = json.loads(narcissus("channel", "--dp-sgd", setting, "--json")[1])
    inside = found["membership"]
    assert inside["beta_star_at_least"] == pytest.approx(1 - 0.140413, abs=2e-6)
    assert inside["beta_star_at_most"] is None
    assert inside["beta_star_at_least"] > found["beta_star_at_most"]


# narcissus compose


def test_files_and_mechanisms_are_composed(narcissus, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("secret,x,y\nlow,0.9,0.1\nhigh,0.2,0.8\n")
    code, out, _ = narcissus("compose", "a.csv=3", "a.csv", "--json")
    assert code == 0
    found = json.loads(out)
    keys = {"beta_star", "beta_star_at_most", "gap", "capacity", "exact", "theorem", "assumptions"}
    assert set(found) == keys
    whole = ch.repeat([[0.9, 0.1], [0.2, 0.8]], 4)
    assert found["beta_star"] == pytest.approx(ch.beta_star(whole).value, rel=1e-12)
    code, out, _ = narcissus("compose", "randomized-response:values=10,epsilon=1=200", "--json")
    assert json.loads(out)["beta_star"] == pytest.approx(1.3390867994854574884e-4, rel=1e-11)
    code, out, _ = narcissus("compose", "gaussian:span=1,sigma=2=20", "laplace:span=1,scale=9")
    assert (code, out.count("at most")) == (0, 2)


@pytest.mark.parametrize(
    ("use", "says"),
    [
        ("nothere.csv=3", "there is no file nothere.csv"),
        ("randomised-response:values=3,epsilon=1", "did you mean `randomized-response`"),
        ("randomized-response:values=3,epsilon=1=0", "`times` must be at least 1"),
    ],
)
def test_a_use_that_is_none_is_refused(refused, use, says):
    assert says in refused("compose", use)


def test_shuffled_reports(narcissus, refused):
    use = "randomized-response:values=10,epsilon=1"
    found = json.loads(narcissus("compose", use, "--shuffled", "1000", "--json")[1])
    assert found["beta_star"] == pytest.approx(0.99105, abs=1e-6)
    assert found["beta_star"] <= found["beta_star_at_most"]
    for uses in ([use, use], ["laplace:epsilon=1"]):
        assert "--shuffled takes one USE" in refused("compose", *uses, "--shuffled", "10")


# narcissus design


@pytest.fixture
def losses(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loss.csv").write_text("secret,a,b,c\nx,0,1,1\ny,1,0,1\nz,1,1,0\n")
    return "loss.csv"


def test_a_mechanism_is_made_and_written(narcissus, losses, tmp_path):
    code, out, _ = narcissus("design", losses, "--most-loss", "0.4", "--out", "m.csv", "--json")
    assert code == 0
    found = json.loads(out)
    assert found["beta_star"] == pytest.approx(0.6, abs=1e-7)
    assert (found["secrets"], found["answers"]) == (list("xyz"), list("abc"))
    made = ch.read_channel(tmp_path / "m.csv")
    assert ch.beta_star(made).value == pytest.approx(found["beta_star"], rel=1e-12)
    code, out, _ = narcissus("design", losses, "--beta-star", "0.6", "--epsilon", "2")
    assert code == 0
    assert "no other does better: loss at least" in out


def test_the_curve_is_drawn(narcissus, losses, tmp_path):
    assert narcissus("design", losses, "--curve", "c.svg")[0] == 0
    assert "<svg" in (tmp_path / "c.svg").read_text()


@pytest.mark.parametrize("options", [(), ("--most-loss", "1", "--beta-star", ".5")])
def test_one_wish_is_given(refused, losses, options):
    assert "give one of" in refused("design", losses, *options)


def test_losses_of_numpy_and_mechanisms_into_npz(narcissus, refused, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez(tmp_path / "loss.npz", matrix=1 - np.eye(3), secrets=["x", "y", "z"])
    code, out, _ = narcissus("design", "loss.npz", "--most-loss", "0.4", "--out", "m.npz", "--json")
    assert code == 0
    assert json.loads(out)["secrets"] == ["x", "y", "z"]
    assert ch.beta_star(ch.read_channel("m.npz")).value == pytest.approx(0.6, abs=1e-7)
    code, out, _ = narcissus("compose", "m.npz=2", "--json")
    assert (code, json.loads(out)["exact"]) == (0, True)
    np.save(tmp_path / "loss.npy", np.array([[object()]]), allow_pickle=True)
    assert "holds Python objects" in refused("design", "loss.npy", "--most-loss", "1")


# narcissus refine

A = "secret,x,y\na,0.8,0.2\nb,0.2,0.8\nc,0.5,0.5\n"
B = "secret,u,v\na,0.7,0.3\nb,0.4,0.6\nc,0.45,0.55\n"
LESS = "secret,u,v\na,0.65,0.35\nb,0.35,0.65\nc,1/2,1/2\n"


@pytest.fixture
def pair(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in (("a.csv", A), ("b.csv", B), ("less.csv", LESS)):
        (tmp_path / name).write_text(text)
    return tmp_path


def test_the_post_processing_is_written(narcissus, pair):
    code, out, _ = narcissus("refine", "a.csv", "less.csv", "--out", "r.csv", "--back", "g.csv")
    assert code == 0
    assert "a.csv tells more than less.csv" in out
    by = ch.read_channel(pair / "r.csv")
    assert (by.secrets, by.outputs) == (("x", "y"), ("u", "v"))
    first, second = (ch.read_channel(pair / f) for f in ("a.csv", "less.csv"))
    assert first.dense @ by.dense == pytest.approx(second.dense, abs=1e-12)
    rows = list(csv.reader((pair / "g.csv").read_text().splitlines()))
    assert rows[0] == ["guess", "a", "b", "c"]
    gain = np.array([[float(x) for x in row[1:]] for row in rows[1:]])
    assert ch.g_vulnerability(first, gain) > ch.g_vulnerability(second, gain)


def test_incomparable_ones_have_both_witnesses(narcissus, pair):
    code, out, _ = narcissus("refine", "a.csv", "b.csv", "--json")
    assert code == 0
    found = json.loads(out)
    assert (found["relation"], found["grade"]) == ("incomparable", "proved")
    assert found["names"] == ["a.csv", "b.csv"]
    for way, pair in (("forwards", ("a.csv", "b.csv")), ("backwards", ("b.csv", "a.csv"))):
        told = [ch.g_vulnerability(ch.read_channel(f), found[way]["gain"]) for f in pair]
        assert told == pytest.approx([found[way]["first"], found[way]["second"]])
        assert told[1] > told[0]
    assert "cannot be compared" in narcissus("refine", "a.csv", "b.csv")[1]


def test_in_fractions(narcissus, pair):
    code, out, _ = narcissus("refine", "a.csv", "less.csv", "--exact", "--json", "--out", "r.csv")
    assert code == 0
    found = json.loads(out)
    assert (found["relation"], found["grade"]) == ("first", "proved")
    assert found["forwards"]["by"] == [["3/4", "1/4"], ["1/4", "3/4"]]
    assert ch.read_rational(pair / "r.csv").rows[0] == (Fraction(3, 4), Fraction(1, 4))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "no such file"),
        ("", "empty"),
        ("secret,u\na,1\nb,1\n", "3 and 2 secrets"),
        ("secret,u\na,1\nb,1\nd,1\n", "has the place of 'd' in"),
        ("secret,u,v\na,0.5,0.4\n", "sums to 0.9"),
    ],
)
def test_channels_that_cannot_be_compared_are_refused(refused, pair, text, says):
    if text is not None:
        (pair / "c.csv").write_text(text)
    assert says in refused("refine", "a.csv", "c.csv")


def test_numpy_files(narcissus, pair):
    np.save(pair / "a.npy", ch.read_channel(pair / "a.csv").dense)
    np.savez(pair / "b.npz", ch.read_channel(pair / "b.csv").dense)
    assert json.loads(narcissus("refine", "a.npy", "b.npz", "--json")[1])["relation"] == (
        "incomparable"
    )
    assert narcissus("refine", "a.csv", "b.csv", "--out", "no/where.csv")[0] == 2


@pytest.mark.parametrize("exact", [(), ("--exact",)])
def test_a_page_shows_both_directions(narcissus, pair, exact):
    code, out, _ = narcissus("refine", "a.csv", "less.csv", "--report", "page.html", *exact)
    assert code == 0
    assert "page.html" in out
    page = (pair / "page.html").read_text()
    assert "Which tells more: a.csv or less.csv?" in page
    assert "What each guess gains for each secret" in page
    assert ("How a.csv is made into less.csv" in page) == (not exact)
    assert narcissus("refine", "a.csv", "b.csv", "--report", "page.txt")[0] == 2


# narcissus --report of these


@pytest.fixture
def inputs(tmp_path, monkeypatch):
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
def test_a_page_is_written_and_says_how(narcissus, inputs, argv, words):
    code, out, _ = narcissus(*argv, "--report", "page.html")
    page = (inputs / "page.html").read_text()
    assert code == 0
    assert "Report: page.html" in out
    assert words in page
    assert "narcissus " + " ".join(map(str, argv)) in page
    assert "--report" not in page


def test_json_stays_json(narcissus, inputs):
    code, out, _ = narcissus("channel", "c.csv", "--json", "--report", "page.html")
    assert code == 0
    assert json.loads(out)["beta_star"] == pytest.approx(0.3)
    assert (inputs / "page.html").is_file()


def test_losses_of_an_attacker(narcissus, refused, inputs):
    found = json.loads(narcissus("channel", "c.csv", "--loss", "loss.csv", "--json")[1])["loss"]
    assert found["risk"] == pytest.approx(0.15)
    assert found["prior_risk"] == pytest.approx(0.5)
    assert found["at_least"] == pytest.approx(0.3)
    assert found["family"] == "two secrets"
    (inputs / "three.csv").write_text("secret,x\nlogin,0\nlogout,1\nother,1\n")
    assert "a row for each secret" in refused("channel", "c.csv", "--loss", "three.csv")


def test_groups_by_json(narcissus, inputs):
    found = json.loads(narcissus("estimate", "s.csv", "--group", "region", "--json")[1])
    assert found["worst"]["beta_star"] == {"group": "south", "sure": True}
    assert set(found["groups"]) == {"north", "south"}
    assert found["confidence"] == 0.95
    found = json.loads(narcissus("channel", "four.csv", "--groups", "groups.csv", "--json")[1])
    assert found["groups"]["old"]["beta_star"] == pytest.approx(0.3)
    assert found["confidence"] is None
    assert found["assumptions"] == [AS_WRITTEN]


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
def test_refusals(narcissus, inputs, argv, words):
    code, out, err = narcissus(*argv)
    assert code == 2
    assert words in err
    assert out == ""
    assert not (inputs / "page.html").exists()


def test_the_only_output_column_cannot_be_the_group(refused, inputs):
    (inputs / "two.csv").write_text("secret,group\n" + "a,x\nb,y\n" * 30)
    assert "no column of outputs" in refused("estimate", "two.csv", "--group", "group")


def test_a_page_says_no_folder_and_no_digest_but_what_it_gives_away(narcissus, inputs):
    given = [str(inputs / "s.csv"), "--prior", f"{inputs}/../{inputs.name}/p.csv"]
    (inputs / "p.csv").write_text("secret,probability\na,0.5\nb,0.5\n")
    code, _, err = narcissus("estimate", *given, "--seed", 4, "--report", "page.html")
    assert code == 0, err
    page = (inputs / "page.html").read_text()
    assert str(inputs.parent) not in page
    assert "narcissus estimate s.csv --seed 4 --" in page
    assert " p.csv</dd>" in page
    assert "guesses of the file can be tried by running the command again" in page
    assert "sha256:" not in page
    assert "What this page gives away" in page
    assert "(s.csv)" in page
    assert narcissus("compose", f"{inputs}/c.csv=3", "--report", "page.html")[0] == 0
    assert "narcissus compose c.csv=3" in (inputs / "page.html").read_text()
