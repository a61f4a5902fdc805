"""Studies of channels: the file, exact numbers and samples, thresholds, page and frame."""

import json
import math
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

import narcissus
from narcissus.cli.main import main
from narcissus.errors import LongWorkError, NarcissusError
from narcissus.kinds.channel import kind
from narcissus.kinds.channel.kind import (
    ChannelRun,
    ChannelSpec,
    ChannelThreshold,
    ExactLeakage,
    Looks,
)
from narcissus.observer import SilentObserver
from narcissus.report import Facts, Figure, Grid, page_of, render_html, render_text
from narcissus.report.about import numbers_of
from narcissus.study.kinds import RunOptions
from narcissus.study.reading import read_record

LAST = Path(__file__).parents[1] / "study" / "records" / "last"


@pytest.fixture
def blocks():
    """Give all blocks of a page of one type."""
    return lambda page, of: [b for s in page.sections for b in s.blocks if isinstance(b, of)]


CHANNEL = "secret,short,long\nlogin,0.9,0.1\nlogout,0.2,0.8\n"


def write(folder, text, **files):
    for name, content in files.items():
        (folder / f"{name}.csv").write_text(content)
    path = folder / "study.toml"
    path.write_text('kind = "channel"\n' + text)
    return path


def play(folder, text, **files):
    return narcissus.run(narcissus.load_study(write(folder, text, **files)), rng=1)


def found(audit):
    """Give the measures of a channel by name; from samples, those of all."""
    return {row.name: row for row in audit.record.rows if row.of in ("measure", "estimate")}


def samples(size=2_000, continuous=False):
    rng = np.random.default_rng(0)
    secret = rng.integers(2, size=size)
    shown = rng.normal(size=size) + secret
    if not continuous:
        shown = np.where(rng.random(size) < 0.75, secret, 1 - secret)
    return pd.DataFrame({"secret": secret, "output": shown}).to_csv(index=False)


def first_of(audit):
    return page_of(audit.record, internal=True).first


def test_a_table(tmp_path):
    audit = play(
        tmp_path,
        '[channel]\nfile = "c.csv"\nprior = "p.csv"\n[threshold]\nbeta_star = 0.25\n',
        c=CHANNEL,
        p="logout,0.25\nlogin,0.75\n",
    )
    assert audit.status == "met"
    assert found(audit)["beta_star"].value == pytest.approx(0.3)
    assert found(audit)["bayes_risk"].value == pytest.approx(0.125)
    rows = {row.of: row for row in audit.record.rows[::-1]}
    assert rows["pair"].value == pytest.approx(0.3)
    assert rows["delta"].value == pytest.approx(0.7)
    assert "tells 'login' from 'logout' 85 of 100 times" in audit.verdict
    assert "The best attacker guesses 88 of 100 secrets" in first_of(audit).hardest
    html = render_html(audit.record)
    assert "No two are easier to tell apart than login and logout" in html
    assert "<svg" in html
    assert "<image" not in html
    assert "://" not in html.replace("http://www.w3.org", "")
    assert len(html) < 300 * 1024
    assert "Local DP epsilon" in render_text(audit.record)
    assert "login" in render_text(audit.record)


def test_noise_on_numbers_takes_a_prior(tmp_path):
    text = '[channel]\nmechanism = { name = "laplace", span = 1, scale = 1 }\nprior = "p.csv"\n'
    audit = play(tmp_path, text, p="1,0.4\n2,0.6\n")
    assert found(audit)["guessing_error"].value == pytest.approx(0.4)
    # the numbers change hands at 1/2 + ln(2/3)/2
    cut = 0.5 + np.log(2 / 3) / 2
    risk = (0.4 * np.exp(-cut) + 0.6 * np.exp(cut - 1)) / 2
    assert found(audit)["bayes_risk"].value == pytest.approx(risk)


def test_one_secret_is_no_study(tmp_path):
    with pytest.raises(NarcissusError, match=r"c\.csv has one secret"):
        play(tmp_path, '[channel]\nfile = "c.csv"\n', c="secret,a\nx,1\n")


