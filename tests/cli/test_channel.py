"""The command channel: what a table or a mechanism leaks, exactly."""

import json
import math

import numpy as np
import pytest

from narcissus.cli.channel import NOTE

CHANNEL = "secret,short,long\nlogin,0.9,0.1\nlogout,0.2,0.8\n"
KEYS = ["beta_star", "pair", "bayes_risk", "guessing_error", "beta", "capacity", "leakage"]
KEYS += ["epsilon_ldp"]


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


def test_bad_channels_name_the_file_and_the_place(narcissus, tmp_path):
    path, prior = tmp_path / "c.csv", tmp_path / "p.csv"
    for text, words in (
        ("s,a,b\nx,0.5,0.5\ny,0.25,0.7\n", "row 2 (secret 'y') sums to 0.95, off by -0.05"),
        ("s,a,b\nx,0.5,0.5\ny,-0.25,1.25\n", "-0.25"),
        ("s,a,b\nx,0.5,0.5\nx,0.25,0.75\n", "'x' stands there twice"),
        ("s,a,b\nx,0.5,0.5\ny,nan,1\n", "NaN"),
    ):
        path.write_text(text)
        code, _, err = narcissus("channel", path)
        assert code == 2
        assert words in err
        assert "c.csv" in err
        assert len(err.strip().splitlines()) == 1
    path.write_text(CHANNEL)
    prior.write_text("login,1\nlogout,0\n")
    code, _, err = narcissus("channel", path, "--prior", prior)
    assert code == 2
    assert "all mass on one secret ('login')" in err


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


@pytest.mark.parametrize("name", ["channel", "estimate"])
def test_help_has_examples(narcissus, name):
    code, out, _ = narcissus(name, "--help")
    assert code == 0
    assert f"narcissus {name}" in out
    assert "Examples" in out


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


def test_neighbours_are_those_of_the_question(narcissus):
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
    code, _, err = narcissus("channel", "--mechanism", "laplace:epsilon=1", "--secret", "value")
    assert code == 2
    assert "--secret" in err


def test_dp_sgd_in_or_out(narcissus):
    pytest.importorskip("dp_accounting", reason="the extra `accounting` is not installed")
    setting = "noise=1.1,rate=0.01,steps=1000"
    found = json.loads(narcissus("channel", "--dp-sgd", setting, "--json")[1])
    inside = found["membership"]
    assert inside["beta_star_at_least"] == pytest.approx(1 - 0.140413, abs=2e-6)
    assert inside["beta_star_at_most"] is None
    assert inside["beta_star_at_least"] > found["beta_star_at_most"]
