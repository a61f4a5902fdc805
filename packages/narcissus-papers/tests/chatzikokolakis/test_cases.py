"""The cases are what they are said to be, and what a user is told to run runs."""

from __future__ import annotations

import shlex

import numpy as np
import pytest

from narcissus import channels as ch
from narcissus.cli.main import main
from narcissus_papers import ITEMS
from narcissus_papers.chatzikokolakis import cases

COMMANDS = sorted({i.command for i in ITEMS.values() if i.paper == "002" and i.command})


def test_channels_have_zeros_ties_and_copies():
    made = cases.channels()
    assert len(made) == 40
    assert {len(rows) for rows in made} == {2, 3, 4, 5}
    assert any((rows == 0).any() for rows in made)
    assert any(len(np.unique(rows, axis=0)) < len(rows) for rows in made)
    assert all(ch.channel(rows) for rows in made)
    assert all(len(rows) == 3 for rows in cases.channels(9, secrets=3))


def test_priors_leave_something_to_guess():
    made = cases.priors(5)
    assert all(np.count_nonzero(prior) >= 2 for prior in made)
    assert all(abs(prior.sum() - 1) < 1e-12 for prior in made)
    assert np.array_equal(made[0], np.full(5, 0.2))
    assert min(np.count_nonzero(prior) for prior in made) == 2


def test_all_priors_and_rules_by_linear_program():
    """Randomized response on three values, where no secret is special."""
    rows = ch.KaryRandomizedResponse(3, 1.0).channel().dense
    assert cases.least_beta_of_all(rows) == pytest.approx(3 / (np.e + 2), abs=1e-9)


def test_all_sets_of_secrets():
    assert list(cases.sets_of_secrets(3)) == [(0, 1), (0, 2), (1, 2), (0, 1, 2)]
    assert cases.uniform_on((0, 2), 3).tolist() == [0.5, 0, 0.5]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Write the files that the commands name."""
    (tmp_path / "channel.csv").write_text("secret,short,long\nin,0.9,0.1\nout,0.2,0.8\n")
    (tmp_path / "second.csv").write_text("secret,yes,no\nshort,0.7,0.3\nlong,0.4,0.6\n")
    (tmp_path / "prior.csv").write_text("secret,probability\nin,0.7\nout,0.3\n")
    rng = np.random.default_rng(1)
    secret = rng.integers(2, size=400)
    shown = np.where(rng.random(400) < 0.8, secret, 1 - secret)
    lines = [f"{s},{o}" for s, o in zip(secret, shown, strict=True)]
    (tmp_path / "samples.csv").write_text("\n".join(["secret,output", *lines, ""]))
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("command", COMMANDS)
def test_what_a_user_is_told_to_run_runs(files, capsys, command):
    program, *words = shlex.split(command)
    if program == "python":
        assert words[0] == "-c"
        exec(words[1], {})  # our own text, from an item
        assert capsys.readouterr().out.strip()
    else:
        assert program == "narcissus"
        with pytest.raises(SystemExit) as left:
            main(words)
        assert left.value.code == 0
        assert capsys.readouterr().out.strip()