@pytest.mark.parametrize(("limit", "status"), [(0.75, "met"), (0.8, "exceeded")])
def test_a_mechanism_and_its_threshold(tmp_path, limit, status):
    # Two outputs of randomized response over ten values.
    audit = play(
        tmp_path,
        '[channel]\nmechanism = { name = "randomized-response", values = 10, epsilon = 1 }\n'
        f"uses = 2\n[threshold]\nbeta_star = {limit}\n",
    )
    assert audit.status == status


def test_a_mechanism_too_large_for_a_matrix(tmp_path):
    audit = play(
        tmp_path,
        '[channel]\nmechanism = { name = "randomized-response", values = 1000000, epsilon = 10 }\n',
    )
    assert found(audit)["beta_star"].value == pytest.approx(0.9784492, abs=5e-8)
    assert "pair" not in {row.of for row in audit.record.rows}
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
    security = found(audit)["beta_star"]
    assert security.quantity.low <= 0.5 <= security.quantity.high
    assert security.at == {"samples": 2_000}
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
        ('[channel]\nmechanism = { name = "laplase", scale = 1 }\n', "did you mean `laplace`"),
        ('[channel]\nmechanism = { name = "laplace", scale = 1 }\nuses = 2\n', "continuous"),
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
    example = Path(__file__).resolve().parents[2] / "examples" / "channel.toml"
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
    assert "Refuted: that the samples are independent" in audit.verdict
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
        text = '[channel]\nsamples = "s.csv"\n'
        numbers = found(play(tmp_path, text, s=frame.to_csv(index=False)))
        risk, guess = numbers["bayes_risk"], numbers["guessing_error"].value
        assert (risk.quantity.low or 0) <= risk.value <= min(risk.quantity.high, guess)


@pytest.mark.parametrize("prior", ["a,0.5\nb,0.5\n", "a,0.01\nb,0.99\n"])
@pytest.mark.parametrize("last", [0.096, 0.101, 0.104])
def test_rows_that_are_off_as_the_file_may_be_contradict_nothing(tmp_path, prior, last):
    text = '[channel]\nfile = "c.csv"\nprior = "p.csv"\ntolerance = 0.005\n'
    audit = play(tmp_path, text, c=f"secret,x,y\na,0.9,{last}\nb,0.2,0.8\n", p=prior)
    assert list(audit.record.contradictions) == []
    assert audit.status == "no threshold"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[channel]\n", "exactly one of"),
        (
            '[channel]\nfile = "c.csv"\nmechanism = { name = "laplace", scale = 1 }\n',
            "exactly one of",
        ),
        ('[channel]\nfile = "c.csv"\nsecret = "x"\n', "only with samples"),
        ('[channel]\nsamples = "c.csv"\nuses = 2\n', "`uses` is not used with 'samples'"),
        ('[channel]\nsamples = "c.csv"\nprior = "c.csv"\n', "`prior` is not used"),
        ('[channel]\nsamples = "c.csv"\ntolerance = 1e-6\n', "only with file: leave"),
        (
            '[channel]\nmechanism = { name = "laplace", scale = 1 }\ntolerance = 1e-6\n',
            "only with file",
        ),
        ('[channel]\nfile = "c.csv"\n[run]\nconfidence = 0.9\n', "is for samples"),
        ('[channel]\nfiel = "c.csv"\n', "did you mean `file`"),
        ('[channel]\nfile = "c.csv"\n[threshold]\nreason = "x"\n', "`bayes_risk` or both"),
    ],
)
def test_options_that_do_not_go_together_are_refused(tmp_path, text, words):
    path = tmp_path / "study.toml"
    path.write_text('kind = "channel"\n' + text)
    with pytest.raises(NarcissusError, match=words):
        narcissus.load_study(path)


@pytest.mark.parametrize(("given", "tolerance"), [("", 1e-9), ("tolerance = 1e-6\n", 1e-6)])
def test_what_is_left_out_has_the_default_of_its_source(tmp_path, given, tolerance):
    (tmp_path / "c.csv").write_text("secret,a,b\nx,0.9,0.1\ny,0.2,0.8\n")
    path = tmp_path / "study.toml"
    path.write_text('kind = "channel"\n[channel]\nfile = "c.csv"\n' + given)
    spec = narcissus.load_study(path).settings.channel
    assert (spec.tolerance, spec.uses, spec.estimators) == (tolerance, 1, None)


