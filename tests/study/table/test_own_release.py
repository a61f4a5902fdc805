"""What is recovered from a release that was made: counted by hand on tiny people."""

import json
from pathlib import Path

import pandas as pd
import pytest

from narcissus.report import render_text
from narcissus.study.table import experiment as experiments


@pytest.mark.parametrize("listed", [100_000, 1])
def test_exact_counts_give_away_who_is_alone(study, narcissus, counts_of, monkeypatch, listed):
    """Ten people, each alone with what is known: counts by that and the secret tell all."""
    monkeypatch.setattr(experiments, "MAX_JOINT", listed)  # with and without a list of values
    secret = ["y", "n", "n", "y", "n", "n", "n", "y", "n", "n"]
    frame = pd.DataFrame({"a": [*"vwxyz"] * 2, "b": [*"uuuuukkkkk"], "secret": secret})
    frame.to_csv("people.csv", index=False)
    counts_of(frame, ["secret"], 3).to_csv("counts.csv", index=False)
    path = study(
        threat={"unknown": ["secret"], "targets": 5},
        prior={"name": "independent"},
        mechanism={"k": 3, "epsilon": None, "scale": 0},
        release={"path": "counts.csv"},
    )
    code, out, err = narcissus("audit", path, "--json", "--quiet")
    assert code == 0, err
    record = json.loads(out)
    own = record["results"]["own_release"]
    assert (own["people"], own["guessed"]) == (10, 7)  # the best guess is "n" for everybody
    assert own["attacks"]["posterior"]["recovered"] == 10
    assert own["attacks"]["posterior"]["from_decoy"] < 10
    assert own["attacks"]["prior"] == {"recovered": 7, "from_decoy": 7}
    assert "ceiling" not in own["attacks"]  # nobody could run it
    assert record["provenance"]["digests"]["release"] == own["digest"]
    assert own["digest"].startswith("hmac-sha256:")
    narcissus("report", str(Path("results/s/record.json")))


def test_the_report_tells_it(study, counts_of):
    import narcissus

    frame = pd.DataFrame({"a": ["x", "y"] * 20, "b": ["u", "u", "v", "v"] * 10})
    counts_of(frame, ["b"], 2).to_csv("counts.csv", index=False)
    found = narcissus.audit(
        frame, unknown=["b"], k=2, scale=0.0, release="counts.csv", targets=5, trials=2,
        attacks=["prior", "posterior"], workers=1, rng=1,
    )  # fmt: skip
    from narcissus.report import page_of

    text = render_text(found.record)
    assert "The release itself" in text.replace("THE RELEASE ITSELF", "The release itself")
    assert page_of(found.record).title
    assert "counts.csv" in text


def test_shares_of_columns_are_added_up(study, counts_of):
    """Each is alone with what is known: of two unknown columns one right is worth a half."""
    import narcissus

    people = {"a": [*"vwxyz"] * 2, "b": [*"uuuuukkkkk"], "s": [*"ynnynnnynn"], "t": [*"ppqppqpppp"]}
    frame = pd.DataFrame(people)
    counts_of(frame, ["s", "t"], 3).to_csv("counts.csv", index=False)
    found = narcissus.audit(
        frame, unknown=["s", "t"], share_of_columns=True, k=3, scale=0.0, release="counts.csv",
        prior="independent", targets=5, trials=2, attacks=["prior", "posterior"], workers=1, rng=1,
    )  # fmt: skip
    own = found.record.results.settings[0].own_release
    assert own.guessed == (7 + 8) / 2  # "n" and "p" for everybody
    assert own.attacks["prior"].recovered == own.guessed
    assert own.attacks["posterior"].recovered > own.guessed
    assert "these are sums of such parts" in " ".join(render_text(found.record).split())


def test_more_than_everybody_is_no_record(study):
    from narcissus.study.results.table_attacks import OwnRelease

    good = dict(path="c", digest="d", people=3, guessed=2, by_the_prior=1.5, attacks={})
    assert OwnRelease(**good).people == 3
    with pytest.raises(ValueError, match="more are recovered"):
        OwnRelease(**{**good, "guessed": 4})
