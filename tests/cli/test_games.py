"""The commands profile and privacy: exact answers about small games."""

from __future__ import annotations

import json
import math

import pytest


@pytest.fixture
def call(narcissus, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return narcissus


def test_profile_gives_delta_at_each_epsilon_and_the_attacker(call):
    call("init", "--example", "counting-query-uncut", "--out", "c.toml")
    code, out, _ = call("profile", "c.toml", "--epsilon", 1, "--json")
    answer = json.loads(out)
    assert code == 0
    assert answer["epsilon"] == [1.0]
    p, n = 0.0021534, 100
    assert answer["delta"][0] == pytest.approx(p * (1 - math.e * (1 - (1 - p) ** n)), rel=1e-12)
    assert answer["attacker"]["success"][0] == pytest.approx(p)
    assert answer["attacker"]["table"][0]["attempt"] == [[0], [1]]
    code, out, _ = call("profile", "c.toml")
    assert "PROVED" in out
    assert "best attacker does" in out
    code, out, _ = call("profile", "c.toml", "--epsilon", 1, "--sample", 500, "--seed", 1)
    assert "ESTIMATED from below" in out
    sampled = json.loads(
        call("profile", "c.toml", "--epsilon", 1, "--sample", 500, "--seed", 1, "--json")[1]
    )
    assert sampled["proved"] is False
    assert sampled["delta"][0] <= answer["delta"][0]


def test_smallest_parameter_meets_the_target_and_the_one_before_does_not(call, tmp_path):
    call("init", "--example", "counting-query-uncut", "--out", "c.toml")
    options = ("--smallest", "tau", "--epsilon", 1, "--delta", 1e-6)
    code, out, _ = call("profile", "c.toml", *options, "--values", "0:0.1:0.01", "--json")
    answer = json.loads(out)
    assert code == 0
    assert (answer["parameter"], answer["tried"], answer["proved"]) == ("tau", 6, True)
    assert (answer["value"], answer["epsilon"], answer["target"]) == (0.05, 1.0, 1e-6)
    text = (tmp_path / "c.toml").read_text(encoding="utf-8")
    exact = {}
    for tau in (0.04, 0.05):
        (tmp_path / "one.toml").write_text(text.replace("tau = 0.0", f"tau = {tau}"))
        exact[tau] = json.loads(call("profile", "one.toml", "--epsilon", 1, "--json")[1])["delta"]
    assert exact[0.04][0] > 1e-6 >= exact[0.05][0]
    assert answer["delta"] == pytest.approx(exact[0.05][0], rel=1e-12)
    code, out, _ = call("profile", "c.toml", *options, "--values", "0,0.02,0.04")
    assert code == 1
    assert "no tau of the 3" in out
    # Target of the statement; another section.
    code, out, _ = call("profile", "c.toml", "--smallest", "world.n", "--values", "100:400:100")
    assert code == 0
    assert "world.n = 200 is enough" in out


@pytest.mark.parametrize(
    ("options", "match"),
    [
        (["--smallest", "taw", "--values", "0,1"], "did you mean `tau`"),
        (["--smallest", "sky.tau", "--values", "0,1"], r"no section [sky]"),
        (["--smallest", "tau"], "needs `--values`"),
        (["--smallest", "tau", "--values", "0:1"], "FROM:TO:STEP"),
        (["--smallest", "tau", "--values", "0,1e400"], "FROM:TO:STEP"),
        (["--smallest", "tau", "--values", "1:0:0.1"], "never gets"),
        (["--smallest", "tau", "--values", "0:1:1e-9"], "more than 100,000"),
        (["--smallest", "tau", "--values", "0.7"], "must be in [0, 0.5]"),
        (["--smallest", "tau", "--values", "0", "--delta", "2"], "`--delta`"),
        (["--smallest", "tau", "--values", "0", "--sample", "9"], "leave out `--sample`"),
        (["--smallest", "tau", "--values", "0", "--epsilon", "1", "--epsilon", "2"], "takes one"),
        (["--delta", "0.1"], "`--delta` is for"),
    ],
)
def test_smallest_refuses_bad_options(call, options, match):
    call("init", "--example", "counting-query-uncut", "--out", "c.toml")
    code, out, err = call("profile", "c.toml", *options)
    assert (code, out.count("wrote")) == (2, 0)
    assert match in err


def test_others_write_out_and_play(call, refused, monkeypatch):
    """The engine is asked for what takes long, and the answer is the same."""
    monkeypatch.setattr("narcissus.game.executor.WORTH_SENDING", -1.0)
    call("init", "--example", "counting-query-uncut", "--out", "c.toml")
    asked = ("--smallest", "tau", "--values", "0.03,0.05,0.06", "--epsilon", 1, "--delta", 1e-6)
    found = call("profile", "c.toml", *asked, "--json")
    assert call("profile", "c.toml", *asked, "--json", "--workers", 2) == found
    assert "an exact profile is computed here" in refused("profile", "c.toml", "--workers", 2)


def test_profile_in_rational_numbers_and_the_worst_that_is_told(call, refused):
    call("init", "--example", "worst-told", "--out", "w.toml")
    assert "7/72" in call("profile", "w.toml", "--rational")[1]
    (exact,) = json.loads(call("profile", "w.toml", "--rational", "--json")[1])
    assert exact == {"epsilon": 0.0, "delta": "7/72", "value": pytest.approx(7 / 72)}
    code, out, _ = call("profile", "w.toml", "--worst-told", 2, "--sees", "bag")
    assert code == 0
    assert "of 512 functions of the bag of rows to 2 values none needs a larger delta" in out
    assert "13/108" in out
    (worst,) = json.loads(
        call("profile", "w.toml", "--worst-told", 2, "--sees", "bag", "--json")[1]
    )
    assert (worst["delta"], worst["nothing"], len(worst["told"])) == ("13/108", "7/72", 10)
    assert "from 2 on" in refused("profile", "w.toml", "--worst-told", 1)
    assert "there are 16" in refused("profile", "w.toml", "--worst-told", 2)
    assert "`--worst-told SIZE`" in refused("profile", "w.toml", "--coins", 2)
    assert "leave out `--sample`" in refused("profile", "w.toml", "--rational", "--sample", 10)


def test_profile_refuses_what_it_cannot_do(call, refused, tmp_path):
    call("init", "--example", "known-rows", "--out", "large.toml")
    code, _, err = call("profile", "large.toml")
    assert code == 2
    assert "would write out" in err
    call("init", "--example", "counting-query", "--out", "c.toml")
    assert "--epsilon" in refused("profile", "c.toml", "--epsilon", -1)
    assert "no such file" in refused("profile", "missing.toml")
    refused("profile", "c.toml", "--limit", 10)
    text = (tmp_path / "c.toml").read_text(encoding="utf-8").replace("n = 2100", "n = 2100\nm = 1")
    (tmp_path / "bad.toml").write_text(text, encoding="utf-8")
    assert "world.m" in refused("profile", "bad.toml")


def test_profile_of_a_family_names_the_distribution(call):
    call("init", "--example", "counting-query-rates", "--out", "c.toml")
    code, out, _ = call("profile", "c.toml", "--epsilon", 1)
    assert code == 0
    assert "for each of 5 distributions" in out
    assert "at epsilon 1 for Bits(n=100, rate=0.002)" in out
    answer = json.loads(call("profile", "c.toml", "--epsilon", 1, "--json")[1])
    assert answer["worst"] == ["Bits(n=100, rate=0.002)"]
    assert (answer["members"], answer["proved"], answer["assumptions"]) == (5, True, [])
    p = 0.002
    assert answer["delta"][0] == pytest.approx(p * (1 - math.e * (1 - (1 - p) ** 100)), rel=1e-9)
    found = call("profile", "c.toml", "--smallest", "tau", "--values", "0", "--delta", "1e-6")
    assert found[0] == 1
    assert call("profile", "c.toml", "--sample", "50")[0] == 2


def test_a_profile_of_ones_own_mechanism_is_proved_if_its_channel_is_right(call, tmp_path):
    call("init", "--example", "xor-half-alone", "--out", "x.toml")
    (tmp_path / "mine.py").write_text(
        "from narcissus.mechanisms import XorHalf\n\n\nclass Half(XorHalf):\n"
        "    def __init__(self, part='xor'):\n        super().__init__(part)\n"
    )
    text = (tmp_path / "x.toml").read_text()
    text = text.replace('name = "xor-half"\npart = "xor"', 'name = "mine:Half"')
    (tmp_path / "own.toml").write_text(text)
    code, out, _ = call("profile", "own.toml", "--epsilon", 0, "--allow-code")
    assert code == 0
    assert out.startswith("PROVED IF, against every attacker")
    assert "proved if the user's mechanism `Half` releases as its channel says" in out
    answer = json.loads(call("profile", "own.toml", "--epsilon", 0, "--json", "--allow-code")[1])
    assert answer["proved"] is False


def test_the_worst_member_of_a_family_is_written_as_a_study(call, refused, tmp_path):
    out = call("init", "--example", "counting-query-rates", "--out", "c d.toml")[1]
    assert out.endswith("play it with: narcissus audit 'c d.toml'\n")
    call("init", "--example", "counting-query-rates", "--out", "c.toml")
    code, out, _ = call("profile", "c.toml", "--epsilon", 1, "--worst", "w.toml")
    assert code == 0
    assert "play it with: narcissus audit w.toml" in out
    family = json.loads(call("profile", "c.toml", "--epsilon", 1, "--json")[1])
    alone = json.loads(call("profile", "w.toml", "--epsilon", 1, "--json")[1])
    assert alone["delta"] == family["delta"]
    assert alone["members"] == 1
    assert "exists" in refused("profile", "c.toml", "--worst", "w.toml")
    said = refused("profile", "w.toml", "--worst", "v.toml", silent=False)
    assert "the study has one distribution" in said
    assert "`--worst` is for the exact profile" in refused(
        "profile", "c.toml", "--worst", "v.toml", "--sample", 100
    )


def test_between_the_rates_of_a_family_it_is_proved_too(call, tmp_path):
    call("init", "--example", "counting-query-every-rate", "--out", "c.toml")
    text = (tmp_path / "c.toml").read_text(encoding="utf-8")
    (tmp_path / "c.toml").write_text(text.replace("n = 100", "n = 30"), encoding="utf-8")
    code, out, _ = call("profile", "c.toml", "--epsilon", 1, "--worst", "w.toml")
    assert code == 0
    assert "PROVED between the rates as well, at epsilon 1: at every rate from 0 to 1" in out
    cover = json.loads(call("profile", "c.toml", "--epsilon", 1, "--json")[1])["cover"][0]
    assert cover["least"] <= cover["at_most"] <= cover["least"] + 2e-4
    alone = json.loads(call("profile", "w.toml", "--epsilon", 1, "--json")[1])
    assert alone["delta"][0] == pytest.approx(cover["least"], rel=1e-9)
    options = ("--smallest", "tau", "--epsilon", 1, "--delta", 2e-3)
    code, out, _ = call("profile", "c.toml", *options, "--values", "0,0.2,0.3")
    assert code == 0
    assert "for every rate from 0 to 1" in out
    assert "delta(1) <= " in out
    code, out, _ = call("profile", "c.toml", *options, "--values", "0,0.01")
    assert code == 1
    assert "no tau of the 2 from 0 to 0.01 is shown to be enough" in out


@pytest.fixture
def count(call):
    call("init", "--example", "neighbours-each", "--out", "c.toml")
    return "c.toml"


def test_the_pair_the_event_and_both_losses_are_said(call, count):
    code, out, _ = call("privacy", count)
    assert code == 0
    assert "PROVED: not (1, delta)-differentially private for any delta below 1," in out
    assert "[0, 0, 0, 0, 0, 0, 0, 1]" in out
    assert "the release is 0.0" in out
    assert "(Theorem A.4)" in out
    answer = json.loads(call("privacy", count, "--epsilon", 2, "--json")[1])
    assert (answer["delta"], answer["over_pair"], answer["pairs"]) == (1, 1, 1024)
    loss = 1 / (2 * (1 + math.exp(2)))
    assert answer["over_uniform_pair_at_least"] == pytest.approx(loss)


@pytest.mark.parametrize("options", [(), ("--uniform",)])
def test_the_study_that_it_writes_is_broken(call, count, options):
    code, out, _ = call("privacy", count, "--epsilon", 0.5, "--out", "broken.toml", *options)
    assert code == 0
    assert "play it with: narcissus audit broken.toml" in out
    code, out, err = call("audit", "broken.toml", "--seed", 1)
    assert code == 1, err
    assert "is violated" in out
    assert "[proved]" in out.partition("Without")[0]


def test_what_is_wrong_is_refused(call, refused, count, tmp_path):
    code, _, err = call("privacy", count, "--uniform")
    assert code == 2
    assert "`--uniform` is for `--out FILE`" in err
    (tmp_path / "there.toml").write_text("mine", encoding="utf-8")
    code, _, err = call("privacy", count, "--out", "there.toml")
    assert code == 2
    assert "exists" in err
    assert (tmp_path / "there.toml").read_text(encoding="utf-8") == "mine"
    assert call("privacy", count, "--out", "there.toml", "--force")[0] == 0
    text = (tmp_path / count).read_text(encoding="utf-8")
    private = text.replace('"counting-query"\ntau = 0.0', '"constant"').replace("n = 8", "n = 2")
    (tmp_path / "p.toml").write_text(private, encoding="utf-8")
    code, out, err = call("privacy", "p.toml", "--out", "n.toml")
    assert code == 2
    assert "(1, 0)-differentially private" in out
    assert "nothing to show" in err
    assert not (tmp_path / "n.toml").exists()
    refused("privacy", "p.toml", "--out", "no/such/folder.toml", "--force", silent=False)