def channel_files(folder):
    (folder / "c.csv").write_text("secret,x,y\na,0.9,0.1\nb,0.2,0.8\n")
    (folder / "off.csv").write_text("secret,x,y\na,0.9,0.101\nb,0.2,0.8\n")
    (folder / "p.csv").write_text("a,0.25\nb,0.75\n")
    rng = np.random.default_rng(0)
    rows = [
        f"{s},{s if rng.random() < 0.8 else 1 - s},{rng.integers(3)}"
        for s in rng.integers(2, size=160)
    ]
    (folder / "s.csv").write_text("\n".join(["first,output,second", *rows]))


CHANNELS = {
    "file": {"channel": {"file": "c.csv"}},
    "mechanism": {
        "channel": {"mechanism": {"name": "randomized-response", "values": 4, "epsilon": 1}}
    },
    "samples": {
        "channel": {"samples": "s.csv", "secret": "first", "estimators": ["nearest-one"]},
        "run": {"seed": 1},
    },
}


OTHER_CHANNEL = {
    "channel": {
        "file": "c.csv",
        "mechanism": {"name": "randomized-response", "values": 5, "epsilon": 1},
        "samples": "s.csv",
        "secret": "second",
        "estimators": ["frequentist"],
        "prior": "p.csv",
        "tolerance": 1e-6,
        "uses": 2,
    },
    "threshold": {"beta_star": 0.99, "bayes_risk": 0.99},
    "run": {"confidence": 0.8, "seed": 7},
}


def outcome(folder, sections):
    audit = narcissus.run(narcissus.load_study({"kind": "channel", **sections}, folder=folder))
    remarks = [str(remark) for remark in audit.record.not_assessed]
    said = [audit.status, audit.verdict, audit.record.assumptions, remarks, audit.results]
    return json.dumps(said, default=str)


@pytest.mark.parametrize("base", CHANNELS)
@pytest.mark.parametrize(
    ("section", "key"), [(s, key) for s, keys in OTHER_CHANNEL.items() for key in keys]
)
def test_no_key_of_a_channel_is_ignored(tmp_path, base, section, key):
    channel_files(tmp_path)
    sections, value = CHANNELS[base], OTHER_CHANNEL[section][key]
    if (base, key) == ("file", "tolerance"):  # only a file whose rows are off shows it
        sections = {"channel": {"file": "off.csv", "tolerance": 0.005}}
    if sections.get(section, {}).get(key) != value:
        before = outcome(tmp_path, sections)
        changed = {**sections, section: {**sections.get(section, {}), key: value}}
        try:
            after = outcome(tmp_path, changed)
        except NarcissusError as error:
            after = ""
            said = str(error)
        assert after != before
        assert after or key in said or section in said


@pytest.mark.parametrize(
    ("base", "key", "said"),
    [
        ("mechanism", "seed", "`run.seed` is for samples, and this channel is exact"),
        ("file", "confidence", "`run.confidence` is for samples"),
    ],
)
def test_what_nothing_samples_for_is_refused(tmp_path, base, key, said):
    channel_files(tmp_path)
    with pytest.raises(NarcissusError, match=said):
        outcome(tmp_path, {**CHANNELS[base], "run": {key: OTHER_CHANNEL["run"][key]}})


def test_every_key_of_a_channel_is_tried():
    words = {"reason", "origin"}  # they stand in the record as they are
    for section, model in (
        ("channel", ChannelSpec),
        ("threshold", ChannelThreshold),
        ("run", ChannelRun),
    ):
        assert set(OTHER_CHANNEL[section]) | words >= set(model.model_fields)


class Clock:
    now = 0.0

    def perf_counter(self):
        return self.now


@pytest.mark.parametrize(("hours", "raises"), [(63 / 3600 - 1e-6, True), (63 / 3600, False)])
def test_the_first_look_that_takes_time_decides(monkeypatch, hours, raises):
    """Six looks of 1 ms, 1, 2, 4, 8 and 16 seconds; then of 62 with the first that shows."""
    clock = Clock()
    monkeypatch.setattr(kind, "time", clock)
    looks = Looks(RunOptions(1, SilentObserver(), hours=hours))
    looks.start("sample sizes", 7)
    clock.now += 0.001
    looks.advance()
    clock.now += 63 / 62
    if raises:
        with pytest.raises(LongWorkError, match="about 63 seconds of work: 5 looks"):
            looks.advance()
        return
    looks.advance()
    clock.now += 1e6  # decided once: what is nearly done is not given up
    looks.advance()
    looks.finish()


