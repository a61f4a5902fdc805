import json
import sys

import jsonschema
import numpy as np
import pandas as pd
import pytest

import narcissus
from narcissus.cli.main import main
from narcissus.errors import NarcissusError
from narcissus.report import render_html, render_text
from narcissus.study.channel import KIND

CHANNEL = "secret,short,long\nlogin,0.9,0.1\nlogout,0.2,0.8\n"


def write(folder, text, **files):
    for name, content in files.items():
        (folder / f"{name}.csv").write_text(content)
    path = folder / "study.toml"
    path.write_text('kind = "channel"\n' + text)
    return path


def play(folder, text, **files):
    return narcissus.run(narcissus.load_study(write(folder, text, **files)), rng=1)


def samples(size=2_000, continuous=False):
    rng = np.random.default_rng(0)
    secret = rng.integers(2, size=size)
    shown = rng.normal(size=size) + secret
    if not continuous:
        shown = np.where(rng.random(size) < 0.75, secret, 1 - secret)
    return pd.DataFrame({"secret": secret, "output": shown}).to_csv(index=False)


def test_a_table(tmp_path):
    audit = play(
        tmp_path,
        '[channel]\nfile = "c.csv"\nprior = "p.csv"\n[threshold]\nbeta_star = 0.25\n',
        c=CHANNEL,
        p="logout,0.25\nlogin,0.75\n",
    )
    assert audit.status == "met"
    assert audit.results["exact"]["beta_star"] == pytest.approx(0.3)
    assert audit.results["exact"]["bayes_risk"] == pytest.approx(0.125)
    assert audit.results["pairwise"]["values"][0][1] == pytest.approx(0.3)
    assert audit.results["profile"]["delta"][0] == pytest.approx(0.7)
    jsonschema.validate(audit.results, KIND.results.json_schema())
    assert "85.0 are right" in audit.verdict
    html = render_html(audit.record)
    assert "login and logout are easiest to tell apart" in html
    assert "<svg" in html
    assert "<image" not in html
    assert "://" not in html.replace("http://www.w3.org", "")
    assert len(html) < 300 * 1024
    assert "Local DP epsilon" in render_text(audit.record)
    assert "login" in render_text(audit.record)


def test_noise_on_numbers_takes_a_prior(tmp_path):
    text = '[channel]\nmechanism = "laplace:span=1,scale=1"\nprior = "p.csv"\n'
    audit = play(tmp_path, text, p="1,0.4\n2,0.6\n")
    assert audit.results["exact"]["guessing_error"] == pytest.approx(0.4)
    # the numbers change hands at 1/2 + ln(2/3)/2
    cut = 0.5 + np.log(2 / 3) / 2
    risk = (0.4 * np.exp(-cut) + 0.6 * np.exp(cut - 1)) / 2
    assert audit.results["exact"]["bayes_risk"] == pytest.approx(risk)


def test_one_secret_is_no_study(tmp_path):
    with pytest.raises(NarcissusError, match=r"c\.csv has one secret"):
        play(tmp_path, '[channel]\nfile = "c.csv"\n', c="secret,a\nx,1\n")


@pytest.mark.parametrize(("limit", "status"), [(0.75, "met"), (0.8, "exceeded")])
def test_a_mechanism_and_its_threshold(tmp_path, limit, status):
    # Two outputs of randomized response over ten values.
    audit = play(
        tmp_path,
        '[channel]\nmechanism = "randomized-response:values=10,epsilon=1"\nuses = 2\n'
        f"[threshold]\nbeta_star = {limit}\n",
    )
    assert audit.status == status


def test_a_mechanism_too_large_for_a_matrix(tmp_path):
    audit = play(
        tmp_path, '[channel]\nmechanism = "randomized-response:values=1000000,epsilon=10"\n'
    )
    assert audit.results["exact"]["beta_star"] == pytest.approx(0.9784492, abs=5e-8)
    assert audit.results["pairwise"] is None
    assert render_html(audit.record)


@pytest.mark.parametrize(
    ("limit", "status"), [(0.1, "met"), (0.52, "inconclusive"), (0.9, "exceeded")]
)
def test_samples(tmp_path, limit, status):
    audit = play(
        tmp_path,
        f'[channel]\nsamples = "s.csv"\n[threshold]\nbeta_star = {limit}\n',
        s=samples(),
    )
    assert audit.status == status
    found = audit.results["estimated"]
    assert found["beta_star"]["low"] <= 0.5 <= found["beta_star"]["high"]
    assert [look["samples"] for look in found["history"]][-1] == 2_000
    jsonschema.validate(audit.results, KIND.results.json_schema())
    again = play(
        tmp_path, f'[channel]\nsamples = "s.csv"\n[threshold]\nbeta_star = {limit}\n', s=samples()
    )
    assert again.results == audit.results
    assert "as more samples" in render_html(audit.record)


