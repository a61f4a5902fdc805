"""Channels and priors from files."""

import numpy as np
import pandas as pd
import pytest

from narcissus.channels import read_channel, read_prior
from narcissus.errors import InputError


@pytest.fixture(autouse=True)
def _values(monkeypatch):
    """Let messages quote cells, so that a test can see which."""
    monkeypatch.setenv("NARCISSUS_SHOW_VALUES", "1")


def write(path, text):
    path.write_text(text)
    return path


def test_files(tmp_path):
    named = write(tmp_path / "a.csv", "secret,p,q\nx,0.9,0.1\n7,0.2,0.8\n")
    c = read_channel(named)
    assert (c.secrets, c.outputs) == (("x", "7"), ("p", "q"))
    numbers = read_channel(write(tmp_path / "b.csv", "secret,0,1\n1,0.9,0.1\n2,0.2,0.8\n"))
    assert (numbers.secrets, numbers.outputs) == (("1", "2"), ("0", "1"))
    bare = read_channel(write(tmp_path / "c.csv", "0.9,0.1\n0.2,0.8\n"))
    assert (bare.secrets, bare.outputs) == (("s1", "s2"), ("o1", "o2"))
    headed = read_channel(write(tmp_path / "d.csv", "p,q\n0.9,0.1\n0.2,0.8\n"))
    assert (headed.secrets, headed.outputs) == (("s1", "s2"), ("p", "q"))
    rows = read_channel(write(tmp_path / "e.csv", "x,0.9,0.1\ny,0.2,0.8\n"))
    assert (rows.secrets, rows.outputs) == (("x", "y"), ("o1", "o2"))
    for other in (numbers, bare, headed, rows):
        assert np.array_equal(other.matrix, c.matrix)


def test_parquet(tmp_path):
    pytest.importorskip("pyarrow", reason="the extra `parquet` is not installed")
    frame = pd.DataFrame({"secret": ["x", "y"], "p": [0.9, 0.2], "q": [0.1, 0.8]})
    frame.to_parquet(tmp_path / "a.parquet")
    frame.set_index("secret").to_parquet(tmp_path / "b.parquet")
    for name in ("a.parquet", "b.parquet"):
        c = read_channel(tmp_path / name)
        assert (c.secrets, c.outputs) == (("x", "y"), ("p", "q"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("secret,p,q\nx,0.9,\ny,0.2,0.8\n", "secret 'x', output 'q' is empty"),
        ("secret,p,q\nx,0.9,oh\ny,0.2,0.8\n", "output 'q' is 'oh', not a number"),
        ("secret,p,q\nx,0.9,nan\ny,0.2,0.8\n", "NaN"),
        ("secret,p,q\nx,0.9,0.1\nx,0.2,0.8\n", "'x' stands there twice"),
        ("secret,p,q\n", "no rows"),
        ("", "empty"),
        ("0,1\n0.5,0.5\n0.5,0.5\n", "may be names of outputs or a row"),
        ("secret\nx\ny\n", "no column"),
    ],
)
def test_bad_files(tmp_path, text, words):
    with pytest.raises(InputError, match=words):
        read_channel(write(tmp_path / "bad.csv", text))


def test_missing_file_names_the_nearest(tmp_path):
    write(tmp_path / "channel.csv", "x")
    with pytest.raises(InputError, match=r"did you mean `channel.csv`"):
        read_channel(tmp_path / "chanel.csv")


def test_prior_files(tmp_path):
    assert read_prior(write(tmp_path / "a.csv", "secret,probability\nx,0.25\ny,0.75\n")) == {
        "x": 0.25,
        "y": 0.75,
    }
    assert read_prior(write(tmp_path / "b.csv", "x,0.25\ny,0.75\n"))["y"] == 0.75
    assert read_prior(write(tmp_path / "c.csv", "0.25\n0.75\n")).tolist() == [0.25, 0.75]
    for text, words in (
        ("x,0.5\ny,0.6\n", "sum to 1"),
        ("x,0.5\nx,0.5\n", "twice"),
        ("x,0.5\ny,oh\n", "'oh' is not a number"),
        ("x,0.5,1\n", "got 3"),
    ):
        with pytest.raises(InputError, match=words):
            read_prior(write(tmp_path / "bad.csv", text))


def test_a_name_that_the_system_does_not_take_is_one_clear_error(tmp_path):
    with pytest.raises(InputError, match="cannot read"):
        read_channel(tmp_path / ("c" * 5000 + ".csv"))