def numbers(record):
    return [number[1:] for number in numbers_of(record)]


def kept(name):
    return read_record(LAST / f"{name}.json")


def with_leakage(record, **changes):
    """Give a record of another leakage."""
    leakage = record.result.leakage.model_copy(update=changes)
    result = record.result.model_copy(update={"leakage": leakage})
    return record.model_copy(update={"result": result})


def with_risk(record, **values):
    """Give a record of samples whose last Bayes risk has other limits."""
    *earlier, last = record.result.leakage.looks
    risk = last.bayes_risk.model_copy(update=values)
    last = last.model_copy(update={"bayes_risk": risk})
    return with_leakage(record, looks=(*earlier, last))


def test_exact_errors_are_shown_as_successes():
    """Guessing error .5, Bayes risk .425, and 1 - .45 / 2 for the worst two."""
    assert numbers(kept("channel")) == [
        ("50.0%", "exact", "proved"),
        ("57.5%", "exact", "proved"),
        ("77.5%", "50% by guessing", "proved"),
    ]


def test_limits_of_an_error_are_those_of_the_success_turned_round():
    """Bayes risk in .35330 to .37950; Bayes security in .41985 to .58266, halved."""
    without, with_it, apart = numbers(kept("samples"))
    assert without == ("25.2%", "the commonest secret on these samples, no limits", "approximate")
    assert with_it == ("63.8%", "95% limits 62.0%\xa0to\xa064.7%", "sampled")
    assert apart == ("74.6%", "95% limits 70.8%\xa0to\xa079.1%; 50% by guessing", "sampled")


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [(None, 0.4, "at least 60.0%"), (0.3, None, "at most 70.0%"), (None, None, "\N{EM DASH}")],
)
def test_a_limit_that_is_missing_is_missing_on_the_other_side(low, high, words):
    record = with_risk(kept("samples"), low=low, high=high)
    assert words in numbers(record)[1][1]


def test_what_is_too_large_for_a_matrix_is_not_assessed():
    record = with_leakage(kept("channel"), shannon_leakage=None)
    grid = page_of(record).sections[2].blocks[0]
    assert isinstance(grid, Grid)
    grades = dict(zip((row[0] for row in grid.rows), grid.grades, strict=True))
    assert grades.pop("Shannon leakage") == "not assessed"
    assert set(grades.values()) == {"proved"}


@pytest.mark.parametrize("pairs", [(), ((0.5,), ()), ((), (0.5,), (0.5,))])
def test_every_pair_of_what_is_shown_is_there_once(pairs):
    exact = kept("channel").result.leakage
    with pytest.raises(ValidationError, match="every one before it"):
        ExactLeakage.taken(exact, pairs=pairs)


def test_pairs_stand_easiest_first(blocks):
    pairs, _ = blocks(page_of(kept("channel")), Figure)
    assert pairs.title == "No two are easier to tell apart than a and c"
    assert [row[2] for row in pairs.table.rows] == [0.45, 0.45, 0.75]
    assert "The darkest is 0.45, the lightest 0.75" in pairs.description


def test_limits_in_the_table_are_rounded_outwards(blocks):
    [samples] = blocks(page_of(kept("samples")), Figure)
    assert samples.table.rows[-1][2:] == ["0.4198 to 0.5827", 0.362, "0.3533 to 0.3795"]
    assert samples.title == "The limits close in as more samples are used"

    wide = with_risk(kept("samples"), low=None, high=None)
    [samples] = blocks(page_of(wide), Figure)
    assert samples.title == "The limits at each number of samples"
    assert samples.table.rows[-1][4] == "\N{EM DASH}"


def test_the_threshold_and_what_is_taken_as_given_are_shown(blocks):
    record = kept("mechanism")
    facts = dict(blocks(page_of(record), Facts)[0].rows)
    assert facts["Outputs that the attacker sees"] == str(record.study["channel"]["uses"])
    limit = record.study["threshold"]["beta_star"]
    assert facts["Threshold: Bayes security at least"] == f"{limit:g}"
    assert "implemented as described" in " ".join(render_text(record).split())