def test_what_samples_cannot_say_is_never_safe(tmp_path):
    audit = play(
        tmp_path,
        '[channel]\nsamples = "s.csv"\n[threshold]\nbeta_star = 0.01\n',
        s=samples(continuous=True),
    )
    assert audit.status == "inconclusive"
    assert {r.quantity for r in audit.record.not_assessed} == {
        "how low Bayes security may be",
        "how low the Bayes risk may be",
    }
    assert "no lower limit" in render_html(audit.record)


def test_a_secret_with_few_samples_is_refused_where_a_verdict_is_about_all(tmp_path):
    text = '[channel]\nsamples = "s.csv"\n[threshold]\nbeta_star = 0.01\n'
    with pytest.raises(NarcissusError, match="secret '7' has 2 samples, too few for a verdict"):
        play(tmp_path, text, s=samples() + "7,0\n7,1\n")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[channel]\nfile = "gone.csv"\n', "no such file"),
        ('[channel]\nfile = "c.csv"\nprior = "c.csv"\n', "prob|column"),
        ('[channel]\nmechanism = "laplase:scale=1"\n', "did you mean `laplace`"),
        ('[channel]\nmechanism = "laplace:scale=1"\nuses = 2\n', "continuous"),
    ],
)
def test_files_and_mechanisms_that_do_not_fit_are_refused_before_any_work(tmp_path, text, words):
    with pytest.raises(NarcissusError, match=words):
        narcissus.load_study(write(tmp_path, text, c=CHANNEL))


def test_on_the_command_line(tmp_path, capsys):
    path = write(tmp_path, '[channel]\nfile = "c.csv"\n[threshold]\nbeta_star = 0.5\n', c=CHANNEL)
    with pytest.raises(SystemExit) as stop:
        main(["audit", str(path), "--out", str(tmp_path / "out")])
    assert stop.value.code == 1
    record = json.loads((tmp_path / "out" / "record.json").read_text())
    assert record["kind"] == "channel"
    assert (tmp_path / "out" / "report.html").exists()
    assert "login" in capsys.readouterr().out


def test_the_example_is_a_study_that_plays():
    from pathlib import Path

    example = Path(__file__).resolve().parents[3] / "examples" / "channel.toml"
    assert narcissus.run(narcissus.load_study(example), rng=0).status == "met"


def test_the_grade_is_that_of_the_source(tmp_path):
    exact = play(tmp_path, '[channel]\nfile = "c.csv"\n', c=CHANNEL)
    assert (exact.record.grade, exact.record.assumptions) == ("proved", [])
    sampled = play(tmp_path, '[channel]\nsamples = "s.csv"\n', s=samples())
    assert sampled.record.grade == "sampled"
    assert any("independent" in a for a in sampled.record.assumptions)
    assert exact.record.contradictions == sampled.record.contradictions == []


@pytest.mark.parametrize("limit", ["", "[threshold]\nbeta_star = 0.1\n"])
def test_limits_that_cross_are_the_verdict(tmp_path, monkeypatch, limit):
    """They were put in order in silence; a threshold was then 'met' by whichever suited."""
    monkeypatch.setattr(
        sys.modules["narcissus.channels.limits"], "security_low", lambda data, side: 0.9
    )
    audit = play(tmp_path, f'[channel]\nsamples = "s.csv"\n{limit}', s=samples())
    assert audit.status == "contradicted"
    assert audit.verdict.startswith("Refuted: that the samples are independent")
    assert audit.record.contradictions[0] in audit.verdict


def test_exact_numbers_that_disagree_are_the_verdict(tmp_path, monkeypatch):
    from narcissus.channels import summary

    monkeypatch.setattr(summary, "local_dp_epsilon", lambda c: 0.01)
    audit = play(tmp_path, '[channel]\nfile = "c.csv"\n[threshold]\nbeta_star = 0.1\n', c=CHANNEL)
    assert audit.status == "contradicted"
    assert "error in this software" in audit.verdict


def test_the_output_never_seems_to_harm_the_attacker(tmp_path):
    """Useless outputs: the estimate of the best attacker is no worse than the commonest secret."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame(
            {"secret": rng.integers(3, size=300), "output": rng.integers(9, size=300)}
        )
        found = play(tmp_path, '[channel]\nsamples = "s.csv"\n', s=frame.to_csv(index=False))
        numbers = found.results["estimated"]
        risk = numbers["bayes_risk"]
        assert (
            (risk["low"] or 0) <= risk["estimate"] <= min(risk["high"], numbers["guessing_error"])
        )


@pytest.mark.parametrize("prior", ["a,0.5\nb,0.5\n", "a,0.01\nb,0.99\n"])
@pytest.mark.parametrize("last", [0.096, 0.101, 0.104])
def test_rows_that_are_off_as_the_file_may_be_contradict_nothing(tmp_path, prior, last):
    text = '[channel]\nfile = "c.csv"\nprior = "p.csv"\ntolerance = 0.005\n'
    audit = play(tmp_path, text, c=f"secret,x,y\na,0.9,{last}\nb,0.2,0.8\n", p=prior)
    assert list(audit.record.contradictions) == []
    assert audit.status == "no threshold"
