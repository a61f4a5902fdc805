"""NumPy's and SciPy's files are read with their names; pickles and other shapes are refused."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest
from scipy import sparse

from narcissus import channels as ch
from narcissus.channels.array_files import read_matrix
from narcissus.errors import InputError, TooLargeError

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
        with pytest.raises(InputError, match=r"holds Python objects \(a pickle\)"):
            ch.read_channel(tmp_path / name)
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
    with pytest.raises(InputError, match=says):
        ch.read_channel(tmp_path / "a.npz")


def test_broken_files_end_in_one_error(tmp_path, monkeypatch):
    for name, content in (("a.npy", b""), ("b.npy", b"nonsense"), ("c.npz", b"PK nonsense")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match="is not a file of NumPy or SciPy arrays"):
            read_matrix(tmp_path / name)
    np.savez(tmp_path / "d.npz", ROWS)
    monkeypatch.setattr("narcissus.channels.array_files.LARGEST", 100)
    with pytest.raises(TooLargeError, match="unpacks to"):
        read_matrix(tmp_path / "d.npz")


def test_sparse_places_beyond_the_end_are_refused(tmp_path):
    sparse.save_npz(tmp_path / "s.npz", sparse.csr_array(ROWS))
    with np.load(tmp_path / "s.npz") as arrays:
        parts = dict(arrays)
    parts["indices"] = parts["indices"] + 1_000_000
    np.savez(tmp_path / "s.npz", **parts)
    with pytest.raises(InputError, match="is not a file of"):
        read_matrix(tmp_path / "s.npz")


def test_priors_and_losses(tmp_path):
    np.save(tmp_path / "p.npy", np.array([0.25, 0.75]))
    assert ch.read_prior(tmp_path / "p.npy").tolist() == [0.25, 0.75]
    np.savez(tmp_path / "l.npz", matrix=[[0, 1], [2, 0]], answers=["n", "s"])
    losses, secrets, answers = ch.read_losses(tmp_path / "l.npz")
    assert (losses.tolist(), secrets, answers) == ([[0, 1], [2, 0]], ["s1", "s2"], ["n", "s"])
    np.savez(tmp_path / "l.npz", matrix=[[0, 1], [2, 0]], answers=["n"])
    with pytest.raises(InputError, match="1 answers of a matrix of 2 x 2"):
        ch.read_losses(tmp_path / "l.npz")
    with pytest.raises(InputError, match="from an npy"):
        ch.read_prior(tmp_path / "l.npz")
    blob = io.BytesIO()
    with zipfile.ZipFile(blob, "w"):
        pass
    (tmp_path / "e.npz").write_bytes(blob.getvalue())
    with pytest.raises(InputError, match="it has none"):
        ch.read_channel(tmp_path / "e.npz")