def play_channel(folder, **channel):
    return narcissus.run(
        narcissus.load_study({"kind": "channel", "channel": channel}, folder=folder), rng=1
    )


def test_an_exact_channel_has_measures_pairs_and_a_profile():
    audit = play_channel(None, mechanism={"name": "randomized-response", "values": 4, "epsilon": 1})
    frame = audit.to_frame()
    assert set(frame["grade"]) == {"proved"}
    measures = frame[frame["quantity"] == "measure"].set_index("name")["value"]
    assert measures["beta_star"] == found(audit)["beta_star"].value
    pairs = frame[frame["quantity"] == "pair"]
    assert len(pairs) == 4 * 3 / 2
    assert pairs["value"].min() == pytest.approx(measures["beta_star"])
    profile = frame[frame["quantity"] == "delta"]
    assert profile["value"].iloc[0] == pytest.approx(1 - measures["beta_star"])
    assert repr(audit).startswith("Audit(channel: no threshold, proved; of 100 attempts to tell")


def test_an_infinite_epsilon_is_infinite(tmp_path):
    (tmp_path / "c.csv").write_text("secret,x,y\na,1,0\nb,0.5,0.5\n")
    measures = play_channel(tmp_path, file="c.csv").to_frame().set_index("name")["value"]
    assert measures["epsilon_ldp"] == math.inf


def test_estimates_have_limits_and_the_samples_they_rest_on(tmp_path):
    rng = np.random.default_rng(5)
    secrets = rng.integers(0, 2, 400)
    outputs = np.where(rng.random(400) < 0.8, secrets, 1 - secrets)
    rows = [f"{s},{o}" for s, o in zip(secrets, outputs, strict=True)]
    (tmp_path / "s.csv").write_text("\n".join(["secret,output", *rows]) + "\n")
    audit = play_channel(tmp_path, samples="s.csv")
    frame = audit.to_frame()
    [guess] = frame[frame["name"] == "guessing_error"].to_dict("records")
    assert (guess["grade"], guess["samples"]) == ("approximate", 400)
    assert math.isnan(guess["low"])
    assert math.isnan(guess["high"])
    frame = frame[frame["name"] != "guessing_error"]
    assert set(frame["grade"]) == {"sampled"}
    assert set(frame["name"]) == {"beta_star", "bayes_risk"}
    [without, *_] = numbers_of(audit.record)
    assert without[2:] == ("the commonest secret on these samples, no limits", "approximate")
    last = frame[frame["samples"] == 400].set_index("name")
    risk = found(audit)["bayes_risk"]
    assert last.loc["bayes_risk", "value"] == risk.value
    assert last.loc["bayes_risk", "low"] == risk.quantity.low
    assert repr(audit).startswith("Audit(channel: no threshold, sampled; of 100 attempts to tell")


@pytest.mark.parametrize("rows", ["a,1,0,0\nb,0,1,0\nc,0,0,1\n", "a,.5,.5\nb,.5,.5\nc,.5,.5\n"])
def test_no_pair_of_exact_ties_is_called_the_easiest(tmp_path, rows):
    """All three pairs are alike: one was named as *the* easiest to tell apart."""
    head = "secret," + ",".join("xyz"[: rows.partition("\n")[0].count(",")]) + "\n"
    text = '[channel]\nfile = "c.csv"\n[threshold]\nbayes_risk = 0.9\n'
    hardest = first_of(play(tmp_path, text, c=head + rows)).hardest
    assert "Easiest" not in hardest
    assert hardest.startswith("No two secrets are easier to tell apart than 'a' and 'b'.")


def test_of_samples_a_pair_only_seems_the_easiest(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"secret": rng.integers(0, 3, 900), "output": rng.integers(0, 3, 900)})
    text = '[channel]\nsamples = "s.csv"\n[threshold]\nbayes_risk = 0.1\n'
    hardest = first_of(play(tmp_path, text, s=frame.to_csv(index=False))).hardest
    assert " seem easiest to tell apart." in hardest
