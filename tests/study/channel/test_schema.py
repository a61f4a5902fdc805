"""The study file of a channel: each option with the source that uses it, or refused."""

import numpy as np
import pytest

import narcissus
from narcissus.errors import NarcissusError
from narcissus.study.channel.schema import ChannelRun, ChannelSpec, ChannelThreshold


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[channel]\n", "exactly one of"),
        ('[channel]\nfile = "c.csv"\nmechanism = "laplace:scale=1"\n', "exactly one of"),
        ('[channel]\nfile = "c.csv"\nsecret = "x"\n', "only with samples"),
        ('[channel]\nsamples = "c.csv"\nuses = 2\n', "`uses` is not used with 'samples'"),
        ('[channel]\nsamples = "c.csv"\nprior = "c.csv"\n', "`prior` is not used"),
        ('[channel]\nsamples = "c.csv"\ntolerance = 1e-6\n', "only with file: leave"),
        ('[channel]\nmechanism = "laplace:scale=1"\ntolerance = 1e-6\n', "only with file"),
        ('[channel]\nfile = "c.csv"\n[run]\nconfidence = 0.9\n', "nothing is sampled"),
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


@pytest.mark.parametrize("base", CHANNELS)
@pytest.mark.parametrize(
    ("section", "key"), [(s, key) for s, keys in OTHER_CHANNEL.items() for key in keys]
)
def test_no_key_of_a_channel_is_ignored(tmp_path, keys, base, section, key):
    channel_files(tmp_path)
    sections, value = CHANNELS[base], OTHER_CHANNEL[section][key]
    if (base, key) == ("file", "tolerance"):  # only a file whose rows are off shows it
        sections = {"channel": {"file": "off.csv", "tolerance": 0.005}}
    if sections.get(section, {}).get(key) != value:
        assert keys("channel").is_used_or_refused(sections, section, key, value)


@pytest.mark.parametrize(
    ("base", "key", "said"),
    [
        ("mechanism", "seed", "nothing is sampled, so `run.seed` is not used: leave it out"),
        ("file", "confidence", "so `run.confidence` is not used: leave it out"),
    ],
)
def test_what_nothing_samples_for_is_refused(tmp_path, keys, base, key, said):
    channel_files(tmp_path)
    with pytest.raises(NarcissusError, match=said):
        keys("channel").outcome(CHANNELS[base], "run", key, OTHER_CHANNEL["run"][key])


def test_every_key_of_a_channel_is_tried():
    words = {"reason", "origin"}  # they stand in the record as they are
    for section, model in (
        ("channel", ChannelSpec),
        ("threshold", ChannelThreshold),
        ("run", ChannelRun),
    ):
        assert set(OTHER_CHANNEL[section]) | words >= set(model.model_fields)
