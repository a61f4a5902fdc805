"""Losses are read with their names, or refused with their place; a channel is read as written."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus import channels as ch
from narcissus.errors import InputError


@pytest.fixture(autouse=True)
def _values(monkeypatch):
    """Let messages quote cells, so that a test can see which."""
    monkeypatch.setenv("NARCISSUS_SHOW_VALUES", "1")


def test_names_and_numbers(tmp_path):
    path = tmp_path / "loss.csv"
    path.write_text("secret,here,near\nhome,0,1.5\nwork,2,0\n")
    losses, secrets, answers = ch.read_losses(path)
    assert losses.tolist() == [[0, 1.5], [2, 0]]
    assert (secrets, answers) == (["home", "work"], ["here", "near"])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("secret,here\n", "one at least"),
        ("secret,here,near\nhome,0\nwork,1,2\n", "line 2: 2 cells where the first line has 3"),
        ("secret,here\nhome,0\nwork,x\n", "line 3: the loss of answer 'here' is 'x'"),
    ],
)
def test_what_is_wrong_has_its_place(tmp_path, text, says):
    path = tmp_path / "loss.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=says):
        ch.read_losses(path)


def test_a_written_channel_is_read_the_same(tmp_path):
    rows = np.random.default_rng(0).dirichlet(np.ones(3), 4)
    made = ch.channel(rows, secrets="abcd", outputs=["x", "y", "z"])
    ch.write_channel(tmp_path / "c.csv", made)
    again = ch.read_channel(tmp_path / "c.csv")
    assert (again.secrets, again.outputs) == (made.secrets, made.outputs)
    assert np.array_equal(again.dense, made.dense)
    with pytest.raises(InputError, match="cannot write"):
        ch.write_channel(tmp_path / "no" / "c.csv", made)


def test_gains_and_fractions_are_written(tmp_path):
    ch.write_gain(tmp_path / "g.csv", np.array([[0.5, 1.0], [0.1, 0.0]]), ["x", "y"])
    assert (tmp_path / "g.csv").read_text() == "guess,x,y\ng1,0.5,1.0\ng2,0.1,0.0\n"
    exact = ch.rational_channel([["1/3", "2/3"]], secrets=["x"])
    ch.write_channel(tmp_path / "c.csv", exact)
    assert ch.read_rational(tmp_path / "c.csv").rows == exact.rows
    with pytest.raises(InputError, match="npz holds floats"):
        ch.write_channel(tmp_path / "c.npz", exact)


UNEVEN = "{first},x,y,z\nx,0,1,5\ny,2,0,1\nz,1,3,0\n"
"""Square and not symmetric: rows and columns exchanged are other losses."""


def test_rows_are_what_the_first_cell_says(tmp_path):
    path = tmp_path / "loss.csv"
    matrix = np.array([[0, 1, 5], [2, 0, 1], [1, 3, 0]], dtype=float)
    for first, truth in (("secret", matrix), ("guess", matrix.T), ("Answer", matrix.T)):
        path.write_text(UNEVEN.format(first=first), encoding="utf-8")
        for secrets in (None, ["x", "y", "z"]):
            assert ch.read_losses(path, secrets)[0].tolist() == truth.tolist()
        turned = ch.read_losses(path, ["z", "x", "y"])
        assert turned[0].tolist() == truth[[2, 0, 1]].tolist()
        assert turned[1] == ["z", "x", "y"]


def test_a_square_table_that_does_not_tell_is_refused_unless_it_makes_no_difference(tmp_path):
    path = tmp_path / "loss.csv"
    for first in ("", "loss"):
        path.write_text(UNEVEN.format(first=first), encoding="utf-8")
        for secrets in (None, ["x", "y", "z"]):
            with pytest.raises(InputError, match=r"may both be the secrets.*`secret`.*`guess`"):
                ch.read_losses(path, secrets)
    path.write_text("loss,y,x\nx,1,0\ny,0,1\n", encoding="utf-8")
    assert ch.read_losses(path, ["x", "y"])[0].tolist() == [[1, 0], [0, 1]]
    # names tell by themselves where only one side has those of the secrets
    path.write_text("loss,x,y\nstay,0,1\ngo,2,0\n", encoding="utf-8")
    assert ch.read_losses(path, ["x", "y"])[0].tolist() == [[0, 2], [1, 0]]
    array = tmp_path / "loss.npy"
    np.save(array, np.array([[0.0, 1], [2, 0]]))
    with pytest.raises(InputError, match="may both be the secrets"):
        ch.read_losses(array, ["x", "y"])
    np.save(array, np.array([[0.0, 1, 4], [2, 0, 4]]))
    assert ch.read_losses(array, ["x", "y"])[0].tolist() == [[0, 1, 4], [2, 0, 4]]
    assert ch.read_losses(array, ["x", "y", "z"])[0].tolist() == [[0, 2], [1, 0], [4, 4]]


def test_a_gain_that_was_written_is_read_as_it_was(tmp_path):
    """`write_gain` writes a row a guess."""
    gain = np.array([[1.0, 0, 0.5], [0, 1, 0.25]])
    ch.write_gain(tmp_path / "gain.csv", gain, ["a", "b", "c"])
    assert ch.read_losses(tmp_path / "gain.csv")[0].tolist() == gain.T.tolist()
