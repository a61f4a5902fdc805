"""The study file of a channel: each option with the source that uses it, or refused."""

import pytest

import narcissus
from narcissus.errors import NarcissusError


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
