"""NumPy's and SciPy's files are read with their names; pickles and other shapes are refused."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from narcissus import channels as ch
from narcissus.channels import read_channel, read_prior
from narcissus.channels.files import read_matrix
from narcissus.errors import TooLargeError

from .conftest import refused

ROWS = np.array([[0.75, 0.25, 0.0], [0.0, 0.5, 0.5]])


def test_what_is_saved_is_read(tmp_path):
    np.save(tmp_path / "a.npy", ROWS)
    np.savez(tmp_path / "b.npz", ROWS)
    np.savez(tmp_path / "c.npz", matrix=ROWS, other=np.ones(3), secrets=["x", "y"])
    for name in "a.npy", "b.npz", "c.npz":
        assert np.array_equal(ch.read_channel(tmp_path / name).dense, ROWS)
    assert ch.read_channel(tmp_path / "c.npz").secrets == ("x", "y")
    for form in "csr", "csc", "coo", "bsr", "dia":
        sparse.save_npz(tmp_path / "s.npz", sparse.coo_array(ROWS).asformat(form))
        found = ch.read_channel(tmp_path / "s.npz")
        assert found.is_sparse
        assert np.array_equal(found.dense, ROWS)


def test_a_channel_that_is_written_is_read_with_its_names(tmp_path):
    made = ch.channel(ROWS, secrets=["home", "work"], outputs=["n", "s", "w"])
    ch.write_channel(tmp_path / "m.npz", made)
    again = ch.read_channel(tmp_path / "m.npz")
    assert (again.secrets, again.outputs) == (made.secrets, made.outputs)
    assert np.array_equal(again.dense, ROWS)


class Evil:
    """Would leave a mark if it were unpickled."""

    touched = False

    def __reduce__(self):
        return setattr, (Evil, "touched", True)


def test_pickles_are_refused_and_never_run(tmp_path):
    bad = np.array([[Evil()]], dtype=object)
    np.save(tmp_path / "a.npy", bad, allow_pickle=True)
    np.savez(tmp_path / "b.npz", matrix=bad)
    np.savez(tmp_path / "c.npz", matrix=ROWS, secrets=np.array(["x", Evil()], dtype=object))
    bad.dump(tmp_path / "d.npy")
    for name in "a.npy", "b.npz", "c.npz", "d.npy":
        refused(r"holds Python objects \(a pickle\)", ch.read_channel, tmp_path / name)
    assert not Evil.touched


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        ({"matrix": np.ones(3)}, r"has shape \(3,\)"),
        ({"matrix": np.ones((2, 2, 2))}, r"has shape \(2, 2, 2\)"),
        ({"matrix": np.ones((2, 2), dtype=complex)}, "complex128, not real numbers"),
        ({"matrix": np.array([["a"]])}, "not real numbers"),
        ({"p": ROWS, "q": ROWS}, "it has 'p', 'q'"),
        ({"secrets": np.array(["x"])}, "it has none"),
        ({"matrix": ROWS, "secrets": np.array(["x"])}, "must name all 2 secrets, got 1"),
        ({"matrix": ROWS, "secrets": np.ones(2)}, "a list of texts"),
        ({"matrix": ROWS * 2}, "1.5; probabilities must be in"),
    ],
)
def test_other_shapes_are_refused(tmp_path, arrays, says):
    np.savez(tmp_path / "a.npz", **arrays)
    refused(says, ch.read_channel, tmp_path / "a.npz")


def test_members_that_are_no_arrays_and_texts_that_are_none_are_one_error(tmp_path):
    no_text = np.full(2, 0x7FFFFFFF, np.uint32).view("<U1")
    np.savez(tmp_path / "a.npz", matrix=ROWS, secrets=no_text)
    refused("`secrets` holds what is no text", ch.read_channel, tmp_path / "a.npz")
    for name in ("matrix", "secrets"):
        np.savez(tmp_path / "b.npz", **({} if name == "matrix" else {"matrix": ROWS}))
        with zipfile.ZipFile(tmp_path / "b.npz", "a") as archive:
            archive.writestr(f"{name}.npy", "hello")
        refused(f"`{name}` is no array", ch.read_channel, tmp_path / "b.npz")


def test_broken_files_end_in_one_error(tmp_path, monkeypatch):
    for name, content in (("a.npy", b""), ("b.npy", b"nonsense"), ("c.npz", b"PK nonsense")):
        (tmp_path / name).write_bytes(content)
        refused("is not a file of NumPy or SciPy arrays", read_matrix, tmp_path / name)
    np.savez(tmp_path / "d.npz", ROWS)
    monkeypatch.setattr("narcissus.channels.files.LARGEST", 100)
    refused("unpacks to", read_matrix, tmp_path / "d.npz", error=TooLargeError)


def test_sparse_places_beyond_the_end_are_refused(tmp_path):
    sparse.save_npz(tmp_path / "s.npz", sparse.csr_array(ROWS))
    with np.load(tmp_path / "s.npz") as arrays:
        parts = dict(arrays)
    parts["indices"] = parts["indices"] + 1_000_000
    np.savez(tmp_path / "s.npz", **parts)
    refused("is not a file of", read_matrix, tmp_path / "s.npz")


def test_priors_and_losses(tmp_path):
    np.save(tmp_path / "p.npy", np.array([0.25, 0.75]))
    assert ch.read_prior(tmp_path / "p.npy").tolist() == [0.25, 0.75]
    np.savez(tmp_path / "l.npz", matrix=[[0, 1], [2, 0]], answers=["n", "s"])
    losses, secrets, answers = ch.read_losses(tmp_path / "l.npz")
    assert (losses.tolist(), secrets, answers) == ([[0, 1], [2, 0]], ["s1", "s2"], ["n", "s"])
    np.savez(tmp_path / "l.npz", matrix=[[0, 1], [2, 0]], answers=["n"])
    refused("1 answers of a matrix of 2 x 2", ch.read_losses, tmp_path / "l.npz")
    refused("from an npy", ch.read_prior, tmp_path / "l.npz")
    blob = io.BytesIO()
    with zipfile.ZipFile(blob, "w"):
        pass
    (tmp_path / "e.npz").write_bytes(blob.getvalue())
    refused("it has none", ch.read_channel, tmp_path / "e.npz")


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
        ("secret,p,q\nx,0.9,0.1\nx,0.2,0.8\n", "'x' appears there twice"),
        ("secret,p,q\n", "no rows"),
        ("", "empty"),
        ("0,1\n0.5,0.5\n0.5,0.5\n", "may be names of outputs or a row"),
        ("secret\nx\ny\n", "no column"),
    ],
)
def test_bad_files(tmp_path, text, words):
    refused(words, read_channel, write(tmp_path / "bad.csv", text))


def test_missing_file_names_the_nearest(tmp_path):
    write(tmp_path / "channel.csv", "x")
    refused(r"did you mean `channel.csv`", read_channel, tmp_path / "chanel.csv")


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
        refused(words, read_prior, write(tmp_path / "bad.csv", text))


def test_a_name_that_the_system_does_not_take_is_one_clear_error(tmp_path):
    refused("cannot read", read_channel, tmp_path / ("c" * 5000 + ".csv"))


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
    refused(says, ch.read_losses, path)


def test_a_written_channel_is_read_the_same(tmp_path):
    rows = np.random.default_rng(0).dirichlet(np.ones(3), 4)
    made = ch.channel(rows, secrets="abcd", outputs=["x", "y", "z"])
    ch.write_channel(tmp_path / "c.csv", made)
    again = ch.read_channel(tmp_path / "c.csv")
    assert (again.secrets, again.outputs) == (made.secrets, made.outputs)
    assert np.array_equal(again.dense, made.dense)
    refused("cannot write", ch.write_channel, tmp_path / "no" / "c.csv", made)


def test_gains_and_fractions_are_written(tmp_path):
    ch.write_gain(tmp_path / "g.csv", np.array([[0.5, 1.0], [0.1, 0.0]]), ["x", "y"])
    assert (tmp_path / "g.csv").read_text() == "guess,x,y\ng1,0.5,1.0\ng2,0.1,0.0\n"
    exact = ch.rational_channel([["1/3", "2/3"]], secrets=["x"])
    ch.write_channel(tmp_path / "c.csv", exact)
    assert ch.read_rational(tmp_path / "c.csv").rows == exact.rows
    refused("npz holds floats", ch.write_channel, tmp_path / "c.npz", exact)


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
            refused(r"may both be the secrets.*`secret`.*`guess`", ch.read_losses, path, secrets)
    path.write_text("loss,y,x\nx,1,0\ny,0,1\n", encoding="utf-8")
    assert ch.read_losses(path, ["x", "y"])[0].tolist() == [[1, 0], [0, 1]]
    # names tell by themselves where only one side has those of the secrets
    path.write_text("loss,x,y\nstay,0,1\ngo,2,0\n", encoding="utf-8")
    assert ch.read_losses(path, ["x", "y"])[0].tolist() == [[0, 2], [1, 0]]
    array = tmp_path / "loss.npy"
    np.save(array, np.array([[0.0, 1], [2, 0]]))
    refused("may both be the secrets", ch.read_losses, array, ["x", "y"])
    np.save(array, np.array([[0.0, 1, 4], [2, 0, 4]]))
    assert ch.read_losses(array, ["x", "y"])[0].tolist() == [[0, 1, 4], [2, 0, 4]]
    assert ch.read_losses(array, ["x", "y", "z"])[0].tolist() == [[0, 2], [1, 0], [4, 4]]


def test_a_gain_that_was_written_is_read_as_it_was(tmp_path):
    """`write_gain` writes a row a guess."""
    gain = np.array([[1.0, 0, 0.5], [0, 1, 0.25]])
    ch.write_gain(tmp_path / "gain.csv", gain, ["a", "b", "c"])
    assert ch.read_losses(tmp_path / "gain.csv")[0].tolist() == gain.T.tolist()


def test_blanks_after_a_comma_belong_to_no_name(tmp_path):
    (tmp_path / "prior.csv").write_text('secret,p\n a,0.25\n "b, c", 0.75\n')
    assert read_prior(tmp_path / "prior.csv") == {"a": 0.25, "b, c": 0.75}
